/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A selection of one capture -> the same question to another one: what both
 * sides of a comparison are looked at with.
 *
 *    measure      the same id; else one of the same kind and unit
 *    threads      those of the same names; none of them: all
 *    time         the same seconds, where the other capture lasts that long
 *    labels       those that any of its samples has
 *    the rest     as it stands
 */

#include "flam-selection.h"

G_BEGIN_DECLS

/* What of it the other capture does not have. */
typedef enum
{
  FLAM_CARRIED_MEASURE = 1 << 0,     /* another measure of the same unit */
  FLAM_CARRIED_THREADS = 1 << 1,     /* some threads are not there */
  FLAM_CARRIED_ALL_THREADS = 1 << 2, /* none of them is: all are taken */
  FLAM_CARRIED_TIME = 1 << 3,        /* the range is not: all of it is taken */
  FLAM_CARRIED_STATES = 1 << 4,      /* it was running all the time */
  FLAM_CARRIED_LABELS = 1 << 5,      /* some labels: they are not asked for */
} FlamCarriedWithout;

/* Takes the labels that no sample of `profile` has out of the selection;
 * returns them, "KEY=VALUE", or NULL; g_ptr_array_unref. */
GPtrArray *flam_carry_drop_labels (FlamSelection *selection,
                                   const FlamProfile *profile);

/* NULL: there is no measure like it (flam_measure_is_like()). */
FlamSelection *flam_carry_selection (const FlamProfile *from,
                                     const FlamSelection *selection,
                                     const FlamProfile *to,
                                     guint *without);

/* The measure that says what there was of this one before, in a capture that is
 * a difference by itself: folded stacks of two columns, pprof with -diff_base.
 * -1: there is none. */
int flam_carry_find_before (const FlamProfile *profile, guint measure);

G_END_DECLS
