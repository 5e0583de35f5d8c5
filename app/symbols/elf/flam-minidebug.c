/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-minidebug.h"

#include <lzma.h>

#define UNPACKED_MAX ((gsize)256 << 20)
#define DECODER_MEMORY ((guint64)128 << 20)

static GByteArray *
unpack (const FlamElfSection *section)
{
  lzma_stream stream = LZMA_STREAM_INIT;
  GByteArray *out;
  lzma_ret status;

  if (lzma_stream_decoder (&stream, DECODER_MEMORY, LZMA_CONCATENATED) !=
      LZMA_OK)
    return NULL;
  out = g_byte_array_new ();
  stream.next_in = section->data;
  stream.avail_in = section->size;
  do
    {
      guint8 piece[65536];

      stream.next_out = piece;
      stream.avail_out = sizeof piece;
      status = lzma_code (&stream, LZMA_FINISH);
      g_byte_array_append (out, piece, sizeof piece - stream.avail_out);
    }
  while (status == LZMA_OK && out->len <= UNPACKED_MAX);
  lzma_end (&stream);
  if (status != LZMA_STREAM_END)
    g_clear_pointer (&out, g_byte_array_unref);
  return out;
}

FlamElf *
flam_minidebug_open (const FlamElf *elf)
{
  FlamElfSection section;
  g_autoptr (GByteArray) image = NULL;

  if (!flam_elf_get_section (elf, ".gnu_debugdata", &section) || !section.data)
    return NULL;
  image = unpack (&section);
  if (!image)
    return NULL;
  return flam_elf_new_from_data (
      flam_elf_get_path (elf), image->data, image->len, NULL);
}
