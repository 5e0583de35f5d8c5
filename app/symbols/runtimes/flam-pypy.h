/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PYPY_H
#define FLAM_PYPY_H

/* The code that PyPy compiles at run time, without call frame information. Its
 * functions are not read: only its caller is found, so that stacks are
 * complete.
 *
 *   A loop, with what it branches to, runs in one native frame, made where the
 *   interpreter or another loop calls it:
 *
 *     rsp + 184  the address to return to
 *           104  saved rbx, r12 to r15
 *            96  saved rbp
 *             0  for arguments
 *
 *   A routine that it calls for a rare case has a few words more.
 *
 * Source: PyPy's rpython/jit/backend/x86/arch.py and assembler.py. Debian 12's
 * 7.3.11 was checked. */

#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"

/* The type of FlamRuntimeFile.facts. */
typedef struct
{
  FlamRuntimeRange text; /* the library's code, by addresses as in the file */
} FlamPyPyFile;

/* A FlamRuntimeFind; `facts` is a FlamPyPyFile. */
gboolean flam_pypy_find (const FlamElf *elf,
                         int fd,
                         const char *path,
                         FlamRuntimeFile *file);
/* The caller of compiled code. FALSE: not found. */
gboolean flam_pypy_step (const FlamPyPyFile *file,
                         const FlamRuntimeMemory *memory,
                         guint64 base,
                         const FlamRuntimeRegs *regs,
                         FlamRuntimeRegs *caller);

#endif
