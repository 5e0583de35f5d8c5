/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_STACKS_H
#define FLAM_PERF_STACKS_H

/* A sample's addresses -> a stack of the builder.
 *
 *   callchain  [KERNEL] k0 k1 [USER] u0 u1 u2     or     copied stack,
 * registers |      |       |   |  |                    | unwinder |    k1 - 1
 * |  u1 - 1 ...               v frames     (module, offset) by the process's
 * mappings, cached by address
 *
 * A frame is (module, file offset); kernel and JIT frames are absolute.
 * Addresses outside of all mappings, which result from invalid frame pointers,
 * are all one frame "[unknown]", and consecutive ones are merged. */

#include "flam-load.h"
#include "flam-perf-modules.h"
#include "flam-perf-records.h"
#include "flam-unwind-space.h"

typedef struct _FlamPerfStacks FlamPerfStacks;

FlamPerfStacks *flam_perf_stacks_new (const FlamPerfFile *file,
                                      FlamLoad *load,
                                      FlamPerfModules *modules);

/* The stack of a sample in a process's address space; FLAM_NONE if it has
 * none. */
FlamId flam_perf_stacks_get (FlamPerfStacks *stacks,
                             FlamUnwindSpace *space,
                             const FlamPerfEvent *event,
                             const FlamPerfRecord *record,
                             const FlamPerfSample *sample);

/* The number of copied stacks that could not be unwound to their root. */
guint64 flam_perf_stacks_n_truncated (const FlamPerfStacks *stacks);
/* Copied stacks that are not unwound, since another kind of processor recorded
 * them. */
guint64 flam_perf_stacks_n_foreign (const FlamPerfStacks *stacks);

#endif
