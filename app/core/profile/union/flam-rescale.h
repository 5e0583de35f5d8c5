/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Weights of one unit that were written with different decimals, on one scale,
 * the finer of the two, which holds both exactly:
 *
 *    1.5   is   15 / 10     ─▶   150 / 100
 *    1.25  is  125 / 100         125 / 100
 */

#include "flam-profile.h"

G_BEGIN_DECLS

/* The smallest denominator that holds the weights of both; 0: there is none. */
gint64 flam_rescale_common (gint64 a, gint64 b);
/* The second one with that denominator; as it is, if there is none. */
FlamMeasure flam_rescale_measure (const FlamMeasure *a, const FlamMeasure *b);
/* A weight of one denominator in another one: exact, where that is a multiple
 * of it; the largest or smallest there is, where that does not hold it. */
gint64 flam_rescale_weight (gint64 weight, gint64 from, gint64 to);

/* The profile with another denominator of a measure, which is a multiple of its
 * own. All ids are the same, and all columns are shared but that of the
 * weights. FLAM_ERROR_TOO_LARGE: the weights cannot be held. */
FlamProfile *flam_rescale_profile (const FlamProfile *profile,
                                   guint measure,
                                   gint64 denominator,
                                   GError **error);
/* Replaces those of the two profiles, a reference each, whose measure does not
 * have the denominator of both. */
gboolean flam_rescale_both (FlamProfile **a,
                            guint measure_of_a,
                            FlamProfile **b,
                            guint measure_of_b,
                            GError **error);

G_END_DECLS
