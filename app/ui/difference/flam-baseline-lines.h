/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BASELINE_LINES_H
#define FLAM_BASELINE_LINES_H

/* The data that lines of a source file are compared with: the baseline's
 * weights under the selection that is shown. Immutable, reference counted. */

#include "flam-baseline-copy.h"
#include "flam-view-data.h"

G_BEGIN_DECLS

typedef struct
{
  FlamProfile *profile;
  FlamSelection *selection;
  FlamWeights *weights;
  FlamViewData
      *fresh; /* the profile it is compared with, with the same decimals */
  FlamDiffScale factor;
  gboolean self;
} FlamBaselineLines;

/* NULL with an error (cancelled), or if their units differ. */
FlamBaselineLines *flam_baseline_lines_new (const FlamBaselineCopy *base_copy,
                                            FlamViewData *view_data,
                                            const FlamProgress *progress,
                                            GError **error);
FlamBaselineLines *flam_baseline_lines_ref (FlamBaselineLines *base_lines);
void flam_baseline_lines_unref (FlamBaselineLines *base_lines);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamBaselineLines, flam_baseline_lines_unref)

/* The lines of the baseline's file for `file` of the other side; ascending, `n`
 * rows, g_free. With `function` not FLAM_NONE, only those of the function with
 * its name. */
FlamLineRow *flam_baseline_lines_get (const FlamBaselineLines *base_lines,
                                      const char *file,
                                      FlamFunctionId function,
                                      guint *n);

G_END_DECLS

#endif
