/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a thread's wall time went to, by what the scheduler has counted between
 * two looks at it: it ran, it waited for a CPU, or else it slept. That is
 * exact, however short the waits are; on which stacks it stands is for the
 * samples to say. Each takes what is owed to its kind since the last one:
 *
 *   running    what ran; half of it, as of the CPU time, is the one's before
 *   asleep     what slept
 *   any        what waited for a CPU: there it went on, or goes on waiting
 */

#include "flam-task.h"

/* From now on. */
void flam_wall_begin (FlamTask *task, const FlamSchedstat *stat, gint64 now);
/* `asleep`: it is, at this moment. */
void flam_wall_look (FlamTask *task,
                     const FlamSchedstat *stat,
                     gint64 now,
                     gboolean asleep);
/* It has slept on since it was found asleep. */
void flam_wall_sleep (FlamTask *task, gint64 until);
/* Into a sample, whose state says what it is owed. */
void flam_wall_pay (FlamTask *task, FlamMessage *message);
/* All, at the end. */
void flam_wall_pay_rest (FlamTask *task, FlamMessage *message);
