/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PYTHON_THREADS_H
#define FLAM_PYTHON_THREADS_H

/* The names that Python's module `threading` gives to threads: CPython 3.7 to
 * 3.13. (From 3.14 on it also gives them to the system.)
 *
 *   interpreter ─▶ sys.modules ─▶ threading ─▶ _active ─▶ Thread ─▶ _name
 *                                                              └──▶ _native_id
 *                                                          (3.7: _ident,
 * pthread_t)
 *
 * Source, of these versions: CPython's Lib/threading.py. */

#include "flam-python-frames.h"
#include "flam-runtime-name.h"

/* `runtime`: the address of _PyRuntime. The main thread keeps the system's name
 * unless the program has given it one. */
void flam_python_name_threads (const FlamPythonLayout *layout,
                               const FlamRuntimeMemory *memory,
                               uint64_t runtime,
                               FlamRuntimeName *scratch,
                               void (*take) (void *data,
                                             uint32_t tid,
                                             const char *name),
                               void *data);

#endif
