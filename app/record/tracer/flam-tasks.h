/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TASKS_H
#define FLAM_TASKS_H

/* The tracer's lists of traced processes and threads, and their data in
 * /proc. */

#include "flam-batch.h"
#include "flam-proc.h"
#include "flam-stops.h"

typedef struct
{
  FlamPipe *pipe;
  GHashTable *by_tid; /* FlamTask */
  GHashTable *by_pid; /* FlamTarget */
  GPtrArray *list;    /* FlamTask, in no order */
  gint64 charged_cpu; /* of threads that have ended, from the kernel */
  guint64 switches;   /* how often they were put on a CPU */
  /* Their times come from elsewhere than /proc: flam_tasks_retire(). */
  gboolean without_proc;
} FlamTasks;

/* A program that was just started is read without delay: its libraries are
 * still being mapped, and it may end soon. */
#define FLAM_YOUNG_TIME (100 * 1000000ll)

/* Which part of its time belongs to the recording. */
typedef enum
{
  FLAM_BIRTH_UNSEEN,  /* it existed before: the time from now on */
  FLAM_BIRTH_EARLIER, /* all */
  FLAM_BIRTH_NOW,     /* all, and it was created at this moment */
} FlamTaskBirth;

void flam_tasks_init (FlamTasks *tasks, FlamPipe *pipe);
void flam_tasks_clear (FlamTasks *tasks);

FlamTask *flam_tasks_find (FlamTasks *tasks, pid_t tid);
/* Adds a thread that was just seized, or created by a seized one. Reports it to
 * the sampler, with its process if that is new. `name`: NULL, read it. */
FlamTask *flam_tasks_add (FlamTasks *tasks,
                          pid_t pid,
                          pid_t parent,
                          pid_t tid,
                          FlamTaskBirth birth,
                          const char *name,
                          gint64 now);
/* Removes a task and reports its name and CPU time for the last time. It must
 * not be reaped yet (then `ended`), or must be stopped. The pointer must not be
 * used afterwards. */
void flam_tasks_remove (FlamTasks *tasks,
                        FlamTask *task,
                        gboolean ended,
                        gint64 now);
/* Its two steps: reading everything that is needed before the task is reaped,
 * and the rest. No other message comes in between. */
void flam_tasks_begin_to_remove (FlamTasks *tasks,
                                 FlamTask *task,
                                 gboolean ended,
                                 gint64 now);
void flam_tasks_take_out (FlamTasks *tasks, FlamTask *task, gint64 now);
/* Removes a task that may be gone already; `rest` has its time, its name and
 * the weights that are in no sample. */
void
flam_tasks_retire (FlamTasks *tasks, FlamTask *task, const FlamMessage *rest);
/* The time it uses from now on, until flam_task_skip(), is not part of the
 * recording; the time since its last sample is added to its next sample. */
void flam_task_pause (FlamTask *task, gint64 now);
/* The CPU time since it was accounted for, or since the pause, is not part of
 * the recording. */
void flam_task_skip (FlamTask *task, gint64 now);
/* After an exec by another thread than the leader, which has the leader's
 * number from now on: its files in /proc are opened again. Those of a thread
 * that keeps its number stay valid. */
void flam_tasks_reopen (FlamTask *task);
/* After an exec, the thread has another stack: forgets the former one's data.
 */
void flam_task_forget_stack (FlamTask *task);
/* At an exec: the time that the thread used before belongs to the former
 * program. `stat`: its counts at that moment, or NULL. */
void flam_task_settle (FlamTask *task,
                       const FlamSchedstat *stat,
                       FlamMessage *message);
/* After an exec by a thread other than the leader, whose number it has from now
 * on: the time used by the leader, which has ended, and by `former` is
 * accounted for; `former` is freed. */
void flam_tasks_succeed (FlamTasks *tasks,
                         FlamTask *leader,
                         FlamTask *former,
                         gint64 now);
void flam_tasks_forget_runtimes (FlamTask *task);
/* Its process is held at its end until the sampler has read this. */
void flam_tasks_tell_ending (FlamTasks *tasks, FlamTask *task, gint64 now);

/* Unlike schedstat, the process clock is exact even for threads that are
 * running: the kernel updates their times. -1: unavailable. */
gint64 flam_target_read_cpu (const FlamTarget *target);
/* FALSE: unavailable. */
gboolean flam_task_read_schedstat (const FlamTask *task, FlamSchedstat *now);
/* FALSE: unavailable. Takes 5 µs, ten times as long as the others. */
gboolean flam_task_read_switches (FlamTask *task, FlamSwitches *switches);
/* FALSE: unavailable, so it must be treated as running. A thread that only
 * the tracer keeps from running is running. */
gboolean
flam_task_read_blocked (FlamTask *task, FlamBlocked *blocked, guint *line);
/* The reason for its wait. */
FlamState flam_task_blocked_state (const FlamTask *task,
                                   const FlamBlocked *blocked);
/* The CPU it runs on, or waits for; -1: unavailable. */
int flam_task_read_cpu (FlamTask *task);

#endif
