/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a thread did at a tick, by the scheduler's stamps and counts. Here /proc
 * is scripted. */

#include "flam-ticks.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

/* Descriptors that are never in use. */
#define OWN 1001
#define ITS 1002
#define OWN_SCHEDSTAT 1003
#define SCHEDSTAT 1004
#define SYSCALL 1005
#define STAT 1006

static char *own, *its, *stat_line;
static const char *syscall_line;

/* Replaces the C library's function. */
ssize_t pread64 (int fd, void *to, size_t size, off_t at);

ssize_t
pread64 (int fd, void *to, size_t size, off_t at)
{
  const char *text = fd == OWN             ? own
                     : fd == ITS           ? its
                     : fd == OWN_SCHEDSTAT ? "5000 1000 7"
                     : fd == SCHEDSTAT     ? "100000 50000 8"
                     : fd == SYSCALL       ? syscall_line
                     : fd == STAT          ? stat_line
                                           : NULL;

  if (text == NULL)
    return -1;
  g_assert_cmpuint (strlen (text), <, size);
  memcpy (to, text, strlen (text));
  return (ssize_t)strlen (text);
}

/* Times in µs. */
static char *
sched_text (gint64 moved_at, gint64 cpu, guint left)
{
  return g_strdup_printf (
      "a (1, #threads: 1)\n"
      "----------------------------------------------------------------\n"
      "se.exec_start                                : %" G_GINT64_FORMAT
      ".%03d000\n"
      "se.sum_exec_runtime                          : %" G_GINT64_FORMAT
      ".%03d000\n"
      "nr_switches                                  : %u\n",
      moved_at / 1000,
      (int)(moved_at % 1000),
      cpu / 1000,
      (int)(cpu % 1000),
      left);
}

/* The thread was put on a CPU 7 times. The tracer took its clock at 500 µs of
 * its CPU time, slept after another 4 µs of it, and was put on its CPU again at
 * 9,000 µs. */
static void
test_look (void)
{
  static const struct
  {
    gint64 own_moved_at, own_cpu, waited;
    gint64 its_moved_at;
    guint its_left;
    FlamAtTick expected;
  } rows[] = {
    { 9000, 504, 0, 5000, 6, FLAM_AT_TICK_ON_CPU },
    /* One switch from the thread to the tracer. */
    { 9000, 504, 0, 9000, 7, FLAM_AT_TICK_PREEMPTED },
    /* The tracer's stamp has moved on by 30 µs, with its CPU time. */
    { 9030, 534, 0, 9000, 7, FLAM_AT_TICK_PREEMPTED },
    /* The thread left its CPU when the tracer was woken. */
    { 9000, 504, 12, 8988, 7, FLAM_AT_TICK_PREEMPTED },
    /* It left its CPU before that, or much later. */
    { 9000, 504, 12, 8900, 7, FLAM_AT_TICK_QUEUED },
    { 9000, 504, 0, 8900, 7, FLAM_AT_TICK_QUEUED },
    { 9000, 504, 0, 9100, 7, FLAM_AT_TICK_QUEUED },
    /* It has stopped since. */
    { 9000, 504, 0, 9100, 8, FLAM_AT_TICK_QUEUED },
    { 9000, 504, 0, 9000, 4, FLAM_AT_TICK_UNKNOWN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      FlamInstant instant = { .sched_fd = OWN,
                              .exact = TRUE,
                              .cpu = 500000,
                              .waited = rows[i].waited * 1000 };
      FlamTask task = { .sched_fd = ITS, .interrupted.count = 7 };

      own = sched_text (rows[i].own_moved_at, rows[i].own_cpu, 1);
      its = sched_text (rows[i].its_moved_at, 100, rows[i].its_left);
      flam_instant_look (&instant, &task);
      g_test_message ("row %u", i);
      g_assert_cmpint (task.at_tick, ==, rows[i].expected);
      g_clear_pointer (&own, g_free);
      g_clear_pointer (&its, g_free);
    }
}

static void
stay_on_this_cpu (void)
{
  cpu_set_t cpus;

  CPU_ZERO (&cpus);
  CPU_SET (sched_getcpu (), &cpus);
  g_assert_cmpint (sched_setaffinity (0, sizeof cpus, &cpus), ==, 0);
}

/* A thread that sleeps; its CPU is the 39th field. */
static char *
stat_text (int cpu)
{
  GString *text = g_string_new ("1 (a) S");

  for (guint i = 4; i < 39; i++)
    g_string_append (text, " 0");
  g_string_append_printf (text, " %d 0", cpu);
  return g_string_free (text, FALSE);
}

/* As in test_look(), but the thread sleeps. */
static void
test_fell_asleep (void)
{
  static const struct
  {
    gint64 waited, its_moved_at;
    guint its_left;
    int away; /* from this CPU */
    gboolean expected;
  } rows[] = {
    /* The tracer waited until the thread slept. */
    { 12, 9000, 7, 0, TRUE },
    /* It had this CPU at once: the thread had left before. */
    { 0, 9000, 7, 0, FALSE },
    /* The tracer waited for another thread. */
    { 12, 8900, 7, 0, FALSE },
    { 12, 9000, 7, 1, FALSE },
    /* It has been on a CPU since then. */
    { 12, 9000, 8, 0, FALSE },
  };

  stay_on_this_cpu ();
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      FlamInstant instant = { .sched_fd = OWN,
                              .exact = TRUE,
                              .cpu = 500000,
                              .waited = rows[i].waited * 1000 };
      FlamTask task = { .sched_fd = ITS,
                        .stat_fd = STAT,
                        .interrupted.count = 7 };

      own = sched_text (9000, 504, 1);
      its = sched_text (rows[i].its_moved_at, 100, rows[i].its_left);
      stat_line = stat_text (sched_getcpu () + rows[i].away);
      g_test_message ("row %u", i);
      g_assert_cmpint (
          flam_instant_fell_asleep (&instant, &task), ==, rows[i].expected);
      g_clear_pointer (&own, g_free);
      g_clear_pointer (&its, g_free);
      g_clear_pointer (&stat_line, g_free);
    }
}

/* An INTERRUPT was sent to a thread that waited for a CPU in the kernel; at a
 * later tick, it runs on another CPU, still waits, or has run and sleeps. */
static void
test_aim_again (void)
{
  static const struct
  {
    const char *syscall;
    guint left;
    FlamAtTick expected;
  } rows[] = {
    { "running\n", 7, FLAM_AT_TICK_ON_CPU },
    { "running\n", 8, FLAM_AT_TICK_QUEUED },
    { "7 0x1 0x1 0x0 0x0 0x0 0x0 0x7ff0 0x5550\n", 7, FLAM_AT_TICK_QUEUED },
  };
  static const FlamRecordOptions options = { .what = FLAM_RECORD_CPU };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      FlamTarget target = { 0 };
      FlamTask task = { .target = &target,
                        .schedstat_fd = SCHEDSTAT,
                        .syscall_fd = SYSCALL,
                        .stat_fd = STAT,
                        .sched_fd = ITS,
                        .pending = TRUE,
                        .at_tick = FLAM_AT_TICK_QUEUED,
                        .interrupted.count = 5 };
      FlamTracer tracer = { .options = &options,
                            .tasks.list = g_ptr_array_new (),
                            .due = g_ptr_array_new (),
                            .instant = { .fd = OWN_SCHEDSTAT,
                                         .sched_fd = OWN,
                                         .queued = 1000,
                                         .exact = TRUE } };

      g_ptr_array_add (tracer.tasks.list, &task);
      own = sched_text (9000, 504, 1);
      its = sched_text (5000, 100, rows[i].left);
      stat_line = stat_text (0);
      syscall_line = rows[i].syscall;
      g_test_message ("row %u", i);
      g_assert_cmpuint (flam_ticks_take (&tracer, G_MAXINT64), ==, 0);
      g_assert_cmpint (task.at_tick, ==, rows[i].expected);
      g_assert_cmpuint (task.interrupted.count,
                        ==,
                        task.at_tick == FLAM_AT_TICK_ON_CPU ? 8 : 5);
      g_clear_pointer (&own, g_free);
      g_clear_pointer (&its, g_free);
      g_clear_pointer (&stat_line, g_free);
      g_ptr_array_unref (tracer.tasks.list);
      g_ptr_array_unref (tracer.due);
    }
}

/* The thread stopped at 9,000 µs, which put the tracer on that CPU. The tracer
 * handles the stop and continues the thread, which now waits for that CPU, and
 * a tick is due before the tracer sleeps: at this tick, the thread was not
 * running. */
static void
test_after_stop (void)
{
  FlamInstant instant = { .sched_fd = OWN, .exact = TRUE };
  FlamTask task = { .sched_fd = ITS, .interrupted.count = 7 };
  gint64 before = flam_instant_own_cpu () / 1000;

  instant.cpu = before * 1000;
  for (gint64 cpu = 0; cpu < 40000 + before * 1000;)
    cpu = flam_instant_own_cpu ();
  flam_instant_resumed (&instant);
  own = sched_text (9000, before, 1);
  its = sched_text (9000, 100, 7);
  flam_instant_look (&instant, &task);
  g_assert_cmpint (task.at_tick, ==, FLAM_AT_TICK_QUEUED);
  g_clear_pointer (&own, g_free);
  g_clear_pointer (&its, g_free);
}

/* A tracer without priority: a tick for which it had to wait for a CPU is not a
 * random instant. */
static void
test_late (void)
{
  static const struct
  {
    gboolean first;
    gint64 waited;
    gboolean random;
  } rows[] = {
    { FALSE, 0, TRUE },
    { FALSE, 14000, TRUE },
    { FALSE, 16000, FALSE },
    { TRUE, 16000, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      FlamInstant instant = {
        .fd = OWN, .sched_fd = -1, .queued = 1000, .first = rows[i].first
      };

      own = g_strdup_printf ("5000 %" G_GINT64_FORMAT " 7",
                             1000 + rows[i].waited);
      g_test_message ("row %u", i);
      g_assert_cmpint (
          flam_instant_begin (&instant, 1000000), ==, rows[i].random);
      g_clear_pointer (&own, g_free);
    }
}

/* Ticks that cost 1 ms of CPU time come every 3 ms in the mean, whenever the
 * last one was. */
static void
test_cost (void)
{
  FlamTracer tracer = { .period = 200000, .tick_cost = 1000000 };
  /* The clock is at the beginning of the recording. */
  tracer.origin = flam_tracer_now (&tracer) + 1000000000000;
  for (guint i = 0; i < 10000; i++)
    flam_ticks_plan (&tracer, FALSE);
  g_assert_cmpint (tracer.next_tick, >, 10000 * 2850000ll);
  g_assert_cmpint (tracer.next_tick, <, 10000 * 3150000ll);
}

/* 3 sleeps of the tracer took 30 µs of CPU time: 1,000 of others hide half of
 * 10 ms. */
static void
test_unseen (void)
{
  FlamInstant instant = { .waits_cpu = 30000, .n_waits = 3 };
  FlamInstant none = { 0 };

  g_assert_cmpint (flam_instant_unseen (&instant, 1000), ==, 5000000);
  g_assert_cmpint (flam_instant_unseen (&none, 1000), ==, 0);
  instant.cpu = flam_instant_own_cpu () - 40000;
  flam_instant_woke (&instant);
  g_assert_cmpint (instant.waits_cpu, >=, 70000);
  g_assert_cmpuint (instant.n_waits, ==, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/instant/look", test_look);
  g_test_add_func ("/instant/fell-asleep", test_fell_asleep);
  g_test_add_func ("/instant/aim-again", test_aim_again);
  g_test_add_func ("/instant/after-stop", test_after_stop);
  g_test_add_func ("/instant/late", test_late);
  g_test_add_func ("/instant/cost", test_cost);
  g_test_add_func ("/instant/unseen", test_unseen);
  return g_test_run ();
}
