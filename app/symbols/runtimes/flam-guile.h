/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The code that Guile 3.0 compiles at run time, without call frame information.
 * Its functions are not read: only its caller is found, so that stacks are
 * complete.
 *
 *   Its functions run on a stack of their own. On the native one, all of them
 *   have the frame of the trampoline by which they are entered: few words, then
 *   the return address into the library, after its call by an address.
 *
 * Sources: Guile's libguile/jit.c and lightening.c. Debian 12's 3.0.8 was
 * checked. */

#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"

/* The type of FlamRuntimeFile.facts. */
typedef struct
{
  FlamRuntimeRange text; /* the library's code, by addresses as in the file */
} FlamGuileFile;

/* A FlamRuntimeFind; `facts` is a FlamGuileFile. */
gboolean flam_guile_find (const FlamElf *elf,
                          int fd,
                          const char *path,
                          FlamRuntimeFile *file);
/* The caller of compiled code. FALSE: not found. */
gboolean flam_guile_step (const FlamGuileFile *file,
                          const FlamRuntimeMemory *memory,
                          guint64 base,
                          const FlamRuntimeRegs *regs,
                          FlamRuntimeRegs *caller);
