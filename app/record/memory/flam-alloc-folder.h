/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ALLOC_FOLDER_H
#define FLAM_ALLOC_FOLDER_H

/* The folder in which a recording and its targets share files
 * (preload/flam-alloc-shared.h): in memory, accessible only to its owner. The
 * recorder holds a lock on it while it runs, so that a later recorder
 * recognizes the folder of one that was killed. */

#include "flam-core-profile.h"

typedef struct
{
  char *path; /* NULL: none */
  int fd;
} FlamAllocFolder;

gboolean flam_alloc_folder_make (FlamAllocFolder *folder, GError **error);
/* Removes it with the files of the recorder and its targets. */
void flam_alloc_folder_remove (FlamAllocFolder *folder);

/* Removes the folders of the same user whose recorders have ended. Nothing else
 * is removed: no folder of other users, no link, no foreign file. */
void flam_alloc_folder_sweep (void);

#endif
