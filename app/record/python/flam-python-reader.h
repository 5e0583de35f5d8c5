/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The tracer's side of Python frames.
 *
 *   stopped   the chain of frames, as addresses          (a few µs)
 *   resumed   each code object is compared with the known one, all in one
 *             call; a new one is read: name, file, line table
 *   message   FlamPythonEntry, before the stack
 *
 * A code object is checked within µs of the stop, so that the replacement of
 * one by another, as with functions made and dropped in a loop, is detected. */

#include "flam-python-codes.h"
#include "flam-task.h"

/* An interpreter in a process, as the sampler found it. Constant after
 * creation, freed after the tracer has ended. */
typedef struct _FlamPythonInterpreter
{
  const FlamPythonLayout *layout;
  guint64 runtime; /* address of _PyRuntime */
} FlamPythonInterpreter;

typedef struct _FlamPythonReader FlamPythonReader;

FlamPythonReader *flam_python_reader_new (void);
void flam_python_reader_free (FlamPythonReader *reader);
/* Reads the chain of a stopped thread; returns its length, which is then passed
 * to flam_python_reader_resolve(). */
guint
flam_python_reader_walk (FlamPythonReader *reader, FlamTask *task, gint64 now);
/* Writes the same chain with its code objects resolved. */
void flam_python_reader_resolve (FlamPythonReader *reader,
                                 FlamTask *task,
                                 FlamPythonEntry *entries);
/* Whether its interpreter was found only after its last walk. */
gboolean flam_python_reader_has_news (const FlamTask *task);
/* The child of a fork begins with a copy of its parent's tables. */
struct _FlamPythonKnown *
flam_python_known_copy (const struct _FlamPythonKnown *known);
void flam_python_known_free (struct _FlamPythonKnown *known);
