/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRANSFER_H
#define FLAM_TRANSFER_H

/* A selection of one capture -> the equivalent one for another capture, to
 * compare the two:
 *
 *    measure      the same id; else one of the same kind and unit
 *    threads      those of the same names; none of them: all
 *    time         the same seconds, if the other capture lasts that long
 *    labels       those that any of its samples has
 *    the rest unchanged */

#include "flam-selection.h"

G_BEGIN_DECLS

/* The parts of it that the other capture does not have. */
typedef enum
{
  FLAM_TRANSFER_MEASURE = 1 << 0, /* another measure of the same unit */
  FLAM_TRANSFER_THREADS = 1 << 1, /* some of the threads are missing */
  FLAM_TRANSFER_ALL_THREADS = 1
                              << 2, /* all threads are missing: all are taken */
  FLAM_TRANSFER_TIME =
      1 << 3, /* the range is missing: the whole time is taken */
  FLAM_TRANSFER_STATES = 1 << 4, /* without states: all are running */
  FLAM_TRANSFER_LABELS = 1 << 5, /* some labels are missing: left out */
} FlamTransferLoss;

/* Removes the labels that no sample of `profile` has from the selection;
 * returns them, as "KEY=VALUE", or NULL; g_ptr_array_unref. */
GPtrArray *flam_transfer_drop_labels (FlamSelection *selection,
                                      const FlamProfile *profile);

/* NULL: there is no similar measure (flam_measure_is_like()). */
FlamSelection *flam_transfer_selection (const FlamProfile *from,
                                        const FlamSelection *selection,
                                        const FlamProfile *to,
                                        guint *without);

/* In a capture that is itself a difference (folded stacks of two columns, pprof
 * with -diff_base): the measure that holds this one's previous values. -1:
 * none. */
int flam_transfer_find_before (const FlamProfile *profile, guint measure);

G_END_DECLS

#endif
