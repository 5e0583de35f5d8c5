/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PLOT_H
#define FLAM_PLOT_H

/* Values over an axis, as a value: no pixels, no widget. flam_draw_plot() draws
 * it, FlamPlotWidget shows it and handles its keys and its pointer.
 *
 *         side                                    side
 *         |  |                                    |  |
 *    head    ·  · 30 ·  ·  ·  ·  ·  ·  ·  ·  ·  ·  ·     lines at round values,
 *         -  |        ◆                              |   if `has_values`
 *            |      /   \          ◇                 |
 *            ·  · 15 ·  · \ ·  · / ·  ·  ·  ·  ·  ·  ·
 *            |              \  /                     |
 *         -  |               ◆                       |
 *    foot        |        |        |        |            marks of the axis
 *               May      June     July   August
 *
 * A series is an array of values. Its points are at `x`, or share the width
 * equally: then they are called slots. Points of cells follow one another
 * upwards and then to the right, `n_rows` of them in each column. */

#include "flam-color.h"
#include "flam-layout.h"
#include "flam-weights.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_PLOT_AREA,   /* steps above slots; in a pixel, the greatest value */
  FLAM_PLOT_DASHES, /* a dashed line through the middles of slots */
  FLAM_PLOT_LINE,   /* from point to point, with a shape at each */
  FLAM_PLOT_BARS,   /* a bar in each slot */
  FLAM_PLOT_CELLS,  /* the greater, the stronger the color */
} FlamPlotShape;

typedef enum
{
  FLAM_PLOT_NO_AXIS, /* only a picture: no marks, no input */
  FLAM_PLOT_TIME,    /* ns since the start of the capture */
  FLAM_PLOT_DATE,    /* ns since 1970 */
  FLAM_PLOT_SLOTS,   /* a text below each slot */
} FlamPlotAxis;

/* A point of a series. */
typedef struct
{
  guint series, point;
} FlamPlotSpot;

#define FLAM_PLOT_NOWHERE ((FlamPlotSpot){ G_MAXUINT, G_MAXUINT })

typedef struct
{
  FlamPlotShape shape;
  FlamColor color[2]; /* on a light and on a dark background */
  guint n;
  const gint64 *value;    /* n */
  gint64 top;             /* its own value at the upper edge; 0: the plot's */
  double slot;            /* width of a slot, 0 to 1; 0: 1 / n */
  const double *x;        /* n, ascending, 0 to 1; NULL: slots */
  const gboolean *hollow; /* n: the value is an upper bound; NULL: none is */
  const gint64 *error;    /* LINE, n: a bar as far up and down; 0: none. NULL:
                             there is none */
  const gint64 *layer;    /* n * n_layers, the parts of each value from the
                             bottom up, in colors of their own; NULL: none */
  guint n_layers;
  const FlamColor (*layer_color)[2]; /* n_layers */
} FlamPlotSeries;

typedef struct _FlamPlot FlamPlot;

struct _FlamPlot
{
  FlamPlotAxis axis;
  gint64 from, to;     /* TIME, DATE: ns at the left and the right edge */
  FlamClock clock;     /* TIME: what that really counts */
  gint64 top;          /* the value at the upper edge */
  FlamMeasure measure; /* of the values */
  gboolean has_values; /* lines at round values */
  double text_extra;   /* pixels by which a line of text is higher than in the
                          standard font: FLAM_PLOT_TEXT */
  guint n_rows;        /* CELLS */
  gboolean same_times; /* CELLS: all rows of a column have the same times */
  guint n;             /* series; the first one has the slots that are pointed
                          at, if it has slots */
  FlamPlotSeries *series; /* n */

  /* For people; owned. */
  char *title; /* of what is plotted */
  char *key;   /* explains the series, at the upper left; NULL: none */
  char *note;  /* a remark on a place of the axis; NULL: none */
  double note_x;
  char *marked; /* follows the texts of the marked point; NULL: nothing */
  char *empty;  /* instead of a plot without points; NULL: nothing */

  /* Callbacks get `data`, which owns all arrays above. */
  gpointer data;
  GDestroyNotify data_free;
  /* The texts of a point, joined by `separator`; NULL: its slot or the time of
   * its cell, and its value. */
  char *(*describe) (const FlamPlot *plot,
                     FlamPlotSpot spot,
                     const char *separator);
  char *(*slot_text) (const FlamPlot *plot, guint slot); /* SLOTS */
  /* CELLS: a short text to the left of a row; NULL: rows have none. */
  char *(*row_text) (const FlamPlot *plot, guint row);
  /* The start of a cell; that of the first one after the last is the end. */
  gint64 (*cell_time) (const FlamPlot *plot, guint cell);
};

/* One series; takes ownership of `data`. The other members are 0, but for a
 * denominator of 1: fill them in. */
FlamPlot *flam_plot_new (FlamPlotAxis axis,
                         guint n_series,
                         FlamUnit unit,
                         gpointer data,
                         GDestroyNotify data_free);
void flam_plot_free (FlamPlot *plot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPlot, flam_plot_free)

/* A round value, for the upper end of an axis: no less than `greatest`. */
gint64 flam_plot_round_top (gint64 greatest, gint64 denominator);

/* Of amounts of CPU time and of memory, on a light and on a dark background. */
#define FLAM_PLOT_CPU_LIGHT 0xde5e14
#define FLAM_PLOT_CPU_DARK 0xff8f4d
#define FLAM_PLOT_MEMORY_LIGHT 0x26995c
#define FLAM_PLOT_MEMORY_DARK 0x57cf85

/* The height of a line of text, in pixels, for which a plot has room. */
#define FLAM_PLOT_TEXT 15

/* The number of different colors of lines; further ones use them again. */
#define FLAM_PLOT_COLORS 8
FlamColor flam_plot_color (guint series, gboolean dark);

/* The least and the natural size of a plot's picture, in pixels. */
void flam_plot_measure (const FlamPlot *plot,
                        gboolean across,
                        int *minimum,
                        int *natural);

/* The part of the picture that the values cover. */
FlamRect flam_plot_area (const FlamPlot *plot, double width, double height);

static inline gboolean
flam_plot_is_spot (const FlamPlot *plot, FlamPlotSpot spot)
{
  return spot.series < plot->n && spot.point < plot->series[spot.series].n;
}

static inline gboolean
flam_plot_is_same (FlamPlotSpot a, FlamPlotSpot b)
{
  return a.series == b.series && a.point == b.point;
}

/* The rectangle of a cell or a bar; of a point of a line, its position, without
 * a size; of a step of an area, its upper edge. */
FlamRect
flam_plot_place (const FlamPlot *plot, const FlamRect *area, FlamPlotSpot spot);
/* The bar of a point's error, without a width; its height is 0 without one. */
FlamRect flam_plot_error_bar (const FlamPlot *plot,
                              const FlamRect *area,
                              FlamPlotSpot spot);
/* The slots that share a column of pixels of the area: from the result to
 * before `end`, at least one. */
guint flam_plot_slots_at (const FlamPlotSeries *series,
                          int pixel,
                          int pixels,
                          guint *end);

gint64 flam_plot_time_at (const FlamPlot *plot, const FlamRect *area, double x);
double flam_plot_x_of (const FlamPlot *plot, const FlamRect *area, gint64 time);

typedef struct
{
  double x;
  char *text;
} FlamPlotMark;

/* The marks along the axis: FlamPlotMark; g_array_unref. `zone`: for dates. */
GArray *
flam_plot_marks (const FlamPlot *plot, const FlamRect *area, GTimeZone *zone);

/* The point at a position of the pointer. */
FlamPlotSpot
flam_plot_hit (const FlamPlot *plot, const FlamRect *area, double x, double y);

typedef enum
{
  FLAM_PLOT_LEFT,
  FLAM_PLOT_RIGHT,
  FLAM_PLOT_UP, /* in a plot of lines, to the line above */
  FLAM_PLOT_DOWN,
  FLAM_PLOT_FIRST,
  FLAM_PLOT_LAST,
} FlamPlotStep;

/* The next point in a direction; the same one if there is none. From nowhere,
 * the first point of all. */
FlamPlotSpot
flam_plot_walk (const FlamPlot *plot, FlamPlotSpot spot, FlamPlotStep step);

G_END_DECLS

#endif
