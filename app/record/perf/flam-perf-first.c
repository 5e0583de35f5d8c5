/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-chains.h"
#include "flam-perf-state.h"
#include "flam-perf-strangers.h"

#include "flam-commands.h"

/* The kernel's clock of a thread begins with the thread, and what a thread does
 * in its first period is never sampled:
 *
 *   child 1  |--------x--------x-----|
 *   child 2  |--------x---|            x: a sample, after each period
 *   child 3  |-----|
 *
 * That is nothing to threads that live long. But in a server with a child of
 * some ms for each request, the children's first function had 1.4 % where 9 %
 * is true at 997 Hz, and nothing at 100 Hz. Once such threads use more than a
 * small part of the CPU time, the clock of each CPU is used instead, which
 * ticks whatever runs there:
 *
 *   CPU 1    ---x--------x--------x---
 *   children |---|  |--------|  |-----|
 *
 * A program in the kernel drops the samples of other processes. Other
 * recordings leave the CPUs of other programs alone. */

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

static gboolean
use_cpus (FlamPerf *perf, FlamPerfCopies *copies)
{
  perf->strangers = flam_perf_strangers_new (perf->processes);
  if (perf->strangers == NULL)
    return FALSE;
  if (flam_perf_copies_prepare_cpus (
          copies, flam_perf_strangers_map (perf->strangers)) &&
      flam_perf_rings_add_cpus (perf->rings) &&
      flam_perf_copies_silence_threads (copies))
    return TRUE;
  g_clear_pointer (&perf->strangers, flam_perf_strangers_free);
  return FALSE;
}

void
flam_perf_first_look (FlamPerf *perf)
{
  FlamPerfCopies *copies = perf->tracer->chains != NULL
                               ? flam_perf_chains_copies (perf->tracer->chains)
                               : NULL;

  if (perf->first_handled || !is_much (perf))
    return;
  perf->first_handled = TRUE;
  if (copies != NULL)
    use_cpus (perf, copies);
}

void
flam_perf_first_warn (FlamPerf *perf)
{
  g_autofree char *text = NULL;

  if (perf->strangers != NULL || !is_much (perf))
    return;
  text = g_strdup_printf (
      N_ ("the beginning of each thread was not sampled, in all %d %% of the "
          "CPU time, since the system does not permit the clock of the CPUs to "
          "be used (bpf, CAP_BPF and CAP_PERFMON): use --engine ptrace"),
      (int)(100 * perf->first_periods / all_cpu (perf)));
  flam_tracer_warn (perf->tracer, text);
}
