/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The data that the window shows of a profile: everything derived from one
 * selection in one pass of a worker. Immutable, reference counted, read by any
 * thread. */

#include "flam-core-picture.h"

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
} FlamViewData;

/* NULL only with an error. `before`, or NULL: the view data shown last; for a
 * recording that has grown, only the new samples are added to it, and where the
 * same samples are shown in another way, they are not summed again. */
FlamViewData *flam_view_data_new (const FlamProfile *profile,
                                  const FlamSelection *selection,
                                  FlamTreeOrder order,
                                  const FlamViewData *before,
                                  const FlamProgress *progress,
                                  GError **error);
/* The same, not inverted: itself where it is not. */
FlamViewData *flam_view_data_upright (FlamViewData *view_data,
                                      const FlamProgress *progress,
                                      GError **error);
/* With another tree, made from this one's: takes `tree`. It has no weights. */
FlamViewData *flam_view_data_new_of (const FlamViewData *view_data,
                                     FlamTree *tree);
FlamViewData *flam_view_data_ref (FlamViewData *view_data);
void flam_view_data_unref (FlamViewData *view_data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamViewData, flam_view_data_unref)

/* The measure of the weights. */
const FlamMeasure *flam_view_data_get_measure (const FlamViewData *view_data);
gint64 flam_view_data_get_total (const FlamViewData *view_data);

G_END_DECLS
