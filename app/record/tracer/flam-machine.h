/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MACHINE_H
#define FLAM_MACHINE_H

/* The parts of ptrace that depend on the processor, for the one that this is
 * compiled for: its programs alone are recorded. A processor is one file,
 * flam-machine-PROCESSOR.c; how its stacks are unwound is in
 * flam-unwind-machine.h. */

#include <glib.h>
#include <linux/audit.h>
#include <sys/types.h>

#include "flam-machine-call.h"
#include "flam-task.h"

#ifdef __aarch64__
#define FLAM_MACHINE_AUDIT AUDIT_ARCH_AARCH64
#define FLAM_MACHINE_LOADER "ld-linux-aarch64.so" /* a version follows */
#define FLAM_MACHINE_CLONE_TLS 3                  /* the argument of clone(2) */
#else
#define FLAM_MACHINE_AUDIT AUDIT_ARCH_X86_64
#define FLAM_MACHINE_LOADER "ld-linux-x86-64.so"
#define FLAM_MACHINE_CLONE_TLS 4
#endif

typedef enum
{
  FLAM_MACHINE_READ,
  FLAM_MACHINE_ENDED,
  FLAM_MACHINE_FOREIGN, /* a program for another processor */
} FlamMachineRead;

typedef struct
{
  guint64 regs[FLAM_N_REGS]; /* by DWARF number */
  guint64 thread_pointer;
  long call;   /* the system call that it returns from; below 0: none */
  long result; /* of that; a call to be restarted has one of the kernel's codes,
                  which are not for programs */
} FlamMachineState;

FlamMachineRead flam_machine_read (pid_t tid, FlamMachineState *state);
/* After flam_machine_read(), for a call that the stop made fail with EINTR: has
 * the kernel restart it, if that is possible. */
void flam_machine_restart (pid_t tid, const FlamMachineState *state);

/* The stack pointer of a stopped thread; 0: unknown. */
guint64 flam_machine_get_sp (pid_t tid);
gboolean flam_machine_set_sp (pid_t tid, guint64 sp);

/* The code of the kernel for a call that is restarted unless a signal handler
 * runs, and the range of all such codes. */
#define FLAM_MACHINE_RESTART 514
#define FLAM_MACHINE_RESTART_FIRST 512
#define FLAM_MACHINE_RESTART_LAST 516

#endif
