/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALL_GRAPH_H
#define FLAM_CALL_GRAPH_H

/* A call graph -> stacks, for files with callers, callees and the costs of
 * calls, but without stacks (callgrind, gprof).
 *
 *    main ──70──▶ a ──60──▶ c        self cost of c, 80: 60 through a,
 *      └────30──▶ b ──20──▶ c        20 by way of b
 *
 * The cost of a function is divided among the paths to it in proportion to the
 * cost of its callers' calls, as in all viewers of such files. This is an
 * estimate for inclusive costs; each function's self cost is exact to the unit,
 * and so is the total. Functions that call each other are treated as one by
 * their callers: each call from outside gets a part of all of them. Calls back
 * into functions on the path, and paths below a millionth of the whole, are not
 * followed: their cost is added to the other paths of the function. */

#include "flam-load.h"

typedef struct _FlamCallGraph FlamCallGraph;

FlamCallGraph *flam_call_graph_new (FlamLoad *load, guint n_events);

/* Numbered from 0. `frame`: as a caller. A function that runs in several
 * threads is added once for each of them, and calls are between functions of
 * one thread. */
guint32 flam_call_graph_add_function (FlamCallGraph *graph,
                                      FlamThreadId thread,
                                      FlamFrameId frame);
/* Adds to its self cost, of code that is shown as the frame `leaf` in place of
 * its own. `costs`: n_events values. */
void flam_call_graph_add_cost (FlamCallGraph *graph,
                               guint32 function,
                               FlamId leaf,
                               const gint64 *costs);
/* The same for a caller that indexes its costs itself: rows from 0, each once.
 * `inlined`: the leaf is above the function's own frame. */
guint32 flam_call_graph_new_cost (FlamCallGraph *graph,
                                  guint32 function,
                                  FlamId leaf,
                                  gboolean inlined);
void flam_call_graph_add_to_cost (FlamCallGraph *graph,
                                  guint32 row,
                                  const gint64 *costs);
/* The cost of a call, including its callees; the first event decides how the
 * callee's costs are divided. `site`: the caller's frame where it calls, with
 * its line or address; FLAM_NONE: its own. Each site gets its cost, but of two
 * functions that call each other from several sites, which one leads to which
 * is not known. */
void flam_call_graph_add_call (FlamCallGraph *graph,
                               guint32 caller,
                               guint32 callee,
                               FlamId site,
                               gint64 cost);

/* Adds the samples of all threads, a column per event; the caller has added
 * those columns. FALSE if costs are negative or their sum overflows. */
gboolean flam_call_graph_finish (FlamCallGraph *graph, GError **error);

#endif
