/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-wall.h"

/* Each stop of ours makes a thread wait for a CPU, for some µs. Less than this
 * is not worth a row. */
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
  gint64 rest = MAX (now - wall->until - ran - queued, 0);
  guint64 times = stat->count - wall->stat.count;

  /* Off the CPU once, and that was our own stop: it has not slept. */
  if (times <= 1 && !wall->asleep && !asleep)
    ran += rest;
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

void
flam_wall_pay (FlamTask *task, FlamMessage *message)
{
  FlamWall *wall = &task->wall;

  if (message->state == FLAM_STATE_RUNNING)
    message->ran = take (&wall->ran);
  else if (message->state != FLAM_STATE_RUNNABLE)
    message->slept = take (&wall->slept);
  if (message->state == FLAM_STATE_RUNNABLE || wall->queued >= LEAST_QUEUED)
    message->queued = take (&wall->queued);
}

void
flam_wall_pay_rest (FlamTask *task, FlamMessage *message)
{
  message->ran = take (&task->wall.ran);
  message->slept = take (&task->wall.slept);
  message->queued = take (&task->wall.queued);
}
