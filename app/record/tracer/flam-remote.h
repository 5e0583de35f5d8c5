/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_REMOTE_H
#define FLAM_REMOTE_H

/* Calls of functions in a traced process, and of the kernel, in one of its
 * threads, whose state afterwards is what it was before:
 *
 *   stop ─▶ save registers (all of them), signal mask
 *        ─▶ own stack, by mmap: neither the red zone below the thread's stack
 *           pointer nor a small alternative or goroutine stack is touched
 *        ─▶ call: returns to a `syscall` instruction, which stops again
 *        ─▶ stop ─▶ restore
 *
 * Signals are blocked meanwhile and remain pending, so that they are delivered
 * afterwards; the mask of a call like sigsuspend() is set again as the kernel
 * restarts the call. A call that the stop has interrupted is restarted by the
 * kernel because the last stop is of the kind at which it decides that from the
 * registers (arch/x86/kernel/signal.c): nothing else is written, and no
 * breakpoint is set. The other threads run; their stops are passed on.
 *
 * If the tracer is killed meanwhile, the thread finds back by itself: whatever
 * it is made to do returns to a frame of a signal (flam-return-frame.h), one on
 * its own stack and one on the other. Functions must not return a number below
 * 4096, which would be that of a system call. */

#include <glib.h>
#include <sys/types.h>

typedef struct
{
  /* Handles a stop of another thread, and resumes it. */
  void (*stopped) (gpointer data, pid_t tid, int status);
  gpointer data;
  unsigned long options; /* for ptrace, of all threads */
} FlamTracing;

typedef struct _FlamRemote FlamRemote;

/* Stops a thread that runs or sleeps. FALSE: it has ended, or is not stopped
 * within `timeout` ns. It may be continued by PTRACE_CONT. */
gboolean
flam_remote_stop (const FlamTracing *tracing, pid_t tid, gint64 timeout);
/* For a thread that was stopped in this way. `gate`: the address of the
 * instructions `syscall; ret`; `leave`: of the instructions that call
 * rt_sigreturn. NULL: it cannot be used; it is stopped, and unchanged. */
FlamRemote *flam_remote_begin (const FlamTracing *tracing,
                               pid_t pid,
                               pid_t tid,
                               guint64 gate,
                               guint64 leave);
/* Restores the thread, which is stopped then, and frees. */
void flam_remote_end (FlamRemote *remote);

#define FLAM_REMOTE_DATA 16384 /* bytes */
/* Copies data into the process, at most this many bytes, until the next put;
 * returns the address, or 0. */
guint64 flam_remote_put (FlamRemote *remote, gconstpointer data, gsize size);
/* Calls a function with up to three arguments. FALSE: it has not returned after
 * `timeout` ns, or failed; the thread is stopped somewhere in it. */
gboolean flam_remote_call (FlamRemote *remote,
                           guint64 function,
                           const guint64 arguments[3],
                           gint64 timeout,
                           guint64 *result);

#endif
