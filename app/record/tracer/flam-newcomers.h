/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_NEWCOMERS_H
#define FLAM_NEWCOMERS_H

/* Processes that join a recorded unit or control group while it is recorded
 * and do not descend from a recorded process: those of a service that is
 * restarted, which are its manager's children.
 *
 *   old   ────────────┤
 *   new                  ├─·──────────
 *                        joins  is recorded, 0.2 s later */

#include "flam-launch-exec.h"

typedef struct _FlamNewcomers FlamNewcomers;

/* To be called often. Attaches to the newcomers; returns their pid_t, unref, or
 * NULL for none. */
GArray *
flam_newcomers_look (FlamTracer *tracer, FlamAttach attach, gpointer data);
/* After the last recorded process has ended: the same, but waits for one. NULL:
 * none came, or the recording is to end. */
GArray *
flam_newcomers_wait (FlamTracer *tracer, FlamAttach attach, gpointer data);
void flam_newcomers_free (FlamNewcomers *newcomers);

#endif
