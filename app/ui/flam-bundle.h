/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A folder that brings its libraries along (app/bundle) brings their data, too:
 * icons, schemas, loaders of pictures, translations. The libraries have the
 * paths of the machine they were built for; here these are replaced. Outside a
 * bundle these functions do nothing. */

#include <glib.h>

G_BEGIN_DECLS

/* To be called first. It restores the environment afterwards: programs started
 * from here, a recorded program, an editor, a browser, do not inherit any of
 * it. */
void flam_bundle_find_data (void);

/* To be called after GTK is initialized, which sets its own folder. */
void flam_bundle_find_words (void);

G_END_DECLS
