/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture.h"

#include "flam-core-profile.h"

#include <zlib.h>

guint32
flam_capture_checksum (const guint8 *block, gsize stored)
{
  uLong crc = crc32_z (0, block + 4, 12);

  return (guint32)crc32_z (crc, block + FLAM_CAPTURE_BLOCK_HEADER_SIZE, stored);
}

/* --- rows -> payload ----------------------------------------------------- */

static void
put_varint (GByteArray *out, guint64 value)
{
  guint8 bytes[FLAM_VARINT_MAX];

  g_byte_array_append (out, bytes, flam_varint_put (bytes, value));
}

static guint64
encoded (guint8 encoding, gint64 value, gint64 *last)
{
  gint64 before = *last;

  if (encoding == FLAM_ENCODE_ID)
    return (guint32)(value + 1);
  if (encoding == FLAM_ENCODE_DELTA)
    {
      *last = value;
      value = (gint64)((guint64)value - (guint64)before);
    }
  return flam_varint_zigzag (value);
}

/* A column without values is all 0. */
static void
encode_column (gconstpointer data,
               const FlamColumnInfo *info,
               guint32 from,
               guint32 to,
               GByteArray *out)
{
  guint start = out->len;
  gint64 last = 0;
  guint8 *p;

  g_byte_array_set_size (out, start + (to - from) * FLAM_VARINT_MAX);
  p = out->data + start;
  for (guint32 i = from; i < to; i++)
    {
      gint64 value = data != NULL ? flam_cell_get (data, info, i) : 0;

      p += flam_varint_put (p, encoded (info->encoding, value, &last));
    }
  g_byte_array_set_size (out, (guint)(p - out->data));
}

static void
encode_text (const FlamStrings *strings,
             guint32 from,
             guint32 to,
             GByteArray *out)
{
  for (guint32 i = from; i < to; i++)
    {
      const char *text = flam_strings_get (strings, i);
      gsize length = strlen (text);

      put_varint (out, length);
      g_byte_array_append (out, (const guint8 *)text, (guint)length);
    }
}

void
flam_capture_encode (const FlamTables *tables,
                     FlamTable table,
                     guint32 from,
                     guint32 to,
                     GByteArray *out)
{
  g_autoptr (GByteArray) column = g_byte_array_new ();
  g_autoptr (GArray) order = flam_tables_stored (tables, table);

  put_varint (out, to - from);
  put_varint (out, order->len);
  for (guint i = 0; i < order->len; i++)
    {
      const FlamColumnIter *each = &g_array_index (order, FlamColumnIter, i);

      g_byte_array_set_size (column, 0);
      if (each->info->encoding == FLAM_ENCODE_TEXT)
        encode_text (&tables->strings, from, to, column);
      else
        encode_column (*each->data, each->info, from, to, column);
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

static const char damaged[] =
    N_ ("a block is damaged: its columns differ in length");
static const char dangling[] =
    N_ ("a block refers to data that is not in the file");

void
flam_capture_ids_init (FlamCaptureIds *ids, FlamBuilder *builder)
{
  *ids = (FlamCaptureIds){ builder };
  for (guint t = 0; t < FLAM_N_TABLES; t++)
    flam_column_init (&ids->map[t], sizeof (FlamId));
  flam_builder_set_recorded (builder);
}

void
flam_capture_ids_clear (FlamCaptureIds *ids)
{
  for (guint t = 0; t < FLAM_N_TABLES; t++)
    flam_column_clear (&ids->map[t]);
}

/* Rows of these tables are interned when they are read; rows of the others keep
 * their numbers in the file. */
static gboolean
is_mapped (FlamTable table)
{
  return table <= FLAM_TABLE_FUNCTIONS;
}

static gboolean
decode_id (const FlamCaptureIds *ids,
           const FlamColumnInfo *info,
           guint64 stored,
           guint32 limit,
           gint64 *value)
{
  FlamId id = (FlamId)stored - 1;

  if (stored == 0)
    {
      *value = info->flags & FLAM_COLUMN_EMPTY ? 0 : FLAM_NONE;
      return !(info->flags & FLAM_COLUMN_REQUIRED);
    }
  if (stored > G_MAXUINT32 || id >= limit)
    return FALSE;
  *value = is_mapped (info->refers_to)
               ? flam_column_at (&ids->map[info->refers_to], FlamId, id)
               : id;
  return TRUE;
}

static gboolean
decode_number (const FlamColumnInfo *info, guint64 stored, gint64 *last)
{
  gint64 value = flam_varint_unzigzag (stored);

  if (info->encoding == FLAM_ENCODE_DELTA)
    value = (gint64)((guint64)*last + (guint64)value);
  else if (info->encoding == FLAM_ENCODE_U32 && (guint64)value > G_MAXUINT32)
    return FALSE;
  *last = value;
  return TRUE;
}

/* --- most cells are of two kinds, which loops of their own read twice as fast
 */

static inline gboolean
take_varint (const guint8 **p, const guint8 *end, guint64 *value)
{
  if (G_UNLIKELY (*p == end || **p >= 0x80))
    return flam_varint_get (p, end, value);
  *value = *(*p)++;
  return TRUE;
}

/* Numbers of 8 bytes, whatever they are. */
static const char *
decode_wide (gint64 *cells, guint32 n, gboolean delta, Cursor cursor)
{
  const guint8 *p = cursor.p;
  gint64 last = 0;

  for (guint32 i = 0; i < n; i++)
    {
      guint64 stored;
      gint64 value;

      if (!take_varint (&p, cursor.end, &stored))
        return damaged;
      value = flam_varint_unzigzag (stored);
      last = delta ? (gint64)((guint64)last + (guint64)value) : value;
      cells[i] = last;
    }
  return p == cursor.end ? NULL : damaged;
}

/* Ids that are the same in the file and in the tables. */
static const char *
decode_plain_ids (FlamId *cells,
                  guint32 n,
                  const FlamColumnInfo *info,
                  guint32 limit,
                  Cursor cursor)
{
  FlamId none = info->flags & FLAM_COLUMN_EMPTY ? 0 : FLAM_NONE;
  gboolean required = (info->flags & FLAM_COLUMN_REQUIRED) != 0;
  const guint8 *p = cursor.p;

  for (guint32 i = 0; i < n; i++)
    {
      guint64 stored;

      if (!take_varint (&p, cursor.end, &stored) || stored > G_MAXUINT32)
        return damaged;
      if (stored > limit || (stored == 0 && required))
        return dangling;
      cells[i] = stored == 0 ? none : (FlamId)stored - 1;
    }
  return p == cursor.end ? NULL : damaged;
}

/* Reads the cells of rows [at, at + n) of a table, which are rows `first` and
 * following of the file. An optional column begins with the first value that is
 * not 0. */
static const char *
decode_column (const FlamCaptureIds *ids,
               FlamTable table,
               const FlamColumnIter *to,
               guint32 n,
               Cursor cursor)
{
  const FlamColumnInfo *info = to->info;
  gboolean own = info->refers_to == table;
  guint32 limit = ids->n[info->refers_to];
  guint32 at = *flam_tables_n (flam_builder_tables (ids->builder), table);
  gint64 last = 0;

  if (*to->data != NULL && info->size == sizeof (gint64) && info->limit == 0 &&
      (info->encoding == FLAM_ENCODE_I64 ||
       info->encoding == FLAM_ENCODE_DELTA))
    return decode_wide (&flam_cell (*to->data, gint64, at),
                        n,
                        info->encoding == FLAM_ENCODE_DELTA,
                        cursor);
  if (*to->data != NULL && info->size == sizeof (FlamId) &&
      info->encoding == FLAM_ENCODE_ID && !own && !is_mapped (info->refers_to))
    return decode_plain_ids (
        &flam_cell (*to->data, FlamId, at), n, info, limit, cursor);
  for (guint32 i = 0; i < n; i++)
    {
      gint64 value;
      guint64 stored;

      if (!flam_varint_get (&cursor.p, cursor.end, &stored))
        return damaged;
      if (info->encoding == FLAM_ENCODE_ID)
        {
          if (!decode_id (ids, info, stored, own ? limit + i : limit, &value))
            return stored > G_MAXUINT32 ? damaged : dangling;
        }
      else
        {
          if (!decode_number (info, stored, &last))
            return damaged;
          value =
              info->limit > 0 && last >= info->limit ? info->otherwise : last;
        }
      if (*to->data == NULL && value != 0)
        flam_tables_begin (flam_builder_tables (ids->builder), table, info);
      if (*to->data != NULL)
        flam_cell_set (*to->data, info, at + i, value);
    }
  return cursor.p == cursor.end ? NULL : damaged;
}

/* Sets the columns that the file does not have. */
static void
default_cells (FlamTables *tables, FlamTable table, guint32 n)
{
  guint32 at = *flam_tables_n (tables, table);
  FlamColumnIter iter = { NULL };

  while (flam_tables_next (tables, table, &iter))
    if (*iter.data != NULL)
      memset ((char *)*iter.data + (gsize)at * iter.info->size,
              iter.info->encoding == FLAM_ENCODE_ID &&
                      !(iter.info->flags & FLAM_COLUMN_EMPTY)
                  ? 0xff
                  : 0,
              (gsize)n * iter.info->size);
}

static const char *
decode_strings (FlamCaptureIds *ids, guint32 n, Cursor cursor)
{
  FlamColumn *map = &ids->map[FLAM_TABLE_STRINGS];

  for (guint32 i = 0; i < n; i++)
    {
      guint64 length;
      FlamId id;

      if (!flam_varint_get (&cursor.p, cursor.end, &length) ||
          length > (guint64)(cursor.end - cursor.p) ||
          memchr (cursor.p, '\0', length))
        {
          map->n = ids->n[FLAM_TABLE_STRINGS];
          return damaged;
        }
      id = flam_builder_string (
          ids->builder, (const char *)cursor.p, (gssize)length);
      flam_column_append (map, FlamId, id);
      cursor.p += length;
    }
  return cursor.p == cursor.end ? NULL : damaged;
}

/* Columns of weights follow the first columns of samples; those that are listed
 * come last. There may be some that no measure shows. */
static void
prepare_samples (FlamCaptureIds *ids, guint64 n_columns)
{
  FlamTables *tables = flam_builder_tables (ids->builder);
  const FlamMeasureRows *measures = &tables->measures;
  const FlamColumnRows *listed = &tables->columns;
  guint64 others = flam_table_infos[FLAM_TABLE_SAMPLES].n_first;
  guint n = 0;

  for (guint32 i = 0; i < listed->n; i++)
    others +=
        listed->table[i] == flam_tables_number (tables, FLAM_TABLE_SAMPLES);
  if (n_columns > others)
    n = (guint)MIN (n_columns - others, FLAM_MAX_WEIGHTS);
  for (guint32 i = 0; i < measures->n; i++)
    if (measures->column[i] >= 0 && measures->column[i] < FLAM_MAX_WEIGHTS)
      n = MAX (n, (guint)measures->column[i] + 1);
  while (tables->weights->len < n)
    flam_tables_add_weights (tables);
}

/* A NAMES row must refer to a process or a thread. */
static const char *
check_names (FlamCaptureIds *ids, guint32 n)
{
  const FlamTables *tables = flam_builder_tables (ids->builder);

  for (guint32 i = tables->names.n; i < tables->names.n + n; i++)
    {
      guint what = tables->names.what[i];
      FlamTable table = what == FLAM_NAMED_PROCESS ? FLAM_TABLE_PROCESSES
                                                   : FLAM_TABLE_THREADS;

      if (what >= FLAM_N_NAMED || tables->names.row[i] >= ids->n[table])
        return dangling;
    }
  return NULL;
}

/* After the rows are read: determines the row of each interned one. */
static void
take_rows (FlamCaptureIds *ids, FlamTable table, guint32 n)
{
  FlamTables *tables = flam_builder_tables (ids->builder);
  guint32 *rows = flam_tables_n (tables, table);
  FlamColumn *map = &ids->map[table];
  guint32 from = *rows;

  *rows += n;
  if (table == FLAM_TABLE_COLUMNS)
    flam_tables_add_listed (tables, from);
  if (!is_mapped (table))
    return;
  flam_column_backfill (map, map->n + n);
  if (table == FLAM_TABLE_MODULES)
    flam_builder_intern_modules (
        ids->builder, from, (FlamId *)map->data + ids->n[table]);
  else
    flam_builder_intern_functions (
        ids->builder, from, (FlamId *)map->data + ids->n[table]);
}

static const char *
decode_columns (FlamCaptureIds *ids,
                FlamTable table,
                guint32 n,
                guint64 n_columns,
                Cursor cursor)
{
  FlamTables *tables = flam_builder_tables (ids->builder);
  g_autoptr (GArray) order = NULL;

  flam_tables_reserve (tables, table, *flam_tables_n (tables, table) + n);
  default_cells (tables, table, n);
  order = flam_tables_stored (tables, table);
  if (2 * n_columns < order->len)
    return damaged;
  for (guint64 i = 0; i < MAX (n_columns, order->len); i++)
    {
      const FlamColumnIter *to =
          i < order->len ? &g_array_index (order, FlamColumnIter, i) : NULL;
      guint64 size;
      const char *why = NULL;

      if (i >= n_columns)
        {
          if (n > 0 && to->info->flags & FLAM_COLUMN_REQUIRED)
            return dangling;
          continue;
        }
      if (!flam_varint_get (&cursor.p, cursor.end, &size) ||
          size > (guint64)(cursor.end - cursor.p))
        return damaged;
      if (to != NULL)
        why = decode_column (
            ids, table, to, n, (Cursor){ cursor.p, cursor.p + size });
      if (why != NULL)
        return why;
      cursor.p += size;
    }
  return NULL;
}

/* Decodes the single column of STRINGS. */
static const char *
decode_text (FlamCaptureIds *ids, guint32 n, guint64 n_columns, Cursor cursor)
{
  guint64 size;

  if (n_columns == 0 || !flam_varint_get (&cursor.p, cursor.end, &size) ||
      size > (guint64)(cursor.end - cursor.p))
    return damaged;
  return decode_strings (ids, n, (Cursor){ cursor.p, cursor.p + size });
}

/* Whether the file has all columns that rows of a table cannot do without. An
 * older version drops those of a table that it does not have if they refer to
 * tables that it renumbers. */
static gboolean
is_whole (const FlamTables *tables, FlamTable table)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  g_autoptr (GArray) order = NULL;

  if (infos->n_first > 0)
    return TRUE;
  order = flam_tables_stored (tables, table);
  for (guint c = 0; c < infos->n_columns; c++)
    {
      gboolean found = (infos->columns[c].flags & FLAM_COLUMN_REQUIRED) == 0;

      for (guint i = 0; i < order->len && !found; i++)
        found =
            g_array_index (order, FlamColumnIter, i).info == &infos->columns[c];
      if (!found)
        return FALSE;
    }
  return TRUE;
}

gboolean
flam_capture_decode (FlamCaptureIds *ids,
                     FlamTable table,
                     const guint8 *payload,
                     gsize size,
                     const char **why)
{
  Cursor cursor = { payload, payload + size };
  guint64 n, n_columns;

  *why = damaged;
  if (!flam_varint_get (&cursor.p, cursor.end, &n) ||
      !flam_varint_get (&cursor.p, cursor.end, &n_columns) || n > size ||
      n_columns > size)
    return FALSE;
  if (n >= FLAM_NONE - (guint64)ids->n[table])
    {
      *why = N_ ("a block is damaged: it has more rows than can be numbered");
      return FALSE;
    }
  if (!is_whole (flam_builder_tables (ids->builder), table))
    return TRUE;
  if (table == FLAM_TABLE_SAMPLES && ids->n[table] == 0)
    prepare_samples (ids, n_columns);
  *why = table == FLAM_TABLE_STRINGS
             ? decode_text (ids, (guint32)n, n_columns, cursor)
             : decode_columns (ids, table, (guint32)n, n_columns, cursor);
  if (*why == NULL && table == FLAM_TABLE_NAMES)
    *why = check_names (ids, (guint32)n);
  if (*why != NULL)
    return FALSE;
  if (table != FLAM_TABLE_STRINGS)
    take_rows (ids, table, (guint32)n);
  ids->n[table] += (guint32)n;
  return TRUE;
}
