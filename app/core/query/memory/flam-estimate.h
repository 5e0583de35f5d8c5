/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ESTIMATE_H
#define FLAM_ESTIMATE_H

/* The error of a figure derived from sampled allocations: every table shows it
 * with the figure, and marks a figure from very few samples.
 *
 *    12.1 MB ± 3.2 MB      95 of 100 such intervals contain the truth
 *    2.10 MB (4 samples)   hardly more than a hint
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

/* A figure of a measure, and the values on which its error depends. */
typedef struct
{
  gint64 weight;
  gint64 other; /* the counterpart: bytes for blocks, blocks for bytes; -1
                 * unknown */
  gint64 exact; /* of the bytes, those of mappings and the break, which are
                 * counted even if the rest is sampled */
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
/* `value` is a figure from that source, `other` its counterpart: bytes for
 * blocks, blocks for bytes; -1 unknown. */
FlamEstimate flam_estimate_of (const FlamFacts *facts,
                               FlamMeasureSource source,
                               gint64 value,
                               gint64 other);
/* Also of measures of other recorders, which sampled allocations and scaled
 * their bytes. */
FlamEstimate flam_estimate_of_figure (const FlamFacts *facts,
                                      const FlamMeasure *measure,
                                      FlamFigure figure);
/* Whether the figure comes from fewer than FLAM_FACTS_FEW samples. */
gboolean flam_estimate_is_few (const FlamEstimate *estimate);

/* Of the sum or the difference of two estimates whose errors do not depend on
 * each other: the root of the sum of their squares. */
FlamEstimate flam_estimate_of_sum (FlamEstimate a, FlamEstimate b);
FlamChangeEstimate flam_estimate_of_change (FlamEstimate base,
                                            FlamEstimate fresh);

G_END_DECLS

#endif
