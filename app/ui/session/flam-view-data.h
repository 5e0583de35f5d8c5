/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_VIEW_DATA_H
#define FLAM_VIEW_DATA_H

/* The data that the window shows of a profile: everything derived from one
 * selection, made in one pass of a worker. Immutable, reference counted, read
 * by any thread. */

#include "flam-core-picture.h"
#include "flam-namesakes.h"

G_BEGIN_DECLS

typedef struct
{
  FlamProfile *profile;
  FlamSelection *selection;
  FlamNamesakes *namesakes; /* the profile's */
  FlamWeights *weights;
  FlamTree *tree;
  FlamRows *rows;    /* the layout's index of the tree */
  gint64 *by_thread; /* one weight per thread of the profile, whichever threads
                        are selected */
  FlamStateSplit by_state; /* the same for states; 0 if there are none */
} FlamViewData;

/* NULL only with an error. `before`, or NULL: the previous view data. If a
 * recording has grown, only the new samples are added to it; if the same
 * samples are shown differently, they are not summed again. */
FlamViewData *flam_view_data_new (const FlamProfile *profile,
                                  const FlamSelection *selection,
                                  FlamTreeOrder order,
                                  const FlamViewData *before,
                                  const FlamProgress *progress,
                                  GError **error);
/* The same, upright: itself if it is not inverted. */
FlamViewData *flam_view_data_upright (FlamViewData *view_data,
                                      const FlamProgress *progress,
                                      GError **error);
/* With another tree, derived from this one's: takes ownership of `tree`. It has
 * no weights. */
FlamViewData *flam_view_data_new_of (const FlamViewData *view_data,
                                     FlamTree *tree);
FlamViewData *flam_view_data_ref (FlamViewData *view_data);
void flam_view_data_unref (FlamViewData *view_data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamViewData, flam_view_data_unref)

/* The measure of the weights. */
const FlamMeasure *flam_view_data_get_measure (const FlamViewData *view_data);
/* The name of a node, with parameters where functions would have the same name.
 */
const char *flam_view_data_get_name (const FlamViewData *view_data,
                                     FlamNodeId node);
gint64 flam_view_data_get_total (const FlamViewData *view_data);

G_END_DECLS

#endif
