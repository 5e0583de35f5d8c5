/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The operations that are the same for all columns. */

#include "flam-tables.h"

#include "flam-order.h"

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
  const FlamTableInfo *infos = &flam_table_infos[table];

  return infos->n_columns > 0 && infos->columns[0].flags & KEY;
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
  flam_column_init (&tables->first_children, sizeof (FlamId));
}

void
flam_tables_copy (FlamTables *to, const FlamTables *from, FlamTable table)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  guint32 n = *flam_tables_n (from, table);

  g_assert (to->allocated[table] == 0 && !to->shared[table]);
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];
      gpointer data = *flam_tables_array (from, info);

      if (data != NULL)
        *flam_tables_array (to, info) =
            g_memdup2 (data, MAX (n, 1) * (gsize)info->size);
    }
  *flam_tables_n (to, table) = n;
  to->allocated[table] = n;
  if (!is_interned (table))
    return;
  flam_interner_clear (&to->interners[table]);
  flam_interner_init_copy (&to->interners[table], &from->interners[table]);
  if (table == FLAM_TABLE_STACKS)
    flam_column_init_copy (&to->first_children, &from->first_children);
}

static void
copy_extras (GArray *to, const GArray *from, const FlamTables *tables)
{
  for (guint i = 0; i < from->len; i++)
    {
      FlamExtra extra = g_array_index (from, FlamExtra, i);
      guint32 n = *flam_tables_n (tables, extra.table);

      extra.data = g_memdup2 (extra.data, MAX (n, 1) * sizeof (gint64));
      g_array_append_val (to, extra);
    }
}

void
flam_tables_init_copy (FlamTables *tables, const FlamTables *from)
{
  flam_tables_init (tables);
  flam_strings_clear (&tables->strings);
  flam_strings_init_copy (&tables->strings, &from->strings);
  memcpy (tables->newer, from->newer, sizeof tables->newer);
  for (guint i = FLAM_TABLE_MODULES; i < FLAM_N_TABLES; i++)
    flam_tables_copy (tables, from, i);
  copy_extras (tables->weights, from->weights, from);
  copy_extras (tables->extras, from->extras, from);
}

#define SWAP(type, a, b)                                                       \
  {                                                                            \
    type swapped = a;                                                          \
    a = b;                                                                     \
    b = swapped;                                                               \
  }

void
flam_tables_swap (FlamTables *a, FlamTables *b, FlamTable table)
{
  const FlamTableInfo *infos = &flam_table_infos[table];

  if (table == FLAM_TABLE_STRINGS)
    {
      SWAP (FlamStrings, a->strings, b->strings);
      return;
    }
  for (guint i = 0; i < infos->n_columns; i++)
    SWAP (gpointer,
          *flam_tables_array (a, &infos->columns[i]),
          *flam_tables_array (b, &infos->columns[i]));
  if (table == FLAM_TABLE_SAMPLES)
    SWAP (GArray *, a->weights, b->weights);
  SWAP (guint32, *flam_tables_n (a, table), *flam_tables_n (b, table));
  SWAP (guint32, a->allocated[table], b->allocated[table]);
  SWAP (gboolean, a->shared[table], b->shared[table]);
  SWAP (FlamInterner, a->interners[table], b->interners[table]);
  if (table == FLAM_TABLE_STACKS)
    SWAP (FlamColumn, a->first_children, b->first_children);
}

static gpointer
new_cells (const FlamTables *tables, FlamTable table, guint size)
{
  gsize n = MAX (tables->allocated[table], 1);
  gpointer cells = flam_cells_resize (NULL, 0, n, size, tables->shared[table]);

  return memset (cells, 0, n * size);
}

void
flam_tables_share (FlamTables *tables, FlamTable table)
{
  guint32 n = *flam_tables_n (tables, table);
  FlamColumnIter iter = { NULL };

  if (tables->shared[table])
    return;
  tables->shared[table] = TRUE;
  while (flam_tables_next (tables, table, &iter))
    if (*iter.data != NULL)
      {
        g_autofree gpointer own = *iter.data;

        *iter.data = new_cells (tables, table, iter.info->size);
        memcpy (*iter.data, own, (gsize)n * iter.info->size);
      }
}

void
flam_tables_clear (FlamTables *tables)
{
  for (guint i = FLAM_TABLE_MODULES; i < FLAM_N_TABLES; i++)
    {
      FlamColumnIter iter = { NULL };

      while (flam_tables_next (tables, i, &iter))
        flam_cells_free (g_steal_pointer (iter.data), tables->shared[i]);
      flam_interner_clear (&tables->interners[i]);
    }
  flam_column_clear (&tables->first_children);
  flam_strings_clear (&tables->strings);
  g_array_unref (tables->weights);
  g_array_unref (tables->extras);
}

void
flam_tables_reserve (FlamTables *tables, FlamTable table, guint32 n)
{
  guint64 had = tables->allocated[table];
  guint64 wanted = MAX (MAX (had * 2, FIRST_ROWS), n);
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
      *iter.data = flam_cells_resize (
          *iter.data, had, wanted, size, tables->shared[table]);
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
    *data = new_cells (tables, table, info->size);
}

static void
append_extra (FlamTables *tables,
              GArray *extras,
              FlamTable table,
              const FlamColumnInfo *info)
{
  FlamExtra extra = { table, flam_tables_number (tables, table), *info };

  extra.info.size = sizeof (gint64);
  extra.data = new_cells (tables, table, sizeof (gint64));
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

  g_assert (!tables->shared[table]);
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

  g_assert (order == NULL || !tables->shared[table]);
  while (order != NULL && flam_tables_next (tables, table, &iter))
    {
      guint size = iter.info->size;
      char *sorted;

      if (*iter.data == NULL)
        continue;
      sorted = g_malloc_n (MAX (n, 1), size);
      flam_order_take (sorted, *iter.data, size, n, order);
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
      flam_cells_free (extra->data, tables->shared[extra->table]);
      g_array_remove_index (tables->extras, i);
    }
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

static gboolean
refers (const FlamColumnInfo *info)
{
  return info->encoding == FLAM_ENCODE_ID || info->flags & FLAM_COLUMN_REFERS;
}

/* The cell with the id that it has in `to`. */
static gint64
mapped_cell (const FlamTables *from,
             const FlamColumnInfo *info,
             guint32 row,
             FlamId *const *maps)
{
  gint64 value = flam_cell_get (*flam_tables_array (from, info), info, row);

  return refers (info) && value != FLAM_NONE ? maps[info->refers_to][value]
                                             : value;
}

/* Call once all rows of the table have a number. */
static void
merge_own (FlamTables *to,
           const FlamTables *from,
           FlamTable table,
           const FlamColumnInfo *info,
           FlamId *const *maps)
{
  for (guint32 i = 0; i < *flam_tables_n (from, table); i++)
    {
      gint64 value = mapped_cell (from, info, i, maps);

      if (value != FLAM_NONE)
        flam_cell_set (
            *flam_tables_array (to, info), info, maps[table][i], value);
    }
}

static FlamId
merge_row (FlamTables *to,
           const FlamTables *from,
           FlamTable table,
           guint32 row,
           FlamId *const *maps)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  guint32 had = *flam_tables_n (to, table);
  gint64 keys[16];
  FlamId id;

  for (guint i = 0, k = 0; i < infos->n_columns; i++)
    if (infos->columns[i].flags & KEY)
      keys[k++] = mapped_cell (from, &infos->columns[i], row, maps);
  id = flam_tables_intern (to, table, keys);
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];
      gboolean own = refers (info) && info->refers_to == table;
      gpointer cells = *flam_tables_array (to, info);

      if (info->flags & KEY)
        continue;
      if (own && id == had)
        flam_cell_set (cells, info, id, FLAM_NONE);
      else if (!own && flam_cell_get (cells, info, id) == 0)
        flam_cell_set (cells, info, id, mapped_cell (from, info, row, maps));
    }
  return id;
}

void
flam_tables_merge (FlamTables *to,
                   const FlamTables *from,
                   FlamTable table,
                   FlamId *const *maps)
{
  const FlamTableInfo *infos = &flam_table_infos[table];

  for (guint32 i = 0; i < *flam_tables_n (from, table); i++)
    maps[table][i] = merge_row (to, from, table, i, maps);
  for (guint i = 0; i < infos->n_columns; i++)
    if (refers (&infos->columns[i]) && infos->columns[i].refers_to == table)
      merge_own (to, from, table, &infos->columns[i], maps);
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
