/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JFR_STACKS_H
#define FLAM_JFR_STACKS_H

/* The constants of a flight recording -> the builder's stacks, threads and
 * states.
 *
 *    stack ─▶ frames ─▶ method ─▶ class ─▶ symbol
 *                 │        └────▶ symbol
 *                 └▶ frame type: interpreted, compiled, inlined, native …
 *
 * A Java method is the same function in all tiers; whether it was inlined is an
 * attribute of the frame. async-profiler's native functions are methods with
 * the descriptor "()L;" in the class of their library. A class does not contain
 * its file: by the language's rule the file has the outermost class' name, in
 * its package's folder. */

#include "flam-jfr.h"

typedef struct
{
  FlamBuilder *builder;
  FlamJfrChunk *chunk;
  FlamProcessId process;
} FlamJfrStacks;

/* FLAM_NONE: it has none. */
FlamStackId
flam_jfr_stack (FlamJfrStacks *stacks, guint64 key, gboolean *truncated);
/* With the class of the allocated object as the leaf. */
FlamId
flam_jfr_push_class (FlamJfrStacks *stacks, FlamStackId stack, guint64 key);
FlamThreadId flam_jfr_thread (FlamJfrStacks *stacks, guint64 key);
FlamState flam_jfr_state (FlamJfrStacks *stacks, guint64 key);

#endif
