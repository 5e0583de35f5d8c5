/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_KERNEL_NAMES_H
#define FLAM_KERNEL_NAMES_H

/* The running kernel's names of single addresses. /proc/kallsyms is a text of
 * more than 100,000 lines, which the kernel prints for each reader: 40 ms.
 * Where bpf(2) is permitted, the kernel is asked for the few that are needed,
 * 10 µs each; that text is read where it is not, and for many names. May be
 * used in several threads. */

#include "flam-core-profile.h"

typedef struct _FlamKernelNames FlamKernelNames;

/* The errors are those of flam_kallsyms_open(). */
FlamKernelNames *flam_kernel_names_new (GError **error);
void flam_kernel_names_free (FlamKernelNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamKernelNames, flam_kernel_names_free)

/* NULL: the address is that of no function. */
const char *flam_kernel_names_find (FlamKernelNames *names, guint64 address);

#endif
