/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-estimate.h"

#include "flam-allocation-filter.h"

#include <math.h>

/* 95 of 100 draws from a normal distribution are within this many standard
 * deviations. */
#define Z 1.96

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

/* --- spread --------------------------------------------------------------- */

/* What a sample of a block of that size stands for beyond itself, in blocks. */
static double
unseen_of (double every, double size)
{
  return 1 / expm1 (MAX (size, 1) / every);
}

void
flam_spread_add_blocks (FlamSpread *spread,
                        const FlamFacts *facts,
                        guint allocator,
                        gint64 size,
                        gint64 count)
{
  double every = (double)facts->sample_bytes;
  double bytes = (double)MAX (size, 1);
  double n = (double)count;
  double seen, unseen, rounded;

  if (FLAM_ALLOCATOR_BIT (allocator) & FLAM_ALLOCATORS_PAGES)
    {
      spread->exact += size * count;
      return;
    }
  unseen = unseen_of (every, bytes);
  seen = n * -expm1 (-bytes / every);
  rounded = unseen - floor (unseen);
  rounded = seen * rounded * (1 - rounded);
  spread->samples += seen;
  spread->blocks += n * unseen + rounded;
  spread->unit_of_blocks += n * unseen * unseen;
  spread->bytes += (n * unseen + rounded) * bytes * bytes;
  spread->unit_of_bytes += n * unseen * unseen * bytes * bytes * bytes;
}

void
flam_spread_add (FlamSpread *sum, const FlamSpread *more)
{
  sum->exact += more->exact;
  sum->samples += more->samples;
  sum->bytes += more->bytes;
  sum->unit_of_bytes += more->unit_of_bytes;
  sum->blocks += more->blocks;
  sum->unit_of_blocks += more->unit_of_blocks;
}

FlamSpread
flam_spread_part (const FlamSpread *spread, double part)
{
  return (FlamSpread){
    .exact = (gint64)((double)spread->exact * part),
    .samples = spread->samples * part,
    .bytes = spread->bytes * part,
    .unit_of_bytes = spread->unit_of_bytes * part,
    .blocks = spread->blocks * part,
    .unit_of_blocks = spread->unit_of_blocks * part,
  };
}

/* --- error ---------------------------------------------------------------- */

/* Scaling rounds to whole blocks: a sum this close to the total is the
 * total. */
static gboolean
is_whole (gint64 sum, gint64 whole)
{
  return whole > 0 && ABS (sum - whole) <= whole / 500;
}

/* The recorder counts live bytes as the allocator rounds them. This error does
 * not come from few samples, however few there are. */
static gint64
error_of_whole (const FlamFacts *facts,
                FlamMeasureSource source,
                gboolean is_bytes)
{
  if (is_bytes && source == FLAM_FROM_PEAK)
    return facts->peak_bytes_error;
  return is_bytes && source == FLAM_FROM_LEAKED ? facts->live_bytes_error : 0;
}

/* The mean size of the blocks that a source counts, or of all blocks; 0:
 * unknown. */
static double
mean_size (const FlamFacts *facts, FlamMeasureSource source)
{
  gint64 bytes = flam_estimate_whole (facts, source, TRUE);
  gint64 blocks = flam_estimate_whole (facts, source, FALSE);

  if (bytes <= 0 || blocks <= 0)
    {
      bytes = facts->allocated_bytes;
      blocks = facts->allocated_blocks;
    }
  return bytes > 0 && blocks > 0 ? (double)bytes / (double)blocks : 0;
}

/* If the sizes are unknown: a sample stands for `sample_bytes` of blocks of the
 * mean size. */
static FlamSpread
spread_of (const FlamFacts *facts,
           FlamMeasureSource source,
           const FlamFigure *figure,
           gboolean is_bytes)
{
  gint64 bytes = is_bytes ? figure->weight : figure->other;
  gint64 blocks = is_bytes ? figure->other : figure->weight;
  double every = (double)facts->sample_bytes;
  double each = bytes > 0 && blocks > 0 ? (double)bytes / (double)blocks
                                        : mean_size (facts, source);
  FlamSpread spread = figure->spread;
  double sum;

  if (spread.samples > 0 || (!is_bytes && each == 0))
    return spread;
  each = MAX (each, 1);
  sum = is_bytes || bytes >= 0 ? fabs ((double)(bytes - spread.exact))
                               : (double)ABS (blocks) * each;
  spread.samples = floor (sum / every);
  spread.bytes = sum * every;
  spread.unit_of_bytes = spread.bytes * every;
  spread.blocks = spread.bytes / each / each;
  spread.unit_of_blocks = spread.blocks * every / each;
  return spread;
}

double
flam_estimate_error (
    double variance, double unit, double least, double sum, double whole)
{
  double part = whole > 0 ? MIN (sum / whole, 1) : 0;
  double step = MAX (variance > 0 ? unit / variance : 0, least);
  double half = Z * step / 2;
  double error = Z * half + Z * sqrt (variance * (1 - part) + half * half);

  if (part == 1)
    return 0;
  return whole > 0 ? MIN (error, MAX (sum, whole - sum)) : error;
}

double
flam_estimate_least (const FlamFacts *facts,
                     FlamMeasureSource source,
                     gboolean is_bytes)
{
  double every = (double)facts->sample_bytes;
  double size = is_bytes ? 0 : mean_size (facts, source);

  if (is_bytes)
    return every;
  return size > 0 ? unseen_of (every, size) : 0;
}

static FlamEstimate
estimate_new (double error, double samples)
{
  /* Also refuses what is not a number. */
  if (!(error >= 1))
    return (FlamEstimate){ 0 };
  return (FlamEstimate){
    .sampled = TRUE,
    .error = (gint64)MIN (error, 0x1p62),
    .samples = (gint64)CLAMP (samples + 0.5, 1, 0x1p62),
  };
}

static FlamEstimate
estimate_of (const FlamFacts *facts,
             FlamMeasureSource source,
             gboolean is_bytes,
             const FlamFigure *figure)
{
  gint64 value = figure->weight, exact = figure->spread.exact;
  gint64 bytes = is_bytes ? value : figure->other;
  gint64 sum = is_bytes ? value - exact : value;
  gint64 whole = flam_estimate_whole (facts, source, is_bytes);
  FlamSpread spread;
  double error;

  if (facts->sample_bytes <= 0 || value == 0 || (exact > 0 && exact >= bytes))
    return (FlamEstimate){ 0 };
  spread = spread_of (facts, source, figure, is_bytes);
  if (is_whole (sum, whole))
    return estimate_new ((double)error_of_whole (facts, source, is_bytes),
                         MAX (spread.samples, FLAM_FACTS_FEW));
  /* A function whose small blocks have no sample looks more certain than it
   * is: it has at least its part of the variance of all. */
  if (bytes > exact)
    spread.blocks =
        MAX (spread.blocks, facts->blocks_spread * (double)(bytes - exact));
  error = flam_estimate_error (is_bytes ? spread.bytes : spread.blocks,
                               is_bytes ? spread.unit_of_bytes
                                        : spread.unit_of_blocks,
                               flam_estimate_least (facts, source, is_bytes),
                               (double)ABS (sum),
                               (double)whole);
  /* They are some of all. */
  if (whole == 0)
    whole = is_bytes ? facts->allocated_bytes : facts->allocated_blocks;
  if (whole > 0)
    error = MIN (error, (double)MAX (ABS (sum), whole - sum));
  return estimate_new (error, spread.samples);
}

FlamEstimate
flam_estimate_of (const FlamFacts *facts,
                  FlamMeasureSource source,
                  const FlamFigure *figure)
{
  return estimate_of (
      facts, source, flam_allocation_filter_source_is_bytes (source), figure);
}

FlamEstimate
flam_estimate_of_none (const FlamFacts *facts,
                       FlamMeasureSource source,
                       const FlamFigure *allocated)
{
  gboolean is_bytes = flam_allocation_filter_source_is_bytes (source);
  const FlamSpread *spread = &allocated->spread;
  double variance = is_bytes ? spread->bytes : spread->blocks;
  double unit = is_bytes ? spread->unit_of_bytes : spread->unit_of_blocks;
  FlamEstimate all = flam_estimate_of (
      facts, is_bytes ? FLAM_FROM_ALLOCATED : FLAM_FROM_ALLOCATIONS, allocated);
  gint64 whole = flam_estimate_whole (facts, source, is_bytes);
  double most = (double)(allocated->weight - spread->exact) + (double)all.error;
  double step = flam_estimate_least (facts, source, is_bytes);

  if (facts->sample_bytes <= 0 || !(variance > 0) ||
      (whole == 0 && facts->peak_blocks > 0 &&
       flam_estimate_whole (facts, source, FALSE) == 0 &&
       source != FLAM_FROM_TEMPORARY && source != FLAM_FROM_TEMPORARY_BYTES))
    return (FlamEstimate){ 0 };
  if (whole > 0)
    most = MIN (most, (double)whole);
  step = MAX (step, unit / variance);
  return estimate_new (MIN (flam_estimate_error (0, 0, step, 0, 0), most),
                       spread->samples);
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
  return estimate_of (facts, measure->source, is_bytes, &figure);
}

FlamEstimate
flam_estimate_of_share (const FlamSpread *spread,
                        gint64 blocks,
                        const FlamSpread *of_whole,
                        gint64 whole)
{
  double step =
      of_whole->blocks > 0 ? of_whole->unit_of_blocks / of_whole->blocks : 0;
  double error = flam_estimate_error (spread->blocks,
                                      spread->unit_of_blocks,
                                      step,
                                      (double)blocks,
                                      (double)whole);

  /* All of them are temporary, or those that were seen. */
  if (blocks == whole)
    error = flam_estimate_error (0, 0, step, 0, (double)whole);
  if (whole <= 0 || of_whole->samples <= 0)
    return (FlamEstimate){ 0 };
  return estimate_new (error, of_whole->samples);
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
