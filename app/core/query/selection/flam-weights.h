/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WEIGHTS_H
#define FLAM_WEIGHTS_H

/* Profile + selection (measure, threads, time, states) -> a weight per stack.
 * All later steps are the same for CPU and memory. */

#include "flam-estimate.h"
#include "flam-shown.h"

G_BEGIN_DECLS

/* A weight split by the state of the threads. */
typedef struct
{
  gint64 weight[FLAM_N_STATES];
} FlamStateSplit;

/* What a node of a tree represents: a row of the table that the selection's
 * `by` names (functions, modules, files, threads, values of a label). It is a
 * type of its own so that it cannot be taken for a row of any one of these
 * tables. */
typedef struct
{
  FlamId row; /* or FLAM_NONE: an unknown thread, no such label */
} FlamTreeKey;

/* The weight of a thread or of a label's value on top of the functions, in one
 * stack and one state. */
typedef struct
{
  FlamTreeKey top;
  FlamStackId stack; /* FLAM_NONE: no stack */
  FlamState state;
  gint64 weight;
} FlamTopWeight;

/* The sums over the samples before any stack is left out: they stay the same
 * when only the transforms change. */
typedef struct
{
  gint64 *weight; /* one per stack */
  gint64 no_stack;
  FlamStateSplit *split; /* like that of FlamWeights */
} FlamSampleSums;

typedef struct _FlamWeights
{
  FlamProfile *profile; /* a reference */
  FlamSampleSums *sums; /* a reference; NULL: for memory, or by tops */
  gint64 *weight;  /* one per stack: the weight of exactly that stack; shared
                      with the sums if the selection drops no stacks */
  gint64 no_stack; /* weight of samples without a stack */
  gint64 total;    /* sum of the above */
  FlamStateSplit *split; /* one per stack, and at the end for no_stack; NULL:
                            every sample of the capture was running; like
                            `weight`, it may be shared with the sums */
  GArray *by_top; /* if flam_by_has_tops(): FlamTopWeight, sorted by top, stack
                     and state, without duplicates; otherwise NULL */
  gint64 *other;  /* memory: the same in its other unit, blocks for bytes and
                        bytes for blocks; NULL for samples */
  gint64 other_total;
  FlamSpread *spread; /* where allocations were sampled: what the errors of
                         these depend on; otherwise NULL */
} FlamWeights;

/* NULL only when cancelled. */
FlamWeights *flam_weights_new (const FlamProfile *profile,
                               const FlamSelection *selection,
                               const FlamProgress *progress,
                               GError **error);
/* The same, without reading the samples, if `before` was computed from the same
 * samples of the same profile for `selected`; otherwise NULL. `shown`: the
 * shown stacks if the selection drops stacks, otherwise NULL. */
FlamWeights *flam_weights_new_shown (const FlamWeights *before,
                                     const FlamSelection *selected,
                                     const FlamProfile *profile,
                                     const FlamSelection *selection,
                                     const FlamShown *shown);
/* Whether weights of `before`, an earlier snapshot of these tables, can be
 * reused: whether the selection gives rows of both the same weights. */
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

/* The total with what its error depends on. */
FlamFigure flam_weights_figure (const FlamWeights *weights);

/* The total of a measure, with all other parts of the selection unchanged. */
gint64 flam_weights_total (const FlamProfile *profile,
                           const FlamSelection *selection);

/* The file's default measure: the first that is not zero. */
guint flam_weights_default_measure (const FlamProfile *profile);

/* The weight of each thread (profile->threads.n + 1 values, the last 0;
 * g_free), whichever threads are selected; only of the rows added since
 * `before`, or with NULL of all rows. `shown`: as above, or NULL to compute
 * it. */
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

/* The number of selected samples of each thread, whatever their measure
 * (profile->threads.n values and their sum, g_free). */
gint64 *flam_weights_count_samples (const FlamProfile *profile,
                                    const FlamSelection *selection);

/* The weight of each state, whichever states are selected. `before`: as
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

#endif
