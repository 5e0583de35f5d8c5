/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-call-cycles.h"

#define OPEN G_MAXUINT32

/* Tarjan's algorithm: if a function reaches none that was seen before it and
 * whose cycle is still open, it is the first of its cycle, and all functions
 * seen since then belong to it. Without recursion: the callers are in
 * `trail`. */
typedef struct
{
  guint32 *callees; /* of all functions, one after the other */
  guint32 *next;    /* per function: the next of its callees, and ... */
  guint32 *end;     /* ... the end of them */
  guint32 *number;  /* in the order of seeing, from 1; 0: not seen */
  guint32 *least;   /* the lowest number that it reaches */
  guint32 *cycle;   /* or OPEN */
  guint32 *trail, *open;
  guint32 n_trail, n_open, n_seen, n_cycles;
} Search;

static void
see (Search *search, guint32 function)
{
  search->number[function] = search->least[function] = ++search->n_seen;
  search->trail[search->n_trail++] = function;
  search->open[search->n_open++] = function;
}

static void
leave (Search *search, guint32 function)
{
  guint32 member;

  search->n_trail--;
  if (search->least[function] < search->number[function])
    {
      guint32 caller = search->trail[search->n_trail - 1];

      search->least[caller] =
          MIN (search->least[caller], search->least[function]);
      return;
    }
  do
    {
      member = search->open[--search->n_open];
      search->cycle[member] = search->n_cycles;
    }
  while (member != function);
  search->n_cycles++;
}

static void
step (Search *search)
{
  guint32 function = search->trail[search->n_trail - 1];
  guint32 callee;

  if (search->next[function] == search->end[function])
    {
      leave (search, function);
      return;
    }
  callee = search->callees[search->next[function]++];
  if (search->number[callee] == 0)
    see (search, callee);
  else if (search->cycle[callee] == OPEN)
    search->least[function] =
        MIN (search->least[function], search->number[callee]);
}

/* Each function's callees, in the order of the edges. */
static void
sort_edges (Search *search,
            const FlamCallEdge *edges,
            gsize n_edges,
            guint32 n_functions)
{
  guint32 first = 0;

  for (gsize i = 0; i < n_edges; i++)
    search->end[edges[i].caller]++;
  for (guint32 i = 0; i < n_functions; i++)
    {
      search->next[i] = first;
      first += search->end[i];
      search->end[i] = search->next[i];
    }
  for (gsize i = 0; i < n_edges; i++)
    search->callees[search->end[edges[i].caller]++] = edges[i].callee;
}

guint32 *
flam_call_cycles_find (const FlamCallEdge *edges,
                       gsize n_edges,
                       guint32 n_functions,
                       guint32 *n_cycles)
{
  gsize n = (gsize)n_functions + 1;
  g_autofree guint32 *callees = g_new (guint32, n_edges + 1);
  g_autofree guint32 *columns = g_new0 (guint32, n * 6);
  Search search = {
    .callees = callees,
    .next = columns,
    .end = columns + n,
    .number = columns + n * 2,
    .least = columns + n * 3,
    .trail = columns + n * 4,
    .open = columns + n * 5,
    .cycle = g_new (guint32, n),
  };

  sort_edges (&search, edges, n_edges, n_functions);
  for (guint32 i = 0; i < n_functions; i++)
    search.cycle[i] = OPEN;
  for (guint32 i = 0; i < n_functions; i++)
    {
      if (search.number[i] == 0)
        see (&search, i);
      while (search.n_trail > 0)
        step (&search);
    }
  *n_cycles = search.n_cycles;
  return search.cycle;
}
