/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The content of /proc about a thread, whatever its name is, and its
 * consequences. */

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "flam-tasks.h"
#include "flam-wall.h"

static void
pin (int cpu)
{
  cpu_set_t set;

  CPU_ZERO (&set);
  CPU_SET (cpu, &set);
  g_assert_cmpint (sched_setaffinity (0, sizeof set, &set), ==, 0);
}

/* The thread reads on which CPU it runs, on each CPU that it may run on. */
static void
test_cpu (void)
{
  FlamPipe pipe;
  FlamTasks tasks;
  FlamTask *task;
  FlamTarget *target;
  cpu_set_t allowed;

  prctl (PR_SET_NAME, "a) R 1 2 (3");
  flam_pipe_init (&pipe);
  flam_tasks_init (&tasks, &pipe);
  task = flam_tasks_add (
      &tasks, getpid (), 0, getpid (), FLAM_BIRTH_EARLIER, NULL, 0);
  target = task->target;
  g_assert_cmpint (sched_getaffinity (0, sizeof allowed, &allowed), ==, 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET (cpu, &allowed))
      {
        pin (cpu);
        g_assert_cmpint (flam_task_read_cpu (task), ==, cpu);
      }
  flam_tasks_reopen (task);
  g_assert_cmpint (flam_task_read_cpu (task), ==, sched_getcpu ());
  flam_tasks_remove (&tasks, task, FALSE, 1);
  g_free (target);
  g_free (task);
  flam_tasks_clear (&tasks);
  flam_pipe_clear (&pipe);
}

/* As written by Linux 6.18; a name may contain all the lines of another
 * file. */
static void
test_switches (void)
{
  static const char text[] =
      "a\nnr_switches:9 (10010, #threads: 1)\n"
      "----------------------------------------------------------------\n"
      "se.exec_start                                :        649013.885036\n"
      "se.vruntime                                  :         56625.706164\n"
      "se.sum_exec_runtime                          :            36.507123\n"
      "se.nr_migrations                             :                    0\n"
      "nr_switches                                  :                   37\n"
      "nr_voluntary_switches                        :                   30\n";
  static const char *const bad[] = {
    "",
    "a (1, #threads: 1)\nse.exec_start : 1.0\nnr_switches : 1\n",
    "a\n------------------\nse.exec_start \nx : 1\nnr_switches : 1\n",
    "a\n----------------------------------------\nse.exec_start : 1.000000\n",
  };
  FlamSwitches switches;

  g_assert_true (flam_proc_parse_switches (text, &switches));
  g_assert_cmpint (switches.moved_at, ==, 649013885036);
  g_assert_cmpint (switches.cpu, ==, 36507123);
  g_assert_cmpuint (switches.left, ==, 37);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (flam_proc_parse_switches (bad[i], &switches));
}

/* The scheduler's counts of the reading thread, which is on a CPU: it was put
 * on a CPU once more than it left one. */
static void
test_on_cpu (void)
{
  FlamPipe pipe;
  FlamTasks tasks;
  FlamTask *task;
  FlamTarget *target;
  FlamSwitches switches;
  FlamSchedstat before, after;

  flam_pipe_init (&pipe);
  flam_tasks_init (&tasks, &pipe);
  task = flam_tasks_add (
      &tasks, getpid (), 0, getpid (), FLAM_BIRTH_EARLIER, NULL, 0);
  target = task->target;
  if (!flam_task_read_switches (task, &switches))
    g_test_skip ("no /proc/PID/sched in this kernel");
  else
    for (guint i = 0; i < 1000; i++)
      {
        g_assert_true (flam_task_read_schedstat (task, &before));
        g_assert_true (flam_task_read_switches (task, &switches));
        g_assert_true (flam_task_read_schedstat (task, &after));
        g_assert_cmpuint (switches.left + 1, >=, before.count);
        g_assert_cmpuint (switches.left + 1, <=, after.count);
      }
  flam_tasks_remove (&tasks, task, FALSE, 1);
  g_free (target);
  g_free (task);
  flam_tasks_clear (&tasks);
  flam_pipe_clear (&pipe);
}

/* Lines of /proc/PID/syscall and /proc/PID/wchan as Linux 6.18 writes them. */
static void
test_waits (void)
{
  static const struct
  {
    const char *line, *channel;
    FlamState state;
  } waits[] = {
    { "230 0x0 0x0 0x7ffd 0x7ffd 0x0 0x7ff7 0x7ffda20 0x7f4545",
      NULL,
      FLAM_STATE_SLEEP },
    { "219 0x0 0x0 0x7ffd 0x7ffd 0x0 0x7ff7 0x7ffda20 0x7f4545",
      "do_syscall_64",
      FLAM_STATE_SLEEP },
    { "219 0x0 0x0 0x7ffd 0x7ffd 0x0 0x7ff7 0x7ffda20 0x7f4545",
      "hrtimer_nanosleep",
      FLAM_STATE_SLEEP },
    { "219 0x0 0x0 0x4b0 0x7f44 0x0 0x7ff7 0x7f44ea0 0x7f426f",
      "poll_schedule_timeout.constprop.0",
      FLAM_STATE_IO },
    { "219 0x7f44 0x189 0x0 0x7f48 0x0 0xffffffff 0x7f44d40 0x7f48f16",
      "futex_do_wait",
      FLAM_STATE_LOCK },
    { "219 0x7f44 0x189 0x0 0x7f48 0x0 0xffffffff 0x7f44d40 0x7f48f16",
      "0",
      FLAM_STATE_BLOCKED },
    { "-1 0x7f44d40 0x7f48f16", NULL, FLAM_STATE_IO },
  };

  for (guint i = 0; i < G_N_ELEMENTS (waits); i++)
    {
      FlamBlocked blocked;

      g_assert_true (flam_blocked_parse (waits[i].line, &blocked));
      g_assert_cmpint (
          blocked.continues, ==, g_str_has_prefix (waits[i].line, "219 "));
      g_assert_cmpint (blocked.continues ? flam_channel_state (waits[i].channel)
                                         : flam_blocked_state (&blocked),
                       ==,
                       waits[i].state);
    }
}

/* Functions of Linux 6.18, on the way from do_syscall_64 to schedule. The
 * compiler leaves out those that only call another one. */
static void
test_kernel_waits (void)
{
  static const struct
  {
    const char *function;
    FlamState state;
  } waits[] = {
    { "__x64_sys_futex", FLAM_STATE_LOCK },
    { "__arm64_sys_nanosleep", FLAM_STATE_SLEEP },
    { "ksys_read", FLAM_STATE_IO },
    { "do_readv", FLAM_STATE_IO },
    { "___sys_recvmsg", FLAM_STATE_IO },
    { "__sys_accept4", FLAM_STATE_IO },
    { "__do_sys_flock", FLAM_STATE_LOCK },
    { "__do_sys_pause", FLAM_STATE_SLEEP },
    { "__do_semtimedop", FLAM_STATE_LOCK },
    { "do_msgrcv", FLAM_STATE_IO },
    { "__x64_sys_wait4", FLAM_STATE_BLOCKED },
    { "do_wait", FLAM_STATE_BLOCKED },
    { "schedule", FLAM_STATE_BLOCKED },
    { "", FLAM_STATE_BLOCKED },
  };

  for (guint i = 0; i < G_N_ELEMENTS (waits); i++)
    g_assert_cmpint (
        flam_function_state (waits[i].function), ==, waits[i].state);
}

/* The division of a thread's time after a check at 0, when it was running and
 * its count was 7. */
static void
test_wall (void)
{
  static const struct
  {
    gint64 now;
    FlamSchedstat stat;
    gboolean asleep;
    gint64 ran, queued, slept;
  } looks[] = {
    /* It ran all the time except during the stop. */
    { 1000000, { 950000, 0, 8 }, FALSE, 1000000, 0, 0 },
    /* The stop took long, since the tracer did not get a CPU. */
    { 9000000, { 100000, 0, 8 }, FALSE, 200000, 8800000, 0 },
    /* The stop interrupted its sleep. */
    { 5000000, { 100000, 0, 8 }, TRUE, 100000, 0, 4900000 },
    /* It slept and was woken. */
    { 5000000, { 100000, 400000, 9 }, FALSE, 100000, 400000, 4500000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      const FlamSchedstat before = { 0, 0, 7 };
      FlamTask task = { 0 };

      flam_wall_begin (&task, &before, 0);
      flam_wall_look (&task, &looks[i].stat, looks[i].now, looks[i].asleep);
      g_assert_cmpint (task.wall.ran, ==, looks[i].ran);
      g_assert_cmpint (task.wall.queued, ==, looks[i].queued);
      g_assert_cmpint (task.wall.slept, ==, looks[i].slept);
    }
}

/* The scheduler counts a wait when it ends: 12 ms, of which 7 are in a sample
 * as sleep. The samples never have more than the time that has passed, and they
 * have all of it when the thread has slept again. Times in ms. */
static void
test_wall_counted_late (void)
{
  static const struct
  {
    gint64 now;
    FlamSchedstat stat;
    FlamState state;
    gint64 ran, queued, slept;
  } looks[] = {
    { 20, { 0, 0, 7 }, FLAM_STATE_SLEEP, 0, 0, 20 },
    { 30, { 5, 12, 8 }, FLAM_STATE_RUNNING, 5, 5, 0 },
    { 40, { 15, 12, 8 }, FLAM_STATE_RUNNING, 10, 0, 0 },
    { 60, { 15, 12, 8 }, FLAM_STATE_SLEEP, 0, 7, 13 },
  };
  const gint64 ms = 1000000;
  const FlamSchedstat before = { 0, 0, 7 };
  FlamTask task = { 0 };

  flam_wall_begin (&task, &before, 0);
  task.wall.asleep = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      const FlamSchedstat stat = { looks[i].stat.cpu * ms,
                                   looks[i].stat.queued * ms,
                                   looks[i].stat.count };
      FlamMessage message = { .state = (guint8)looks[i].state };

      flam_wall_look (
          &task, &stat, looks[i].now * ms, looks[i].state == FLAM_STATE_SLEEP);
      flam_wall_pay (&task, &message);
      g_assert_cmpint (message.ran, ==, looks[i].ran * ms);
      g_assert_cmpint (message.queued, ==, looks[i].queued * ms);
      g_assert_cmpint (message.slept, ==, looks[i].slept * ms);
    }
}

/* The same at the end of a thread that does not sleep again. */
static void
test_wall_counted_late_at_end (void)
{
  const FlamSchedstat before = { 0, 0, 7 }, after = { 5000000, 12000000, 8 };
  FlamTask task = { 0 };
  FlamMessage asleep = { .state = FLAM_STATE_SLEEP }, rest = { 0 };

  flam_wall_begin (&task, &before, 0);
  flam_wall_look (&task, &before, 20000000, TRUE);
  flam_wall_pay (&task, &asleep);
  g_assert_cmpint (asleep.slept, ==, 20000000);
  flam_wall_look (&task, &after, 22000000, FALSE);
  flam_wall_pay_rest (&task, &rest);
  g_assert_cmpint (rest.ran + rest.queued + rest.slept, ==, 2000000);
}

/* A thread exists before its first instruction, for which it may have to
 * wait. */
static void
test_wall_of_new_thread (void)
{
  const gint64 now = 3600 * G_GINT64_CONSTANT (1000000000);
  FlamPipe pipe;
  FlamTasks tasks;
  FlamTask *task;
  FlamTarget *target;
  FlamSchedstat stat;

  flam_pipe_init (&pipe);
  flam_tasks_init (&tasks, &pipe);
  task = flam_tasks_add (
      &tasks, getpid (), 0, getpid (), FLAM_BIRTH_EARLIER, NULL, now);
  target = task->target;
  g_assert_true (flam_task_read_schedstat (task, &stat));
  g_assert_cmpint (task->wall.until, <, now);
  g_assert_cmpint (task->wall.until, >=, now - stat.cpu - stat.queued);
  flam_tasks_remove (&tasks, task, FALSE, now);
  g_free (target);
  g_free (task);
  flam_tasks_clear (&tasks);
  flam_pipe_clear (&pipe);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tasks/cpu", test_cpu);
  g_test_add_func ("/tasks/switches", test_switches);
  g_test_add_func ("/tasks/on-cpu", test_on_cpu);
  g_test_add_func ("/tasks/waits", test_waits);
  g_test_add_func ("/tasks/kernel-waits", test_kernel_waits);
  g_test_add_func ("/tasks/wall", test_wall);
  g_test_add_func ("/tasks/wall/counted-late", test_wall_counted_late);
  g_test_add_func ("/tasks/wall/counted-late-at-end",
                   test_wall_counted_late_at_end);
  g_test_add_func ("/tasks/wall/new-thread", test_wall_of_new_thread);
  return g_test_run ();
}
