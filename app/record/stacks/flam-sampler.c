/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sampler.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "flam-gaps.h"
#include "flam-runtime-functions.h"
#include "flam-runtime-merge.h"
#include "flam-proc.h"
#include "flam-waits.h"
#include "flam-walk.h"

/* message -> walk (pcs, leaf first) -> frames -> stack, root first -> sample */

#define COPY_MAX (16u << 20)
#define COPY_GROWTH 32
#define COPY_TOO_DEEP (32u << 10)
#define FLUSH_EVERY (500 * 1000ll) /* µs */
#define FLUSH_BYTES (1u << 20)
#define ALLOC_WAIT 5000              /* µs */
#define RSS_EVERY (100 * 1000000ll)  /* ns */
#define RSS_MORE (2 * 1000000ll)     /* for each process */
#define NAME_EVERY (250 * 1000000ll) /* ns */

static gboolean
wants_wall (const FlamSampler *sampler)
{
  return (sampler->options->what & FLAM_RECORD_WALL) != 0;
}

void
flam_sampler_init (FlamSampler *sampler,
                   const FlamRecordOptions *options,
                   FlamPipe *pipe,
                   FlamCaptureWriter *writer)
{
  FlamBuilder *builder = flam_capture_writer_builder (writer);

  memset (sampler, 0, sizeof *sampler);
  sampler->options = options;
  sampler->pipe = pipe;
  sampler->writer = writer;
  sampler->builder = builder;
  sampler->binaries = flam_binary_table_new (builder, options);
  sampler->cache = flam_unwind_cache_new ();
  if (options->runtimes)
    sampler->stepper = flam_runtime_stepper_new ();
  sampler->pcs = g_new (guint64, FLAM_FRAMES_MAX);
  sampler->sps = g_new (guint64, FLAM_FRAMES_MAX);
  sampler->mixed = g_array_new (FALSE, FALSE, sizeof (guint32));
  sampler->rss = sampler->not_sampled = FLAM_NONE;
  sampler->alive = g_array_new (FALSE, FALSE, sizeof (pid_t));
  sampler->processes = g_hash_table_new (NULL, NULL);
  sampler->threads = g_hash_table_new (NULL, NULL);
  if (wants_wall (sampler))
    flam_builder_add_standard_measure (
        builder, FLAM_STANDARD_WALL_TIME, 1, FLAM_NONE);
  if (options->what & FLAM_RECORD_CPU)
    {
      flam_builder_add_standard_measure (
          builder, FLAM_STANDARD_CPU_TIME, 0, FLAM_NONE);
      flam_builder_add_standard_measure (
          builder, FLAM_STANDARD_SAMPLES, -1, FLAM_EVENT_SAMPLE);
    }
  flam_sampler_record_calls (sampler);
}

void
flam_sampler_clear (FlamSampler *sampler)
{
  flam_binary_table_free (sampler->binaries);
  flam_unwind_cache_free (sampler->cache);
  g_clear_pointer (&sampler->stepper, flam_runtime_stepper_free);
  g_array_unref (sampler->alive);
  g_hash_table_unref (sampler->processes);
  g_hash_table_unref (sampler->threads);
  g_clear_pointer (&sampler->alloc, flam_alloc_session_free);
  g_clear_pointer (&sampler->counted, g_array_unref);
  g_clear_pointer (&sampler->calls, flam_call_ledger_free);
  g_clear_pointer (&sampler->mappers, g_hash_table_unref);
  g_free (sampler->pcs);
  g_free (sampler->sps);
  g_array_unref (sampler->mixed);
  g_clear_error (&sampler->error);
}

/* --- names --------------------------------------------------------------- */

/* The name that node, from version 24 on, and Firefox give to their first
 * thread: the process keeps its own. */
#define MAIN_THREAD "MainThread"

/* A name that was there all the time and is only found now applies since the
 * name that it replaces: a thread begins with the name of the one that began
 * it, and a runtime's name for it is read later than the kernel's. */
static void
set_name (FlamSampler *sampler, FlamTask *task, const char *name)
{
  const char *longer =
      flam_runtime_threads_get (task->target->map->threads, task->tid);
  gboolean same;

  if (longer != NULL)
    name = longer;
  if (name[0] == '\0' || g_strcmp0 (name, task->name) == 0)
    return;
  same = task->name != NULL &&
         (!task->name_own || (longer != NULL && !task->name_whole));
  if (!same)
    task->name_since = sampler->now;
  task->name_own |= task->name != NULL || longer != NULL;
  task->name_whole = longer != NULL;
  g_free (task->name);
  task->name = g_strdup (name);
  flam_builder_note_thread_name (
      sampler->builder, task->id, task->name_since, name);
  if (task->tid == task->target->pid && strcmp (name, MAIN_THREAD) != 0)
    flam_builder_note_process_name (
        sampler->builder, task->target->map->process, task->name_since, name);
}

/* Names are set after the start of a thread, and may change. */
static void
refresh_name (FlamSampler *sampler, FlamTask *task)
{
  FlamProcessMap *map = task->target->map;
  char name[16];

  if (sampler->now - task->name_read_at <= NAME_EVERY)
    return;
  task->name_read_at = sampler->now;
  if (flam_process_map_is_current (map))
    flam_runtime_threads_refresh (map->threads,
                                  flam_runtime_processes_get (map->runtimes),
                                  task->tid,
                                  sampler->now);
  if (flam_proc_comm (task->target->pid, task->tid, name))
    set_name (sampler, task, name);
}

/* Once for each thread, when its stack could be followed to its root. */
static void
read_start (FlamSampler *sampler, FlamTask *task, const FlamWalk *walked)
{
  FlamProcessMap *map = task->target->map;
  const FlamRuntimeSet *set;

  if (task->start_read || walked->end != FLAM_UNWIND_ROOT ||
      task->tid == task->target->pid || !flam_process_map_is_current (map))
    return;
  set = flam_runtime_processes_get (map->runtimes);
  if (set == NULL || set->n == 0)
    return;
  task->start_read = TRUE;
  flam_runtime_threads_read (map->threads, set, task->tid, walked->last_sp);
  set_name (sampler, task, task->name != NULL ? task->name : "");
}

/* --- processes and threads ----------------------------------------------- */

FlamProcessId
flam_sampler_process (FlamSampler *sampler, pid_t pid, FlamId parent)
{
  gpointer key = GINT_TO_POINTER (pid);
  FlamId row = GPOINTER_TO_UINT (g_hash_table_lookup (sampler->processes, key));

  if (row != 0)
    return row - 1;
  row = flam_builder_append_process (sampler->builder, pid, parent);
  g_hash_table_insert (sampler->processes, key, GUINT_TO_POINTER (row + 1));
  return row;
}

FlamThreadId
flam_sampler_thread (FlamSampler *sampler, FlamProcessId process, pid_t tid)
{
  gpointer key = GINT_TO_POINTER (tid);
  FlamId row = GPOINTER_TO_UINT (g_hash_table_lookup (sampler->threads, key));

  if (row != 0)
    return row - 1;
  row = flam_builder_append_thread (sampler->builder, process, tid);
  g_hash_table_insert (sampler->threads, key, GUINT_TO_POINTER (row + 1));
  return row;
}

/* Tells the tracer the target's runtimes, after maps were read: those of the
 * program that it runs. */
static void
tell_runtimes (FlamSampler *sampler, FlamTarget *target)
{
  const FlamRuntimeSet *set =
      flam_process_map_runtimes (target->map, sampler->binaries, sampler->now);

  if (flam_process_map_is_current (target->map))
    g_atomic_pointer_set (&target->hint_runtimes, set);
}

/* Where relative names of source files begin. */
static void
note_folder (FlamSampler *sampler, FlamProcessMap *map)
{
  g_autofree char *folder = flam_proc_folder (map->pid);

  if (folder == NULL || g_strcmp0 (folder, map->folder) == 0)
    return;
  flam_builder_add_working_folder (sampler->builder, map->process, folder);
  g_free (map->folder);
  map->folder = g_steal_pointer (&folder);
}

static void
take_target_new (FlamSampler *sampler, FlamTarget *target)
{
  FlamProcessMap *parent = target->parent != NULL ? target->parent->map : NULL;

  target->map = flam_process_map_new (target->pid, parent);
  target->map->hint_program = &target->hint_program;
  target->map->process = flam_sampler_process (
      sampler, target->pid, parent != NULL ? parent->process : FLAM_NONE);
  note_folder (sampler, target->map);
  if (parent != NULL)
    {
      if (parent->children == NULL)
        parent->children = g_hash_table_new_full (
            g_str_hash, g_str_equal, g_free, (GDestroyNotify)flam_gaps_free);
      target->map->siblings = g_hash_table_ref (parent->children);
    }
  flam_sampler_begin_calls (sampler, target);
  target->parent = NULL;
  if (parent == NULL && flam_record_options_attaches (sampler->options))
    flam_process_map_refresh (target->map, sampler->binaries, sampler->now);
  tell_runtimes (sampler, target);
  g_array_append_val (sampler->alive, target->pid);
}

static void
take_task_new (FlamSampler *sampler, const FlamMessage *message)
{
  FlamTask *task = message->task;

  task->id =
      flam_sampler_thread (sampler, task->target->map->process, task->tid);
  task->name_read_at = sampler->now;
  set_name (sampler, task, message->comm);
  flam_sampler_find_siblings (sampler, task, message->comm);
}

static void
take_task_end (FlamSampler *sampler, const FlamMessage *message)
{
  FlamTask *task = message->task;

  set_name (sampler, task, message->comm);
  flam_sampler_put_rest (sampler, message);
  flam_sampler_end_thread (sampler, message);
  if (sampler->alloc != NULL)
    flam_alloc_session_drain_process (sampler->alloc, task->target->pid, FALSE);
  g_hash_table_remove (sampler->threads, GINT_TO_POINTER (task->tid));
  flam_runtime_threads_forget (task->target->map->threads, task->tid);
  g_clear_pointer (&task->path, g_array_unref);
  g_clear_pointer (&task->waits, flam_waits_free);
  g_free (task->name);
  g_free (task);
}

static void
take_maps (FlamSampler *sampler, FlamMessage *message)
{
  FlamProcessMap *map = message->target->map;

  map->tid = message->task->tid;
  flam_process_map_set_maps (
      map, sampler->binaries, flam_message_data (message), sampler->now);
  tell_runtimes (sampler, message->target);
}

static void
take_exec (FlamSampler *sampler, FlamMessage *message)
{
  flam_sampler_put_rest (sampler, message);
  if (message->target->calls != NULL)
    flam_call_ledger_exec (sampler->calls, message->target->calls);
  flam_process_map_reset (message->target->map);
  note_folder (sampler, message->target->map);
  if (*(const char *)flam_message_data (message) != '\0')
    take_maps (sampler, message);
  message->task->last_stack = FLAM_NONE;
  set_name (sampler, message->task, message->comm);
  flam_sampler_find_siblings (sampler, message->task, message->comm);
}

static void
take_target_end (FlamSampler *sampler, FlamTarget *target)
{
  for (guint i = 0; i < sampler->alive->len; i++)
    if (g_array_index (sampler->alive, pid_t, i) == target->pid)
      g_array_remove_index_fast (sampler->alive, i--);
  /* Its events are older than its end; the pid may be reused. */
  if (sampler->alloc != NULL &&
      !flam_alloc_session_drain_process (sampler->alloc, target->pid, TRUE) &&
      target->injected)
    flam_alloc_session_miss (sampler->alloc,
                             target->pid,
                             target->program,
                             N_ ("never sent any events"));
  flam_sampler_end_calls (sampler, target);
  g_hash_table_remove (sampler->processes, GINT_TO_POINTER (target->pid));
  flam_process_map_free (target->map);
  g_free (target);
}

/* --- stacks -------------------------------------------------------------- */

/* Hints for the tracer's next samples. */
static void
give_hints (FlamTask *task, const FlamMessage *message, const FlamWalk *walked)
{
  guint copy = (guint)g_atomic_int_get ((gint *)&task->hint_copy);

  if (walked->end == FLAM_UNWIND_ROOT)
    g_atomic_pointer_set (&task->hint_top, walked->last_sp + 64);
  else
    g_atomic_pointer_set (&task->hint_top, 0);
  if ((walked->end != FLAM_UNWIND_TRUNCATED &&
       walked->end != FLAM_UNWIND_LIMIT) ||
      !message->limited || flam_message_stack_size (message) < copy ||
      task->too_deep)
    return;
  task->too_deep = copy >= COPY_MAX;
  g_atomic_int_set ((gint *)&task->hint_copy,
                    (gint)(task->too_deep
                               ? COPY_TOO_DEEP
                               : MIN (COPY_GROWTH * copy, COPY_MAX)));
}

/* The stack of `frame`, called from the first `n` frames of `path`. The part
 * that is the same as in the thread's last stack is already known: for deep
 * stacks that is most. */
static FlamStackId
push_frame (FlamSampler *sampler, GArray *path, guint n, FlamFrameId frame)
{
  FlamStep *step;
  FlamStackId prefix =
      n > 0 ? g_array_index (path, FlamStep, n - 1).stack : FLAM_NONE;

  if (n < path->len)
    {
      step = &g_array_index (path, FlamStep, n);
      if (step->frame == frame)
        return step->stack;
      g_array_set_size (path, n);
    }
  g_array_set_size (path, n + 1);
  step = &g_array_index (path, FlamStep, n);
  *step =
      (FlamStep){ frame, flam_builder_stack (sampler->builder, prefix, frame) };
  return step->stack;
}

/* A stack that is being made, from the root on. */
typedef struct
{
  FlamMessage *message;
  const FlamWalk *walked;
  guint n_managed; /* items of the walk that may still follow */
  guint n;         /* frames pushed */
  FlamStackId stack;
} Making;

static void
push_code (FlamSampler *sampler, Making *making, guint64 address)
{
  making->stack =
      push_frame (sampler,
                  making->message->task->path,
                  making->n++,
                  flam_process_map_frame (
                      making->message->target->map, sampler->builder, address));
}

/* A managed function, and the functions that are inlined in it. */
static void
push_managed (FlamSampler *sampler,
              Making *making,
              FlamRuntimeFunction *innermost,
              guint64 at)
{
  FlamRuntimeFunction *functions[FLAM_RUNTIME_INLINED_MAX];
  guint n = 0;

  if (innermost->runtime->name == NULL)
    {
      push_code (sampler, making, at);
      return;
    }
  for (FlamRuntimeFunction *function = innermost;
       function != NULL && n < G_N_ELEMENTS (functions);
       function = function->caller)
    functions[n++] = function;
  sampler->stats.unnamed += innermost->unreadable;
  while (n-- > 0)
    if (!functions[n]->hidden)
      making->stack = push_frame (
          sampler,
          making->message->task->path,
          making->n++,
          flam_runtime_function_frame (functions[n], sampler->builder, at));
}

static void
push_native (FlamSampler *sampler, Making *making, guint32 frame)
{
  const FlamRuntimeManaged *managed = making->walked->managed;

  while (making->n_managed > 0 && managed[making->n_managed - 1].frame > frame)
    making->n_managed--;
  if (making->n_managed > 0 && managed[making->n_managed - 1].frame == frame)
    {
      managed += making->n_managed - 1;
      if (managed->function != NULL)
        push_managed (sampler, making, managed->function, managed->entry.at);
      if (managed->process->runtime->name != NULL)
        return;
    }
  push_code (sampler, making, sampler->pcs[frame]);
}

static void
push_kernel (FlamSampler *sampler, Making *making)
{
  const guint64 *addresses = flam_message_kernel (making->message);

  for (guint i = making->message->n_kernel / sizeof *addresses; i-- > 0;)
    {
      guint64 address;

      memcpy (&address, addresses + i, sizeof address);
      address -= i > 0; /* a return address */
      making->stack = push_frame (
          sampler,
          making->message->task->path,
          making->n++,
          flam_binary_table_kernel_frame (sampler->binaries, address));
    }
}

static FlamId
stack_of (FlamSampler *sampler, FlamMessage *message, const FlamWalk *walked)
{
  const FlamRuntimeItem *items = flam_message_items (message);
  gboolean whole = walked->end == FLAM_UNWIND_ROOT;
  Making making = { message, walked, walked->n_managed, 0, FLAM_NONE };
  guint left = flam_runtime_merge (sampler->pcs,
                                   sampler->sps,
                                   (guint)walked->n,
                                   whole,
                                   items,
                                   message->n_items,
                                   sampler->mixed);

  if (message->task->path == NULL)
    message->task->path = g_array_new (FALSE, FALSE, sizeof (FlamStep));
  sampler->stats.truncated += !whole || left > 0;
  for (guint i = sampler->mixed->len; i-- > 0;)
    {
      guint32 element = g_array_index (sampler->mixed, guint32, i);
      const FlamRuntimeItem *item = items + (element & ~FLAM_MERGED_MANAGED);

      if (element & FLAM_MERGED_MANAGED)
        push_managed (sampler, &making, item->of, item->at);
      else
        push_native (sampler, &making, element);
    }
  push_kernel (sampler, &making);
  return making.stack;
}

static void
take_stack (FlamSampler *sampler, FlamMessage *message)
{
  FlamTask *task = message->task;
  FlamWalk walked;

  message->target->map->tid = task->tid;
  walked = flam_walk_message (sampler, message);
  tell_runtimes (sampler, message->target);
  refresh_name (sampler, task);
  read_start (sampler, task, &walked);
  if (walked.end == FLAM_UNWIND_NEEDS_BP)
    g_atomic_int_set (&task->hint_needs_bp, TRUE);
  else
    give_hints (task, message, &walked);
  task->last_stack = stack_of (sampler, message, &walked);
  if (message->kind != FLAM_MESSAGE_STACK)
    flam_sampler_put_sample (sampler, message, task->last_stack);
}

/* --- the loop ------------------------------------------------------------ */

static void
take_message (FlamSampler *sampler, FlamMessage *message)
{
  const char *text = flam_message_data (message);

  sampler->now = message->time;
  switch ((FlamMessageKind)message->kind)
    {
    case FLAM_MESSAGE_TARGET_NEW:
      take_target_new (sampler, message->target);
      break;
    case FLAM_MESSAGE_TARGET_EXEC:
      take_exec (sampler, message);
      break;
    case FLAM_MESSAGE_TARGET_MISSED:
      if (sampler->alloc != NULL)
        flam_alloc_session_miss (sampler->alloc,
                                 message->target->pid,
                                 text,
                                 text + strlen (text) + 1);
      break;
    case FLAM_MESSAGE_TARGET_ENDING:
      g_atomic_int_set (&message->target->hint_read, TRUE);
      break;
    case FLAM_MESSAGE_TARGET_END:
      take_target_end (sampler, message->target);
      break;
    case FLAM_MESSAGE_TARGET_MAPS:
      take_maps (sampler, message);
      break;
    case FLAM_MESSAGE_TASK_NEW:
      take_task_new (sampler, message);
      break;
    case FLAM_MESSAGE_TASK_END:
      take_task_end (sampler, message);
      break;
    case FLAM_MESSAGE_SAMPLE:
    case FLAM_MESSAGE_STACK:
    case FLAM_MESSAGE_ASLEEP:
      take_stack (sampler, message);
      break;
    case FLAM_MESSAGE_SAME:
      refresh_name (sampler, message->task);
      flam_sampler_put_sample (sampler, message, message->task->last_stack);
      break;
    case FLAM_MESSAGE_COUNTED:
      refresh_name (sampler, message->task);
      flam_sampler_take_counted (sampler, message);
      break;
    case FLAM_MESSAGE_TOTAL:
      flam_sampler_take_total (sampler, message);
      break;
    case FLAM_MESSAGE_CALL:
      flam_sampler_take_call (sampler, message);
      break;
    case FLAM_MESSAGE_MARK:
      flam_builder_add_mark (
          sampler->builder, message->time, 0, FLAM_NONE, text);
      break;
    case FLAM_MESSAGE_WARNING:
      flam_builder_note_warning (sampler->builder, "%s", text);
      break;
    }
}

/* The second number of statm, in pages; 0: it has ended. */
static gint64
resident_pages (pid_t pid)
{
  char path[64];
  FILE *file;
  unsigned long pages = 0;

  g_snprintf (path, sizeof path, "/proc/%d/statm", (int)pid);
  file = fopen (path, "re");
  if (file == NULL)
    return 0;
  if (fscanf (file, "%*u %lu", &pages) != 1)
    pages = 0;
  fclose (file);
  return (gint64)pages;
}

/* Resident memory of all processes. What they share is in it once for each, as
 * in ps and top. */
static void
read_rss (FlamSampler *sampler)
{
  gint64 pages = 0;

  if (sampler->now - sampler->rss_read_at <
      RSS_EVERY + RSS_MORE * sampler->alive->len)
    return;
  sampler->rss_read_at = sampler->now;
  for (guint i = 0; i < sampler->alive->len; i++)
    pages += resident_pages (g_array_index (sampler->alive, pid_t, i));
  if (pages == 0)
    return;
  if (sampler->rss == FLAM_NONE)
    sampler->rss =
        flam_builder_add_counter (sampler->builder, "rss", FLAM_UNIT_BYTES);
  flam_builder_add_counter_value (sampler->builder,
                                  sampler->rss,
                                  sampler->now,
                                  pages * sysconf (_SC_PAGESIZE));
}

static void
flush (FlamSampler *sampler)
{
  gint64 now = g_get_monotonic_time ();

  if (sampler->error != NULL ||
      (now - sampler->flushed_at < FLUSH_EVERY &&
       flam_capture_writer_pending (sampler->writer) < FLUSH_BYTES))
    return;
  sampler->flushed_at = now;
  if (!flam_capture_writer_flush (sampler->writer, &sampler->error))
    g_atomic_int_set (&sampler->failed, TRUE);
}

/* Returns whether it was the last batch. */
static gboolean
take_batch (FlamSampler *sampler, FlamBatch *batch)
{
  gboolean last = batch->last;
  gsize at = 0;

  while (at < batch->used)
    {
      FlamMessage *message = (FlamMessage *)(batch->data + at);
      at += message->size;
      take_message (sampler, message);
    }
  flam_pipe_recycle (sampler->pipe, batch);
  return last;
}

void
flam_sampler_expect (FlamSampler *sampler, pid_t pid)
{
  FlamProcessMap *map = flam_process_map_new (pid, NULL);

  flam_process_map_refresh (map, sampler->binaries, 0);
  flam_process_map_free (map);
}

void
flam_sampler_catch_up (FlamSampler *sampler)
{
  FlamBatch *batch;

  while ((batch = flam_pipe_pop (sampler->pipe, 0)) != NULL)
    take_batch (sampler, batch);
}

static gpointer
run (gpointer data)
{
  FlamSampler *sampler = data;
  gboolean last = FALSE;

  /* The tracer may have priority over the target; the sampler must be as fast
   * as the tracer on a busy machine, or samples are lost. */
  setpriority (PRIO_PROCESS, 0, -10);
  while (!last)
    {
      FlamBatch *batch = flam_pipe_pop (
          sampler->pipe, sampler->alloc != NULL ? 0 : FLUSH_EVERY / 4);
      gboolean idle = batch == NULL;

      if (batch != NULL)
        last = take_batch (sampler, batch);
      if (sampler->alloc != NULL)
        {
          flam_alloc_session_drain (sampler->alloc);
          if (idle)
            flam_alloc_session_wait (sampler->alloc, ALLOC_WAIT);
        }
      if (sampler->calls != NULL)
        flam_call_ledger_advance (sampler->calls, sampler->now);
      read_rss (sampler);
      flush (sampler);
    }
  if (sampler->alloc != NULL)
    flam_alloc_session_finish (sampler->alloc, sampler->now);
  if (sampler->calls != NULL)
    flam_call_ledger_finish (sampler->calls, sampler->now);
  return NULL;
}

void
flam_sampler_start (FlamSampler *sampler)
{
  sampler->thread = g_thread_new ("sampler", run, sampler);
}

void
flam_sampler_join (FlamSampler *sampler)
{
  g_thread_join (sampler->thread);
}
