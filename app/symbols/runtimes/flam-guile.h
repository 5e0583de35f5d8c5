/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GUILE_H
#define FLAM_GUILE_H

/* Guile 3.0. Its functions run on a stack of their own, interpreted or
 * compiled:
 *
 *   scm_current_thread() ─▶ thread: ip, fp, the stack's end
 *
 *   the stack, downwards       fp + 0   machine code to return to
 *   ┌───────────────┐          fp + 8   code to return to
 *   │ main          │          fp + 16  words to the caller's fp
 *   ├───────────────┤
 *   │ C: scm_call_n │          a frame that returns to the "boot" code stands
 *   ├───────────────┤          for this call from C
 *   │ heavy         │
 *   └───────────────┘ ◀─ fp
 *
 * Code is in files that are ELF images without machine code (.go), which are
 * mapped as they are, with their symbols and lines (flam-guile-names). Code
 * that is compiled at run time uses the native stack, without call frame
 * information. It runs in the frame of the trampoline by which it is entered: a
 * few words, then the return address into the library, right after an indirect
 * call.
 *
 * Sources: Guile's libguile/vm.h, frames.h, programs.h, jit.c, lightening.c;
 * module/system/vm/linker.scm and assembler.scm. Debian 12's 3.0.8 was
 * checked. */

#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"
#include "flam-runtime-name.h"
#include "flam-thread-data.h"

/* The type of FlamRuntimeFile.facts. */
typedef struct
{
  FlamRuntimeRange text; /* the library's code, by addresses as in the file */
  FlamThreadVariable thread;
  guint64 boot; /* the code to which functions called from C return; 0: its
                 * functions cannot be read */
} FlamGuileFile;

/* The images of a process, as they are found. */
typedef struct _FlamGuileImages FlamGuileImages;

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
/* The chain of frames; the key of a function is the address of its code. */
gsize flam_guile_walk (const FlamGuileFile *file,
                       const FlamRuntimeMemory *memory,
                       guint64 base,
                       guint64 fs_base,
                       FlamRuntimeEntry *entries,
                       gsize limit);

FlamGuileImages *flam_guile_images_new (void);
/* The function at an entry's address. FALSE: unreadable. Code that is in no
 * image, such as that of a function in C, is hidden. */
gboolean flam_guile_name (FlamGuileImages *images,
                          const FlamRuntimeMemory *memory,
                          const FlamRuntimeEntry *entry,
                          FlamRuntimeName *name);

#endif
