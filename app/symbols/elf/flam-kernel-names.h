/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_KERNEL_NAMES_H
#define FLAM_KERNEL_NAMES_H

/* The running kernel's names of single addresses. Where bpf(2) is permitted,
 * each name is a query to the kernel, of about 10 µs. Otherwise, and for many
 * names, /proc/kallsyms is read: the kernel prints its more than 100,000 lines
 * for each reader, in 40 ms. May be used in several threads. */

#include "flam-core-profile.h"

typedef struct _FlamKernelNames FlamKernelNames;

/* The errors are those of flam_kallsyms_open(). */
FlamKernelNames *flam_kernel_names_new (GError **error);
void flam_kernel_names_free (FlamKernelNames *names);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamKernelNames, flam_kernel_names_free)

/* NULL: the address is that of no function. */
const char *flam_kernel_names_find (FlamKernelNames *names, guint64 address);

#endif
