/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The cost of reading a stack, whether its thread stopped for it or sleeps; and
 * the clock for all messages. */

#include "flam-tracer-state.h"

#include <sys/ptrace.h>
#include <time.h>

/* A deep stack is not read for this multiple of the time that reading it
 * took. */
#define DEEP_BYTES (256u << 10)
#define DEEP_FRAMES 4096
#define DEEP_REST 20

static gint64
clock_ns (clockid_t clock)
{
  struct timespec ts;

  clock_gettime (clock, &ts);
  return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

gint64
flam_tracer_now (const FlamTracer *tracer)
{
  return clock_ns (CLOCK_MONOTONIC) - tracer->origin;
}

static void
resume (pid_t tid, gboolean calls, int sig)
{
  ptrace (calls ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL, (void *)(glong)sig);
}

void
flam_tracer_resume (const FlamTracer *tracer, const FlamTask *task, int sig)
{
  resume (task->tid, tracer->follows_calls || task->short_call.active, sig);
}

void
flam_tracer_resume_new (const FlamTracer *tracer, pid_t tid)
{
  resume (tid, tracer->follows_calls, 0);
}

/* The number of items of its managed frames; not relevant to its sample while
 * it has no runtime. */
guint
flam_tracer_walk_runtimes (FlamTracer *tracer,
                           FlamTask *task,
                           const guint64 *regs,
                           guint32 known,
                           gsize n_stack,
                           gint64 now,
                           const FlamRuntimeCopied *copied)
{
  FlamRuntimeRegs copy = { .pc = regs[FLAM_UNWIND_PC],
                           .fs_base = task->fs_base,
                           .known = known,
                           .leaf = TRUE };

  if (tracer->runtimes == NULL)
    return 0;
  for (guint i = 0; i < FLAM_RUNTIME_N_REGS; i++)
    copy.general[i] = known >> i & 1 ? regs[i] : 0;
  return flam_runtime_reader_walk (
      tracer->runtimes, task, &copy, n_stack, now, copied);
}

/* The CPU time of this thread, which excludes the time it is preempted. */
gint64
flam_tracer_begin_read (const FlamTask *task)
{
  return task->deep ? clock_ns (CLOCK_THREAD_CPUTIME_ID) : 0;
}

void
flam_tracer_end_read (FlamTracer *tracer,
                      FlamTask *task,
                      gint64 began,
                      gsize n_bytes,
                      guint n_items)
{
  if (task->deep)
    task->rest_until = flam_tracer_now (tracer) +
                       DEEP_REST * (clock_ns (CLOCK_THREAD_CPUTIME_ID) - began);
  task->deep = n_bytes >= DEEP_BYTES || n_items >= DEEP_FRAMES;
}
