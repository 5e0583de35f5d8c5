/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Names of kernel addresses of a perf.data file. The file has none; perf keeps
 * a copy of /proc/kallsyms of each kernel that it recorded on, by build id, in
 * ~/.debug/[kernel.kallsyms]/ID/kallsyms. Another boot of the same kernel has
 * all of it moved by one distance, which the place of "_text" gives: the
 * file's first MMAP record says where that was.
 *
 * Without such a copy the running kernel is asked, if its build id and its
 * "_text" are the same. */

#include <glib.h>

typedef struct _FlamPerfKernel FlamPerfKernel;

/* NULL, with a reason for people, when there are no names to be had. `symbol`
 * and `address`: the one that the file gives the place of; [start, start +
 * size) is the kernel's text. */
FlamPerfKernel *flam_perf_kernel_open (const char *build_id,
                                       const char *symbol,
                                       guint64 address,
                                       guint64 start,
                                       guint64 size,
                                       char **why);
void flam_perf_kernel_free (FlamPerfKernel *kernel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPerfKernel, flam_perf_kernel_free)

/* NULL: no name. */
const char *flam_perf_kernel_find (const FlamPerfKernel *kernel,
                                   guint64 address);
