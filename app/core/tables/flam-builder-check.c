/* SPDX-License-Identifier: GPL-3.0-or-later */

/* finish(): what no file may do, and what every one is asked. */

#include "flam-builder-private.h"

static gboolean
refuse (GError **error, const char *what)
{
  g_set_error (error, FLAM_ERROR, FLAM_ERROR_INVALID, "%s", what);
  return FALSE;
}

/* Sums of weights must fit: a tree adds them up and nobody checks again. */
static gboolean
check_weights (FlamBuilder *builder, GError **error)
{
  for (guint c = 0; c < builder->weights->len; c++)
    {
      const FlamColumn *column =
          &g_array_index (builder->weights, FlamColumn, c);
      gint64 sum = 0;

      for (gsize i = 0; i < column->n; i++)
        {
          gint64 weight = flam_column_at (column, gint64, i);

          if (weight < 0)
            return refuse (error, "a sample has a negative weight");
          if (__builtin_add_overflow (sum, weight, &sum))
            return refuse (error, "the weights add up to more than 2^63");
        }
    }
  return TRUE;
}

static gboolean
check_allocations (FlamBuilder *builder, GError **error)
{
  const gint64 *size = builder->columns[COLUMN_ALLOCATION_SIZE].data;
  const gint64 *count = builder->columns[COLUMN_ALLOCATION_COUNT].data;
  const gint64 *at_peak = builder->columns[COLUMN_ALLOCATION_AT_PEAK].data;
  gint64 bytes = 0;
  gint64 blocks = 0;

  for (gsize i = 0; i < builder->columns[COLUMN_ALLOCATION_TIME].n; i++)
    {
      gint64 total;

      if (size[i] < 0 || count[i] < 0 || at_peak[i] > count[i])
        return refuse (error, "an allocation has an impossible size");
      if (__builtin_mul_overflow (size[i], count[i], &total) ||
          __builtin_add_overflow (bytes, total, &bytes) ||
          __builtin_add_overflow (blocks, count[i], &blocks))
        return refuse (error, "the allocations add up to more than 2^63");
    }
  return TRUE;
}

static gboolean
holds_weight (const FlamBuilder *builder)
{
  gsize n = builder->columns[COLUMN_SAMPLE_THREAD].n;

  for (guint i = 0; i < builder->measures->len; i++)
    if (n > 0 &&
        g_array_index (builder->measures, PendingMeasure, i).column < 0)
      return TRUE;
  for (guint c = 0; c < builder->weights->len; c++)
    {
      const FlamColumn *column =
          &g_array_index (builder->weights, FlamColumn, c);

      for (gsize i = 0; i < column->n; i++)
        if (flam_column_at (column, gint64, i) > 0)
          return TRUE;
    }
  return FALSE;
}

/* An empty picture never comes without a word, whatever the format. */
static void
warn_if_empty (FlamBuilder *builder)
{
  if (builder->columns[COLUMN_ALLOCATION_TIME].n > 0 || holds_weight (builder))
    return;
  if (builder->columns[COLUMN_SAMPLE_THREAD].n == 0)
    flam_builder_warn (builder, "the capture holds no samples");
  else
    flam_builder_warn (builder, "all samples of the capture weigh nothing");
}

gboolean
flam_builder_check (FlamBuilder *builder, GError **error)
{
  if (!check_weights (builder, error) || !check_allocations (builder, error))
    return FALSE;
  warn_if_empty (builder);
  return TRUE;
}
