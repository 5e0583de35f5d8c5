/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_THREADS_H
#define FLAM_RUNTIME_THREADS_H

/* The names that a language gives to its threads, of one process: longer than
 * the 15 bytes that the system keeps. They are read now and then, while the
 * process runs: at most ten times a second, and less often where that takes
 * long. */

#include "flam-runtime-processes.h"

typedef struct _FlamRuntimeThreads FlamRuntimeThreads;

FlamRuntimeThreads *flam_runtime_threads_new (pid_t pid);
void flam_runtime_threads_free (FlamRuntimeThreads *threads);
/* Reads them, if it is time to. `tid` is a thread that is alive. */
void flam_runtime_threads_refresh (FlamRuntimeThreads *threads,
                                   const FlamRuntimeSet *set,
                                   pid_t tid,
                                   gint64 now);
/* Reads the name of a thread whose stack begins at `top`. */
void flam_runtime_threads_read (FlamRuntimeThreads *threads,
                                const FlamRuntimeSet *set,
                                pid_t tid,
                                guint64 top);
/* Its number may be used again. */
void flam_runtime_threads_forget (FlamRuntimeThreads *threads, pid_t tid);
/* NULL: it has no such name. Valid until the next call of refresh. */
const char *flam_runtime_threads_get (const FlamRuntimeThreads *threads,
                                      pid_t tid);

#endif
