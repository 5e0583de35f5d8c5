/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-process-tree.h"

/* Children of each process as lists: the first of each, and the next sibling;
 * both in the profile's order. */
typedef struct
{
  FlamId *first;
  FlamId *next;
  guint8 *seen;
} Children;

static void
find_children (const FlamProcesses *processes, Children *children)
{
  for (FlamId i = 0; i < processes->n; i++)
    children->first[i] = children->next[i] = FLAM_NONE;
  for (FlamId i = processes->n; i-- > 0;)
    {
      FlamId parent = processes->parent[i];

      if (parent == FLAM_NONE || parent == i)
        continue;
      children->next[i] = children->first[parent];
      children->first[parent] = i;
    }
}

/* Goes to the first child, on to the next sibling, or up if there is none. From
 * a root without a parent this is a tree: no process has two parents. */
static void
add_descendants (FlamProcessTree *process_tree,
                 const FlamProcesses *processes,
                 Children *children,
                 FlamId root)
{
  FlamProcessId process = root;
  guint32 depth = 0;

  while (process != FLAM_NONE)
    {
      FlamProcessId child = children->first[process];

      children->seen[process] = TRUE;
      process_tree->process[process_tree->n] = process;
      process_tree->depth[process_tree->n++] = depth;
      if (child != FLAM_NONE)
        {
          process = child;
          depth++;
          continue;
        }
      while (process != root && children->next[process] == FLAM_NONE)
        {
          process = processes->parent[process];
          depth--;
        }
      process = process == root ? FLAM_NONE : children->next[process];
    }
}

static void
order_processes (FlamProcessTree *process_tree, const FlamProcesses *processes)
{
  g_autofree FlamId *first = g_new (FlamId, (gsize)processes->n + 1);
  g_autofree FlamId *next = g_new (FlamId, (gsize)processes->n + 1);
  g_autofree guint8 *seen = g_new0 (guint8, (gsize)processes->n + 1);
  Children children = { first, next, seen };

  find_children (processes, &children);
  for (FlamId i = 0; i < processes->n; i++)
    if (processes->parent[i] == FLAM_NONE)
      add_descendants (process_tree, processes, &children, i);
  /* A process that is its own ancestor, as in a damaged capture, is a root. */
  for (FlamId i = 0; i < processes->n; i++)
    if (!seen[i])
      {
        process_tree->process[process_tree->n] = i;
        process_tree->depth[process_tree->n++] = 0;
      }
}

/* The first following row that is not deeper. */
static void
find_ends (FlamProcessTree *process_tree)
{
  for (guint32 row = process_tree->n; row-- > 0;)
    {
      guint32 end = row + 1;

      while (end < process_tree->n &&
             process_tree->depth[end] > process_tree->depth[row])
        end = process_tree->end[end];
      process_tree->end[row] = end;
    }
}

static void
sort_threads (FlamProcessTree *process_tree, const FlamProfile *profile)
{
  const FlamThreads *threads = &profile->threads;
  g_autofree guint32 *row_of = g_new (guint32, (gsize)process_tree->n + 1);
  g_autofree guint32 *fill = NULL;

  for (guint32 row = 0; row < process_tree->n; row++)
    row_of[process_tree->process[row]] = row;
  for (FlamId i = 0; i < threads->n; i++)
    process_tree->first_thread[row_of[threads->process[i]] + 1]++;
  for (guint32 row = 0; row < process_tree->n; row++)
    process_tree->first_thread[row + 1] += process_tree->first_thread[row];
  fill = g_memdup2 (process_tree->first_thread,
                    ((gsize)process_tree->n + 1) * sizeof *fill);
  for (FlamId i = 0; i < threads->n; i++)
    process_tree->threads[fill[row_of[threads->process[i]]]++] = i;
}

static void
list_names (FlamProcessTree *process_tree, const FlamProfile *profile)
{
  const FlamFormerNames *former = &profile->former_names;

  for (FlamId i = 0; i < profile->processes.n; i++)
    process_tree->process_former[i] = FLAM_NONE;
  for (FlamId i = 0; i < profile->threads.n; i++)
    process_tree->thread_former[i] = FLAM_NONE;
  for (FlamId i = former->n; i-- > 0;)
    {
      FlamId *head = former->thread[i] != FLAM_NONE
                         ? &process_tree->thread_former[former->thread[i]]
                         : &process_tree->process_former[former->process[i]];

      process_tree->next_former[i] = *head;
      *head = i;
    }
}

FlamProcessTree *
flam_process_tree_new (const FlamProfile *profile)
{
  FlamProcessTree *process_tree = g_atomic_rc_box_new0 (FlamProcessTree);
  gsize n_processes = profile->processes.n;
  gsize n_threads = profile->threads.n;

  process_tree->process = g_new (FlamId, n_processes + 1);
  process_tree->depth = g_new (guint32, n_processes + 1);
  process_tree->end = g_new (guint32, n_processes + 1);
  process_tree->first_thread = g_new0 (guint32, n_processes + 2);
  process_tree->threads = g_new (FlamId, n_threads + 1);
  process_tree->process_former = g_new (FlamId, n_processes + 1);
  process_tree->thread_former = g_new (FlamId, n_threads + 1);
  process_tree->next_former =
      g_new (FlamId, (gsize)profile->former_names.n + 1);
  order_processes (process_tree, &profile->processes);
  find_ends (process_tree);
  sort_threads (process_tree, profile);
  list_names (process_tree, profile);
  return process_tree;
}

static void
clear (gpointer data)
{
  FlamProcessTree *process_tree = data;

  g_free (process_tree->process);
  g_free (process_tree->depth);
  g_free (process_tree->end);
  g_free (process_tree->first_thread);
  g_free (process_tree->threads);
  g_free (process_tree->process_former);
  g_free (process_tree->thread_former);
  g_free (process_tree->next_former);
}

FlamProcessTree *
flam_process_tree_ref (FlamProcessTree *process_tree)
{
  return g_atomic_rc_box_acquire (process_tree);
}

void
flam_process_tree_unref (FlamProcessTree *process_tree)
{
  g_atomic_rc_box_release_full (process_tree, clear);
}
