/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One stack out of two: a thread's native frames and its Python frames.
 *
 *   native    Python                   mixed
 *   compare   key ┐                    compare
 *   EVAL    ◀─────┘ entry              key
 *   sorted    rank ┐                   sorted
 *   EVAL      main │                   rank
 *   main    ◀──────┘ entry (in EVAL)   main
 *                                      main (of C)
 *
 * The native frame in which the entry's marker lies, that is, the run of the
 * evaluation loop, gives way to the Python frames that it ran. Python frames
 * whose native frame is not there come after all if that is because the native
 * stack could not be followed to its root; else they are left out, as it is
 * their chain that could not (more frames than FLAM_FRAMES_MAX). */

#include "flam-task.h"

/* Of an element: an index of `entries`, not of the native frames. */
#define FLAM_MERGED_PYTHON (1u << 31)

/* All leaf first. sps[i] is the stack pointer in native frame i; `whole`: the
 * last of them is the root. Appends to `mixed` (guint32) after clearing it.
 * Returns how many Python frames were left out. */
guint flam_python_merge (const guint64 *sps,
                         guint n,
                         gboolean whole,
                         const FlamPythonEntry *entries,
                         guint n_entries,
                         GArray *mixed);
