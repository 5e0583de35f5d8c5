/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SHORT_CALL_H
#define FLAM_SHORT_CALL_H

/* System calls that a stop cuts short. A thread that waits in write() for room
 * in a pipe returns from it when it is stopped, with the number of bytes that
 * it has written by then. Without the recorder it would have written all of
 * them, and few programs expect anything else. So the call is made again for
 * the rest, and the program gets the sum:
 *
 *   write (1, p, 1000)            400     stop: repeated with (1, p + 400, 600)
 *                                 600     at its exit: the result is 1000
 *
 * The repeated call has stops at its entry and its exit, until when the thread
 * is continued with PTRACE_SYSCALL. What would have ended the call anyway also
 * ends the repeated one: a signal, an error, a full non-blocking pipe.
 *
 * Left alone: calls with lists of buffers (writev, sendmsg), those that may
 * return less at any time (read), all on AArch64, where the first argument is
 * lost, and programs into which the allocation library was brought while they
 * ran. If the recorder is killed during such a call, the program gets the
 * number of the rest only. */

#include <glib.h>

#include "flam-machine-call.h"

struct _FlamTask;

typedef struct
{
  FlamMachineCall call; /* as the program made it */
  gint64 done;          /* bytes, by all calls that have returned */
  gboolean active;
  gboolean entered; /* the repeated call has begun */
} FlamShortCall;

/* Whether a thread returns from a call that is short, for whatever reason. */
gboolean flam_short_call_is_at (struct _FlamTask *task);

/* At a stop that the tracer caused, or for a signal that the program ignores,
 * which only ends the calls of a traced thread, with the call that the thread
 * returns from and its result. FALSE: there is nothing to repeat. */
gboolean
flam_short_call_repeat (struct _FlamTask *task, long number, long result);

/* At the entry and exit of a system call. `cut`: the tracer has interrupted the
 * thread, which has no other stop for that. */
void flam_short_call_pass (struct _FlamTask *task, gboolean cut);

/* Before the thread handles a signal or is detached: the call ends here. */
void flam_short_call_settle (struct _FlamTask *task);

#endif
