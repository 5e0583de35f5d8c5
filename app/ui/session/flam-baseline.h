/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a session's capture is compared with: another capture, or a range of
 * time of its own.
 *
 *   open ──▶ job (read, symbolize) ──▶ "changed"
 *     │                       └──────▶ "failed" (GError): as it was before
 *     └▶ "started"
 *   set_range ──▶ "started", "changed"          leave ──▶ "changed"
 */

#include "flam-job.h"
#include "flam-profile.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_BASELINE_NONE,
  FLAM_BASELINE_CAPTURE,
  FLAM_BASELINE_RANGE,
} FlamBaselineKind;

#define FLAM_TYPE_BASELINE (flam_baseline_get_type ())
G_DECLARE_FINAL_TYPE (FlamBaseline, flam_baseline, FLAM, BASELINE, GObject)

FlamBaseline *flam_baseline_new (void);
void flam_baseline_open (FlamBaseline *baseline, const char *path);
/* ns, half open. */
void flam_baseline_set_range (FlamBaseline *baseline, gint64 from, gint64 to);
/* Also stops what is being read. */
void flam_baseline_leave (FlamBaseline *baseline);
/* Stops what is being read, and that alone. */
void flam_baseline_cancel (FlamBaseline *baseline);

FlamBaselineKind flam_baseline_get_kind (FlamBaseline *baseline);
/* A capture's; NULL: the range is of the session's own. */
const FlamProfile *flam_baseline_get_profile (FlamBaseline *baseline);
void flam_baseline_get_range (FlamBaseline *baseline, gint64 *from, gint64 *to);
/* The base name of what is compared with or being read; "" of a range. */
const char *flam_baseline_get_title (FlamBaseline *baseline);
/* That reads; its "busy" and "fraction" say how it goes. */
FlamJob *flam_baseline_get_job (FlamBaseline *baseline);

G_END_DECLS
