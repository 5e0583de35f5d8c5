/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TREND_H
#define FLAM_TREND_H

/* One figure over the dates of a history: one line per series, one point per
 * capture.
 *
 *   what: measure, peak memory, duration, a function's total or self
 *
 * A capture without the value, or with it in another unit, has no point:
 * `missing` counts both. A function that a capture does not list has the value
 * 0, or, if the list was cut, at most that of the smallest listed one
 * (`at_most`). */

#include "flam-history.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_TREND_MEASURE,
  FLAM_TREND_PEAK_MEMORY,
  FLAM_TREND_DURATION,
  FLAM_TREND_FUNCTION_TOTAL,
  FLAM_TREND_FUNCTION_SELF,
} FlamTrendKind;

typedef struct
{
  FlamTrendKind kind;
  const char *measure;  /* its id; NULL: the selected measure of each capture */
  const char *function; /* its full name */
} FlamTrendWhat;

typedef struct
{
  guint capture; /* of the history */
  gint64 value;  /* in the trend's measure */
  FlamEstimate estimate;
  gboolean at_most;
} FlamTrendPoint;

typedef struct
{
  const char *name; /* NULL: the captures that the key does not match */
  guint n;
  const FlamTrendPoint *points; /* by date */
} FlamTrendSeries;

typedef struct
{
  FlamHistory *history; /* a reference */
  FlamMeasure measure;  /* the measure of the values */
  gint64 from, to;      /* the first and the last date that has a point, ns */
  gint64 greatest;      /* value, with its error */
  guint n_points;
  guint missing;
  guint
      n; /* series, including those without points, so that colors are stable */
  FlamTrendSeries *series;
  GArray *owner; /* FlamHistorySeries: owns these names */
} FlamTrend;

FlamTrend *flam_trend_new (const FlamHistory *history,
                           const FlamHistoryKey *key,
                           const FlamTrendWhat *what);
/* Takes the points of a series out, and its dates and values. */
void flam_trend_hide (FlamTrend *trend, guint series);
void flam_trend_free (FlamTrend *trend);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamTrend, flam_trend_free)

typedef struct
{
  FlamTrendKind kind;
  const char *measure; /* id; NULL except for FLAM_TREND_MEASURE */
  const char *name;    /* display name; NULL except for FLAM_TREND_MEASURE; both
                          are    valid as long as the history */
} FlamTrendChoice;

/* The figures of a history that can be plotted besides functions, in menu
 * order: the measures that are not 0 in all captures, peak memory if it is not
 * one of them, the duration. g_array_unref. */
GArray *flam_trend_choices (const FlamHistory *history);

G_END_DECLS

#endif
