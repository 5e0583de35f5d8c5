/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PYTHON_H
#define FLAM_PYTHON_H

/* The data of CPython's code objects in captures, and the location of the
 * interpreter in a binary. */

#include "flam-core-profile.h"
#include "flam-elf.h"
#include "flam-python-frames.h"

/* The line of the instruction at `offset` (as in f_lasti), by the code's line
 * table in the form of the Python `version` (PY_VERSION_HEX); `first_line` if
 * the table is empty, 0 if it has no line for it.
 *
 * Sources: CPython, Objects/lnotab_notes.txt (to 3.10) and
 * InternalDocs/code_objects.md (3.11 on). */
guint32 flam_python_line (guint32 version,
                          const guint8 *table,
                          gsize length,
                          gint64 offset,
                          gint64 first_line);

/* The same in the form of FlamRuntime.line; negative positions are before the
 * first instruction. */
guint32 flam_python_line_at (guint32 version,
                             const guint8 *table,
                             gsize length,
                             guint64 offset,
                             guint32 first_line);

/* A freed object is unchanged but for its first word, the count of references,
 * in which the allocator stores the address of another free block, or none. The
 * words that it refers to may be in use again by then. Counts are below 2^32;
 * from 3.14 on the upper 16 bits hold flags. */
bool flam_python_is_alive (const FlamRuntimeMemory *memory, guint64 object);

/* FlamFunctionFlags of a Python function in that file: runpy is not part of the
 * program, importlib's internals are import machinery. */
guint flam_python_flags (const char *file);
/* The caller of __init__ (3.12 on) is a code object whose file and name are the
 * same word; not shown in a traceback. */
gboolean flam_python_is_hidden (const char *name, const char *file);
/* The flags of a function of the interpreter's own binary: functions that call
 * Python functions or start the program do not help to read a profile. */
guint flam_python_native_flags (const char *name);

/* The interpreter in a program or library. */
typedef struct
{
  guint64 runtime; /* address of _PyRuntime in the file */
  FlamPythonLayout layout;
  guint32 version; /* 0x030d0000; 0: before 3.11 */
  const char *why; /* NULL, or the reason why its frames are unreadable;
                    * static */
} FlamPythonElf;

gboolean flam_python_is_in (const FlamElf *elf);
/* FALSE: it contains none. `fd` is the same file, `path` its name. */
gboolean flam_python_find (const FlamElf *elf,
                           int fd,
                           const char *path,
                           FlamPythonElf *python);

#endif
