/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-function-calls.h"

/* FlamShownKey -> 1 + row. */
static GHashTable *
index_rows (const FlamTree *tree, const FlamFunctionRow *rows, guint n)
{
  GHashTable *index = flam_shown_key_table_new ();

  for (guint i = 0; i < n; i++)
    if (rows[i].node != 0 || tree->rooted)
      {
        FlamShownKey key = flam_tree_key (tree, rows[i].node);

        flam_shown_key_table_set (index, &key, GUINT_TO_POINTER (i + 1));
      }
  return index;
}

static FlamFunctionCalls *
find_row (FlamCallTable *table,
          GHashTable *index,
          const FlamTree *tree,
          FlamFrameId frame)
{
  FlamShownKey key = flam_shown_key (tree->profile, tree->by, frame);
  guint row = GPOINTER_TO_UINT (g_hash_table_lookup (index, &key));

  return row > 0 ? &table->row[row - 1] : NULL;
}

/* --- counts --------------------------------------------------------------- */

static int
find_measure (const FlamProfile *profile)
{
  int measure = flam_profile_find_measure (profile, "calls");

  return measure >= 0 &&
                 profile->measures[measure].source == FLAM_FROM_SAMPLES &&
                 profile->measures[measure].denominator == 1
             ? measure
             : -1;
}

/* By the frame that was called, whether or not the tree hides it. */
static gboolean
add_counts (FlamCallTable *table,
            GHashTable *index,
            const FlamTree *tree,
            const FlamSelection *selected,
            guint measure,
            const FlamProgress *progress,
            GError **error)
{
  g_autoptr (FlamSelection) selection = flam_selection_copy (selected);
  g_autoptr (FlamWeights) weights = NULL;
  const FlamStacks *stacks = &tree->profile->stacks;

  selection->measure = measure;
  selection->count = FALSE;
  weights = flam_weights_new (tree->profile, selection, progress, error);
  if (weights == NULL)
    return FALSE;
  for (FlamId s = 0; s < stacks->n; s++)
    if (weights->weight[s] != 0)
      {
        FlamFunctionCalls *row =
            find_row (table, index, tree, stacks->frame[s]);

        if (row != NULL)
          row->count += weights->weight[s];
      }
  return TRUE;
}

/* --- durations ------------------------------------------------------------ */

static gboolean
has_spans (const FlamProfile *profile, const FlamSelection *selection)
{
  return selection->measure < profile->n_measures &&
         profile->measures[selection->measure].spans == FLAM_SPANS_CALLS &&
         profile->samples.time != NULL;
}

static gboolean
add_durations (FlamCallTable *table,
               GHashTable *index,
               const FlamTree *tree,
               const FlamSelection *selection,
               gboolean counted,
               const FlamProgress *progress,
               GError **error)
{
  g_autoptr (FlamChart) chart =
      flam_chart_new (tree->profile, selection, progress, error);
  g_autoptr (GArray) functions = NULL;

  if (chart == NULL)
    return FALSE;
  functions = flam_chart_functions (chart);
  for (guint i = 0; i < functions->len; i++)
    {
      const FlamChartFunction *function =
          &g_array_index (functions, FlamChartFunction, i);
      FlamFunctionCalls *row =
          find_row (table, index, tree, chart->spans[function->span].what);

      if (row == NULL)
        continue;
      row->durations = function->durations;
      if (!counted)
        row->count = function->durations.n;
    }
  return TRUE;
}

/* --- public functions ----------------------------------------------------- */

gboolean
flam_call_table_is_known (const FlamProfile *profile,
                          const FlamSelection *selection)
{
  return flam_by_is_code (selection->by) &&
         (find_measure (profile) >= 0 || has_spans (profile, selection));
}

FlamCallTable *
flam_call_table_new (const FlamTree *tree,
                     const FlamSelection *selection,
                     const FlamFunctionRow *rows,
                     guint n,
                     const FlamProgress *progress,
                     GError **error)
{
  g_autoptr (FlamCallTable) table = NULL;
  g_autoptr (GHashTable) index = NULL;
  int measure = find_measure (tree->profile);

  if (!flam_call_table_is_known (tree->profile, selection))
    return NULL;
  table = g_new0 (FlamCallTable, 1);
  table->row = g_new0 (FlamFunctionCalls, n + 1);
  table->has_durations = has_spans (tree->profile, selection);
  index = index_rows (tree, rows, n);
  if (measure >= 0 &&
      !add_counts (
          table, index, tree, selection, (guint)measure, progress, error))
    return NULL;
  if (table->has_durations &&
      !add_durations (
          table, index, tree, selection, measure >= 0, progress, error))
    return NULL;
  return g_steal_pointer (&table);
}

void
flam_call_table_free (FlamCallTable *table)
{
  g_free (table->row);
  g_free (table);
}

double
flam_function_calls_cost (const FlamFunctionCalls *calls,
                          const FlamFunctionRow *row)
{
  return calls->count > 0 ? (double)row->total / (double)calls->count : -1;
}
