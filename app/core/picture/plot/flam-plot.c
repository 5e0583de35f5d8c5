/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-plot.h"

#include "flam-dates.h"
#include "flam-ticks.h"

#include <math.h>

#define NEAR 24.0    /* pixels: the largest distance to hit a point of a line */
#define BAR_MOST 96  /* pixels */
#define CELL_LEAST 3 /* pixels */
#define CELL_MOST 16
#define CELL_WIDEST 64
#define DATE_ROOM 100.0 /* pixels for one mark */
#define CLOCK_ROOM 48.0
#define SLOT_ROOM 52.0

FlamPlot *
flam_plot_new (FlamPlotAxis axis,
               guint n_series,
               FlamUnit unit,
               gpointer data,
               GDestroyNotify data_free)
{
  FlamPlot *plot = g_new0 (FlamPlot, 1);

  plot->axis = axis;
  plot->to = plot->top = 1;
  plot->measure = (FlamMeasure){
    .id = FLAM_NONE,
    .name = FLAM_NONE,
    .unit = unit,
    .event = FLAM_NONE,
    .denominator = 1,
  };
  plot->n_rows = 1;
  plot->n = n_series;
  plot->series = g_new0 (FlamPlotSeries, MAX (n_series, 1));
  plot->data = data;
  plot->data_free = data_free;
  return plot;
}

void
flam_plot_free (FlamPlot *plot)
{
  if (plot->data_free != NULL)
    plot->data_free (plot->data);
  g_free (plot->series);
  g_free (plot->title);
  g_free (plot->key);
  g_free (plot->note);
  g_free (plot->marked);
  g_free (plot->empty);
  g_free (plot);
}

gint64
flam_plot_round_top (gint64 greatest, gint64 denominator)
{
  gint64 whole = greatest / denominator + (greatest % denominator != 0);
  gint64 power = 1;

  while (power <= G_MAXINT64 / 100 && power * 10 <= whole)
    power *= 10;
  for (gint64 lead = 10; lead <= 100; lead += lead < 20   ? 2
                                              : lead < 50 ? 5
                                                          : 10)
    if (power >= 10 && power / 10 * lead >= whole)
      return power / 10 * lead * denominator;
  for (gint64 lead = 1; lead < 10; lead++)
    if (power * lead >= whole)
      return power * lead * denominator;
  return MAX (greatest, 1);
}

/* Each color has a contrast of at least 4.5 with its background; neighbours in
 * the list differ in lightness too. */
FlamColor
flam_plot_color (guint series, gboolean dark)
{
  static const FlamColor colors[FLAM_PLOT_COLORS][2] = {
    { 0x1a5fb4, 0x78aeed }, { 0xb5521b, 0xffb27a }, { 0x1c7a4e, 0x57e389 },
    { 0x813d9c, 0xd9a6ea }, { 0x0b7285, 0x4fd0d8 }, { 0xc01c28, 0xff8a80 },
    { 0x7a5230, 0xcdab8f }, { 0x5e5c64, 0xc0bfbc },
  };

  return colors[series % FLAM_PLOT_COLORS][dark != FALSE];
}

static FlamPlotShape
shape_of (const FlamPlot *plot)
{
  return plot->n > 0 ? plot->series[0].shape : FLAM_PLOT_LINE;
}

static double
slot_width (const FlamPlotSeries *series)
{
  return series->slot > 0 ? series->slot : 1.0 / MAX (series->n, 1);
}

static guint
n_columns (const FlamPlot *plot)
{
  return plot->n > 0 ? MAX (plot->series[0].n / plot->n_rows, 1) : 1;
}

/* The space that each shape needs around its area, and its size. Above a
 * curve, the text of a value is within the area. */
static const struct
{
  double head, foot, side;
  int least_width, width, least_height, height;
} rooms[] = {
  [FLAM_PLOT_AREA] = { 3, 16, 0, 100, 600, 64, 64 },
  [FLAM_PLOT_LINE] = { 22, 24, 14, 200, 640, 140, 260 },
  [FLAM_PLOT_BARS] = { 18, 20, 0, 120, 480, 150, 150 },
  [FLAM_PLOT_CELLS] = { 0, 20, 0, 0, 0, 20, 20 },
};

/* A length that grows with the font. */
static double
by_font (const FlamPlot *plot, double length)
{
  return length * (1 + plot->text_extra / FLAM_PLOT_TEXT);
}

/* For the texts of rows, of which the last one is the longest. */
static double
row_room (const FlamPlot *plot)
{
  g_autofree char *text =
      plot->row_text != NULL ? plot->row_text (plot, plot->n_rows - 1) : NULL;

  return text != NULL
             ? 10 + by_font (plot, 7 * (double)g_utf8_strlen (text, -1))
             : 0;
}

static double
head_of (const FlamPlot *plot)
{
  double head = rooms[shape_of (plot)].head;

  return head >= FLAM_PLOT_TEXT ? head + plot->text_extra : head;
}

void
flam_plot_measure (const FlamPlot *plot,
                   gboolean across,
                   int *minimum,
                   int *natural)
{
  FlamPlotShape shape = shape_of (plot);

  if (plot->axis == FLAM_PLOT_NO_AXIS)
    {
      *minimum = across ? 40 : 16;
      *natural = across ? 90 : 18;
      return;
    }
  *minimum = across ? rooms[shape].least_width : rooms[shape].least_height;
  *natural = across ? rooms[shape].width : rooms[shape].height;
  if (!across)
    {
      *minimum += (int)(head_of (plot) - rooms[shape].head + plot->text_extra);
      *natural += (int)(head_of (plot) - rooms[shape].head + plot->text_extra);
    }
  if (shape == FLAM_PLOT_CELLS)
    {
      int n = (int)(across ? n_columns (plot) : plot->n_rows);
      int room = across ? (int)row_room (plot) : 0;

      *minimum += n * CELL_LEAST + room;
      *natural += n * CELL_MOST + room;
    }
}

FlamRect
flam_plot_area (const FlamPlot *plot, double width, double height)
{
  FlamPlotShape shape = shape_of (plot);
  FlamRect area = {
    rooms[shape].side,
    head_of (plot),
    MAX (width - 2 * rooms[shape].side, 1),
    MAX (height - head_of (plot) - rooms[shape].foot - plot->text_extra, 1),
  };

  if (plot->axis == FLAM_PLOT_NO_AXIS)
    area = (FlamRect){ 0, 1, MAX (width, 1), MAX (height - 1, 1) };
  else if (shape == FLAM_PLOT_BARS)
    area.width = MIN (area.width, BAR_MOST * n_columns (plot));
  else if (shape == FLAM_PLOT_CELLS)
    {
      double room = row_room (plot);

      area.x += room;
      area.width = MAX (area.width - room, 1);
      area.width =
          n_columns (plot) * CLAMP (floor (area.width / n_columns (plot)),
                                    CELL_LEAST,
                                    CELL_WIDEST);
      area.height = plot->n_rows * MAX (floor (area.height / plot->n_rows), 1);
    }
  return area;
}

/* The position of a value, with 0 at the lower edge. */
static double
y_of (const FlamPlot *plot,
      const FlamPlotSeries *series,
      const FlamRect *area,
      gint64 value)
{
  gint64 top = series->top > 0 ? series->top : plot->top;
  double share = (double)value / (double)MAX (top, 1);

  return area->y + area->height * (1 - share);
}

FlamRect
flam_plot_place (const FlamPlot *plot, const FlamRect *area, FlamPlotSpot spot)
{
  const FlamPlotSeries *series = &plot->series[spot.series];
  double slot = slot_width (series) * area->width;
  double y = y_of (plot, series, area, series->value[spot.point]);
  double bottom = area->y + area->height;

  if (series->shape == FLAM_PLOT_CELLS)
    {
      double width = area->width / n_columns (plot);
      double height = area->height / plot->n_rows;

      return (FlamRect){
        area->x + spot.point / plot->n_rows * width,
        bottom - (spot.point % plot->n_rows + 1) * height,
        width,
        height,
      };
    }
  if (series->x != NULL)
    return (FlamRect){ area->x + area->width * series->x[spot.point], y, 0, 0 };
  if (series->shape == FLAM_PLOT_BARS && series->value[spot.point] > 0)
    y = MIN (y, bottom - 1);
  return (FlamRect){
    area->x + slot * spot.point,
    y,
    MIN (slot, area->width - slot * spot.point),
    series->shape == FLAM_PLOT_BARS ? bottom - y : 0,
  };
}

FlamRect
flam_plot_error_bar (const FlamPlot *plot,
                     const FlamRect *area,
                     FlamPlotSpot spot)
{
  const FlamPlotSeries *series = &plot->series[spot.series];
  FlamRect at = flam_plot_place (plot, area, spot);
  gint64 value = series->value[spot.point];
  gint64 error = series->error != NULL ? series->error[spot.point] : 0;
  double above = y_of (
      plot, series, area, value + MIN (error, G_MAXINT64 - MAX (value, 0)));
  double below = y_of (plot, series, area, MAX (value - error, 0));

  return (FlamRect){ at.x, above, 0, below - above };
}

/* The slot that contains a position from 0 to 1. */
static guint
slot_at (const FlamPlotSeries *series, double x)
{
  double slot = floor (x / slot_width (series));

  return (guint)CLAMP (slot, 0, MAX (series->n, 1) - 1);
}

guint
flam_plot_slots_at (const FlamPlotSeries *series,
                    int pixel,
                    int pixels,
                    guint *end)
{
  guint first = slot_at (series, (double)pixel / pixels);

  *end = series->n;
  if (pixel + 1 < pixels)
    *end = MAX (slot_at (series, (double)(pixel + 1) / pixels), first + 1);
  return first;
}

gint64
flam_plot_time_at (const FlamPlot *plot, const FlamRect *area, double x)
{
  double share = CLAMP ((x - area->x) / area->width, 0, 1);

  return plot->from + (gint64)(share * (double)(plot->to - plot->from));
}

double
flam_plot_x_of (const FlamPlot *plot, const FlamRect *area, gint64 time)
{
  double span = MAX ((double)(plot->to - plot->from), 1);

  time = CLAMP (time, plot->from, plot->to);
  return area->x + (double)(time - plot->from) / span * area->width;
}

static void
clear_mark (gpointer mark)
{
  g_free (((FlamPlotMark *)mark)->text);
}

static void
add_mark (GArray *marks, double x, char *text)
{
  FlamPlotMark mark = { x, text };

  g_array_append_val (marks, mark);
}

static void
add_times (const FlamPlot *plot, const FlamRect *area, GArray *marks)
{
  double span = (double)(plot->to - plot->from);
  double step = flam_ticks_step (span, area->width);

  /* No part of a column of cells has a mark. */
  if (shape_of (plot) == FLAM_PLOT_CELLS)
    step = MAX (step, span / n_columns (plot));
  for (double time = 0; time < span; time += step)
    add_mark (marks,
              area->x + time / span * area->width,
              flam_ticks_text (plot->clock, time, step));
}

static void
add_dates (const FlamPlot *plot,
           const FlamRect *area,
           GTimeZone *zone,
           GArray *marks)
{
  g_autoptr (GArray) dates = flam_dates_marks (
      plot->from,
      plot->to,
      area->width,
      by_font (plot,
               shape_of (plot) == FLAM_PLOT_CELLS ? CLOCK_ROOM : DATE_ROOM),
      zone);

  for (guint i = 0; i < dates->len; i++)
    {
      const FlamDateMark *date = &g_array_index (dates, FlamDateMark, i);

      add_mark (marks,
                flam_plot_x_of (plot, area, date->date),
                g_strdup (date->text));
    }
  /* All points have the same date. */
  if (dates->len == 0)
    add_mark (marks,
              area->x + area->width / 2,
              flam_dates_text (plot->from, zone, FALSE));
}

static void
add_slots (const FlamPlot *plot, const FlamRect *area, GArray *marks)
{
  guint n = plot->n > 0 ? plot->series[0].n : 0;
  double width = area->width / MAX (n, 1);
  guint step = (guint)MAX (ceil (by_font (plot, SLOT_ROOM) / width), 1);

  for (guint slot = 0; slot < n; slot += step)
    add_mark (
        marks, area->x + (slot + 0.5) * width, plot->slot_text (plot, slot));
}

GArray *
flam_plot_marks (const FlamPlot *plot, const FlamRect *area, GTimeZone *zone)
{
  GArray *marks = g_array_new (FALSE, FALSE, sizeof (FlamPlotMark));

  g_array_set_clear_func (marks, clear_mark);
  if (plot->axis == FLAM_PLOT_TIME)
    add_times (plot, area, marks);
  else if (plot->axis == FLAM_PLOT_DATE)
    add_dates (plot, area, zone, marks);
  else if (plot->axis == FLAM_PLOT_SLOTS)
    add_slots (plot, area, marks);
  return marks;
}

static FlamPlotSpot
nearest (const FlamPlot *plot, const FlamRect *area, double x, double y)
{
  FlamPlotSpot best = FLAM_PLOT_NOWHERE;
  double least = NEAR * NEAR;

  for (guint s = 0; s < plot->n; s++)
    for (guint p = 0; p < plot->series[s].n; p++)
      {
        FlamPlotSpot spot = { s, p };
        FlamRect at = flam_plot_place (plot, area, spot);
        double distance = (at.x - x) * (at.x - x) + (at.y - y) * (at.y - y);

        if (distance < least)
          {
            least = distance;
            best = spot;
          }
      }
  return best;
}

FlamPlotSpot
flam_plot_hit (const FlamPlot *plot, const FlamRect *area, double x, double y)
{
  double column, row;

  if (shape_of (plot) == FLAM_PLOT_LINE)
    return nearest (plot, area, x, y);
  if (x < area->x || x >= area->x + area->width || plot->series[0].n == 0)
    return FLAM_PLOT_NOWHERE;
  if (shape_of (plot) != FLAM_PLOT_CELLS)
    return (FlamPlotSpot){
      0, slot_at (&plot->series[0], (x - area->x) / area->width)
    };
  column = floor ((x - area->x) / area->width * n_columns (plot));
  row = floor ((area->y + area->height - y) / area->height * plot->n_rows);
  if (row < 0 || row >= plot->n_rows)
    return FLAM_PLOT_NOWHERE;
  return (FlamPlotSpot){ 0, (guint)column * plot->n_rows + (guint)row };
}

/* Cells before the start of the capture have no length. */
static guint
first_cell (const FlamPlot *plot)
{
  guint first = 0;

  while (plot->cell_time != NULL && !plot->same_times &&
         first + 1 < plot->series[0].n &&
         plot->cell_time (plot, first + 1) == plot->cell_time (plot, first))
    first++;
  return first;
}

static FlamPlotSpot
first_spot (const FlamPlot *plot)
{
  for (guint s = 0; s < plot->n; s++)
    if (plot->series[s].n > 0)
      return (FlamPlotSpot){ s, s == 0 ? first_cell (plot) : 0 };
  return FLAM_PLOT_NOWHERE;
}

/* The point of another series that is the nearest by x. */
static FlamPlotSpot
nearest_of (const FlamPlot *plot, guint s, double x)
{
  FlamPlotSpot near = FLAM_PLOT_NOWHERE;
  double least = INFINITY;

  for (guint p = 0; p < plot->series[s].n; p++)
    if (fabs (plot->series[s].x[p] - x) < least)
      {
        least = fabs (plot->series[s].x[p] - x);
        near = (FlamPlotSpot){ s, p };
      }
  return near;
}

/* The nearest line on that side of the current point. */
static FlamPlotSpot
other_line (const FlamPlot *plot, FlamPlotSpot here, gboolean up)
{
  const FlamPlotSeries *own = &plot->series[here.series];
  FlamPlotSpot best = here;
  double least = INFINITY;

  for (guint s = 0; s < plot->n; s++)
    {
      FlamPlotSpot near = nearest_of (plot, s, own->x[here.point]);
      double rise;

      if (s == here.series || !flam_plot_is_spot (plot, near))
        continue;
      rise = (double)plot->series[s].value[near.point] -
             (double)own->value[here.point];
      /* Points at the same height are ordered by series. */
      if (rise == 0)
        rise = s < here.series ? 0.01 : -0.01;
      rise = up ? rise : -rise;
      if (rise > 0 && rise < least)
        {
          least = rise;
          best = near;
        }
    }
  return best;
}

FlamPlotSpot
flam_plot_walk (const FlamPlot *plot, FlamPlotSpot spot, FlamPlotStep step)
{
  gboolean lines = shape_of (plot) == FLAM_PLOT_LINE;
  gint64 to = spot.point, across = plot->n_rows, last;

  if (!flam_plot_is_spot (plot, spot))
    return first_spot (plot);
  last = (gint64)plot->series[spot.series].n - 1;
  switch (step)
    {
    case FLAM_PLOT_LEFT:
      to -= across;
      break;
    case FLAM_PLOT_RIGHT:
      to += across;
      break;
    case FLAM_PLOT_UP:
    case FLAM_PLOT_DOWN:
      if (lines)
        return other_line (plot, spot, step == FLAM_PLOT_UP);
      if (shape_of (plot) == FLAM_PLOT_CELLS)
        to += step == FLAM_PLOT_UP ? 1 : -1;
      break;
    case FLAM_PLOT_FIRST:
      to = 0;
      break;
    case FLAM_PLOT_LAST:
      to = last;
      break;
    }
  if (to >= 0 && to <= last)
    spot.point = (guint)to;
  return spot;
}
