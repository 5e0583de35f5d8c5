/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-source-costs.h"

#include "flam-core-picture.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>

static char *
figure_text (FlamSourceCosts *self, FlamFigure figure)
{
  const FlamMeasure *measure = flam_view_data_get_measure (self->view_data);

  return measure != NULL ? flam_format_figure (&self->view_data->profile->facts,
                                               measure,
                                               figure)
                         : g_strdup ("");
}

static const FlamWeights *
weights_of (const FlamSourceCosts *self)
{
  return self->path_weights != NULL ? self->path_weights
                                    : self->view_data->weights;
}

static void
add_texts (FlamSourceCosts *self)
{
  const FlamWeights *weights = weights_of (self);

  self->self_text = g_new0 (char *, self->n + 1);
  self->total_text = g_new0 (char *, self->n + 1);
  for (guint i = 0; i < self->n; i++)
    {
      const FlamLineRow *row = &self->rows[i];

      self->self_text[i] =
          row->self != 0 ? figure_text (self, flam_lines_self (weights, row))
                         : g_strdup ("");
      self->total_text[i] = figure_text (self, flam_lines_total (weights, row));
    }
}

static void
find_hottest (FlamSourceCosts *self)
{
  gint64 self_top = 0;
  gint64 total_top = 0;

  for (guint i = 0; i < self->n; i++)
    {
      const FlamLineRow *row = &self->rows[i];
      if (row->line != 0 &&
          (row->self > self_top || (self_top == 0 && row->total > total_top)))
        self->hottest = row->line;
      self_top = MAX (self_top, row->self);
      total_top = MAX (total_top, row->total);
    }
}

static void
append_compared (FlamSourceCosts *self,
                 GArray *rows,
                 const FlamLineRow *was,
                 const FlamLineRow *is,
                 const FlamBaselineLines *base_lines)
{
  const FlamViewData *fresh = base_lines->fresh;
  const FlamDiffWeights base = { base_lines->weights, base_lines->selection };
  const FlamDiffWeights now = { fresh->weights, fresh->selection };
  FlamLineRow none = { was != NULL ? was->line : is->line };
  FlamDiffRow *row = &self->compared[rows->len];

  if (was == NULL)
    was = &none;
  if (is == NULL)
    is = &none;
  g_array_append_vals (rows, is, 1);
  *row = flam_diff_line (
      "",
      is->line,
      &base,
      base_lines->self ? flam_lines_self (base_lines->weights, was)
                       : flam_lines_total (base_lines->weights, was),
      &now,
      base_lines->self ? flam_lines_self (fresh->weights, is)
                       : flam_lines_total (fresh->weights, is),
      base_lines->factor);
  self->whole_compared =
      MAX (self->whole_compared, MAX (row->base, row->fresh));
}

/* Merges two lists that are sorted by line. */
static void
merge_before (FlamSourceCosts *self,
              const FlamLineRow *was,
              guint n_was,
              const FlamBaselineLines *base_lines)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (FlamLineRow));
  g_autofree FlamLineRow *is = g_steal_pointer (&self->rows);
  guint w = 0, i = 0;

  self->compared = g_new (FlamDiffRow, (gsize)self->n + n_was + 1);
  while (w < n_was || i < self->n)
    {
      gboolean has_was =
          w < n_was && (i == self->n || was[w].line <= is[i].line);
      gboolean has_is =
          i < self->n && (w == n_was || is[i].line <= was[w].line);

      append_compared (self,
                       rows,
                       has_was ? &was[w] : NULL,
                       has_is ? &is[i] : NULL,
                       base_lines);
      w += has_was;
      i += has_is;
    }
  self->n = rows->len;
  self->rows = (FlamLineRow *)(void *)g_array_free (rows, FALSE);
}

static void
add_compared_texts (FlamSourceCosts *self, const FlamMeasure *measure)
{
  self->before_text = g_new0 (char *, self->n + 1);
  self->now_text = g_new0 (char *, self->n + 1);
  self->change_text = g_new0 (char *, self->n + 1);
  for (guint i = 0; i < self->n; i++)
    {
      const FlamDiffRow *row = &self->compared[i];

      self->before_text[i] =
          flam_format_estimated (&row->estimate.base, measure, row->base);
      self->now_text[i] =
          flam_format_estimated (&row->estimate.fresh, measure, row->fresh);
      self->change_text[i] =
          flam_value_text_change (measure, row->delta, &row->estimate.delta);
    }
}

FlamSourceCosts *
flam_source_costs_new (FlamViewData *view_data,
                       const char *file,
                       const FlamTree *tree,
                       FlamNodeId path,
                       FlamFunctionId function,
                       const FlamBaselineLines *base_lines)
{
  const FlamMeasure *measure;
  FlamSourceCosts *self = g_atomic_rc_box_new0 (FlamSourceCosts);

  if (base_lines != NULL)
    view_data = base_lines->fresh;
  measure = flam_view_data_get_measure (view_data);
  self->view_data = flam_view_data_ref (view_data);
  if (path != 0 && base_lines == NULL)
    self->path_weights =
        flam_path_weights_new (view_data->weights,
                               view_data->selection,
                               tree != NULL ? tree : view_data->tree,
                               path);
  self->rows = flam_lines_new (
      weights_of (self), view_data->selection, file, function, &self->n);
  self->jumps =
      flam_jumps_of_lines (view_data->profile, file, function, &self->n_jumps);
  self->whole = MAX (flam_view_data_get_total (view_data), 1);
  self->whole_compared = self->whole;
  if (base_lines != NULL && measure != NULL)
    {
      guint n;
      g_autofree FlamLineRow *was =
          flam_baseline_lines_get (base_lines, file, function, &n);

      merge_before (self, was, n, base_lines);
      add_compared_texts (self, measure);
    }
  find_hottest (self);
  add_texts (self);
  return self;
}

FlamSourceCosts *
flam_source_costs_ref (FlamSourceCosts *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
costs_clear (gpointer data)
{
  FlamSourceCosts *self = data;

  flam_view_data_unref (self->view_data);
  g_clear_pointer (&self->path_weights, flam_weights_free);
  g_free (self->rows);
  g_strfreev (self->self_text);
  g_strfreev (self->total_text);
  g_free (self->jumps);
  g_free (self->compared);
  g_strfreev (self->before_text);
  g_strfreev (self->now_text);
  g_strfreev (self->change_text);
}

void
flam_source_costs_unref (FlamSourceCosts *self)
{
  g_atomic_rc_box_release_full (self, costs_clear);
}

int
flam_source_costs_find (const FlamSourceCosts *self, guint32 line)
{
  guint low = 0;
  guint high = self->n;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (self->rows[middle].line < line)
        low = middle + 1;
      else
        high = middle;
    }
  return low < self->n && self->rows[low].line == line ? (int)low : -1;
}

char *
flam_source_costs_jumps (const FlamSourceCosts *self, guint32 line)
{
  GString *text = g_string_new (NULL);
  guint n;
  const FlamJumpRow *jumps =
      flam_jumps_find (self->jumps, self->n_jumps, line, &n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *target =
          flam_format_jump_target (self->view_data->profile, &jumps[i]);
      g_autofree char *count = flam_format_jump_count (&jumps[i].count);

      g_string_append_c (text, '\n');
      g_string_append_printf (text, _ ("jumps to %s: %s"), target, count);
    }
  return g_string_free (text, FALSE);
}
