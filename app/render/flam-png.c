/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-png.h"

#include <string.h>
#include <zlib.h>

#define CHUNK (256 << 10)
#define LEVEL 1

/* The filter of all lines. */
#define UP 2

static void
put_chunk (GString *out, const char *type, const guint8 *data, gsize size)
{
  guint32 length = GUINT32_TO_BE ((guint32)size), sum;
  uLong crc = crc32 (0, (const Bytef *)type, 4);

  if (size > 0)
    crc = crc32 (crc, data, (uInt)size);
  sum = GUINT32_TO_BE ((guint32)crc);
  g_string_append_len (out, (const char *)&length, 4);
  g_string_append_len (out, type, 4);
  g_string_append_len (out, (const char *)data, (gssize)size);
  g_string_append_len (out, (const char *)&sum, 4);
}

/* Packs a line, or with Z_FINISH the rest; full chunks are written. */
static gboolean
pack (z_stream *stream,
      guint8 *chunk,
      const guint8 *line,
      gsize size,
      int flush,
      GString *out)
{
  int status;

  stream->next_in = (Bytef *)line;
  stream->avail_in = (uInt)size;
  do
    {
      status = deflate (stream, flush);
      if (stream->avail_out == 0 ||
          (status == Z_STREAM_END && stream->avail_out < CHUNK))
        {
          put_chunk (out, "IDAT", chunk, CHUNK - stream->avail_out);
          stream->next_out = chunk;
          stream->avail_out = CHUNK;
        }
    }
  while (status == Z_OK && (stream->avail_in > 0 || flush == Z_FINISH));
  return status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR;
}

/* 0xXXRRGGBB to R, G, B. */
static void
to_bytes (const guint32 *pixels, int width, guint8 *bytes)
{
  for (int x = 0; x < width; x++)
    {
      bytes[3 * x] = pixels[x] >> 16 & 0xff;
      bytes[3 * x + 1] = pixels[x] >> 8 & 0xff;
      bytes[3 * x + 2] = pixels[x] & 0xff;
    }
}

static gboolean
put_lines (cairo_surface_t *surface, z_stream *stream, GString *out)
{
  int width = cairo_image_surface_get_width (surface);
  int height = cairo_image_surface_get_height (surface);
  const guint8 *data = cairo_image_surface_get_data (surface);
  gsize stride = (gsize)cairo_image_surface_get_stride (surface);
  gsize n = 3 * (gsize)width;
  g_autofree guint8 *chunk = g_malloc (CHUNK);
  g_autofree guint8 *line = g_malloc (n), *above = g_malloc0 (n);
  g_autofree guint8 *packed = g_malloc0 (n + 1), *equal = g_malloc0 (n + 1);
  gboolean fits = TRUE;

  equal[0] = packed[0] = UP;
  stream->next_out = chunk;
  stream->avail_out = CHUNK;
  for (int y = 0; y < height && fits; y++)
    {
      const guint8 *pixels = data + (gsize)y * stride;
      const guint8 *from = equal;
      guint8 *swap;

      if (y == 0 || memcmp (pixels, pixels - stride, 4 * (gsize)width) != 0)
        {
          to_bytes ((const guint32 *)(gconstpointer)pixels, width, line);
          for (gsize i = 0; i < n; i++)
            packed[i + 1] = line[i] - above[i];
          from = packed;
          swap = above;
          above = line;
          line = swap;
        }
      fits = pack (stream, chunk, from, n + 1, Z_NO_FLUSH, out);
    }
  return fits && pack (stream, chunk, NULL, 0, Z_FINISH, out);
}

gboolean
flam_png_append (cairo_surface_t *surface, GString *out)
{
  struct
  {
    guint32 width, height;
    guint8 depth, color, compression, filter, interlace;
  } head = {
    .width = GUINT32_TO_BE ((guint32)cairo_image_surface_get_width (surface)),
    .height = GUINT32_TO_BE ((guint32)cairo_image_surface_get_height (surface)),
    .depth = 8,
    .color = 2,
  };
  z_stream stream = { 0 };
  gboolean fits;

  cairo_surface_flush (surface);
  if (deflateInit (&stream, LEVEL) != Z_OK)
    return FALSE;
  g_string_append_len (out, "\x89PNG\r\n\x1a\n", 8);
  put_chunk (out, "IHDR", (const guint8 *)&head, 13);
  fits = put_lines (surface, &stream, out);
  deflateEnd (&stream);
  put_chunk (out, "IEND", NULL, 0);
  return fits;
}
