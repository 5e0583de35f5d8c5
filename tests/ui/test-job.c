/* SPDX-License-Identifier: GPL-3.0-or-later */

/* For the main loop, cancelling takes effect at once, however long the worker
 * takes to notice; the worker notices at its next step. */

#include "flam-job.h"

#include <gio/gio.h>

/* Communication between one run's worker and the test; all of it atomic. */
typedef struct
{
  gint waiting; /* the worker has begun */
  gint let_go;  /* it may end */
  gint stepped; /* steps after which the worker noticed the request to stop */
  gint ended;
  gint freed; /* inputs */
  gint done;
} Shared;

/* Called by the last owner of the run: the main loop, or the worker, in which
 * case the main loop is not woken. */
static void
free_input (gpointer data)
{
  g_atomic_int_inc (&((Shared *)data)->freed);
}

/* Ignores requests until it is released; then it checks. */
static gpointer
deaf_work (gpointer data, const FlamProgress *progress, GError **error)
{
  Shared *shared = data;

  g_atomic_int_set (&shared->waiting, 1);
  while (!g_atomic_int_get (&shared->let_go))
    g_usleep (200);
  while (flam_progress_step (progress, 0.5, error) &&
         g_atomic_int_get (&shared->stepped) < 1000)
    g_atomic_int_inc (&shared->stepped);
  g_atomic_int_set (&shared->ended, 1);
  return NULL;
}

static gpointer
quick_work (gpointer data, const FlamProgress *progress, GError **error)
{
  return g_strdup ("result");
}

static void
count_done (gpointer result, const GError *error, gpointer data)
{
  g_atomic_int_inc (&((Shared *)data)->done);
  g_free (result);
}

/* Never blocks in the main loop, since the awaited event need not wake it. */
static void
wait_for (gint *flag)
{
  while (!g_atomic_int_get (flag))
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (200);
}

static void
test_cancel (void)
{
  g_autoptr (FlamJob) job = flam_job_new ();
  Shared deaf = { 0 };
  Shared quick = { 0 };

  flam_job_start (job, deaf_work, &deaf, free_input, g_free, count_done, &deaf);
  wait_for (&deaf.waiting);
  g_assert_true (flam_job_is_busy (job));
  g_assert_false (flam_job_is_slow (job));

  /* Not a single iteration of the main loop, with a worker that does not
   * react. */
  flam_job_cancel (job);
  g_assert_false (flam_job_is_busy (job));
  g_assert_false (flam_job_is_slow (job));
  g_assert_false (g_atomic_int_get (&deaf.ended));

  /* The slot is free: the next run does not wait for the last one. */
  flam_job_start (
      job, quick_work, &quick, free_input, g_free, count_done, &quick);
  while (flam_job_is_busy (job))
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (g_atomic_int_get (&quick.done), ==, 1);
  g_assert_false (g_atomic_int_get (&deaf.ended));

  /* After its release, the first one notices at its first step, and never
   * reports completion. */
  g_atomic_int_set (&deaf.let_go, 1);
  wait_for (&deaf.ended);
  g_assert_cmpint (g_atomic_int_get (&deaf.stepped), ==, 0);
  wait_for (&deaf.freed);
  g_assert_cmpint (g_atomic_int_get (&deaf.freed), ==, 1);
  /* Its end reaches the main loop later, when nobody waits for it. */
  for (guint i = 0; i < 100; i++)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
  g_assert_cmpint (g_atomic_int_get (&deaf.done), ==, 0);
  g_assert_cmpint (g_atomic_int_get (&quick.done), ==, 1);
}

static void
count_look (guint *looks)
{
  (*looks)++;
}

/* Starting again also cancels. */
static void
test_restart (void)
{
  g_autoptr (FlamJob) job = flam_job_new ();
  Shared first = { 0 };
  Shared second = { 0 };

  flam_job_start (
      job, deaf_work, &first, free_input, g_free, count_done, &first);
  wait_for (&first.waiting);
  flam_job_start (
      job, quick_work, &second, free_input, g_free, count_done, &second);
  wait_for (&second.done);
  g_assert_cmpint (g_atomic_int_get (&first.done), ==, 0);
  g_atomic_int_set (&first.let_go, 1);
  wait_for (&first.freed);
  g_assert_cmpint (g_atomic_int_get (&first.done), ==, 0);
}

/* After three checks of its progress, which are 100 ms apart, a run is slow. */
static void
test_slow (void)
{
  g_autoptr (FlamJob) job = flam_job_new ();
  Shared deaf = { 0 };
  guint looks = 0;

  g_signal_connect_swapped (
      job, "notify::fraction", G_CALLBACK (count_look), &looks);
  flam_job_start (job, deaf_work, &deaf, free_input, g_free, count_done, &deaf);
  g_assert_cmpuint (looks, ==, 1); /* it is 0 now */
  while (!flam_job_is_slow (job))
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (looks, ==, 4);
  flam_job_cancel (job);
  g_assert_false (flam_job_is_slow (job));
  g_atomic_int_set (&deaf.let_go, 1);
  wait_for (&deaf.freed);
}

/* Takes the job's results, and how many of them were parts. */
typedef struct
{
  FlamJob *job;
  GString *results;
  guint n_parts;
} Taken;

static void
take_result (gpointer result, const GError *error, gpointer data)
{
  Taken *taken = data;

  taken->n_parts += flam_job_is_busy (taken->job);
  g_string_append (taken->results, result);
  g_free (result);
}

static gpointer
growing_work (gpointer data, const FlamProgress *progress, GError **error)
{
  flam_job_hand_over (progress, g_strdup ("a"));
  flam_job_hand_over (progress, g_strdup ("b"));
  if (data != NULL)
    g_atomic_int_set (&((Shared *)data)->ended, 1);
  return g_strdup ("c");
}

/* Parts arrive before the result, and not after the run was cancelled. */
static void
test_parts (void)
{
  g_autoptr (FlamJob) job = flam_job_new ();
  g_autoptr (GString) results = g_string_new (NULL);
  Taken taken = { job, results };
  Shared late = { 0 };

  flam_job_start (job, growing_work, NULL, NULL, g_free, take_result, &taken);
  while (flam_job_is_busy (job))
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpstr (results->str, ==, "abc");
  g_assert_cmpuint (taken.n_parts, ==, 2);

  flam_job_start (job, growing_work, &late, NULL, g_free, take_result, &taken);
  while (!g_atomic_int_get (&late.ended))
    g_usleep (200);
  flam_job_cancel (job);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpstr (results->str, ==, "abc");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/job/cancel", test_cancel);
  g_test_add_func ("/job/restart", test_restart);
  g_test_add_func ("/job/slow", test_slow);
  g_test_add_func ("/job/parts", test_parts);
  return g_test_run ();
}
