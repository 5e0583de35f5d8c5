/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What /proc says of a thread, /proc/PID/task/TID/NAME: a leader may have ended
 * while its other threads live on. Descriptors may run out: what needed one
 * goes without, and the recording says so. */

#include <glib.h>
#include <sys/types.h>

/* A descriptor, or -1. */
int flam_proc_open (pid_t pid, pid_t tid, const char *name);
/* One that is to be kept open, or -1: when many are, others must still get
 * theirs. */
int flam_proc_open_kept (pid_t pid, pid_t tid, const char *name);
/* The whole of it, g_free; NULL: there is none. */
char *flam_proc_text (pid_t pid, pid_t tid, const char *name);
/* What the thread is called. */
gboolean flam_proc_comm (pid_t pid, pid_t tid, char comm[16]);
/* Bytes of executable mappings: other ones mean other mappings. 0: not known.
 */
guint64 flam_proc_code_size (pid_t pid, pid_t tid);

typedef struct
{
  pid_t pid;
  pid_t parent;
} FlamKin;

/* The processes below one, each after its parent; neither those that have
 * ended, nor this one with what is below it. GArray of FlamKin. */
GArray *flam_proc_below (pid_t pid);
/* Does it still run, or has it ended, be it not yet reaped? */
gboolean flam_proc_lives (pid_t pid);

/* Of any open() that failed. */
void flam_proc_note_error (int error);
/* Did descriptors run out? */
gboolean flam_proc_starved (void);
