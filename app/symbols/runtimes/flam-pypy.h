/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PYPY_H
#define FLAM_PYPY_H

/* PyPy 7.3 for Python 3: the functions that a thread runs.
 *
 *   a thread's list of calls, which vmprof reads, and which is always kept
 *
 *   TLS ─▶ next ──────────────▶ next ──────────────▶ ... ─▶ 0
 *          value: rsp           value: number of a
 *          kind 3: compiled     function, 1340
 *            │                  kind 1: interpreted
 *            ▼
 *   word below rsp: the address that the code's call returns to; the map of
 *   compiled code has for it the functions that are inlined there
 *
 *   the map, a skip list        each: address, ▶ { size, n, ▶ n words:
 *     (head: in .bss)                 next...      number, from, to, index
 *                                                  of the entry after it }
 *   a number's function         the list of all, weak references
 *     (a word of .data) ─▶ tag, n, n of ─▶ tag, ─▶ tag, name, ..., number, ...
 *                                                  file, first line, ...
 *
 * The library exports none of these. The interpreter's function for a call
 * makes an element of the thread's list, and its code contains the place of the
 * list and that of the number in a function. The list of all functions and the
 * head of the map are found by their content.
 *
 * A function that is called from compiled code, and then runs a loop that was
 * compiled before, is in the map for both. So is one that the interpreter
 * called, in its list. It is shown once, where it runs; a recursion that passes
 * from one compiled loop to another loses one level by that.
 *
 * The compiled code is without call frame information:
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
 * Source: PyPy's rpython/jit/backend/x86/arch.py, assembler.py,
 * llsupport/codemap.py, src/codemap.c and src/skiplist.c;
 * rpython/rlib/rvmprof/cintf.py and rweaklist.py; pypy/interpreter/pycode.py,
 * whose fields are in the order of their names. 7.3.11 and 7.3.19, of
 * Debian 12 and 13, were checked. */

#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"
#include "flam-runtime-name.h"
#include "flam-thread-data.h"

/* The type of FlamRuntimeFile.facts. */
typedef struct
{
  /* The library's code and data, by addresses as in the file. */
  FlamRuntimeRange text;
  FlamRuntimeRange data;
  FlamRuntimeRange bss;
  FlamThreadVariable calls; /* a thread's list */
  guint number;             /* offset of the number in a function; 0: unknown */
} FlamPyPyFile;

/* The type of FlamRuntimeProcess.layout. */
typedef struct
{
  guint64 codes; /* address of the word that points to the list of all */
  guint file;    /* offset of the file's name in a function */
} FlamPyPyLayout;

typedef enum
{
  FLAM_PYPY_OPENED,
  FLAM_PYPY_NOT_YET, /* the library is not relocated */
  FLAM_PYPY_UNKNOWN, /* the list of functions is not found */
} FlamPyPyOpened;

/* A FlamRuntimeFind; `facts` is a FlamPyPyFile. */
gboolean flam_pypy_find (const FlamElf *elf,
                         int fd,
                         const char *path,
                         FlamRuntimeFile *file);
FlamPyPyOpened flam_pypy_open (const FlamPyPyFile *file,
                               const FlamRuntimeMemory *memory,
                               guint64 base,
                               FlamPyPyLayout *layout);
/* The head of the map, found in .bss. FALSE: nothing is compiled, or it is not
 * found. */
gboolean flam_pypy_find_map (const FlamPyPyFile *file,
                             const FlamRuntimeMemory *memory,
                             guint64 base,
                             guint64 *map);
/* The functions of a thread by their numbers. `map`: 0 if it is not
 * known. */
gsize flam_pypy_walk (const FlamPyPyFile *file,
                      const FlamRuntimeMemory *memory,
                      guint64 base,
                      guint64 map,
                      const FlamRuntimeRegs *regs,
                      FlamRuntimeEntry *entries,
                      gsize limit);
/* The function with this number. */
gboolean flam_pypy_name (const FlamPyPyFile *file,
                         const FlamPyPyLayout *layout,
                         const FlamRuntimeMemory *memory,
                         guint64 number,
                         FlamRuntimeName *name);
/* The caller of compiled code. FALSE: not found. */
gboolean flam_pypy_step (const FlamPyPyFile *file,
                         const FlamRuntimeMemory *memory,
                         guint64 base,
                         const FlamRuntimeRegs *regs,
                         FlamRuntimeRegs *caller);

#endif
