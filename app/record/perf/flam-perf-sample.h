/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_SAMPLE_H
#define FLAM_PERF_SAMPLE_H

/* The kernel's sample of a thread as a message: its registers, the copied end
 * of its stack, the part of the stack that no copy had room for, and the
 * kernel's own part. */

#include "flam-perf-rings.h"
#include "flam-tracer-state.h"

typedef struct
{
  guint32 stack; /* set by the caller: the bytes that the kernel copies */
  FlamMessage *message;
  gsize size;
} FlamPerfCopy;

/* The caller sets time and weights in `copy->message`. FALSE: the sampler is
 * too far behind. */
gboolean flam_perf_copy_begin (FlamTracer *tracer,
                               FlamTask *task,
                               const FlamPerfRecord *record,
                               FlamMessageKind kind,
                               FlamPerfCopy *copy);
void flam_perf_copy_commit (FlamTracer *tracer, FlamPerfCopy *copy);

/* Samples of counted events. The kernel estimates how many events each stands
 * for and counts all of them exactly; the samples are scaled to that count. */
typedef struct
{
  guint first;   /* event; the following ones are counted, too */
  GArray *told;  /* guint64: how many of each event were reported */
  GArray *taken; /* guint: samples of it since then */
} FlamPerfCounts;

void flam_perf_counts_init (FlamPerfCounts *counts, guint first, guint n);
void flam_perf_counts_clear (FlamPerfCounts *counts);
/* Counts on with other rings. */
void flam_perf_counts_begin (FlamPerfCounts *counts,
                             const FlamPerfRings *rings);
/* A sample of one of them, whose stack was written just before. */
void flam_perf_counts_note (FlamPerfCounts *counts,
                            FlamTracer *tracer,
                            FlamTask *task,
                            const FlamPerfRecord *record);
/* A sample of one of them. FALSE: the sampler is too far behind. */
gboolean flam_perf_counts_take (FlamPerfCounts *counts,
                                FlamTracer *tracer,
                                FlamTask *task,
                                const FlamPerfRecord *record,
                                guint32 stack);
/* After the available records were read. `last`: no more will follow. */
void flam_perf_counts_tell (FlamPerfCounts *counts,
                            FlamTracer *tracer,
                            const FlamPerfRings *rings,
                            gboolean last);
/* Whether the sample may need more of the stack than was copied. */
gboolean flam_perf_copy_is_short (FlamTask *task,
                                  const FlamPerfRecord *record,
                                  guint32 stack);
/* Whether the kernel should copy more of this thread's stack than it does. */
gboolean flam_perf_copy_wants_room (FlamTask *task,
                                    const FlamPerfRecord *record,
                                    guint32 stack);

#endif
