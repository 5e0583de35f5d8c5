/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What V8 profiles are made of, in its own files and in pieces in Chrome's
 * traces: a tree of nodes, each a function called by its parent's, and the
 * nodes that were on top, in order.
 *
 *    {"nodes":[{"id":1,"callFrame":{…},"hitCount":0,"children":[2,3]},…],
 *     "startTime":µs,"endTime":µs,
 *     "samples":[2,5,9,…],             ids of nodes
 *     "timeDeltas":[3110,2287,…]}      µs: the first from startTime to the
 *                                      first sample, then from one to the next
 *
 * A sample lasts until the next one in time, of which V8's clock may step back
 * a little. The last one lasts as long as the others did on average, and never
 * beyond endTime: the engine may have stopped to sample long before that. A
 * node may have "parent" in place of the other's "children", and children may
 * be nested in it (then the root is "head").
 *
 * Node to 10 wrote such a tree without callFrames: a function's name, url and
 * line, here from 1, are the node's own; start and end are in seconds, and the
 * samples' times stand in "timestamps" in µs on a clock of their own.
 *
 * Lines: a node may say how many of its samples hit which line, from 1, as
 * "positionTicks":[{"line":53,"ticks":4},…]; which of them is not told. In
 * traces "lines" has a line for each sample, 0 unknown. Without both, a frame's
 * line is its function's.
 *
 * callFrame: {"functionName":"fib","scriptId":"80","url":"file:///a.js",
 *             "lineNumber":51,"columnNumber":35}, lines from 0, -1 unknown.
 * (idle), (program) and (garbage collector) are no functions but what the
 * engine did; (root) is the tree's root and left out.
 * Source of facts: V8's inspector protocol, Profiler and HeapProfiler. */

#include "flam-json.h"

G_BEGIN_DECLS

typedef struct
{
  FlamBuilder *builder;
  FlamId thread;
  GArray *nodes;   /* Node */
  GArray *links;   /* Link: children and parents named by id */
  GArray *open;    /* guint32: nested nodes being read */
  GArray *samples; /* gint64: ids */
  GArray *deltas;  /* gint64: µs */
  GArray *lines;   /* gint64: of the samples; may be shorter */
  GArray *ticks;   /* Tick: of the nodes */
  gboolean old;    /* its times are "timestamps" */
  gint64 start;    /* µs */
  gint64 end;
  GHashTable *by_id; /* gint64* (in nodes) -> index + 1 */
} FlamV8Profile;

FlamV8Profile *flam_v8_profile_new (FlamLoad *load, FlamId thread);

/* The object whose "{" is the current token, whole or a piece: what it holds
 * is added. */
void flam_v8_profile_read (FlamV8Profile *profile, FlamJson *json);
/* What an event of a trace holds of it: "Profile" has the start, "ProfileChunk"
 * a piece, "CpuProfile" (older) all. */
void flam_v8_profile_read_piece (FlamV8Profile *profile, FlamJsonText args);
/* After the last piece, once. */
void flam_v8_profile_link (FlamV8Profile *profile);

/* One of these: a sample for each of the profile's, weighed by its ns, which
 * gives back how many name nodes that are not there; or one for each node that
 * has a weight of its own (hitCount, selfSize). */
guint64 flam_v8_profile_add_samples (FlamV8Profile *profile);
void flam_v8_profile_add_nodes (FlamV8Profile *profile);

G_END_DECLS
