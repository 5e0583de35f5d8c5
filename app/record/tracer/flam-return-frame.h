/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RETURN_FRAME_H
#define FLAM_RETURN_FRAME_H

/* The frame that the kernel leaves on the stack for a signal handler, so that
 * rt_sigreturn restores a thread: all registers, those of the processor's
 * extensions too, and the signal mask. A function that is called with such a
 * frame above it leads back to what the thread did before, even if the recorder
 * is gone:
 *
 *   at      address of `syscall; ret`     the function returns there
 *   at + 8  address of __restore_rt       and from there
 *   at + 16 ucontext                      rt_sigreturn
 *
 * Source: arch/x86/include/uapi/asm/sigcontext.h, arch/x86/kernel/signal_64.c,
 * arch/x86/kernel/fpu/signal.c. */

#include <glib.h>
#include <sys/user.h>

/* More than any frame needs, apart from the state of extensions. */
#define FLAM_RETURN_FRAME_MORE 512

typedef struct
{
  guint64 gate; /* the two addresses */
  guint64 leave;
  const struct user_regs_struct *regs;
  guint64 mask;
  const guint8 *state; /* as of PTRACE_GETREGSET, NT_X86_XSTATE */
  gsize n_state;
} FlamReturn;

/* The place of a frame of that size, below `end`. */
guint64 flam_return_frame_below (guint64 end, gsize n_state);
/* A frame for the address `at`; its size, at most `room`. 0: none can be made
 * here. */
gsize flam_return_frame_make (const FlamReturn *back,
                              guint64 at,
                              guint8 *frame,
                              gsize room);

#endif
