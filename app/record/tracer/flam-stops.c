/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-stops.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flam-call-numbers.h"
#include "flam-machine.h"

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

static gboolean
is_group_stop (int sig)
{
  return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

FlamStop
flam_stop_read (int status)
{
  int event = status >> 16;

  if (WIFEXITED (status))
    return (FlamStop){ FLAM_STOP_EXITED, WEXITSTATUS (status) };
  if (WIFSIGNALED (status))
    return (FlamStop){ FLAM_STOP_EXITED, 128 + WTERMSIG (status) };
  switch (event)
    {
    case 0:
      return (FlamStop){ WSTOPSIG (status) == (SIGTRAP | 0x80)
                             ? FLAM_STOP_CALL
                             : FLAM_STOP_SIGNAL,
                         WSTOPSIG (status) };
    case PTRACE_EVENT_STOP:
      return (FlamStop){ is_group_stop (WSTOPSIG (status))
                             ? FLAM_STOP_GROUP
                             : FLAM_STOP_INTERRUPT,
                         0 };
    case PTRACE_EVENT_CLONE:
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
      return (FlamStop){ FLAM_STOP_CLONE, event };
    case PTRACE_EVENT_EXEC:
      return (FlamStop){ FLAM_STOP_EXEC, 0 };
    case PTRACE_EVENT_EXIT:
      return (FlamStop){ FLAM_STOP_ENDING, 0 };
    default:
      return (FlamStop){ FLAM_STOP_OTHER, event };
    }
}

pid_t
flam_stop_created (pid_t tid)
{
  unsigned long created = 0;

  ptrace (PTRACE_GETEVENTMSG, tid, NULL, &created);
  return (pid_t)created;
}

/* The signal 0 is none. The kernel looks for the thread first, and then whether
 * this process may send it one. */
gboolean
flam_stop_is_thread (pid_t pid, pid_t tid)
{
  return syscall (SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

gboolean
flam_stop_is_process (pid_t tid)
{
  return flam_stop_is_thread (tid, tid);
}

/* Waits for stops only, and not for ends, because an ended thread must be read
 * before it is reaped. */
pid_t
flam_wait_stopped (int *status)
{
  siginfo_t info = { 0 };

  if (waitid (P_ALL, 0, &info, WSTOPPED | WNOHANG | __WALL) != 0)
    return -1;
  *status = info.si_status << 8 | 0x7f; /* in the form of waitpid() */
  return info.si_pid;
}

pid_t
flam_wait_next (gboolean *ended)
{
  siginfo_t info = { 0 };

  while (waitid (P_ALL,
                 0,
                 &info,
                 WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0)
    if (errno != EINTR)
      return -1;
  *ended = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
           info.si_code == CLD_DUMPED;
  return info.si_pid;
}

gboolean
flam_wait_reap (pid_t tid, int *status)
{
  return waitpid (tid, status, WNOHANG | __WALL) == tid;
}

/* Calls that return EINTR after a stop, although no signal was handled:
 * signal(7) "Interruption of system calls and library functions by stop
 * signals", and measured. The rest restart automatically. connect() and close()
 * are not listed, as they cannot be repeated. */
static gboolean
fails_after_stop (long call)
{
  switch (call)
    {
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_rt_sigtimedwait:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
    case SYS_read:
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
is_wait (long call)
{
  switch (call)
    {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_futex:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_msgrcv:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
is_cut_off (long result)
{
  return result == -EINTR || (result >= -FLAM_MACHINE_RESTART_LAST &&
                              result <= -FLAM_MACHINE_RESTART_FIRST);
}

gboolean
flam_stop_registers (pid_t tid,
                     gboolean mend,
                     guint64 regs[FLAM_N_REGS],
                     FlamStopContext *context)
{
  FlamMachineState state;
  FlamMachineRead read = flam_machine_read (tid, &state);

  *context = (FlamStopContext){ .foreign = read == FLAM_MACHINE_FOREIGN };
  if (read != FLAM_MACHINE_READ)
    return FALSE;
  context->fs_base = state.thread_pointer;
  context->call = state.call;
  context->result = state.result;
  context->in_call = state.call >= 0;
  context->waits = is_wait (state.call);
  context->cut_off = context->in_call && is_cut_off (state.result);
  context->fails = context->in_call && state.result == -EINTR &&
                   fails_after_stop (state.call);
  if (mend && context->fails)
    flam_machine_restart (tid, &state);
  memcpy (regs, state.regs, sizeof state.regs);
  return TRUE;
}

/* --- sleepers ------------------------------------------------------------ */

/* "running", "-1 SP PC", or "NUMBER ARG1 ... ARG6 SP PC"; all but the number
 * in hexadecimal: proc(5). */
gboolean
flam_blocked_parse (const char *line, FlamBlocked *blocked)
{
  unsigned long long sp, pc;

  memset (blocked, 0, sizeof *blocked);
  if (strncmp (line, "running", 7) == 0)
    {
      blocked->running = TRUE;
      return TRUE;
    }
  if (strncmp (line, "-1 ", 3) == 0)
    {
      blocked->number = -1;
      if (sscanf (line, "-1 0x%llx 0x%llx", &sp, &pc) != 2)
        return FALSE;
    }
  else if (sscanf (line,
                   "%ld 0x%*x 0x%*x 0x%*x 0x%*x 0x%*x 0x%*x 0x%llx 0x%llx",
                   &blocked->number,
                   &sp,
                   &pc) != 3)
    return FALSE;
  blocked->continues = blocked->number == SYS_restart_syscall;
  blocked->sp = sp;
  blocked->pc = pc;
  return TRUE;
}

#define CALL(name, state)                                                      \
  {                                                                            \
    SYS_##name, #name, FLAM_STATE_##state                                      \
  }

/* What threads wait for in these system calls. */
static const struct
{
  long number;
  const char *name;
  FlamState state;
} calls[] = {
  CALL (futex, LOCK),
  CALL (flock, LOCK),
  CALL (semop, LOCK),
  CALL (semtimedop, LOCK),
  CALL (nanosleep, SLEEP),
  CALL (clock_nanosleep, SLEEP),
  CALL (pause, SLEEP),
  CALL (rt_sigsuspend, SLEEP),
  CALL (rt_sigtimedwait, SLEEP),
  CALL (read, IO),
  CALL (write, IO),
  CALL (pread64, IO),
  CALL (pwrite64, IO),
  CALL (readv, IO),
  CALL (writev, IO),
  CALL (preadv, IO),
  CALL (pwritev, IO),
  CALL (preadv2, IO),
  CALL (pwritev2, IO),
  CALL (poll, IO),
  CALL (ppoll, IO),
  CALL (select, IO),
  CALL (pselect6, IO),
  CALL (epoll_wait, IO),
  CALL (epoll_pwait, IO),
  CALL (epoll_pwait2, IO),
  CALL (recvfrom, IO),
  CALL (recvmsg, IO),
  CALL (recvmmsg, IO),
  CALL (sendto, IO),
  CALL (sendmsg, IO),
  CALL (sendmmsg, IO),
  CALL (sendfile, IO),
  CALL (splice, IO),
  CALL (copy_file_range, IO),
  CALL (accept, IO),
  CALL (accept4, IO),
  CALL (connect, IO),
  CALL (open, IO),
  CALL (openat, IO),
  CALL (stat, IO),
  CALL (lstat, IO),
  CALL (newfstatat, IO),
  CALL (getdents64, IO),
  CALL (unlink, IO),
  CALL (unlinkat, IO),
  CALL (rename, IO),
  CALL (fsync, IO),
  CALL (fdatasync, IO),
  CALL (sync_file_range, IO),
  CALL (msync, IO),
  CALL (io_getevents, IO),
  CALL (io_pgetevents, IO),
  CALL (io_uring_enter, IO),
  CALL (msgrcv, IO),
  CALL (msgsnd, IO),
};

FlamState
flam_blocked_state (const FlamBlocked *blocked)
{
  if (blocked->number == -1) /* a page that must be read from disk */
    return FLAM_STATE_IO;
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (calls[i].number == blocked->number)
      return calls[i].state;
  return FLAM_STATE_BLOCKED;
}

/* "__x64_sys_read", "ksys_read", "___sys_recvmsg", "__do_sys_flock",
 * "do_readv": which of them are there depends on what the compiler inlined. */
static const char *
call_of (const char *function)
{
  static const char *const prefixes[] = { "_",   "x64_",  "arm64_", "do_",
                                          "se_", "ksys_", "sys_" };

  for (guint i = 0; i < G_N_ELEMENTS (prefixes); i++)
    while (g_str_has_prefix (function, prefixes[i]))
      function += strlen (prefixes[i]);
  return function;
}

FlamState
flam_function_state (const char *function)
{
  const char *name = call_of (function);

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (strcmp (calls[i].name, name) == 0)
      return calls[i].state;
  return FLAM_STATE_BLOCKED;
}

FlamState
flam_channel_state (const char *channel)
{
  if (strcmp (channel, "0") == 0)
    return FLAM_STATE_BLOCKED;
  if (strstr (channel, "futex") != NULL)
    return FLAM_STATE_LOCK;
  if (strstr (channel, "poll") != NULL)
    return FLAM_STATE_IO;
  return FLAM_STATE_SLEEP;
}

gsize
flam_read_memory (pid_t pid, guint64 address, gpointer to, gsize size)
{
  struct iovec local = { to, size };
  struct iovec remote = { (void *)(guintptr)address, size };
  ssize_t n = process_vm_readv (pid, &local, 1, &remote, 1, 0);

  return n > 0 ? (gsize)n : 0;
}
