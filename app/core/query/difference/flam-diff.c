/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-diff.h"

#include "flam-functions.h"

#include <string.h>

gboolean
flam_diff_is_possible (const FlamTree *base, const FlamTree *fresh)
{
  const FlamMeasure a = flam_tree_measure (base);
  const FlamMeasure b = flam_tree_measure (fresh);

  return (base->counted && fresh->counted) || flam_measure_is_like (&a, &b);
}

FlamDiffScale
flam_diff_scale_totals (const FlamTree *base, const FlamTree *fresh)
{
  return (FlamDiffScale){ fresh->total[0], base->total[0] };
}

gint64
flam_diff_scaled (gint64 value, FlamDiffScale scale)
{
  __int128_t product = (__int128_t)value * scale.to;

  if (scale.from == 0)
    return 0;
  return (gint64)CLAMP (product / scale.from, G_MININT64, G_MAXINT64);
}

static FlamDiffRow *
row_named (GHashTable *rows, const char *name)
{
  FlamDiffRow *row = g_hash_table_lookup (rows, name);

  if (row == NULL)
    {
      row = g_new0 (FlamDiffRow, 1);
      row->name = name;
      g_hash_table_insert (rows, (char *)name, row);
    }
  return row;
}

static void
add_tree (GHashTable *rows,
          const FlamTree *tree,
          gboolean self,
          gboolean is_base)
{
  guint n;
  g_autofree FlamFunctionRow *functions =
      flam_functions_new_whole (tree, FLAM_SORT_SELF, &n);

  for (guint i = 0; i < n; i++)
    {
      FlamDiffRow *row =
          row_named (rows, flam_functions_name (tree, functions[i].node));
      gint64 value = self ? functions[i].self : functions[i].total;

      *(is_base ? &row->base : &row->fresh) += value;
    }
}

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  const FlamDiffRow *x = a;
  const FlamDiffRow *y = b;

  if (ABS (x->delta) != ABS (y->delta))
    return ABS (x->delta) > ABS (y->delta) ? -1 : 1;
  if (x->line != y->line && strcmp (x->name, y->name) == 0)
    return x->line < y->line ? -1 : 1;
  return strcmp (x->name, y->name);
}

void
flam_diff_sort (FlamDiffRow *rows, guint n)
{
  qsort (rows, n, sizeof *rows, compare_rows);
}

FlamDiffRow *
flam_diff_functions (const FlamTree *base,
                     const FlamTree *fresh,
                     gboolean self,
                     FlamDiffScale scale,
                     guint *n)
{
  g_autoptr (GHashTable) table =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  FlamDiffRow *rows;
  GHashTableIter iter;
  gpointer value;

  add_tree (table, base, self, TRUE);
  add_tree (table, fresh, self, FALSE);
  rows = g_new (FlamDiffRow, g_hash_table_size (table) + 1);
  *n = 0;
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      FlamDiffRow row = *(FlamDiffRow *)value;

      row.base = flam_diff_scaled (row.base, scale);
      row.delta = row.fresh - row.base;
      rows[(*n)++] = row;
    }
  flam_diff_sort (rows, *n);
  return rows;
}
