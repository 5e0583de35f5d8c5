/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_INSTALLED_H
#define FLAM_INSTALLED_H

/* The folders of the data that is installed with the programs: below the
 * build's prefix or, if the whole installation was moved, at the same place
 * below its new folder. */

#include <glib.h>

G_BEGIN_DECLS

/* `path` is one of those in flam-config.h. Free with g_free. */
char *flam_installed (const char *path);

/* The build tree that the program runs from, or NULL: it is installed. Free
 * with g_free. */
char *flam_build_tree (void);

/* A program in a build tree uses what was built there: `built`, a path below
 * that tree, if it exists; else flam_installed (path). Free with g_free. */
char *flam_installed_or_built (const char *path, const char *built);

G_END_DECLS

#endif
