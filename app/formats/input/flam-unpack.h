/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Unwraps a compressed file (gz, xz, bz2, zstd, lz4, one inside the other) in
 * a thread of its own, so that an importer can read what came out while more
 * does:
 *
 *    packed bytes ─▶ thread ─▶ flam-spool.h ─▶ importer
 *                              | came out | not yet
 *                                     wait()           */

#include "flam-types.h"

/* A small file that unpacks to a huge one is made to do harm: past so many
 * bytes, no more than so many times the packed size. */
#define FLAM_UNPACK_FREE (G_GUINT64_CONSTANT (1) << 30)
#define FLAM_UNPACK_RATIO 1000

typedef struct _FlamUnpack FlamUnpack;

typedef struct
{
  const guint8 *data; /* a NUL byte follows the end, once it is all there */
  gsize size;
  gsize mapped;         /* length of the mapping, for munmap() */
  gboolean truncated;   /* the wrapper ended early: this is what came out */
  double read_fraction; /* how far into the packed bytes that was */
} FlamUnpacked;

/* The bytes must live until the end. NULL without an error: they only look as
 * if they were wrapped. Errors do not name the file. */
FlamUnpack *
flam_unpack_begin (const guint8 *packed, gsize size, GError **error);

/* Waits until more than `have` bytes are there, or all of them; their number.
 * They begin at flam_unpack_get_data(). */
gsize flam_unpack_wait (FlamUnpack *unpack, gsize have);
const guint8 *flam_unpack_get_data (const FlamUnpack *unpack);
/* Of the packed bytes, how many were read so far. */
double flam_unpack_fraction (FlamUnpack *unpack);

/* The wrapper ended early; known at the end. */
gboolean flam_unpack_is_truncated (FlamUnpack *unpack);

/* The rest, all of it, and the end of the thread. The mapping is the caller's,
 * on success; FALSE also when the progress report cancels. */
gboolean flam_unpack_finish (FlamUnpack *unpack,
                             FlamUnpacked *out,
                             const FlamProgress *progress,
                             GError **error);
/* Stops it wherever it is. */
void flam_unpack_free (FlamUnpack *unpack);
