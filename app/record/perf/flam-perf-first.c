/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-chains.h"
#include "flam-perf-state.h"

#include "flam-commands.h"

/* The kernel begins the first period of a thread with the thread, and all that
 * a thread does in it is never sampled:
 *
 *   child 1  |--------x--------x-----|
 *   child 2  |--------x---|            x: a sample, after each period
 *   child 3  |-----|
 *
 * That is nothing to threads that live long. But in a server with a child of
 * some ms for each request, the children's first function had 1.4 % where 9 %
 * is true at 997 Hz, and nothing at 100 Hz. Once such threads use more than a
 * small part of the CPU time, the events are opened again, with several ticks
 * in a period, of which one at random is a sample. A tick that is none takes
 * some 10 µs on a virtual machine, so that other programs are spared them. */

/* Too much of the CPU time is one part of this many; too few periods may be
 * chance. */
#define MUCH_PART 20
#define FEW_PERIODS 5

static gint64
all_cpu (const FlamPerf *perf)
{
  const GPtrArray *tasks = perf->tracer->tasks.list;
  gint64 cpu = perf->tracer->tasks.charged_cpu;

  for (guint i = 0; i < tasks->len; i++)
    {
      const FlamTask *task = g_ptr_array_index (tasks, i);

      cpu += flam_perf_find_thread (perf, task->tid)->total;
    }
  return cpu;
}

static gboolean
is_much (const FlamPerf *perf)
{
  gint64 period = (gint64)flam_perf_rings_period (perf->rings, FLAM_PERF_CLOCK);

  return perf->first_periods > FEW_PERIODS * period &&
         perf->first_periods > all_cpu (perf) / MUCH_PART;
}

static const FlamPerfCopies *
copies_of (const FlamPerf *perf)
{
  return perf->tracer->chains != NULL
             ? flam_perf_chains_copies (perf->tracer->chains)
             : NULL;
}

gboolean
flam_perf_first_look (FlamPerf *perf)
{
  const FlamPerfCopies *copies = copies_of (perf);

  if (perf->thins_out || copies == NULL ||
      !flam_perf_copies_can_thin_out (copies) || !is_much (perf))
    return FALSE;
  perf->thins_out = TRUE;
  return TRUE;
}

void
flam_perf_first_warn (FlamPerf *perf)
{
  const FlamPerfCopies *copies = copies_of (perf);
  gint64 cpu = all_cpu (perf);
  g_autofree char *text = NULL;

  if ((copies != NULL && flam_perf_copies_can_thin_out (copies)) ||
      !is_much (perf))
    return;
  text = g_strdup_printf (
      N_ ("the beginning of each thread was not sampled, in all %d %% of the "
          "CPU time, since the system does not permit the kernel's clock to "
          "tick at random (bpf, CAP_BPF): use --engine ptrace"),
      (int)(100 * perf->first_periods / cpu));
  flam_tracer_warn (perf->tracer, text);
}
