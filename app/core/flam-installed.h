/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where what is installed beside the programs is: below the prefix of the
 * build, or, where the whole of it was moved, at the same place below the
 * folder that it was moved to. */

#include <glib.h>

G_BEGIN_DECLS

/* `path` is one of flam-config.h's. Free with g_free. */
char *flam_installed (const char *path);

G_END_DECLS
