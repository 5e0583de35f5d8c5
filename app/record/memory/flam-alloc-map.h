/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ALLOC_MAP_H
#define FLAM_ALLOC_MAP_H

/* A file that the target has mapped as well. The target may make the file
 * shorter while it is read, and the kernel then sends SIGBUS at the first
 * missing page: from that page on the mapping is replaced by zeros, and reading
 * continues. That is cheaper than a copy of all data that is read, and there is
 * no race between the check of the size and the reading.
 *
 * Only one thread at a time may map, read and free. */

#include <glib.h>

typedef struct _FlamAllocMap FlamAllocMap;

/* For reading and writing; NULL unless it is a file of exactly this size. */
FlamAllocMap *flam_alloc_map_new (int fd, gsize size);
void flam_alloc_map_free (FlamAllocMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamAllocMap, flam_alloc_map_free)

gpointer flam_alloc_map_data (const FlamAllocMap *map);
/* The file was found to be shorter. */
gboolean flam_alloc_map_is_cut (const FlamAllocMap *map);

#endif
