/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-launch-exec.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flam-commands.h"
#include "flam-faults.h"
#include "flam-launch.h"
#include "flam-perf-rings.h"
#include "flam-proc.h"

/* --- the first ----------------------------------------------------------- */

static void
begin_time (FlamTracer *tracer)
{
  tracer->origin += flam_tracer_now (tracer);
}

unsigned long
flam_launch_exec_options (const FlamTracer *tracer)
{
  unsigned long options =
      PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;

  if (tracer->options->follow)
    options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
  if (tracer->options->what & FLAM_RECORD_RESOURCES)
    options |= PTRACE_O_TRACEEXIT;
  return options;
}

/* --- page faults --------------------------------------------------------- */

static void
refuse_faults (FlamTracer *tracer)
{
  g_autofree char *text = g_strdup_printf (
      N_ ("page faults are not counted: %s"), flam_perf_problem (errno));

  flam_tracer_warn (tracer, text);
  g_clear_pointer (&tracer->faults, flam_faults_free);
}

/* Without them, a recording still contains the memory that the program maps. */
static void
count_faults (FlamTracer *tracer, const GArray *tids, gboolean launched)
{
  g_autofree char *why = NULL;

  if (!(tracer->options->what & FLAM_RECORD_FAULTS))
    return;
  if (tracer->faults == NULL)
    {
      tracer->faults = flam_faults_new (tracer, launched, &why);
      if (why != NULL)
        flam_tracer_warn (tracer, why);
    }
  for (guint i = 0; i < tids->len; i++)
    if (!flam_faults_add (tracer->faults, g_array_index (tids, pid_t, i)) &&
        errno != ESRCH)
      {
        refuse_faults (tracer);
        return;
      }
}

/* --- the program --------------------------------------------------------- */

static gboolean
prepare (pid_t pid, gpointer data, GError **error)
{
  FlamTracer *tracer = data;
  unsigned long options = flam_launch_exec_options (tracer);
  g_autoptr (GArray) tids = g_array_new (FALSE, FALSE, sizeof (pid_t));

  g_array_append_val (tids, pid);
  count_faults (tracer, tids, TRUE);
  return flam_launch_trace (pid, &options, error);
}

static gboolean
start_program (FlamTracer *tracer, GError **error)
{
  FlamLaunch launch = {
    .argv = (const char *const *)tracer->options->argv,
    .environment = (const char *const *)tracer->options->environment,
    .directory = tracer->options->directory,
  };
  g_autofree char *path = flam_launch_find (&launch, error);
  pid_t pid;

  if (path == NULL)
    return FALSE;
  pid = flam_launch_start (&launch, path, prepare, tracer, error);
  if (pid < 0)
    return FALSE;
  begin_time (tracer);
  flam_tasks_add (&tracer->tasks, pid, 0, pid, FLAM_BIRTH_UNSEEN, NULL, 0)
      ->target->chosen = TRUE;
  g_array_append_val (tracer->chosen, pid);
  return TRUE;
}

gboolean
flam_launch_exec_attach_to (gpointer data,
                            pid_t pid,
                            pid_t parent,
                            GError **error)
{
  FlamTracer *tracer = data;
  g_autoptr (GArray) tids =
      flam_attach (pid, flam_launch_exec_options (tracer), error);
  gint64 now = tracer->newcomers != NULL ? flam_tracer_now (tracer) : 0;

  if (tids == NULL)
    return FALSE;
  for (guint i = 0; i < tids->len; i++)
    flam_tasks_add (&tracer->tasks,
                    pid,
                    parent,
                    g_array_index (tids, pid_t, i),
                    FLAM_BIRTH_UNSEEN,
                    NULL,
                    now);
  count_faults (tracer, tids, FALSE);
  return TRUE;
}

static void
warn_of_refused (FlamTracer *tracer, pid_t pid, const GError *error)
{
  g_autofree char *text = g_strdup_printf ("not recorded: %s", error->message);

  if (flam_proc_lives (pid))
    flam_tracer_warn (tracer, text);
}

/* One pass over the descendant processes; returns how many new ones were
 * attached. The processes that they create from now on are followed. */
static guint
attach_below (FlamTracer *tracer,
              FlamAttach attach,
              gpointer data,
              GHashTable *refused)
{
  g_autoptr (GArray) below =
      flam_tracer_kin_below (&tracer->kin, tracer->chosen);
  guint n = 0;

  for (guint i = 0; i < below->len; i++)
    {
      const FlamKin *kin = &g_array_index (below, FlamKin, i);
      gpointer key = GINT_TO_POINTER (kin->pid);
      g_autoptr (GError) error = NULL;

      if (g_hash_table_contains (tracer->tasks.by_pid, key) ||
          g_hash_table_contains (refused, key))
        continue;
      if (attach (data, kin->pid, kin->parent, &error))
        n++;
      else
        {
          g_hash_table_add (refused, key);
          warn_of_refused (tracer, kin->pid, error);
        }
    }
  return n;
}

/* A server may do its work in child processes. */
static void
say_who_works (FlamTracer *tracer)
{
  g_autoptr (GArray) below =
      flam_tracer_kin_below (&tracer->kin, tracer->chosen);
  g_autofree char *text = NULL;
  guint n = 0;

  for (guint i = 0; i < below->len; i++)
    n += !g_hash_table_contains (
        tracer->tasks.by_pid,
        GINT_TO_POINTER (g_array_index (below, FlamKin, i).pid));
  if (n == 0)
    return;
  text = g_strdup_printf (
      FLAM_PLURAL (
          n,
          "%u child process was not recorded because of --no-follow",
          "%u child processes were not recorded because of --no-follow"),
      n);
  flam_tracer_warn (tracer, text);
}

/* A process that was chosen individually must be recorded; of a group, as many
 * as possible. */
static gboolean
attach_to_chosen (FlamTracer *tracer,
                  FlamAttach attach,
                  gpointer data,
                  GError **error)
{
  const FlamRecordOptions *options = tracer->options;
  gboolean group = options->units != NULL || options->cgroups != NULL ||
                   options->containers != NULL;
  g_autoptr (GError) first = NULL;

  for (guint i = 0; i < tracer->chosen->len;)
    {
      pid_t pid = g_array_index (tracer->chosen, pid_t, i), itself, parent;
      g_autoptr (GError) refused = NULL;

      if (!flam_proc_family (pid, &itself, &parent, NULL))
        parent = 0;
      if (attach (data, pid, parent, &refused))
        {
          i++;
          continue;
        }
      g_array_remove_index (tracer->chosen, i);
      if (group)
        warn_of_refused (tracer, pid, refused);
      if (first == NULL)
        first = g_steal_pointer (&refused);
      if (!group)
        break;
    }
  if (first == NULL || (group && tracer->chosen->len > 0))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&first));
  return FALSE;
}

gboolean
flam_launch_exec_attach (FlamTracer *tracer,
                         FlamAttach attach,
                         gpointer data,
                         GError **error)
{
  g_autoptr (GHashTable) refused = g_hash_table_new (NULL, NULL);

  if (!attach_to_chosen (tracer, attach, data, error))
    return FALSE;
  if (!tracer->options->follow)
    say_who_works (tracer);
  for (guint i = 0; i < tracer->tasks.list->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, i);
      task->target->chosen = TRUE;
    }
  while (tracer->options->follow &&
         attach_below (tracer, attach, data, refused) > 0)
    ;
  return TRUE;
}

void
flam_launch_exec_announce (FlamTracer *tracer)
{
  flam_control_say (tracer->control,
                    "target %d",
                    (int)g_array_index (tracer->chosen, pid_t, 0));
  if (tracer->delayed)
    flam_control_say (tracer->control, "paused");
}

gboolean
flam_launch_exec_start (FlamTracer *tracer, GError **error)
{
  gboolean ok = tracer->attached
                    ? flam_launch_exec_attach (
                          tracer, flam_launch_exec_attach_to, tracer, error)
                    : start_program (tracer, error);

  if (ok)
    flam_launch_exec_announce (tracer);
  return ok;
}

void
flam_launch_exec_begin_thread (FlamTracer *tracer, FlamTask *task)
{
  task->target->cpu_begin = flam_target_read_cpu (task->target);
  /* Its calls are followed from its first stop on. */
  if (tracer->follows_calls)
    ptrace (PTRACE_INTERRUPT, task->tid, NULL, NULL);
}

/* The work between attaching and now is not part of the recording. */
void
flam_launch_exec_begin_attached (FlamTracer *tracer)
{
  for (guint i = 0; i < tracer->tasks.list->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, i);

      flam_task_skip (task, 0);
      flam_launch_exec_begin_thread (tracer, task);
    }
  begin_time (tracer);
  tracer->young_until = FLAM_YOUNG_TIME;
}

/* --- exec ---------------------------------------------------------------- */

static FlamMessage *
begin_text (FlamTracer *tracer,
            FlamTask *task,
            FlamMessageKind kind,
            const char *text)
{
  gsize size = strlen (text) + 1;
  FlamMessage *message = flam_pipe_reserve (tracer->pipe, kind, 0, size, FALSE);

  memcpy (flam_message_data (message), text, size);
  message->target = task->target;
  message->task = task;
  message->time = flam_tracer_now (tracer);
  return message;
}

/* The current mappings as text: many programs end before any other process can
 * read their maps. */
static void
tell_maps (FlamTracer *tracer, FlamTask *task)
{
  g_autofree char *text = flam_proc_text (task->target->pid, task->tid, "maps");

  if (text == NULL)
    return;
  begin_text (tracer, task, FLAM_MESSAGE_TARGET_MAPS, text);
  flam_pipe_commit (tracer->pipe, strlen (text) + 1);
}

/* `stat`: the counts at the exec, or NULL. The maps are read with the first
 * sample, which most of the programs that a script runs do not live to see. */
static void
tell_exec (FlamTracer *tracer, FlamTask *task, const FlamSchedstat *stat)
{
  FlamMessage *message =
      begin_text (tracer, task, FLAM_MESSAGE_TARGET_EXEC, "");

  flam_proc_comm (task->target->pid, task->tid, message->comm);
  memcpy (task->comm, message->comm, sizeof task->comm);
  if (!tracer->paused)
    flam_task_settle (task, stat, message);
  flam_pipe_commit (tracer->pipe, 1);
}

/* For a program that is still being loaded, by the loader or by itself. */
static gboolean
has_mapped (FlamTarget *target, FlamTask *task)
{
  guint64 size = flam_proc_code_size (target->pid, task->tid);

  if (size == 0 || size == target->code_size)
    return FALSE;
  target->code_size = size;
  return TRUE;
}

void
flam_launch_exec_look (FlamTracer *tracer, FlamTask *task)
{
  FlamTarget *target = task->target;
  gint64 now = flam_tracer_now (tracer);

  if (now < target->young_until
          ? has_mapped (target, task)
          : flam_loader_has_news (&target->loader, task->tid, now))
    tell_maps (tracer, task);
}

/* The kernel gives a program no privileges that its tracer lacks. */
static gboolean
lost_its_rights (pid_t tid)
{
  char path[40];
  struct stat st;

  if (geteuid () == 0)
    return FALSE;
  g_snprintf (path, sizeof path, "/proc/%d/exe", (int)tid);
  return stat (path, &st) == 0 &&
         (((st.st_mode & S_ISUID) && st.st_uid != geteuid ()) ||
          ((st.st_mode & S_ISGID) && st.st_gid != getegid ()));
}

static void
read_program_name (FlamTarget *target, pid_t tid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/comm", (int)tid);
  g_autofree char *name = NULL;

  if (g_file_get_contents (path, &name, NULL, NULL))
    g_strlcpy (target->program, g_strchomp (name), sizeof target->program);
}

/* "NAME", 0, "WHY", 0. */
static void
tell_missed (FlamTracer *tracer, FlamTarget *target, const char *why)
{
  const char *name = target->program;
  gsize n_name = strlen (name) + 1, n_why = strlen (why) + 1;
  FlamMessage *message = flam_pipe_reserve (
      tracer->pipe, FLAM_MESSAGE_TARGET_MISSED, 0, n_name + n_why, FALSE);
  char *text = flam_message_data (message);

  memcpy (text, name, n_name);
  memcpy (text + n_name, why, n_why);
  message->target = target;
  message->time = flam_tracer_now (tracer);
  flam_pipe_commit (tracer->pipe, n_name + n_why);
}

char *
flam_launch_exec_attach_library (FlamTracer *tracer,
                                 const FlamTracing *tracing,
                                 pid_t pid)
{
  g_autofree char *why = NULL;
  FlamAllocAttached *attached =
      flam_alloc_attach (tracer->injection, tracing, pid, &why);
  /* It may have ended meanwhile. */
  FlamTarget *target =
      g_hash_table_lookup (tracer->tasks.by_pid, GINT_TO_POINTER (pid));

  if (target == NULL)
    {
      g_clear_pointer (&attached, flam_alloc_attached_free);
      return g_strdup (N_ ("has ended"));
    }
  read_program_name (target, pid);
  target->injected = attached != NULL;
  target->attached = attached;
  if (attached == NULL)
    tell_missed (tracer, target, why);
  return g_steal_pointer (&why);
}

static void
inject (FlamTracer *tracer, FlamTask *task)
{
  const char *why = flam_inject (tracer->injection, task->tid);

  read_program_name (task->target, task->tid);
  task->target->injected = why == NULL;
  if (why != NULL)
    tell_missed (tracer, task->target, why);
}

/* The thread that called exec continues with the leader's number; the end of
 * its former number is not reported. The program runs while the rest is done,
 * unless it is to load the allocation library. */
void
flam_launch_exec_exec (FlamTracer *tracer, FlamTask *task)
{
  unsigned long former = 0;
  guint64 regs[FLAM_N_REGS];
  FlamStopContext context;
  FlamSchedstat stat;
  FlamTask *old;
  gboolean known, injects = tracer->injection != NULL;

  if (tracer->faults != NULL)
    flam_faults_drain (tracer->faults, tracer);
  ptrace (PTRACE_GETEVENTMSG, task->tid, NULL, &former);
  old = flam_tasks_find (&tracer->tasks, (pid_t)former);
  if (old != NULL && old != task)
    flam_tasks_succeed (&tracer->tasks, task, old, flam_tracer_now (tracer));
  else if (old == NULL)
    flam_tasks_reopen (task);
  flam_task_forget_stack (task);
  flam_tasks_forget_runtimes (task);
  g_atomic_pointer_set (&task->hint_top, 0);
  flam_stop_registers (task->tid, FALSE, regs, &context);
  task->target->foreign = context.foreign;
  tracer->stats.refused += task->target->foreign;
  tracer->stats.setuid_dropped += lost_its_rights (task->tid);
  task->target->young_until = flam_tracer_now (tracer) + FLAM_YOUNG_TIME;
  task->target->code_size = 0;
  task->target->loader = (FlamLoader){ 0 };
  g_clear_pointer (&task->target->attached, flam_alloc_attached_free);
  tracer->young_until = task->target->young_until;
  g_atomic_int_inc (&task->target->hint_program);
  known = flam_task_read_schedstat (task, &stat);
  if (!injects)
    flam_tracer_resume (tracer, task, 0);
  tell_exec (tracer, task, known ? &stat : NULL);
  if (!injects)
    return;
  inject (tracer, task);
  flam_tracer_resume (tracer, task, 0);
}
