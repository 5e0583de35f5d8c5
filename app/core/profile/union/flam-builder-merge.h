/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BUILDER_MERGE_H
#define FLAM_BUILDER_MERGE_H

/* Merges several builders, each with the rows of a part of a file, into the
 * first one, which is then equal to one into which the whole file was read:
 * names, code, stacks, processes and threads. Samples, memory and facts are
 * left to the caller, who gets the new ids.
 *
 * Names and code are few, and merged in pairs, whose results are merged in
 * pairs; a row of part 5 is looked up in part 4, and that in part 0:
 *
 *    0 <- 1    2 <- 3    4 <- 5    step 0
 *    0 <------ 2         4         step 1
 *    0 <---------------- 4         step 2
 *
 * Stacks are many, and would all be merged into the last one by a single core:
 * they are a union (flam-union.h) of paths of frames.
 *
 * There are no threads here: all work of a step can be done in parallel, that
 * of the next step afterwards. */

#include "flam-builder.h"

G_BEGIN_DECLS

typedef struct _FlamBuilderMerge FlamBuilderMerge;

/* The builders are the caller's and outlive it. */
FlamBuilderMerge *flam_builder_merge_new (FlamBuilder *const *builders,
                                          guint n);
void flam_builder_merge_free (FlamBuilderMerge *merge);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamBuilderMerge, flam_builder_merge_free)

/* The number of cores that can work in a step; 0: the previous step was the
 * last. */
guint flam_builder_merge_width (const FlamBuilderMerge *merge, guint step);
void flam_builder_merge_step (FlamBuilderMerge *merge, guint step, guint core);
/* After the last step. */
void flam_builder_merge_finish (FlamBuilderMerge *merge);

/* The current id of a part's stack or thread; FLAM_NONE: none. */
FlamStackId flam_builder_merge_stack (const FlamBuilderMerge *merge,
                                      guint part,
                                      FlamStackId stack);
FlamThreadId flam_builder_merge_thread (const FlamBuilderMerge *merge,
                                        guint part,
                                        FlamThreadId thread);

G_END_DECLS

#endif
