/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-diff-private.h"

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

FlamEstimate
flam_diff_scaled_estimate (FlamEstimate base, FlamDiffScale scale)
{
  base.error = ABS (flam_diff_scaled (base.error, scale));
  return base;
}

FlamEstimate
flam_diff_estimate (const FlamTree *tree, FlamFigure figure)
{
  const FlamMeasure measure = flam_tree_measure (tree);

  return flam_estimate_of_figure (&tree->profile->facts, &measure, figure);
}

static FlamFigure
whole_of (const FlamTree *tree)
{
  const FlamFunctionRow row = flam_functions_row_of_node (tree, 0);

  return flam_functions_total (tree, &row);
}

FlamChangeEstimate
flam_diff_whole (const FlamTree *base,
                 const FlamTree *fresh,
                 FlamDiffScale scale)
{
  FlamEstimate was = flam_diff_estimate (base, whole_of (base));

  return flam_estimate_of_change (flam_diff_scaled_estimate (was, scale),
                                  flam_diff_estimate (fresh, whole_of (fresh)));
}

static FlamDiffFigures *
figures_named (GHashTable *rows, const char *name)
{
  FlamDiffFigures *figures = g_hash_table_lookup (rows, name);

  if (figures == NULL)
    {
      figures = g_new0 (FlamDiffFigures, 1);
      g_hash_table_insert (rows, (char *)name, figures);
    }
  return figures;
}

void
flam_diff_add_figure (FlamFigure *sum, FlamFigure figure)
{
  sum->weight += figure.weight;
  flam_spread_add (&sum->spread, &figure.spread);
  sum->other = figure.other < 0 ? -1 : sum->other + figure.other;
}

FlamDiffRow
flam_diff_row (const char *name,
               guint32 line,
               const FlamDiffFigures *of,
               FlamDiffScale scale)
{
  FlamDiffRow row = {
    .name = name,
    .line = line,
    .base = flam_diff_scaled (of->base.weight, scale),
    .fresh = of->fresh.weight,
    .estimate = flam_estimate_of_change (
        flam_diff_scaled_estimate (of->base_estimate, scale),
        of->fresh_estimate),
  };

  row.delta = row.fresh - row.base;
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
      FlamDiffFigures *figures =
          figures_named (rows, flam_functions_name (tree, functions[i].node));

      flam_diff_add_figure (is_base ? &figures->base : &figures->fresh,
                            self ? flam_functions_self (tree, &functions[i])
                                 : flam_functions_total (tree, &functions[i]));
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
  gpointer name, value;

  add_tree (table, base, self, TRUE);
  add_tree (table, fresh, self, FALSE);
  rows = g_new (FlamDiffRow, g_hash_table_size (table) + 1);
  *n = 0;
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, &name, &value))
    {
      FlamDiffFigures *figures = value;

      figures->base_estimate = flam_diff_estimate (base, figures->base);
      figures->fresh_estimate = flam_diff_estimate (fresh, figures->fresh);
      rows[(*n)++] = flam_diff_row (name, 0, figures, scale);
    }
  flam_diff_sort (rows, *n);
  return rows;
}
