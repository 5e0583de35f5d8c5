/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LAUNCH_EXEC_H
#define FLAM_LAUNCH_EXEC_H

/* Programs that begin under the tracer: the one that is launched or attached
 * to, and each program that a process runs by exec. */

#include "flam-alloc-attach.h"
#include "flam-tracer-state.h"

/* Launches or attaches. flam_tracer_run() must be called on the same thread. */
gboolean flam_launch_exec_start (FlamTracer *tracer, GError **error);
/* Begins to record a process, whose parent is recorded already or 0. */
typedef gboolean (*FlamAttach) (gpointer data,
                                pid_t pid,
                                pid_t parent,
                                GError **error);
/* The FlamAttach of this engine; `tracer`: a FlamTracer. */
gboolean flam_launch_exec_attach_to (gpointer tracer,
                                     pid_t pid,
                                     pid_t parent,
                                     GError **error);
/* Attaches to the process of the options, and its descendants if they are
 * followed. */
gboolean flam_launch_exec_attach (FlamTracer *tracer,
                                  FlamAttach attach,
                                  gpointer data,
                                  GError **error);
/* Reports on the control descriptor that the recording has begun. */
void flam_launch_exec_announce (FlamTracer *tracer);
/* PTRACE_O_* of all threads. */
unsigned long flam_launch_exec_options (const FlamTracer *tracer);
/* Begins the recording of a thread that was attached to. */
void flam_launch_exec_begin_thread (FlamTracer *tracer, FlamTask *task);
/* The same for all of them, and the time of the recording. */
void flam_launch_exec_begin_attached (FlamTracer *tracer);
/* Puts the allocation library into a process that was attached to. NULL, or the
 * reason why it cannot be, g_free, which is reported, too. */
char *flam_launch_exec_attach_library (FlamTracer *tracer,
                                       const FlamTracing *tracing,
                                       pid_t pid);
/* Called when `task` has stopped for a sample: reports the mappings if a
 * library was loaded, or if the program is young and has mapped code. */
void flam_launch_exec_look (FlamTracer *tracer, FlamTask *task);
/* Called when `task` has stopped in exec: continues it. */
void flam_launch_exec_exec (FlamTracer *tracer, FlamTask *task);

#endif
