/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The tracer's lists of whom it traces, and what /proc says of a thread. */

#include "flam-batch.h"
#include "flam-stops.h"

typedef struct
{
  FlamPipe *pipe;
  GHashTable *by_tid; /* FlamTask */
  GHashTable *by_pid; /* FlamTarget */
  GPtrArray *list;    /* FlamTask, in no order */
  gint64 charged_cpu; /* of those that are gone, by the kernel's account */
} FlamTasks;

/* A program that was just started is looked at without delay: its libraries
 * are still being mapped, and it may be gone soon. */
#define FLAM_YOUNG_TIME (100 * 1000000ll)

void flam_tasks_init (FlamTasks *tasks, FlamPipe *pipe);
void flam_tasks_clear (FlamTasks *tasks);

FlamTask *flam_tasks_find (FlamTasks *tasks, pid_t tid);
/* A thread that was just seized, or made by one that was. Tells the sampler,
 * of its process too if that is new. `from_start`: all its CPU time counts;
 * otherwise from now on. */
FlamTask *flam_tasks_add (FlamTasks *tasks,
                          pid_t pid,
                          pid_t parent,
                          pid_t tid,
                          gboolean from_start,
                          gint64 now);
/* It goes, and its name and its CPU time are reported for the last time: it is
 * not yet reaped (then `ended`), or stopped. The pointer is not to be used
 * after.
 */
void flam_tasks_remove (FlamTasks *tasks,
                        FlamTask *task,
                        gboolean ended,
                        gint64 now);
/* What it uses from now on, until flam_task_skip(), is no part of the
 * recording; what it used since its last sample is the next one's. */
void flam_task_pause (FlamTask *task, gint64 now);
/* The CPU time it used since it was accounted for, or since the pause, is no
 * part of the recording. */
void flam_task_skip (FlamTask *task, gint64 now);
/* After an exec of its process: /proc starts anew for it. */
void flam_tasks_reopen (FlamTask *task);
void flam_tasks_forget_python (FlamTask *task);

/* The process clock is exact, other than schedstat, even for threads that run
 * at this moment: the kernel brings them up to date. -1: not to be had. */
gint64 flam_target_read_cpu (const FlamTarget *target);
/* FALSE: not to be had. */
gboolean flam_task_read_schedstat (const FlamTask *task, FlamSchedstat *now);
/* FALSE: not to be had, so it must be taken to run. */
gboolean flam_task_read_blocked (const FlamTask *task,
                                 FlamBlocked *blocked,
                                 guint *line);
/* The CPU it runs on, or waits for; -1: not to be had. */
int flam_task_read_cpu (FlamTask *task);
