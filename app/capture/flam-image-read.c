/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-image-private.h"

#include <stddef.h>

typedef struct
{
  const guint8 *p;
  const guint8 *end;
  FlamBuilder *builder;
  FlamTables *tables;
  GPtrArray *texts; /* NULL-terminated lists of pointers into the bytes */
} Reader;

/* Takes the next piece without a check; NULL in `data`: it is missing. */
static gboolean
next (Reader *reader, const guint8 **data, gsize *size, guint32 *hash)
{
  FlamImagePiece piece;
  gsize left = (gsize)(reader->end - reader->p);

  if (left < sizeof piece)
    return FALSE;
  memcpy (&piece, reader->p, sizeof piece);
  reader->p += sizeof piece;
  left -= sizeof piece;
  *data = NULL;
  *size = 0;
  if (piece.size == FLAM_IMAGE_ABSENT)
    return TRUE;
  if (piece.size > left || (-piece.size & 7) > left - piece.size)
    return FALSE;
  *data = reader->p;
  *size = piece.size;
  *hash = piece.hash;
  reader->p += piece.size + (-piece.size & 7);
  return TRUE;
}

static gboolean
is_hashed (gconstpointer data, gsize size, guint32 hash)
{
  return size == 0 || flam_hash_bytes (data, size) == hash;
}

/* Takes a piece of that size as a copy: a file that may change meanwhile is not
 * read twice. */
static gboolean
take (Reader *reader, gpointer to, gsize wanted)
{
  const guint8 *data;
  gsize size;
  guint32 hash;

  if (!next (reader, &data, &size, &hash) || data == NULL || size != wanted)
    return FALSE;
  if (size > 0)
    memcpy (to, data, size);
  return is_hashed (to, size, hash);
}

/* --- texts */

static gboolean
take_strings (Reader *reader)
{
  FlamStrings *strings = &reader->tables->strings;
  const guint8 *data;
  const char *text;
  gsize size;
  guint32 hash;

  if (!next (reader, &data, &size, &hash) || size == 0)
    return FALSE;
  strings->blob.n = 0;
  strings->offsets.n = 0;
  flam_column_reserve (&strings->blob, size);
  memcpy (strings->blob.data, data, size);
  strings->blob.n = size;
  text = strings->blob.data;
  if (!is_hashed (text, size, hash) || text[0] != '\0' ||
      text[size - 1] != '\0')
    return FALSE;
  for (gsize at = 0; at < size; at += strlen (text + at) + 1)
    if (strings->offsets.n >= FLAM_NONE - 1 ||
        !g_utf8_validate (text + at, -1, NULL))
      return FALSE;
    else
      flam_column_append (&strings->offsets, guint64, at);
  return TRUE;
}

/* "a\0b\0" as a list; valid as long as the reader. */
static const char *const *
take_texts (Reader *reader)
{
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  const guint8 *data;
  g_autofree char *copy = NULL;
  gsize size;
  guint32 hash;
  gpointer *texts;

  if (!next (reader, &data, &size, &hash) || data == NULL)
    return NULL;
  copy = g_malloc (size + 1);
  memcpy (copy, data, size);
  copy[size] = '\0';
  if (!is_hashed (copy, size, hash) || (size > 0 && copy[size - 1] != '\0'))
    return NULL;
  for (gsize at = 0; at < size; at += strlen (copy + at) + 1)
    g_ptr_array_add (list, copy + at);
  g_ptr_array_add (list, NULL);
  texts = g_ptr_array_steal (list, NULL);
  g_ptr_array_add (reader->texts, g_steal_pointer (&copy));
  g_ptr_array_add (reader->texts, texts);
  return (const char *const *)texts;
}

static guint32
n_rows (const Reader *reader, FlamTable table)
{
  return table == FLAM_TABLE_STRINGS
             ? (guint32)reader->tables->strings.offsets.n
             : *flam_tables_n (reader->tables, table);
}

static gboolean
is_string (const Reader *reader, gint64 id)
{
  return id >= 0 && id < n_rows (reader, FLAM_TABLE_STRINGS);
}

/* --- columns */

/* Whether a profile may lack this column. Texts that always exist are ""
 * instead. */
static gboolean
may_be_none (const FlamColumnInfo *info)
{
  guint always = FLAM_COLUMN_EMPTY | FLAM_COLUMN_KEY | FLAM_COLUMN_REFERS;

  return (info->refers_to != FLAM_TABLE_STRINGS || !(info->flags & always)) &&
         !(info->flags & FLAM_COLUMN_REQUIRED) &&
         info->offset != offsetof (FlamTables, profile.frames.function);
}

static gboolean
check_ids (const FlamId *ids, guint32 n, guint32 limit, gboolean none)
{
  guint32 wrong = 0;

  for (guint32 i = 0; i < n; i++)
    wrong |= (ids[i] >= limit) & ((ids[i] != FLAM_NONE) | !none);
  return wrong == 0;
}

static gboolean
check_prefixes (const FlamStackId *prefix, guint32 n)
{
  guint32 wrong = 0;

  for (guint32 i = 0; i < n; i++)
    wrong |= (prefix[i] >= i) & (prefix[i] != FLAM_NONE);
  return wrong == 0;
}

static gboolean
check_limit (gconstpointer data, const FlamColumnInfo *info, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    if (flam_cell_get (data, info, i) >= info->limit)
      return FALSE;
  return TRUE;
}

static gboolean
check_column (const Reader *reader,
              FlamTable table,
              const FlamColumnInfo *info,
              gconstpointer cells,
              guint32 n)
{
  gboolean refers = info->encoding == FLAM_ENCODE_ID ||
                    (info->flags & FLAM_COLUMN_REFERS) != 0;

  if (refers && table == FLAM_TABLE_STACKS && info->refers_to == table)
    return check_prefixes (cells, n);
  if (refers)
    return check_ids (
        cells,
        n,
        info->refers_to == table ? n : n_rows (reader, info->refers_to),
        may_be_none (info));
  /* If the values are as wide as their column, all are valid. */
  return info->limit == 0 || info->limit > G_MAXUINT16 ||
         check_limit (cells, info, n);
}

/* Fills a column that the profile lacks. */
static void
fill_absent (FlamTables *tables, const FlamColumnInfo *info, guint32 n)
{
  gboolean peak =
      info->offset == offsetof (FlamTables, profile.allocations.at_peak);
  gpointer cells = *flam_tables_array (tables, info);

  if (cells != NULL && n > 0)
    memset (cells, peak ? 0xff : 0, (gsize)n * info->size);
}

static gboolean
take_column (Reader *reader,
             FlamTable table,
             const FlamColumnInfo *info,
             guint32 n)
{
  const guint8 *data;
  gpointer cells;
  gsize size;
  guint32 hash;

  if (!next (reader, &data, &size, &hash))
    return FALSE;
  if (data == NULL)
    {
      fill_absent (reader->tables, info, n);
      return n == 0 || info->flags & FLAM_COLUMN_OPTIONAL ||
             table == FLAM_TABLE_ALLOCATIONS;
    }
  if (size != (gsize)n * info->size)
    return FALSE;
  flam_tables_begin (reader->tables, table, info);
  cells = *flam_tables_array (reader->tables, info);
  if (size > 0)
    memcpy (cells, data, size);
  return is_hashed (cells, size, hash) &&
         check_column (reader, table, info, cells, n);
}

static gboolean
take_table (Reader *reader, FlamTable table)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  guint64 n;

  /* A row has at least one byte. */
  if (!take (reader, &n, sizeof n) || n >= FLAM_NONE ||
      n > (gsize)(reader->end - reader->p))
    return FALSE;
  flam_tables_reserve (reader->tables, table, (guint32)n);
  for (guint i = 0; i < infos->n_columns; i++)
    if (flam_image_has_column (&infos->columns[i]) &&
        !take_column (reader, table, &infos->columns[i], (guint32)n))
      return FALSE;
  *flam_tables_n (reader->tables, table) = (guint32)n;
  return TRUE;
}

/* A former name must belong to a process or a thread. */
static gboolean
check_former_names (const FlamFormerNames *names)
{
  for (guint32 i = 0; i < names->n; i++)
    if ((names->process[i] == FLAM_NONE) == (names->thread[i] == FLAM_NONE))
      return FALSE;
  return TRUE;
}

/* --- the rest */

/* Reads how many samples each thread has. */
static gboolean
take_threads (Reader *reader)
{
  const FlamTables *tables = reader->tables;
  guint32 n = tables->profile.threads.n;
  guint32 n_samples = tables->profile.samples.n;
  g_autofree guint32 *counts = g_new (guint32, (gsize)n + 1);
  guint64 at = 0;

  if (!take (reader, counts, n * sizeof *counts))
    return FALSE;
  for (FlamId t = 0; t < n; t++)
    {
      if (counts[t] > n_samples - at)
        return FALSE;
      for (guint32 i = 0; i < counts[t]; i++)
        flam_cell (tables->sample_thread, FlamId, at++) = t;
    }
  return at == n_samples;
}

static gboolean
check_measure (const Reader *reader, const gint64 *row)
{
  return is_string (reader, row[MEASURE_ID]) &&
         is_string (reader, row[MEASURE_NAME]) && row[MEASURE_UNIT] >= 0 &&
         row[MEASURE_UNIT] <= FLAM_UNIT_BYTES && row[MEASURE_KIND] >= 0 &&
         row[MEASURE_KIND] <= FLAM_MEASURE_ALLOC && row[MEASURE_SOURCE] >= 0 &&
         row[MEASURE_SOURCE] < FLAM_N_SOURCES && row[MEASURE_COLUMN] >= -1 &&
         row[MEASURE_COLUMN] < G_MAXUINT16 && row[MEASURE_EVENT] >= -1 &&
         row[MEASURE_EVENT] <= G_MAXUINT16 && row[MEASURE_DENOMINATOR] >= 1 &&
         row[MEASURE_SPANS] >= 0 && row[MEASURE_SPANS] < FLAM_N_SPANS;
}

static gboolean
take_weights (Reader *reader)
{
  FlamTables *tables = reader->tables;

  flam_tables_add_weights (tables);
  return take (reader,
               flam_tables_weights (tables, tables->weights->len - 1),
               tables->profile.samples.n * sizeof (gint64));
}

static gboolean
take_measures (Reader *reader)
{
  FlamTables *tables = reader->tables;
  g_autofree gint64 *rows = NULL;
  const guint8 *data;
  gsize size;
  guint32 hash;
  gint64 n_columns = 0;

  if (!next (reader, &data, &size, &hash) ||
      size % (N_MEASURE * sizeof *rows) != 0)
    return FALSE;
  rows = g_memdup2 (data, size);
  if (!is_hashed (rows, size, hash))
    return FALSE;
  for (gsize i = 0; i < size / sizeof *rows; i += N_MEASURE)
    {
      FlamId row;

      if (!check_measure (reader, rows + i))
        return FALSE;
      row = flam_tables_add (tables, FLAM_TABLE_MEASURES, rows + i);
      flam_cell (tables->measures.spans, guint8, row) =
          (guint8)rows[i + MEASURE_SPANS];
      n_columns = MAX (n_columns, rows[i + MEASURE_COLUMN] + 1);
    }
  while (tables->weights->len < n_columns)
    if (!take_weights (reader))
      return FALSE;
  return TRUE;
}

static gboolean
check_counter (const Reader *reader, const gint64 *row)
{
  return is_string (reader, row[COUNTER_ID]) && row[COUNTER_UNIT] >= 0 &&
         row[COUNTER_UNIT] < FLAM_N_UNITS && row[COUNTER_VALUES] >= 0 &&
         row[COUNTER_VALUES] <= reader->end - reader->p &&
         row[COUNTER_VALUES] < FLAM_NONE - reader->tables->counter_values.n;
}

static gboolean
take_counter (Reader *reader)
{
  FlamTables *tables = reader->tables;
  FlamCounterValueRows *values = &tables->counter_values;
  guint32 from = values->n;
  gint64 row[N_COUNTER];
  guint32 n;
  FlamId id;

  if (!take (reader, row, sizeof row) || !check_counter (reader, row))
    return FALSE;
  n = (guint32)row[COUNTER_VALUES];
  id = flam_tables_add (tables, FLAM_TABLE_COUNTERS, row);
  flam_tables_reserve (tables, FLAM_TABLE_COUNTER_VALUES, from + n);
  if (!take (reader, (gint64 *)values->time + from, n * sizeof (gint64)) ||
      !take (reader, (gint64 *)values->value + from, n * sizeof (gint64)))
    return FALSE;
  values->n += n;
  for (guint32 i = from; i < values->n; i++)
    flam_cell (values->counter, FlamId, i) = id;
  return TRUE;
}

static gboolean
take_counters (Reader *reader)
{
  guint64 n;

  if (!take (reader, &n, sizeof n))
    return FALSE;
  while (n-- > 0)
    if (!take_counter (reader))
      return FALSE;
  return TRUE;
}

static gboolean
take_peak_time (Reader *reader)
{
  gint64 time;

  if (!take (reader, &time, sizeof time))
    return FALSE;
  if (time >= 0)
    flam_builder_set_peak_time (reader->builder, time);
  return TRUE;
}

/* The addresses of text facts are those of the process that wrote the image;
 * they are replaced by the addresses of the texts, which are in the order of
 * the rows. */
static gboolean
place_texts (FlamFacts *facts, const char *const *texts)
{
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->type == FLAM_FACT_TEXT)
      {
        if (*texts == NULL)
          return FALSE;
        G_STRUCT_MEMBER (const char *, facts, fact->offset) = *texts++;
      }
  return *texts == NULL;
}

static gboolean
take_facts (Reader *reader)
{
  FlamFacts facts;
  const char *const *texts;

  if (!take (reader, &facts, sizeof facts))
    return FALSE;
  texts = take_texts (reader);
  facts.others = take_texts (reader);
  facts.warnings = take_texts (reader);
  if (texts == NULL || facts.others == NULL || facts.warnings == NULL ||
      !place_texts (&facts, texts) ||
      g_strv_length ((char **)facts.others) % 2 != 0 ||
      !(facts.read_fraction >= 0 && facts.read_fraction <= 1) ||
      !(facts.recorder_share >= -1 && facts.recorder_share <= G_MAXFLOAT) ||
      facts.duration_ns < 0)
    return FALSE;
  flam_builder_copy_facts (reader->builder, &facts);
  return TRUE;
}

static gboolean
take_head (Reader *reader, const char *key)
{
  guint64 head[2];
  const guint8 *data;
  gsize size;
  guint32 hash;

  return take (reader, head, sizeof head) && head[0] == FLAM_IMAGE_MAGIC &&
         head[1] == flam_image_layout () &&
         next (reader, &data, &size, &hash) && size == strlen (key) &&
         memcmp (data, key, size) == 0;
}

static gboolean
take_all (Reader *reader, const char *key)
{
  if (!take_head (reader, key) || !take_strings (reader))
    return FALSE;
  for (guint t = 0; t < FLAM_N_TABLES; t++)
    if (flam_image_has_table (t) && !take_table (reader, t))
      return FALSE;
  return check_former_names (&reader->tables->profile.former_names) &&
         take_threads (reader) && take_measures (reader) &&
         take_counters (reader) && take_peak_time (reader) &&
         take_facts (reader) && reader->p == reader->end;
}

FlamProfile *
flam_image_read (const guint8 *data, gsize size, const char *key)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  Reader reader = {
    data, data + size, builder, flam_builder_tables (builder), texts
  };

  /* All times are already relative to the beginning. */
  flam_builder_set_origin (builder, 0);
  return take_all (&reader, key) ? flam_builder_finish (builder, NULL) : NULL;
}
