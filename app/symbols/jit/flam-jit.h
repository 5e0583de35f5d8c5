/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* All that a process's own runtimes say of the code they generated: its
 * jitdump, where there is one, and its perf map. Both lie in /tmp under the
 * process's id, which may since belong to another process: `since` keeps what
 * was written before the recording from being used. */

#include "flam-types.h"

typedef struct _FlamJit FlamJit;

typedef struct
{
  const char *name;      /* as shown; "py::NAME:FILE" is taken apart */
  const char *file;      /* or "" */
  guint32 line;          /* or 0 */
  guint32 first_line;    /* of the function, or 0 */
  FlamFunctionKind kind; /* JIT or INTERPRETED */
  guint64 since;         /* it came there, CLOCK_MONOTONIC; 0 not known */
} FlamJitFrame;

/* What stands for a process's generated code in a profile, an ABSOLUTE module
 * of this path. Free it. */
char *flam_jit_module_path (gint32 pid);
/* The process's id, or -1 when it is no such path. */
gint32 flam_jit_module_pid (const char *path);

/* `jitdump`: the path of the process's jitdump where its mappings name one, or
 * NULL. `since`: ns since 1970, 0 for whatever there is. FLAM_ERROR_SYSTEM
 * when there is nothing to read. */
FlamJit *flam_jit_open_process (gint32 pid,
                                const char *jitdump,
                                gint64 since,
                                GError **error);
/* The same of a process that is gone or ran elsewhere, by the perf map that
 * was put into one of the folders (NULL-terminated, or NULL). */
FlamJit *flam_jit_open_in (gint32 pid, const char *const *folders);
void flam_jit_free (FlamJit *jit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamJit, flam_jit_free)

/* `time`: CLOCK_MONOTONIC, ns; G_MAXUINT64: what was there last. Strings live
 * as long as `jit`. */
gboolean flam_jit_find (FlamJit *jit,
                        guint64 address,
                        guint64 time,
                        FlamJitFrame *frame);
