/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_UNPACK_H
#define FLAM_UNPACK_H

/* Unpacks a compressed file (gz, xz, bz2, zstd, lz4, also nested, and in a zip
 * archive with a single file) in a separate thread, so that an importer can
 * read the first bytes while more are unpacked:
 *
 *    packed bytes ─▶ thread ─▶ flam-spool.h ─▶ importer
 *                              | came out | not yet
 *                                     wait() */

#include "flam-core-profile.h"

/* A small file that unpacks to a huge one is an attack: beyond this many bytes,
 * only this multiple of the packed size is accepted. */
#define FLAM_UNPACK_FREE (G_GUINT64_CONSTANT (256) << 20)
#define FLAM_UNPACK_RATIO 500

typedef struct _FlamUnpack FlamUnpack;

typedef struct
{
  const guint8 *data; /* a NUL byte follows the end, once all is unpacked */
  gsize size;
  gsize mapped;         /* length of the mapping, for munmap() */
  gboolean truncated;   /* truncated wrapper: this is its readable part */
  double read_fraction; /* its offset in the packed bytes */
} FlamUnpacked;

/* The bytes must live until the end; `file`: they are mapped from a file, so
 * that those that were read can be released. NULL without an error: they only
 * resemble a wrapper. Errors do not contain the file's name. */
FlamUnpack *flam_unpack_begin (const guint8 *packed,
                               gsize size,
                               gboolean file,
                               GError **error);

/* Waits until more than `have` bytes are unpacked, or all of them; returns
 * their number. They begin at flam_unpack_get_data(). Of a file that will be
 * refused, no more than the first bytes are given. */
gsize flam_unpack_wait (FlamUnpack *unpack, gsize have);
const guint8 *flam_unpack_get_data (const FlamUnpack *unpack);
/* The number of packed bytes that were read so far. */
double flam_unpack_fraction (FlamUnpack *unpack);

/* The wrapper is truncated; valid at the end. */
gboolean flam_unpack_is_truncated (FlamUnpack *unpack);

/* Unpacks the rest and ends the thread. On success the mapping is the caller's;
 * FALSE also when the progress callback cancels. */
gboolean flam_unpack_finish (FlamUnpack *unpack,
                             FlamUnpacked *out,
                             const FlamProgress *progress,
                             GError **error);
/* Stops the thread at any point. */
void flam_unpack_free (FlamUnpack *unpack);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamUnpack, flam_unpack_free)

#endif
