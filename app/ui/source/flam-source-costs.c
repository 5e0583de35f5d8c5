/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-source-costs.h"

#include "flam-format.h"

static void
add_texts (FlamSourceCosts *self)
{
  const FlamMeasure *measure = flam_view_data_get_measure (self->view_data);

  self->self_text = g_new0 (char *, self->n + 1);
  self->total_text = g_new0 (char *, self->n + 1);
  for (guint i = 0; i < self->n; i++)
    {
      self->self_text[i] =
          self->rows[i].self != 0 && measure != NULL
              ? flam_format_weight (measure, self->rows[i].self)
              : g_strdup ("");
      self->total_text[i] =
          measure != NULL ? flam_format_weight (measure, self->rows[i].total)
                          : g_strdup ("");
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
  self->top[FLAM_COST_SELF] = self_top;
  self->top[FLAM_COST_TOTAL] = total_top;
}

FlamSourceCosts *
flam_source_costs_new (FlamViewData *view_data,
                       const char *file,
                       FlamId function)
{
  FlamSourceCosts *self = g_atomic_rc_box_new0 (FlamSourceCosts);

  self->view_data = flam_view_data_ref (view_data);
  self->rows = flam_lines_new (
      view_data->weights, view_data->selection, file, function, &self->n);
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
  g_free (self->rows);
  g_strfreev (self->self_text);
  g_strfreev (self->total_text);
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
