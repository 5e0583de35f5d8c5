/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A file that the target has mapped, too. It may make the file shorter while we
 * read it, which the kernel answers with SIGBUS at the first page that is gone:
 * from there on zeros take the place of what was mapped, and reading goes on.
 * That is cheaper than to copy whatever is read, and there is no moment between
 * asking for the size and reading.
 *
 * One thread at a time maps, reads and frees. */

#include <glib.h>

typedef struct _FlamAllocMap FlamAllocMap;

/* For reading and writing; NULL unless it is a file of just this size. */
FlamAllocMap *flam_alloc_map_new (int fd, gsize size);
void flam_alloc_map_free (FlamAllocMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamAllocMap, flam_alloc_map_free)

gpointer flam_alloc_map_data (const FlamAllocMap *map);
/* It was found to be shorter. */
gboolean flam_alloc_map_is_cut (const FlamAllocMap *map);
