/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-trace-threads.h"

#include "flam-load.h"

typedef struct
{
  FlamTraceWho who;
  FlamThreadId thread;
} Known;

void
flam_trace_threads_init (FlamTraceThreads *threads,
                         FlamLoad *load,
                         FlamTraceSamples *samples)
{
  threads->builder = load->builder;
  threads->samples = samples;
  flam_arena_column (load, &threads->known, Known);
  flam_arena_interner (load, &threads->index);
}

/* The builder's own text moves when another is added. */
static char *
copy_text (FlamTraceThreads *threads, FlamStringId text)
{
  return g_strdup (flam_builder_get_string (threads->builder, text));
}

/* The text distinguishes processes without a number. */
FlamProcessId
flam_trace_threads_process (FlamTraceThreads *threads, const FlamTraceWho *who)
{
  FlamProcessId process;
  g_autofree char *name = NULL;

  if (who->pid_name == 0)
    return flam_builder_process (
        threads->builder, CLAMP (who->pid, -1, G_MAXINT32), 0);
  process = flam_builder_process (threads->builder, -1, who->pid_name);
  name = copy_text (threads, who->pid_name);
  flam_builder_set_process_name (threads->builder, process, name);
  return process;
}

static FlamThreadId
make_thread (FlamTraceThreads *threads, const FlamTraceWho *who)
{
  FlamProcessId process = flam_trace_threads_process (threads, who);
  FlamThreadId thread = flam_builder_thread (threads->builder,
                                             process,
                                             CLAMP (who->tid, -1, G_MAXINT32),
                                             who->tid_name);

  if (who->tid_name != 0)
    {
      g_autofree char *name = copy_text (threads, who->tid_name);
      flam_builder_set_thread_name (threads->builder, thread, name);
    }
  else
    flam_trace_samples_see_thread (threads->samples, who->tid, thread);
  return thread;
}

static gboolean
known_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamTraceWho *a = &((const Known *)table)[row].who;
  const FlamTraceWho *b = key;

  return a->pid == b->pid && a->tid == b->tid && a->pid_name == b->pid_name &&
         a->tid_name == b->tid_name;
}

FlamId
flam_trace_threads_find (FlamTraceThreads *threads, const FlamTraceWho *who)
{
  guint32 hash = flam_hash_pair (flam_hash_mix (who->pid, who->tid),
                                 flam_hash_mix (who->pid_name, who->tid_name));
  FlamSlot *slot = flam_interner_find (
      &threads->index, hash, known_equal, threads->known.data, who);

  if (slot->id == FLAM_NONE)
    {
      Known known = { .who = *who };

      *slot = (FlamSlot){ hash, threads->known.n };
      threads->index.used++;
      known.thread = make_thread (threads, who);
      flam_column_append (&threads->known, Known, known);
    }
  return flam_column_at (&threads->known, Known, slot->id).thread;
}
