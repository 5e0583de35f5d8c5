/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_STATE_H
#define FLAM_PERF_STATE_H

/* The state that the steps of this engine share:
 *
 *    flam-perf-events   what is counted and sampled
 *    flam-perf-rings    events, and the kernel's records
 *    flam-perf-sample   a sample as a message
 *    flam-perf-thread   a thread's time
 *    flam-perf-maps     a process's mappings
 *    flam-perf-list     the processes and threads
 *    flam-perf-take     records become threads, processes and messages
 *    flam-perf-off      the time off a CPU
 *    flam-perf-open     which threads are followed
 *    flam-perf-reopen   the same, with larger copies of stacks
 *    flam-perf-first    the first period of short-lived threads
 *
 * flam-perf.c is the loop. */

#include "flam-perf-events.h"
#include "flam-perf-maps.h"
#include "flam-perf-sample.h"
#include "flam-perf-thread.h"
#include "flam-perf.h"

/* Larger copies are made once a stack was cut off: the limit of a record is
 * 64 KiB. */
#define FLAM_PERF_STACK_MOST 64512u

typedef struct
{
  FlamTarget *target;
  FlamPerfMaps *maps;
  gboolean changed;       /* since they were last reported */
  gboolean changed_files; /* not only its anonymous mappings */
  gint64 told_at;
  gint64 read_at; /* from /proc */
  gint64 began;   /* the program */
} FlamPerfProcess;

/* The first event. */
#define FLAM_PERF_CLOCK 0

struct _FlamPerf
{
  FlamTracer *tracer;
  FlamPerfEvents *events;
  FlamPerfCounts counts;
  FlamPerfRings *rings;
  guint32 stack;                  /* bytes in a sample */
  GHashTable *threads;            /* tid -> FlamPerfThread */
  GHashTable *processes;          /* pid -> FlamPerfProcess */
  struct _FlamKernelNames *names; /* for wall time; NULL: hidden */
  GHashTable *waits;      /* address in the kernel, or way -> FlamState + 1 */
  gboolean wants_more;    /* a stack was cut off */
  gboolean prompt;        /* a ring has little room: it is read at once */
  gint64 told_at;         /* when sleepers were last reported */
  gint64 first_periods;   /* ns, of new threads, which have no sample */
  gboolean first_handled; /* they were too much */
  struct _FlamPerfStrangers *strangers; /* NULL: threads have own clocks */
};

/* --- flam-perf-list ------------------------------------------------------ */

/* `name`: NULL, read it. */
FlamPerfThread *flam_perf_add_thread (FlamPerf *perf,
                                      pid_t pid,
                                      pid_t parent,
                                      pid_t tid,
                                      const char *name,
                                      gint64 now);
void
flam_perf_remove_thread (FlamPerf *perf, FlamPerfThread *thread, gint64 now);
FlamPerfThread *flam_perf_find_thread (const FlamPerf *perf, pid_t tid);
FlamPerfProcess *flam_perf_find_process (const FlamPerf *perf, pid_t pid);
void flam_perf_process_free (gpointer process);

/* --- flam-perf-take ------------------------------------------------------ */

/* Reads and handles the records so far. */
void flam_perf_drain (FlamPerf *perf);
/* The same after the last record was written, for the records up to a time,
 * CLOCK_MONOTONIC. */
void flam_perf_drain_last (FlamPerf *perf, gint64 until);

/* --- flam-perf-off ------------------------------------------------------- */

gboolean flam_perf_wants_wall (const FlamPerf *perf);
/* Why a thread waits, by the kernel's functions at its sample of a switch. */
FlamState flam_perf_wait (FlamPerf *perf,
                          FlamPerfThread *thread,
                          const FlamPerfRecord *record);
/* Writes the time off a CPU until now. `woke`: it is over. */
void flam_perf_tell_off (FlamPerf *perf, FlamPerfThread *thread, gboolean woke);
/* The same at intervals for threads that are still asleep; also compares the
 * CPU time of all threads with the scheduler's. */
void flam_perf_tell_sleepers (FlamPerf *perf);

/* --- flam-perf-open ------------------------------------------------------ */

/* Copies have `perf->stack` bytes. `ring_least`: as in FlamPerfOptions. */
FlamPerfRings *
flam_perf_make_rings (FlamPerf *perf, gboolean on_exec, gsize ring_least);
/* Whether rings have to be read as soon as something is written. */
void flam_perf_look_at_room (FlamPerf *perf);
/* Follows the threads of a process that have no event yet. FALSE: there were
 * none. `problem`: an errno. */
gboolean
flam_perf_add_threads (FlamPerf *perf, pid_t pid, pid_t parent, int *problem);
/* Follows a process. `perf`: a FlamPerf. */
gboolean
flam_perf_attach_to (gpointer perf, pid_t pid, pid_t parent, GError **error);
/* From /proc. */
void flam_perf_read_maps (FlamPerfProcess *process);

/* --- flam-perf-reopen ---------------------------------------------------- */

/* Opens the events again, for larger copies of stacks. */
void flam_perf_reopen (FlamPerf *perf);

/* --- flam-perf-first ----------------------------------------------------- */

/* Uses the clock of the CPUs instead of that of the threads once too much of
 * the CPU time is in first periods. */
void flam_perf_first_look (FlamPerf *perf);
/* At the end, if it could not. */
void flam_perf_first_warn (FlamPerf *perf);

#endif
