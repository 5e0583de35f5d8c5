/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What CPython's code objects say of themselves, as captures carry it, and
 * where in a binary the interpreter is. */

#include "flam-builder.h"
#include "flam-elf.h"
#include "flam-python-frames.h"

/* The line of the instruction at `offset` (as in f_lasti), by the code's line
 * table in the form of the Python `version` (PY_VERSION_HEX); `first_line`
 * where the table is empty, 0 where it says nothing.
 *
 * Source of facts: CPython, Objects/lnotab_notes.txt (to 3.10) and
 * InternalDocs/code_objects.md (3.11 on). */
guint32 flam_python_line (guint32 version,
                          const guint8 *table,
                          gsize length,
                          gint64 offset,
                          gint64 first_line);

/* FlamFunctionFlags of a Python function in that file: runpy is not the
 * program's own, importlib's insides are import machinery. */
guint flam_python_flags (const char *file);
/* The same for a function of the interpreter's own binary: what calls Python
 * functions and starts the program says nothing to those who wrote it. */
guint flam_python_native_flags (const char *name);

/* The interpreter in a program or library. */
typedef struct
{
  guint64 runtime; /* of _PyRuntime: address - start + offset, the last two
                      being those of the mapping of its code */
  FlamPythonLayout layout;
  const char *why; /* NULL, or why its frames cannot be read; static */
} FlamPythonElf;

gboolean flam_python_is_in (const FlamElf *elf);
/* FALSE: there is none in it. `fd` is the same file, `path` what it is called.
 */
gboolean flam_python_find (const FlamElf *elf,
                           int fd,
                           const char *path,
                           FlamPythonElf *python);
