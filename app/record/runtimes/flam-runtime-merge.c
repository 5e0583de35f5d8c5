/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-merge.h"

#include "flam-runtime-functions.h"
#include "flam-runtime-processes.h"

/* A thread that works for several interpreters has a chain for each, and only
 * the order of the first is certain to match the stack. */
#define TURNS_MAX 64

typedef struct
{
  const guint64 *pcs;
  const guint64 *sps;
  guint n;
  const FlamRuntimeProcess *process;
  guint at; /* moves toward the root with the entries */
  guint turns;
  guint next; /* the first frame that may be the next evaluator */
} Search;

/* The managed frames [from, to) in the place of a native one. */
typedef struct
{
  guint from;
  guint to; /* 0: none */
} Run;

static gboolean
contains (const Search *search, guint i, guint64 sp)
{
  const FlamRuntime *runtime = search->process->runtime;

  return sp >= search->sps[i] && sp < search->sps[i + 1] &&
         (runtime == NULL || runtime->fits == NULL ||
          runtime->fits (
              search->process, search->pcs[i], search->sps[i + 1], sp));
}

/* The native frame that contains `sp`, or n. */
static guint
find_by_address (Search *search, guint64 sp)
{
  for (guint i = search->at; i + 1 < search->n; i++)
    if (contains (search, i, sp))
      return search->at = i;
  for (guint i = 0; search->turns < TURNS_MAX && i < search->at; i++)
    if (contains (search, i, sp))
      {
        search->turns++;
        return search->at = i;
      }
  return search->n;
}

/* No native frame fits the entry. Below the outermost known frame, that makes
 * it stale; beyond it, the entry may belong to a frame that is not known. */
static gboolean
is_stale (const Search *search, guint64 sp)
{
  const FlamRuntime *runtime = search->process->runtime;

  return runtime != NULL && runtime->fits != NULL && search->n > 0 &&
         sp < search->sps[search->n - 1];
}

static gboolean
is_in (const FlamRuntimeRange *ranges, guint n, guint64 vaddr)
{
  for (guint i = 0; i < n; i++)
    if (vaddr - ranges[i].start < ranges[i].end - ranges[i].start)
      return TRUE;
  return FALSE;
}

static gboolean
is_evaluator (const FlamRuntimeProcess *process, guint64 pc)
{
  const FlamRuntimeFile *file = process->file;

  return is_in (file->evaluators, file->n_evaluators, pc - process->base);
}

static gboolean
is_part (const FlamRuntimeProcess *process, guint64 pc)
{
  const FlamRuntimeFile *file = process->file;

  return is_in (file->parts, file->n_parts, pc - process->base);
}

/* The next native frame that runs the evaluator, or n. */
static guint
find_evaluator (Search *search)
{
  while (search->next < search->n &&
         !is_evaluator (search->process, search->pcs[search->next]))
    search->next++;
  return search->next < search->n ? search->next++ : search->n;
}

/* A run may have begun or ended only for the interpreter, or only for the
 * native stack: the evaluator is entered before its frame is in the chain, or
 * after it. That happens at the leaf, so if the root is known, the runs are
 * counted from there. A run beyond the native ones is not shown, as its
 * function does not run yet, or no longer. */
static guint
align_at_root (Search *search,
               const FlamRuntimeItem *items,
               guint from,
               guint to)
{
  guint n_native = 0, n_runs = 0, first = from;

  for (guint i = from; i < to; i++)
    n_runs += items[i].of == NULL && items[i].at == 0;
  if (n_runs == 0)
    return from;
  for (guint i = 0; i < search->n; i++)
    n_native += is_evaluator (search->process, search->pcs[i]);
  for (guint i = n_runs; i < n_native; i++)
    find_evaluator (search);
  for (guint i = from; i < to && n_runs > n_native; i++)
    if (items[i].of == NULL && items[i].at == 0)
      {
        first = i + 1;
        n_runs--;
      }
  return first;
}

static void
put_managed (GArray *mixed, const FlamRuntimeItem *items, guint from, guint to)
{
  for (guint i = from; i < to; i++)
    {
      const FlamRuntimeFunction *function = items[i].of;
      guint32 element = FLAM_MERGED_MANAGED | i;

      if (function != NULL && !function->hidden)
        g_array_append_val (mixed, element);
    }
}

/* Leaves out the parts of an evaluator. */
static void
drop_parts (const Search *search, guint evaluator, guint item, Run *runs)
{
  for (guint i = evaluator; i > 0 && runs[i - 1].to == 0 &&
                            is_part (search->process, search->pcs[i - 1]);
       i--)
    runs[i - 1] = (Run){ item, item };
}

/* Assigns the items [from, to) of one chain to native frames; returns the first
 * item that has no native frame. */
static guint
place_chain (Search *search,
             const FlamRuntimeItem *items,
             guint from,
             guint to,
             Run *runs)
{
  guint first = from;

  for (guint i = from; i < to; i++)
    {
      guint native;

      if (items[i].of != NULL)
        continue;
      native = items[i].at != 0 ? find_by_address (search, items[i].at)
                                : find_evaluator (search);
      if (native == search->n && is_stale (search, items[i].at))
        from = i + 1;
      /* Another chain's frame is not this one's. */
      if (native == search->n ||
          (runs[native].to > 0 && runs[native].from < first))
        continue;
      if (runs[native].to == 0)
        runs[native].from = from;
      runs[native].to = i + 1;
      from = i + 1;
      if (items[i].at == 0)
        drop_parts (search, native, i + 1, runs);
    }
  return from;
}

guint
flam_runtime_merge (const guint64 *pcs,
                    const guint64 *sps,
                    guint n,
                    gboolean whole,
                    const FlamRuntimeItem *items,
                    guint n_items,
                    GArray *mixed)
{
  g_autofree Run *runs = g_new0 (Run, n + 1);
  Run rest[FLAM_RUNTIME_SET_MAX];
  guint n_rests = 0, left = 0;

  g_array_set_size (mixed, 0);
  for (guint at = 0; at < n_items && n_rests < FLAM_RUNTIME_SET_MAX;)
    {
      Search search = { pcs, sps, n, items[at].of, 0, 0, 0 };
      guint from = at + 1, to = from + (guint)items[at].at;

      at = to;
      if (search.process->runtime != NULL && search.process->runtime->labels)
        continue;
      if (whole)
        from = align_at_root (&search, items, from, to);
      rest[n_rests++] =
          (Run){ place_chain (&search, items, from, to, runs), to };
    }
  for (guint i = 0; i < n; i++)
    if (runs[i].to > 0)
      put_managed (mixed, items, runs[i].from, runs[i].to);
    else
      g_array_append_val (mixed, i);
  for (guint i = 0; i < n_rests; i++)
    for (guint j = rest[i].from; j < rest[i].to; j++)
      if (!whole)
        put_managed (mixed, items, j, j + 1);
      else
        left += items[j].of != NULL;
  return left;
}
