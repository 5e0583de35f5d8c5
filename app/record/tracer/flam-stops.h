/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a stop means, and what is done with the registers at one. All that
 * depends on the machine (x86-64) about ptrace is here. */

#include "flam-task.h"

typedef enum
{
  FLAM_STOP_EXITED,    /* gone; `value` is the exit status or 128 + signal */
  FLAM_STOP_SIGNAL,    /* about to get signal `value`: pass it on */
  FLAM_STOP_INTERRUPT, /* ours, or the first one of a new thread */
  FLAM_STOP_GROUP,     /* job control: LISTEN, do not continue */
  FLAM_STOP_CLONE,     /* made a thread or process */
  FLAM_STOP_EXEC,
  FLAM_STOP_OTHER,
} FlamStopKind;

typedef struct
{
  FlamStopKind kind;
  int value;
} FlamStop;

FlamStop flam_stop_read (int status);

/* A thread that has stopped; 0: none now, -1: nobody to wait for, perhaps. */
pid_t flam_wait_stopped (int *status);
/* One that has stopped or ended, and is reported again until it is waited for;
 * 0: none now, -1: nobody is left. */
pid_t flam_wait_next (gboolean *ended);
/* Of one that has ended. FALSE: it may not be reaped now. */
gboolean flam_wait_reap (pid_t tid, int *status);

typedef struct
{
  gboolean foreign; /* a program for another machine */
  gboolean in_call; /* on its way back from a system call */
  gboolean waits;   /* whose work it is to wait */
  gboolean cut_off; /* it did, or was about to: the stop ended that */
} FlamStopContext;

/* Registers of a stopped thread by DWARF number. FALSE: gone, or foreign. */
gboolean flam_stop_registers (pid_t tid,
                              gboolean mend,
                              guint64 regs[FLAM_N_REGS],
                              FlamStopContext *context);

/* What a line of /proc/PID/task/TID/syscall says. */
typedef struct
{
  gboolean running;
  long number; /* -1: blocked outside a system call (a page fault) */
  guint64 sp;
  guint64 pc;
} FlamBlocked;

gboolean flam_blocked_parse (const char *line, FlamBlocked *blocked);
/* Why a thread that waits in this call waits. */
FlamState flam_blocked_state (const FlamBlocked *blocked);

/* Bytes of another process; as many as can be had, 0 for none. */
gsize flam_read_memory (pid_t pid, guint64 address, gpointer to, gsize size);
