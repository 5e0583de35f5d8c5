/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tasks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "flam-alloc-attach.h"
#include "flam-proc.h"
#include "flam-runtime-reader.h"
#include "flam-wall.h"

#define FIRST_COPY (32u << 10)
/* include/linux/posix-timers_types.h. */
#define CPUCLOCK_SCHED 2u

void
flam_tasks_init (FlamTasks *tasks, FlamPipe *pipe)
{
  *tasks = (FlamTasks){ .pipe = pipe };
  tasks->by_tid = g_hash_table_new (NULL, NULL);
  tasks->by_pid = g_hash_table_new (NULL, NULL);
  tasks->list = g_ptr_array_new ();
}

void
flam_tasks_clear (FlamTasks *tasks)
{
  g_hash_table_unref (tasks->by_tid);
  g_hash_table_unref (tasks->by_pid);
  g_ptr_array_unref (tasks->list);
}

FlamTask *
flam_tasks_find (FlamTasks *tasks, pid_t tid)
{
  return g_hash_table_lookup (tasks->by_tid, GINT_TO_POINTER (tid));
}

static FlamMessage *
begin_to_tell (FlamTasks *tasks,
               FlamMessageKind kind,
               FlamTarget *target,
               FlamTask *task,
               const char *name,
               gint64 now)
{
  FlamMessage *message = flam_pipe_reserve (tasks->pipe, kind, 0, 0, FALSE);

  message->target = target;
  message->task = task;
  message->time = now;
  if (name != NULL)
    g_strlcpy (message->comm, name, sizeof message->comm);
  else if (task != NULL)
    flam_proc_comm (target->pid, task->tid, message->comm);
  if (task != NULL && message->comm[0] != '\0')
    memcpy (task->comm, message->comm, sizeof task->comm);
  return message;
}

static void
tell (FlamTasks *tasks,
      FlamMessageKind kind,
      FlamTarget *target,
      FlamTask *task,
      const char *name,
      gint64 now)
{
  begin_to_tell (tasks, kind, target, task, name, now);
  flam_pipe_commit (tasks->pipe, 0);
}

static FlamTarget *
target_of (FlamTasks *tasks, pid_t pid, pid_t parent, gint64 now)
{
  FlamTarget *target =
      g_hash_table_lookup (tasks->by_pid, GINT_TO_POINTER (pid));

  if (target != NULL)
    return target;
  target = g_new0 (FlamTarget, 1);
  target->pid = pid;
  target->young_until = now + FLAM_YOUNG_TIME;
  target->parent =
      g_hash_table_lookup (tasks->by_pid, GINT_TO_POINTER (parent));
  if (target->parent != NULL && target->parent->runtimes != NULL)
    target->runtimes = flam_runtime_known_copy (target->parent->runtimes);
  g_hash_table_insert (tasks->by_pid, GINT_TO_POINTER (pid), target);
  tell (tasks, FLAM_MESSAGE_TARGET_NEW, target, NULL, NULL, now);
  return target;
}

static int
open_proc (const FlamTask *task, const char *name)
{
  return flam_proc_open_kept (task->target->pid, task->tid, name);
}

static void
close_proc (FlamTask *task)
{
  if (task->schedstat_fd >= 0)
    close (task->schedstat_fd);
  if (task->syscall_fd >= 0)
    close (task->syscall_fd);
  if (task->stat_fd >= 0)
    close (task->stat_fd);
  if (task->sched_fd >= 0)
    close (task->sched_fd);
  task->schedstat_fd = task->stat_fd = task->sched_fd = -1;
  task->syscall_fd = FLAM_NOT_OPENED;
}

void
flam_tasks_reopen (FlamTask *task)
{
  close_proc (task);
  task->schedstat_fd = open_proc (task, "schedstat");
}

void
flam_task_forget_stack (FlamTask *task)
{
  task->blocked = FALSE;
  task->rest_until = 0;
}

void
flam_tasks_forget_runtimes (FlamTask *task)
{
  g_atomic_pointer_set (&task->target->hint_runtimes, NULL);
  g_clear_pointer (&task->target->runtimes, flam_runtime_known_free);
  g_clear_pointer (&task->runtimes, flam_runtime_task_free);
}

void
flam_tasks_tell_ending (FlamTasks *tasks, FlamTask *task, gint64 now)
{
  tell (tasks, FLAM_MESSAGE_TARGET_ENDING, task->target, NULL, NULL, now);
}

FlamTask *
flam_tasks_add (FlamTasks *tasks,
                pid_t pid,
                pid_t parent,
                pid_t tid,
                FlamTaskBirth birth,
                const char *name,
                gint64 now)
{
  FlamTask *task = g_new0 (FlamTask, 1);
  FlamSchedstat stat;

  task->tid = tid;
  task->target = target_of (tasks, pid, parent, now);
  task->target->n_tasks++;
  task->schedstat_fd = task->stat_fd = task->sched_fd = -1;
  task->syscall_fd = FLAM_NOT_OPENED;
  if (!tasks->without_proc)
    flam_tasks_reopen (task);
  task->wall.until = now;
  task->hint_copy = FIRST_COPY;
  task->id = task->last_stack = FLAM_NONE;
  task->is_new = birth == FLAM_BIRTH_NOW;
  task->name_own = tid == pid || birth == FLAM_BIRTH_UNSEEN;
  if (tasks->without_proc)
    ;
  else if (birth == FLAM_BIRTH_UNSEEN)
    flam_task_skip (task, now);
  /* It has waited for its first CPU. */
  else if (birth == FLAM_BIRTH_EARLIER &&
           flam_task_read_schedstat (task, &stat))
    task->wall.until = MAX (now - stat.cpu - stat.queued, 0);
  task->index = tasks->list->len;
  g_ptr_array_add (tasks->list, task);
  g_hash_table_insert (tasks->by_tid, GINT_TO_POINTER (tid), task);
  tell (tasks, FLAM_MESSAGE_TASK_NEW, task->target, task, name, now);
  return task;
}

void
flam_task_pause (FlamTask *task, gint64 now)
{
  FlamSchedstat stat;

  if (!flam_task_read_schedstat (task, &stat))
    return;
  task->cpu_owed = MAX (stat.cpu - task->cpu_seen, 0);
  task->count_seen = stat.count;
  flam_wall_look (task, &stat, now, task->blocked);
}

void
flam_task_skip (FlamTask *task, gint64 now)
{
  FlamSchedstat stat;
  gint64 skipped;

  if (!flam_task_read_schedstat (task, &stat))
    return;
  skipped = stat.cpu - task->cpu_seen - task->cpu_owed;
  task->cpu_begin += skipped;
  task->target->cpu_begin += skipped;
  task->cpu_seen = stat.cpu - task->cpu_owed;
  task->cpu_owed = 0;
  task->count_begin += stat.count - task->count_seen;
  task->count_seen = stat.count;
  flam_wall_begin (task, &stat, now);
}

/* The CPU time of the task since it was last accounted for. The time that a
 * process uses after all its threads have ended, mainly to release its memory,
 * is attributed to the last thread. */
static gint64
settle_cpu (FlamTasks *tasks,
            FlamTask *task,
            gboolean ended,
            FlamMessage *message)
{
  FlamTarget *target = task->target;
  FlamSchedstat stat;
  gint64 total, left = 0;

  if (flam_task_read_schedstat (task, &stat))
    {
      left = MAX (stat.cpu - task->cpu_seen, 0);
      flam_wall_look (task, &stat, message->time, task->blocked);
      target->cpu_ended += stat.cpu - task->cpu_begin;
      tasks->switches += stat.count - task->count_begin;
    }
  if (target->n_tasks > 1)
    return left;
  total = ended ? flam_target_read_cpu (target) - target->cpu_begin : 0;
  if (total > target->cpu_ended)
    {
      left += total - target->cpu_ended;
      target->cpu_ended = total;
    }
  tasks->charged_cpu += target->cpu_ended;
  return left;
}

void
flam_task_settle (FlamTask *task,
                  const FlamSchedstat *stat,
                  FlamMessage *message)
{
  message->state = FLAM_STATE_RUNNING;
  if (stat == NULL)
    return;
  message->cpu = MAX (stat->cpu - task->cpu_seen, 0);
  task->cpu_seen = stat->cpu;
  flam_wall_look (task, stat, message->time, FALSE);
  flam_wall_pay (task, message);
}

void
flam_tasks_take_out (FlamTasks *tasks, FlamTask *task, gint64 now)
{
  FlamTarget *target = task->target;
  FlamTask *last = g_ptr_array_index (tasks->list, tasks->list->len - 1);

  close_proc (task);
  g_clear_pointer (&task->runtimes, flam_runtime_task_free);
  last->index = task->index;
  g_ptr_array_remove_index_fast (tasks->list, task->index);
  g_hash_table_remove (tasks->by_tid, GINT_TO_POINTER (task->tid));
  flam_pipe_commit (tasks->pipe, 0);
  if (--target->n_tasks == 0)
    {
      g_clear_pointer (&target->runtimes, flam_runtime_known_free);
      g_clear_pointer (&target->attached, flam_alloc_attached_free);
      g_clear_pointer (&target->joins, g_array_unref);
      g_hash_table_remove (tasks->by_pid, GINT_TO_POINTER (target->pid));
      tell (tasks, FLAM_MESSAGE_TARGET_END, target, NULL, NULL, now);
    }
}

void
flam_tasks_begin_to_remove (FlamTasks *tasks,
                            FlamTask *task,
                            gboolean ended,
                            gint64 now)
{
  FlamMessage *message = begin_to_tell (
      tasks, FLAM_MESSAGE_TASK_END, task->target, task, NULL, now);

  message->cpu = settle_cpu (tasks, task, ended, message);
  flam_wall_pay_rest (task, message);
}

void
flam_tasks_remove (FlamTasks *tasks, FlamTask *task, gboolean ended, gint64 now)
{
  flam_tasks_begin_to_remove (tasks, task, ended, now);
  flam_tasks_take_out (tasks, task, now);
}

void
flam_tasks_retire (FlamTasks *tasks, FlamTask *task, const FlamMessage *rest)
{
  FlamMessage *message = begin_to_tell (
      tasks, FLAM_MESSAGE_TASK_END, task->target, task, rest->comm, rest->time);

  message->cpu = rest->cpu;
  message->ran = rest->ran;
  message->queued = rest->queued;
  message->slept = rest->slept;
  flam_tasks_take_out (tasks, task, rest->time);
}

/* The leader's files in /proc have the counts of the thread that was `former`;
 * the former number has none. */
void
flam_tasks_succeed (FlamTasks *tasks,
                    FlamTask *leader,
                    FlamTask *former,
                    gint64 now)
{
  FlamSchedstat stat;

  flam_tasks_reopen (leader);
  leader->target->cpu_ended += leader->cpu_seen - leader->cpu_begin;
  flam_wall_sleep (leader, now);
  close_proc (former);
  former->schedstat_fd = open_proc (leader, "schedstat");
  flam_tasks_remove (tasks, former, FALSE, now);
  if (!flam_task_read_schedstat (leader, &stat))
    return;
  leader->cpu_begin = leader->cpu_seen = stat.cpu;
  leader->count_begin = leader->count_seen = stat.count;
  leader->cpu_owed = 0;
  flam_wall_begin (leader, &stat, now);
}

/* --- /proc --------------------------------------------------------------- */

/* `fd` is the kept descriptor, if there is one. */
static gboolean
read_line (
    const FlamTask *task, int fd, const char *name, char *line, gsize size)
{
  int own = fd >= 0 ? fd : flam_proc_open (task->target->pid, task->tid, name);
  ssize_t n = own >= 0 ? pread (own, line, size - 1, 0) : -1;

  if (own >= 0 && own != fd)
    close (own);
  if (n <= 0)
    return FALSE;
  line[n] = '\0';
  return TRUE;
}

/* The process clock. Like schedstat it lags by a few ms for running threads.
 * Its number as in clock_getcpuclockid(), which asks the kernel once more. */
gint64
flam_target_read_cpu (const FlamTarget *target)
{
  clockid_t clock = (clockid_t)(~(guint)target->pid << 3 | CPUCLOCK_SCHED);
  struct timespec ts;

  if (clock_gettime (clock, &ts) != 0)
    return -1;
  return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* "CPU QUEUED COUNT": Documentation/scheduler/sched-stats.rst. It is exact for
 * a stopped or sleeping thread and lags by a few ms for a running one. */
gboolean
flam_task_read_schedstat (const FlamTask *task, FlamSchedstat *now)
{
  char line[96];
  char *end;

  if (!read_line (task, task->schedstat_fd, "schedstat", line, sizeof line))
    return FALSE;
  now->cpu = g_ascii_strtoll (line, &end, 10);
  now->queued = g_ascii_strtoll (end, &end, 10);
  now->count = g_ascii_strtoull (end, NULL, 10);
  return TRUE;
}

gboolean
flam_task_read_switches (FlamTask *task, FlamSwitches *switches)
{
  char text[4096];

  if (task->sched_fd < 0)
    task->sched_fd = open_proc (task, "sched");
  return read_line (task, task->sched_fd, "sched", text, sizeof text) &&
         flam_proc_parse_switches (text, switches);
}

/* From `field` on, of "TID (NAME) STATE ...", where NAME may contain any
 * character: proc(5). NULL: unavailable. */
static const char *
read_stat (FlamTask *task, guint field, char *line, gsize size)
{
  const char *at;

  if (task->stat_fd < 0)
    task->stat_fd = open_proc (task, "stat");
  if (!read_line (task, task->stat_fd, "stat", line, size))
    return NULL;
  at = strrchr (line, ')');
  for (guint i = 2; at != NULL && i < field; i++)
    at = strchr (at + 1, ' ');
  return at != NULL ? at + 1 : NULL;
}

/* A thread in a stop of the tracer, or on its way from there to a CPU, reads as
 * if it slept: in the call in which it was stopped, or in none. */
static gboolean
is_asleep (FlamTask *task)
{
  char line[1024];
  const char *state = read_stat (task, 3, line, sizeof line);

  return state == NULL || *state == 'S' || *state == 'D';
}

gboolean
flam_task_read_blocked (FlamTask *task, FlamBlocked *blocked, guint *line)
{
  char text[256];

  if (task->syscall_fd == FLAM_NOT_OPENED)
    task->syscall_fd = open_proc (task, "syscall");
  if (!read_line (task, task->syscall_fd, "syscall", text, sizeof text) ||
      !flam_blocked_parse (text, blocked))
    return FALSE;
  if (!blocked->running && (task->pending || blocked->number < 0))
    blocked->running = !is_asleep (task);
  *line = blocked->running ? 0 : g_str_hash (text);
  return TRUE;
}

FlamState
flam_task_blocked_state (const FlamTask *task, const FlamBlocked *blocked)
{
  g_autofree char *channel =
      blocked->continues
          ? flam_proc_text (task->target->pid, task->tid, "wchan")
          : NULL;

  return channel != NULL ? flam_channel_state (channel)
                         : flam_blocked_state (blocked);
}

int
flam_task_read_cpu (FlamTask *task)
{
  char line[1024];
  const char *cpu = read_stat (task, 39, line, sizeof line);

  return cpu != NULL ? atoi (cpu) : -1;
}
