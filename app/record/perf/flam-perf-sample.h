/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The kernel's sample of a thread as a message: its registers, the copied end
 * of its stack, what of the stack no copy had room for, and the kernel's own
 * part. */

#include "flam-perf-rings.h"
#include "flam-tracer-state.h"

typedef struct
{
  guint32 stack; /* set by the caller: the bytes that the kernel copies */
  FlamMessage *message;
  gsize size;
} FlamPerfCopy;

/* The caller sets time and weights in `copy->message`. FALSE: the sampler is
 * too far behind. */
gboolean flam_perf_copy_begin (FlamTracer *tracer,
                               FlamTask *task,
                               const FlamPerfRecord *record,
                               FlamMessageKind kind,
                               FlamPerfCopy *copy);
void flam_perf_copy_commit (FlamTracer *tracer, FlamPerfCopy *copy);
/* Whether the sample may need more of the stack than was copied. */
gboolean flam_perf_copy_is_short (FlamTask *task,
                                  const FlamPerfRecord *record,
                                  guint32 stack);
