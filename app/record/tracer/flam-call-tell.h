/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALL_TELL_H
#define FLAM_CALL_TELL_H

/* Tells the sampler which memory and descriptors system calls obtained and gave
 * back. */

#include "flam-tracer-state.h"

/* An event without a stack of its own: it uses the stack of the thread's last
 * STACK message. While the recording is paused, only releases count. */
void flam_call_tell (FlamTracer *tracer, FlamTask *task, FlamCallEvent event);

#endif
