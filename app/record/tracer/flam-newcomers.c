/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-newcomers.h"

#include <poll.h>
#include <unistd.h>

#include "flam-commands.h"
#include "flam-proc.h"

#define EVERY (100 * 1000000ll) /* ns */
/* In steps: a child of a recorded process is one of its tasks by then, and a
 * service's process has been put into its group. */
#define LEAST_AGE 2
#define MOST_AGE 10
/* The manager of a service may pause before it starts it again. */
#define PATIENCE (2 * 1000000000ll)
#define WAIT_MS 20

struct _FlamNewcomers
{
  GHashTable *known; /* pid -> the step at which it was first seen */
  gint64 next;
  gint64 last; /* number of the last process */
  guint step;
  guint young_until; /* step */
};

void
flam_newcomers_free (FlamNewcomers *newcomers)
{
  if (newcomers == NULL)
    return;
  g_hash_table_unref (newcomers->known);
  g_free (newcomers);
}

static guint
age_of (FlamNewcomers *newcomers, pid_t pid)
{
  gpointer key = GINT_TO_POINTER (pid), first;

  if (!g_hash_table_lookup_extended (newcomers->known, key, NULL, &first))
    g_hash_table_insert (
        newcomers->known, key, first = GUINT_TO_POINTER (newcomers->step));
  return newcomers->step - GPOINTER_TO_UINT (first);
}

/* Numbers are used again. */
static void
forget_ended (FlamNewcomers *newcomers, const GArray *all)
{
  g_autoptr (GHashTable) alive = g_hash_table_new (NULL, NULL);
  GHashTableIter iter;
  gpointer key;

  for (guint i = 0; i < all->len; i++)
    g_hash_table_add (alive,
                      GINT_TO_POINTER (g_array_index (all, FlamKin, i).pid));
  g_hash_table_iter_init (&iter, newcomers->known);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (!g_hash_table_contains (alive, key))
      g_hash_table_iter_remove (&iter);
}

static GArray *
find (FlamNewcomers *newcomers, const FlamTracer *tracer)
{
  g_autoptr (GArray) all = flam_proc_all ();
  GArray *found = g_array_new (FALSE, FALSE, sizeof (FlamKin));

  forget_ended (newcomers, all);
  for (guint i = 0; i < all->len; i++)
    {
      const FlamKin *kin = &g_array_index (all, FlamKin, i);
      guint age = age_of (newcomers, kin->pid);

      if (age >= LEAST_AGE && age <= MOST_AGE && kin->pid != getpid () &&
          !g_hash_table_contains (tracer->tasks.by_pid,
                                  GINT_TO_POINTER (kin->pid)) &&
          flam_tracer_kin_has (&tracer->kin, kin->pid))
        g_array_append_val (found, *kin);
    }
  return found;
}

static void
begin (FlamTracer *tracer, pid_t pid)
{
  for (guint i = 0; i < tracer->tasks.list->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, i);

      if (task->target->pid == pid)
        task->target->chosen = TRUE;
      if (task->target->pid == pid && !tracer->tasks.without_proc)
        flam_launch_exec_begin_thread (tracer, task);
    }
}

/* Those that were there at the beginning and are not recorded had a reason. */
static void
start (FlamTracer *tracer)
{
  g_autoptr (GArray) all = flam_proc_all ();
  FlamNewcomers *newcomers = g_new0 (FlamNewcomers, 1);

  newcomers->known = g_hash_table_new (NULL, NULL);
  newcomers->step = MOST_AGE + 1;
  for (guint i = 0; i < all->len; i++)
    g_hash_table_insert (newcomers->known,
                         GINT_TO_POINTER (g_array_index (all, FlamKin, i).pid),
                         GUINT_TO_POINTER (0));
  tracer->newcomers = newcomers;
}

GArray *
flam_newcomers_look (FlamTracer *tracer, FlamAttach attach, gpointer data)
{
  g_autoptr (GArray) found = NULL;
  g_autoptr (GArray) pids = NULL;
  gint64 now = flam_tracer_now (tracer), last;

  if (tracer->kin.groups == NULL || !tracer->options->follow ||
      tracer->stopping)
    return NULL;
  if (tracer->newcomers == NULL)
    start (tracer);
  if (now < tracer->newcomers->next)
    return NULL;
  tracer->newcomers->next = now + EVERY;
  tracer->newcomers->step++;
  last = flam_proc_last ();
  if (last != tracer->newcomers->last)
    tracer->newcomers->young_until = tracer->newcomers->step + MOST_AGE + 1;
  tracer->newcomers->last = last;
  if (tracer->newcomers->step >= tracer->newcomers->young_until)
    return NULL;
  found = find (tracer->newcomers, tracer);
  pids = g_array_new (FALSE, FALSE, sizeof (pid_t));
  for (guint i = 0; i < found->len; i++)
    {
      const FlamKin *kin = &g_array_index (found, FlamKin, i);

      if (!attach (data, kin->pid, kin->parent, NULL))
        continue;
      begin (tracer, kin->pid);
      g_array_append_val (pids, kin->pid);
    }
  return pids->len > 0 ? g_steal_pointer (&pids) : NULL;
}

GArray *
flam_newcomers_wait (FlamTracer *tracer, FlamAttach attach, gpointer data)
{
  gint64 now = flam_tracer_now (tracer), until = now + PATIENCE;
  sigset_t mask;

  if (tracer->kin.groups == NULL || !tracer->options->follow)
    return NULL;
  flam_commands_get_open_mask (&mask);
  for (; !tracer->stopping && now < until; now = flam_tracer_now (tracer))
    {
      GArray *pids = flam_newcomers_look (tracer, attach, data);
      struct pollfd polled = {
        tracer->control->closed ? -1 : tracer->control->fd, POLLIN, 0
      };
      struct timespec timeout = { 0, WAIT_MS * 1000000l };

      if (pids != NULL)
        return pids;
      if (ppoll (&polled, 1, &timeout, &mask) > 0)
        flam_commands_handle (tracer);
      flam_commands_check (tracer, now);
    }
  return NULL;
}
