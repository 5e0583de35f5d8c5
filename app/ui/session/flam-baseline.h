/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BASELINE_H
#define FLAM_BASELINE_H

/* The baseline of a session's capture, and the kind of comparison: another
 * capture, or a part of the same one: a time range, some threads, or the
 * measure with the previous values.
 *
 *   open ──▶ job (read, symbolize) ──▶ "changed"
 *     │                       └──────▶ "failed" (GError): as it was before
 *     └▶ "started"
 *   set_range, … ──▶ "changed", "started"       leave ──▶ "changed"
 *   set_scale, set_self ──▶ "scaled" */

#include "flam-core-query.h"
#include "flam-job.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_BASELINE_NONE,
  FLAM_BASELINE_CAPTURE,
  FLAM_BASELINE_RANGE,
  FLAM_BASELINE_THREADS,
  FLAM_BASELINE_MEASURE,
} FlamBaselineKind;

/* The factor for the baseline. */
typedef enum
{
  FLAM_SCALE_NONE,
  FLAM_SCALE_SHARES, /* so that both totals are equal */
  FLAM_SCALE_TIME,   /* so that both lengths are equal */
} FlamScale;

#define FLAM_TYPE_BASELINE (flam_baseline_get_type ())
G_DECLARE_FINAL_TYPE (FlamBaseline, flam_baseline, FLAM, BASELINE, GObject)

FlamBaseline *flam_baseline_new (void);
void flam_baseline_open (FlamBaseline *baseline, const char *path);
/* Uses an already loaded capture. */
void flam_baseline_take (FlamBaseline *baseline,
                         const FlamProfile *profile,
                         const char *title);
/* ns, half open. */
void flam_baseline_set_range (FlamBaseline *baseline, gint64 from, gint64 to);
/* Threads of the session's own capture; `n` at least 1. */
void flam_baseline_set_threads (FlamBaseline *baseline,
                                const FlamThreadId *threads,
                                guint n);
void flam_baseline_set_measure (FlamBaseline *baseline, guint measure);
/* After the session's capture was read again: the same threads and measure. */
void flam_baseline_carry (FlamBaseline *baseline,
                          const FlamProfile *from,
                          const FlamProfile *to);
/* Also stops a load in progress. */
void flam_baseline_leave (FlamBaseline *baseline);
/* Only stops a load in progress. */
void flam_baseline_cancel (FlamBaseline *baseline);

/* Emits "changed" again, for flam_session_repeat(). */
void flam_baseline_repeat (FlamBaseline *baseline);

FlamBaselineKind flam_baseline_get_kind (FlamBaseline *baseline);
/* The profile of a baseline capture; NULL: a part of the session's own. */
const FlamProfile *flam_baseline_get_profile (FlamBaseline *baseline);
/* The compared part, depending on the kind: times, threads or the measure. */
const FlamSelection *flam_baseline_get_part (FlamBaseline *baseline);
/* The base name of the baseline capture, loaded or loading; "" for a part. */
const char *flam_baseline_get_title (FlamBaseline *baseline);
/* The job that loads it; its "busy" and "fraction" are the progress. */
FlamJob *flam_baseline_get_job (FlamBaseline *baseline);

/* The kind of comparison. A new baseline sets its default scale. */
void flam_baseline_set_scale (FlamBaseline *baseline, FlamScale scale);
FlamScale flam_baseline_get_scale (FlamBaseline *baseline);
/* Compares self costs instead of totals. */
void flam_baseline_set_self (FlamBaseline *baseline, gboolean self);
gboolean flam_baseline_get_self (FlamBaseline *baseline);

G_END_DECLS

#endif
