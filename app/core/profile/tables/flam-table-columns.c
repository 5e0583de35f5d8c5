/* SPDX-License-Identifier: GPL-3.0-or-later */

/* How files list the columns that are not in version 1. */

#include "flam-tables.h"

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

/* A crafted file may list a million. */
#define LISTED_MAX 100

void
flam_tables_add_listed (FlamTables *tables, guint32 from)
{
  const FlamColumnRows *rows = &tables->columns;

  for (guint32 i = from; i < MIN (rows->n, LISTED_MAX); i++)
    {
      gboolean own = rows->refers_to[i] == rows->table[i];
      FlamTable refers_to = flam_tables_of_number (tables, rows->refers_to[i]);
      FlamColumnInfo info = { .name = "of a newer version",
                              .number = (guint8)rows->number[i],
                              .encoding = (guint8)rows->encoding[i],
                              .refers_to = FLAM_TABLE_STRINGS };
      FlamTable table;

      /* A table is accepted if one of its columns can be kept. */
      if (rows->number[i] > G_MAXUINT8 ||
          rows->encoding[i] >= FLAM_ENCODE_TEXT ||
          (rows->encoding[i] == FLAM_ENCODE_ID && !own &&
           refers_to == FLAM_N_TABLES))
        continue;
      table = flam_tables_know_number (tables, rows->table[i]);
      if (rows->encoding[i] == FLAM_ENCODE_ID)
        info.refers_to = own ? table : refers_to;
      if (table != FLAM_N_TABLES && table != FLAM_TABLE_STRINGS &&
          describes (table, info.number) == NULL)
        flam_tables_add_extra (tables, table, &info);
    }
}

void
flam_tables_add_kept (FlamTables *tables, const FlamExtra *extra)
{
  FlamTable table = extra->table;
  guint32 n;
  gint64 *values;

  if (flam_table_is_newer (table))
    {
      flam_tables_reserve (tables, table, extra->n);
      tables->newer[table - FLAM_TABLE_NEWER] =
          (FlamNewerRows){ extra->n, extra->number };
    }
  n = *flam_tables_n (tables, table);
  flam_tables_add_extra (tables, table, &extra->info);
  values =
      g_array_index (tables->extras, FlamExtra, tables->extras->len - 1).data;
  memcpy (values, extra->data, MIN (n, extra->n) * sizeof *values);
  for (guint32 row = extra->n; row < n; row++)
    values[row] = extra->info.encoding == FLAM_ENCODE_ID ? FLAM_NONE : 0;
}

static void
list (FlamTables *tables, FlamTable table, const FlamColumnInfo *info)
{
  gint64 values[] = { flam_tables_number (tables, table),
                      info->number,
                      info->encoding,
                      info->encoding == FLAM_ENCODE_ID
                          ? flam_tables_number (tables, info->refers_to)
                          : 0 };

  flam_tables_add (tables, FLAM_TABLE_COLUMNS, values);
}

void
flam_tables_list (FlamTables *tables)
{
  for (guint t = 0; t < FLAM_N_TABLES; t++)
    for (guint i = flam_table_infos[t].n_first;
         (flam_table_infos[t].n_first > 0 || *flam_tables_n (tables, t) > 0) &&
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
      if (listed->table[i] != flam_tables_number (tables, table))
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
