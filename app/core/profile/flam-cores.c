/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cores.h"

/* Fewer rows than these take less than a millisecond. */
#define LEAST_ROWS ((gsize)1 << 16)

static gint set_cores;
static gsize set_rows;

void
flam_cores_set (guint cores, gsize least_rows)
{
  g_atomic_int_set (&set_cores, (gint)MIN (cores, FLAM_CORES_MAX));
  g_atomic_pointer_set (&set_rows, least_rows);
}

static guint
count_cores (void)
{
  gint cores = g_atomic_int_get (&set_cores);

  return cores > 0 ? (guint)cores
                   : MIN (g_get_num_processors (), FLAM_CORES_MAX);
}

guint
flam_cores_for (gsize rows)
{
  gsize least = (gsize)g_atomic_pointer_get (&set_rows);

  if (least == 0)
    least = LEAST_ROWS;
  return (guint)CLAMP (rows / least, 1, count_cores ());
}

/* The work of the caller and of the threads that it calls. A thread that comes
 * when all steps are taken leaves at once, and nobody waits for it. */
typedef struct
{
  gint references;
  guint n;
  FlamCoresStep step;
  gpointer data;
  gint next;
  gint done;
  GMutex lock; /* for sleeping until all is done */
  GCond ended;
} Work;

/* ThreadSanitizer sees neither GLib's locks nor its queues: this and the
 * counters of Work order the memory of caller and helpers by themselves. */
static gint hand_overs;

static void
work_unref (Work *work)
{
  if (!g_atomic_int_dec_and_test (&work->references))
    return;
  g_mutex_clear (&work->lock);
  g_cond_clear (&work->ended);
  g_free (work);
}

static void
take_steps (Work *work)
{
  guint done = 0, i;

  for (; (i = (guint)g_atomic_int_add (&work->next, 1)) < work->n; done++)
    work->step (work->data, i);
  if ((guint)g_atomic_int_add (&work->done, (gint)done) + done < work->n)
    return;
  g_mutex_lock (&work->lock);
  g_cond_signal (&work->ended);
  g_mutex_unlock (&work->lock);
}

static void
help (gpointer work, gpointer unused)
{
  g_atomic_int_get (&hand_overs);
  take_steps (work);
  work_unref (work);
}

/* Its threads end when they had nothing to do for a while. */
static GThreadPool *
get_pool (void)
{
  static GThreadPool *pool;

  if (g_once_init_enter (&pool))
    g_once_init_leave (
        &pool, g_thread_pool_new (help, NULL, FLAM_CORES_MAX, FALSE, NULL));
  return pool;
}

void
flam_cores_run (guint n, FlamCoresStep step, gpointer data)
{
  Work *work = g_new0 (Work, 1);

  *work = (Work){ .references = 1, .n = n, .step = step, .data = data };
  g_mutex_init (&work->lock);
  g_cond_init (&work->ended);
  for (guint wanted = MIN (n, count_cores ()); wanted > 1; wanted--)
    {
      g_atomic_int_inc (&work->references);
      g_atomic_int_inc (&hand_overs);
      g_thread_pool_push (get_pool (), work, NULL);
    }
  take_steps (work);
  g_mutex_lock (&work->lock);
  while ((guint)g_atomic_int_get (&work->done) < n)
    g_cond_wait (&work->ended, &work->lock);
  g_mutex_unlock (&work->lock);
  work_unref (work);
}
