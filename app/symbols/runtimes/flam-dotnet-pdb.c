/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dotnet-pdb.h"

#include <string.h>
#include <zlib.h>

#include "flam-runtime-lines.h"

#define STREAMS_MAX 16
#define DOCUMENT 0x30
#define METHOD_DEBUG 0x31
#define TABLES 64
#define LAST_LINE 0xffffffu
#define POINTS_MAX (1u << 16)
#define PARTS_MAX 64 /* of a file's name */

typedef struct
{
  const guint8 *bytes;
  gsize size;
} Span;

struct _FlamDotnetPdb
{
  GBytes *bytes;
  Span blobs;
  Span documents; /* rows */
  Span methods;
  guint32 n_documents;
  guint32 n_methods;
  guint wide_blob; /* size of an index */
  guint wide_guid;
  guint wide_document;
};

/* --- the parts ----------------------------------------------------------- */

/* Empty: not within. */
static Span
part_of (Span span, guint64 at, guint64 size)
{
  if (at > span.size || size > span.size - at)
    return (Span){ 0 };
  return (Span){ span.bytes + at, size };
}

static guint32
number_at (Span span, gsize at, guint size)
{
  guint32 number = 0;

  for (guint i = 0; i < size && at + i < span.size; i++)
    number |= (guint32)span.bytes[at + i] << 8 * i;
  return number;
}

static gboolean
read_tables (FlamDotnetPdb *pdb, Span tables)
{
  guint8 wide = (guint8)number_at (tables, 6, 1);
  guint64 present =
      number_at (tables, 8, 4) | (guint64)number_at (tables, 12, 4) << 32;
  guint32 rows[TABLES] = { 0 };
  gsize at = 24;

  /* The tables of the assembly itself are not in it. */
  if (tables.size < at || (present & ((1ull << DOCUMENT) - 1)) != 0)
    return FALSE;
  for (guint i = 0; i < TABLES; i++)
    if (present >> i & 1)
      {
        rows[i] = number_at (tables, at, 4);
        at += 4;
      }
  at += wide & 0x40 ? 4 : 0;
  pdb->wide_guid = wide & 2 ? 4 : 2;
  pdb->wide_blob = wide & 4 ? 4 : 2;
  pdb->n_documents = rows[DOCUMENT];
  pdb->n_methods = rows[METHOD_DEBUG];
  pdb->wide_document = pdb->n_documents > 0xffff ? 4 : 2;
  pdb->documents = part_of (tables,
                            at,
                            (guint64)pdb->n_documents * 2 *
                                (pdb->wide_blob + pdb->wide_guid));
  pdb->methods =
      part_of (tables,
               at + pdb->documents.size,
               (guint64)pdb->n_methods * (pdb->wide_document + pdb->wide_blob));
  return pdb->documents.size > 0 && pdb->methods.size > 0;
}

static gboolean
read_streams (FlamDotnetPdb *pdb,
              Span all,
              const guint8 number[FLAM_DOTNET_PDB_NUMBER])
{
  guint32 version = number_at (all, 12, 4);
  gsize at = 16 + (gsize)version;
  guint n_streams = number_at (all, at + 2, 2);
  Span own = { 0 }, tables = { 0 };

  if (all.size < 20 || memcmp (all.bytes, "BSJB", 4) != 0 || version > 255)
    return FALSE;
  at += 4;
  for (guint i = 0; i < n_streams && i < STREAMS_MAX; i++)
    {
      Span span =
          part_of (all, number_at (all, at, 4), number_at (all, at + 4, 4));
      Span name = part_of (all, at + 8, 0);
      gsize length = 0;

      name.size = name.bytes == NULL ? 0 : MIN (all.size - at - 8, 32);
      while (length < name.size && name.bytes[length] != '\0')
        length++;
      if (length == name.size)
        return FALSE;
      if (strcmp ((const char *)name.bytes, "#Pdb") == 0)
        own = span;
      else if (strcmp ((const char *)name.bytes, "#~") == 0)
        tables = span;
      else if (strcmp ((const char *)name.bytes, "#Blob") == 0)
        pdb->blobs = span;
      at += 8 + (length + 4) / 4 * 4;
    }
  return own.size >= FLAM_DOTNET_PDB_NUMBER &&
         memcmp (own.bytes, number, FLAM_DOTNET_PDB_NUMBER) == 0 &&
         read_tables (pdb, tables);
}

FlamDotnetPdb *
flam_dotnet_pdb_new (GBytes *bytes, const guint8 number[FLAM_DOTNET_PDB_NUMBER])
{
  FlamDotnetPdb *pdb = g_new0 (FlamDotnetPdb, 1);
  Span all;

  pdb->bytes = g_bytes_ref (bytes);
  all.bytes = g_bytes_get_data (bytes, &all.size);
  if (read_streams (pdb, all, number))
    return pdb;
  flam_dotnet_pdb_free (pdb);
  return NULL;
}

void
flam_dotnet_pdb_free (FlamDotnetPdb *pdb)
{
  g_bytes_unref (pdb->bytes);
  g_free (pdb);
}

/* "MPDB", its size, and the rest without zlib's frame. */
GBytes *
flam_dotnet_pdb_unpack (const guint8 *bytes, gsize size)
{
  z_stream stream = { 0 };
  g_autofree guint8 *unpacked = NULL;
  guint32 whole;
  int result;

  if (size < 8 || memcmp (bytes, "MPDB", 4) != 0)
    return NULL;
  whole = flam_runtime_u32 (bytes, 4);
  /* Deflate makes at most 1,032 bytes of one. */
  if (whole > FLAM_DOTNET_PDB_MAX || whole / 1032 > size ||
      size > G_MAXUINT32 || inflateInit2 (&stream, -MAX_WBITS) != Z_OK)
    return NULL;
  unpacked = g_malloc (whole);
  stream.next_in = (guint8 *)bytes + 8;
  stream.avail_in = (uInt)(size - 8);
  stream.next_out = unpacked;
  stream.avail_out = whole;
  result = inflate (&stream, Z_FINISH);
  inflateEnd (&stream);
  return result == Z_STREAM_END && stream.avail_out == 0
             ? g_bytes_new_take (g_steal_pointer (&unpacked), whole)
             : NULL;
}

/* --- blobs --------------------------------------------------------------- */

typedef struct
{
  Span span;
  gsize at;
  gboolean bad;
} Reader;

static guint
next_byte (Reader *reader)
{
  if (reader->at < reader->span.size)
    return reader->span.bytes[reader->at++];
  reader->bad = TRUE;
  return 0;
}

/* One byte, two or four: the highest bits of the first tell. */
static guint32
next_unsigned (Reader *reader, guint *bits)
{
  guint32 first = next_byte (reader);

  *bits = 7;
  if (first < 0x80)
    return first;
  first = first << 8 | next_byte (reader);
  *bits = 14;
  if (first < 0xc000)
    return first & 0x3fff;
  first = first << 8 | next_byte (reader);
  *bits = 29;
  return (first << 8 | next_byte (reader)) & 0x1fffffff;
}

static guint32
next_number (Reader *reader)
{
  guint bits;

  return next_unsigned (reader, &bits);
}

/* The lowest bit is the sign. */
static gint32
next_signed (Reader *reader)
{
  guint bits;
  guint32 number = next_unsigned (reader, &bits);
  guint32 value = number >> 1;

  if (number & 1)
    value |= ~0u << (bits - 1);
  return (gint32)value;
}

static Reader
blob_at (const FlamDotnetPdb *pdb, guint32 at)
{
  Reader reader = { pdb->blobs, at, FALSE };
  guint32 size = next_number (&reader);

  return (Reader){ part_of (pdb->blobs, reader.at, size), 0, reader.bad };
}

/* A separator, and parts that are blobs. */
static const char *
document_name (const FlamDotnetPdb *pdb, guint32 row, FlamRuntimeName *name)
{
  guint size = 2 * (pdb->wide_blob + pdb->wide_guid);
  g_autoptr (GString) text = g_string_new (NULL);
  Reader reader;
  char separator;

  if (row == 0 || row > pdb->n_documents)
    return "";
  reader = blob_at (
      pdb, number_at (pdb->documents, (gsize)(row - 1) * size, pdb->wide_blob));
  separator = (char)next_byte (&reader);
  for (guint i = 0; i < PARTS_MAX && reader.at < reader.span.size; i++)
    {
      Reader part = blob_at (pdb, next_number (&reader));

      if (i > 0 && separator != '\0')
        g_string_append_c (text, separator);
      g_string_append_len (
          text, (const char *)part.span.bytes, (gssize)part.span.size);
      if (text->len > FLAM_RUNTIME_TEXT_MAX)
        break;
    }
  return flam_runtime_name_utf8 (name, text->str, text->len);
}

/* --- lines --------------------------------------------------------------- */

/* From an offset in CIL on. */
typedef struct
{
  guint32 cil;
  guint32 line; /* 0: unknown */
} Point;

/* The points of the method's first file. Code that the compiler added has no
 * line of its own, and gets the line before it. */
static GArray *
read_points (Reader *reader, guint32 *document)
{
  GArray *points = g_array_new (FALSE, FALSE, sizeof (Point));
  gboolean first_line = TRUE, elsewhere = FALSE;
  guint32 cil = 0, line = 0, shown = 0;

  next_number (reader); /* the type of its variables */
  if (*document == 0)
    *document = next_number (reader);
  for (guint i = 0;
       i < POINTS_MAX && reader->at < reader->span.size && !reader->bad;
       i++)
    {
      guint32 step = next_number (reader), lines;
      gint32 columns;
      Point point;

      if (i > 0 && step == 0)
        {
          elsewhere = next_number (reader) != *document;
          continue;
        }
      cil += step;
      lines = next_number (reader);
      columns =
          lines == 0 ? (gint32)next_number (reader) : next_signed (reader);
      point = (Point){ cil, shown };
      if (lines != 0 || columns != 0)
        {
          line +=
              first_line ? next_number (reader) : (guint32)next_signed (reader);
          if (first_line)
            next_number (reader);
          else
            next_signed (reader);
          first_line = FALSE;
          if (!elsewhere && line <= LAST_LINE)
            point.line = shown = line;
        }
      if (!reader->bad)
        g_array_append_val (points, point);
    }
  return points;
}

/* Of the last point up to an offset. */
static guint32
line_at (const GArray *points, guint32 cil)
{
  guint low = 0, high = points->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (points, Point, middle).cil <= cil)
        low = middle + 1;
      else
        high = middle;
    }
  return low > 0 ? g_array_index (points, Point, low - 1).line : 0;
}

static guint32
first_line_of (const GArray *points)
{
  for (guint i = 0; i < points->len; i++)
    if (g_array_index (points, Point, i).line != 0)
      return g_array_index (points, Point, i).line;
  return 0;
}

void
flam_dotnet_pdb_name (const FlamDotnetPdb *pdb,
                      guint32 method,
                      const GArray *places,
                      FlamRuntimeName *name,
                      FlamRuntimeNamed *named)
{
  gsize row = (gsize)(method - 1) * (pdb->wide_document + pdb->wide_blob);
  g_autoptr (GArray) points = NULL;
  guint32 document, blob, first;
  Reader reader;

  if (method == 0 || method > pdb->n_methods)
    return;
  document = number_at (pdb->methods, row, pdb->wide_document);
  blob = number_at (pdb->methods, row + pdb->wide_document, pdb->wide_blob);
  if (blob == 0)
    return;
  reader = blob_at (pdb, blob);
  points = read_points (&reader, &document);
  first = first_line_of (points);
  if (first == 0)
    return;
  named->file = document_name (pdb, document, name);
  named->first_line = first;
  for (guint i = 0; i < places->len; i++)
    {
      const FlamDotnetPlace *place =
          &g_array_index (places, FlamDotnetPlace, i);
      guint32 line = place->cil == FLAM_DOTNET_PROLOGUE
                         ? first
                         : line_at (points, place->cil);

      if (place->cil != FLAM_DOTNET_NO_CIL && line != 0 &&
          !flam_runtime_lines_add (name, place->native, line))
        return;
    }
}
