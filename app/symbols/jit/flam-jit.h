/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JIT_H
#define FLAM_JIT_H

/* All data that a process's runtimes wrote about their generated code: its
 * jitdump, if there is one, and its perf map. Both are in /tmp under the
 * process's id, which may have been reused since: `since` excludes files that
 * were written before the recording. */

#include "flam-core-profile.h"

typedef struct _FlamJit FlamJit;

typedef struct
{
  const char *name;      /* as shown; "py::NAME:FILE" is split */
  const char *file;      /* or "" */
  guint32 line;          /* or 0 */
  guint32 first_line;    /* of the function, or 0 */
  FlamFunctionKind kind; /* JIT or INTERPRETED */
  guint64 since;         /* when it was written, CLOCK_MONOTONIC; 0: unknown */
} FlamJitFrame;

/* The path of the ABSOLUTE module that represents a process's generated code in
 * a profile. Free it. */
char *flam_jit_module_path (gint32 pid);
/* The process's id, or -1 if it is not such a path. */
gint32 flam_jit_module_pid (const char *path);

/* `jitdump`: the path of the process's jitdump if it is in its mappings, or
 * NULL. `since`: ns since 1970, 0 for any. FLAM_ERROR_SYSTEM if there is
 * nothing to read. */
FlamJit *flam_jit_open_process (gint32 pid,
                                const char *jitdump,
                                gint64 since,
                                GError **error);
/* The same for a process that has ended or ran on another machine, by the perf
 * map in one of the folders (NULL-terminated, or NULL). */
FlamJit *flam_jit_open_in (gint32 pid, const char *const *folders);
void flam_jit_free (FlamJit *jit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamJit, flam_jit_free)

/* `time`: CLOCK_MONOTONIC, ns; G_MAXUINT64: the last code. Strings live as long
 * as `jit`. */
gboolean flam_jit_find (FlamJit *jit,
                        guint64 address,
                        guint64 time,
                        FlamJitFrame *frame);

#endif
