/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_V8_PROFILE_H
#define FLAM_V8_PROFILE_H

/* The content of V8's profiles, in its own files and in pieces in Chrome's
 * traces: a tree of nodes, each a function called by its parent's, and the leaf
 * nodes of the samples, in order.
 *
 *    {"nodes":[{"id":1,"callFrame":{…},"hitCount":0,"children":[2,3]},…],
 *     "startTime":µs,"endTime":µs,
 *     "samples":[2,5,9,…],             ids of nodes
 *     "timeDeltas":[3110,2287,…]}      µs: the first from startTime to the
 *                                      first sample, then from one to the next
 *
 * A sample lasts until the next one in time; V8's clock may step back a little.
 * The last one lasts as long as the others on average, and never beyond
 * endTime: the engine may have stopped sampling long before that. A node may
 * have "parent" in place of the other's "children", and children may be nested
 * in it (then the root is "head").
 *
 * Node up to version 10 wrote such a tree without callFrames: a function's
 * name, url and line, here from 1, are members of the node; start and end are
 * in seconds, and the samples' times are in "timestamps" in µs on another
 * clock.
 *
 * Lines: a node may have the number of its samples for each line, from 1, as
 * "positionTicks":[{"line":53,"ticks":4},…], but not the line of each sample.
 * In traces "lines" has a line for each sample, 0 unknown. Without both, a
 * frame's line is its function's.
 *
 * callFrame: {"functionName":"fib","scriptId":"80","url":"file:///a.js",
 *             "lineNumber":51,"columnNumber":35}, lines from 0, -1 unknown.
 * (idle), (program) and (garbage collector) are not functions but activities
 * of the engine; (root) is the tree's root and left out. The collector is a
 * child of the root, and is put on the stack of the sample before it, as
 * Chrome's developer tools do. Source of facts: V8's inspector protocol,
 * Profiler and HeapProfiler. */

#include "flam-json.h"

G_BEGIN_DECLS

typedef struct
{
  FlamBuilder *builder;
  FlamThreadId thread;
  GArray *nodes;   /* Node */
  GArray *links;   /* Link: children and parents given by id */
  GArray *open;    /* guint32: nested nodes being read */
  GArray *samples; /* gint64: ids */
  GArray *deltas;  /* gint64: µs */
  GArray *lines;   /* gint64: of the samples; may be shorter */
  GArray *ticks;   /* Tick: of the nodes */
  gboolean old;    /* the times are in "timestamps" */
  gint64 start;    /* µs */
  gint64 end;
  GHashTable *by_id; /* gint64* (in nodes) -> index + 1 */
} FlamV8Profile;

FlamV8Profile *flam_v8_profile_new (FlamLoad *load, FlamThreadId thread);

/* Reads the object whose "{" is the current token, whole or a piece: its
 * content is added. */
void flam_v8_profile_read (FlamV8Profile *profile, FlamJson *json);
/* Reads an event of a trace: "Profile" has the start, "ProfileChunk" a piece,
 * "CpuProfile" (older) all. */
void flam_v8_profile_read_piece (FlamV8Profile *profile, FlamJsonText args);
/* After the last piece, once. */
void flam_v8_profile_link (FlamV8Profile *profile);

/* Call one of these: the first one makes a sample for each of the profile's,
 * weighted by its ns, and returns the number of samples with missing nodes; the
 * second one makes a sample for each node with a self weight (hitCount,
 * selfSize). */
guint64 flam_v8_profile_add_samples (FlamV8Profile *profile);
void flam_v8_profile_add_nodes (FlamV8Profile *profile);

G_END_DECLS

#endif
