/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture.h"

#include "flam-varint.h"

#include <zlib.h>

/* The tables. U32 and I64 are plain numbers; ID(TABLE) refers to a row of
 * that table or to none, REQUIRED(TABLE) to a row.
 *
 * `file` beside a line is none where it is the function's.
 *
 *   STRINGS         row 0 need not be ""
 *   MODULES         path, build id (hex), FlamAddressing
 *   FRAMES          what was recorded: an address in a module, with function
 *                   none until SYMBOLS names it; or a function and a line
 *                   (interpreted code, exported profiles)
 *   NAMES           FlamCaptureNamed, row of that table, since when, name
 *   SAMPLES         and one I64 for each weight column of MEASURES
 *   ALLOCATIONS     grouped: see FlamAllocation
 *   BLOCKS          blocks of memory that were alike, made in one tick; rows
 *                   are numbered 0, 1, ...
 *   RELEASES        `count` of the blocks of row `row` were freed then, after
 *                   `distance` other allocations of their thread (65535: more,
 *                   or not known). A row beyond the last one is ignored
 *   AT_PEAK         how many blocks of a kind lived at the highest point;
 *                   written at the end, for all kinds or for none; rows of
 *                   one kind add up
 *   SYMBOLS         consecutive rows of one frame are its chain, caller
 *                   (inline depth 0) first
 *   END             written last: the recording was closed in order
 *   RENAMES         what generated code at the address of a frame was from a
 *                   time on; until the first of them it was what SYMBOLS says
 */

#define U32(name)                                                              \
  {                                                                            \
    name, FLAM_CAPTURE_U32, 0, FALSE                                           \
  }
#define I64(name)                                                              \
  {                                                                            \
    name, FLAM_CAPTURE_I64, 0, FALSE                                           \
  }
#define DELTA(name)                                                            \
  {                                                                            \
    name, FLAM_CAPTURE_DELTA, 0, FALSE                                         \
  }
#define TEXT(name)                                                             \
  {                                                                            \
    name, FLAM_CAPTURE_TEXT, 0, FALSE                                          \
  }
#define ID(name, table)                                                        \
  {                                                                            \
    name, FLAM_CAPTURE_ID, FLAM_CAPTURE_##table, FALSE                         \
  }
#define REQUIRED(name, table)                                                  \
  {                                                                            \
    name, FLAM_CAPTURE_ID, FLAM_CAPTURE_##table, TRUE                          \
  }

static const FlamCaptureColumn strings[] = { TEXT ("text") };
static const FlamCaptureColumn modules[] = {
  ID ("path", STRINGS),
  ID ("build id", STRINGS),
  U32 ("addressing"),
};
static const FlamCaptureColumn functions[] = {
  ID ("name", STRINGS),   ID ("system name", STRINGS), ID ("file", STRINGS),
  ID ("module", MODULES), U32 ("first line"),          U32 ("kind"),
  U32 ("flags"),
};
static const FlamCaptureColumn frames[] = {
  ID ("module", MODULES), DELTA ("address"),    ID ("function", FUNCTIONS),
  U32 ("line"),           U32 ("inline depth"), ID ("file", STRINGS),
};
static const FlamCaptureColumn stacks[] = {
  ID ("prefix", STACKS),
  REQUIRED ("frame", FRAMES),
};
static const FlamCaptureColumn processes[] = {
  I64 ("pid"),
  ID ("parent", PROCESSES),
};
static const FlamCaptureColumn threads[] = {
  REQUIRED ("process", PROCESSES),
  I64 ("tid"),
};
static const FlamCaptureColumn names[] = {
  U32 ("what"),
  U32 ("row"),
  DELTA ("time"),
  REQUIRED ("name", STRINGS),
};
static const FlamCaptureColumn measures[] = {
  REQUIRED ("id", STRINGS),
  REQUIRED ("name", STRINGS),
  U32 ("unit"),
  U32 ("kind"),
  U32 ("source"),
  I64 ("column"),
  I64 ("event"),
  I64 ("denominator"),
};
static const FlamCaptureColumn samples[] = {
  DELTA ("time"),       REQUIRED ("thread", THREADS),
  ID ("stack", STACKS), U32 ("event"),
  U32 ("state"),
};
static const FlamCaptureColumn allocations[] = {
  DELTA ("time"),       I64 ("freed at"), ID ("thread", THREADS),
  ID ("stack", STACKS), I64 ("size"),     I64 ("count"),
  I64 ("at peak"),      U32 ("distance"), U32 ("allocator"),
};
static const FlamCaptureColumn blocks[] = {
  DELTA ("time"), ID ("thread", THREADS), ID ("stack", STACKS),
  I64 ("size"),   I64 ("count"),          U32 ("allocator"),
};
static const FlamCaptureColumn releases[] = {
  DELTA ("time"),
  DELTA ("row"),
  I64 ("count"),
  U32 ("distance"),
};
static const FlamCaptureColumn at_peak[] = {
  ID ("thread", THREADS), ID ("stack", STACKS), I64 ("size"),
  U32 ("allocator"),      I64 ("count"),
};
static const FlamCaptureColumn counters[] = {
  REQUIRED ("id", STRINGS),
  U32 ("unit"),
};
static const FlamCaptureColumn counter_values[] = {
  REQUIRED ("counter", COUNTERS),
  DELTA ("time"),
  I64 ("value"),
};
static const FlamCaptureColumn marks[] = {
  DELTA ("time"),
  I64 ("duration"),
  ID ("thread", THREADS),
  REQUIRED ("name", STRINGS),
};
static const FlamCaptureColumn facts[] = {
  REQUIRED ("key", STRINGS),
  REQUIRED ("value", STRINGS),
};
static const FlamCaptureColumn warnings[] = { REQUIRED ("text", STRINGS) };
static const FlamCaptureColumn symbols[] = {
  REQUIRED ("frame", FRAMES),
  REQUIRED ("function", FUNCTIONS),
  U32 ("line"),
  ID ("file", STRINGS),
};
static const FlamCaptureColumn module_symbols[] = {
  REQUIRED ("module", MODULES),
  U32 ("state"),
  ID ("why", STRINGS),
};
static const FlamCaptureColumn end[] = { I64 ("duration") };
static const FlamCaptureColumn renames[] = {
  REQUIRED ("frame", FRAMES),
  DELTA ("time"),
  REQUIRED ("function", FUNCTIONS),
  U32 ("line"),
  ID ("file", STRINGS),
};

static const struct
{
  const FlamCaptureColumn *columns;
  guint n;
} tables[FLAM_CAPTURE_N_TABLES] = {
#define TABLE(id, columns)                                                     \
  [FLAM_CAPTURE_##id] = { columns, G_N_ELEMENTS (columns) }
  TABLE (STRINGS, strings),
  TABLE (MODULES, modules),
  TABLE (FUNCTIONS, functions),
  TABLE (FRAMES, frames),
  TABLE (STACKS, stacks),
  TABLE (PROCESSES, processes),
  TABLE (THREADS, threads),
  TABLE (NAMES, names),
  TABLE (MEASURES, measures),
  TABLE (SAMPLES, samples),
  TABLE (ALLOCATIONS, allocations),
  TABLE (BLOCKS, blocks),
  TABLE (RELEASES, releases),
  TABLE (AT_PEAK, at_peak),
  TABLE (COUNTERS, counters),
  TABLE (COUNTER_VALUES, counter_values),
  TABLE (MARKS, marks),
  TABLE (FACTS, facts),
  TABLE (WARNINGS, warnings),
  TABLE (SYMBOLS, symbols),
  TABLE (MODULE_SYMBOLS, module_symbols),
  TABLE (END, end),
  TABLE (RENAMES, renames),
#undef TABLE
};

const FlamCaptureColumn *
flam_capture_columns (FlamCaptureTable table, guint *n)
{
  *n = tables[table].n;
  return tables[table].columns;
}

static FlamCaptureKind
kind_of (FlamCaptureTable table, guint column)
{
  return column < tables[table].n ? tables[table].columns[column].kind
                                  : FLAM_CAPTURE_I64;
}

/* --- checksum ------------------------------------------------------------ */

guint32
flam_capture_checksum (const guint8 *block, gsize stored)
{
  uLong crc = crc32_z (0, block + 4, 12);

  return (guint32)crc32_z (crc, block + FLAM_CAPTURE_BLOCK_HEADER_SIZE, stored);
}

/* --- rows ---------------------------------------------------------------- */

void
flam_capture_rows_init (FlamCaptureRows *rows,
                        FlamCaptureTable table,
                        guint n_extra)
{
  memset (rows, 0, sizeof *rows);
  rows->n_columns = tables[table].n + n_extra;
  g_assert (rows->n_columns <= FLAM_CAPTURE_MAX_COLUMNS);
  for (guint i = 0; i < rows->n_columns; i++)
    {
      FlamCaptureKind kind = kind_of (table, i);
      flam_column_init (
          &rows->columns[i],
          kind == FLAM_CAPTURE_U32 || kind == FLAM_CAPTURE_ID ? 4 : 8);
    }
  flam_column_init (&rows->text, 1);
}

void
flam_capture_rows_clear (FlamCaptureRows *rows)
{
  for (guint i = 0; i < rows->n_columns; i++)
    flam_column_clear (&rows->columns[i]);
  flam_column_clear (&rows->text);
  rows->n = 0;
}

static void
rows_truncate (FlamCaptureRows *rows, guint32 n, gsize text)
{
  for (guint i = 0; i < rows->n_columns; i++)
    rows->columns[i].n = n;
  rows->text.n = text;
  rows->n = n;
}

void
flam_capture_rows_reset (FlamCaptureRows *rows)
{
  rows_truncate (rows, 0, 0);
}

void
flam_capture_rows_push (FlamCaptureRows *rows, const gint64 *values)
{
  for (guint i = 0; i < rows->n_columns; i++)
    if (rows->columns[i].element_size == 4)
      flam_column_append (&rows->columns[i], guint32, (guint32)values[i]);
    else
      flam_column_append (&rows->columns[i], gint64, values[i]);
  rows->n++;
}

static void
push_text (FlamCaptureRows *rows, const char *text, gsize length)
{
  guint64 offset = rows->text.n;

  flam_column_reserve (&rows->text, offset + length + 1);
  memcpy ((char *)rows->text.data + offset, text, length);
  ((char *)rows->text.data)[offset + length] = '\0';
  rows->text.n = offset + length + 1;
  flam_column_append (&rows->columns[0], guint64, offset);
}

void
flam_capture_rows_push_text (FlamCaptureRows *rows, const char *text)
{
  push_text (rows, text, strlen (text));
  rows->n++;
}

/* --- rows -> payload ----------------------------------------------------- */

static void
put_varint (GByteArray *out, guint64 value)
{
  guint8 bytes[FLAM_VARINT_MAX];

  g_byte_array_append (out, bytes, flam_varint_put (bytes, value));
}

static void
encode_column (const FlamCaptureRows *rows,
               FlamCaptureKind kind,
               guint column,
               guint32 from,
               guint32 to,
               GByteArray *out)
{
  gint64 last = 0;

  for (guint32 i = from; i < to; i++)
    switch (kind)
      {
      case FLAM_CAPTURE_U32:
        put_varint (out,
                    flam_varint_zigzag (flam_capture_u32 (rows, column, i)));
        break;
      case FLAM_CAPTURE_ID:
        put_varint (out, (guint32)(flam_capture_u32 (rows, column, i) + 1));
        break;
      case FLAM_CAPTURE_I64:
        put_varint (out,
                    flam_varint_zigzag (flam_capture_i64 (rows, column, i)));
        break;
      case FLAM_CAPTURE_DELTA:
        {
          gint64 value = flam_capture_i64 (rows, column, i);
          guint64 delta = (guint64)value - (guint64)last;
          put_varint (out, flam_varint_zigzag ((gint64)delta));
          last = value;
          break;
        }
      case FLAM_CAPTURE_TEXT:
        {
          const char *text = flam_capture_text (rows, i);
          gsize length = strlen (text);
          put_varint (out, length);
          g_byte_array_append (out, (const guint8 *)text, (guint)length);
          break;
        }
      }
}

void
flam_capture_encode (const FlamCaptureRows *rows,
                     FlamCaptureTable table,
                     guint32 from,
                     guint32 to,
                     GByteArray *out)
{
  g_autoptr (GByteArray) column = g_byte_array_new ();

  put_varint (out, to - from);
  put_varint (out, rows->n_columns);
  for (guint i = 0; i < rows->n_columns; i++)
    {
      g_byte_array_set_size (column, 0);
      encode_column (rows, kind_of (table, i), i, from, to, column);
      put_varint (out, column->len);
      g_byte_array_append (out, column->data, column->len);
    }
}

/* --- payload -> rows ----------------------------------------------------- */

typedef struct
{
  const guint8 *p;
  const guint8 *end;
} Cursor;

static gboolean
decode_text (FlamCaptureRows *rows, Cursor *cursor)
{
  guint64 length;

  if (!flam_varint_get (&cursor->p, cursor->end, &length) ||
      length > (guint64)(cursor->end - cursor->p) ||
      memchr (cursor->p, '\0', length))
    return FALSE;
  push_text (rows, (const char *)cursor->p, length);
  cursor->p += length;
  return TRUE;
}

static gboolean
decode_value (FlamCaptureRows *rows,
              FlamCaptureKind kind,
              guint column,
              Cursor *cursor,
              gint64 *last)
{
  FlamColumn *to = &rows->columns[column];
  guint64 value;

  if (kind == FLAM_CAPTURE_TEXT)
    return decode_text (rows, cursor);
  if (!flam_varint_get (&cursor->p, cursor->end, &value))
    return FALSE;
  switch (kind)
    {
    case FLAM_CAPTURE_U32:
      value = (guint64)flam_varint_unzigzag (value);
      if (value > G_MAXUINT32)
        return FALSE;
      flam_column_append (to, guint32, (guint32)value);
      break;
    case FLAM_CAPTURE_ID:
      if (value > G_MAXUINT32)
        return FALSE;
      flam_column_append (to, guint32, (guint32)value - 1);
      break;
    case FLAM_CAPTURE_DELTA:
      *last = (gint64)((guint64)*last + (guint64)flam_varint_unzigzag (value));
      flam_column_append (to, gint64, *last);
      break;
    default:
      flam_column_append (to, gint64, flam_varint_unzigzag (value));
      break;
    }
  return TRUE;
}

static gboolean
decode_column (FlamCaptureRows *rows,
               FlamCaptureTable table,
               guint column,
               guint64 n,
               Cursor cursor)
{
  FlamCaptureKind kind = kind_of (table, column);
  gint64 last = 0;

  if (n > (guint64)(cursor.end - cursor.p))
    return FALSE;
  flam_column_reserve (&rows->columns[column], rows->n + n);
  for (guint64 i = 0; i < n; i++)
    if (!decode_value (rows, kind, column, &cursor, &last))
      return FALSE;
  return cursor.p == cursor.end;
}

static void
default_column (FlamCaptureRows *rows,
                FlamCaptureTable table,
                guint column,
                guint64 n)
{
  gboolean id = kind_of (table, column) == FLAM_CAPTURE_ID;
  FlamColumn *to = &rows->columns[column];

  for (guint64 i = 0; i < n; i++)
    if (to->element_size == 4)
      flam_column_append (to, guint32, id ? FLAM_NONE : 0);
    else
      flam_column_append (to, gint64, 0);
}

static gboolean
decode_columns (FlamCaptureRows *rows,
                FlamCaptureTable table,
                Cursor *cursor,
                guint64 n,
                guint64 n_columns)
{
  for (guint64 i = 0; i < n_columns; i++)
    {
      guint64 size;
      Cursor column;

      if (!flam_varint_get (&cursor->p, cursor->end, &size) ||
          size > (guint64)(cursor->end - cursor->p))
        return FALSE;
      column = (Cursor){ cursor->p, cursor->p + size };
      cursor->p += size;
      if (i < rows->n_columns &&
          !decode_column (rows, table, (guint)i, n, column))
        return FALSE;
    }
  return TRUE;
}

gboolean
flam_capture_decode (FlamCaptureRows *rows,
                     FlamCaptureTable table,
                     const guint8 *payload,
                     gsize size,
                     const char **error)
{
  Cursor cursor = { payload, payload + size };
  guint32 n_before = rows->n;
  gsize text_before = rows->text.n;
  guint64 n, n_columns;

  *error = "its columns do not add up";
  if (!flam_varint_get (&cursor.p, cursor.end, &n) ||
      !flam_varint_get (&cursor.p, cursor.end, &n_columns) || n > size ||
      n_columns > size || 2 * n_columns < rows->n_columns)
    return FALSE;
  if (n >= FLAM_NONE - (guint64)n_before)
    {
      *error = "it has more rows than can be numbered";
      return FALSE;
    }
  if (!decode_columns (rows, table, &cursor, n, n_columns))
    {
      rows_truncate (rows, n_before, text_before);
      return FALSE;
    }
  for (guint64 i = n_columns; i < rows->n_columns; i++)
    default_column (rows, table, (guint)i, n);
  rows->n = n_before + (guint32)n;
  return TRUE;
}
