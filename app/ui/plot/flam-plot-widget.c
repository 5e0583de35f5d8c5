/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-plot-widget.h"

#include <glib/gi18n.h>
#include <math.h>

#include "flam-accent.h"
#include "flam-draw-plot.h"
#include "flam-widget.h"

#define THROTTLE 100 /* ms */
#define TILE 2048    /* pixels: the width of a node */
#define BADGE 30     /* pixels: no lower than a badge */
#define RING 7.0     /* around a point of a line */
#define MARK_RING 10.0

struct _FlamPlotWidget
{
  GtkWidget parent_instance;

  FlamPlot *plot;         /* NULL: nothing */
  GskRenderNode *picture; /* NULL: stale */
  FlamRect note;          /* in the picture */

  FlamPlotSpot current, hovered, marked;
  FlamPlotRange range, told, grabbed;
  FlamPlotGrab grab;
  double grab_x, grab_y;
  double pointer; /* < 0: outside */
  guint throttle;
};

G_DEFINE_FINAL_TYPE (FlamPlotWidget, flam_plot_widget, GTK_TYPE_WIDGET)

enum
{
  RANGE_CHANGED,
  NOTE_ACTIVATED,
  CURRENT_CHANGED,
  OPENED,
  PAIR_CHOSEN,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

static gboolean
has_shape (FlamPlotWidget *self, FlamPlotShape shape)
{
  return self->plot != NULL && self->plot->n > 0 &&
         self->plot->axis != FLAM_PLOT_NO_AXIS &&
         self->plot->series[0].shape == shape;
}

static gboolean
is_spot (FlamPlotWidget *self, FlamPlotSpot spot)
{
  return self->plot != NULL && flam_plot_is_spot (self->plot, spot);
}

static FlamRect
area_of (FlamPlotWidget *self)
{
  return flam_plot_area (self->plot,
                         gtk_widget_get_width (GTK_WIDGET (self)),
                         gtk_widget_get_height (GTK_WIDGET (self)));
}

static FlamRect
place_of (FlamPlotWidget *self, FlamPlotSpot spot)
{
  FlamRect area = area_of (self);

  return flam_plot_place (self->plot, &area, spot);
}

/* For plots without texts of their own: the cell or the slot, and its value. */
static char *
plain_text (const FlamPlot *plot, FlamPlotSpot spot)
{
  g_autofree char *value = flam_format_weight (
      &plot->measure, plot->series[spot.series].value[spot.point]);
  g_autofree char *at = NULL;

  if (plot->cell_time == NULL)
    {
      at = plot->slot_text (plot, spot.point);
      return g_strdup_printf ("%s: %s", at, value);
    }
  at = flam_format_value (plot->cell_time (plot, spot.point), FLAM_UNIT_NS);
  /* Translators: a time, and the activity at that time */
  return g_strdup_printf (_ ("at %s: %s"), at, value);
}

static char *
describe (FlamPlotWidget *self, FlamPlotSpot spot, const char *separator)
{
  g_autofree char *text = NULL;

  if (!is_spot (self, spot))
    return g_strdup ("");
  text = self->plot->describe != NULL
             ? self->plot->describe (self->plot, spot, separator)
             : plain_text (self->plot, spot);
  if (self->plot->marked == NULL || !flam_plot_is_same (spot, self->marked))
    return g_steal_pointer (&text);
  return g_strjoin (separator, text, self->plot->marked, NULL);
}

char *
flam_plot_widget_describe (FlamPlotWidget *self)
{
  g_return_val_if_fail (FLAM_IS_PLOT_WIDGET (self), NULL);
  return describe (self,
                   is_spot (self, self->hovered) ? self->hovered
                                                 : self->current,
                   " · ");
}

static char *
range_label (FlamPlotWidget *self)
{
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;

  if (flam_plot_range_is_all (self->range))
    /* Translators: the title of a plot */
    return g_strdup_printf (_ ("%s, whole time"), self->plot->title);
  from = flam_format_moment (self->plot->clock, self->range.from);
  to = flam_format_moment (self->plot->clock, self->range.to);
  /* Translators: the title of a plot, and two times */
  return g_strdup_printf (_ ("%s, from %s to %s"), self->plot->title, from, to);
}

static char *
bars_label (FlamPlotWidget *self)
{
  GString *text = g_string_new (self->plot->title);

  for (guint bar = 0; bar < self->plot->series[0].n; bar++)
    if (self->plot->series[0].value[bar] != 0)
      {
        g_autofree char *words =
            describe (self, (FlamPlotSpot){ 0, bar }, ", ");

        g_string_append_printf (text, "; %s", words);
      }
  return g_string_free (text, FALSE);
}

static char *
label_of (FlamPlotWidget *self)
{
  g_autofree char *point = describe (self, self->current, ", ");

  if (has_shape (self, FLAM_PLOT_AREA))
    return range_label (self);
  if (*point != '\0')
    return g_strdup_printf ("%s: %s", self->plot->title, point);
  if (has_shape (self, FLAM_PLOT_BARS))
    return bars_label (self);
  return g_strdup (self->plot->title);
}

static void
announce (FlamPlotWidget *self)
{
  g_autofree char *label = NULL;

  /* Without a plot it keeps its name. */
  if (self->plot == NULL || self->plot->title == NULL)
    return;
  label = label_of (self);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

static gboolean
is_dark (void)
{
  return adw_is_initialized () &&
         adw_style_manager_get_dark (adw_style_manager_get_default ());
}

static GdkRGBA
ink_of (FlamPlotWidget *self, float alpha)
{
  GdkRGBA ink;

  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                               &ink);
  ink.alpha = alpha;
  return ink;
}

static FlamPlotLook
look_of (FlamPlotWidget *self, GTimeZone *zone)
{
  GdkRGBA ink = ink_of (self, 1);

  return (FlamPlotLook){ is_dark (), { ink.red, ink.green, ink.blue }, zone };
}

static void
append_fill (GtkSnapshot *snapshot,
             const GdkRGBA *color,
             double x,
             double y,
             double width,
             double height)
{
  if (width > 0 && height > 0)
    gtk_snapshot_append_color (
        snapshot,
        color,
        &GRAPHENE_RECT_INIT ((float)x, (float)y, (float)width, (float)height));
}

static GskRenderNode *
picture_new (FlamPlotWidget *self, int width, int height)
{
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  g_autoptr (GTimeZone) zone = g_time_zone_new_local ();
  FlamPlotLook look = look_of (self, zone);
  PangoContext *context = gtk_widget_get_pango_context (GTK_WIDGET (self));

  for (int x = 0; x < width; x += TILE)
    {
      graphene_rect_t tile = GRAPHENE_RECT_INIT (
          (float)x, 0, (float)MIN (TILE, width - x), (float)height);
      cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &tile);

      cairo_rectangle (cr, x, 0, tile.size.width, height);
      cairo_clip (cr);
      flam_draw_plot (
          context, cr, self->plot, width, height, &look, &self->note);
      cairo_destroy (cr);
    }
  return gtk_snapshot_free_to_node (snapshot);
}

static void
append_edge (GtkSnapshot *snapshot,
             double x,
             double bottom,
             const GdkRGBA *color)
{
  GskRoundedRect grip;

  append_fill (snapshot, color, x - 1, 0, 2, bottom);
  gsk_rounded_rect_init_from_rect (
      &grip,
      &GRAPHENE_RECT_INIT ((float)x - 3, (float)bottom / 2 - 8, 6, 16),
      3);
  gtk_snapshot_push_rounded_clip (snapshot, &grip);
  gtk_snapshot_append_color (snapshot, color, &grip.bounds);
  gtk_snapshot_pop (snapshot);
}

static void
append_range (FlamPlotWidget *self, GtkSnapshot *snapshot, const GdkRGBA *veil)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  FlamRect area = area_of (self);
  double bottom = area.y + area.height;
  double from = round (flam_plot_x_of (self->plot, &area, self->range.from));
  double to = round (flam_plot_x_of (self->plot, &area, self->range.to));
  GdkRGBA accent = flam_accent (is_dark (), 1);
  FlamPlotLook look = look_of (self, NULL);
  g_autofree char *length =
      flam_format_moment (self->plot->clock,
                          MIN (self->range.to, self->plot->to) -
                              MAX (self->range.from, self->plot->from));
  cairo_t *cr;

  append_fill (snapshot, veil, 0, 0, from, bottom);
  append_fill (snapshot, veil, to, 0, width - to, bottom);
  append_edge (snapshot, from, bottom, &accent);
  append_edge (snapshot, to, bottom, &accent);
  cr = gtk_snapshot_append_cairo (
      snapshot, &GRAPHENE_RECT_INIT (0, 0, (float)width, BADGE));
  flam_draw_plot_badge (gtk_widget_get_pango_context (GTK_WIDGET (self)),
                        cr,
                        length,
                        (from + to) / 2,
                        width,
                        NULL,
                        &look);
  cairo_destroy (cr);
}

/* The number of cells with the same times. */
static guint
cells_at_once (const FlamPlot *plot)
{
  return plot->same_times ? plot->n_rows : 1;
}

/* The number of cells that end at or before a time. */
static guint
cells_before (FlamPlotWidget *self, gint64 time)
{
  guint step = cells_at_once (self->plot);
  guint low = 0, high = self->plot->series[0].n / step;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (self->plot->cell_time (self->plot, (middle + 1) * step) <= time)
        low = middle + 1;
      else
        high = middle;
    }
  return low * step;
}

/* Covers the unselected columns, and the rest of the first and the last one. */
static void
append_cells_range (FlamPlotWidget *self,
                    GtkSnapshot *snapshot,
                    const GdkRGBA *veil)
{
  FlamRect area = area_of (self);
  guint n = self->plot->series[0].n, rows = self->plot->n_rows;
  guint first = MIN (cells_before (self, self->range.from), n - 1);
  guint last = MIN (cells_before (self, self->range.to - 1), n - 1);
  FlamRect begin = place_of (self, (FlamPlotSpot){ 0, first });
  FlamRect end = place_of (self, (FlamPlotSpot){ 0, last });
  double right = end.x + end.width;

  append_fill (snapshot, veil, area.x, area.y, begin.x, area.height);
  append_fill (snapshot,
               veil,
               begin.x,
               begin.y + begin.height,
               begin.width,
               first % rows * begin.height);
  append_fill (snapshot, veil, end.x, area.y, end.width, end.y - area.y);
  append_fill (
      snapshot, veil, right, area.y, area.x + area.width - right, area.height);
}

static void
append_ring (FlamPlotWidget *self,
             GtkSnapshot *snapshot,
             const FlamRect *at,
             double radius,
             gboolean dashed)
{
  static const double dashes[] = { 3, 3 };
  GdkRGBA ink = ink_of (self, 1);
  float reach = (float)radius + 2;
  cairo_t *cr = gtk_snapshot_append_cairo (
      snapshot,
      &GRAPHENE_RECT_INIT (floorf ((float)at->x - reach),
                           floorf ((float)at->y - reach),
                           2 * reach + 1,
                           2 * reach + 1));

  gdk_cairo_set_source_rgba (cr, &ink);
  cairo_set_line_width (cr, 2);
  cairo_set_dash (cr, dashes, dashed ? G_N_ELEMENTS (dashes) : 0, 0);
  cairo_arc (cr, at->x, at->y, radius, 0, 2 * G_PI);
  cairo_stroke (cr);
  cairo_destroy (cr);
}

static void
append_outline (GtkSnapshot *snapshot,
                const FlamRect *at,
                float radius,
                float width,
                const GdkRGBA *color)
{
  GskRoundedRect outline;

  gsk_rounded_rect_init_from_rect (
      &outline,
      &GRAPHENE_RECT_INIT (
          (float)at->x, (float)at->y, (float)at->width, (float)at->height),
      radius);
  gtk_snapshot_append_border (snapshot,
                              &outline,
                              (float[]){ width, width, width, width },
                              (GdkRGBA[]){ *color, *color, *color, *color });
}

static void
append_spot (FlamPlotWidget *self,
             GtkSnapshot *snapshot,
             FlamPlotSpot spot,
             gboolean is_mark)
{
  GdkRGBA ink = ink_of (self, 1);
  FlamRect at;

  if (!is_spot (self, spot))
    return;
  at = place_of (self, spot);
  if (has_shape (self, FLAM_PLOT_LINE))
    {
      append_ring (self, snapshot, &at, is_mark ? MARK_RING : RING, is_mark);
      return;
    }
  at = (FlamRect){ at.x - 1, at.y - 1, at.width + 1, at.height + 1 };
  append_outline (snapshot, &at, 0, 2, &ink);
}

static void
append_area_state (FlamPlotWidget *self,
                   GtkSnapshot *snapshot,
                   int width,
                   int height)
{
  FlamRect area = area_of (self);
  FlamRect all = { 0, 0, width, height };
  GdkRGBA line = ink_of (self, 0.35f);
  GdkRGBA frame = ink_of (self, 0.6f);

  if (self->pointer >= 0 && self->grab == FLAM_PLOT_GRAB_NONE)
    append_fill (
        snapshot, &line, floor (self->pointer), 0, 1, area.y + area.height);
  if (gtk_widget_has_visible_focus (GTK_WIDGET (self)))
    append_outline (snapshot, &all, 4, 1, &frame);
}

/* Draws the selected, marked, hovered and focused parts over the picture. */
static void
append_state (FlamPlotWidget *self,
              GtkSnapshot *snapshot,
              int width,
              int height)
{
  float paper = (float)flam_draw_plot_paper (is_dark ());
  GdkRGBA veil = { paper, paper, paper, 0.7f };

  if (!flam_plot_range_is_all (self->range))
    {
      if (has_shape (self, FLAM_PLOT_AREA))
        append_range (self, snapshot, &veil);
      else if (has_shape (self, FLAM_PLOT_CELLS))
        append_cells_range (self, snapshot, &veil);
    }
  if (has_shape (self, FLAM_PLOT_AREA))
    {
      append_area_state (self, snapshot, width, height);
      return;
    }
  append_spot (self, snapshot, self->marked, TRUE);
  append_spot (self, snapshot, self->hovered, FALSE);
  if (gtk_widget_has_focus (GTK_WIDGET (self)))
    append_spot (self, snapshot, self->current, FALSE);
}

static void
flam_plot_widget_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamPlotWidget *self = FLAM_PLOT_WIDGET (widget);
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);

  if (self->plot == NULL || width <= 0 || height <= 0)
    return;
  gtk_snapshot_push_clip (
      snapshot, &GRAPHENE_RECT_INIT (0, 0, (float)width, (float)height));
  if (self->picture == NULL)
    self->picture = picture_new (self, width, height);
  if (self->picture != NULL)
    gtk_snapshot_append_node (snapshot, self->picture);
  append_state (self, snapshot, width, height);
  gtk_snapshot_pop (snapshot);
}

static void
tell_range (FlamPlotWidget *self)
{
  g_clear_handle_id (&self->throttle, g_source_remove);
  if (self->range.from == self->told.from && self->range.to == self->told.to)
    return;
  self->told = self->range;
  announce (self);
  g_signal_emit (
      self, signals[RANGE_CHANGED], 0, self->range.from, self->range.to);
}

static gboolean
tell_now (gpointer data)
{
  FlamPlotWidget *self = data;

  self->throttle = 0;
  tell_range (self);
  return G_SOURCE_REMOVE;
}

static gboolean
change_range (FlamPlotWidget *self, FlamPlotRange range)
{
  self->range = range;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  tell_range (self);
  return TRUE;
}

void
flam_plot_widget_set_range (FlamPlotWidget *self, gint64 from, gint64 to)
{
  g_return_if_fail (FLAM_IS_PLOT_WIDGET (self));
  if (self->grab != FLAM_PLOT_GRAB_NONE ||
      (from == self->range.from && to == self->range.to))
    return;
  self->range = self->told = (FlamPlotRange){ from, to };
  announce (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
points_changed (FlamPlotWidget *self)
{
  announce (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, signals[CURRENT_CHANGED], 0);
}

FlamPlotSpot
flam_plot_widget_get_current (FlamPlotWidget *self)
{
  g_return_val_if_fail (FLAM_IS_PLOT_WIDGET (self), FLAM_PLOT_NOWHERE);
  return self->current;
}

static void
set_spot (FlamPlotWidget *self, FlamPlotSpot *spot, FlamPlotSpot to)
{
  if (flam_plot_is_same (*spot, to))
    return;
  *spot = to;
  points_changed (self);
}

void
flam_plot_widget_set_current (FlamPlotWidget *self, FlamPlotSpot current)
{
  g_return_if_fail (FLAM_IS_PLOT_WIDGET (self));
  set_spot (self, &self->current, current);
}

FlamPlotSpot
flam_plot_widget_get_marked (FlamPlotWidget *self)
{
  g_return_val_if_fail (FLAM_IS_PLOT_WIDGET (self), FLAM_PLOT_NOWHERE);
  return self->marked;
}

void
flam_plot_widget_set_marked (FlamPlotWidget *self, FlamPlotSpot marked)
{
  g_return_if_fail (FLAM_IS_PLOT_WIDGET (self));
  set_spot (self, &self->marked, marked);
}

static void
select_cells (FlamPlotWidget *self, guint a, guint b)
{
  const FlamPlot *plot = self->plot;
  guint step = cells_at_once (plot);

  change_range (self,
                (FlamPlotRange){
                    plot->cell_time (plot, MIN (a, b) / step * step),
                    plot->cell_time (plot, (MAX (a, b) / step + 1) * step) });
}

/* The first point is marked; the second one makes a pair with it. */
static void
choose_current (FlamPlotWidget *self)
{
  FlamPlotSpot current = self->current, marked = self->marked;
  gboolean cells = has_shape (self, FLAM_PLOT_CELLS);

  if (!is_spot (self, current) || !(cells || has_shape (self, FLAM_PLOT_LINE)))
    return;
  if (!is_spot (self, marked))
    {
      flam_plot_widget_set_marked (self, current);
      return;
    }
  flam_plot_widget_set_marked (self, FLAM_PLOT_NOWHERE);
  if (cells)
    select_cells (self, marked.point, current.point);
  else if (!flam_plot_is_same (marked, current))
    g_signal_emit (self,
                   signals[PAIR_CHOSEN],
                   0,
                   marked.series,
                   marked.point,
                   current.series,
                   current.point);
}

static void
open_current (FlamPlotWidget *self)
{
  if (has_shape (self, FLAM_PLOT_LINE) && is_spot (self, self->current))
    g_signal_emit (
        self, signals[OPENED], 0, self->current.series, self->current.point);
}

static gboolean
has_equal_points (const FlamPlot *a, const FlamPlot *b)
{
  if (a == NULL || b == NULL || a->n != b->n || a->n_rows != b->n_rows)
    return FALSE;
  for (guint s = 0; s < a->n; s++)
    if (a->series[s].n != b->series[s].n)
      return FALSE;
  return TRUE;
}

/* Equal for plots that measure the same. */
static int
measured (const FlamPlot *plot)
{
  int width[2] = { 0 }, height[2] = { 0 };

  if (plot == NULL)
    return 0;
  flam_plot_measure (plot, TRUE, &width[0], &width[1]);
  flam_plot_measure (plot, FALSE, &height[0], &height[1]);
  return width[0] + width[1] + height[0] + height[1];
}

/* Leaves room for the texts. */
static void
apply_font (FlamPlotWidget *self)
{
  if (self->plot != NULL)
    self->plot->text_extra = flam_draw_plot_text_extra (
        gtk_widget_get_pango_context (GTK_WIDGET (self)));
}

void
flam_plot_widget_set_plot (FlamPlotWidget *self, FlamPlot *plot)
{
  g_autoptr (FlamPlot) before = NULL;

  g_return_if_fail (FLAM_IS_PLOT_WIDGET (self));
  before = self->plot;
  self->plot = plot;
  apply_font (self);
  g_clear_pointer (&self->picture, gsk_render_node_unref);
  self->note = (FlamRect){ 0 };
  if (!has_equal_points (before, plot))
    self->current = self->hovered = self->marked = FLAM_PLOT_NOWHERE;
  if (measured (before) != measured (plot))
    gtk_widget_queue_resize (GTK_WIDGET (self));
  points_changed (self);
}

static FlamPlotSpot
spot_at (FlamPlotWidget *self, double x, double y)
{
  FlamRect area;

  if (self->plot == NULL)
    return FLAM_PLOT_NOWHERE;
  area = area_of (self);
  return flam_plot_hit (self->plot, &area, x, y);
}

static gboolean
is_note (FlamPlotWidget *self, double x, double y)
{
  return x >= self->note.x && x < self->note.x + self->note.width &&
         y >= self->note.y && y < self->note.y + self->note.height;
}

static FlamPlotGrab
grab_at (FlamPlotWidget *self, double x)
{
  FlamRect area = area_of (self);

  return flam_plot_range_grab (self->plot, &area, self->range, x);
}

static void
update_cursor (FlamPlotWidget *self, double x, double y)
{
  static const char *const names[] = {
    [FLAM_PLOT_GRAB_NONE] = "default",   [FLAM_PLOT_GRAB_NEW] = "text",
    [FLAM_PLOT_GRAB_FROM] = "ew-resize", [FLAM_PLOT_GRAB_TO] = "ew-resize",
    [FLAM_PLOT_GRAB_RANGE] = "grab",
  };

  gtk_widget_set_cursor_from_name (GTK_WIDGET (self),
                                   !has_shape (self, FLAM_PLOT_AREA) ? NULL
                                   : is_note (self, x, y)
                                       ? "pointer"
                                       : names[grab_at (self, x)]);
}

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, FlamPlotWidget *self)
{
  if (!has_shape (self, FLAM_PLOT_AREA))
    return;
  gtk_widget_grab_focus (GTK_WIDGET (self));
  self->grab = grab_at (self, x);
  self->grab_x = x;
  self->grab_y = y;
  self->grabbed = self->range;
  gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_CLAIMED);
}

static void
on_drag_update (GtkGestureDrag *drag,
                double dx,
                double dy,
                FlamPlotWidget *self)
{
  FlamRect area;

  if (!has_shape (self, FLAM_PLOT_AREA))
    return;
  area = area_of (self);
  if (!flam_plot_range_drag (self->plot,
                             &area,
                             self->grabbed,
                             self->grab,
                             self->grab_x,
                             dx,
                             &self->range))
    return;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (self->throttle == 0)
    self->throttle = g_timeout_add (THROTTLE, tell_now, self);
}

/* A click outside of the range removes it. */
static void
on_drag_end (GtkGestureDrag *drag, double dx, double dy, FlamPlotWidget *self)
{
  gboolean click = fabs (dx) < FLAM_PLOT_DRAG_LEAST;
  FlamPlotGrab grab = self->grab;

  self->grab = FLAM_PLOT_GRAB_NONE;
  if (!has_shape (self, FLAM_PLOT_AREA))
    return;
  if (click && is_note (self, self->grab_x, self->grab_y))
    g_signal_emit (self, signals[NOTE_ACTIVATED], 0);
  else if (click && grab == FLAM_PLOT_GRAB_NEW)
    change_range (self, FLAM_PLOT_ALL);
  tell_range (self);
}

static void
press_point (FlamPlotWidget *self, int n_press, double x, double y)
{
  FlamPlotSpot spot = spot_at (self, x, y);

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (!is_spot (self, spot))
    return;
  flam_plot_widget_set_current (self, spot);
  choose_current (self);
  /* The first click of the two marked it. */
  if (n_press == 2)
    open_current (self);
}

static void
on_pressed (GtkGestureClick *click,
            int n_press,
            double x,
            double y,
            FlamPlotWidget *self)
{
  if (self->plot == NULL)
    return;
  if (!has_shape (self, FLAM_PLOT_AREA))
    {
      press_point (self, n_press, x, y);
      return;
    }
  if (n_press != 2 || is_note (self, x, y))
    return;
  self->grab = FLAM_PLOT_GRAB_NONE;
  change_range (self, FLAM_PLOT_ALL);
}

static void
hover (FlamPlotWidget *self, double pointer, FlamPlotSpot spot)
{
  gboolean same = flam_plot_is_same (spot, self->hovered);

  if (same && pointer == self->pointer)
    return;
  self->pointer = pointer;
  self->hovered = spot;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (!same)
    g_signal_emit (self, signals[CURRENT_CHANGED], 0);
}

static void
on_motion (GtkEventControllerMotion *motion,
           double x,
           double y,
           FlamPlotWidget *self)
{
  update_cursor (self, x, y);
  hover (self, x, spot_at (self, x, y));
}

static void
on_leave (GtkEventControllerMotion *motion, FlamPlotWidget *self)
{
  hover (self, -1, FLAM_PLOT_NOWHERE);
}

static gboolean
on_query_tooltip (GtkWidget *widget,
                  int x,
                  int y,
                  gboolean by_keyboard,
                  GtkTooltip *tooltip,
                  gpointer data)
{
  FlamPlotWidget *self = FLAM_PLOT_WIDGET (widget);
  FlamPlotSpot spot = by_keyboard ? self->current : spot_at (self, x, y);
  g_autofree char *text = NULL;
  GdkRectangle tip = { x, y, 1, 1 };

  if (!is_spot (self, spot) || self->grab != FLAM_PLOT_GRAB_NONE ||
      flam_widget_is_below_menu (widget))
    return FALSE;
  if (!has_shape (self, FLAM_PLOT_AREA))
    {
      FlamRect at = place_of (self, spot);

      tip = (GdkRectangle){
        (int)at.x - 6, (int)at.y - 6, (int)at.width + 12, (int)at.height + 12
      };
    }
  text = describe (self, spot, "\n");
  gtk_tooltip_set_text (tooltip, text);
  gtk_tooltip_set_tip_area (tooltip, &tip);
  return TRUE;
}

static gboolean
remove_range (FlamPlotWidget *self)
{
  return !flam_plot_range_is_all (self->range) &&
         change_range (self, FLAM_PLOT_ALL);
}

static gboolean
press_area_key (FlamPlotWidget *self, guint key, GdkModifierType state)
{
  FlamPlotEdge edge = state & GDK_SHIFT_MASK     ? FLAM_PLOT_EDGE_TO
                      : state & GDK_CONTROL_MASK ? FLAM_PLOT_EDGE_FROM
                                                 : FLAM_PLOT_EDGE_BOTH;
  FlamPlotRange range = self->range;

  switch (key)
    {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      range = flam_plot_range_nudge (self->plot, range, edge, -1);
      break;
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      range = flam_plot_range_nudge (self->plot, range, edge, 1);
      break;
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add:
      range = flam_plot_range_widen (self->plot, range, 0.5);
      break;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract:
      range = flam_plot_range_widen (self->plot, range, 2);
      break;
    case GDK_KEY_Escape:
      return remove_range (self);
    default:
      return FALSE;
    }
  return change_range (self, range);
}

static gboolean
walk (FlamPlotWidget *self, FlamPlotStep step)
{
  flam_plot_widget_set_current (
      self, flam_plot_walk (self->plot, self->current, step));
  return TRUE;
}

static gboolean
press_point_key (FlamPlotWidget *self, guint key)
{
  gboolean flat = has_shape (self, FLAM_PLOT_BARS);

  switch (key)
    {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      return walk (self, FLAM_PLOT_LEFT);
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      return walk (self, FLAM_PLOT_RIGHT);
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
      return !flat && walk (self, FLAM_PLOT_UP);
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      return !flat && walk (self, FLAM_PLOT_DOWN);
    case GDK_KEY_Home:
    case GDK_KEY_KP_Home:
      return walk (self, FLAM_PLOT_FIRST);
    case GDK_KEY_End:
    case GDK_KEY_KP_End:
      return walk (self, FLAM_PLOT_LAST);
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
      if (has_shape (self, FLAM_PLOT_LINE))
        open_current (self);
      else
        choose_current (self);
      return !flat;
    case GDK_KEY_space:
      choose_current (self);
      return !flat;
    case GDK_KEY_Escape:
      if (!is_spot (self, self->marked))
        return remove_range (self);
      flam_plot_widget_set_marked (self, FLAM_PLOT_NOWHERE);
      remove_range (self);
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
on_key (GtkEventControllerKey *keys,
        guint key,
        guint code,
        GdkModifierType state,
        FlamPlotWidget *self)
{
  if (self->plot == NULL || state & (GDK_ALT_MASK | GDK_SUPER_MASK))
    return FALSE;
  if (has_shape (self, FLAM_PLOT_AREA))
    return press_area_key (self, key, state);
  return !(state & GDK_CONTROL_MASK) && press_point_key (self, key);
}

/* The focus begins at the last point of a line, which is usually the most
 * interesting. */
static void
on_focus (FlamPlotWidget *self)
{
  if (gtk_widget_has_focus (GTK_WIDGET (self)) &&
      has_shape (self, FLAM_PLOT_LINE) && !is_spot (self, self->current))
    {
      FlamPlotSpot first =
          flam_plot_walk (self->plot, self->current, FLAM_PLOT_FIRST);

      flam_plot_widget_set_current (
          self, flam_plot_walk (self->plot, first, FLAM_PLOT_LAST));
    }
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
flam_plot_widget_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  FlamPlotWidget *self = FLAM_PLOT_WIDGET (widget);

  gboolean across = orientation == GTK_ORIENTATION_HORIZONTAL;

  /* As a plot without an axis: a row of a list keeps its width. */
  *minimum = across ? 40 : 16;
  *natural = across ? 90 : 18;
  if (self->plot != NULL)
    flam_plot_measure (self->plot, across, minimum, natural);
}

static void
make_stale (FlamPlotWidget *self)
{
  g_clear_pointer (&self->picture, gsk_render_node_unref);
}

static void
flam_plot_widget_size_allocate (GtkWidget *widget,
                                int width,
                                int height,
                                int baseline)
{
  make_stale (FLAM_PLOT_WIDGET (widget));
}

static void
flam_plot_widget_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  FlamPlotWidget *self = FLAM_PLOT_WIDGET (widget);
  int before = measured (self->plot);

  GTK_WIDGET_CLASS (flam_plot_widget_parent_class)
      ->css_changed (widget, change);
  apply_font (self);
  if (measured (self->plot) != before)
    gtk_widget_queue_resize (widget);
  make_stale (self);
}

static void
flam_plot_widget_dispose (GObject *object)
{
  FlamPlotWidget *self = FLAM_PLOT_WIDGET (object);

  g_clear_handle_id (&self->throttle, g_source_remove);
  make_stale (self);
  g_clear_pointer (&self->plot, flam_plot_free);
  G_OBJECT_CLASS (flam_plot_widget_parent_class)->dispose (object);
}

static guint
add_signal (const char *name, guint n_params, GType type)
{
  return g_signal_new (name,
                       FLAM_TYPE_PLOT_WIDGET,
                       G_SIGNAL_RUN_LAST,
                       0,
                       NULL,
                       NULL,
                       NULL,
                       G_TYPE_NONE,
                       n_params,
                       type,
                       type,
                       type,
                       type);
}

static void
flam_plot_widget_class_init (FlamPlotWidgetClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_plot_widget_dispose;
  class->measure = flam_plot_widget_measure;
  class->size_allocate = flam_plot_widget_size_allocate;
  class->css_changed = flam_plot_widget_css_changed;
  class->snapshot = flam_plot_widget_snapshot;
  signals[RANGE_CHANGED] = add_signal ("range-changed", 2, G_TYPE_INT64);
  signals[NOTE_ACTIVATED] = add_signal ("note-activated", 0, G_TYPE_NONE);
  signals[CURRENT_CHANGED] = add_signal ("current-changed", 0, G_TYPE_NONE);
  signals[OPENED] = add_signal ("opened", 2, G_TYPE_UINT);
  signals[PAIR_CHOSEN] = add_signal ("pair-chosen", 4, G_TYPE_UINT);
  gtk_widget_class_set_css_name (class, "plot");
  gtk_widget_class_set_accessible_role (class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
add_controllers (FlamPlotWidget *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkGesture *click = gtk_gesture_click_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (on_drag_end), self);
  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_gesture_group (click, drag);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, keys);
}

static void
flam_plot_widget_init (FlamPlotWidget *self)
{
  self->current = self->hovered = self->marked = FLAM_PLOT_NOWHERE;
  self->range = self->told = FLAM_PLOT_ALL;
  self->pointer = -1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  g_signal_connect (self, "notify::has-focus", G_CALLBACK (on_focus), NULL);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (on_query_tooltip), NULL);
  flam_accent_watch (G_OBJECT (self), G_CALLBACK (gtk_widget_queue_draw));
  add_controllers (self);
}

GtkWidget *
flam_plot_widget_new (void)
{
  return g_object_new (FLAM_TYPE_PLOT_WIDGET, NULL);
}

GtkWidget *
flam_plot_widget_new_small (void)
{
  return g_object_new (FLAM_TYPE_PLOT_WIDGET,
                       "accessible-role",
                       GTK_ACCESSIBLE_ROLE_PRESENTATION,
                       "can-target",
                       FALSE,
                       "focusable",
                       FALSE,
                       NULL);
}
