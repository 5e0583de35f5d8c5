/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-draw-plot.h"

#include <math.h>

#include "flam-draw.h"

#define TEXT_SCALE 0.8
#define POINT 4.0 /* radius */
#define SHAPES 4
#define TICK 4.0
#define VALUE_ROOM 17.0 /* for a value above its line */
#define BAR_LABEL 52.0  /* pixels that the value above a bar needs */
#define LEVELS 24
#define CELL_GAP_LEAST 5.0 /* smaller cells have no gap */

typedef struct
{
  PangoContext *context;
  cairo_t *cr;
  const FlamPlot *plot;
  const FlamPlotLook *look;
  double width, height;
  FlamRect area;
} Drawing;

static void
set_ink (cairo_t *cr, const FlamPlotLook *look, double alpha)
{
  cairo_set_source_rgba (
      cr, look->ink.red, look->ink.green, look->ink.blue, alpha);
}

static void
set_color (cairo_t *cr, FlamColor color, double alpha)
{
  cairo_set_source_rgba (cr,
                         (color >> 16 & 255) / 255.0,
                         (color >> 8 & 255) / 255.0,
                         (color & 255) / 255.0,
                         alpha);
}

static void
fill (cairo_t *cr, double x, double y, double width, double height)
{
  cairo_rectangle (cr, x, y, width, height);
  cairo_fill (cr);
}

static PangoLayout *
small_text (PangoContext *context, const char *text, int *width, int *height)
{
  PangoLayout *layout = pango_layout_new (context);
  PangoAttrList *attributes = pango_attr_list_new ();

  pango_attr_list_insert (attributes, pango_attr_scale_new (TEXT_SCALE));
  pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum=1"));
  pango_layout_set_text (layout, text, -1);
  pango_layout_set_attributes (layout, attributes);
  pango_attr_list_unref (attributes);
  pango_layout_get_pixel_size (layout, width, height);
  return layout;
}

double
flam_draw_plot_text_extra (PangoContext *context)
{
  int width, height;

  g_object_unref (small_text (context, "0", &width, &height));
  return MAX (height - FLAM_PLOT_TEXT, 0);
}

/* `align`: how much of its width lies before x. */
static void
draw_text (
    const Drawing *drawing, const char *text, double x, double y, double align)
{
  int width, height;
  g_autoptr (PangoLayout) layout =
      small_text (drawing->context, text, &width, &height);

  x = CLAMP (round (x - align * width), 2, MAX (drawing->width - width - 2, 2));
  set_ink (drawing->cr, drawing->look, 0.8);
  cairo_move_to (drawing->cr, x, round (y));
  pango_cairo_show_layout (drawing->cr, layout);
}

FlamRect
flam_draw_plot_badge (PangoContext *context,
                      cairo_t *cr,
                      const char *text,
                      double x,
                      double width,
                      const FlamRect *taken,
                      const FlamPlotLook *look)
{
  int text_width, text_height;
  g_autoptr (PangoLayout) layout =
      small_text (context, text, &text_width, &text_height);
  double paper = flam_draw_plot_paper (look->dark);
  FlamRect bounds;

  x = round (CLAMP (x - text_width / 2.0, 7, MAX (width - text_width - 7, 7)));
  bounds = (FlamRect){ x - 5, 3, text_width + 10, text_height + 2 };
  if (taken != NULL && taken->width > 0 && taken->x < bounds.x + bounds.width &&
      bounds.x < taken->x + taken->width)
    bounds.y = taken->y + taken->height + 1;
  /* A line with round ends is a pill. */
  cairo_new_path (cr);
  cairo_move_to (
      cr, bounds.x + bounds.height / 2, bounds.y + bounds.height / 2);
  cairo_rel_line_to (cr, bounds.width - bounds.height, 0);
  cairo_set_line_width (cr, bounds.height);
  cairo_set_line_cap (cr, CAIRO_LINE_CAP_ROUND);
  cairo_set_source_rgba (cr, paper, paper, paper, 0.9);
  cairo_stroke (cr);
  set_ink (cr, look, 0.9);
  cairo_move_to (cr, x, bounds.y + 1);
  pango_cairo_show_layout (cr, layout);
  return bounds;
}

static void
draw_values (const Drawing *drawing)
{
  const FlamPlot *plot = drawing->plot;
  const FlamRect *area = &drawing->area;
  guint lines = area->height > 160 ? 4 : 2;

  /* Counts have no parts. */
  while (lines > 1 && plot->measure.unit == FLAM_UNIT_COUNT &&
         plot->top % (lines * plot->measure.denominator) != 0)
    lines /= 2;
  for (guint i = 0; i <= lines; i++)
    {
      double y = area->y + area->height - area->height * i / lines;
      g_autofree char *text = flam_format_weight (
          &plot->measure, (gint64)((double)plot->top * i / lines));

      set_ink (drawing->cr, drawing->look, 0.18);
      fill (drawing->cr, 0, round (y), drawing->width, 1);
      if (i > 0)
        draw_text (drawing, text, 2, y - VALUE_ROOM - plot->text_extra, 0);
    }
}

/* A time is written beside its tick, as is that of a column of cells; a date
 * below it, and the text of a slot below the slot. */
static void
draw_marks (const Drawing *drawing)
{
  const FlamPlot *plot = drawing->plot;
  double bottom = drawing->area.y + drawing->area.height;
  gboolean beside =
      plot->axis == FLAM_PLOT_TIME || plot->series[0].shape == FLAM_PLOT_CELLS;
  g_autoptr (GArray) marks =
      flam_plot_marks (plot, &drawing->area, drawing->look->zone);

  set_ink (drawing->cr, drawing->look, 0.2);
  if (!plot->has_values)
    fill (drawing->cr, drawing->area.x, bottom, drawing->area.width, 1);
  for (guint i = 0; i < marks->len; i++)
    {
      const FlamPlotMark *mark = &g_array_index (marks, FlamPlotMark, i);
      double x = round (mark->x);

      set_ink (drawing->cr, drawing->look, 0.2);
      if (plot->axis != FLAM_PLOT_SLOTS)
        fill (drawing->cr, x, bottom, 1, TICK);
      if (!beside)
        draw_text (drawing,
                   mark->text,
                   x,
                   bottom + (plot->axis == FLAM_PLOT_DATE ? TICK + 2 : 3),
                   0.5);
      else if (x + 40 + 3 * plot->text_extra < drawing->width)
        draw_text (drawing, mark->text, x + 3, bottom + 1, 0);
    }
}

/* The slot with the greatest value within one pixel. */
static guint
slot_at (const FlamPlotSeries *series, int pixel, int pixels)
{
  guint end, most = flam_plot_slots_at (series, pixel, pixels, &end);

  for (guint i = most + 1; i < end; i++)
    if (series->value[i] > series->value[most])
      most = i;
  return most;
}

static void
trace_steps (const Drawing *drawing, const FlamPlotSeries *series)
{
  const FlamRect *area = &drawing->area;
  int pixels = (int)area->width;
  double scale = area->height / (double)MAX (drawing->plot->top, 1);

  for (int i = 0; i < pixels; i++)
    {
      double y = area->y + area->height -
                 (double)series->value[slot_at (series, i, pixels)] * scale;

      cairo_line_to (drawing->cr, area->x + i, y);
      cairo_line_to (drawing->cr, area->x + i + 1, y);
    }
}

static void
draw_layers (const Drawing *drawing, const FlamPlotSeries *series)
{
  const FlamRect *area = &drawing->area;
  int pixels = (int)area->width;
  double scale = area->height / (double)MAX (drawing->plot->top, 1);

  for (guint layer = 0; layer < series->n_layers; layer++)
    {
      set_color (drawing->cr,
                 series->layer_color[layer][drawing->look->dark != FALSE],
                 1);
      for (int i = 0; i < pixels; i++)
        {
          const gint64 *part =
              series->layer +
              (gsize)slot_at (series, i, pixels) * series->n_layers;
          gint64 below = 0;

          for (guint k = 0; k < layer; k++)
            below += part[k];
          if (part[layer] > 0)
            cairo_rectangle (drawing->cr,
                             area->x + i,
                             area->y + area->height -
                                 (double)(below + part[layer]) * scale,
                             1,
                             (double)part[layer] * scale);
        }
      cairo_fill (drawing->cr);
    }
}

static void
draw_area (const Drawing *drawing, const FlamPlotSeries *series)
{
  const FlamRect *area = &drawing->area;
  FlamColor color = series->color[drawing->look->dark != FALSE];
  double bottom = area->y + area->height;
  cairo_t *cr = drawing->cr;

  if (series->layer != NULL)
    {
      draw_layers (drawing, series);
      return;
    }
  cairo_new_path (cr);
  cairo_move_to (cr, area->x, bottom);
  trace_steps (drawing, series);
  cairo_line_to (cr, area->x + (int)area->width, bottom);
  cairo_close_path (cr);
  set_color (cr, color, 0.35);
  cairo_fill (cr);
  trace_steps (drawing, series);
  set_color (cr, color, 1);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
}

static void
draw_dashes (const Drawing *drawing, guint s)
{
  static const double dashes[] = { 3, 2 };
  cairo_t *cr = drawing->cr;

  cairo_new_path (cr);
  for (guint p = 0; p < drawing->plot->series[s].n; p++)
    {
      FlamRect at = flam_plot_place (
          drawing->plot, &drawing->area, (FlamPlotSpot){ s, p });

      cairo_line_to (cr, at.x + at.width / 2, at.y);
    }
  set_ink (cr, drawing->look, 0.5);
  cairo_set_line_width (cr, 1);
  cairo_set_dash (cr, dashes, G_N_ELEMENTS (dashes), 0);
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
}

/* Series also differ in the shape of their points. */
static void
trace_shape (cairo_t *cr, guint shape, double x, double y, double r)
{
  cairo_new_path (cr);
  switch (shape % SHAPES)
    {
    case 0:
      cairo_arc (cr, x, y, r, 0, 2 * G_PI);
      break;
    case 1:
      cairo_rectangle (cr, x - r + 0.5, y - r + 0.5, 2 * r - 1, 2 * r - 1);
      break;
    case 2:
      cairo_move_to (cr, x, y - r - 1);
      cairo_line_to (cr, x + r + 1, y);
      cairo_line_to (cr, x, y + r + 1);
      cairo_line_to (cr, x - r - 1, y);
      break;
    default:
      cairo_move_to (cr, x, y - r - 1);
      cairo_line_to (cr, x + r + 1, y + r);
      cairo_line_to (cr, x - r - 1, y + r);
      break;
    }
  cairo_close_path (cr);
}

/* A bar with ends, behind the line. */
static void
draw_errors (const Drawing *drawing, guint s)
{
  const FlamPlotSeries *series = &drawing->plot->series[s];
  cairo_t *cr = drawing->cr;

  cairo_new_path (cr);
  for (guint p = 0; series->error != NULL && p < series->n; p++)
    {
      FlamRect bar = flam_plot_error_bar (
          drawing->plot, &drawing->area, (FlamPlotSpot){ s, p });

      if (series->error[p] == 0)
        continue;
      cairo_move_to (cr, bar.x, bar.y);
      cairo_line_to (cr, bar.x, bar.y + bar.height);
      for (guint end = 0; end < 2; end++)
        {
          cairo_move_to (cr, bar.x - POINT, bar.y + end * bar.height);
          cairo_line_to (cr, bar.x + POINT, bar.y + end * bar.height);
        }
    }
  set_color (cr, series->color[drawing->look->dark != FALSE], 0.6);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
}

static void
draw_line (const Drawing *drawing, guint s)
{
  const FlamPlotSeries *series = &drawing->plot->series[s];
  FlamColor color = series->color[drawing->look->dark != FALSE];
  double paper = flam_draw_plot_paper (drawing->look->dark);
  cairo_t *cr = drawing->cr;

  draw_errors (drawing, s);
  set_color (cr, color, 1);
  cairo_set_line_width (cr, 2);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  cairo_new_path (cr);
  for (guint p = 0; p < series->n; p++)
    {
      FlamRect at = flam_plot_place (
          drawing->plot, &drawing->area, (FlamPlotSpot){ s, p });

      cairo_line_to (cr, at.x, at.y);
    }
  cairo_stroke (cr);
  for (guint p = 0; p < series->n; p++)
    {
      FlamRect at = flam_plot_place (
          drawing->plot, &drawing->area, (FlamPlotSpot){ s, p });

      trace_shape (cr, s, at.x, at.y, POINT);
      if (series->hollow == NULL || !series->hollow[p])
        {
          cairo_fill (cr);
          continue;
        }
      cairo_set_source_rgb (cr, paper, paper, paper);
      cairo_fill_preserve (cr);
      set_color (cr, color, 1);
      cairo_stroke (cr);
    }
}

static void
draw_bars (const Drawing *drawing, guint s)
{
  const FlamPlot *plot = drawing->plot;
  const FlamPlotSeries *series = &plot->series[s];

  for (guint p = 0; p < series->n; p++)
    {
      FlamRect bar =
          flam_plot_place (plot, &drawing->area, (FlamPlotSpot){ s, p });
      g_autofree char *text = NULL;

      set_color (
          drawing->cr, series->color[drawing->look->dark != FALSE], 0.85);
      fill (drawing->cr, bar.x + 1, bar.y, MAX (bar.width - 2, 1), bar.height);
      if ((double)series->value[p] < (double)plot->top * 0.005 ||
          bar.width < BAR_LABEL)
        continue;
      text = flam_format_weight (&plot->measure, series->value[p]);
      draw_text (drawing,
                 text,
                 bar.x + bar.width / 2,
                 bar.y - drawing->area.y + 1,
                 0.5);
    }
}

static FlamColor
level_color (guint level, gboolean dark)
{
  double share = (double)level / LEVELS;

  return dark ? flam_color_from_oklch (
                    0.26 + 0.52 * share, 0.03 + 0.15 * share, 45)
              : flam_color_from_oklch (
                    0.97 - 0.42 * share, 0.01 + 0.19 * share, 40);
}

static guint
level_of (const FlamPlot *plot, gint64 value)
{
  if (value <= 0)
    return 0;
  return MIN (1 + (guint)((double)value / (double)plot->top * (LEVELS - 1)),
              LEVELS);
}

/* One path for each color; only the columns within the clip. */
static void
draw_cells (const Drawing *drawing, guint s)
{
  const FlamPlot *plot = drawing->plot;
  const FlamPlotSeries *series = &plot->series[s];
  FlamRect cell =
      flam_plot_place (plot, &drawing->area, (FlamPlotSpot){ s, 0 });
  double gap = MIN (cell.width, cell.height) > CELL_GAP_LEAST ? 1 : 0;
  double left, top, right, bottom;
  guint first, end;

  cairo_clip_extents (drawing->cr, &left, &top, &right, &bottom);
  left -= drawing->area.x;
  right -= drawing->area.x;
  first = (guint)MAX (floor (left / cell.width), 0) * plot->n_rows;
  end =
      (guint)MIN (MAX (ceil (right / cell.width), 0) * plot->n_rows, series->n);
  for (guint level = 0; level <= LEVELS; level++)
    {
      cairo_new_path (drawing->cr);
      for (guint p = first; p < end; p++)
        if (level_of (plot, series->value[p]) == level)
          {
            cell =
                flam_plot_place (plot, &drawing->area, (FlamPlotSpot){ s, p });
            cairo_rectangle (drawing->cr,
                             cell.x,
                             cell.y,
                             cell.width - gap,
                             cell.height - gap);
          }
      flam_draw_set_source (drawing->cr,
                            level_color (level, drawing->look->dark));
      cairo_fill (drawing->cr);
    }
}

/* As many as have room; the first row is at the bottom. */
static void
draw_rows (const Drawing *drawing)
{
  const FlamPlot *plot = drawing->plot;
  const FlamRect *area = &drawing->area;
  double height = area->height / plot->n_rows;
  double room = VALUE_ROOM + plot->text_extra;
  guint step = (guint)ceil (room / height);

  for (guint row = 0; row < plot->n_rows; row += step)
    {
      g_autofree char *text = plot->row_text (plot, row);

      draw_text (drawing,
                 text,
                 area->x - 5,
                 area->y + area->height - (row + 0.5) * height - room / 2,
                 1);
    }
}

static void
draw_series (const Drawing *drawing, guint s)
{
  switch (drawing->plot->series[s].shape)
    {
    case FLAM_PLOT_AREA:
      draw_area (drawing, &drawing->plot->series[s]);
      break;
    case FLAM_PLOT_DASHES:
      draw_dashes (drawing, s);
      break;
    case FLAM_PLOT_LINE:
      draw_line (drawing, s);
      break;
    case FLAM_PLOT_BARS:
      draw_bars (drawing, s);
      break;
    case FLAM_PLOT_CELLS:
      draw_cells (drawing, s);
      break;
    }
}

/* The line begins below the text, so that the text stays readable. */
static FlamRect
draw_note (const Drawing *drawing, const FlamRect *key)
{
  const FlamPlot *plot = drawing->plot;
  double x = round (drawing->area.x + plot->note_x * drawing->area.width);
  FlamRect note = flam_draw_plot_badge (drawing->context,
                                        drawing->cr,
                                        plot->note,
                                        x,
                                        drawing->width,
                                        key,
                                        drawing->look);
  double below = note.y + note.height;
  double bottom = drawing->area.y + drawing->area.height;

  set_ink (drawing->cr, drawing->look, 0.45);
  if (below < bottom)
    fill (drawing->cr, x, below, 1, bottom - below);
  return note;
}

static gboolean
is_empty (const FlamPlot *plot)
{
  for (guint s = 0; s < plot->n; s++)
    if (plot->series[s].n > 0)
      return FALSE;
  return TRUE;
}

void
flam_draw_plot (PangoContext *context,
                cairo_t *cr,
                const FlamPlot *plot,
                double width,
                double height,
                const FlamPlotLook *look,
                FlamRect *note)
{
  Drawing drawing = {
    context,
    cr,
    plot,
    look,
    width,
    height,
    flam_plot_area (plot, width, height),
  };
  FlamRect key = { 0 }, place = { 0 };

  cairo_save (cr);
  if (is_empty (plot))
    {
      if (plot->empty != NULL)
        draw_text (&drawing, plot->empty, width / 2, height / 2 - 10, 0.5);
    }
  else
    {
      if (plot->has_values)
        draw_values (&drawing);
      for (guint s = 0; s < plot->n; s++)
        if (plot->series[s].n > 0)
          draw_series (&drawing, s);
      if (plot->key != NULL)
        key =
            flam_draw_plot_badge (context, cr, plot->key, 0, width, NULL, look);
      if (plot->note != NULL)
        place = draw_note (&drawing, &key);
      if (plot->row_text != NULL)
        draw_rows (&drawing);
      if (plot->axis != FLAM_PLOT_NO_AXIS)
        draw_marks (&drawing);
    }
  cairo_restore (cr);
  if (note != NULL)
    *note = place;
}
