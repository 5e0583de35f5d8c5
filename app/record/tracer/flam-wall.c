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

static gint64
take (gint64 *owed)
{
  gint64 ns = *owed;

  *owed = 0;
  return ns;
}

/* Takes nothing while too much was taken before. */
static gint64
take_slept (FlamWall *wall)
{
  return wall->slept > 0 ? take (&wall->slept) : 0;
}

void
flam_wall_pay (FlamTask *task, FlamMessage *message)
{
  FlamWall *wall = &task->wall;

  if (message->state == FLAM_STATE_RUNNING)
    message->ran = take (&wall->ran);
  else if (message->state != FLAM_STATE_RUNNABLE)
    message->slept = take_slept (wall);
  if (message->state == FLAM_STATE_RUNNABLE || wall->queued >= LEAST_QUEUED)
    message->queued = take (&wall->queued);
}

void
flam_wall_pay_rest (FlamTask *task, FlamMessage *message)
{
  FlamWall *wall = &task->wall;
  gint64 too_much = MAX (-wall->slept, 0);

  message->slept = take_slept (wall);
  message->ran = take (&wall->ran);
  message->queued = MAX (take (&wall->queued) - too_much, 0);
}
