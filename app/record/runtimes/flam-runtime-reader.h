/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_READER_H
#define FLAM_RUNTIME_READER_H

/* The tracer's side of managed frames.
 *
 *   stopped   the chains of frames, as keys                   (a few µs)
 *   resumed   each function is compared with the known one, all in one call; a
 *             new one is read: names, line table
 *   message   FlamRuntimeItem, before the stack
 *
 * A function is checked within µs of the stop, so that the replacement of one
 * by another, as with functions made and dropped in a loop, is detected. */

#include "flam-runtime-functions.h"
#include "flam-runtime-processes.h"
#include "flam-task.h"

typedef struct _FlamRuntimeReader FlamRuntimeReader;

FlamRuntimeReader *flam_runtime_reader_new (void);
void flam_runtime_reader_free (FlamRuntimeReader *reader);
/* The memory of a thread that runs on, as it was. */
typedef struct
{
  FlamRuntimeMemory memory;
  gboolean stack_only; /* only its stack is unchanged */
} FlamRuntimeCopied;

/* Reads the chains of a thread that is stopped or sleeps (`copied` NULL), or
 * did when its memory was copied; returns the number of items, which is then
 * passed on by flam_runtime_reader_resolve(). `n_stack`: the bytes of its stack
 * that will be needed besides, which may be read in the same call. */
guint flam_runtime_reader_walk (FlamRuntimeReader *reader,
                                FlamTask *task,
                                const FlamRuntimeRegs *regs,
                                gsize n_stack,
                                gint64 now,
                                const FlamRuntimeCopied *copied);
/* Forgets the names that the last walk has read: the thread, which slept, has
 * run meanwhile. */
void flam_runtime_reader_forget (FlamRuntimeReader *reader);
/* That stack, as far as it could be read; NULL: it was not. Valid until the
 * next walk. */
gconstpointer flam_runtime_reader_stack (const FlamRuntimeReader *reader,
                                         gsize *size);
/* Writes the same chains with their functions resolved. */
void flam_runtime_reader_resolve (FlamRuntimeReader *reader,
                                  FlamTask *task,
                                  FlamRuntimeItem *items);
/* Whether a runtime was found only after the thread's last walk. */
gboolean flam_runtime_reader_has_news (const FlamTask *task);
/* The child of a fork begins with a copy of its parent's tables. */
struct _FlamRuntimeKnown *
flam_runtime_known_copy (const struct _FlamRuntimeKnown *known);
void flam_runtime_known_free (struct _FlamRuntimeKnown *known);
/* At the end of a thread, and at an exec. */
void flam_runtime_task_free (struct _FlamRuntimeTask *state);

#endif
