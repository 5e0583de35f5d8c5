/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-faults.h"

#include <errno.h>
#include <linux/perf_event.h>

#include "flam-perf-sample.h"

#define STACK (16u << 10)

#define N_EVENTS 2

struct _FlamFaults
{
  FlamPerfRings *rings;
  FlamPerfCounts counts;
};

static FlamPerfRings *
make_rings (const FlamTracer *tracer, gboolean launched, gboolean user_only)
{
  FlamPerfEvent events[N_EVENTS] = {
    { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, 0 },
    { PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1 },
  };
  FlamPerfOptions options = {
    .events = events,
    .n_events = N_EVENTS,
    .frequency = FLAM_FAULTS_RATE,
    .stack = STACK,
    .children = tracer->options->follow,
    .on_exec = launched,
    .only_samples = TRUE,
    .user_only = user_only,
  };

  events[0].period = tracer->options->exact ? 1 : 0;
  return flam_perf_rings_new (&options);
}

FlamFaults *
flam_faults_new (const FlamTracer *tracer, gboolean launched, char **why)
{
  gboolean user_only = flam_perf_obstacle () != NULL;
  FlamFaults *faults = g_new0 (FlamFaults, 1);

  *why =
      user_only
          ? g_strdup (N_ ("page faults in the kernel, such as those of read(), "
                          "are not counted: the system does not permit it"))
          : NULL;
  faults->rings = make_rings (tracer, launched, user_only);
  flam_perf_counts_init (&faults->counts, 0, N_EVENTS);
  return faults;
}

void
flam_faults_free (FlamFaults *faults)
{
  flam_perf_rings_free (faults->rings);
  flam_perf_counts_clear (&faults->counts);
  g_free (faults);
}

gboolean
flam_faults_add (FlamFaults *faults, pid_t tid)
{
  return flam_perf_rings_add (faults->rings, tid);
}

static void
drain (FlamFaults *faults, FlamTracer *tracer, gboolean last)
{
  FlamPerfRecord record;

  flam_perf_rings_begin_until (faults->rings, G_MAXINT64);
  while (flam_perf_rings_next (faults->rings, &record))
    {
      FlamTask *task = flam_tasks_find (&tracer->tasks, record.tid);

      if (record.kind == FLAM_PERF_LOST)
        tracer->stats.lost += record.lost;
      if (record.kind == FLAM_PERF_SAMPLED && task != NULL && !tracer->paused &&
          !record.foreign && record.period > 0)
        tracer->stats.lost += !flam_perf_counts_take (
            &faults->counts, tracer, task, &record, STACK);
    }
  flam_perf_counts_tell (&faults->counts, tracer, faults->rings, last);
}

void
flam_faults_drain (FlamFaults *faults, FlamTracer *tracer)
{
  drain (faults, tracer, FALSE);
}

void
flam_faults_finish (FlamFaults *faults, FlamTracer *tracer)
{
  drain (faults, tracer, TRUE);
}

const GArray *
flam_faults_fds (const FlamFaults *faults)
{
  return flam_perf_rings_fds (faults->rings);
}

void
flam_faults_ignore (FlamFaults *faults, int fd)
{
  flam_perf_rings_ignore (faults->rings, fd);
}
