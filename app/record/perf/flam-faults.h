/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FAULTS_H
#define FLAM_FAULTS_H

/* Page faults of the threads that are traced with ptrace: the kernel's events,
 * which stop no thread.
 *
 *   fault ──▶ ring ──▶ STACK and COUNTED messages (flam-batch)
 *
 * Each is a sample until there are more than FLAM_FAULTS_RATE a second; then a
 * sample stands for several, and has their number. */

#include "flam-tracer-state.h"

#define FLAM_FAULTS_RATE 4000

typedef struct _FlamFaults FlamFaults;

/* NULL, with a sentence about why: the system does not permit it. `launched`:
 * they begin when the thread calls exec. */
FlamFaults *
flam_faults_new (const FlamTracer *tracer, gboolean launched, char **why);
void flam_faults_free (FlamFaults *faults);
/* For a thread, and for threads that it creates. FALSE sets errno. */
gboolean flam_faults_add (FlamFaults *faults, pid_t tid);
/* Descriptors that poll() finds readable when there are many. */
const GArray *flam_faults_fds (const FlamFaults *faults);
/* This one is not worth polling any longer. */
void flam_faults_ignore (FlamFaults *faults, int fd);
/* Reports the faults so far. Called before a thread that has ended is dropped,
 * and before an exec is reported. */
void flam_faults_drain (FlamFaults *faults, FlamTracer *tracer);
/* The same at the end. */
void flam_faults_finish (FlamFaults *faults, FlamTracer *tracer);

#endif
