/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-remote.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <time.h>

#include "flam-mapping.h"
#include "flam-proc.h"
#include "flam-return-frame.h"
#include "flam-stops.h"

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

#define XSTATE_MAX 32768
#define STACK_BYTES (512u << 10)
#define CALL_TIME (2 * 1000000000ll) /* of a system call */
#define RED_ZONE 128
/* Bytes of a stack that stay free below a frame. */
#define HOME_LEFT 4096
#define PAUSE 20000     /* ns between two checks for stops */
#define ALIVE_EVERY 256 /* looks */
#define SYSCALL_STOP (SIGTRAP | 0x80)
/* Direction, trap, alignment check. */
#define FLAGS_OFF 0x40500ull

struct _FlamRemote
{
  FlamTracing tracing;
  pid_t pid;
  pid_t tid;
  guint64 gate;
  guint64 leave; /* rt_sigreturn */
  /* Frames that lead back if the tracer is gone: on the thread's own stack, and
   * on the one made for it; 0: none. */
  guint64 home, away;
  guint64 stack; /* 0: none */
  struct user_regs_struct saved;
  guint64 mask;
  gsize n_state;
  gboolean was_stopped; /* SIGSTOP arrived meanwhile */
  guint8 state[XSTATE_MAX];
};

static gint64
now_ns (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_MONOTONIC, &ts);
  return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* --- stops --------------------------------------------------------------- */

static gboolean
has_ended (pid_t tid)
{
  g_autofree char *text = flam_proc_text (tid, tid, "stat");
  const char *at = text != NULL ? strrchr (text, ')') : NULL;

  return at == NULL || at[1] == '\0' || at[2] == 'Z' || at[2] == 'X';
}

/* The next stop of the thread; stops of other threads are passed on. */
static gboolean
wait_for (const FlamTracing *tracing, pid_t tid, gint64 until, int *status)
{
  struct timespec pause = { 0, PAUSE };

  for (guint i = 1; now_ns () < until; i++)
    {
      pid_t stopped = flam_wait_stopped (status);

      if (stopped == tid)
        return TRUE;
      if (stopped > 0)
        tracing->stopped (tracing->data, stopped, *status);
      else if (i % ALIVE_EVERY == 0 && has_ended (tid))
        return FALSE;
      else
        nanosleep (&pause, NULL);
    }
  return FALSE;
}

gboolean
flam_remote_stop (const FlamTracing *tracing, pid_t tid, gint64 timeout)
{
  gint64 until = now_ns () + timeout;
  int status;

  if (ptrace (PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
    return FALSE;
  while (wait_for (tracing, tid, until, &status))
    {
      FlamStopKind kind = flam_stop_read (status).kind;

      if (kind == FLAM_STOP_INTERRUPT)
        return TRUE;
      if (kind == FLAM_STOP_GROUP)
        {
          tracing->stopped (tracing->data, tid, status);
          return FALSE;
        }
      /* Any other stop takes the place of the requested one. */
      tracing->stopped (tracing->data, tid, status);
      if (ptrace (PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
        return FALSE;
    }
  return FALSE;
}

static gboolean
get_registers (const FlamRemote *remote, struct user_regs_struct *regs)
{
  struct iovec io = { regs, sizeof *regs };

  return ptrace (PTRACE_GETREGSET, remote->tid, NT_PRSTATUS, &io) == 0 &&
         io.iov_len == sizeof *regs;
}

static gboolean
set_registers (const FlamRemote *remote, struct user_regs_struct *regs)
{
  struct iovec io = { regs, sizeof *regs };

  return ptrace (PTRACE_SETREGSET, remote->tid, NT_PRSTATUS, &io) == 0;
}

/* FALSE: a fault. SIGSTOP cannot be blocked: it is sent again at the end. */
static gboolean
handle_other_stop (FlamRemote *remote, int status)
{
  FlamStop stop = flam_stop_read (status);

  if (stop.kind == FLAM_STOP_GROUP ||
      (stop.kind == FLAM_STOP_SIGNAL && stop.value == SIGSTOP))
    remote->was_stopped = TRUE;
  else if (stop.kind == FLAM_STOP_SIGNAL)
    return FALSE;
  return TRUE;
}

/* Runs to the next entry of the kernel, or exit from it. */
static gboolean
run_to_call (FlamRemote *remote, gint64 until)
{
  int status;

  for (;;)
    {
      if (ptrace (PTRACE_SYSCALL, remote->tid, NULL, NULL) != 0 ||
          !wait_for (&remote->tracing, remote->tid, until, &status))
        return FALSE;
      if (status >> 16 == 0 && (status >> 8 & 0xff) == SYSCALL_STOP)
        return TRUE;
      if (!handle_other_stop (remote, status))
        return FALSE;
    }
}

/* --- calls --------------------------------------------------------------- */

/* At the gate, with nothing to be restarted. */
static struct user_regs_struct
fresh_registers (const FlamRemote *remote)
{
  struct user_regs_struct regs = remote->saved;
  guint64 frame = remote->away != 0 ? remote->away : remote->home;

  regs.orig_rax = (unsigned long)-1;
  regs.eflags &= ~FLAGS_OFF;
  regs.rip = remote->gate;
  if (frame != 0)
    regs.rsp = frame + 8;
  return regs;
}

/* Behind the gate, from where it finds back by itself. */
static gboolean
rest (FlamRemote *remote)
{
  struct user_regs_struct regs = fresh_registers (remote);

  if (remote->home == 0 && remote->away == 0)
    return TRUE;
  regs.rip = remote->gate + 2;
  return set_registers (remote, &regs);
}

static gboolean
call_kernel (FlamRemote *remote,
             long number,
             const guint64 arguments[6],
             gint64 *result)
{
  struct user_regs_struct regs = fresh_registers (remote);
  gint64 until = now_ns () + CALL_TIME;

  regs.rax = (unsigned long)number;
  regs.rdi = arguments[0];
  regs.rsi = arguments[1];
  regs.rdx = arguments[2];
  regs.r10 = arguments[3];
  regs.r8 = arguments[4];
  regs.r9 = arguments[5];
  if (!set_registers (remote, &regs) || !run_to_call (remote, until) ||
      !run_to_call (remote, until) || !get_registers (remote, &regs))
    return FALSE;
  *result = (gint64)regs.rax;
  return TRUE;
}

static gboolean
write_memory (const FlamRemote *remote,
              guint64 address,
              gconstpointer data,
              gsize size)
{
  struct iovec local = { (gpointer)data, size };
  struct iovec other = { (void *)(guintptr)address, size };

  return process_vm_writev (remote->pid, &local, 1, &other, 1, 0) ==
         (gssize)size;
}

guint64
flam_remote_put (FlamRemote *remote, gconstpointer data, gsize size)
{
  return size <= FLAM_REMOTE_DATA &&
                 write_memory (remote, remote->stack, data, size)
             ? remote->stack
             : 0;
}

/* The function has returned to the gate, and its result is the number of the
 * call there, which is not made. */
static gboolean
take_result (FlamRemote *remote,
             struct user_regs_struct *regs,
             gint64 until,
             guint64 *result)
{
  *result = regs->orig_rax;
  regs->orig_rax = (unsigned long)-1;
  return set_registers (remote, regs) && run_to_call (remote, until);
}

gboolean
flam_remote_call (FlamRemote *remote,
                  guint64 function,
                  const guint64 arguments[3],
                  gint64 timeout,
                  guint64 *result)
{
  struct user_regs_struct regs = fresh_registers (remote);
  guint64 top = remote->away + 8;
  gint64 until = now_ns () + timeout;

  regs.rip = function;
  regs.rsp = remote->away;
  regs.rbp = 0;
  regs.rax = 0;
  regs.rdi = arguments[0];
  regs.rsi = arguments[1];
  regs.rdx = arguments[2];
  if (!set_registers (remote, &regs))
    return FALSE;
  while (run_to_call (remote, until) && get_registers (remote, &regs))
    if (regs.rip == remote->gate + 2 && regs.rsp == top)
      return take_result (remote, &regs, until, result);
  /* Still running: the thread is needed for the next steps. */
  flam_remote_stop (&remote->tracing, remote->tid, CALL_TIME);
  return FALSE;
}

/* --- begin and end ------------------------------------------------------- */

static gboolean
save (FlamRemote *remote)
{
  struct iovec io = { remote->state, sizeof remote->state };

  if (!get_registers (remote, &remote->saved) ||
      ptrace (PTRACE_GETREGSET, remote->tid, NT_X86_XSTATE, &io) != 0 ||
      io.iov_len == sizeof remote->state)
    return FALSE;
  remote->n_state = io.iov_len;
  return ptrace (PTRACE_GETSIGMASK,
                 remote->tid,
                 sizeof remote->mask,
                 &remote->mask) == 0;
}

/* The general registers come last: until then the frame leads back. */
static void
restore (FlamRemote *remote)
{
  struct iovec io = { remote->state, remote->n_state };

  ptrace (PTRACE_SETSIGMASK, remote->tid, sizeof remote->mask, &remote->mask);
  ptrace (PTRACE_SETREGSET, remote->tid, NT_X86_XSTATE, &io);
  set_registers (remote, &remote->saved);
  ptrace (
      PTRACE_SETOPTIONS, remote->tid, NULL, (void *)remote->tracing.options);
}

/* Blocking the signals of faults would change what they do. */
static guint64
blocked_mask (guint64 mask)
{
  static const int faults[] = {
    SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS, SIGTRAP
  };
  guint64 all = ~G_GUINT64_CONSTANT (0);

  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    all &= ~(G_GUINT64_CONSTANT (1) << (faults[i] - 1));
  return all | mask;
}

/* --- frames -------------------------------------------------------------- */

/* Below the red zone of the thread's own stack, where the kernel would put the
 * frame of a signal. Only on stacks that fill their mapping, unlike a
 * goroutine's: that of the main thread, or one with a guard below it. */
static guint64
find_home (const FlamRemote *remote)
{
  g_autofree char *text = flam_proc_text (remote->pid, remote->tid, "maps");
  const char *at = text, *end = text != NULL ? text + strlen (text) : NULL;
  guint64 sp = remote->saved.rsp, guard = 0;
  guint64 frame = flam_return_frame_below (sp - RED_ZONE, remote->n_state);
  FlamMapping mapping;

  while (text != NULL && flam_mapping_next (&at, end, &mapping))
    {
      gboolean is_stack =
          (mapping.length == strlen ("[stack]") &&
           strncmp (mapping.path, "[stack]", mapping.length) == 0) ||
          guard == mapping.start;

      if (sp >= mapping.start && sp < mapping.end)
        return is_stack && mapping.readable &&
                       frame >= mapping.start + HOME_LEFT
                   ? frame
                   : 0;
      guard = mapping.readable || mapping.executable ? 0 : mapping.end;
    }
  return 0;
}

/* FALSE: `at` is not the address of a frame any more. */
static gboolean
write_frame (const FlamRemote *remote, guint64 at)
{
  FlamReturn back = { remote->gate, remote->leave, &remote->saved,
                      remote->mask, remote->state, remote->n_state };
  gsize room = remote->n_state + FLAM_RETURN_FRAME_MORE;
  g_autofree guint8 *frame = g_malloc (room);
  gsize size = flam_return_frame_make (&back, at, frame, room);

  return size > 0 && write_memory (remote, at, frame, size);
}

static gboolean
make_stack (FlamRemote *remote)
{
  guint64 arguments[6] = { 0,
                           STACK_BYTES,
                           PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
                           (guint64)-1,
                           0 };
  gint64 result;

  guint64 frame;

  if (!call_kernel (remote, SYS_mmap, arguments, &result) || result < 0)
    return FALSE;
  remote->stack = (guint64)result;
  frame =
      flam_return_frame_below (remote->stack + STACK_BYTES, remote->n_state);
  if (!write_frame (remote, frame))
    return FALSE;
  remote->away = frame;
  return TRUE;
}

FlamRemote *
flam_remote_begin (const FlamTracing *tracing,
                   pid_t pid,
                   pid_t tid,
                   guint64 gate,
                   guint64 leave)
{
  FlamRemote *remote = g_new0 (FlamRemote, 1);
  guint64 mask;

  remote->tracing = *tracing;
  remote->pid = pid;
  remote->tid = tid;
  remote->gate = gate;
  remote->leave = leave;
  if (!save (remote))
    {
      g_free (remote);
      return NULL;
    }
  remote->home = find_home (remote);
  if (remote->home != 0 && !write_frame (remote, remote->home))
    remote->home = 0;
  rest (remote);
  mask = blocked_mask (remote->mask);
  ptrace (PTRACE_SETSIGMASK, tid, sizeof mask, &mask);
  ptrace (PTRACE_SETOPTIONS,
          tid,
          NULL,
          (void *)(tracing->options | PTRACE_O_TRACESYSGOOD));
  if (make_stack (remote))
    return remote;
  flam_remote_end (remote);
  return NULL;
}

/* A stop at which the kernel decides what to restart. */
static gboolean
reach_last_stop (FlamRemote *remote)
{
  gint64 until = now_ns () + CALL_TIME;
  int status;

  ptrace (PTRACE_INTERRUPT, remote->tid, NULL, NULL);
  for (;;)
    {
      if (ptrace (PTRACE_CONT, remote->tid, NULL, NULL) != 0 ||
          !wait_for (&remote->tracing, remote->tid, until, &status))
        return FALSE;
      if (flam_stop_read (status).kind == FLAM_STOP_INTERRUPT)
        return TRUE;
      if (!handle_other_stop (remote, status))
        return TRUE;
      ptrace (PTRACE_INTERRUPT, remote->tid, NULL, NULL);
    }
}

void
flam_remote_end (FlamRemote *remote)
{
  guint64 arguments[6] = { remote->stack, STACK_BYTES };
  gint64 result;

  remote->away = 0;
  if (remote->stack != 0)
    call_kernel (remote, SYS_munmap, arguments, &result);
  if (!rest (remote) || remote->home == 0)
    {
      struct user_regs_struct regs = fresh_registers (remote);

      set_registers (remote, &regs);
    }
  reach_last_stop (remote);
  restore (remote);
  if (remote->was_stopped)
    kill (remote->pid, SIGSTOP);
  g_free (remote);
}
