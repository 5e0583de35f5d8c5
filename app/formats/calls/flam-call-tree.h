/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALL_TREE_H
#define FLAM_CALL_TREE_H

/* Calls with exact durations, but rough times or none -> samples:
 *
 *    open     |------------------|  20.5 µs    samples   open   6.1
 *      path     |----|               4.1 µs              open;path  4.1
 *      read            |------|     10.3 µs              open;read 10.3
 *
 * The self time of a call is its duration without those of its callees, even if
 * the times contradict: a call starts at its own time only as far as its caller
 * has room for it and for the calls that follow. */

#include "flam-load.h"

typedef struct
{
  FlamBuilder *builder;
  GArray *lanes;  /* Lane: by thread */
  gboolean begun; /* the measure exists */
  gboolean timed; /* calls have times */
  gint64 end;     /* ns: the last time */
  guint64 calls;
  guint64 bad; /* returns of calls that began before the trace */
} FlamCallTree;

void flam_call_tree_init (FlamCallTree *tree, FlamLoad *load);
/* `time` in ns; -1: unknown. The first call decides for all. */
void flam_call_tree_enter (FlamCallTree *tree,
                           FlamThreadId thread,
                           FlamFrameId frame,
                           gint64 time);
/* The innermost call returns after `duration`. */
void
flam_call_tree_leave (FlamCallTree *tree, FlamThreadId thread, gint64 duration);
/* The innermost call returns at `time`; -1: unknown. */
void
flam_call_tree_leave_at (FlamCallTree *tree, FlamThreadId thread, gint64 time);
/* All calls of the thread return at `time`. */
void flam_call_tree_exit (FlamCallTree *tree, FlamThreadId thread, gint64 time);
/* How many calls of the thread are open. */
guint flam_call_tree_depth (FlamCallTree *tree, FlamThreadId thread);
/* Calls that are still open last until the last time, or, without times, as
 * long as their callees. Warns of them, and of calls that began before the
 * trace. */
void flam_call_tree_finish (FlamCallTree *tree);

#endif
