/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CHART_H
#define FLAM_CHART_H

/* Profile + selection -> flame chart: x is time, each thread has a lane, and
 * calls are stacked in it.
 *
 *   samples of a thread, in time          its lane: one span per call
 *   0..2  main;parse;lex                  row 0  main  [0 ............ 9)
 *   2..5  main;parse              ──▶     row 1  parse [0 .... 5) eval [5 .. 9)
 *   5..9  main;eval                       row 2  lex   [0 . 2)
 *
 * Captures of events (FlamMeasure.spans) contain the time of each call: their
 * spans are exact. If a capture does not count calls (in a measure "calls"),
 * consecutive calls of one function without any time between them are merged
 * into one, unless they call nothing. In sampled captures a sample represents
 * the time since the previous one or, if the thread ran for less than half of
 * that, its weight or one period. In captures without times whose samples are
 * in order (FLAM_SPANS_ORDER), the times are sums of weights.
 *
 * A span lies in one row of one lane. Rows ascend in time, so that the spans of
 * a view are found by bisection. Marks and counters have lanes of their own,
 * before the threads'. Immutable, reference counted, any thread may read it. */

#include "flam-shown.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_LANE_MARKS,
  FLAM_LANE_COUNTER,
  FLAM_LANE_THREAD,
} FlamLaneKind;

typedef struct
{
  gint64 from, to; /* half open */
  FlamId what; /* a frame; in a row of states a FlamState; for marks a mark */
} FlamChartSpan;

typedef struct
{
  FlamLaneKind kind;
  FlamId of;          /* thread or counter */
  gboolean is_states; /* its first row holds the states of the thread */
  guint32 first_row;
  guint32 n_rows;
  gint64 weight; /* of a thread, by the selection's measure */
} FlamChartLane;

typedef struct
{
  FlamProfile *profile; /* a reference */
  FlamBy by;
  const FlamMeasure
      *axis;       /* whose weights the times are sums of; NULL: they are ns */
  gint64 from, to; /* the range of everything in it */
  gboolean exact;
  guint n_lanes;
  FlamChartLane *lanes; /* marks, counters, threads heaviest first */
  guint32 n_rows;
  guint32 *row; /* n_rows + 1: first span of each */
  guint32 n_spans;
  FlamChartSpan *spans;
} FlamChart;

/* NULL with an error when cancelled, NULL without one when the capture has no
 * times or its measure is not one of samples. */
FlamChart *flam_chart_new (const FlamProfile *profile,
                           const FlamSelection *selection,
                           const FlamProgress *progress,
                           GError **error);
FlamChart *flam_chart_ref (FlamChart *chart);
void flam_chart_unref (FlamChart *chart);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamChart, flam_chart_unref)

/* Valid as long as the profile. For spans of calls or marks. */
const char *
flam_chart_name (const FlamChart *chart, const FlamChartLane *lane, guint span);
/* "worker (1234)"; g_free. */
char *flam_chart_lane_name (const FlamChart *chart, const FlamChartLane *lane);
/* The lane and row of a span. */
guint flam_chart_lane_of (const FlamChart *chart, guint span, guint32 *row);

/* --- calls of one function ------------------------------------------------ */

typedef struct
{
  guint n;
  gint64 shortest, median, p99, longest;
  gint64 total;           /* of all calls, nested ones included */
  double mean, deviation; /* of the n durations, as the whole population */
} FlamChartDurations;

typedef struct
{
  FlamChartDurations durations;
  guint32 *spans; /* the longest first */
} FlamChartCalls;

/* All calls of the function of `span`. */
FlamChartCalls *flam_chart_calls_new (const FlamChart *chart, guint span);
void flam_chart_calls_free (FlamChartCalls *calls);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamChartCalls, flam_chart_calls_free)

typedef struct
{
  guint32 span; /* the longest of its calls */
  FlamChartDurations durations;
} FlamChartFunction;

/* FlamChartFunction for every called function, most time first. */
GArray *flam_chart_functions (const FlamChart *chart);

/* --- layout --------------------------------------------------------------- */

typedef struct
{
  double width; /* pixels, for the times from .. to */
  double from, to;
  double top, height; /* the band of the whole picture to lay out */
  double row_height;
  double head_height;    /* height of a lane's name, above its rows */
  double state_height;   /* of a row of states */
  double counter_height; /* of a counter's only row */
  double gap;            /* below a lane */
  double min_width;      /* pixels; narrower boxes become strips */
} FlamChartView;

typedef enum
{
  FLAM_CHART_BOX_STATE = 1 << 0,
  FLAM_CHART_BOX_MARK = 1 << 1,
  FLAM_CHART_BOX_STRIP = 1 << 2, /* several, too narrow to draw */
} FlamChartBoxFlags;

typedef struct
{
  guint32 span; /* a strip: the first of them */
  guint32 lane;
  guint flags;
  float x, width; /* cut to [-1, width + 1] of the view */
  float y, height;
} FlamChartBox;

typedef struct
{
  guint32 lane;
  float y; /* of its head, in the band */
} FlamChartHead;

typedef struct
{
  FlamChartView view;
  guint32 n;
  FlamChartBox *boxes; /* by lane, row and time; y from the band's top */
  guint n_heads;
  FlamChartHead *heads; /* lanes that are partly in the band */
} FlamChartLayout;

double flam_chart_height (const FlamChart *chart, const FlamChartView *view);
/* From the picture's top to the lane's head, and to one row of it. */
double flam_chart_lane_y (const FlamChart *chart,
                          const FlamChartView *view,
                          guint lane,
                          guint32 row);
/* Cost: O((rows in the band) * (pixels or boxes) * log n). */
FlamChartLayout *flam_chart_layout_new (const FlamChart *chart,
                                        const FlamChartView *view);
void flam_chart_layout_free (FlamChartLayout *layout);
/* The end of the space for the name beside a mark: the next mark of its row, or
 * the end of the view. */
double flam_chart_layout_mark_end (const FlamChartLayout *layout, guint32 box);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamChartLayout, flam_chart_layout_free)
const FlamChartBox *
flam_chart_layout_hit (const FlamChartLayout *layout, double x, double y);

/* "worker (12)" and below it "  0 main 0..9", one line per span, by row:
 * for goldens; g_free. */
char *flam_chart_dump (const FlamChart *chart);

G_END_DECLS

#endif
