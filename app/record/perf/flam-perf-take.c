/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-sample.h"
#include "flam-perf-chains.h"
#include "flam-perf-state.h"
#include "flam-perf-strangers.h"

#include <string.h>

#include "flam-commands.h"
#include "flam-launch.h"

/* A record is complete this long after its time, unless the CPU that writes it
 * is interrupted for longer. */
#define LATEST (1000 * 1000ll)
/* A process that was just started is followed only by the kernel's records:
 * /proc may already show its next program, or be gone. */
#define MAPS_EVERY (50 * 1000000ll)
/* /proc shows the mappings after the sample. It is read only to leave out what
 * was removed, or what a lost record would have shown. */
#define READ_EVERY (1000 * 1000000ll)

/* --- processes and threads ----------------------------------------------- */

static gint64
since_begin (const FlamPerf *perf, const FlamPerfRecord *record)
{
  return MAX (record->time - perf->tracer->origin, 0);
}

/* The clock of a CPU ticks whatever runs there, even the last steps of a thread
 * whose end was recorded. */
static void
take_stranger (FlamPerf *perf, const FlamPerfRecord *record)
{
  if (flam_perf_find_process (perf, record->pid) == NULL)
    flam_perf_strangers_add (perf->strangers, record->pid);
}

/* The thread of a record, which may be unknown because an earlier record was
 * lost. */
static FlamPerfThread *
thread_of (FlamPerf *perf, const FlamPerfRecord *record)
{
  FlamPerfThread *thread = flam_perf_find_thread (perf, record->tid);
  pid_t pid, parent;

  if (thread != NULL || record->tid <= 0 || record->pid <= 0)
    return thread;
  if (perf->strangers != NULL && record->kind == FLAM_PERF_SAMPLED)
    {
      take_stranger (perf, record);
      return NULL;
    }
  if (!flam_proc_family (record->tid, &pid, &parent, NULL) ||
      pid != record->pid)
    return NULL;
  return flam_perf_add_thread (
      perf, pid, parent, record->tid, NULL, since_begin (perf, record));
}

/* --- records ------------------------------------------------------------- */

static void
tell_maps (FlamPerf *perf,
           FlamPerfProcess *process,
           FlamTask *task,
           FlamMessageKind kind,
           FlamPerfThread *thread,
           gint64 now)
{
  FlamPipe *pipe = perf->tracer->pipe;
  g_autofree char *text = NULL;
  FlamMessage *message;
  gsize size;

  if (kind == FLAM_MESSAGE_TARGET_MAPS && now - process->began > MAPS_EVERY &&
      now - process->read_at > READ_EVERY)
    {
      text = flam_proc_text (task->target->pid, task->tid, "maps");
      process->read_at = now;
    }
  if (text != NULL)
    flam_perf_maps_set (process->maps, text);
  else
    text = flam_perf_maps_text (process->maps);
  size = strlen (text) + 1;
  message = flam_pipe_reserve (pipe, kind, 0, size, FALSE);
  memcpy (flam_message_data (message), text, size);
  message->target = task->target;
  message->task = task;
  message->time = now;
  if (kind == FLAM_MESSAGE_TARGET_EXEC)
    {
      g_strlcpy (message->comm, thread->name, sizeof message->comm);
      message->state = FLAM_STATE_RUNNING;
      message->cpu = message->ran = flam_perf_thread_pay (thread);
      message->queued = thread->queued;
      message->slept = thread->slept;
    }
  flam_pipe_commit (pipe, size);
  process->changed = process->changed_files = FALSE;
  process->told_at = now;
}

/* Of the threads that called exec or were ended by it, the process keeps one,
 * which has the leader's number. */
static void
end_others (FlamPerf *perf, const FlamPerfThread *thread, gint64 now)
{
  FlamTasks *tasks = &perf->tracer->tasks;

  for (guint i = tasks->list->len; i-- > 0;)
    {
      FlamTask *task = g_ptr_array_index (tasks->list, i);

      if (task->target == thread->task->target && task != thread->task)
        flam_perf_remove_thread (
            perf, flam_perf_find_thread (perf, task->tid), now);
    }
}

static void
take_name (FlamPerf *perf, FlamPerfThread *thread, const FlamPerfRecord *record)
{
  FlamTask *task = thread->task;
  FlamPerfProcess *process = flam_perf_find_process (perf, task->target->pid);
  gint64 now = since_begin (perf, record);

  g_strlcpy (thread->name, record->text, sizeof thread->name);
  if (!record->executed)
    return;
  if (thread->state == FLAM_PERF_UNKNOWN)
    thread->since = now;
  flam_perf_thread_take (thread, record, now, !perf->tracer->paused);
  end_others (perf, thread, now);
  flam_perf_maps_clear (process->maps);
  process->began = now;
  task->target->foreign = FALSE;
  flam_task_forget_stack (task);
  flam_tasks_forget_runtimes (task);
  task->fs_base = 0;
  if (perf->tracer->chains != NULL)
    flam_perf_chains_forget (perf->tracer->chains, task->tid);
  g_atomic_pointer_set (&task->hint_top, 0);
  g_atomic_int_inc (&task->target->hint_program);
  tell_maps (perf, process, task, FLAM_MESSAGE_TARGET_EXEC, thread, now);
  thread->queued = thread->slept = 0;
}

static void
take_begin (FlamPerf *perf, const FlamPerfRecord *record)
{
  FlamPerfThread *parent = flam_perf_find_thread (perf, record->parent);
  FlamPerfThread *thread = flam_perf_find_thread (perf, record->tid);
  gint64 now = since_begin (perf, record);

  if (thread != NULL)
    return;
  thread = flam_perf_add_thread (perf,
                                 record->pid,
                                 record->parent,
                                 record->tid,
                                 parent != NULL ? parent->name : NULL,
                                 now);
  thread->state = FLAM_PERF_QUEUED;
  thread->before = 0;
  thread->is_new = TRUE;
}

/* Whether its stack is recorded: that of the clock, or of a switch. */
static gboolean
is_sample (const FlamPerf *perf, const FlamPerfRecord *record)
{
  return record->event == FLAM_PERF_CLOCK ||
         (gint)record->event == perf->events->switches;
}

static gboolean
is_counted (const FlamPerf *perf, const FlamPerfRecord *record)
{
  return record->event >= perf->events->first_count &&
         record->event < perf->events->list->len && record->period > 0;
}

/* FALSE: it is not written. */
static gboolean
take_sample (FlamPerf *perf,
             FlamPerfThread *thread,
             const FlamPerfRecord *record)
{
  FlamTracer *tracer = perf->tracer;
  FlamTask *task = thread->task;
  FlamPerfProcess *process = flam_perf_find_process (perf, task->target->pid);
  gint64 now = since_begin (perf, record);
  gboolean ticks = record->event == FLAM_PERF_CLOCK;
  FlamPerfCopy copy = { .stack = perf->stack };

  /* Its time goes to the next sample that shows the whole stack. */
  if (ticks && now < task->rest_until &&
      flam_perf_copy_is_short (task, record, perf->stack))
    return FALSE;
  if (process->changed_files ||
      (process->changed && (now - process->began < 2 * MAPS_EVERY ||
                            now - process->told_at > MAPS_EVERY)))
    tell_maps (perf, process, task, FLAM_MESSAGE_TARGET_MAPS, thread, now);
  if (!flam_perf_copy_begin (tracer,
                             task,
                             record,
                             ticks ? FLAM_MESSAGE_SAMPLE : FLAM_MESSAGE_STACK,
                             &copy))
    {
      tracer->stats.lost++;
      return FALSE;
    }
  copy.message->time = now;
  copy.message->state = FLAM_STATE_RUNNING;
  thread->has_stack = TRUE;
  if (ticks)
    {
      copy.message->cpu = copy.message->ran = flam_perf_thread_pay (thread);
      copy.message->queued = thread->queued;
      thread->queued = 0;
    }
  else
    thread->wait = (guint8)flam_perf_wait (perf, thread, record);
  perf->wants_more |= flam_perf_copy_wants_room (task, record, perf->stack);
  flam_perf_copy_commit (tracer, &copy);
  tracer->stats.samples += ticks;
  return TRUE;
}

/* `thread` wakes another one. */
static void
take_waking (FlamPerf *perf,
             const FlamPerfThread *thread,
             const FlamPerfRecord *record)
{
  FlamPerfThread *woken = flam_perf_find_thread (
      perf, flam_perf_events_woken (perf->events, record));

  if (woken == NULL || woken == thread)
    return;
  woken->waker = thread->task->tid;
  g_strlcpy (woken->waker_name, thread->name, sizeof woken->waker_name);
}

static void
take_event (FlamPerf *perf,
            FlamPerfThread *thread,
            const FlamPerfRecord *record)
{
  if (perf->tracer->paused)
    return;
  if ((gint)record->event == perf->events->waking)
    take_waking (perf, thread, record);
  else if (is_sample (perf, record))
    {
      if (take_sample (perf, thread, record) && is_counted (perf, record))
        flam_perf_counts_note (
            &perf->counts, perf->tracer, thread->task, record);
    }
  else if (is_counted (perf, record))
    {
      if (flam_perf_counts_take (
              &perf->counts, perf->tracer, thread->task, record, perf->stack))
        thread->has_stack = TRUE;
      else
        perf->tracer->stats.lost++;
    }
}

static void
note_foreign (FlamPerf *perf, FlamPerfThread *thread)
{
  perf->tracer->stats.refused += !thread->task->target->foreign;
  thread->task->target->foreign = TRUE;
}

static void
take_record (FlamPerf *perf, const FlamPerfRecord *record)
{
  FlamPerfThread *thread;

  if (record->kind == FLAM_PERF_LOST)
    perf->tracer->stats.lost += record->lost;
  if (record->kind == FLAM_PERF_BEGAN)
    take_begin (perf, record);
  if (record->kind == FLAM_PERF_OTHER || record->kind == FLAM_PERF_LOST ||
      record->kind == FLAM_PERF_BEGAN)
    return;
  thread = thread_of (perf, record);
  if (thread == NULL)
    return;
  switch (record->kind)
    {
    case FLAM_PERF_MAPPED:
      {
        FlamPerfProcess *process =
            flam_perf_find_process (perf, thread->task->target->pid);

        flam_perf_maps_add (process->maps, record);
        process->changed = TRUE;
        process->changed_files |=
            record->text[0] == '/' && record->text[1] != '/';
      }
      break;
    case FLAM_PERF_NAMED:
      take_name (perf, thread, record);
      break;
    case FLAM_PERF_ENDED:
      flam_perf_thread_take (
          thread, record, since_begin (perf, record), !perf->tracer->paused);
      flam_perf_remove_thread (perf, thread, since_begin (perf, record));
      break;
    default:
      flam_perf_thread_take (
          thread, record, since_begin (perf, record), !perf->tracer->paused);
      if (record->foreign)
        note_foreign (perf, thread);
      else if (record->kind == FLAM_PERF_SAMPLED)
        take_event (perf, thread, record);
      else if (record->kind == FLAM_PERF_ON_CPU)
        flam_perf_tell_off (perf, thread, TRUE);
      else if (record->kind == FLAM_PERF_OFF_CPU)
        thread->waker = 0;
      break;
    }
}

static void
take_records (FlamPerf *perf)
{
  FlamPerfRecord record;

  while (flam_perf_rings_next (perf->rings, &record))
    take_record (perf, &record);
}

void
flam_perf_drain (FlamPerf *perf)
{
  flam_perf_rings_begin (perf->rings, perf->prompt ? 0 : LATEST);
  take_records (perf);
  flam_perf_counts_tell (&perf->counts, perf->tracer, perf->rings, FALSE);
}

void
flam_perf_drain_last (FlamPerf *perf, gint64 until)
{
  flam_perf_rings_begin_until (perf->rings, until);
  take_records (perf);
  flam_perf_counts_tell (&perf->counts, perf->tracer, perf->rings, TRUE);
}
