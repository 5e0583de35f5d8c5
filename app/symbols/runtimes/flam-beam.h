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
 * C runs on the scheduler's own stack, below its registers:
 *
 *   erts_aligned_scheduler_data ─▶ a scheduler: registers ─▶ ┌─────────────┐
 *                                  the running process       │ x registers │
 *   the process: rsp, if compiled code                       ├─────────────┤
 *   reads it there when C returns                            │ return pc   │
 *                                                            │ C ...       │
 *
 * In the stop, `walk` finds the process whose function has called C. Where
 * compiled code keeps rsp in a register instead, as it does for short calls,
 * the process's stack is not found.
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
  guint16 functions;    /* in the header of code */
  guint64 index;        /* address in the file of the_active_code_index, */
  guint64 ranges;       /* r, */
  guint64 atoms;        /* erts_atom_table */
  guint64 bottom;       /* and beam_normal_exit */
  guint64 schedulers;   /* erts_aligned_scheduler_data, */
  guint64 n_schedulers; /* erts_no_schedulers, */
  guint64 schedule;     /* and erts_schedule(); 0: not found */
} FlamBeam;

/* What the stops of a process have shown. */
typedef struct
{
  guint64 stride;  /* from a scheduler to the next; 0: not known yet */
  guint64 running; /* of a scheduler's running process, from the address of its
                    * registers on; 0: not known yet */
} FlamBeamProcess;

#define FLAM_BEAM_KEPT 4 /* words that are kept for a thread */

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
/* The functions of the process that has called C, if regs->pc is in C; the
 * entry closes them at the address where compiled code's stack pointer was. An
 * entry alone: the scheduler does not run a process. `now` in ns; `kept` is
 * zeroed for a new thread. */
gsize flam_beam_walk (const FlamBeam *beam,
                      FlamBeamProcess *process,
                      const FlamRuntimeMemory *memory,
                      guint64 base,
                      const FlamRuntimeRegs *regs,
                      gint64 now,
                      guint64 *kept,
                      FlamRuntimeEntry *entries,
                      gsize limit);
/* FALSE: another function has taken its place. */
gboolean flam_beam_name (const FlamBeam *beam,
                         const FlamRuntimeMemory *memory,
                         guint64 base,
                         const FlamRuntimeEntry *entry,
                         FlamRuntimeName *name);

#endif
