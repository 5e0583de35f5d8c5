/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MACHINE_CALL_H
#define FLAM_MACHINE_CALL_H

/* The system call of a stopped thread, for the processor that this is compiled
 * for (flam-machine.h). */

#include <glib.h>
#include <sys/types.h>

typedef struct
{
  long number;
  guint64 arguments[6];
  long result;
} FlamMachineCall;

/* The one that the thread returns from. FALSE: ended, none, or not known. */
gboolean flam_machine_get_call (pid_t tid, FlamMachineCall *call);
/* Has the thread make the call when it continues, instead of returning from
 * one. */
gboolean flam_machine_repeat_call (pid_t tid, const FlamMachineCall *call);
/* Has it return from the call with its result. `made`: the one that was to be
 * repeated has been made. */
void
flam_machine_end_call (pid_t tid, const FlamMachineCall *call, gboolean made);

#endif
