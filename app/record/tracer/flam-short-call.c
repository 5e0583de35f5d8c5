/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-short-call.h"

#include <errno.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "flam-machine.h"

#define NO_BUFFER -1

/* The arguments that change if a part was done, by index. The kernel itself
 * advances offsets in memory. */
static const struct
{
  long number;
  int buffer;
  int size;
} calls[] = {
  { SYS_write, 1, 2 },
  { SYS_sendto, 1, 2 },
  { SYS_recvfrom, 1, 2 },
  { SYS_getrandom, 0, 1 },
  { SYS_sendfile, NO_BUFFER, 3 },
  { SYS_copy_file_range, NO_BUFFER, 4 },
};

static int
find_call (long number)
{
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (calls[i].number == number)
      return (int)i;
  return -1;
}

/* A receiver gets what is there, unless it wants all. */
static gboolean
is_to_be_whole (const FlamMachineCall *call)
{
  return call->number != SYS_recvfrom ||
         (call->arguments[3] & MSG_WAITALL) != 0;
}

static gboolean
is_short (const FlamMachineCall *call)
{
  int i = call->result > 0 ? find_call (call->number) : -1;

  return i >= 0 && (guint64)call->result < call->arguments[calls[i].size] &&
         is_to_be_whole (call);
}

gboolean
flam_short_call_is_at (FlamTask *task)
{
  FlamMachineCall call;

  return task->short_call.active ||
         (flam_machine_get_call (task->tid, &call) && is_short (&call));
}

gboolean
flam_short_call_repeat (FlamTask *task, long number, long result)
{
  FlamShortCall *shortened = &task->short_call;
  int i = result > 0 ? find_call (number) : -1;
  FlamMachineCall call;

  if (i < 0 || task->target->attached != NULL ||
      (shortened->active && !shortened->entered) ||
      !flam_machine_get_call (task->tid, &call) || call.number != number ||
      call.result != result || !is_short (&call))
    return FALSE;
  if (!shortened->active)
    *shortened = (FlamShortCall){ .call = call };
  call.arguments[calls[i].size] -= (guint64)result;
  if (calls[i].buffer != NO_BUFFER)
    call.arguments[calls[i].buffer] += (guint64)result;
  if (!flam_machine_repeat_call (task->tid, &call))
    return FALSE;
  shortened->done += result;
  shortened->active = TRUE;
  shortened->entered = FALSE;
  return TRUE;
}

static void
end_with (FlamTask *task, gint64 result)
{
  FlamShortCall *shortened = &task->short_call;

  shortened->call.result = (long)result;
  flam_machine_end_call (task->tid, &shortened->call, shortened->entered);
  shortened->active = FALSE;
}

/* The part that the repeated call has done; the error of one that has done
 * nothing is that of the program's next call. */
static gint64
part (gint64 result)
{
  return MAX (result, 0);
}

/* The repeated call was interrupted in turn, after a part or before it: then
 * the kernel restarts it, by itself or with help (flam_stop_registers). */
static gboolean
was_cut (const FlamShortCall *shortened, gint64 result)
{
  int i = find_call (shortened->call.number);
  guint64 size = i >= 0 ? shortened->call.arguments[calls[i].size] : 0;

  return result > 0
             ? (guint64)(shortened->done + result) < size
             : result == -EINTR || (result >= -FLAM_MACHINE_RESTART_LAST &&
                                    result <= -FLAM_MACHINE_RESTART_FIRST);
}

void
flam_short_call_pass (FlamTask *task, gboolean cut)
{
  FlamShortCall *shortened = &task->short_call;
  struct __ptrace_syscall_info info;

  if (!shortened->active ||
      ptrace (PTRACE_GET_SYSCALL_INFO, task->tid, (void *)sizeof info, &info) <=
          0)
    return;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
    shortened->entered = TRUE;
  if (info.op != PTRACE_SYSCALL_INFO_EXIT || !shortened->entered)
    return;
  if (cut && was_cut (shortened, info.exit.rval) &&
      (info.exit.rval < 0 || flam_short_call_repeat (task,
                                                     shortened->call.number,
                                                     (long)info.exit.rval)))
    return;
  end_with (task, shortened->done + part (info.exit.rval));
}

void
flam_short_call_settle (FlamTask *task)
{
  FlamShortCall *shortened = &task->short_call;
  FlamMachineCall call = { 0 };

  if (!shortened->active)
    return;
  if (shortened->entered)
    flam_machine_get_call (task->tid, &call);
  end_with (task, shortened->done + part (call.result));
}
