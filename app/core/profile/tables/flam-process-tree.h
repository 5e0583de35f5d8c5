/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROCESS_TREE_H
#define FLAM_PROCESS_TREE_H

/* Which process started which, and their threads, as columns to iterate over:
 *
 *    100 make ─┬─ 101 cc       row      0    1    2    3
 *              │   └─ 102 as   process  make cc   as   ld
 *              └─ 103 ld       depth    0    1    2    1
 *                              end      4    3    3    4
 *
 * The descendants of a row are the following rows up to its end. The threads of
 * a row are threads[first_thread[row]] up to threads[first_thread[row + 1]],
 * and those of its descendants end at threads[first_thread[end[row]]]. */

#include "flam-profile.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 n;              /* rows: every process once, parents first */
  FlamProcessId *process; /* a row */
  guint32 *depth;         /* a row */
  guint32 *end;           /* a row */
  guint32 *first_thread;  /* per row, and one more */
  FlamThreadId *threads;
  /* Indices into profile->former_names, as lists in order of time: the first
   * of each process and thread, and the next after each; FLAM_NONE: no more. */
  FlamId *process_former;
  FlamId *thread_former;
  FlamId *next_former;
} FlamProcessTree;

FlamProcessTree *flam_process_tree_new (const FlamProfile *profile);
FlamProcessTree *flam_process_tree_ref (FlamProcessTree *process_tree);
void flam_process_tree_unref (FlamProcessTree *process_tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamProcessTree, flam_process_tree_unref)

G_END_DECLS

#endif
