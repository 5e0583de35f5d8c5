/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SPOOL_H
#define FLAM_SPOOL_H

/* An append-only buffer in one contiguous range of addresses, which is never
 * moved: its bytes can be read while more are appended, and one behind them.
 *
 *    base                     8 MiB                            32 GiB
 *    | memory                | unlinked temporary file          | NUL
 *    | there  | not yet: must not be touched …
 *
 * Most captures fit into the first part. The kernel can evict pages of the
 * second, so a small file that unpacks to a huge one cannot exhaust the
 * memory. */

#include "flam-core-profile.h"

/* From here on the bytes are the file's: a reader that needs them no longer may
 * release its pages. */
#define FLAM_SPOOL_IN_MEMORY (G_GUINT64_CONSTANT (8) << 20)
#define FLAM_SPOOL_MAX (G_GUINT64_CONSTANT (32) << 30)
/* The free space that must remain on the disk. */
#define FLAM_SPOOL_LEAVE (G_GUINT64_CONSTANT (256) << 20)

typedef struct
{
  guint8 *base;
  guint64 size;
  gsize mapped;   /* length of the mapping at `base` */
  int fd;         /* -1: not needed yet */
  guint64 length; /* of the file */
  guint64 room;   /* free space found on the disk, in bytes of `size` */
} FlamSpool;

/* Errors do not contain the file's name. */
gboolean flam_spool_init (FlamSpool *spool, GError **error);
/* FLAM_ERROR_TOO_LARGE past FLAM_SPOOL_MAX bytes, or if less than
 * FLAM_SPOOL_LEAVE would remain free on the disk. */
gboolean flam_spool_append (FlamSpool *spool,
                            const void *data,
                            gsize size,
                            GError **error);
/* No more will be appended: a readable NUL follows the end. */
gboolean flam_spool_seal (FlamSpool *spool, GError **error);
/* The caller takes the mapping and frees it with munmap(). */
const guint8 *flam_spool_steal (FlamSpool *spool, gsize *mapped);
void flam_spool_clear (FlamSpool *spool);

#endif
