/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Bytes that come one after the other, in one piece of address space from the
 * first to the last, and never moved: a reader may stand in what is there
 * while more is appended.
 *
 *    base                    64 MiB                            32 GiB
 *    | memory                | unlinked temporary file          | NUL
 *    | there  | not yet: must not be touched …
 *
 * Most captures fit into the first part. Pages of the second are the kernel's
 * to drop, so a small file that unpacks to a huge one cannot exhaust the
 * memory. */

#include "flam-types.h"

#define FLAM_SPOOL_MAX (G_GUINT64_CONSTANT (32) << 30)
/* Of a disk, what is left to others. */
#define FLAM_SPOOL_LEAVE (G_GUINT64_CONSTANT (256) << 20)

typedef struct
{
  guint8 *base;
  guint64 size;
  gsize mapped; /* length of the mapping at `base` */
  int fd;       /* -1: none needed yet */
  guint64 room; /* that the disk is known to have, in bytes of `size` */
} FlamSpool;

/* Errors do not name the file they are about. */
gboolean flam_spool_init (FlamSpool *spool, GError **error);
/* FLAM_ERROR_TOO_LARGE past FLAM_SPOOL_MAX bytes, or when the disk would be
 * left with less than FLAM_SPOOL_LEAVE. */
gboolean flam_spool_append (FlamSpool *spool,
                            const void *data,
                            gsize size,
                            GError **error);
/* Nothing more will come: a readable NUL follows the end. */
gboolean flam_spool_seal (FlamSpool *spool, GError **error);
/* The mapping is the caller's, to be given to munmap(). */
const guint8 *flam_spool_steal (FlamSpool *spool, gsize *mapped);
void flam_spool_clear (FlamSpool *spool);
