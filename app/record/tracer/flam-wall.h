/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WALL_H
#define FLAM_WALL_H

/* The division of a thread's wall time, by the scheduler's counts between two
 * readings: it ran, it waited for a CPU, or else it slept. That is exact,
 * however short the waits are; the samples attribute it to stacks. Each sample
 * takes the time of its kind since the last one:
 *
 *   running    the time it ran; half of it, as of the CPU time, is
 *              for the sample before
 *   asleep     the time it slept
 *   any        the time it waited for a CPU: it continued there, or
 *              still waits
 */

#include "flam-task.h"

/* Begins the account now. */
void flam_wall_begin (FlamTask *task, const FlamSchedstat *stat, gint64 now);
/* `asleep`: the thread sleeps at this moment, or would without this stop. */
void flam_wall_look (FlamTask *task,
                     const FlamSchedstat *stat,
                     gint64 now,
                     gboolean asleep);
/* It has slept since it was found asleep. */
void flam_wall_sleep (FlamTask *task, gint64 until);
/* Adds the weights to a sample, by the state of the sample. */
void flam_wall_pay (FlamTask *task, FlamMessage *message);
/* Adds all the rest, at the end. */
void flam_wall_pay_rest (FlamTask *task, FlamMessage *message);

#endif
