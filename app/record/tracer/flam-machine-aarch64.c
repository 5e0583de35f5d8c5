/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The kernel forgets the number of a system call, and its first argument,
 * before a thread stops on its way out (arch/arm64/kernel/signal.c,
 * do_signal()):
 *
 *   the call             pc                    x0
 *   is to be restarted   at the svc            its first argument again
 *   has a result         behind the svc        the result
 *
 * and x8 has its number in both cases. So the instructions around pc are read.
 */

#include "flam-machine.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "flam-stops.h"

#define SVC_0 0xd4000001u

static gboolean
get_registers (pid_t tid, struct user_regs_struct *user, gsize *size)
{
  struct iovec io = { user, sizeof *user };

  if (ptrace (PTRACE_GETREGSET, tid, NT_PRSTATUS, &io) != 0)
    return FALSE;
  *size = io.iov_len;
  return TRUE;
}

static void
find_call (pid_t tid,
           const struct user_regs_struct *user,
           FlamMachineState *state)
{
  guint32 code[2] = { 0 };

  state->call = -1;
  state->result = 0;
  if (user->pc < 4 ||
      flam_read_memory (tid, user->pc - 4, code, sizeof code) != sizeof code)
    return;
  if (code[1] != SVC_0 && code[0] != SVC_0)
    return;
  state->call = (long)user->regs[8];
  state->result =
      code[1] == SVC_0 ? -FLAM_MACHINE_RESTART : (long)user->regs[0];
}

FlamMachineRead
flam_machine_read (pid_t tid, FlamMachineState *state)
{
  struct user_regs_struct user;
  struct iovec pointer = { &state->thread_pointer,
                           sizeof state->thread_pointer };
  gsize size;

  if (!get_registers (tid, &user, &size))
    return FLAM_MACHINE_ENDED;
  if (size != sizeof user)
    return FLAM_MACHINE_FOREIGN;
  state->thread_pointer = 0;
  ptrace (PTRACE_GETREGSET, tid, NT_ARM_TLS, &pointer);
  find_call (tid, &user, state);
  for (guint i = 0; i < G_N_ELEMENTS (user.regs); i++)
    state->regs[i] = user.regs[i];
  state->regs[31] = user.sp;
  state->regs[32] = user.pc;
  return FLAM_MACHINE_READ;
}

/* The first argument is lost, so the call has failed, as it does for any other
 * stop. */
void
flam_machine_restart (pid_t tid, const FlamMachineState *state)
{
}

guint64
flam_machine_get_sp (pid_t tid)
{
  struct user_regs_struct user;
  gsize size;

  return get_registers (tid, &user, &size) && size == sizeof user ? user.sp : 0;
}

gboolean
flam_machine_set_sp (pid_t tid, guint64 sp)
{
  struct user_regs_struct user;
  struct iovec io = { &user, sizeof user };
  gsize size;

  if (!get_registers (tid, &user, &size) || size != sizeof user)
    return FALSE;
  user.sp = sp;
  return ptrace (PTRACE_SETREGSET, tid, NT_PRSTATUS, &io) == 0;
}

/* The result has taken the place of the first argument. */
gboolean
flam_machine_get_call (pid_t tid, FlamMachineCall *call)
{
  return FALSE;
}

gboolean
flam_machine_repeat_call (pid_t tid, const FlamMachineCall *call)
{
  return FALSE;
}

void
flam_machine_end_call (pid_t tid, const FlamMachineCall *call, gboolean made)
{
}
