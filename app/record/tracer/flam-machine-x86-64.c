/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-machine.h"

#include <elf.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

static gboolean
get_registers (pid_t tid, struct user_regs_struct *user, gsize *size)
{
  struct iovec io = { user, sizeof *user };

  if (ptrace (PTRACE_GETREGSET, tid, NT_PRSTATUS, &io) != 0)
    return FALSE;
  *size = io.iov_len;
  return TRUE;
}

FlamMachineRead
flam_machine_read (pid_t tid, FlamMachineState *state)
{
  struct user_regs_struct user;
  guint64 *regs = state->regs;
  gsize size;

  if (!get_registers (tid, &user, &size))
    return FLAM_MACHINE_ENDED;
  if (size != sizeof user)
    return FLAM_MACHINE_FOREIGN;
  state->thread_pointer = user.fs_base;
  state->call = (long)user.orig_rax;
  state->result = (long)user.rax;
  regs[0] = user.rax;
  regs[1] = user.rdx;
  regs[2] = user.rcx;
  regs[3] = user.rbx;
  regs[4] = user.rsi;
  regs[5] = user.rdi;
  regs[6] = user.rbp;
  regs[7] = user.rsp;
  regs[8] = user.r8;
  regs[9] = user.r9;
  regs[10] = user.r10;
  regs[11] = user.r11;
  regs[12] = user.r12;
  regs[13] = user.r13;
  regs[14] = user.r14;
  regs[15] = user.r15;
  regs[16] = user.rip;
  return FLAM_MACHINE_READ;
}

void
flam_machine_restart (pid_t tid, const FlamMachineState *state)
{
  ptrace (PTRACE_POKEUSER,
          tid,
          (void *)offsetof (struct user_regs_struct, rax),
          (void *)(glong)-FLAM_MACHINE_RESTART);
}

guint64
flam_machine_get_sp (pid_t tid)
{
  return (guint64)ptrace (PTRACE_PEEKUSER,
                          tid,
                          (void *)offsetof (struct user_regs_struct, rsp),
                          NULL);
}

gboolean
flam_machine_set_sp (pid_t tid, guint64 sp)
{
  return ptrace (PTRACE_POKEUSER,
                 tid,
                 (void *)offsetof (struct user_regs_struct, rsp),
                 GSIZE_TO_POINTER (sp)) == 0;
}
