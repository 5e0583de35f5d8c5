/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_STEPPER_H
#define FLAM_RUNTIME_STEPPER_H

/* The sampler's side of native runtimes: the managed frames on a copied stack.
 *
 *   unwinder ─▶ pc in a claimed mapping ─▶ the row's `step` ─▶ the caller's pc
 *                                            └▶ entry ─▶ the row's `name`
 *
 * It runs later than the stop. Names are kept for as long as the process runs
 * its program, by entry: a key that comes back with another cookie is another
 * function. */

#include "flam-runtime-functions.h"
#include "flam-task.h"
#include "flam-unwind-space.h"

typedef struct
{
  guint32 frame;                 /* number of the native frame it stands for */
  FlamRuntimeFunction *function; /* NULL: a stub, not to be shown */
  FlamRuntimeEntry entry;
  const FlamRuntimeProcess *process;
} FlamRuntimeManaged;

typedef struct _FlamRuntimeStepper FlamRuntimeStepper;
typedef struct _FlamRuntimeNames FlamRuntimeNames; /* of a process */

FlamRuntimeNames *flam_runtime_names_new (void);
void flam_runtime_names_free (FlamRuntimeNames *names);

FlamRuntimeStepper *flam_runtime_stepper_new (void);
void flam_runtime_stepper_free (FlamRuntimeStepper *stepper);
/* Before a walk over a stack of thread `tid`. `limited`: a part of the stack
 * was not copied. `items`, which are used until the walk ends, are its chains;
 * `names` are of its process. */
void flam_runtime_stepper_begin (FlamRuntimeStepper *stepper,
                                 const FlamRuntimeNames *names,
                                 pid_t tid,
                                 gboolean limited,
                                 const FlamRuntimeItem *items,
                                 guint n_items);
/* A FlamUnwindManaged; `managed` is the FlamRuntimeProcess. */
FlamUnwindEnd flam_runtime_stepper_step (gpointer stepper,
                                         gpointer managed,
                                         const FlamUnwindMemory *stack,
                                         gsize frame,
                                         FlamUnwindRegs *regs);
/* After the walk: its managed frames, ascending, with their functions. Valid
 * until the next walk. */
const FlamRuntimeManaged *
flam_runtime_stepper_end (FlamRuntimeStepper *stepper,
                          FlamRuntimeNames *names,
                          const FlamUnwindMemory *stack,
                          guint *n);

#endif
