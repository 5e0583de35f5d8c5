/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A comparison in sentences: what a color cannot say. */

#include "flam-comparison.h"

G_BEGIN_DECLS

/* The totals and what became of them; g_free. */
char *flam_difference_summary (const FlamComparison *comparison,
                               const char *before,
                               const char *now);
/* What of the selection does not apply to the baseline, what was multiplied,
 * how much is gone and how much new; "" where there is nothing to say; g_free.
 */
char *flam_difference_notes (const FlamComparison *comparison,
                             FlamBaselineKind kind);
/* What a side is called: its range, threads or measure where that is what is
 * compared, else `title`; g_free. */
char *flam_difference_side (FlamBaselineKind kind,
                            const FlamViewData *side,
                            const char *title);
/* Two measures that go together: the one of now, and that of before where it is
 * called something else; g_free. */
char *flam_difference_pair (const FlamProfile *now,
                            const FlamProfile *before,
                            const FlamMeasurePair *pair);
/* Why there is nothing to compare; g_free. */
char *flam_difference_refusal (const FlamComparison *comparison,
                               const FlamProfile *baseline);

/* "new", "gone" or by how many per cent; g_free. */
char *flam_difference_relative (gint64 base, gint64 fresh, gint64 delta);

G_END_DECLS
