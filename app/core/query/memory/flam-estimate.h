/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ESTIMATE_H
#define FLAM_ESTIMATE_H

/* The error of a figure derived from sampled allocations: every table shows it
 * with the figure, and marks a figure from very few samples.
 *
 *    12.1 MB ± 3.2 MB      95 of 100 such intervals contain the truth
 *    2.10 MB (4 samples)   hardly more than a hint
 *    ≤ 2.01 MB             none of the function's samples is of such a block
 *    4.19 MB               counted, or not sampled
 */

#include "flam-profile.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean sampled; /* it is an estimate; otherwise the rest is 0 */
  gint64 error;     /* in the unit of the figure */
  gint64 samples;   /* approximate number behind it; at least 1 */
} FlamEstimate;

/* What the error of a sum of sampled blocks depends on. A block of s bytes is a
 * sample with the probability p = 1 - exp (-s / every), and then stands for
 * itself and (1 - p) / p blocks that are not in the capture. Blocks of
 * different sizes have different p, so each adds its own part:
 *
 *               samples    variance            its unit: the sum of
 *    bytes      p          s² (1 - p) / p      s (1 - p) / p, by variance
 *    blocks     p             (1 - p) / p        (1 - p) / p, by variance
 *
 * The recorder rounds 1 / p to a whole number, which adds to the variance. The
 * mean of the unit is what one sample more or less changes. All members are 0
 * if no such block was sampled or its size is unknown. */
typedef struct
{
  gint64 exact; /* of the bytes, those of mappings and the break, which are
                 * counted even if the rest is sampled */
  double samples;
  double bytes, unit_of_bytes;
  double blocks, unit_of_blocks;
} FlamSpread;

void flam_spread_add_blocks (FlamSpread *spread,
                             const FlamFacts *facts,
                             guint allocator,
                             gint64 size,
                             gint64 count);
void flam_spread_add (FlamSpread *sum, const FlamSpread *more);
/* Of a part of the blocks: that part of each. */
FlamSpread flam_spread_part (const FlamSpread *spread, double part);

/* A figure of a measure, and the values on which its error depends. */
typedef struct
{
  gint64 weight;
  gint64 other; /* the counterpart: bytes for blocks, blocks for bytes; -1
                 * unknown */
  FlamSpread spread;
} FlamFigure;

/* The errors of a figure before, of the one now, and of their difference. */
typedef struct
{
  FlamEstimate base, fresh, delta;
} FlamChangeEstimate;

/* The exact sum that contains this source's figures, in bytes or in blocks; 0:
 * not counted. */
gint64 flam_estimate_whole (const FlamFacts *facts,
                            FlamMeasureSource source,
                            gboolean bytes);
FlamEstimate flam_estimate_of (const FlamFacts *facts,
                               FlamMeasureSource source,
                               const FlamFigure *figure);
/* Of a figure that is 0: how much of what the function allocated may count
 * although none of its samples does. `allocated` is in the source's unit. */
FlamEstimate flam_estimate_of_none (const FlamFacts *facts,
                                    FlamMeasureSource source,
                                    const FlamFigure *allocated);
/* Also of measures of other recorders, which sampled allocations and scaled
 * their bytes. */
FlamEstimate flam_estimate_of_figure (const FlamFacts *facts,
                                      const FlamMeasure *measure,
                                      FlamFigure figure);
/* How far a sum of sampled blocks may be from the truth: 95 of 100 intervals of
 * this half width contain it. `variance` and `unit` are the sums of FlamSpread;
 * `least`: what one sample more stands for at least, even if there is none so
 * far. `whole`: the sum of which this is a part, if that was counted exactly
 * (flam_estimate_whole), otherwise 0.
 *
 * Sums of few samples have no normal distribution. As in Wilson's score
 * interval, the variance is that of the truth at the end of the interval, whose
 * longer side counts, with u = unit / variance:
 *
 *    z² u / 2 + z √(variance (1 - part of the whole) + z² u² / 4) */
double flam_estimate_error (
    double variance, double unit, double least, double sum, double whole);
/* What one sample more of a block of the mean size stands for. */
double flam_estimate_least (const FlamFacts *facts,
                            FlamMeasureSource source,
                            gboolean is_bytes);
/* Of some of the blocks whose number is `whole`: the error of their share in
 * them, times the whole. */
FlamEstimate flam_estimate_of_share (const FlamSpread *spread,
                                     gint64 blocks,
                                     const FlamSpread *of_whole,
                                     gint64 whole);
/* Whether the figure comes from fewer than FLAM_FACTS_FEW samples. */
gboolean flam_estimate_is_few (const FlamEstimate *estimate);

/* Of the sum or the difference of two estimates whose errors do not depend on
 * each other: the root of the sum of their squares. */
FlamEstimate flam_estimate_of_sum (FlamEstimate a, FlamEstimate b);
FlamChangeEstimate flam_estimate_of_change (FlamEstimate base,
                                            FlamEstimate fresh);

G_END_DECLS

#endif
