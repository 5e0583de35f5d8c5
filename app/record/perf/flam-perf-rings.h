/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_RINGS_H
#define FLAM_PERF_RINGS_H

/* perf_event_open(2): events of threads and of the threads and processes that
 * they create, and the records that the kernel writes about them.
 *
 *   thread ──┬─ event on CPU 0 ──▶ ring 0 ──┐
 *            └─ event on CPU 1 ──▶ ring 1 ──┴─▶ records in the order of time
 *
 * An inherited event needs a CPU of its own to have a ring, so every thread has
 * one event per CPU; those of all threads on one CPU share its ring.
 * Source: include/uapi/linux/perf_event.h, perf_event_open(2). */

#include <glib.h>
#include <sys/types.h>

#include "flam-perf-copies.h"
#include "flam-task.h"

typedef enum
{
  FLAM_PERF_OTHER,
  FLAM_PERF_MAPPED,
  FLAM_PERF_NAMED, /* `executed`: by exec */
  FLAM_PERF_BEGAN, /* a thread or process was created */
  FLAM_PERF_ENDED,
  FLAM_PERF_SAMPLED,
  FLAM_PERF_ON_CPU,
  FLAM_PERF_OFF_CPU, /* `preempted`: it would have run on */
  FLAM_PERF_LOST,
} FlamPerfKind;

/* Pointers are valid until the next record is read. */
typedef struct
{
  FlamPerfKind kind;
  pid_t pid, tid;
  gint64 time; /* CLOCK_MONOTONIC, ns */
  gboolean executed;
  gboolean preempted;
  pid_t parent;                      /* BEGAN: the process that created it */
  const char *text;                  /* NAMED: the name; MAPPED: the path */
  guint64 start, end, offset, inode; /* MAPPED */
  guint64 device;                    /* MAPPED, as in FlamMapping */
  gboolean executable;
  guint64 lost; /* LOST: number of records */
  /* SAMPLED: */
  guint event;    /* the index in FlamPerfOptions.events */
  guint64 period; /* the event's count since its last sample */
  guint64 regs[FLAM_N_REGS];
  gboolean has_regs;     /* the thread has user code of this machine */
  gboolean foreign;      /* of another machine */
  const guint64 *kernel; /* addresses, innermost first */
  guint n_kernel;
  const void *stack;
  gsize stack_size;
  const FlamPerfCopied *copied; /* right before the sample; NULL: nothing */
  const guint8 *raw;            /* of a tracepoint */
  gsize n_raw;
} FlamPerfRecord;

/* An event that is counted and sampled. */
typedef struct
{
  guint32 type;
  guint64 config;
  guint64 period; /* a sample at each multiple of it; 0: by frequency */
  gboolean raw;   /* a tracepoint: samples have its record, and no stack */
} FlamPerfEvent;

typedef struct
{
  const FlamPerfEvent *events;
  guint n_events;
  guint64 frequency;     /* Hz, of events without a period */
  guint32 stack;         /* bytes of stack in a sample */
  gboolean children;     /* child processes, not only threads */
  gboolean on_exec;      /* begins when the thread calls exec */
  gboolean only_samples; /* no records of threads and mappings; without the
                            kernel's part of stacks; read only now and then */
  gboolean user_only;    /* excluding the kernel */
  gsize ring_least;      /* bytes: smaller rings fail with ENOMEM; 0: any */
  const FlamPerfCopies *copies; /* made at samples with a stack; or NULL */
} FlamPerfOptions;

typedef struct _FlamPerfRings FlamPerfRings;

/* Why the kernel's part of stacks cannot be sampled here, with a remedy; NULL:
 * it can be. */
const char *flam_perf_obstacle (void);
/* Whether samples of an event can be taken here; FALSE sets errno. */
gboolean flam_perf_can_sample (const FlamPerfEvent *event);
/* The text for an errno of perf_event_open() or of mapping a ring. */
const char *flam_perf_problem (int code);

FlamPerfRings *flam_perf_rings_new (const FlamPerfOptions *options);
void flam_perf_rings_free (FlamPerfRings *rings);
/* Opens the events of a thread. FALSE sets errno; ESRCH: it has ended. */
gboolean flam_perf_rings_add (FlamPerfRings *rings, pid_t tid);
/* Opens the first event for each CPU that has a ring, whatever runs there; for
 * records of threads, and other events, those of the threads remain. Needs
 * flam_perf_copies_prepare_cpus(). FALSE sets errno. */
gboolean flam_perf_rings_add_cpus (FlamPerfRings *rings);
/* The period of an event; 0: by frequency. */
guint64 flam_perf_rings_period (const FlamPerfRings *rings, guint event);
/* How often an event was counted, in all threads. */
guint64 flam_perf_rings_count (const FlamPerfRings *rings, guint event);
/* No more records are written. */
void flam_perf_rings_stop (FlamPerfRings *rings);
/* Begins to read the records written so far, except those of the last `latest`
 * ns, since older ones may still arrive from another CPU. */
void flam_perf_rings_begin (FlamPerfRings *rings, gint64 latest);
/* The same for the records until a time, CLOCK_MONOTONIC. */
void flam_perf_rings_begin_until (FlamPerfRings *rings, gint64 until);
/* Older records were read: CLOCK_MONOTONIC, ns. */
gint64 flam_perf_rings_until (const FlamPerfRings *rings);
/* The next record, or FALSE. */
gboolean flam_perf_rings_next (FlamPerfRings *rings, FlamPerfRecord *record);
/* Bytes of the smallest ring; 0: there is none. */
gsize flam_perf_rings_size (const FlamPerfRings *rings);
/* How many samples it has room for. */
guint flam_perf_rings_room (const FlamPerfRings *rings);
/* Descriptors that poll() finds readable when a ring has a sample. */
const GArray *flam_perf_rings_fds (const FlamPerfRings *rings);
/* This one is not worth polling any longer. */
void flam_perf_rings_ignore (FlamPerfRings *rings, int fd);

#endif
