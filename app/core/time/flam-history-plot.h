/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One thing over the dates of a history: a line a series, a point a capture.
 *
 *   what: measure, peak memory, duration, a function's total or self
 *
 * A capture that does not have it has no point, and neither has one where it is
 * in another unit: `missing` counts both. A function that a capture does not
 * list is nothing there, or, where the list was cut, at most what the least of
 * it has (`at_most`). */

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
  const char *measure;  /* its id; NULL: each capture's selected one */
  const char *function; /* its name, in full */
} FlamPlotWhat;

typedef struct
{
  guint capture; /* of the history */
  gint64 value;  /* in the plot's measure */
  gboolean at_most;
} FlamPlotPoint;

typedef struct
{
  const char *name; /* NULL: of captures where the key finds nothing */
  guint n;
  const FlamPlotPoint *points; /* by date */
} FlamPlotSeries;

typedef struct
{
  FlamHistory *history; /* a reference */
  FlamMeasure measure;  /* what values are in */
  gint64 from, to;      /* the first and the last date that has a point, ns */
  gint64 greatest;      /* value */
  guint n_points;
  guint missing;
  guint n; /* series, those without points too, so that a color stays one's */
  FlamPlotSeries *series;
  GArray *owner; /* FlamHistorySeries: whose names these are */
} FlamPlot;

FlamPlot *flam_plot_new (const FlamHistory *history,
                         const FlamHistoryKey *key,
                         const FlamPlotWhat *what);
void flam_plot_free (FlamPlot *plot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPlot, flam_plot_free)

/* How far along the axis of dates a point is, 0 to 1. Captures of one and the
 * same date stand side by side if there are no others. */
double flam_plot_place (const FlamPlot *plot, guint capture);
/* Where the axis of values ends: round, and no less than the greatest. */
gint64 flam_plot_top (const FlamPlot *plot);

/* How many series look unlike each other; those after them begin again. */
#define FLAM_PLOT_COLORS 8
/* 0xRRGGBB, on a light or a dark ground. */
guint32 flam_plot_color (guint series, gboolean dark);

typedef struct
{
  FlamPlotKind kind;
  const char *measure; /* id; NULL but for FLAM_PLOT_MEASURE */
  const char *name;    /* for people; NULL but for FLAM_PLOT_MEASURE; both are
                          valid as long as the history */
} FlamPlotChoice;

/* What can be plotted of a history besides functions, in the order of a menu:
 * the measures that are not nothing in all captures, peak memory where it is
 * not one of them, the duration. g_array_unref. */
GArray *flam_plot_choices (const FlamHistory *history);

G_END_DECLS
