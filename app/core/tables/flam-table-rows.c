/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What is the same for all columns. */

#include "flam-tables.h"

#define KEY FLAM_COLUMN_KEY
#define OPTIONAL FLAM_COLUMN_OPTIONAL
#define SIGNED FLAM_COLUMN_SIGNED

/* --- cells ---------------------------------------------------------------- */

gint64
flam_cell_get (gconstpointer data, const FlamColumnInfo *info, guint32 i)
{
  switch (info->size)
    {
    case 1:
      return ((const guint8 *)data)[i];
    case 2:
      return ((const guint16 *)data)[i];
    case 4:
      return info->flags & SIGNED ? ((const gint32 *)data)[i]
                                  : (gint64)((const guint32 *)data)[i];
    default:
      return ((const gint64 *)data)[i];
    }
}

void
flam_cell_set (gpointer data, const FlamColumnInfo *info, guint32 i, gint64 v)
{
  switch (info->size)
    {
    case 1:
      ((guint8 *)data)[i] = (guint8)v;
      break;
    case 2:
      ((guint16 *)data)[i] = (guint16)v;
      break;
    case 4:
      ((guint32 *)data)[i] = (guint32)v;
      break;
    default:
      ((gint64 *)data)[i] = v;
      break;
    }
}

gboolean
flam_tables_next (const FlamTables *tables,
                  FlamTable table,
                  FlamColumnIter *iter)
{
  const FlamTableInfo *infos = &flam_table_infos[table];

  if (iter->at < infos->n_columns)
    {
      iter->info = &infos->columns[iter->at++];
      iter->data = flam_tables_array (tables, iter->info);
      return TRUE;
    }
  while (iter->extra < tables->weights->len + tables->extras->len)
    {
      guint i = iter->extra++;
      FlamExtra *extra = i < tables->weights->len
                             ? &g_array_index (tables->weights, FlamExtra, i)
                             : &g_array_index (tables->extras,
                                               FlamExtra,
                                               i - tables->weights->len);

      iter->info = &extra->info;
      iter->data = &extra->data;
      if (extra->table == table)
        return TRUE;
    }
  return FALSE;
}

/* --- rows ----------------------------------------------------------------- */

#define FIRST_ROWS 64

static gboolean
is_interned (FlamTable table)
{
  return flam_table_infos[table].columns[0].flags & KEY;
}

void
flam_tables_init (FlamTables *tables)
{
  flam_strings_init (&tables->strings);
  tables->weights = g_array_new (FALSE, FALSE, sizeof (FlamExtra));
  tables->extras = g_array_new (FALSE, FALSE, sizeof (FlamExtra));
  for (guint i = 0; i < FLAM_N_TABLES; i++)
    if (is_interned (i))
      flam_interner_init (&tables->interners[i]);
}

static GArray *
copy_extras (const GArray *from)
{
  GArray *extras = g_array_new (FALSE, FALSE, sizeof (FlamExtra));

  g_array_append_vals (extras, from->data, from->len);
  return extras;
}

void
flam_tables_init_copy (FlamTables *tables, const FlamTables *from)
{
  *tables = *from;
  flam_strings_init_copy (&tables->strings, &from->strings);
  tables->weights = copy_extras (from->weights);
  tables->extras = copy_extras (from->extras);
  for (guint i = FLAM_TABLE_MODULES; i < FLAM_N_TABLES; i++)
    {
      guint32 n = *flam_tables_n (from, i);
      FlamColumnIter iter = { NULL };

      while (flam_tables_next (tables, i, &iter))
        if (*iter.data != NULL)
          *iter.data =
              g_memdup2 (*iter.data, MAX (n, 1) * (gsize)iter.info->size);
      tables->allocated[i] = n;
      if (is_interned (i))
        flam_interner_init_copy (&tables->interners[i], &from->interners[i]);
    }
}

void
flam_tables_clear (FlamTables *tables)
{
  for (guint i = FLAM_TABLE_MODULES; i < FLAM_N_TABLES; i++)
    {
      FlamColumnIter iter = { NULL };

      while (flam_tables_next (tables, i, &iter))
        g_clear_pointer (iter.data, g_free);
      flam_interner_clear (&tables->interners[i]);
    }
  flam_strings_clear (&tables->strings);
  g_array_unref (tables->weights);
  g_array_unref (tables->extras);
}

void
flam_tables_reserve (FlamTables *tables, FlamTable table, guint32 n)
{
  guint64 had = tables->allocated[table];
  guint64 wanted = MAX (MAX (had + had / 2, FIRST_ROWS), n);
  FlamColumnIter iter = { NULL };

  if (n <= had)
    return;
  g_assert (n < FLAM_NONE);
  wanted = MIN (wanted, FLAM_NONE);
  while (flam_tables_next (tables, table, &iter))
    {
      guint size = iter.info->size;

      if (*iter.data == NULL && iter.info->flags & OPTIONAL)
        continue;
      *iter.data = g_realloc_n (*iter.data, wanted, size);
      if (iter.info->flags & OPTIONAL || iter.extra > 0)
        memset ((char *)*iter.data + had * size, 0, (wanted - had) * size);
    }
  tables->allocated[table] = (guint32)wanted;
}

void
flam_tables_begin (FlamTables *tables,
                   FlamTable table,
                   const FlamColumnInfo *info)
{
  gpointer *data = flam_tables_array (tables, info);

  if (*data == NULL)
    *data = g_malloc0_n (MAX (tables->allocated[table], 1), info->size);
}

static void
append_extra (FlamTables *tables,
              GArray *extras,
              FlamTable table,
              const FlamColumnInfo *info)
{
  FlamExtra extra = { table, *info };

  extra.info.size = sizeof (gint64);
  extra.data = g_malloc0_n (MAX (tables->allocated[table], 1), 8);
  g_array_append_val (extras, extra);
}

void
flam_tables_add_weights (FlamTables *tables)
{
  static const FlamColumnInfo info = { .name = "weight",
                                       .encoding = FLAM_ENCODE_I64 };

  append_extra (tables, tables->weights, FLAM_TABLE_SAMPLES, &info);
}

void
flam_tables_add_extra (FlamTables *tables,
                       FlamTable table,
                       const FlamColumnInfo *info)
{
  for (guint i = 0; i < tables->extras->len; i++)
    {
      const FlamExtra *extra = &g_array_index (tables->extras, FlamExtra, i);

      if (extra->table == table && extra->info.number == info->number)
        return;
    }
  append_extra (tables, tables->extras, table, info);
}

void
flam_tables_drop (FlamTables *tables, FlamTable table, guint32 n)
{
  guint32 had = *flam_tables_n (tables, table);
  FlamColumnIter iter = { NULL };

  while (n > 0 && flam_tables_next (tables, table, &iter))
    if (*iter.data != NULL)
      {
        char *cells = *iter.data;
        gsize size = iter.info->size;

        memmove (cells, cells + n * size, (had - n) * size);
        memset (cells + (had - n) * size, 0, n * size);
      }
  *flam_tables_n (tables, table) = had - n;
}

FlamId
flam_tables_add (FlamTables *tables, FlamTable table, const gint64 *values)
{
  FlamId row = flam_tables_push (tables, table);
  const FlamTableInfo *infos = &flam_table_infos[table];

  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];

      flam_cell_set (*flam_tables_array (tables, info),
                     info,
                     row,
                     i < infos->n_first ? values[i] : 0);
    }
  return row;
}

void
flam_tables_reorder (FlamTables *tables, FlamTable table, const guint32 *order)
{
  guint32 n = *flam_tables_n (tables, table);
  FlamColumnIter iter = { NULL };

  while (order != NULL && flam_tables_next (tables, table, &iter))
    {
      guint size = iter.info->size;
      char *sorted;

      if (*iter.data == NULL)
        continue;
      sorted = g_malloc_n (MAX (n, 1), size);
      for (guint32 i = 0; i < n; i++)
        memcpy (sorted + (gsize)i * size,
                (char *)*iter.data + (gsize)order[i] * size,
                size);
      g_free (*iter.data);
      *iter.data = sorted;
    }
  if (order != NULL)
    tables->allocated[table] = n;
}

void
flam_tables_drop_extras (FlamTables *tables, FlamTable table)
{
  for (guint i = tables->extras->len; i-- > 0;)
    {
      FlamExtra *extra = &g_array_index (tables->extras, FlamExtra, i);

      if (extra->table != table && (extra->info.encoding != FLAM_ENCODE_ID ||
                                    extra->info.refers_to != table))
        continue;
      g_free (extra->data);
      g_array_remove_index (tables->extras, i);
    }
}

/* --- what version 1 had not ----------------------------------------------- */

/* The column of that number, or NULL. */
static const FlamColumnInfo *
describes (FlamTable table, guint number)
{
  const FlamTableInfo *infos = &flam_table_infos[table];

  for (guint i = 0; i < infos->n_columns; i++)
    if (infos->columns[i].number == number &&
        infos->columns[i].encoding != FLAM_ENCODE_NOT)
      return &infos->columns[i];
  return NULL;
}

/* A made-up file may list a million. */
#define LISTED_MAX 100

void
flam_tables_add_listed (FlamTables *tables, guint32 from)
{
  const FlamColumnRows *rows = &tables->columns;

  for (guint32 i = from; i < MIN (rows->n, LISTED_MAX); i++)
    {
      FlamTable table = flam_table_of_number (rows->table[i]);
      FlamTable refers_to = flam_table_of_number (rows->refers_to[i]);
      FlamColumnInfo info = { .name = "of a newer version",
                              .number = (guint8)rows->number[i],
                              .encoding = (guint8)rows->encoding[i],
                              .refers_to = refers_to };

      if (rows->encoding[i] != FLAM_ENCODE_ID)
        info.refers_to = FLAM_TABLE_STRINGS;

      if (rows->number[i] <= G_MAXUINT8 && table != FLAM_N_TABLES &&
          table != FLAM_TABLE_STRINGS && rows->encoding[i] < FLAM_ENCODE_TEXT &&
          (rows->encoding[i] != FLAM_ENCODE_ID || refers_to != FLAM_N_TABLES) &&
          describes (table, info.number) == NULL)
        flam_tables_add_extra (tables, table, &info);
    }
}

static void
list (FlamTables *tables, FlamTable table, const FlamColumnInfo *info)
{
  gint64 values[] = { flam_table_infos[table].number,
                      info->number,
                      info->encoding,
                      info->encoding == FLAM_ENCODE_ID
                          ? flam_table_infos[info->refers_to].number
                          : 0 };

  flam_tables_add (tables, FLAM_TABLE_COLUMNS, values);
}

void
flam_tables_list (FlamTables *tables)
{
  for (guint t = 0; t < FLAM_N_TABLES; t++)
    for (guint i = flam_table_infos[t].n_first;
         i < flam_table_infos[t].n_columns &&
         flam_table_infos[t].columns[i].encoding != FLAM_ENCODE_NOT;
         i++)
      list (tables, t, &flam_table_infos[t].columns[i]);
  for (guint i = 0; i < tables->extras->len; i++)
    {
      const FlamExtra *extra = &g_array_index (tables->extras, FlamExtra, i);

      list (tables, extra->table, &extra->info);
    }
}

GArray *
flam_tables_stored (const FlamTables *tables, FlamTable table)
{
  GArray *order = g_array_new (FALSE, FALSE, sizeof (FlamColumnIter));
  const FlamTableInfo *infos = &flam_table_infos[table];
  const FlamColumnRows *listed = &tables->columns;
  FlamColumnIter iter = { NULL };

  while (flam_tables_next (tables, table, &iter))
    if (iter.at <= infos->n_first && iter.extra == 0)
      g_array_append_val (order, iter);
    else if (iter.extra > 0 && iter.extra <= tables->weights->len)
      g_array_append_val (order, iter);
  for (guint32 i = 0; i < MIN (listed->n, LISTED_MAX); i++)
    {
      if (listed->table[i] != infos->number)
        continue;
      iter = (FlamColumnIter){ NULL };
      while (flam_tables_next (tables, table, &iter))
        if ((iter.extra > tables->weights->len ||
             (iter.extra == 0 && iter.at > infos->n_first &&
              iter.info->encoding != FLAM_ENCODE_NOT)) &&
            iter.info->number == listed->number[i])
          {
            g_array_append_val (order, iter);
            break;
          }
    }
  return order;
}

/* --- interning ------------------------------------------------------------ */

typedef struct
{
  const FlamTables *tables;
  FlamTable table;
} Rows;

static gboolean
row_equal (gconstpointer data, FlamId row, gconstpointer keys)
{
  const Rows *rows = data;
  const FlamTableInfo *infos = &flam_table_infos[rows->table];
  const gint64 *key = keys;

  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];

      if (info->flags & KEY &&
          flam_cell_get (*flam_tables_array (rows->tables, info), info, row) !=
              *key++)
        return FALSE;
    }
  return TRUE;
}

static guint
count_keys (const FlamTableInfo *infos)
{
  guint n = 0;

  for (guint i = 0; i < infos->n_columns; i++)
    n += (infos->columns[i].flags & KEY) != 0;
  return n;
}

static FlamSlot *
find_row (FlamTables *tables, FlamTable table, const gint64 *keys, guint n)
{
  Rows rows = { tables, table };
  guint64 hash = 0;
  FlamSlot *slot;

  for (guint i = 0; i < n; i++)
    hash = flam_hash_mix (hash, (guint64)keys[i]);
  hash ^= hash >> 32;
  slot = flam_interner_find (
      &tables->interners[table], (guint32)hash, row_equal, &rows, keys);
  slot->hash = (guint32)hash;
  return slot;
}

static void
fill_slot (FlamTables *tables, FlamTable table, FlamSlot *slot, FlamId row)
{
  slot->id = row;
  tables->interners[table].used++;
}

FlamId
flam_tables_intern (FlamTables *tables, FlamTable table, const gint64 *keys)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  FlamSlot *slot = find_row (tables, table, keys, count_keys (infos));
  FlamId row;

  if (slot->id != FLAM_NONE)
    return slot->id;
  row = flam_tables_push (tables, table);
  fill_slot (tables, table, slot, row);
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];

      flam_cell_set (*flam_tables_array (tables, info),
                     info,
                     row,
                     info->flags & KEY ? *keys++ : 0);
    }
  return row;
}

static void
move_row (FlamTables *tables, FlamTable table, guint32 to, guint32 from)
{
  FlamColumnIter iter = { NULL };

  while (to != from && flam_tables_next (tables, table, &iter))
    memcpy ((char *)*iter.data + (gsize)to * iter.info->size,
            (char *)*iter.data + (gsize)from * iter.info->size,
            iter.info->size);
}

void
flam_tables_intern_rows (FlamTables *tables,
                         FlamTable table,
                         guint32 from,
                         FlamId *map)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  guint32 n = *flam_tables_n (tables, table);
  guint n_keys = count_keys (infos);
  gint64 keys[16];
  guint32 to = from;

  for (guint32 row = from; row < n; row++)
    {
      FlamSlot *slot;

      for (guint i = 0, k = 0; i < infos->n_columns; i++)
        if (infos->columns[i].flags & KEY)
          keys[k++] =
              flam_cell_get (*flam_tables_array (tables, &infos->columns[i]),
                             &infos->columns[i],
                             row);
      slot = find_row (tables, table, keys, n_keys);
      map[row - from] = slot->id == FLAM_NONE ? to : slot->id;
      if (slot->id != FLAM_NONE)
        continue;
      fill_slot (tables, table, slot, to);
      move_row (tables, table, to++, row);
    }
  *flam_tables_n (tables, table) = to;
}
