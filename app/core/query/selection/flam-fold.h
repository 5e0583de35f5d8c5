/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FOLD_H
#define FLAM_FOLD_H

/* Any number of captures added up, one after the other, in memory that depends
 * on how many different stacks they have, not on how many captures there are:
 *
 *    run-0  app 4711/4711 main;f 3 ms at 0 s ┐
 *           app 4711/4711 main;f 2 ms at 1 s ├─▶  app  main;f 9 ms
 *    run-1  app 815/815   main;f 4 ms at 0 s ┘
 *
 * Programs of the same name become one process, and threads of the same name in
 * it one thread; samples with the same stack, state and labels become one
 * sample, so times and process ids are lost. Blocks of memory
 * are added up likewise; a peak is the sum of the peaks. Marks, counters and
 * notes, which belong to a time, are left out.
 *
 * The result can be folded again, so captures can be added up in any order, and
 * in pairs (flam-cli-reduce.c). */

#include "flam-profile.h"

G_BEGIN_DECLS

typedef struct _FlamFold FlamFold;

/* `apart`: captures need not share a measure. */
FlamFold *flam_fold_new (gboolean apart);
void flam_fold_free (FlamFold *fold);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFold, flam_fold_free)

/* `name`: of the file, for warnings. FALSE, with FLAM_ERROR_INVALID: it has no
 * measure in common with the captures before it; or TOO_LARGE. Then the fold
 * can only be freed. */
gboolean flam_fold_add (FlamFold *fold,
                        const char *name,
                        const FlamProfile *profile,
                        GError **error);
/* The number of captures in it, including those in folded ones. */
guint64 flam_fold_n (const FlamFold *fold);
/* The fold can only be freed afterwards. */
FlamProfile *flam_fold_finish (FlamFold *fold, GError **error);

G_END_DECLS

#endif
