/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GUARD_H
#define FLAM_GUARD_H

/* A process that waits for the end of this one, and then sends FLAM_WIRE_LEFT
 * in its place. Without this message, the relay takes the end of a recorder
 * that was killed for a lost connection, and waits for another one, which only
 * that recorder could have opened. */

#include <sys/types.h>

typedef struct
{
  pid_t pid; /* 0: there is none */
  int alive; /* closed when this process ends */
} FlamGuard;

/* `in` and `out`: the client's. If this process was killed with a message half
 * written, the relay waits nevertheless. */
void flam_guard_start (FlamGuard *guard, int in, int out);
/* Nothing is sent. */
void flam_guard_end (FlamGuard *guard);

#endif
