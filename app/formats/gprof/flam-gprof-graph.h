/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GPROF_GRAPH_H
#define FLAM_GPROF_GRAPH_H

/* Functions with self times, and the numbers of calls between them: calls have
 * no times. As in gprof, the total cost of a function is divided among its
 * callers by the number of their calls, and added to a call graph
 * (flam-call-graph.h):
 *
 *    main ──60×──▶ compute      self time of work: 80 ms
 *    compute ──30×──▶ work      compute's calls to it: 80 · 30 / 40 = 60 ms
 *    main ──10×──▶ work         main's:                80 · 10 / 40 = 20 ms
 */

#include "flam-load.h"

typedef struct _FlamGprofGraph FlamGprofGraph;

/* Adds the columns and measures: time and calls. */
FlamGprofGraph *flam_gprof_graph_new (FlamLoad *load);

/* Numbered from 0. */
guint32 flam_gprof_graph_add_function (FlamGprofGraph *graph,
                                       FlamFrameId frame);
/* Adds ns of self time, at a place in it. */
void flam_gprof_graph_add_time (FlamGprofGraph *graph,
                                guint32 function,
                                FlamId leaf,
                                gint64 ns);
/* `caller` FLAM_NONE: from code without a name. */
void flam_gprof_graph_add_calls (FlamGprofGraph *graph,
                                 guint32 caller,
                                 guint32 callee,
                                 gint64 count);
gboolean flam_gprof_graph_finish (FlamGprofGraph *graph, GError **error);

#endif
