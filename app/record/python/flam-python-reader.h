/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The tracer's side of Python frames.
 *
 *   stopped   the chain of frames, as addresses          (a few µs)
 *   resumed   each code object: is it still the one that is known?
 *             one call for all; a new one is read: name, file, line table
 *   message   FlamPythonEntry, before the stack
 *
 * A code object is looked at within µs of the stop, so that one that took the
 * place of another, as with functions made and dropped in a loop, is noticed.
 */

#include "flam-python-codes.h"
#include "flam-task.h"

/* An interpreter in a process, as the sampler found it. Made once, not changed,
 * freed after the tracer has ended. */
typedef struct _FlamPythonInterpreter
{
  const FlamPythonLayout *layout;
  guint64 runtime; /* address of _PyRuntime */
} FlamPythonInterpreter;

typedef struct _FlamPythonReader FlamPythonReader;

FlamPythonReader *flam_python_reader_new (void);
void flam_python_reader_free (FlamPythonReader *reader);
/* The chain of a thread that stands still; returns its length, to be kept in
 * mind until flam_python_reader_resolve(). */
guint
flam_python_reader_walk (FlamPythonReader *reader, FlamTask *task, gint64 now);
/* The same chain with what its code objects are. */
void flam_python_reader_resolve (FlamPythonReader *reader,
                                 FlamTask *task,
                                 FlamPythonEntry *entries);
/* Whether its interpreter was found only after its last walk. */
gboolean flam_python_reader_has_news (const FlamTask *task);
/* A child of a fork begins with its parent's tables. */
struct _FlamPythonKnown *
flam_python_known_copy (const struct _FlamPythonKnown *known);
void flam_python_known_free (struct _FlamPythonKnown *known);
