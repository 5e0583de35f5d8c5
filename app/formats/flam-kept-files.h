/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_KEPT_FILES_H
#define FLAM_KEPT_FILES_H

/* The files that the program keeps in a folder of the user, to remove the
 * oldest. */

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  char *path;
  gint64 used; /* µs since 1970: when it was modified */
  guint64 size;
} FlamKeptFile;

/* FlamKeptFile, the latest first: files whose names contain the suffix, also
 * those that are still being written. g_array_unref. */
GArray *flam_kept_files (const char *folder, const char *suffix);

G_END_DECLS

#endif
