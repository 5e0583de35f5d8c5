/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dotnet-debug.h"

#define PLACES_MAX (1u << 16)
#define LOCALS_MAX (1u << 16)
#define NATIVE_MAX (64u << 20)

/* Flags. */
#define HAS_LOOPS 1u
#define HAS_NOTES 2u

#define BIAS FLAM_DOTNET_EPILOGUE /* of an offset in CIL, as it is written */
#define TWO_SIZES 0xffffffffu     /* code with counters has two lists */

/* --- bytes --------------------------------------------------------------- */

/* A block does not cross a page, so that it is readable if its first byte is.
 */
#define BLOCK 64u

typedef struct
{
  const FlamRuntimeMemory *memory;
  guint64 at; /* of the next byte */
  guint64 block_at;
  guint8 block[BLOCK];
  gint half; /* the second nibble of the last byte; -1: none */
  gboolean bad;
} Stream;

static guint8
next_byte (Stream *stream)
{
  guint64 block_at = stream->at & ~(guint64)(BLOCK - 1);

  if (!stream->bad && block_at != stream->block_at)
    {
      stream->bad =
          !flam_runtime_read (stream->memory, block_at, stream->block, BLOCK);
      stream->block_at = block_at;
    }
  return stream->bad ? 0 : stream->block[stream->at++ & (BLOCK - 1)];
}

static guint32
next_word (Stream *stream)
{
  guint32 word = 0;

  for (guint i = 0; i < 4; i++)
    word |= (guint32)next_byte (stream) << 8 * i;
  return word;
}

static guint
next_nibble (Stream *stream)
{
  guint nibble;

  if (stream->half >= 0)
    {
      nibble = (guint)stream->half;
      stream->half = -1;
      return nibble;
    }
  nibble = next_byte (stream);
  stream->half = (gint)(nibble >> 4);
  return nibble & 15;
}

/* At most 11 nibbles have 32 bits. */
static guint32
next_number (Stream *stream)
{
  guint32 number = 0;

  for (guint i = 0; i < 11; i++)
    {
      guint nibble = next_nibble (stream);

      number = number << 3 | (nibble & 7);
      if ((nibble & 8) == 0)
        return number;
    }
  stream->bad = TRUE;
  return 0;
}

static void
skip (Stream *stream, guint64 n)
{
  stream->at += n;
  stream->half = -1;
}

/* --- the parts ----------------------------------------------------------- */

/* Of a method that may be replaced in the middle of a loop: where its locals
 * are. */
static void
skip_loops (Stream *stream, guint32 version)
{
  guint32 head, n;

  if (version == 6)
    {
      /* The first word is the size of all. */
      n = next_word (stream);
      stream->bad |= n < 4 || n > LOCALS_MAX * 4;
      skip (stream, n - 4);
      return;
    }
  head = version < 10 ? 8 : 16;
  skip (stream, head);
  n = next_word (stream);
  stream->bad |= n > LOCALS_MAX;
  skip (stream, 20 + n * 4ul);
}

static gboolean
add_place (GArray *places, guint64 native, guint32 cil)
{
  FlamDotnetPlace place = { (guint32)native, cil };

  if (native > NATIVE_MAX)
    return FALSE;
  g_array_append_val (places, place);
  return TRUE;
}

static gboolean
read_numbers (Stream *stream, GArray *places)
{
  guint32 n = next_number (stream);
  guint64 native = 0;

  if (n > PLACES_MAX)
    return FALSE;
  for (guint32 i = 0; i < n && !stream->bad; i++)
    {
      guint32 cil;

      native += next_number (stream);
      cil = next_number (stream) + BIAS;
      next_number (stream); /* how the compiler found it */
      if (!stream->bad && !add_place (places, native, cil))
        return FALSE;
    }
  return !stream->bad;
}

static gboolean
read_bits (Stream *stream, GArray *places)
{
  guint32 n = next_number (stream);
  guint native_bits = next_number (stream) + 1;
  guint cil_bits = next_number (stream) + 1;
  guint64 native = 0, bits = 0;
  guint n_bits = 0;

  if (n > PLACES_MAX || native_bits > 32 || cil_bits > 32 ||
      native_bits + cil_bits > 54)
    return FALSE;
  stream->half = -1;
  for (guint32 i = 0; i < n; i++)
    {
      for (; n_bits < native_bits + cil_bits + 2; n_bits += 8)
        bits |= (guint64)next_byte (stream) << n_bits;
      bits >>= 2; /* how the compiler found it */
      native += bits & ((1ull << native_bits) - 1);
      bits >>= native_bits;
      if (stream->bad ||
          !add_place (places,
                      native,
                      (guint32)(bits & ((1ull << cil_bits) - 1)) + BIAS))
        return FALSE;
      bits >>= cil_bits;
      n_bits -= native_bits + cil_bits + 2;
    }
  return TRUE;
}

gboolean
flam_dotnet_debug_read (guint32 version,
                        const FlamRuntimeMemory *memory,
                        guint64 address,
                        GArray *places)
{
  Stream stream = { .memory = memory, .at = address, .half = -1 };
  guint32 flags = 0, size;

  if (address == 0)
    return FALSE;
  if (version >= 6)
    flags = next_byte (&stream);
  if ((flags & HAS_LOOPS) != 0)
    skip_loops (&stream, version);
  if ((flags & HAS_NOTES) != 0)
    skip (&stream, next_word (&stream));
  size = next_number (&stream);
  if (version >= 10 && size == TWO_SIZES)
    {
      size = next_number (&stream);
      next_number (&stream);
    }
  next_number (&stream); /* the size of what tells where variables are */
  stream.half = -1;
  if (stream.bad || flags > (HAS_LOOPS | HAS_NOTES) || size == 0)
    return FALSE;
  return version >= 10 ? read_bits (&stream, places)
                       : read_numbers (&stream, places);
}
