/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What /proc says of a thread, whatever its name is. */

#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "flam-tasks.h"

static void
pin (int cpu)
{
  cpu_set_t set;

  CPU_ZERO (&set);
  CPU_SET (cpu, &set);
  g_assert_cmpint (sched_setaffinity (0, sizeof set, &set), ==, 0);
}

/* The thread reads of itself where it runs, on each CPU it may run on. */
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
  task = flam_tasks_add (&tasks, getpid (), 0, getpid (), TRUE, 0);
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tasks/cpu", test_cpu);
  return g_test_run ();
}
