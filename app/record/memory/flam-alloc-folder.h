/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where a recording and its targets share files (preload/flam-alloc-shared.h):
 * in memory, of its owner alone. The recorder holds a lock on it for as long as
 * it runs, so that the next one recognizes what a dead one has left. */

#include "flam-types.h"

typedef struct
{
  char *path; /* NULL: none */
  int fd;
} FlamAllocFolder;

gboolean flam_alloc_folder_make (FlamAllocFolder *folder, GError **error);
/* With what the recorder and its targets put there. */
void flam_alloc_folder_remove (FlamAllocFolder *folder);

/* Removes those of the same user whose recorders are gone. Nothing else: no
 * other's folder, no link, no file that is not one of ours. */
void flam_alloc_folder_sweep (void);
