/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Merges a thread's native frames and its Python frames into one stack.
 *
 *   native    Python                   mixed
 *   compare   key ┐                    compare
 *   EVAL    ◀─────┘ entry              key
 *   sorted    rank ┐                   sorted
 *   EVAL      main │                   rank
 *   main    ◀──────┘ entry (in EVAL)   main
 *                                      main (of C)
 *
 * The native frame that contains the entry's marker, that is, the run of the
 * evaluation loop, is replaced by the Python frames that it ran. Python frames
 * without their native frame are included if the native stack could not be
 * followed to its root; otherwise they are omitted, because it is their chain
 * that could not be followed (more frames than FLAM_FRAMES_MAX). */

#include "flam-task.h"

/* Set in an element that is an index into `entries`, not a native frame. */
#define FLAM_MERGED_PYTHON (1u << 31)

/* All leaf first. sps[i] is the stack pointer in native frame i; `whole`: the
 * last one is the root. Clears `mixed` (guint32) and fills it. Returns how many
 * Python frames were omitted. */
guint flam_python_merge (const guint64 *sps,
                         guint n,
                         gboolean whole,
                         const FlamPythonEntry *entries,
                         guint n_entries,
                         GArray *mixed);
