/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-rescale.h"

#include "flam-profile-private.h"

gint64
flam_rescale_common (gint64 a, gint64 b)
{
  gint64 x = a, y = b, product;

  while (y != 0)
    {
      gint64 rest = x % y;

      x = y;
      y = rest;
    }
  return __builtin_mul_overflow (a / x, b, &product) ? 0 : product;
}

FlamMeasure
flam_rescale_measure (const FlamMeasure *a, const FlamMeasure *b)
{
  FlamMeasure both = *b;
  gint64 common = flam_rescale_common (a->denominator, b->denominator);

  if (common != 0)
    both.denominator = common;
  return both;
}

gint64
flam_rescale_weight (gint64 weight, gint64 from, gint64 to)
{
  __int128_t product = (__int128_t)weight * to;

  return from == to ? weight
                    : (gint64)CLAMP (product / from, G_MININT64, G_MAXINT64);
}

/* FALSE: their sum exceeds the largest weight. */
static gboolean
fill (gint64 *to,
      const FlamThreads *threads,
      const gint64 *weight,
      gint64 factor)
{
  __int128_t sum = 0;

  for (FlamId t = 0; t < threads->n; t++)
    for (guint32 k = 0; k < threads->n_samples[t]; k++)
      {
        guint32 i = threads->first_sample[t] + k;
        __int128_t value =
            (__int128_t)(weight != NULL ? weight[i] : 1) * factor;

        sum += ABS (value);
        if (sum > G_MAXINT64)
          return FALSE;
        to[i] = (gint64)value;
      }
  return TRUE;
}

/* If samples last as long as they weigh, their weights are nanoseconds, and
 * weights of memory belong to the blocks: neither is a column that could
 * change. */
static gboolean
can_change (const FlamMeasure *measure)
{
  return measure->source == FLAM_FROM_SAMPLES && !measure->spans;
}

FlamProfile *
flam_rescale_profile (const FlamProfile *profile,
                      guint measure,
                      gint64 denominator,
                      GError **error)
{
  const FlamMeasure *was = &profile->measures[measure];
  g_autofree gint64 *weights =
      g_new0 (gint64, (gsize)flam_profile_sample_cells (profile) + 1);
  g_autofree FlamMeasure *measures =
      g_memdup2 (profile->measures, profile->n_measures * sizeof *measures);
  FlamProfileBox *box;

  if (denominator == 0 || !can_change (was) ||
      !fill (weights,
             &profile->threads,
             was->weight,
             denominator / was->denominator))
    return flam_error_null (error,
                            FLAM_ERROR_TOO_LARGE,
                            N_ ("the weights of “%s” are too large for the "
                                "other capture's precision"),
                            flam_profile_string (profile, was->name));
  measures[measure].weight = weights;
  measures[measure].denominator = denominator;
  box = flam_profile_box_new ();
  box->tables = *profile;
  box->tables.measures = measures;
  box->strings = ((const FlamProfileBox *)profile)->strings;
  box->borrows = TRUE;
  box->base = flam_profile_ref (profile);
  g_ptr_array_add (box->owned, g_steal_pointer (&weights));
  g_ptr_array_add (box->owned, g_steal_pointer (&measures));
  return &box->tables;
}

static gboolean
replace (FlamProfile **profile,
         guint measure,
         gint64 denominator,
         GError **error)
{
  FlamProfile *rescaled;

  if ((*profile)->measures[measure].denominator == denominator)
    return TRUE;
  rescaled = flam_rescale_profile (*profile, measure, denominator, error);
  if (rescaled == NULL)
    return FALSE;
  flam_profile_unref (*profile);
  *profile = rescaled;
  return TRUE;
}

gboolean
flam_rescale_both (FlamProfile **a,
                   guint measure_of_a,
                   FlamProfile **b,
                   guint measure_of_b,
                   GError **error)
{
  gint64 common =
      flam_rescale_common ((*a)->measures[measure_of_a].denominator,
                           (*b)->measures[measure_of_b].denominator);

  return replace (a, measure_of_a, common, error) &&
         replace (b, measure_of_b, common, error);
}
