/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GECKO_SAMPLES_H
#define FLAM_GECKO_SAMPLES_H

/* The columns of a thread's samples -> samples of a profile, on all cores:
 *
 *    rows    0 1 2 3 │ 4 5 6 7       the valid ones of each range are counted,
 *    valid   x   x x │ x x   x       so that each core finds where its rows of
 *    row     0   1 2 │ 3 4   5       the profile begin
 */

#include "flam-gecko-frames.h"

G_BEGIN_DECLS

/* Of times, ns; far from an overflow. */
#define FLAM_GECKO_LATEST (G_MAXINT64 / 4)

typedef struct
{
  gsize from, to;  /* rows of the columns */
  guint32 good;    /* valid ones among them */
  guint32 first;   /* of these in the profile */
  gint64 now;      /* the sum of the time deltas before the range */
  gint64 elapsed;  /* the sum of those in it */
  guint64 limited; /* times and weights out of range */
} FlamGeckoRange;

typedef struct
{
  FlamGeckoTables *tables;
  const GArray *stacks; /* FlamId */
  const FlamGeckoCells *times, *deltas, *weights;
  gint64 offset; /* added to all times, ns */
  FlamBuilder *builder;
  FlamSample like; /* thread and event */
  FlamGeckoRange *ranges;
  guint n;
  guint32 good; /* valid rows */
  guint64 bad;  /* the others */
} FlamGeckoSamples;

/* Counts the rows. */
void flam_gecko_samples_init (FlamGeckoSamples *samples,
                              FlamGeckoProcess *process,
                              FlamGeckoTables *tables,
                              gint64 offset);
void flam_gecko_samples_clear (FlamGeckoSamples *samples);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamGeckoSamples, flam_gecko_samples_clear)

/* Adds the valid ones to the builder, and frees the columns: both together need
 * little more memory than either. */
void flam_gecko_samples_put (FlamGeckoSamples *samples,
                             FlamBuilder *builder,
                             FlamThreadId thread,
                             guint event);

G_END_DECLS

#endif
