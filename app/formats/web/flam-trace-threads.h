/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACE_THREADS_H
#define FLAM_TRACE_THREADS_H

/* The processes and threads of a Chrome trace. Both are identified by a number,
 * or by a text in place of one, which then is the name, too:
 *
 *    "pid":1,"tid":2              process 1, thread 2
 *    "pid":"build","tid":"io"     process "build" and its thread "io" */

#include "flam-core-profile.h"
#include "flam-trace-samples.h"

G_BEGIN_DECLS

/* The texts are the builder's; 0: it is a number. */
typedef struct
{
  gint64 pid, tid;
  FlamId pid_name, tid_name;
} FlamTraceWho;

typedef struct
{
  FlamBuilder *builder;
  FlamTraceSamples *samples; /* called with each thread that has a number */
  FlamColumn known;          /* Known */
  FlamInterner index;
} FlamTraceThreads;

void flam_trace_threads_init (FlamTraceThreads *threads,
                              FlamLoad *load,
                              FlamTraceSamples *samples);
FlamProcessId flam_trace_threads_process (FlamTraceThreads *threads,
                                          const FlamTraceWho *who);
FlamId flam_trace_threads_find (FlamTraceThreads *threads,
                                const FlamTraceWho *who);

G_END_DECLS

#endif
