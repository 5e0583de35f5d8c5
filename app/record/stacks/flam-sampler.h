/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SAMPLER_H
#define FLAM_SAMPLER_H

/* The sampler: takes the tracer's messages, unwinds the stacks in them, and
 * writes the capture, on a thread of its own. */

#include "flam-alloc-runtimes.h"
#include "flam-alloc-session.h"
#include "flam-batch.h"
#include "flam-call-ledger.h"
#include "flam-capture-writer.h"
#include "flam-record-options.h"
#include "flam-process-map.h"
#include "flam-runtime-stepper.h"

/* The kinds of rows of samples. */
enum
{
  FLAM_EVENT_SAMPLE,
  FLAM_EVENT_COUNTED,
  FLAM_EVENT_FIRST, /* of --events, or minor faults, then major ones */
};

/* Columns of weights. */
enum
{
  FLAM_WEIGHT_CPU,
  FLAM_WEIGHT_WALL,
  FLAM_WEIGHT_COUNT, /* of an event; only where events are counted */
};

typedef struct
{
  guint64 truncated;  /* stacks that do not reach their root */
  gint64 not_sampled; /* CPU time in rows that are not samples */
  guint64 samples;
  guint64 unnamed; /* managed frames without a name, in all samples */
} FlamSamplerStats;

typedef struct
{
  const FlamRecordOptions *options;
  FlamPipe *pipe;
  FlamCaptureWriter *writer;
  FlamBuilder *builder; /* its tables */
  FlamBinaryTable *binaries;
  FlamUnwindCache *cache;
  FlamRuntimeStepper *stepper; /* NULL: no managed frames are recorded */
  guint64 *pcs;
  guint64 *sps;
  GArray *mixed;      /* of the current stack, see flam_runtime_merge() */
  gint64 now;         /* time of the current message */
  gint64 flushed_at;  /* monotonic, µs */
  FlamId not_sampled; /* stack for CPU time without a sample */
  FlamId rss;         /* counter */
  gint64 rss_read_at;
  GArray *alive; /* pid_t, the processes that have not ended */
  FlamSamplerStats stats;
  GError *error;
  gboolean failed; /* atomic: writing is no longer possible */
  GThread *thread;
  GHashTable *processes;   /* pid -> capture's row + 1 */
  GHashTable *threads;     /* tid -> capture's row + 1 */
  FlamAllocSession *alloc; /* or NULL */
  GArray *counted; /* samples whose exact numbers are not known yet, or NULL */
  FlamCallLedger *calls;          /* or NULL; with the following two */
  GHashTable *mappers;            /* module -> FlamAllocRuntime */
  const FlamAllocRuntime *mapper; /* the first one; NULL: none yet */
} FlamSampler;

void flam_sampler_init (FlamSampler *sampler,
                        const FlamRecordOptions *options,
                        FlamPipe *pipe,
                        FlamCaptureWriter *writer);
void flam_sampler_clear (FlamSampler *sampler);
/* The row of a process or thread; a new row if it is unknown. */
FlamProcessId
flam_sampler_process (FlamSampler *sampler, pid_t pid, FlamId parent);
FlamThreadId
flam_sampler_thread (FlamSampler *sampler, FlamProcessId process, pid_t tid);
/* Records allocations too, and adds the variables that the target needs to
 * `environment`. Called before flam_sampler_start(). `spill`: as in
 * flam_alloc_session_new(). */
gboolean flam_sampler_record_allocations (FlamSampler *sampler,
                                          gint64 origin,
                                          int spill,
                                          char ***environment,
                                          GError **error);
/* How many columns a recording with these options has. */
guint flam_sampler_n_weights (const FlamRecordOptions *options);
/* Records page faults, the results of system calls, and events, as the options
 * demand. */
void flam_sampler_record_calls (FlamSampler *sampler);
/* At the beginning and at the end of a process. */
void flam_sampler_begin_calls (FlamSampler *sampler, FlamTarget *target);
void flam_sampler_end_calls (FlamSampler *sampler, FlamTarget *target);
void flam_sampler_end_thread (FlamSampler *sampler, const FlamMessage *message);
/* The stack for time without a sample. */
FlamStackId flam_sampler_not_sampled (FlamSampler *sampler);
/* Messages of these kinds. */
void flam_sampler_take_call (FlamSampler *sampler, const FlamMessage *message);
void flam_sampler_take_counted (FlamSampler *sampler,
                                const FlamMessage *message);
void flam_sampler_take_total (FlamSampler *sampler, const FlamMessage *message);
/* Before a process is attached to: reads its programs and libraries now, so
 * that this does not delay anything once it is traced. */
void flam_sampler_expect (FlamSampler *sampler, pid_t pid);
/* Handles the available messages on the calling thread: the attached process
 * and its runtimes are known before the first sample. Called before
 * flam_sampler_start(). */
void flam_sampler_catch_up (FlamSampler *sampler);
void flam_sampler_start (FlamSampler *sampler);
/* Writes a message that is a sample, with its stack, as a row. */
void flam_sampler_put_sample (FlamSampler *sampler,
                              const FlamMessage *message,
                              FlamStackId stack);
/* Sets the gaps of a process that another recorded one has created. */
void flam_sampler_find_siblings (FlamSampler *sampler,
                                 FlamTask *task,
                                 const char *program);
/* At a thread's end, or that of its program: writes its CPU time that is in no
 * sample. */
void flam_sampler_put_rest (FlamSampler *sampler, const FlamMessage *message);
/* Returns when the last message was read. */
void flam_sampler_join (FlamSampler *sampler);

#endif
