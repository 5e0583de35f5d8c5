/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COPY_H
#define FLAM_COPY_H

/* The stack of a stopped thread, copied into a message: taken while it is
 * stopped, and completed once it runs again. */

#include "flam-tracer-state.h"

typedef struct
{
  FlamMessage *message; /* NULL: there is none, the sampler is too far behind */
  guint64 regs[FLAM_N_REGS];
  gint64 began;
  gsize wanted, n; /* bytes of the stack */
  guint64 other;   /* the stack that a signal handler interrupted; 0 */
  gsize n_other;   /* bytes of it */
  guint n_items;   /* of managed frames */
} FlamCopy;

/* `copy->regs` are set. `context`: of that stop; `now`: the time of the managed
 * frames. `may_fail`: the message need not be kept. */
void flam_copy_take (FlamTracer *tracer,
                     FlamTask *task,
                     FlamMessageKind kind,
                     const FlamStopContext *context,
                     gint64 now,
                     gboolean may_fail,
                     FlamCopy *copy);
/* The caller has set the other members of the message. */
void flam_copy_commit (FlamTracer *tracer, FlamTask *task, FlamCopy *copy);

#endif
