/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_UNPACKER_H
#define FLAM_UNPACKER_H

/* The interface of libflambeau-unpack.so: the calls of libarchive, and the
 * choice of the file to read in a zip archive. All other parts of unpacking are
 * in flam-unpack.h. */

#include <glib.h>
#include <string.h>

#define FLAM_UNPACKER_SYMBOL "flam_unpacker_functions"
#define FLAM_ZIP_MAGIC "PK\3\4"
#define FLAM_ZSTD_MAGIC "\x28\xb5\x2f\xfd"

static const struct
{
  const char *magic;
  guint length;
  const char *suffix;
} flam_wrappers[] = {
  { "\x1f\x8b", 2, ".gz" },
  { "\xfd"
    "7zXZ",
    6,
    ".xz" }, /* with the NUL */
  { "BZh", 3, ".bz2" },
  { FLAM_ZSTD_MAGIC, 4, ".zst" },
  { "\x04\x22\x4d\x18", 4, ".lz4" },
  { FLAM_ZIP_MAGIC, 4, ".zip" },
};

/* The bytes begin like those of a wrapper, and there are more. */
static inline gboolean
flam_unpacker_is_wrapped (const guint8 *data, gsize size)
{
  for (guint i = 0; i < G_N_ELEMENTS (flam_wrappers); i++)
    if (size > flam_wrappers[i].length &&
        memcmp (data, flam_wrappers[i].magic, flam_wrappers[i].length) == 0)
      return TRUE;
  return FALSE;
}

typedef struct _FlamUnpacker FlamUnpacker;

typedef enum
{
  FLAM_PACKED,
  FLAM_PACKED_NOT,         /* it only resembles a wrapper */
  FLAM_PACKED_NO_FILE,     /* in the zip archive; */
  FLAM_PACKED_FILES,       /* several there, */
  FLAM_PACKED_INSTRUMENTS, /* the files of an Instruments document */
} FlamPacked;

typedef enum
{
  FLAM_UNPACKED_BLOCK,
  FLAM_UNPACKED_END,
  FLAM_UNPACKED_DAMAGED, /* or truncated */
} FlamUnpackedBlock;

typedef struct
{
  /* `*unpacker` is set if the result is FLAM_PACKED; the bytes must live as
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

/* zstd without libarchive: opening that library and its own takes as long as
 * unpacking 10 MB, and captures of heaptrack and perf are in zstd. open()
 * returns FLAM_PACKED_NOT if the unpacked bytes look packed, too, since
 * libarchive unpacks all layers. */
extern const FlamUnpackerFunctions flam_unzstd_functions;

#endif
