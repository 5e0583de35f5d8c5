/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Two sides under one selection, and what became of the first in the second:
 * all that the difference page shows, made in one pass of a worker. Immutable,
 * reference counted. */

#include "flam-baseline.h"
#include "flam-carry.h"
#include "flam-diff.h"
#include "flam-view-data.h"

G_BEGIN_DECLS

/* What before is multiplied by. */
typedef enum
{
  FLAM_SCALE_NONE,
  FLAM_SCALE_SHARES, /* so that both totals are alike */
  FLAM_SCALE_TIME,   /* so that both lasted as long */
} FlamScale;

typedef struct
{
  FlamViewData *base; /* NULL: there is no unit in common */
  FlamViewData *fresh;
  FlamViewData *changed[2]; /* of each FlamDiffShape */
  FlamDiffRow *rows;        /* largest change first */
  guint n_rows;
  FlamScale scale; /* as it was requested */
  FlamDiffScale factor;
  gint64 base_length, fresh_length; /* ns; 0 unknown */
  guint without;                    /* FlamCarriedWithout */
} FlamComparison;

/* What a job needs, and what it does: a FlamComparison. */
typedef struct
{
  FlamViewData *view_data;
  FlamProfile *profile; /* the baseline's; NULL: the range is the view_data's */
  gint64 from, to;
  FlamScale scale;
  gboolean self;
} FlamComparisonInput;

/* The baseline must be one. */
FlamComparisonInput *flam_comparison_input_new (FlamViewData *view_data,
                                                FlamBaseline *baseline,
                                                FlamScale scale,
                                                gboolean self);
void flam_comparison_input_free (gpointer input);
gpointer flam_comparison_work (gpointer input,
                               const FlamProgress *progress,
                               GError **error);

FlamComparison *flam_comparison_ref (FlamComparison *comparison);
void flam_comparison_unref (FlamComparison *comparison);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamComparison, flam_comparison_unref)

G_END_DECLS
