/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COMPARISON_H
#define FLAM_COMPARISON_H

/* Two sides under one selection, and the changes between them: everything that
 * the difference page shows, made in one pass of a worker. Immutable, reference
 * counted. */

#include "flam-baseline-copy.h"
#include "flam-core-picture.h"
#include "flam-view-data.h"

G_BEGIN_DECLS

/* A measure, and the measure of the baseline that it would be compared with. */
typedef struct
{
  guint now, before;
} FlamMeasurePair;

typedef struct
{
  FlamViewData *base; /* NULL: their units differ */
  FlamViewData *fresh;
  GArray *pairs; /* FlamMeasurePair: the measures that can be compared instead;
                    NULL if this one can */
  FlamViewData *changed[FLAM_N_DIFF_SHAPES];
  FlamHeadline *headline; /* the largest change; NULL if not of functions */
  const FlamTree *headline_of; /* the tree of the headline's ids */
  FlamDiffRow *rows;           /* largest change first */
  guint n_rows;
  gboolean self;   /* selves, not totals */
  FlamScale scale; /* as requested */
  FlamDiffScale factor;
  gint64 base_length, fresh_length; /* ns; 0 unknown */
  guint without;                    /* FlamTransferLoss */
} FlamComparison;

/* The input of a job, and its work: a FlamComparison. */
typedef struct
{
  FlamViewData *view_data;
  FlamBaselineCopy *base_copy;
  gboolean lines; /* the rows are source lines, not functions */
} FlamComparisonInput;

/* Takes ownership of the baseline. */
FlamComparisonInput *flam_comparison_input_new (FlamViewData *view_data,
                                                FlamBaselineCopy *base_copy,
                                                gboolean lines);
void flam_comparison_input_free (gpointer input);
gpointer flam_comparison_work (gpointer input,
                               const FlamProgress *progress,
                               GError **error);

FlamComparison *flam_comparison_ref (FlamComparison *comparison);
void flam_comparison_unref (FlamComparison *comparison);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamComparison, flam_comparison_unref)

G_END_DECLS

#endif
