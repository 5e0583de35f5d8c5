/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

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
  FLAM_PLOT_MEASURE,
  FLAM_PLOT_PEAK_MEMORY,
  FLAM_PLOT_DURATION,
  FLAM_PLOT_FUNCTION_TOTAL,
  FLAM_PLOT_FUNCTION_SELF,
} FlamPlotKind;

typedef struct
{
  FlamPlotKind kind;
  const char *measure;  /* its id; NULL: the selected measure of each capture */
  const char *function; /* its full name */
} FlamPlotWhat;

typedef struct
{
  guint capture; /* of the history */
  gint64 value;  /* in the plot's measure */
  gboolean at_most;
} FlamPlotPoint;

typedef struct
{
  const char *name; /* NULL: the captures that the key does not match */
  guint n;
  const FlamPlotPoint *points; /* by date */
} FlamPlotSeries;

typedef struct
{
  FlamHistory *history; /* a reference */
  FlamMeasure measure;  /* the measure of the values */
  gint64 from, to;      /* the first and the last date that has a point, ns */
  gint64 greatest;      /* value */
  guint n_points;
  guint missing;
  guint
      n; /* series, including those without points, so that colors are stable */
  FlamPlotSeries *series;
  GArray *owner; /* FlamHistorySeries: owns these names */
} FlamPlot;

FlamPlot *flam_plot_new (const FlamHistory *history,
                         const FlamHistoryKey *key,
                         const FlamPlotWhat *what);
void flam_plot_free (FlamPlot *plot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPlot, flam_plot_free)

/* The position of a capture on the axis of dates, 0 to 1. If all captures have
 * the same date they are placed side by side. */
double flam_plot_place (const FlamPlot *plot, guint capture);
/* The upper end of the axis of values: round, and no less than the greatest. */
gint64 flam_plot_top (const FlamPlot *plot);

/* The number of different colors; further series use them again. */
#define FLAM_PLOT_COLORS 8
/* 0xRRGGBB, for a light or a dark background. */
guint32 flam_plot_color (guint series, gboolean dark);

typedef struct
{
  FlamPlotKind kind;
  const char *measure; /* id; NULL except for FLAM_PLOT_MEASURE */
  const char *name; /* display name; NULL except for FLAM_PLOT_MEASURE; both are
                       valid as long as the history */
} FlamPlotChoice;

/* What can be plotted of a history besides functions, in menu order: the
 * measures that are not 0 in all captures, peak memory if it is not one of
 * them, the duration. g_array_unref. */
GArray *flam_plot_choices (const FlamHistory *history);

G_END_DECLS
