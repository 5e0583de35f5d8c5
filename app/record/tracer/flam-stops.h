/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_STOPS_H
#define FLAM_STOPS_H

/* The meaning of a stop, and the handling of registers at one. What depends on
 * the processor is in flam-machine.h. */

#include "flam-task.h"

typedef enum
{
  FLAM_STOP_EXITED,    /* ended; `value` is the exit status or 128 + signal */
  FLAM_STOP_SIGNAL,    /* about to receive signal `value`: pass it on */
  FLAM_STOP_INTERRUPT, /* the tracer's, or the first one of a new thread */
  FLAM_STOP_GROUP,     /* job control: use LISTEN, do not continue */
  FLAM_STOP_CLONE,     /* created a thread or process */
  FLAM_STOP_EXEC,
  FLAM_STOP_CALL,   /* at a system call's entry or exit */
  FLAM_STOP_ENDING, /* is about to end */
  FLAM_STOP_OTHER,
} FlamStopKind;

typedef struct
{
  FlamStopKind kind;
  int value;
} FlamStop;

FlamStop flam_stop_read (int status);

/* The thread or process that one which stopped with CLONE has created; 0:
 * unknown. */
pid_t flam_stop_created (pid_t tid);
/* Whether this is a process that was not reaped yet, and not another thread of
 * one. */
gboolean flam_stop_is_process (pid_t tid);
/* Whether this is a thread of the process. */
gboolean flam_stop_is_thread (pid_t pid, pid_t tid);

/* A thread that has stopped; 0: none now, -1: perhaps none is left. */
pid_t flam_wait_stopped (int *status);
/* A thread that has stopped or ended, which is reported again until it is
 * waited for; 0: none now, -1: none is left. */
pid_t flam_wait_next (gboolean *ended);
/* Reaps a thread that has ended. FALSE: it may not be reaped now. */
gboolean flam_wait_reap (pid_t tid, int *status);

typedef struct
{
  gboolean foreign; /* a program for another machine */
  gboolean in_call; /* returning from a system call */
  gboolean waits;   /* the purpose of the call is to wait */
  gboolean cut_off; /* it waited or was about to: the stop interrupted it */
  gboolean fails;   /* it returns EINTR, which can be mended */
  long call;        /* its number; below 0: none */
  long result;      /* of that */
  guint64 fs_base;  /* the thread pointer */
} FlamStopContext;

/* Registers of a stopped thread by DWARF number. FALSE: ended, or foreign. */
gboolean flam_stop_registers (pid_t tid,
                              gboolean mend,
                              guint64 regs[FLAM_N_REGS],
                              FlamStopContext *context);

/* The content of a line of /proc/PID/task/TID/syscall. */
typedef struct
{
  gboolean running;
  gboolean continues; /* an interrupted call, by restart_syscall(2) */
  long number;        /* -1: blocked outside a system call (a page fault) */
  guint64 sp;
  guint64 pc;
} FlamBlocked;

gboolean flam_blocked_parse (const char *line, FlamBlocked *blocked);
/* The reason for the wait of a thread in this call; BLOCKED for one that
 * continues, as its number is lost. */
FlamState flam_blocked_state (const FlamBlocked *blocked);
/* The same by the name of a function of the kernel: BLOCKED also for one that
 * is not the beginning of a call. */
FlamState flam_function_state (const char *function);
/* The same for such a call, by the kernel's function in which it waits, as in
 * /proc/PID/wchan ("0": unknown). The calls that continue are futex with a time
 * limit and poll, whose functions have these words in their names in all
 * kernels (kernel/futex, fs/select.c), and the nanosleeps, whose functions have
 * many names: in Linux 6.18 wchan is "do_syscall_64". */
FlamState flam_channel_state (const char *channel);

/* Reads bytes of another process; returns how many are readable, 0 for none. */
gsize flam_read_memory (pid_t pid, guint64 address, gpointer to, gsize size);

#endif
