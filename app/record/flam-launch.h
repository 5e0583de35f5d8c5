/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LAUNCH_H
#define FLAM_LAUNCH_H

/* Starts a program, or attaches to a process. With ptrace the calling thread
 * becomes the tracer and must remain it. Arguments are passed on unchanged; a
 * shell is only used for a script that names no interpreter. */

#include <glib.h>
#include <sys/types.h>

#include "flam-core-profile.h"

typedef struct
{
  const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
  const char *const *environment; /* NAME=VALUE, added to the recorder's own */
  const char *directory;          /* or NULL */
} FlamLaunch;

/* The file that would be run, g_free; or FLAM_ERROR: not found, not executable,
 * a 32-bit program. */
char *flam_launch_find (const FlamLaunch *launch, GError **error);

/* Prepares the new process, which waits before its exec, for being recorded. */
typedef gboolean (*FlamLaunchPrepare) (pid_t pid,
                                       gpointer data,
                                       GError **error);
/* A FlamLaunchPrepare that traces it with `options` (unsigned long,
 * PTRACE_O_*): it is stopped before the first instruction of the new program,
 * and the exec stop will be reported. */
gboolean flam_launch_trace (pid_t pid, gpointer options, GError **error);
/* Starts `path`; returns once it has called exec. -1 on errors, including the
 * errors of execve itself. */
pid_t flam_launch_start (const FlamLaunch *launch,
                         const char *path,
                         FlamLaunchPrepare prepare,
                         gpointer data,
                         GError **error);

/* The reason why `pid` cannot be attached to, for users; NULL if none is
 * known. */
char *flam_attach_obstacle (pid_t pid);

/* Seizes all threads of a process; returns their ids, or NULL. */
GArray *flam_attach (pid_t pid, unsigned long options, GError **error);

/* The value of the line "NAME:\tvalue" of /proc/PID/status as a number; -1 if
 * missing. */
gint64 flam_proc_status (pid_t pid, const char *name);
/* The process of a thread, and the parent process; FALSE: it has ended. `comm`,
 * if not NULL, gets the thread's name, or remains unchanged. */
gboolean flam_proc_family (pid_t tid, pid_t *pid, pid_t *parent, char comm[16]);

#endif
