/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_MAP_H
#define FLAM_PERF_MAP_H

/* The list of code made by a JIT compiler, /tmp/perf-PID.map:
 *
 *   7f3c5e000000 120 LazyCompile:*fib /app/fib.js:3:13
 *   7f3c5e000120 3c  py::handle:/app/server.py
 *   START        SIZE (hex)  NAME, the rest of the line
 *
 * Lines are appended as code is made, so if two cover an address the later one
 * is valid. Any user may write into /tmp: a map is used only if it belongs to
 * the process's user or to root. Source: the kernel's
 * tools/perf/Documentation/jit-interface.txt. */

#include "flam-core-profile.h"

typedef struct _FlamPerfMap FlamPerfMap;

/* Lines that are not entries are skipped.
 *
 * /tmp/perf-NSPID.map in the process's own file system (through
 * /proc/PID/root). For a process that has ended: /tmp/perf-PID.map, which must
 * belong to this user or to root. */
FlamPerfMap *flam_perf_map_open_process (gint32 pid, GError **error);
/* The one that the user put into a folder; NULL: there is no usable one. */
FlamPerfMap *flam_perf_map_open_in (const char *folder, gint32 pid);
void flam_perf_map_free (FlamPerfMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPerfMap, flam_perf_map_free)

/* When the file was last written, s since 1970. */
gint64 flam_perf_map_get_time (const FlamPerfMap *map);
/* The name as written, or NULL; lives as long as the map. */
const char *flam_perf_map_find (const FlamPerfMap *map, guint64 address);

/* Splits the names of CPython's trampolines, "py::QUALNAME:FILE". FALSE for any
 * other name. Free both. */
gboolean
flam_perf_map_split_python (const char *name, char **function, char **file);

/* Splits V8's names, "JS:*fib /app/fib.js:3:13", for the place of the
 * definition. FALSE for any other name. Free `file`. */
gboolean flam_perf_map_split_v8 (const char *name, char **file, guint32 *line);

#endif
