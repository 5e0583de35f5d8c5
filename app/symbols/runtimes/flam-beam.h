/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BEAM_H
#define FLAM_BEAM_H

/* The frames of Erlang and Elixir on BEAM's compiler (BeamAsm), read from
 * outside: OTP 25, 27 and 28.
 *
 *   rsp ─▶ a process's stack, in its heap: values, and between them the return
 *          addresses, which alone have no tag bits and lie in compiled code
 *   pc ─▶ r[the_active_code_index]: modules, ascending ─▶ header of the code ─▶
 *          functions, ascending ─▶ module, function, arity: atoms
 *                                ─▶ lines
 *
 * Where compiled code has called C, the stack is the scheduler's, and that of
 * the process is not found.
 *
 * Sources: OTP's erts/emulator/beam: beam_ranges.c, beam_code.h, atom.h,
 * index.h, erl_term.h, emu_loader and jit/beam_asm.h; OpenTelemetry's eBPF
 * profiler (Apache-2.0), interpreter/beam, for the offsets in 27 and 28; those
 * of 25 are from Debian 12's program. */

#include "flam-runtime-file.h"
#include "flam-runtime-name.h"

typedef struct
{
  guint release;
  guint16 functions; /* in the header of code */
  guint64 index;     /* address in the file of the_active_code_index, */
  guint64 ranges;    /* r, */
  guint64 atoms;     /* erts_atom_table */
  guint64 bottom;    /* and beam_normal_exit */
} FlamBeam;

/* A FlamRuntimeFind; `facts` is a FlamBeam. */
gboolean flam_beam_find (const FlamElf *elf,
                         int fd,
                         const char *path,
                         FlamRuntimeFile *file);

typedef enum
{
  FLAM_BEAM_STEPPED,
  FLAM_BEAM_LAST, /* the process's first frame */
  FLAM_BEAM_LOST,
} FlamBeamStep;

/* The frame at regs->pc, which is compiled code, and its caller. The entry's
 * key is the address of the function's description, 0 for code that is shared
 * by all modules; its position is the offset in the function. */
FlamBeamStep flam_beam_step (const FlamBeam *beam,
                             const FlamRuntimeMemory *memory,
                             guint64 base,
                             const FlamRuntimeRegs *regs,
                             FlamRuntimeEntry *entry,
                             FlamRuntimeRegs *caller);
/* FALSE: another function has taken its place. */
gboolean flam_beam_name (const FlamBeam *beam,
                         const FlamRuntimeMemory *memory,
                         guint64 base,
                         const FlamRuntimeEntry *entry,
                         FlamRuntimeName *name);

#endif
