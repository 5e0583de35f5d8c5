/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-call-graph.h"

#include "flam-call-cycles.h"
#include "flam-core-profile.h"

#define MAX_PATHS 400000
#define MAX_DEPTH 2000
#define MAX_LOOKS 50000000
#define MIN_SHARE 1e-6
/* Of the whole: a path is divided between two sites of a call if both parts
 * have this much. */
#define MIN_SITE 1e-3

/* Of a file, for each cost that memory is reserved for. */
#define COST_BYTES 64

typedef struct
{
  FlamThreadId thread;
  FlamFrameId frame;
  guint32 first_call; /* FLAM_NONE; linked by `next` */
  guint32 first_cost;
  double entered; /* cost of all calls to it */
  double inside;  /* its own and that of its calls */
  guint32 first_path;
  guint32 cycle;
  double shares; /* of the paths that are being searched */
  gboolean on_path;
} Function;

/* Functions that call each other; usually a single one. The cost of a call
 * between two of them includes that of the calls back, which are again calls
 * between them. So only their total cost, and the cost of each call from
 * outside, are known. */
typedef struct
{
  double entered; /* cost of the calls from outside */
  double inside;  /* their own, and that of their calls to others */
  double most;    /* the part that is not the cost of a call to any of them */
  guint32 head;   /* it */
  guint32 n;
} Cycle;

typedef struct
{
  guint32 caller;
  guint32 callee;
  guint32 next;
  guint32 site; /* the first one whose cost is not yet on paths; FLAM_NONE:
                   none is known */
  double cost;
} Call;

/* A place of the caller where it calls. */
typedef struct
{
  guint32 call;
  FlamId frame;
  guint32 next;
  double left; /* of its cost: not yet on a path */
} Site;

/* The cost of all of a function's code that is shown as one frame. */
typedef struct
{
  guint32 function;
  FlamId leaf;
  guint32 next;
  gboolean inlined;
  gint64 values[]; /* an event */
} Cost;

/* A path to a function, and the part of its cost by this path. */
typedef struct
{
  FlamStackId stack; /* of the caller */
  guint32 next;
  double share;
} Path;

/* A function whose calls are being followed. */
typedef struct
{
  guint32 function;
  guint32 call; /* the next one to follow */
  FlamStackId prefix;
  guint depth;
  double share;
} Step;

struct _FlamCallGraph
{
  FlamBuilder *builder;
  guint n_events;
  FlamColumn functions, calls, sites, costs, paths, cycles;
  FlamColumn steps;        /* from which other cycles are entered */
  FlamColumn trail;        /* Step: within a cycle */
  guint64 looks;           /* at calls, during the search for paths */
  guint32 entered;         /* how often a function was */
  FlamColumn sums;         /* gint64[n_events], a stack: of one thread */
  FlamColumn touched;      /* FlamId: the stacks whose sums are not 0 */
  FlamInterner call_index; /* calls by caller and callee */
  FlamInterner site_index; /* sites by call and frame */
  double least_site;       /* cost */
  FlamInterner cost_index; /* those of flam_call_graph_add_cost(), by function
                              and leaf */
  gint64 *totals;          /* an event */
  gboolean bad;            /* no sum: negative, or an overflow */
};

#define function_at(graph, i)                                                  \
  (&flam_column_at (&(graph)->functions, Function, i))
#define call_at(graph, i) (&flam_column_at (&(graph)->calls, Call, i))
#define site_at(graph, i) (&flam_column_at (&(graph)->sites, Site, i))
#define cost_at(graph, i)                                                      \
  ((Cost *)(void *)((char *)(graph)->costs.data +                              \
                    (gsize)(i) * (graph)->costs.element_size))
#define path_at(graph, i) (&flam_column_at (&(graph)->paths, Path, i))
#define cycle_at(graph, i) (&flam_column_at (&(graph)->cycles, Cycle, i))

FlamCallGraph *
flam_call_graph_new (FlamLoad *load, guint n_events)
{
  FlamCallGraph *graph = flam_arena_new (load, FlamCallGraph);

  graph->builder = load->builder;
  graph->n_events = n_events;
  flam_arena_column (load, &graph->functions, Function);
  flam_arena_column (load, &graph->calls, Call);
  flam_arena_column (load, &graph->sites, Site);
  flam_arena_column_of (
      load, &graph->costs, sizeof (Cost) + n_events * (guint)sizeof (gint64));
  flam_column_reserve (&graph->costs, load->source->size / COST_BYTES);
  flam_arena_column (load, &graph->paths, Path);
  flam_arena_column (load, &graph->cycles, Cycle);
  flam_arena_column (load, &graph->steps, Step);
  flam_arena_column (load, &graph->trail, Step);
  flam_arena_column_of (load, &graph->sums, n_events * (guint)sizeof (gint64));
  flam_arena_column (load, &graph->touched, FlamId);
  flam_arena_interner (load, &graph->call_index);
  flam_arena_interner (load, &graph->site_index);
  flam_arena_interner (load, &graph->cost_index);
  graph->totals = flam_arena_vector (load, gint64, n_events);
  return graph;
}

guint32
flam_call_graph_add_function (FlamCallGraph *graph,
                              FlamThreadId thread,
                              FlamFrameId frame)
{
  Function *function = flam_column_push (&graph->functions);

  *function = (Function){ .thread = thread,
                          .frame = frame,
                          .first_call = FLAM_NONE,
                          .first_cost = FLAM_NONE,
                          .first_path = FLAM_NONE };
  return graph->functions.n - 1;
}

static gboolean
cost_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const Cost *a = cost_at ((const FlamCallGraph *)table, row);
  const Cost *b = key;

  return a->function == b->function && a->leaf == b->leaf;
}

guint32
flam_call_graph_new_cost (FlamCallGraph *graph,
                          guint32 function,
                          FlamId leaf,
                          gboolean inlined)
{
  Function *f = function_at (graph, function);
  Cost *cost = flam_column_push (&graph->costs);

  memset (cost, 0, graph->costs.element_size);
  cost->function = function;
  cost->leaf = leaf;
  cost->inlined = inlined;
  cost->next = f->first_cost;
  return f->first_cost = graph->costs.n - 1;
}

void
flam_call_graph_add_to_cost (FlamCallGraph *graph,
                             guint32 row,
                             const gint64 *costs)
{
  Cost *cost = cost_at (graph, row);

  function_at (graph, cost->function)->inside += costs[0];
  for (guint event = 0; event < graph->n_events; event++)
    {
      gint64 *total = &graph->totals[event];

      if (costs[event] < 0 ||
          __builtin_add_overflow (*total, costs[event], total))
        graph->bad = TRUE;
      if (!graph->bad)
        cost->values[event] += costs[event];
    }
}

void
flam_call_graph_add_cost (FlamCallGraph *graph,
                          guint32 function,
                          FlamId leaf,
                          const gint64 *costs)
{
  Cost cost = { .function = function, .leaf = leaf };
  guint32 hash = flam_hash_pair (function, leaf);
  FlamSlot *slot =
      flam_interner_find (&graph->cost_index, hash, cost_equal, graph, &cost);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, graph->costs.n };
      graph->cost_index.used++;
      flam_call_graph_new_cost (graph, function, leaf, FALSE);
    }
  flam_call_graph_add_to_cost (graph, slot->id, costs);
}

static gboolean
call_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const Call *a = call_at ((const FlamCallGraph *)table, row);
  const Call *b = key;

  return a->caller == b->caller && a->callee == b->callee;
}

static gboolean
site_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const Site *a = site_at ((const FlamCallGraph *)table, row);
  const Site *b = key;

  return a->call == b->call && a->frame == b->frame;
}

static void
add_site (FlamCallGraph *graph, guint32 number, FlamId frame, gint64 cost)
{
  Call *call = call_at (graph, number);
  Site site = { .call = number, .frame = frame, .next = call->site };
  guint32 hash = flam_hash_pair (number, frame);
  FlamSlot *slot =
      flam_interner_find (&graph->site_index, hash, site_equal, graph, &site);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, graph->sites.n };
      graph->site_index.used++;
      call->site = graph->sites.n;
      flam_column_append (&graph->sites, Site, site);
    }
  site_at (graph, slot->id)->left += cost;
}

void
flam_call_graph_add_call (FlamCallGraph *graph,
                          guint32 caller,
                          guint32 callee,
                          FlamId site,
                          gint64 cost)
{
  Function *f = function_at (graph, caller);
  Call call = {
    .caller = caller, .callee = callee, .next = f->first_call, .site = FLAM_NONE
  };
  guint32 hash = flam_hash_pair (caller, callee);
  FlamSlot *slot =
      flam_interner_find (&graph->call_index, hash, call_equal, graph, &call);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, graph->calls.n };
      graph->call_index.used++;
      f->first_call = graph->calls.n;
      flam_column_append (&graph->calls, Call, call);
    }
  call_at (graph, slot->id)->cost += MAX (cost, 0);
  if (site != FLAM_NONE)
    add_site (graph, slot->id, site, MAX (cost, 0));
  if (caller == callee)
    return;
  f->inside += MAX (cost, 0);
  function_at (graph, callee)->entered += MAX (cost, 0);
}

/* --- cycles -------------------------------------------------------------- */

/* Calls without cost add nothing. */
static void
find_cycles (FlamCallGraph *graph)
{
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (FlamCallEdge));
  g_autofree guint32 *cycles = NULL;
  guint32 n;

  for (gsize i = 0; i < graph->calls.n; i++)
    {
      const Call *call = call_at (graph, i);
      FlamCallEdge edge = { call->caller, call->callee };

      if (call->cost > 0)
        g_array_append_val (edges, edge);
    }
  cycles = flam_call_cycles_find ((const FlamCallEdge *)(gpointer)edges->data,
                                  edges->len,
                                  graph->functions.n,
                                  &n);
  flam_column_backfill (&graph->cycles, n);
  for (gsize i = 0; i < graph->functions.n; i++)
    {
      Function *f = function_at (graph, i);
      Cycle *cycle = cycle_at (graph, f->cycle = cycles[i]);

      cycle->inside += f->inside;
      if (cycle->n++ == 0 || f->inside - f->entered > cycle->most)
        {
          cycle->most = f->inside - f->entered;
          cycle->head = i;
        }
    }
}

/* Their total cost, which includes the calls between them only once. */
static void
sum_cycles (FlamCallGraph *graph)
{
  for (gsize i = 0; i < graph->calls.n; i++)
    {
      const Call *call = call_at (graph, i);
      guint32 from = function_at (graph, call->caller)->cycle;
      guint32 to = function_at (graph, call->callee)->cycle;

      if (from != to)
        cycle_at (graph, to)->entered += call->cost;
      else if (call->caller != call->callee)
        cycle_at (graph, from)->inside -= call->cost;
    }
}

/* --- paths --------------------------------------------------------------- */

static void
enter (FlamCallGraph *graph,
       guint32 function,
       FlamStackId prefix,
       guint depth,
       double share)
{
  Function *f = function_at (graph, function);
  Step step = { .function = function,
                .call = f->first_call,
                .prefix = prefix,
                .depth = depth + 1,
                .share = share };

  flam_column_append (&graph->steps, Step, step);
  flam_column_append (&graph->trail, Step, step);
  f->shares += share;
  f->on_path = TRUE;
  graph->entered++;
}

/* The next call of a step, within its cycle or to another one, whose cost is
 * above the limit; NULL: none. */
static Call *
next_call (FlamCallGraph *graph, Step *step, gboolean within, double least)
{
  guint32 cycle = function_at (graph, step->function)->cycle;

  while (step->call != FLAM_NONE)
    {
      Call *call = call_at (graph, step->call);
      const Function *callee = function_at (graph, call->callee);

      step->call = graph->looks++ < MAX_LOOKS ? call->next : FLAM_NONE;
      if ((callee->cycle == cycle) == within && !callee->on_path &&
          call->cost > 0 && call->cost * step->share >= least &&
          graph->entered < MAX_PATHS && step->depth < MAX_DEPTH)
        return call;
    }
  return NULL;
}

/* The frame of the caller for a path by this call that has `*cost` of it. The
 * costs of the sites and those of the paths are traversed side by side. If
 * `divides`, `*cost` may become less, for a part of the path; otherwise what a
 * site has too much, the next one has too little. */
static FlamId
take_site (FlamCallGraph *graph, Call *call, double *cost, gboolean divides)
{
  Site *site;
  double rest;

  if (call->site == FLAM_NONE)
    return function_at (graph, call->caller)->frame;
  site = site_at (graph, call->site);
  rest = *cost - site->left;
  if (divides && site->next != FLAM_NONE && rest >= graph->least_site &&
      site->left >= graph->least_site)
    *cost = site->left;
  site->left -= *cost;
  if (site->left <= 0 && site->next != FLAM_NONE)
    {
      call->site = site->next;
      site_at (graph, site->next)->left += site->left;
    }
  return site->frame;
}

/* The paths within a cycle, by calls that do not return to a function on the
 * path. */
static void
walk_cycle (FlamCallGraph *graph, double least)
{
  while (graph->trail.n > 0)
    {
      Step *step = &flam_column_at (&graph->trail, Step, graph->trail.n - 1);
      Call *call = next_call (graph, step, TRUE, least);

      if (call != NULL)
        {
          const Function *callee = function_at (graph, call->callee);
          double cost = call->cost * step->share;
          FlamId site = take_site (graph, call, &cost, FALSE);

          enter (graph,
                 call->callee,
                 flam_builder_stack (graph->builder, step->prefix, site),
                 step->depth,
                 cost / MAX (callee->entered, callee->inside));
          continue;
        }
      function_at (graph, step->function)->on_path = FALSE;
      graph->trail.n--;
    }
}

/* A part of a cycle's cost, by a call of `function`: each of its functions gets
 * the same part, however many paths lead to it. */
static void
enter_cycle (FlamCallGraph *graph,
             guint32 function,
             FlamStackId prefix,
             guint depth,
             double share,
             double least)
{
  gsize first = graph->steps.n;
  gboolean alone =
      cycle_at (graph, function_at (graph, function)->cycle)->n == 1;

  enter (graph, function, prefix, depth, share);
  if (alone)
    {
      function_at (graph, function)->on_path = FALSE;
      graph->trail.n--;
    }
  else
    walk_cycle (graph, least);
  for (gsize i = first; i < graph->steps.n; i++)
    {
      Step *step = &flam_column_at (&graph->steps, Step, i);
      Function *f = function_at (graph, step->function);
      Path *path = flam_column_push (&graph->paths);

      if (!alone)
        step->share *= share / f->shares;
      *path = (Path){ step->prefix, f->first_path, step->share };
      f->first_path = graph->paths.n - 1;
    }
  for (gsize i = first; i < graph->steps.n; i++)
    function_at (graph, flam_column_at (&graph->steps, Step, i).function)
        ->shares = 0;
}

/* The paths by a call to another cycle: usually one, otherwise one for each of
 * its sites. */
static void
follow (FlamCallGraph *graph, const Step *step, Call *call, double least)
{
  const Cycle *cycle =
      cycle_at (graph, function_at (graph, call->callee)->cycle);
  const Step at = *step; /* the column grows */

  for (double left = call->cost * at.share, cost; left > 0; left -= cost)
    {
      FlamId site;

      cost = left;
      site = take_site (graph, call, &cost, TRUE);
      enter_cycle (graph,
                   call->callee,
                   flam_builder_stack (graph->builder, at.prefix, site),
                   at.depth,
                   cost / MAX (cycle->entered, cycle->inside),
                   least);
    }
}

/* Without recursion: the paths whose calls are to be followed are `steps`. */
static void
walk (FlamCallGraph *graph, guint32 root, double share, double least)
{
  enter_cycle (graph, root, FLAM_NONE, 0, share, least);
  while (graph->steps.n > 0)
    {
      Step *step = &flam_column_at (&graph->steps, Step, graph->steps.n - 1);
      Call *call = next_call (graph, step, FALSE, least);

      if (call != NULL)
        follow (graph, step, call, least);
      else
        graph->steps.n--;
    }
}

/* Roots are functions whose cost exceeds that of their callers' calls. */
static void
find_paths (FlamCallGraph *graph)
{
  double total = 0;

  find_cycles (graph);
  sum_cycles (graph);
  for (gsize i = 0; i < graph->cycles.n; i++)
    {
      const Cycle *cycle = cycle_at (graph, i);
      total += MAX (cycle->inside - cycle->entered, 0);
    }
  graph->least_site = total * MIN_SITE;
  for (gsize i = 0; i < graph->functions.n; i++)
    {
      const Cycle *cycle = cycle_at (graph, function_at (graph, i)->cycle);
      double root = cycle->inside - cycle->entered;

      if (cycle->head == i && root > 0 && root >= total * MIN_SHARE)
        walk (graph, i, root / cycle->inside, total * MIN_SHARE);
    }
}

/* --- costs onto paths ---------------------------------------------------- */

static gboolean
has_weight (const FlamCallGraph *graph, const gint64 *sums)
{
  for (guint event = 0; event < graph->n_events; event++)
    if (sums[event] != 0)
      return TRUE;
  return FALSE;
}

static gint64 *
sums_at (FlamCallGraph *graph, FlamStackId stack)
{
  return (gint64 *)graph->sums.data + (gsize)stack * graph->n_events;
}

/* The costs of several lines and several events on one stack are one sample. */
static void
add_piece (FlamCallGraph *graph,
           FlamStackId prefix,
           FlamId leaf,
           guint event,
           gint64 weight)
{
  FlamStackId stack = flam_builder_stack (graph->builder, prefix, leaf);

  flam_column_backfill (&graph->sums, (gsize)stack + 1);
  if (!has_weight (graph, sums_at (graph, stack)))
    flam_column_append (&graph->touched, FlamId, stack);
  sums_at (graph, stack)[event] += weight;
}

/* Both are lists with the same sum: the paths' parts and the lines' costs. They
 * are traversed side by side, and each piece goes to the current entries of
 * both, so that either list is exact and there are no more samples than
 * entries. */
static void
place_costs (FlamCallGraph *graph, const Function *f, guint event)
{
  double shares = 0, so_far = 0;
  gint64 total = 0, placed = 0, left_of_path = 0;
  guint32 path = f->first_path;
  FlamStackId prefix = FLAM_NONE;

  for (guint32 i = f->first_cost; i != FLAM_NONE; i = cost_at (graph, i)->next)
    total += cost_at (graph, i)->values[event];
  for (guint32 i = path; i != FLAM_NONE; i = path_at (graph, i)->next)
    shares += path_at (graph, i)->share;
  for (guint32 i = f->first_cost; i != FLAM_NONE; i = cost_at (graph, i)->next)
    {
      const Cost *cost = cost_at (graph, i);
      gint64 left = cost->values[event];

      while (left > 0)
        {
          gint64 piece;

          while (left_of_path == 0 && path != FLAM_NONE)
            {
              const Path *p = path_at (graph, path);
              gint64 until;

              so_far += p->share;
              path = p->next;
              prefix = p->stack;
              until = path == FLAM_NONE || shares <= 0
                          ? total
                          : (gint64)(total * MIN (so_far / shares, 1));
              left_of_path = MAX (until - placed, 0);
            }
          piece = left_of_path > 0 ? MIN (left, left_of_path) : left;
          add_piece (graph,
                     cost->inlined
                         ? flam_builder_stack (graph->builder, prefix, f->frame)
                         : prefix,
                     cost->leaf,
                     event,
                     piece);
          left -= piece;
          placed += piece;
          left_of_path -= MIN (piece, left_of_path);
        }
    }
}

static int
compare_ids (const void *a, const void *b)
{
  const FlamId *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

/* The samples of a thread; the sums are 0 afterwards. */
static void
add_samples (FlamCallGraph *graph, FlamThreadId thread)
{
  if (graph->touched.n == 0)
    return;
  qsort (graph->touched.data, graph->touched.n, sizeof (FlamId), compare_ids);
  flam_builder_reserve_samples (graph->builder, graph->touched.n);
  for (gsize i = 0; i < graph->touched.n; i++)
    {
      FlamSample sample = { .thread = thread,
                            .stack =
                                flam_column_at (&graph->touched, FlamId, i) };
      gint64 *sums = sums_at (graph, sample.stack);

      flam_builder_add_sample (graph->builder, &sample, sums);
      memset (sums, 0, graph->n_events * sizeof *sums);
    }
  graph->touched.n = 0;
}

typedef struct
{
  FlamThreadId thread;
  guint32 function;
} Turn;

static int
compare_turns (const void *a, const void *b)
{
  const Turn *x = a, *y = b;

  return x->thread != y->thread
             ? (x->thread > y->thread ? 1 : -1)
             : (x->function > y->function) - (x->function < y->function);
}

/* A column that grows leaves a hole in the heap that is too small for later
 * ones. There are hardly more stacks than entries of the two lists. */
static void
reserve_stacks (FlamCallGraph *graph)
{
  gsize n = graph->costs.n + graph->paths.n;
  const FlamTables *tables = flam_builder_tables (graph->builder);

  flam_builder_reserve_stacks (graph->builder, n);
  flam_column_reserve (&graph->sums, tables->profile.stacks.n + n);
  flam_column_reserve (&graph->touched, n);
}

/* One thread after the other. */
static void
place_all (FlamCallGraph *graph)
{
  g_autofree Turn *turns = g_new (Turn, graph->functions.n);

  reserve_stacks (graph);
  for (gsize i = 0; i < graph->functions.n; i++)
    turns[i] = (Turn){ function_at (graph, i)->thread, i };
  if (graph->functions.n > 0)
    qsort (turns, graph->functions.n, sizeof *turns, compare_turns);
  for (gsize i = 0; i < graph->functions.n; i++)
    {
      for (guint event = 0; event < graph->n_events; event++)
        place_costs (graph, function_at (graph, turns[i].function), event);
      if (i + 1 == graph->functions.n)
        {
          flam_column_clear (&graph->costs);
          flam_column_clear (&graph->paths);
        }
      if (i + 1 == graph->functions.n || turns[i + 1].thread != turns[i].thread)
        add_samples (graph, turns[i].thread);
    }
}

/* A cost with several paths was divided by an estimate; one with a single path
 * was not. */
static gboolean
is_guess (const FlamCallGraph *graph)
{
  for (gsize i = 0; i < graph->functions.n; i++)
    {
      const Function *f = function_at (graph, i);
      if (f->first_cost != FLAM_NONE && f->first_path != FLAM_NONE &&
          path_at (graph, f->first_path)->next != FLAM_NONE)
        return TRUE;
    }
  return FALSE;
}

/* Frees at once what the samples do not need, since they take its place. */
gboolean
flam_call_graph_finish (FlamCallGraph *graph, GError **error)
{
  gboolean guess;

  if (graph->bad)
    return flam_error_set (
        error,
        FLAM_ERROR_INVALID,
        N_ ("costs are negative or add up to more than 2^63"));
  flam_interner_clear (&graph->call_index);
  flam_interner_clear (&graph->site_index);
  flam_interner_clear (&graph->cost_index);
  find_paths (graph);
  flam_column_clear (&graph->calls);
  flam_column_clear (&graph->sites);
  flam_column_clear (&graph->cycles);
  flam_column_clear (&graph->steps);
  flam_column_clear (&graph->trail);
  guess = is_guess (graph);
  place_all (graph);
  if (guess)
    flam_builder_warn (
        graph->builder,
        N_ ("the file records callers but no stacks: a function's cost is "
            "divided among its callers in proportion to what each caused"));
  return TRUE;
}
