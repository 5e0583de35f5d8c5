/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A folder that brings its libraries along (app/bundle) brings their data, too:
 * icons, schemas, loaders of pictures, translations. The libraries know the
 * places of the machine they were built for; here they are told otherwise.
 * Elsewhere these do nothing. */

#include <glib.h>

G_BEGIN_DECLS

/* First of all. The environment is afterwards as it was: what is started from
 * here, a program to record, an editor, a browser, has nothing of ours in it.
 */
void flam_bundle_find_data (void);

/* Once GTK has begun, which names its own place. */
void flam_bundle_find_words (void);

G_END_DECLS
