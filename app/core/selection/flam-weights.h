/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Profile + selection (measure, threads, time, states) -> a weight per stack.
 * What follows is the same for CPU and memory. */

#include "flam-selection.h"

G_BEGIN_DECLS

/* A weight by what its threads were doing. */
typedef struct
{
  gint64 weight[FLAM_N_STATES];
} FlamStateSplit;

/* The share of what stands on top (a thread, or a string: a label's value) in
 * one stack, in one state. */
typedef struct
{
  FlamId top;   /* FLAM_NONE unknown, or no such label */
  FlamId stack; /* FLAM_NONE: no stack */
  FlamState state;
  gint64 weight;
} FlamTopWeight;

/* The sums over the samples, before any stack is left out: what a change of
 * transforms does not change. */
typedef struct
{
  gint64 *weight; /* one a stack */
  gint64 no_stack;
  FlamStateSplit *split; /* as that of FlamWeights */
} FlamSampleSums;

typedef struct
{
  FlamProfile *profile;  /* a reference */
  FlamSampleSums *sums;  /* a reference; NULL: of memory, or by tops */
  gint64 *weight;        /* one a stack: what ends exactly there; that of the
                            sums, where the selection leaves no stack out */
  gint64 no_stack;       /* weight of samples without a stack */
  gint64 total;          /* sum of the above */
  FlamStateSplit *split; /* one a stack, and a last one for no_stack; NULL:
                            every sample of the capture was running; as
                            `weight` it may be that of the sums */
  GArray *by_top; /* where flam_by_has_tops(): FlamTopWeight, sorted by top,
                     stack and state, each once; else NULL */
  gint64 *other;  /* memory: the same in its other unit, blocks for bytes and
                        bytes for blocks; NULL for samples */
  gint64 other_total;
} FlamWeights;

/* NULL only when cancelled. */
FlamWeights *flam_weights_new (const FlamProfile *profile,
                               const FlamSelection *selection,
                               const FlamProgress *progress,
                               GError **error);
/* The same, without a look at the samples, where `before` has weighed the same
 * samples of the same profile for `selected`: NULL without an error where it
 * has not. */
FlamWeights *flam_weights_new_shown (const FlamWeights *before,
                                     const FlamSelection *selected,
                                     const FlamProfile *profile,
                                     const FlamSelection *selection,
                                     const FlamProgress *progress,
                                     GError **error);
/* What was weighed of `before`, an earlier snapshot of these tables, holds for
 * what that one had; the same selection weighs in both what both have. */
gboolean flam_weights_go_on (const FlamProfile *before,
                             const FlamSelection *selected,
                             const FlamProfile *profile,
                             const FlamSelection *selection);
/* The same as flam_weights_new(), at the cost of what is new since `before`
 * (and a copy of it). */
FlamWeights *flam_weights_new_since (const FlamWeights *before,
                                     const FlamProfile *profile,
                                     const FlamSelection *selection,
                                     const FlamProgress *progress,
                                     GError **error);
void flam_weights_free (FlamWeights *weights);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamWeights, flam_weights_free)

/* Total of a measure with every other part of the selection as it stands. */
gint64 flam_weights_total (const FlamProfile *profile,
                           const FlamSelection *selection);

/* The file's default measure: the first that is not zero. */
guint flam_weights_default_measure (const FlamProfile *profile);

/* The weight of each thread (profile->threads.n + 1 values, the last 0;
 * g_free), whatever threads the selection picks; of what is new since `before`
 * alone, or with NULL of all. */
gint64 *flam_weights_by_thread_since (const FlamProfile *before,
                                      const FlamProfile *profile,
                                      const FlamSelection *selection);

static inline gint64 *
flam_weights_by_thread (const FlamProfile *profile,
                        const FlamSelection *selection)
{
  return flam_weights_by_thread_since (NULL, profile, selection);
}

/* How many samples of each thread are selected, whatever their measure
 * (profile->threads.n values and their sum, g_free). */
gint64 *flam_weights_count_samples (const FlamProfile *profile,
                                    const FlamSelection *selection);

/* The weight of each state, whatever states the selection picks. `before`: as
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
