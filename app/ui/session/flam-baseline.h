/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a session's capture is compared with, and how: another capture, or a
 * part of its own, a range of time, some threads, or the measure that says what
 * there was before.
 *
 *   open ──▶ job (read, symbolize) ──▶ "changed"
 *     │                       └──────▶ "failed" (GError): as it was before
 *     └▶ "started"
 *   set_range, … ──▶ "changed", "started"       leave ──▶ "changed"
 *   set_scale, set_self ──▶ "scaled"
 */

#include "flam-job.h"
#include "flam-selection.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_BASELINE_NONE,
  FLAM_BASELINE_CAPTURE,
  FLAM_BASELINE_RANGE,
  FLAM_BASELINE_THREADS,
  FLAM_BASELINE_MEASURE,
} FlamBaselineKind;

/* What before is multiplied by. */
typedef enum
{
  FLAM_SCALE_NONE,
  FLAM_SCALE_SHARES, /* so that both totals are alike */
  FLAM_SCALE_TIME,   /* so that both lasted as long */
} FlamScale;

#define FLAM_TYPE_BASELINE (flam_baseline_get_type ())
G_DECLARE_FINAL_TYPE (FlamBaseline, flam_baseline, FLAM, BASELINE, GObject)

FlamBaseline *flam_baseline_new (void);
void flam_baseline_open (FlamBaseline *baseline, const char *path);
/* A capture that is there already. */
void flam_baseline_take (FlamBaseline *baseline,
                         const FlamProfile *profile,
                         const char *title);
/* ns, half open. */
void flam_baseline_set_range (FlamBaseline *baseline, gint64 from, gint64 to);
/* Of the session's own capture; `n` at least 1. */
void flam_baseline_set_threads (FlamBaseline *baseline,
                                const FlamId *threads,
                                guint n);
void flam_baseline_set_measure (FlamBaseline *baseline, guint measure);
/* The session's capture was read again: the same threads and measure of it. */
void flam_baseline_carry (FlamBaseline *baseline,
                          const FlamProfile *from,
                          const FlamProfile *to);
/* Also stops what is being read. */
void flam_baseline_leave (FlamBaseline *baseline);
/* Stops what is being read, and that alone. */
void flam_baseline_cancel (FlamBaseline *baseline);

FlamBaselineKind flam_baseline_get_kind (FlamBaseline *baseline);
/* A capture's; NULL: it is a part of the session's own. */
const FlamProfile *flam_baseline_get_profile (FlamBaseline *baseline);
/* What is looked at of that, as far as the kind says: times, threads or the
 * measure. */
const FlamSelection *flam_baseline_get_part (FlamBaseline *baseline);
/* The base name of what is compared with or being read; "" of a part. */
const char *flam_baseline_get_title (FlamBaseline *baseline);
/* That reads; its "busy" and "fraction" say how it goes. */
FlamJob *flam_baseline_get_job (FlamBaseline *baseline);

/* How it is compared. A new baseline comes with the scale that suits it. */
void flam_baseline_set_scale (FlamBaseline *baseline, FlamScale scale);
FlamScale flam_baseline_get_scale (FlamBaseline *baseline);
/* Selves, not totals. */
void flam_baseline_set_self (FlamBaseline *baseline, gboolean self);
gboolean flam_baseline_get_self (FlamBaseline *baseline);

G_END_DECLS
