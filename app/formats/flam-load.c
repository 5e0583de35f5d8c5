/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-load.h"

gboolean
flam_load_step (const FlamLoad *load, gconstpointer at, GError **error)
{
  return flam_progress_step (
      load->options->progress,
      flam_source_fraction (load->source,
                            (const guint8 *)at - load->source->data),
      error);
}

void
flam_load_partial (const FlamLoad *load, gconstpointer at, const char *why, ...)
{
  gsize size = MAX (load->source->size, 1);
  gsize before = (const guint8 *)at - load->source->data;
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, why);
  text = g_strdup_vprintf (why, args);
  va_end (args);
  flam_builder_set_partial (
      load->builder, at != NULL ? (double)before / size : 1, text);
}

guint
flam_load_measure (FlamBuilder *builder,
                   const FlamMeasureRow *row,
                   int column,
                   FlamId event)
{
  return flam_builder_add_measure (
      builder, row->id, row->name, row->unit, row->kind, column, event);
}

guint
flam_load_measures_n (FlamBuilder *builder,
                      const FlamStandardMeasure *measures,
                      guint n)
{
  guint first = 0;

  for (guint i = 0; i < n; i++)
    flam_builder_add_column (builder);
  for (guint i = 0; i < n; i++)
    {
      guint measure = flam_builder_add_standard_measure (
          builder, measures[i], i, FLAM_NONE);
      if (i == 0)
        first = measure;
    }
  return first;
}

FlamFrameId
flam_load_frame (FlamBuilder *builder,
                 const char *name,
                 gssize length,
                 FlamFunctionKind kind)
{
  return flam_builder_frame (
      builder,
      flam_builder_function_named (
          builder, flam_builder_string (builder, name, length), kind),
      0,
      0,
      0);
}

FlamStackId
flam_load_stack (FlamBuilder *builder, const GArray *frames)
{
  FlamStackId stack = FLAM_NONE;

  for (guint i = frames->len; i > 0; i--)
    stack = flam_builder_stack (
        builder, stack, g_array_index (frames, FlamId, i - 1));
  return stack;
}

void
flam_load_warn_open (FlamBuilder *builder, guint64 n)
{
  flam_builder_warn_count (
      builder,
      n,
      "%" PRIu64
      " call does not return in the trace: it is shown until the end",
      "%" PRIu64
      " calls do not return in the trace: they are shown until the end");
}
