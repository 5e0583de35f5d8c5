/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_UFTRACE_SYMBOLS_H
#define FLAM_UFTRACE_SYMBOLS_H

/* Names for addresses in a folder of uftrace:
 *
 *    task.txt      SESS timestamp=5.1 pid=7 sid=93e2 exename="/tmp/w"
 *                  TASK timestamp=5.2 tid=8 pid=7      threads
 *                  FORK timestamp=6.1 pid=9 ppid=7     processes
 *                  DLOP timestamp=6.2 tid=8 sid=93e2 base=7f00 libname="/l.so"
 *    sid-93e2.map  55d5-55d6 r-xp … /tmp/w build-id:…   where modules are
 *    w.sym         0000000000001050 P nanosleep         what is in them
 *
 * A process has the modules of its own sessions (one for each program that it
 * executed), or those of its parent until it forked. */

#include "flam-load.h"

typedef struct _FlamUftrace FlamUftrace;

/* `folder` is that of the info file; missing files only mean missing names. */
FlamUftrace *flam_uftrace_new (FlamLoad *load, const char *folder);
/* The thread with its process and their names. */
FlamThreadId flam_uftrace_thread (FlamUftrace *uftrace, gint32 tid);
/* The session of a thread at a time, and until when; FLAM_NONE: unknown. */
guint32 flam_uftrace_session (FlamUftrace *uftrace,
                              gint32 tid,
                              gint64 time,
                              gint64 *until);
FlamFrameId
flam_uftrace_frame (FlamUftrace *uftrace, guint32 session, guint64 address);
/* Opens NAME in the folder if it is a regular file; NULL: it is not there. */
FlamSource *flam_uftrace_open (const char *folder, const char *name);

#endif
