/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-unpacker.h"

#include <zstd.h>

/* Enough to recognize a wrapper. */
#define HEAD 16
/* Stays in the processor's cache, and is zstd's own unit of output. */
#define BLOCK (128 << 10)

struct _FlamUnpacker
{
  ZSTD_DStream *stream;
  ZSTD_inBuffer in;
  gboolean in_frame;
  const char *why;
  FlamUnpackedBlock status; /* of the bytes that follow `block` */
  gsize n;                  /* bytes in `block` that were not taken yet */
  guint8 block[BLOCK];
};

/* Unpacks until there are `least` bytes, or no more: frame after frame, since
 * several files may have been concatenated. */
static void
fill (FlamUnpacker *unpacker, gsize least)
{
  ZSTD_outBuffer out = { unpacker->block, BLOCK, 0 };

  while (out.pos < least && unpacker->status == FLAM_UNPACKED_BLOCK)
    {
      gsize had = out.pos;
      gboolean at_end = unpacker->in.pos == unpacker->in.size;
      gsize left =
          at_end && !unpacker->in_frame
              ? 0
              : ZSTD_decompressStream (unpacker->stream, &out, &unpacker->in);

      if (ZSTD_isError (left))
        {
          unpacker->why = ZSTD_getErrorName (left);
          unpacker->status = FLAM_UNPACKED_DAMAGED;
          break;
        }
      unpacker->in_frame = left != 0;
      if (!at_end || out.pos > had)
        continue;
      if (unpacker->in_frame)
        unpacker->why = "Truncated zstd input";
      unpacker->status =
          unpacker->in_frame ? FLAM_UNPACKED_DAMAGED : FLAM_UNPACKED_END;
    }
  unpacker->n = out.pos;
}

static void
unzstd_free (FlamUnpacker *unpacker)
{
  ZSTD_freeDStream (unpacker->stream);
  g_free (unpacker);
}

static FlamPacked
unzstd_open (const guint8 *packed,
             gsize size,
             gboolean is_zip,
             FlamUnpacker **unpacker)
{
  FlamUnpacker *made = g_new (FlamUnpacker, 1);

  made->stream = ZSTD_createDStream ();
  made->in = (ZSTD_inBuffer){ packed, size, 0 };
  made->in_frame = FALSE;
  made->why = NULL;
  made->n = 0;
  made->status = FLAM_UNPACKED_BLOCK;
  if (made->stream != NULL)
    fill (made, HEAD);
  if (made->stream == NULL || flam_unpacker_is_wrapped (made->block, made->n))
    {
      unzstd_free (made);
      return FLAM_PACKED_NOT;
    }
  *unpacker = made;
  return FLAM_PACKED;
}

static FlamUnpackedBlock
unzstd_next (FlamUnpacker *unpacker, const void **block, gsize *n)
{
  if (unpacker->n == 0)
    fill (unpacker, 1);
  if (unpacker->n == 0)
    return unpacker->status;
  *block = unpacker->block;
  *n = unpacker->n;
  unpacker->n = 0;
  return FLAM_UNPACKED_BLOCK;
}

static guint64
unzstd_packed_read (FlamUnpacker *unpacker)
{
  return unpacker->in.pos;
}

static const char *
unzstd_why (FlamUnpacker *unpacker)
{
  return unpacker->why;
}

const FlamUnpackerFunctions flam_unzstd_functions = {
  .open = unzstd_open,
  .next = unzstd_next,
  .packed_read = unzstd_packed_read,
  .why = unzstd_why,
  .free = unzstd_free,
};
