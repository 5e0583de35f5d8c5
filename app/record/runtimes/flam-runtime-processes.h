/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_PROCESSES_H
#define FLAM_RUNTIME_PROCESSES_H

/* The runtimes in a process, as the sampler finds them in its mappings, and its
 * hint about them for the tracer.
 *
 *   mappings ─▶ begin, note, note ... ─▶ open ─▶ a set of the opened ones
 *                                       (a hint for the tracer) */

#include "flam-runtime.h"

/* A runtime in a file: as long as the recording. */
typedef struct
{
  const FlamRuntime *runtime;
  FlamRuntimeFile file;
  const char *path;
} FlamRuntimeBinary;

#define FLAM_RUNTIME_SET_MAX 8

/* The opened runtimes of a process. Constant; it is freed after the tracer has
 * ended with the process. */
typedef struct _FlamRuntimeSet
{
  guint n;
  gboolean reads_later; /* frames of one are followed after the stop */
  const FlamRuntimeProcess *items[FLAM_RUNTIME_SET_MAX];
} FlamRuntimeSet;

/* Why a runtime cannot be read, reported once for each file. */
typedef void (*FlamRuntimeRefused) (gpointer data,
                                    const FlamRuntime *runtime,
                                    const char *path,
                                    const FlamRuntimeFile *file,
                                    const char *why,
                                    const char *help);

typedef struct _FlamRuntimeProcesses FlamRuntimeProcesses;

FlamRuntimeProcesses *flam_runtime_processes_new (pid_t pid);
void flam_runtime_processes_free (FlamRuntimeProcesses *processes);
/* A new list of mappings, in any order; runtimes that are not noted again are
 * gone. */
void flam_runtime_processes_begin (FlamRuntimeProcesses *processes);
void flam_runtime_processes_note (FlamRuntimeProcesses *processes,
                                  const FlamRuntimeBinary *binary,
                                  guint64 base);
/* Called after an exec: no runtime is left, and data read from them is void. */
void flam_runtime_processes_forget (FlamRuntimeProcesses *processes);
/* The child of a fork has its parent's. */
void flam_runtime_processes_inherit (FlamRuntimeProcesses *processes,
                                     const FlamRuntimeProcesses *parent);
/* Opens those that are new, or were not ready before, if it is time to. `tid`
 * is a thread that is alive. Returns whether the set has changed. */
gboolean flam_runtime_processes_open (FlamRuntimeProcesses *processes,
                                      pid_t tid,
                                      gint64 now,
                                      FlamRuntimeRefused refused,
                                      gpointer data);
/* NULL: none. */
const FlamRuntimeSet *
flam_runtime_processes_get (const FlamRuntimeProcesses *processes);

#endif
