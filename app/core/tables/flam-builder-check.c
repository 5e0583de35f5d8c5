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
  for (guint c = 0; c < builder->tables.weights->len; c++)
    {
      const gint64 *weights = flam_tables_weights (&builder->tables, c);
      gint64 sum = 0;

      for (guint32 i = 0; i < builder->tables.profile.samples.n; i++)
        {
          if (weights[i] < 0)
            return refuse (error, "a sample has a negative weight");
          if (__builtin_add_overflow (sum, weights[i], &sum))
            return refuse (error, "the weights add up to more than 2^63");
        }
    }
  return TRUE;
}

static gboolean
check_allocations (FlamBuilder *builder, GError **error)
{
  const FlamAllocations *rows = &builder->tables.profile.allocations;
  gint64 bytes = 0;
  gint64 blocks = 0;

  for (guint32 i = 0; i < rows->n; i++)
    {
      gint64 count = rows->count[i];
      gint64 total;

      if (rows->size[i] < 0 || count < 0 || rows->at_peak[i] > count)
        return refuse (error, "an allocation has an impossible size");
      if (__builtin_mul_overflow (rows->size[i], count, &total) ||
          __builtin_add_overflow (bytes, total, &bytes) ||
          __builtin_add_overflow (blocks, count, &blocks))
        return refuse (error, "the allocations add up to more than 2^63");
    }
  return TRUE;
}

static gboolean
holds_weight (const FlamBuilder *builder)
{
  const FlamTables *tables = &builder->tables;
  guint32 n = tables->profile.samples.n;

  for (guint i = 0; i < tables->measures.n; i++)
    if (n > 0 && tables->measures.column[i] < 0)
      return TRUE;
  for (guint c = 0; c < tables->weights->len; c++)
    for (guint32 i = 0; i < n; i++)
      if (flam_tables_weights (tables, c)[i] > 0)
        return TRUE;
  return FALSE;
}

/* An empty picture never comes without a word, whatever the format. */
static void
warn_if_empty (FlamBuilder *builder)
{
  const FlamProfile *profile = &builder->tables.profile;

  if (profile->allocations.n > 0 || holds_weight (builder))
    return;
  if (profile->samples.n == 0)
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
