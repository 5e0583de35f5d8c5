/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A call graph -> stacks, for files that have who called whom and what that
 * cost, but no stacks (callgrind, gprof).
 *
 *    main ──70──▶ a ──60──▶ c        c costs 80 of its own: 60 by way of a,
 *      └────30──▶ b ──20──▶ c        20 by way of b
 *
 * What a function costs is divided among the paths to it in the proportion in
 * which its callers caused it, as all viewers of such files do. That is a
 * guess for inclusive costs; each function's own cost is exact to the unit, and
 * so is the total. Calls back into what is on the path already, and paths
 * under a millionth of the whole, are not followed: their cost stands at the
 * heaviest path of the function. */

#include "flam-load.h"

typedef struct _FlamCallGraph FlamCallGraph;

FlamCallGraph *flam_call_graph_new (FlamLoad *load, guint n_events);

/* Numbered from 0. `frame`: as a caller. */
guint32 flam_call_graph_add_function (FlamCallGraph *graph, FlamId frame);
/* Its own cost, of code that is shown as the frame `leaf`: in place of its
 * own, or, if that was inlined, above it. `costs`: n_events values. */
void flam_call_graph_add_cost (FlamCallGraph *graph,
                               guint32 function,
                               FlamId leaf,
                               gboolean inlined,
                               const gint64 *costs);
/* Costs of a call, all that it called included; the first event decides how
 * the callee's costs are divided. */
void flam_call_graph_add_call (FlamCallGraph *graph,
                               guint32 caller,
                               guint32 callee,
                               gint64 cost);

/* Samples of `thread`, a column an event, with those columns added by the
 * caller before. FALSE when costs are negative or add up to too much. */
gboolean
flam_call_graph_finish (FlamCallGraph *graph, FlamId thread, GError **error);
