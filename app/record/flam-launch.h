/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Getting hold of a target: start a program, or attach to a process. The
 * calling thread becomes the tracer and must stay it. Arguments arrive as they
 * were given; no shell is involved but for a script that names no interpreter.
 */

#include <glib.h>
#include <sys/types.h>

#include "flam-types.h"

typedef struct
{
  const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
  const char *const *environment; /* NAME=VALUE to be set beside our own */
  const char *directory;          /* or NULL */
} FlamLaunch;

/* The file that would be run, g_free; or FLAM_ERROR: not found, not
 * executable, a 32-bit program. */
char *flam_launch_find (const FlamLaunch *launch, GError **error);

/* Starts `path` under trace with `options` (PTRACE_O_*): it is held before its
 * first instruction's exec; the exec stop will be reported. -1 on errors; the
 * errors of execve itself too. */
pid_t flam_launch_start (const FlamLaunch *launch,
                         const char *path,
                         unsigned long options,
                         GError **error);

/* Why `pid` cannot be attached to, for people; NULL when it looks possible. */
char *flam_attach_obstacle (pid_t pid);

/* Seizes all threads of a process; their ids, or NULL. */
GArray *flam_attach (pid_t pid, unsigned long options, GError **error);

/* A line "NAME:\tvalue" of /proc/PID/status, as a number; -1 not there. */
gint64 flam_proc_status (pid_t pid, const char *name);
/* The process of a thread, and that one's parent; FALSE: gone. */
gboolean flam_proc_family (pid_t tid, pid_t *pid, pid_t *parent);
