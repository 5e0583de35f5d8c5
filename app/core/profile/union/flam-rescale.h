/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RESCALE_H
#define FLAM_RESCALE_H

/* Weights of one unit that were written with different decimals, on one scale,
 * the finer of the two, which holds both exactly:
 *
 *    1.5   is   15 / 10     ─▶   150 / 100
 *    1.25  is  125 / 100         125 / 100
 */

#include "flam-profile.h"

G_BEGIN_DECLS

/* The smallest denominator that fits the weights of both; 0: none. */
gint64 flam_rescale_common (gint64 a, gint64 b);
/* The second one with that denominator; unchanged if there is none. */
FlamMeasure flam_rescale_measure (const FlamMeasure *a, const FlamMeasure *b);
/* A weight converted from one denominator to another: exact if that is a
 * multiple of it; clamped to the largest or smallest weight if it does not
 * fit. */
gint64 flam_rescale_weight (gint64 weight, gint64 from, gint64 to);

/* The profile with another denominator of a measure, which is a multiple of its
 * own. All ids are the same, and all columns are shared except that of the
 * weights. FLAM_ERROR_TOO_LARGE: the weights do not fit. */
FlamProfile *flam_rescale_profile (const FlamProfile *profile,
                                   guint measure,
                                   gint64 denominator,
                                   GError **error);
/* Replaces, one reference each, those of the two profiles whose measure does
 * not have the common denominator. */
gboolean flam_rescale_both (FlamProfile **a,
                            guint measure_of_a,
                            FlamProfile **b,
                            guint measure_of_b,
                            GError **error);

G_END_DECLS

#endif
