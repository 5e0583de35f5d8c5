/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-wall.h"

/* Each stop by the tracer makes a thread wait for a CPU, for some µs. A shorter
 * wait is not worth a row. */
#define LEAST_QUEUED (100 * 1000ll)

void
flam_wall_begin (FlamTask *task, const FlamSchedstat *stat, gint64 now)
{
  task->wall.until = now;
  task->wall.stat = *stat;
  task->wall.asleep = FALSE;
}

void
flam_wall_look (FlamTask *task,
                const FlamSchedstat *stat,
                gint64 now,
                gboolean asleep)
{
  FlamWall *wall = &task->wall;
  gint64 ran = MAX (stat->cpu - wall->stat.cpu, 0);
  gint64 queued = MAX (stat->queued - wall->stat.queued, 0);
  gint64 rest = now - wall->until - ran - queued;
  guint64 times = stat->count - wall->stat.count;

  /* The thread was off the CPU once, because of the tracer's own stop: it has
   * not slept. Without the stop it would have run, unless the tracer was late,
   * since it had to wait for a CPU: the thread waited with it. A woken thread
   * is counted as asleep until it gets a CPU, which is when the scheduler
   * counts its wait: its sleep is then too long by that wait. */
  if (times <= 1 && !wall->asleep && !asleep && rest > 0)
    {
      gint64 stopped = MIN (rest, LEAST_QUEUED);

      ran += stopped;
      queued += rest - stopped;
    }
  else
    wall->slept += rest;
  wall->ran += ran;
  wall->queued += queued;
  flam_wall_begin (task, stat, MAX (now, wall->until));
  wall->asleep = asleep;
}

void
flam_wall_sleep (FlamTask *task, gint64 until)
{
  task->wall.slept += MAX (until - task->wall.until, 0);
  task->wall.until = MAX (until, task->wall.until);
}

/* A wait that the scheduler counts only at its end may be in a sample already,
 * as sleep. Until a later sleep makes up for that, samples are given less, so
 * that they never have more than the time that has passed. */
static gint64
take (FlamWall *wall, gint64 *owed)
{
  gint64 ns = MIN (*owed, wall->ran + wall->queued + wall->slept);

  if (ns <= 0)
    return 0;
  *owed -= ns;
  return ns;
}

void
flam_wall_pay (FlamTask *task, FlamMessage *message)
{
  FlamWall *wall = &task->wall;

  if (message->state == FLAM_STATE_RUNNING)
    message->ran = take (wall, &wall->ran);
  else if (message->state != FLAM_STATE_RUNNABLE)
    message->slept = take (wall, &wall->slept);
  if (message->state == FLAM_STATE_RUNNABLE || wall->queued >= LEAST_QUEUED)
    message->queued = take (wall, &wall->queued);
}

void
flam_wall_pay_rest (FlamTask *task, FlamMessage *message)
{
  FlamWall *wall = &task->wall;

  message->slept = take (wall, &wall->slept);
  message->ran = take (wall, &wall->ran);
  message->queued = take (wall, &wall->queued);
}
