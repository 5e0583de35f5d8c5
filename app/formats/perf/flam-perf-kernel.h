/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_KERNEL_H
#define FLAM_PERF_KERNEL_H

/* Names of kernel addresses of a perf.data file. The file has none; perf keeps
 * a copy of /proc/kallsyms of each recorded kernel, by build id, in
 * ~/.debug/[kernel.kallsyms]/ID/kallsyms. In another boot of the same kernel
 * all addresses are moved by one offset, which follows from the address of
 * "_text": the file's first MMAP record has it.
 *
 * Without such a copy the running kernel's names are used, if its "_text" and
 * its build id are the same, or its release where the file has no build id
 * (perf writes none with -z, into a pipe and with --overwrite). */

#include <glib.h>

typedef struct _FlamPerfKernel FlamPerfKernel;

/* NULL, with a reason for the user, if there are no names. `build_id` "" and
 * `release` NULL: unknown. `symbol` and
 * `address`: the symbol whose address the file has; [start, start + size) is
 * the kernel's text. */
FlamPerfKernel *flam_perf_kernel_open (const char *build_id,
                                       const char *release,
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

#endif
