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

/* --- system calls --------------------------------------------------------- */

/* `syscall` has two bytes. */
#define CALL_SIZE 2

static void
put_arguments (struct user_regs_struct *user, const FlamMachineCall *call)
{
  user->rdi = call->arguments[0];
  user->rsi = call->arguments[1];
  user->rdx = call->arguments[2];
  user->r10 = call->arguments[3];
  user->r8 = call->arguments[4];
  user->r9 = call->arguments[5];
}

static gboolean
set_registers (pid_t tid, struct user_regs_struct *user)
{
  struct iovec io = { user, sizeof *user };

  return ptrace (PTRACE_SETREGSET, tid, NT_PRSTATUS, &io) == 0;
}

gboolean
flam_machine_get_call (pid_t tid, FlamMachineCall *call)
{
  struct user_regs_struct user;
  gsize size;

  if (!get_registers (tid, &user, &size) || size != sizeof user ||
      (long)user.orig_rax < 0)
    return FALSE;
  *call = (FlamMachineCall){
    .number = (long)user.orig_rax,
    .arguments = { user.rdi, user.rsi, user.rdx, user.r10, user.r8, user.r9 },
    .result = (long)user.rax,
  };
  return TRUE;
}

gboolean
flam_machine_repeat_call (pid_t tid, const FlamMachineCall *call)
{
  struct user_regs_struct user;
  gsize size;

  if (!get_registers (tid, &user, &size) || size != sizeof user)
    return FALSE;
  put_arguments (&user, call);
  user.rip -= CALL_SIZE;
  user.rax = (unsigned long)call->number;
  user.orig_rax = (unsigned long)-1; /* not for the kernel to restart */
  return set_registers (tid, &user);
}

void
flam_machine_end_call (pid_t tid, const FlamMachineCall *call, gboolean made)
{
  struct user_regs_struct user;
  gsize size;

  if (!get_registers (tid, &user, &size) || size != sizeof user)
    return;
  put_arguments (&user, call);
  user.rax = (unsigned long)call->result;
  if (!made)
    user.rip += CALL_SIZE;
  set_registers (tid, &user);
}
