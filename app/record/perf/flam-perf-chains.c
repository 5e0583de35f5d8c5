/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-chains.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "flam-commands.h"
#include "flam-runtime-pages.h"
#include "flam-stops.h"

#define ALL_REGS 0xffffu

typedef struct
{
  guint64 number; /* the kernel's; 0: unknown */
  FlamPerfWanted wanted;
  gboolean asked;    /* for its thread pointer */
  gboolean answered; /* or it is unavailable */
} Thread;

struct _FlamPerfChains
{
  FlamPerfCopies *copies; /* NULL: not permitted */
  FlamPerfMemory *memory;
  FlamRuntimePages *pages;
  GHashTable *threads; /* tid -> Thread */
  GHashTable *warned;  /* FlamRuntime */
  guint n_asked;
};

FlamPerfChains *
flam_perf_chains_new (void)
{
  FlamPerfChains *chains = g_new0 (FlamPerfChains, 1);

  chains->copies = flam_perf_copies_new ((guint)sysconf (_SC_NPROCESSORS_CONF));
  chains->memory = flam_perf_memory_new ();
  chains->pages = flam_runtime_pages_new ();
  chains->threads = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  chains->warned = g_hash_table_new (NULL, NULL);
  return chains;
}

void
flam_perf_chains_free (FlamPerfChains *chains)
{
  g_clear_pointer (&chains->copies, flam_perf_copies_free);
  flam_perf_memory_free (chains->memory);
  flam_runtime_pages_free (chains->pages);
  g_hash_table_unref (chains->threads);
  g_hash_table_unref (chains->warned);
  g_free (chains);
}

FlamPerfCopies *
flam_perf_chains_copies (const FlamPerfChains *chains)
{
  return chains->copies;
}

static Thread *
thread_of (FlamPerfChains *chains, pid_t tid)
{
  gpointer key = GINT_TO_POINTER (tid);
  Thread *thread = g_hash_table_lookup (chains->threads, key);

  if (thread == NULL)
    {
      thread = g_new0 (Thread, 1);
      g_hash_table_insert (chains->threads, key, thread);
    }
  return thread;
}

void
flam_perf_chains_forget (FlamPerfChains *chains, pid_t tid)
{
  gpointer key = GINT_TO_POINTER (tid);
  const Thread *thread = g_hash_table_lookup (chains->threads, key);

  if (thread == NULL)
    return;
  chains->n_asked -= thread->asked && !thread->answered;
  if (thread->number != 0)
    flam_perf_copies_forget (chains->copies, thread->number);
  g_hash_table_remove (chains->threads, key);
}

/* --- the thread pointer -------------------------------------------------- */

guint
flam_perf_chains_asked (const FlamPerfChains *chains)
{
  return chains->n_asked;
}

/* The loop handles the stop, so that nothing waits for a thread that cannot
 * stop now. */
static void
ask (FlamPerfChains *chains, Thread *thread, pid_t tid)
{
  if (thread->asked)
    return;
  thread->asked = TRUE;
  thread->answered = ptrace (PTRACE_SEIZE, tid, NULL, NULL) != 0 ||
                     ptrace (PTRACE_INTERRUPT, tid, NULL, NULL) != 0;
  chains->n_asked += !thread->answered;
}

void
flam_perf_chains_take_stop (FlamPerfChains *chains,
                            FlamTracer *tracer,
                            pid_t tid,
                            int status)
{
  FlamTask *task = flam_tasks_find (&tracer->tasks, tid);
  Thread *thread = g_hash_table_lookup (chains->threads, GINT_TO_POINTER (tid));
  FlamStop stop = flam_stop_read (status);
  guint64 regs[FLAM_N_REGS];
  FlamStopContext context;

  if (flam_stop_registers (
          tid, stop.kind == FLAM_STOP_INTERRUPT, regs, &context) &&
      task != NULL)
    task->fs_base = context.fs_base;
  if (thread != NULL)
    {
      chains->n_asked -= thread->asked && !thread->answered;
      thread->answered = TRUE;
    }
  ptrace (PTRACE_DETACH,
          tid,
          NULL,
          (void *)(glong)(stop.kind == FLAM_STOP_SIGNAL ? stop.value : 0));
}

/* --- the frames ---------------------------------------------------------- */

/* If frames in a runtime's own data were read later, they would be those of a
 * later moment. */
static void
warn_of (FlamPerfChains *chains, FlamTracer *tracer, const FlamRuntime *runtime)
{
  g_autofree char *text = NULL;

  if (!g_hash_table_add (chains->warned, (gpointer)runtime))
    return;
  text = g_strdup_printf (
      N_ ("%s functions are not shown, since the system does not permit the "
          "kernel to copy them (bpf, CAP_BPF): use --engine ptrace"),
      runtime->label);
  flam_tracer_warn (tracer, text);
}

/* Whether there are frames to read. */
static gboolean
prepare (FlamPerfChains *chains,
         FlamTracer *tracer,
         FlamTask *task,
         Thread *thread)
{
  const FlamRuntimeSet *set =
      g_atomic_pointer_get (&task->target->hint_runtimes);
  gboolean any = FALSE;

  for (guint i = 0; set != NULL && i < set->n; i++)
    {
      const FlamRuntime *runtime = set->items[i]->runtime;
      gboolean copied;

      if (runtime->walk == NULL)
        continue;
      copied =
          chains->copies != NULL && flam_perf_copies_begin (chains->copies);
      if (!copied && !runtime->on_stack)
        warn_of (chains, tracer, runtime);
      else
        any = TRUE;
      if (copied && runtime->needs_regs && task->fs_base == 0)
        ask (chains, thread, task->tid);
    }
  return any;
}

guint
flam_perf_chains_walk (FlamPerfChains *chains,
                       FlamTracer *tracer,
                       FlamTask *task,
                       const FlamPerfRecord *record,
                       gint64 now)
{
  static const FlamRuntimeHints none = { 0 };
  FlamRuntimeCopied copied = { .memory = { flam_perf_memory_read,
                                           chains->memory },
                               .stack_only = record->copied == NULL };
  Thread *thread = thread_of (chains, task->tid);
  guint n;

  if (!prepare (chains, tracer, task, thread))
    return 0;
  flam_runtime_pages_begin (chains->pages, task->tid, &none, 0, 0);
  flam_perf_memory_begin (
      chains->memory,
      record->regs[FLAM_UNWIND_SP],
      record->stack,
      record->stack_size,
      record->copied,
      (FlamRuntimeMemory){ flam_runtime_pages_read, chains->pages });
  n = flam_tracer_walk_runtimes (
      tracer, task, record->regs, ALL_REGS, 0, now, &copied);
  if (record->copied == NULL)
    return n;
  thread->number = record->copied->thread;
  if (flam_perf_memory_end (chains->memory, &thread->wanted))
    flam_perf_copies_want (chains->copies,
                           thread->number,
                           thread->wanted.addresses,
                           thread->wanted.n);
  /* All of it was read too late. */
  return record->copied->n > 0 ? n : 0;
}
