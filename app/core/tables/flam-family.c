/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-family.h"

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

/* Down to the first child, on to the next sibling, up when there is none. From
 * a root without a parent this is a tree: nothing has two parents. */
static void
add_descendants (FlamFamily *family,
                 const FlamProcesses *processes,
                 Children *children,
                 FlamId root)
{
  FlamId process = root;
  guint32 depth = 0;

  while (process != FLAM_NONE)
    {
      FlamId child = children->first[process];

      children->seen[process] = TRUE;
      family->process[family->n] = process;
      family->depth[family->n++] = depth;
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
order_processes (FlamFamily *family, const FlamProcesses *processes)
{
  g_autofree FlamId *first = g_new (FlamId, (gsize)processes->n + 1);
  g_autofree FlamId *next = g_new (FlamId, (gsize)processes->n + 1);
  g_autofree guint8 *seen = g_new0 (guint8, (gsize)processes->n + 1);
  Children children = { first, next, seen };

  find_children (processes, &children);
  for (FlamId i = 0; i < processes->n; i++)
    if (processes->parent[i] == FLAM_NONE)
      add_descendants (family, processes, &children, i);
  /* What is its own ancestor, as a damaged capture may say, stands alone. */
  for (FlamId i = 0; i < processes->n; i++)
    if (!seen[i])
      {
        family->process[family->n] = i;
        family->depth[family->n++] = 0;
      }
}

/* The first row after each that is not deeper. */
static void
find_ends (FlamFamily *family)
{
  for (guint32 row = family->n; row-- > 0;)
    {
      guint32 end = row + 1;

      while (end < family->n && family->depth[end] > family->depth[row])
        end = family->end[end];
      family->end[row] = end;
    }
}

static void
sort_threads (FlamFamily *family, const FlamProfile *profile)
{
  const FlamThreads *threads = &profile->threads;
  g_autofree guint32 *row_of = g_new (guint32, (gsize)family->n + 1);
  g_autofree guint32 *fill = NULL;

  for (guint32 row = 0; row < family->n; row++)
    row_of[family->process[row]] = row;
  for (FlamId i = 0; i < threads->n; i++)
    family->first_thread[row_of[threads->process[i]] + 1]++;
  for (guint32 row = 0; row < family->n; row++)
    family->first_thread[row + 1] += family->first_thread[row];
  fill =
      g_memdup2 (family->first_thread, ((gsize)family->n + 1) * sizeof *fill);
  for (FlamId i = 0; i < threads->n; i++)
    family->threads[fill[row_of[threads->process[i]]]++] = i;
}

static void
list_names (FlamFamily *family, const FlamProfile *profile)
{
  const FlamFormerNames *former = &profile->former_names;

  for (FlamId i = 0; i < profile->processes.n; i++)
    family->process_former[i] = FLAM_NONE;
  for (FlamId i = 0; i < profile->threads.n; i++)
    family->thread_former[i] = FLAM_NONE;
  for (FlamId i = former->n; i-- > 0;)
    {
      FlamId *head = former->thread[i] != FLAM_NONE
                         ? &family->thread_former[former->thread[i]]
                         : &family->process_former[former->process[i]];

      family->next_former[i] = *head;
      *head = i;
    }
}

FlamFamily *
flam_family_new (const FlamProfile *profile)
{
  FlamFamily *family = g_atomic_rc_box_new0 (FlamFamily);
  gsize n_processes = profile->processes.n;
  gsize n_threads = profile->threads.n;

  family->process = g_new (FlamId, n_processes + 1);
  family->depth = g_new (guint32, n_processes + 1);
  family->end = g_new (guint32, n_processes + 1);
  family->first_thread = g_new0 (guint32, n_processes + 2);
  family->threads = g_new (FlamId, n_threads + 1);
  family->process_former = g_new (FlamId, n_processes + 1);
  family->thread_former = g_new (FlamId, n_threads + 1);
  family->next_former = g_new (FlamId, (gsize)profile->former_names.n + 1);
  order_processes (family, &profile->processes);
  find_ends (family);
  sort_threads (family, profile);
  list_names (family, profile);
  return family;
}

static void
clear (gpointer data)
{
  FlamFamily *family = data;

  g_free (family->process);
  g_free (family->depth);
  g_free (family->end);
  g_free (family->first_thread);
  g_free (family->threads);
  g_free (family->process_former);
  g_free (family->thread_former);
  g_free (family->next_former);
}

FlamFamily *
flam_family_ref (FlamFamily *family)
{
  return g_atomic_rc_box_acquire (family);
}

void
flam_family_unref (FlamFamily *family)
{
  g_atomic_rc_box_release_full (family, clear);
}
