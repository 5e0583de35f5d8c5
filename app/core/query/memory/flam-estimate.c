/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-estimate.h"

#include "flam-allocation-filter.h"

#include <math.h>

gint64
flam_estimate_whole (const FlamFacts *facts,
                     FlamMeasureSource source,
                     gboolean bytes)
{
  switch (source)
    {
    case FLAM_FROM_PEAK:
    case FLAM_FROM_PEAK_BLOCKS:
    case FLAM_FROM_PEAK_USEFUL:
      return bytes ? facts->peak_bytes : facts->peak_blocks;
    case FLAM_FROM_LEAKED:
    case FLAM_FROM_LEAKED_BLOCKS:
      return bytes ? facts->live_bytes : facts->live_blocks;
    case FLAM_FROM_ALLOCATED:
    case FLAM_FROM_ALLOCATIONS:
      return bytes ? facts->allocated_bytes : facts->allocated_blocks;
    case FLAM_FROM_TEMPORARY:
    case FLAM_FROM_TEMPORARY_BYTES:
    case FLAM_FROM_SAMPLES:
      break;
    }
  return 0;
}

/* Scaling rounds to whole blocks: a sum this close to the total is the
 * total. */
static gboolean
is_whole (gint64 sum, gint64 whole)
{
  return whole > 0 && ABS (sum - whole) <= whole / 500;
}

static FlamEstimate
estimate_of (const FlamFacts *facts,
             FlamMeasureSource source,
             gboolean is_bytes,
             FlamFigure figure)
{
  gint64 value = figure.weight, exact = figure.exact;
  gint64 bytes = is_bytes ? value : figure.other;
  gint64 whole = flam_estimate_whole (facts, source, TRUE);
  gboolean all = is_whole (bytes - exact, whole);
  FlamEstimate estimate = { 0 };
  double error;

  if (facts->sample_bytes <= 0 || value == 0 || bytes < 0 ||
      (is_bytes
           ? all
           : is_whole (value, flam_estimate_whole (facts, source, FALSE))) ||
      (exact > 0 && exact >= bytes))
    return estimate;
  /* All bytes, but some or unknown blocks: only the bytes are counted. */
  error = (double)flam_facts_error (facts, bytes - exact, all ? 0 : whole);
  if (!is_bytes && bytes > 0)
    error *= (double)value / (double)bytes;
  if (error < 1)
    return estimate;
  estimate.sampled = TRUE;
  estimate.error = (gint64)MIN (error, 0x1p62);
  estimate.samples = MAX (flam_facts_samples (facts, bytes - exact), 1);
  return estimate;
}

FlamEstimate
flam_estimate_of (const FlamFacts *facts,
                  FlamMeasureSource source,
                  gint64 value,
                  gint64 other)
{
  return estimate_of (facts,
                      source,
                      flam_allocation_filter_source_is_bytes (source),
                      (FlamFigure){ value, other, 0 });
}

FlamEstimate
flam_estimate_of_figure (const FlamFacts *facts,
                         const FlamMeasure *measure,
                         FlamFigure figure)
{
  gboolean is_bytes = measure->unit == FLAM_UNIT_BYTES;

  if (measure->source == FLAM_FROM_SAMPLES &&
      (measure->kind != FLAM_MEASURE_ALLOC || !is_bytes))
    return (FlamEstimate){ 0 };
  return estimate_of (facts, measure->source, is_bytes, figure);
}

gboolean
flam_estimate_is_few (const FlamEstimate *estimate)
{
  return estimate->sampled && estimate->samples < FLAM_FACTS_FEW;
}

FlamEstimate
flam_estimate_of_sum (FlamEstimate a, FlamEstimate b)
{
  double error = hypot ((double)a.error, (double)b.error);

  return (FlamEstimate){ .sampled = a.sampled || b.sampled,
                         .error = (gint64)MIN (error, 0x1p62),
                         .samples = a.samples + b.samples };
}

FlamChangeEstimate
flam_estimate_of_change (FlamEstimate base, FlamEstimate fresh)
{
  return (
      FlamChangeEstimate){ base, fresh, flam_estimate_of_sum (base, fresh) };
}
