/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DIFFERENCE_WORDS_H
#define FLAM_DIFFERENCE_WORDS_H

/* A comparison in sentences, for what colors cannot express. */

#include "flam-comparison.h"

G_BEGIN_DECLS

/* The totals and their change; g_free. */
char *flam_difference_summary (const FlamComparison *comparison,
                               const char *before,
                               const char *now);
/* The parts of the selection that do not apply to the baseline, the scale, and
 * how much is gone and new; "" if there is nothing to report; g_free. */
char *flam_difference_notes (const FlamComparison *comparison,
                             FlamBaselineKind kind);
/* The name of a side: its range, threads or measure if these are compared,
 * otherwise `title`; g_free. */
char *flam_difference_side (FlamBaselineKind kind,
                            const FlamViewData *side,
                            const char *title);
/* Two compared measures: the current one, and the baseline's if it has another
 * name; g_free. */
char *flam_difference_pair (const FlamProfile *now,
                            const FlamProfile *before,
                            const FlamMeasurePair *pair);
/* The reason why there is no comparison; g_free. */
char *flam_difference_refusal (const FlamComparison *comparison,
                               const FlamProfile *baseline);

/* "new", "gone" or the change in per cent; g_free. */
char *flam_difference_relative (gint64 base, gint64 fresh, gint64 delta);

G_END_DECLS

#endif
