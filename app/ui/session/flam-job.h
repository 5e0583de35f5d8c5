/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JOB_H
#define FLAM_JOB_H

/* The only place of the application that starts threads. A job is a slot: it
 * runs one piece of work at a time, a new start cancels the one before it, and
 * the result of a cancelled run never reaches the main loop.
 *
 *   main loop            worker
 *   start ──input──────▶ work (input, progress)
 *   poll 10/s ◀─atomic── progress->report
 *   cancel ───atomic───▶ report returns FALSE, work gives up
 *   done  ◀───part────── flam_job_hand_over(), any number of times
 *   done  ◀──result───── (dropped when the slot has moved on)
 *
 * There is no lock: input and result belong to one side at a time, and what
 * both read is immutable. For the main loop, cancelling takes effect at once;
 * the worker follows at its next progress step. */

#include "flam-core-profile.h"

#include <glib-object.h>

G_BEGIN_DECLS

/* On the worker. NULL with an error when it failed or was cancelled. */
typedef gpointer (*FlamJobWork) (gpointer input,
                                 const FlamProgress *progress,
                                 GError **error);
/* On the main loop; takes ownership of `result`, which is NULL if `error` is
 * set. While the job is busy, the result is a first part that the work handed
 * over. Not called for cancelled runs. */
typedef void (*FlamJobDone) (gpointer result,
                             const GError *error,
                             gpointer data);

#define FLAM_TYPE_JOB (flam_job_get_type ())
G_DECLARE_FINAL_TYPE (FlamJob, flam_job, FLAM, JOB, GObject)

/* Properties: "busy"; "slow" (busy for more than 300 ms, so show it);
 * "fraction" (0..1). */
FlamJob *flam_job_new (void);
/* Takes ownership of `input`; it is freed by the main loop or by the worker,
 * whichever ends later. `data` must be valid until the job is cancelled or
 * done. */
void flam_job_start (FlamJob *job,
                     FlamJobWork work,
                     gpointer input,
                     GDestroyNotify input_free,
                     GDestroyNotify result_free,
                     FlamJobDone done,
                     gpointer data);
/* On the worker, with the progress that the work was given: done() gets a first
 * part of the result, of the same type. */
void flam_job_hand_over (const FlamProgress *progress, gpointer part);
void flam_job_cancel (FlamJob *job);
gboolean flam_job_is_busy (FlamJob *job);
gboolean flam_job_is_slow (FlamJob *job);
double flam_job_get_fraction (FlamJob *job);

G_END_DECLS

#endif
