/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_MERGE_H
#define FLAM_RUNTIME_MERGE_H

/* Merges a thread's native frames and its managed frames into one stack.
 *
 *   native    managed                  mixed
 *   compare   key ┐                    compare
 *   EVAL    ◀─────┘ entry              key
 *   sorted    rank ┐                   sorted
 *   EVAL      main │                   rank
 *   main    ◀──────┘ entry (in EVAL)   main
 *                                      main (of C)
 *
 * The native frame that contains the entry's address, or that runs the
 * evaluator (FlamRuntimeFile.evaluators), is replaced by the managed frames
 * that it ran. Managed frames without their native frame are included if the
 * native stack could not be followed to its root; otherwise they are omitted,
 * because it is their chain that could not be followed (more frames than
 * FLAM_FRAMES_MAX). */

#include "flam-task.h"

/* Set in an element that is an index into `items`, not a native frame. */
#define FLAM_MERGED_MANAGED (1u << 31)

/* All leaf first. pcs[i] and sps[i] are the pc and the stack pointer in native
 * frame i; `whole`: the last one is the root. Clears `mixed` (guint32) and
 * fills it. Returns how many managed frames were omitted. */
guint flam_runtime_merge (const guint64 *pcs,
                          const guint64 *sps,
                          guint n,
                          gboolean whole,
                          const FlamRuntimeItem *items,
                          guint n_items,
                          GArray *mixed);

#endif
