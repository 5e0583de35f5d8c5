/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-function-figures.h"

#include "flam-text-column.h"
#include "flam-tree-row.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>

/* --- figures -------------------------------------------------------------- */

static gboolean
has_memory (const FlamProfile *profile, const FlamSelection *selection)
{
  return selection->by == FLAM_BY_FUNCTION && profile->allocations.n > 0 &&
         selection->measure < profile->n_measures &&
         profile->measures[selection->measure].source != FLAM_FROM_SAMPLES;
}

gboolean
flam_function_figures_are_known (const FlamProfile *profile,
                                 const FlamSelection *selection)
{
  return has_memory (profile, selection) ||
         flam_call_table_is_known (profile, selection);
}

/* Functions that have no row of the selected measure. */
static void
add_further (FlamFunctionFigures *figures)
{
  const FlamMemorySummary *memory = figures->memory;
  g_autofree gboolean *has_row = g_new0 (gboolean, memory->n_functions + 1);

  for (guint i = 0; i < figures->n; i++)
    if (figures->memory_row[i] != FLAM_NONE)
      has_row[figures->memory_row[i]] = TRUE;
  figures->memory_row = g_renew (
      FlamId, figures->memory_row, figures->n + memory->n_functions + 1);
  for (guint i = 0; i < memory->n_functions; i++)
    if (!has_row[i] &&
        flam_memory_summary_has_any (memory, &memory->function_total[i]))
      figures->memory_row[figures->n + figures->n_further++] = i;
}

static gboolean
add_memory (FlamFunctionFigures *figures,
            FlamViewData *upright,
            const FlamFunctionRow *rows,
            const FlamProgress *progress,
            GError **error)
{
  FlamMemorySummary *memory = flam_memory_summary_new (
      upright->profile, upright->selection, NULL, NULL, 0, progress, error);

  if (memory == NULL)
    return FALSE;
  figures->memory = memory;
  figures->further =
      flam_view_data_new_of (upright, flam_tree_ref (memory->tree));
  figures->memory_row = flam_functions_match (upright->tree,
                                              rows,
                                              figures->n,
                                              memory->tree,
                                              memory->function,
                                              memory->n_functions);
  add_further (figures);
  return TRUE;
}

FlamFunctionFigures *
flam_function_figures_new (FlamViewData *upright,
                           const FlamFunctionRow *rows,
                           guint n,
                           const FlamProgress *progress,
                           GError **error)
{
  g_autoptr (FlamFunctionFigures) figures =
      g_atomic_rc_box_new0 (FlamFunctionFigures);
  g_autoptr (GError) problem = NULL;

  figures->n = n;
  if (has_memory (upright->profile, upright->selection) &&
      !add_memory (figures, upright, rows, progress, error))
    return NULL;
  figures->calls = flam_call_table_new (
      upright->tree, upright->selection, rows, n, progress, &problem);
  if (problem != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return NULL;
    }
  return g_steal_pointer (&figures);
}

FlamFunctionFigures *
flam_function_figures_ref (FlamFunctionFigures *figures)
{
  return g_atomic_rc_box_acquire (figures);
}

static void
clear (gpointer data)
{
  FlamFunctionFigures *figures = data;

  g_clear_pointer (&figures->memory, flam_memory_summary_unref);
  g_clear_pointer (&figures->further, flam_view_data_unref);
  g_clear_pointer (&figures->calls, flam_call_table_free);
  g_free (figures->memory_row);
}

void
flam_function_figures_unref (FlamFunctionFigures *figures)
{
  g_atomic_rc_box_release_full (figures, clear);
}

FlamFunctionRow
flam_function_figures_further (const FlamFunctionFigures *figures, guint i)
{
  FlamId function = figures->memory_row[figures->n + i];

  return (FlamFunctionRow){ .node = figures->memory->function[function].node };
}

/* --- columns -------------------------------------------------------------- */

enum
{
  CALLS = FLAM_MEMORY_N_COLUMNS,
  PER_CALL,
  SHORTEST,
  MEAN,
  DEVIATION,
  MOST, /* 99 of 100 calls are shorter */
  NAME, /* no column of these */
};

G_STATIC_ASSERT (NAME == FLAM_FIGURE_COLUMNS);

/* NULL: the row has none. */
static const FlamAmounts *
amounts_of (FlamTreeRow *row)
{
  guint i;
  const FlamFunctionFigures *figures = flam_tree_row_get_figures (row, &i);
  FlamId function;

  if (figures == NULL || figures->memory == NULL ||
      figures->memory_row[i] == FLAM_NONE)
    return NULL;
  function = figures->memory_row[i];
  return figures->with_callees ? &figures->memory->function_total[function]
                               : &figures->memory->function_self[function];
}

static const FlamFunctionCalls *
calls_of (FlamTreeRow *row)
{
  guint i;
  const FlamFunctionFigures *figures = flam_tree_row_get_figures (row, &i);

  return figures != NULL && figures->calls != NULL && i < figures->n &&
                 figures->calls->row[i].count > 0
             ? &figures->calls->row[i]
             : NULL;
}

static double
cost_per_call (FlamTreeRow *row, const FlamFunctionCalls *calls)
{
  const FlamFunctionRow of = { .total = flam_tree_row_get_total (row) };

  return flam_function_calls_cost (calls, &of);
}

static double
duration_of (const FlamFunctionCalls *calls, guint column)
{
  const FlamChartDurations *durations = &calls->durations;

  return column == SHORTEST    ? (double)durations->shortest
         : column == MEAN      ? durations->mean
         : column == DEVIATION ? durations->deviation
                               : (double)durations->p99;
}

static double
memory_figure (FlamTreeRow *row, guint column)
{
  const FlamAmounts *amounts = amounts_of (row);
  gboolean bytes;
  FlamMemoryPart part = flam_memory_column_part (column, &bytes);
  gint64 made;

  if (amounts == NULL)
    return -1;
  made = amounts->part[FLAM_MEMORY_ALLOCATED].blocks;
  if (column == FLAM_MEMORY_COLUMN_TEMPORARY)
    return made > 0 ? (double)amounts->part[part].blocks / (double)made : -1;
  return (double)(bytes ? amounts->part[part].bytes
                        : amounts->part[part].blocks);
}

static double
figure_of (gpointer row, guint column)
{
  const FlamFunctionCalls *calls;

  if (column < FLAM_MEMORY_N_COLUMNS)
    return memory_figure (row, column);
  calls = calls_of (row);
  if (calls == NULL)
    return -1;
  if (column == CALLS)
    return (double)calls->count;
  return column == PER_CALL ? cost_per_call (row, calls)
                            : duration_of (calls, column);
}

/* The number of blocks is the tooltip of a figure of bytes. */
static char *
memory_text (FlamTreeRow *row, guint column, char **tooltip)
{
  const FlamAmounts *amounts = amounts_of (row);
  guint i;
  const FlamFunctionFigures *figures = flam_tree_row_get_figures (row, &i);
  gboolean bytes;
  FlamMemoryPart part = flam_memory_column_part (column, &bytes);

  if (amounts == NULL || memory_figure (row, column) <= 0)
    return g_strdup ("");
  if ((bytes || column == FLAM_MEMORY_COLUMN_TEMPORARY) &&
      flam_memory_summary_knows (figures->memory, part, FALSE))
    *tooltip = flam_value_text_part_blocks (figures->memory, amounts, part);
  return flam_format_amounts (figures->memory, amounts, column);
}

static char *
cell_text (gpointer row, guint column, char **tooltip)
{
  const FlamFunctionCalls *calls;
  FlamMeasure measure;

  if (column < FLAM_MEMORY_N_COLUMNS)
    return memory_text (row, column, tooltip);
  calls = calls_of (row);
  if (calls == NULL)
    return g_strdup ("");
  if (column == CALLS)
    return flam_format_value (calls->count, FLAM_UNIT_COUNT);
  measure = flam_tree_measure (flam_tree_row_get_view_data (row)->tree);
  if (column == PER_CALL)
    return flam_format_weight (&measure,
                               (gint64)(cost_per_call (row, calls) + 0.5));
  if (calls->durations.n == 0)
    return g_strdup ("");
  return flam_format_value ((gint64)(duration_of (calls, column) + 0.5),
                            FLAM_UNIT_NS);
}

static const char *
row_name (gpointer row)
{
  return flam_tree_row_get_name (row);
}

static const FlamTextColumns columns_of = {
  NAME,
  row_name,
  cell_text,
  figure_of,
};

void
flam_function_figures_add_columns (
    GtkColumnView *view, GtkColumnViewColumn *columns[FLAM_FIGURE_COLUMNS])
{
  const char *const titles[FLAM_FIGURE_COLUMNS] = {
    [FLAM_MEMORY_COLUMN_ALLOCATED] = _ ("Allocated"),
    [FLAM_MEMORY_COLUMN_BLOCKS] = _ ("Blocks"),
    [FLAM_MEMORY_COLUMN_TEMPORARY] = _ ("Temporary"),
    [FLAM_MEMORY_COLUMN_PEAK] = _ ("At the Peak"),
    [FLAM_MEMORY_COLUMN_LEAKED] = _ ("Leaked"),
    [CALLS] = _ ("Calls"),
    [PER_CALL] = _ ("Per Call"),
    [SHORTEST] = _ ("Shortest"),
    /* Translators: the mean of durations */
    [MEAN] = _ ("Mean"),
    /* Translators: the standard deviation of durations */
    [DEVIATION] = _ ("Deviation"),
    /* Translators: 99 of 100 calls take no longer than this */
    [MOST] = _ ("99 % Within"),
  };

  for (guint i = 0; i < FLAM_FIGURE_COLUMNS; i++)
    {
      columns[i] = flam_text_column_add (view, &columns_of, i, titles[i], 0);
      flam_columns_fit (columns[i], i == CALLS ? 72 : 92, 0);
      flam_columns_set_wanted (columns[i], FALSE);
    }
}

static gboolean
is_of_measure (const FlamMeasure *measure, guint column)
{
  gboolean bytes;
  FlamMemoryPart part = flam_memory_column_part (column, &bytes);

  return column != FLAM_MEMORY_COLUMN_TEMPORARY &&
         part == flam_memory_part_of (measure->source) &&
         bytes == flam_allocation_filter_source_is_bytes (measure->source);
}

static gboolean
is_wanted (const FlamFunctionFigures *figures,
           const FlamMeasure *measure,
           guint column)
{
  if (figures == NULL)
    return FALSE;
  if (column < FLAM_MEMORY_N_COLUMNS)
    return figures->memory != NULL &&
           flam_memory_summary_has_column (figures->memory, column) &&
           !is_of_measure (measure, column);
  if (figures->calls == NULL || column == CALLS)
    return figures->calls != NULL;
  return (column == PER_CALL) != figures->calls->has_durations;
}

void
flam_function_figures_choose_columns (
    GtkColumnViewColumn *const columns[FLAM_FIGURE_COLUMNS],
    const FlamFunctionFigures *figures,
    const FlamMeasure *measure)
{
  for (guint i = 0; i < FLAM_FIGURE_COLUMNS; i++)
    flam_columns_set_wanted (columns[i], is_wanted (figures, measure, i));
}

gboolean
flam_function_figures_are_wide (const FlamFunctionFigures *figures)
{
  return figures != NULL && (figures->memory != NULL || figures->calls != NULL);
}
