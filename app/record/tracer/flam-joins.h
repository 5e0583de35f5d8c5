/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JOINS_H
#define FLAM_JOINS_H

/* Threads that have ended and that no other has joined: the C library keeps
 * their stacks. No system call reports a join, but the library's list shows it
 * (nptl/descr.h, and the offsets that it has for debuggers: nptl_db):
 *
 *   _rtld_global._dl_stack_used ──▶ struct pthread ──▶ struct pthread ──▶ ...
 *                                     tid  123          0     ended
 *                                                       -1    joined
 *
 * A thread that is not in the list when it ends is detached. Without a list, as
 * with other C libraries, a thread is gone when it ends. */

#include "flam-tracer-state.h"

/* The stopped `task` has created the thread `created`, in its own process. */
void flam_joins_begin (FlamTracer *tracer, FlamTask *task, pid_t created);
/* Called at the stop at a thread's end: sets task->is_kept. */
void flam_joins_end (FlamTracer *tracer, FlamTask *task);
/* At an exec, which ends all threads but one. */
void flam_joins_exec (FlamTracer *tracer, FlamTask *task);
/* Reports the threads that were joined since. `task`: one of the process. */
void flam_joins_look (FlamTracer *tracer, FlamTask *task);

#endif
