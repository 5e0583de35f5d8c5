/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HASKELL_H
#define FLAM_HASKELL_H

/* The frames of Haskell code that GHC compiled, read from outside.
 *
 *   native stack                          a Haskell stack, in the heap
 *   ┌──────────────────────────────┐      ┌────────────────┐ ◀─ rbp
 *   │ C that Haskell called, if any│      │ info, values   │
 *   │ return address into Haskell  │      │ info, values   │
 *   ├──────────────────────────────┤      │ ...            │
 *   │ StgRun: all Haskell code runs│      │ stop           │
 *   │ in its frame                 │      └────────────────┘
 *   │ return address into schedule │ ◀─ anchor: after a call of StgRun
 *   └──────────────────────────────┘
 *
 * Each frame of a Haskell stack begins with the address of the code that
 * continues there. Before that code is its info table: the frame's type, and
 * its size as a bitmap. Haskell code has no call frame information and does not
 * move rsp, so its caller in C is found by the anchor.
 *
 * The code has symbols, like C code: a function of this chain is an address,
 * and is not named here.
 *
 * Sources: GHC's rts/StgCRun.c, includes/rts/storage/InfoTables.h, Closures.h,
 * ClosureTypes.h and rts/Printer.c. GHC 9.0.2 of Debian 12 was checked. */

#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"

/* The type of FlamRuntimeFile.facts. */
typedef struct
{
  FlamRuntimeRange run; /* StgRun, by addresses as in the file */
  guint32 frame;        /* its size, without the return address */
  guint32 stop;         /* the type of the last frame of a stack */
} FlamHaskellFile;

/* A FlamRuntimeFind; `facts` is a FlamHaskellFile. */
gboolean flam_haskell_find (const FlamElf *elf,
                            int fd,
                            const char *path,
                            FlamRuntimeFile *file);

/* The number of words of a thread that a walk keeps. */
#define FLAM_HASKELL_KEPT 1

/* The frames of a thread, innermost first, with addresses of code as functions.
 * `kept` is zeroed before the first walk. */
gsize flam_haskell_walk (const FlamHaskellFile *file,
                         const FlamRuntimeMemory *memory,
                         guint64 base,
                         const FlamRuntimeRegs *regs,
                         guint64 kept[FLAM_HASKELL_KEPT],
                         FlamRuntimeEntry *entries,
                         gsize limit);
/* From Haskell code to the caller of StgRun. FALSE: it was not found. */
gboolean flam_haskell_step (const FlamHaskellFile *file,
                            const FlamRuntimeMemory *memory,
                            guint64 base,
                            const FlamRuntimeRegs *regs,
                            FlamRuntimeRegs *caller);

#endif
