/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gprof-graph.h"

#include "flam-call-graph.h"

enum
{
  TIME,
  CALLS,
  N_COLUMNS
};

typedef struct
{
  FlamFrameId frame;
  double self;
  double total;
  double calls;      /* to it, but not from itself or from functions below it */
  guint first, next; /* of its calls to others; the next to follow */
  enum
  {
    NEW,
    OPEN,
    DONE,
  } state;
} Function;

typedef struct
{
  guint32 caller, callee;
  gint64 count;
  gboolean back; /* to a function that is a caller of this call */
} Calls;

struct _FlamGprofGraph
{
  FlamBuilder *builder;
  FlamCallGraph *graph;
  GArray *functions; /* Function */
  GArray *calls;     /* Calls */
};

FlamGprofGraph *
flam_gprof_graph_new (FlamLoad *load)
{
  FlamGprofGraph *graph = flam_arena_new (load, FlamGprofGraph);

  flam_load_measures (
      load->builder, FLAM_STANDARD_CPU_TIME, FLAM_STANDARD_CALLS);
  graph->builder = load->builder;
  graph->graph = flam_call_graph_new (load, N_COLUMNS);
  graph->functions = flam_arena_array (load, Function);
  graph->calls = flam_arena_array (load, Calls);
  return graph;
}

static Function *
get_function (FlamGprofGraph *graph, guint32 function)
{
  return &g_array_index (graph->functions, Function, function);
}

guint32
flam_gprof_graph_add_function (FlamGprofGraph *graph, FlamFrameId frame)
{
  Function function = { .frame = frame,
                        .first = G_MAXUINT32,
                        .next = G_MAXUINT32 };

  g_array_append_val (graph->functions, function);
  return flam_call_graph_add_function (
      graph->graph, flam_builder_lone_thread (graph->builder), frame);
}

void
flam_gprof_graph_add_time (FlamGprofGraph *graph,
                           guint32 function,
                           FlamId leaf,
                           gint64 ns)
{
  gint64 costs[N_COLUMNS] = { [TIME] = ns };

  get_function (graph, function)->self += ns;
  flam_call_graph_add_cost (graph->graph, function, leaf, costs);
}

void
flam_gprof_graph_add_calls (FlamGprofGraph *graph,
                            guint32 caller,
                            guint32 callee,
                            gint64 count)
{
  Function *function = get_function (graph, callee);
  gint64 costs[N_COLUMNS] = { [CALLS] = count };
  Calls calls = { caller, callee, count, FALSE };

  flam_call_graph_add_cost (graph->graph, callee, function->frame, costs);
  if (caller == callee)
    return;
  function->calls += count;
  if (caller != FLAM_NONE)
    g_array_append_val (graph->calls, calls);
}

static double
call_cost (FlamGprofGraph *graph, const Calls *calls)
{
  const Function *callee = get_function (graph, calls->callee);

  return callee->calls > 0 ? callee->total * calls->count / callee->calls : 0;
}

/* For each caller, the most frequent calls are followed first, so that rare
 * calls close the cycles. */
static int
compare_calls (gconstpointer a, gconstpointer b)
{
  const Calls *x = a;
  const Calls *y = b;

  if (x->caller != y->caller)
    return x->caller < y->caller ? -1 : 1;
  return (x->count < y->count) - (x->count > y->count);
}

/* All of its callees are finished. */
static void
close_function (FlamGprofGraph *graph, Function *function)
{
  function->total = function->self;
  for (guint i = function->first; i < function->next; i++)
    {
      const Calls *calls = &g_array_index (graph->calls, Calls, i);
      if (!calls->back)
        function->total += call_cost (graph, calls);
    }
  function->state = DONE;
}

/* From the function down, without recursion. A call back to an open function is
 * set aside: the cost of the cycle is its first function's. */
static void
walk (FlamGprofGraph *graph, guint32 root, GArray *open)
{
  g_array_append_val (open, root);
  get_function (graph, root)->state = OPEN;
  while (open->len > 0)
    {
      guint32 top = g_array_index (open, guint32, open->len - 1);
      Function *function = get_function (graph, top);
      Calls *calls = function->next < graph->calls->len
                         ? &g_array_index (graph->calls, Calls, function->next)
                         : NULL;
      Function *callee;

      if (calls == NULL || calls->caller != top)
        {
          close_function (graph, function);
          g_array_set_size (open, open->len - 1);
          continue;
        }
      function->next++;
      callee = get_function (graph, calls->callee);
      if (callee->state == OPEN)
        {
          calls->back = TRUE;
          callee->calls -= calls->count;
        }
      else if (callee->state == NEW)
        {
          callee->state = OPEN;
          g_array_append_val (open, calls->callee);
        }
    }
}

/* Functions without a caller come first. */
static void
find_totals (FlamGprofGraph *graph)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint32));

  g_array_sort (graph->calls, compare_calls);
  for (guint i = graph->calls->len; i > 0; i--)
    {
      Function *caller = get_function (
          graph, g_array_index (graph->calls, Calls, i - 1).caller);
      caller->first = caller->next = i - 1;
    }
  for (guint turn = 0; turn < 2; turn++)
    for (guint i = 0; i < graph->functions->len; i++)
      {
        const Function *function = get_function (graph, i);
        if (function->state == NEW && (turn == 1 || function->calls <= 0))
          walk (graph, i, open);
      }
}

gboolean
flam_gprof_graph_finish (FlamGprofGraph *graph, GError **error)
{
  find_totals (graph);
  for (guint i = 0; i < graph->calls->len; i++)
    {
      const Calls *calls = &g_array_index (graph->calls, Calls, i);
      double cost = calls->back ? 0 : call_cost (graph, calls);
      flam_call_graph_add_call (graph->graph,
                                calls->caller,
                                calls->callee,
                                FLAM_NONE,
                                (gint64)MIN (cost, (double)(G_MAXINT64 / 4)));
    }
  return flam_call_graph_finish (graph->graph, error);
}
