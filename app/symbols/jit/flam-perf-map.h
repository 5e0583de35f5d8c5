/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a JIT compiler says of the code it made, in /tmp/perf-PID.map:
 *
 *   7f3c5e000000 120 LazyCompile:*fib /app/fib.js:3:13
 *   7f3c5e000120 3c  py::handle:/app/server.py
 *   START        SIZE (hex)  NAME, the rest of the line
 *
 * Lines are appended as code is made, so where two cover an address the later
 * one is true. Anyone may write into /tmp: a map is used only when it belongs
 * to the process's user or to root. Source: the kernel's
 * tools/perf/Documentation/jit-interface.txt. */

#include "flam-types.h"

typedef struct _FlamPerfMap FlamPerfMap;

/* Lines that are no entries are passed over.
 *
 * /tmp/perf-NSPID.map as the process itself sees it (through /proc/PID/root).
 * A process that has ended: /tmp/perf-PID.map, which must be ours or root's. */
FlamPerfMap *flam_perf_map_open_process (gint32 pid, GError **error);
/* The one that somebody put into a folder; NULL: there is none of use. */
FlamPerfMap *flam_perf_map_open_in (const char *folder, gint32 pid);
FlamPerfMap *flam_perf_map_new_from_data (const char *text, gsize size);
void flam_perf_map_free (FlamPerfMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPerfMap, flam_perf_map_free)

/* When the file was last written, s since 1970; 0 for data. */
gint64 flam_perf_map_get_time (const FlamPerfMap *map);
/* The name as written, or NULL; lives as long as the map. */
const char *flam_perf_map_find (const FlamPerfMap *map, guint64 address);

/* Takes apart what CPython's trampolines write, "py::QUALNAME:FILE". FALSE
 * for any other name. Free both. */
gboolean
flam_perf_map_split_python (const char *name, char **function, char **file);

/* What V8 writes, "JS:*fib /app/fib.js:3:13": where the function is defined.
 * FALSE for any other name. Free `file`. */
gboolean flam_perf_map_split_v8 (const char *name, char **file, guint32 *line);
