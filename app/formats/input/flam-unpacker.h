/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What libflambeau-unpack.so does: the calls of libarchive, and which file of a
 * zip archive is the one to read. Everything else of unpacking is
 * flam-unpack.h's. */

#include <glib.h>

#define FLAM_UNPACKER_SYMBOL "flam_unpacker_functions"

typedef struct _FlamUnpacker FlamUnpacker;

typedef enum
{
  FLAM_PACKED,
  FLAM_PACKED_NOT,         /* it only resembles a wrapper */
  FLAM_PACKED_NO_FILE,     /* in the zip archive; */
  FLAM_PACKED_FILES,       /* several there, */
  FLAM_PACKED_INSTRUMENTS, /* those of a document of Instruments */
} FlamPacked;

typedef enum
{
  FLAM_UNPACKED_BLOCK,
  FLAM_UNPACKED_END,
  FLAM_UNPACKED_DAMAGED, /* or truncated */
} FlamUnpackedBlock;

typedef struct
{
  /* `*unpacker` is set where the result is FLAM_PACKED; the bytes must live as
   * long. */
  FlamPacked (*open) (const guint8 *packed,
                      gsize size,
                      gboolean is_zip,
                      FlamUnpacker **unpacker);
  /* The next bytes, valid until the next call. */
  FlamUnpackedBlock (*next) (FlamUnpacker *unpacker,
                             const void **block,
                             gsize *n);
  guint64 (*packed_read) (FlamUnpacker *unpacker);
  const char *(*why) (FlamUnpacker *unpacker); /* damaged; or NULL */
  void (*free) (FlamUnpacker *unpacker);
} FlamUnpackerFunctions;
