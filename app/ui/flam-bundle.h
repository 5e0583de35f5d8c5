/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BUNDLE_H
#define FLAM_BUNDLE_H

/* A folder that contains its own libraries (app/bundle) also contains their
 * data: icons, schemas, picture loaders, translations. The libraries contain
 * the paths of the machine they were built on, which are replaced here. Outside
 * a bundle these functions do nothing. */

#include <glib.h>

G_BEGIN_DECLS

/* Call first. It restores the environment afterwards, so that programs started
 * from here (a recorded program, an editor, a browser) do not inherit any of
 * it. */
void flam_bundle_find_data (void);

/* Call after GTK is initialized, which sets its own folder. */
void flam_bundle_find_words (void);

G_END_DECLS

#endif
