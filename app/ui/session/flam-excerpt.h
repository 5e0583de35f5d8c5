/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the window shows of a profile: everything derived from one selection
 * in one pass of a worker. Immutable, reference counted, read by any thread. */

#include "flam-layout.h"

G_BEGIN_DECLS

typedef struct
{
  FlamProfile *profile;
  FlamSelection *selection;
  FlamWeights *weights;
  FlamTree *tree;
  FlamRows *rows;          /* the layout's index of the tree */
  gint64 *by_thread;       /* a weight for each thread of the profile, whatever
                              threads are selected */
  FlamStateSplit by_state; /* the same for states; 0 where there are none */
} FlamExcerpt;

/* NULL only with an error. `before`, or NULL: what was shown last; of a
 * recording that grew since, what is new is added to it. */
FlamExcerpt *flam_excerpt_new (const FlamProfile *profile,
                               const FlamSelection *selection,
                               FlamTreeOrder order,
                               const FlamExcerpt *before,
                               const FlamProgress *progress,
                               GError **error);
/* The same, not upside down: itself where it is not. */
FlamExcerpt *flam_excerpt_upright (FlamExcerpt *excerpt,
                                   const FlamProgress *progress,
                                   GError **error);
/* Another tree made of this one's: takes `tree`. It has no weights. */
FlamExcerpt *flam_excerpt_new_of (const FlamExcerpt *excerpt, FlamTree *tree);
FlamExcerpt *flam_excerpt_ref (FlamExcerpt *excerpt);
void flam_excerpt_unref (FlamExcerpt *excerpt);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamExcerpt, flam_excerpt_unref)

/* The measure that was weighed. */
const FlamMeasure *flam_excerpt_get_measure (const FlamExcerpt *excerpt);
gint64 flam_excerpt_get_total (const FlamExcerpt *excerpt);

G_END_DECLS
