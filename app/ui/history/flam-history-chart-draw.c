/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-history-chart-private.h"

#include "flam-core-picture.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#define POINT 4.0
#define MARK_ROOM 100
#define SHAPES 4

/* --- text and lines ------------------------------------------------------- */

static GdkRGBA
ink_of (FlamHistoryChart *self, float alpha)
{
  GdkRGBA ink;

  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                               &ink);
  ink.alpha = alpha;
  return ink;
}

/* `align`: how much of its width lies before x. */
static void
append_text (FlamHistoryChart *self,
             GtkSnapshot *snapshot,
             const char *text,
             double x,
             double y,
             double align)
{
  g_autoptr (PangoLayout) layout =
      gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  PangoAttrList *attributes = pango_attr_list_new ();
  double room = gtk_widget_get_width (GTK_WIDGET (self));
  GdkRGBA ink = ink_of (self, 0.8f);
  int width, height;

  pango_attr_list_insert (attributes, pango_attr_scale_new (0.82));
  pango_layout_set_attributes (layout, attributes);
  pango_attr_list_unref (attributes);
  pango_layout_get_pixel_size (layout, &width, &height);
  x = CLAMP (round (x - align * width), 2, MAX (room - width - 2, 2));
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot,
                          &GRAPHENE_POINT_INIT ((float)x, (float)round (y)));
  gtk_snapshot_append_layout (snapshot, layout, &ink);
  gtk_snapshot_restore (snapshot);
}

static void
append_rule (FlamHistoryChart *self,
             GtkSnapshot *snapshot,
             float x,
             float y,
             float width,
             float height)
{
  GdkRGBA ink = ink_of (self, 0.18f);

  gtk_snapshot_append_color (
      snapshot, &ink, &GRAPHENE_RECT_INIT (x, y, width, height));
}

/* --- axes ----------------------------------------------------------------- */

static void
append_values (FlamHistoryChart *self, GtkSnapshot *snapshot)
{
  float width = (float)gtk_widget_get_width (GTK_WIDGET (self));
  float height = (float)gtk_widget_get_height (GTK_WIDGET (self)) -
                 FLAM_HISTORY_HEAD - FLAM_HISTORY_FOOT;
  gint64 top = flam_plot_top (self->plot);
  guint lines = height > 160 ? 4 : 2;

  for (guint i = 0; i <= lines; i++)
    {
      float y = FLAM_HISTORY_HEAD + height - height * (float)i / (float)lines;
      g_autofree char *text = flam_format_weight (
          &self->plot->measure, (gint64)((double)top * i / lines));

      append_rule (self, snapshot, 0, roundf (y), width, 1);
      if (i > 0)
        append_text (self, snapshot, text, 2, y - 17, 0);
    }
}

static void
append_dates (FlamHistoryChart *self, GtkSnapshot *snapshot)
{
  const FlamPlot *plot = self->plot;
  double width =
      gtk_widget_get_width (GTK_WIDGET (self)) - 2 * FLAM_HISTORY_SIDE;
  double bottom = gtk_widget_get_height (GTK_WIDGET (self)) - FLAM_HISTORY_FOOT;
  g_autoptr (GTimeZone) here = g_time_zone_new_local ();
  g_autoptr (GArray) marks =
      flam_dates_marks (plot->from, plot->to, width, MARK_ROOM, here);

  for (guint i = 0; i < marks->len; i++)
    {
      const FlamDateMark *mark = &g_array_index (marks, FlamDateMark, i);
      double x = FLAM_HISTORY_SIDE + width * (double)(mark->date - plot->from) /
                                         (double)(plot->to - plot->from);

      append_rule (self, snapshot, (float)round (x), (float)bottom, 1, 5);
      append_text (self, snapshot, mark->text, x, bottom + 6, 0.5);
    }
  /* All captures have the same date. */
  if (marks->len == 0)
    {
      g_autofree char *text = flam_dates_text (plot->from, here, FALSE);

      append_text (
          self, snapshot, text, FLAM_HISTORY_SIDE + width / 2, bottom + 6, 0.5);
    }
}

/* --- lines ---------------------------------------------------------------- */

static void
set_color (cairo_t *cr, guint32 color, double alpha)
{
  cairo_set_source_rgba (cr,
                         (double)(color >> 16 & 255) / 255,
                         (double)(color >> 8 & 255) / 255,
                         (double)(color & 255) / 255,
                         alpha);
}

/* Series also differ in the shape of their points. */
static void
trace_shape (cairo_t *cr, guint shape, graphene_point_t at, double r)
{
  cairo_new_path (cr);
  switch (shape % SHAPES)
    {
    case 0:
      cairo_arc (cr, at.x, at.y, r, 0, 2 * G_PI);
      break;
    case 1:
      cairo_rectangle (
          cr, at.x - r + 0.5, at.y - r + 0.5, 2 * r - 1, 2 * r - 1);
      break;
    case 2:
      cairo_move_to (cr, at.x, at.y - r - 1);
      cairo_line_to (cr, at.x + r + 1, at.y);
      cairo_line_to (cr, at.x, at.y + r + 1);
      cairo_line_to (cr, at.x - r - 1, at.y);
      break;
    default:
      cairo_move_to (cr, at.x, at.y - r - 1);
      cairo_line_to (cr, at.x + r + 1, at.y + r);
      cairo_line_to (cr, at.x - r - 1, at.y + r);
      break;
    }
  cairo_close_path (cr);
}

static void
draw_series (FlamHistoryChart *self, cairo_t *cr, guint s, gboolean dark)
{
  const FlamPlotSeries *series = &self->plot->series[s];

  set_color (cr, flam_plot_color (s, dark), 1);
  cairo_set_line_width (cr, 2);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  for (guint p = 0; p < series->n; p++)
    {
      graphene_point_t at =
          flam_history_chart_place (self, (FlamHistorySpot){ s, p });

      cairo_line_to (cr, at.x, at.y);
    }
  cairo_stroke (cr);
  for (guint p = 0; p < series->n; p++)
    {
      trace_shape (cr,
                   s,
                   flam_history_chart_place (self, (FlamHistorySpot){ s, p }),
                   POINT);
      /* Hollow: an upper bound. */
      if (!series->points[p].at_most)
        {
          cairo_fill (cr);
          continue;
        }
      cairo_set_source_rgb (
          cr, dark ? 0.12 : 1, dark ? 0.12 : 1, dark ? 0.12 : 1);
      cairo_fill_preserve (cr);
      set_color (cr, flam_plot_color (s, dark), 1);
      cairo_stroke (cr);
    }
}

static void
draw_ring (FlamHistoryChart *self,
           cairo_t *cr,
           FlamHistorySpot spot,
           double radius,
           gboolean dashed)
{
  static const double dashes[] = { 3, 3 };
  graphene_point_t at;
  GdkRGBA ink = ink_of (self, 1);

  if (spot.series == FLAM_HISTORY_NONE)
    return;
  at = flam_history_chart_place (self, spot);
  gdk_cairo_set_source_rgba (cr, &ink);
  cairo_set_line_width (cr, 2);
  cairo_set_dash (cr, dashes, dashed ? 2 : 0, 0);
  cairo_new_path (cr);
  cairo_arc (cr, at.x, at.y, radius, 0, 2 * G_PI);
  cairo_stroke (cr);
  cairo_set_dash (cr, NULL, 0, 0);
}

static FlamHistorySpot
marked_spot (FlamHistoryChart *self)
{
  for (guint s = 0; s < self->plot->n; s++)
    for (guint p = 0; p < self->plot->series[s].n; p++)
      if (self->plot->series[s].points[p].capture == self->marked)
        return (FlamHistorySpot){ s, p };
  return (FlamHistorySpot){ FLAM_HISTORY_NONE, 0 };
}

static void
append_lines (FlamHistoryChart *self, GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  cairo_t *cr = gtk_snapshot_append_cairo (
      snapshot,
      &GRAPHENE_RECT_INIT (0,
                           0,
                           (float)gtk_widget_get_width (widget),
                           (float)gtk_widget_get_height (widget)));

  for (guint s = 0; s < self->plot->n; s++)
    if (self->plot->series[s].n > 0)
      draw_series (self, cr, s, dark);
  draw_ring (self, cr, marked_spot (self), 10, TRUE);
  draw_ring (self, cr, self->hovered, 7, FALSE);
  if (gtk_widget_has_focus (widget))
    draw_ring (self, cr, self->current, 7, FALSE);
  cairo_destroy (cr);
}

void
flam_history_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamHistoryChart *self = FLAM_HISTORY_CHART (widget);

  if (self->plot == NULL)
    return;
  if (self->plot->n_points == 0)
    {
      append_text (self,
                   snapshot,
                   _ ("None of these captures contains it"),
                   gtk_widget_get_width (widget) / 2.0,
                   gtk_widget_get_height (widget) / 2.0 - 10,
                   0.5);
      return;
    }
  append_values (self, snapshot);
  append_dates (self, snapshot);
  append_lines (self, snapshot);
}
