/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Profile + selection (measure, threads, time, states) -> a weight per stack.
 * All later steps are the same for CPU and memory. */

#include "flam-shown.h"

G_BEGIN_DECLS

/* A weight split by the state of the threads. */
typedef struct
{
  gint64 weight[FLAM_N_STATES];
} FlamStateSplit;

/* The weight that a thread or a label's value on top of the functions has in
 * one stack, in one state. */
typedef struct
{
  FlamId top;   /* FLAM_NONE unknown, or no such label */
  FlamId stack; /* FLAM_NONE: no stack */
  FlamState state;
  gint64 weight;
} FlamTopWeight;

/* The sums over the samples before any stack is left out: they stay the same
 * when only the transforms change. */
typedef struct
{
  gint64 *weight; /* one a stack */
  gint64 no_stack;
  FlamStateSplit *split; /* as that of FlamWeights */
} FlamSampleSums;

typedef struct _FlamWeights
{
  FlamProfile *profile;  /* a reference */
  FlamSampleSums *sums;  /* a reference; NULL: for memory, or by tops */
  gint64 *weight;        /* one for each stack: the weight of exactly it; that
                            of the sums, where the selection drops no stack */
  gint64 no_stack;       /* weight of samples without a stack */
  gint64 total;          /* sum of the above */
  FlamStateSplit *split; /* one for each stack, and at the end for no_stack;
                            NULL: every sample of the capture was running; like
                            `weight` it may be that of the sums */
  GArray *by_top; /* where flam_by_has_tops(): FlamTopWeight, sorted by top,
                     stack and state, without duplicates; otherwise NULL */
  gint64 *other;  /* memory: the same in its other unit, blocks for bytes and
                        bytes for blocks; NULL for samples */
  gint64 other_total;
} FlamWeights;

/* NULL only when cancelled. */
FlamWeights *flam_weights_new (const FlamProfile *profile,
                               const FlamSelection *selection,
                               const FlamProgress *progress,
                               GError **error);
/* The same, without reading the samples, where `before` was computed from the
 * same samples of the same profile for `selected`: NULL where it was not.
 * `shown`: the shown stacks, where the selection drops stacks; NULL where it
 * does not. */
FlamWeights *flam_weights_new_shown (const FlamWeights *before,
                                     const FlamSelection *selected,
                                     const FlamProfile *profile,
                                     const FlamSelection *selection,
                                     const FlamShown *shown);
/* Whether weights of `before`, an earlier snapshot of these tables, can be
 * reused: the selection weighs the rows that both have the same in both. */
gboolean flam_weights_go_on (const FlamProfile *before,
                             const FlamSelection *selected,
                             const FlamProfile *profile,
                             const FlamSelection *selection);
/* The same as flam_weights_new(), at the cost of the rows that were added since
 * `before` (and of a copy of it). */
FlamWeights *flam_weights_new_since (const FlamWeights *before,
                                     const FlamProfile *profile,
                                     const FlamSelection *selection,
                                     const FlamProgress *progress,
                                     GError **error);
void flam_weights_free (FlamWeights *weights);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamWeights, flam_weights_free)

/* The total of a measure, with all other parts of the selection unchanged. */
gint64 flam_weights_total (const FlamProfile *profile,
                           const FlamSelection *selection);

/* The file's default measure: the first that is not zero. */
guint flam_weights_default_measure (const FlamProfile *profile);

/* The weight of each thread (profile->threads.n + 1 values, the last 0;
 * g_free), whatever threads are selected; only that of the rows added since
 * `before`, or with NULL of all. `shown`: as above, or NULL: to be found. */
gint64 *flam_weights_by_thread_since (const FlamProfile *before,
                                      const FlamProfile *profile,
                                      const FlamSelection *selection,
                                      const FlamShown *shown);

static inline gint64 *
flam_weights_by_thread (const FlamProfile *profile,
                        const FlamSelection *selection)
{
  return flam_weights_by_thread_since (NULL, profile, selection, NULL);
}

/* How many samples of each thread are selected, whatever their measure
 * (profile->threads.n values and their sum, g_free). */
gint64 *flam_weights_count_samples (const FlamProfile *profile,
                                    const FlamSelection *selection);

/* The weight of each state, whatever states are selected. `before`: as
 * above. */
FlamStateSplit flam_weights_by_state_since (const FlamProfile *before,
                                            const FlamProfile *profile,
                                            const FlamSelection *selection);

static inline FlamStateSplit
flam_weights_by_state (const FlamProfile *profile,
                       const FlamSelection *selection)
{
  return flam_weights_by_state_since (NULL, profile, selection);
}

G_END_DECLS
