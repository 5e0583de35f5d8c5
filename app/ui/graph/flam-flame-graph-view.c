/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"
#include "flam-snapshot-image.h"

#include <gsk/gsk.h>
#include <math.h>

#include "flam-core-picture.h"

#define ZOOM_TIME 150000 /* µs */
#define SLOW_FRAME 70    /* ms between pictures where the CPU draws */
#define FONT_SCALE 0.9
/* Before the next frame is drawn, so that the minimap is drawn with it. */
#define TELL_PRIORITY (GDK_PRIORITY_REDRAW - 5)
#define LEAST_RANGE 1.0 /* weight units across the view */

/* --- where one looks ----------------------------------------------------- */

static PangoFontDescription *
label_font (FlamFlameGraph *self)
{
  PangoContext *context = gtk_widget_get_pango_context (GTK_WIDGET (self));
  PangoFontDescription *font = pango_font_description_copy (
      pango_context_get_font_description (context));
  double size = pango_font_description_get_size (font) * FONT_SCALE;

  if (pango_font_description_get_size_is_absolute (font))
    pango_font_description_set_absolute_size (font, size);
  else
    pango_font_description_set_size (font, (int)size);
  return font;
}

FlamDraw *
flam_graph_draw (FlamFlameGraph *self)
{
  PangoContext *context;
  PangoFontDescription *font;

  if (self->draw != NULL)
    return self->draw;
  context = gtk_widget_create_pango_context (GTK_WIDGET (self));
  pango_context_set_round_glyph_positions (context, TRUE);
  font = label_font (self);
  self->draw = flam_draw_new (context, font);
  pango_font_description_free (font);
  g_object_unref (context);
  return self->draw;
}

FlamPalette *
flam_graph_palette (FlamFlameGraph *self)
{
  const FlamColors colors = { .mode = self->palette_mode,
                              .rules = self->rules };

  if (self->palette == NULL)
    self->palette = flam_palette_new_for (self->tree, &colors, self->dark);
  return self->palette;
}

double
flam_graph_row_height (FlamFlameGraph *self)
{
  return flam_draw_row_height (flam_graph_draw (self));
}

FlamViewport
flam_graph_viewport (FlamFlameGraph *self)
{
  return (FlamViewport){
    .shape = self->shape,
    .width = gtk_widget_get_width (GTK_WIDGET (self)),
    .height = gtk_widget_get_height (GTK_WIDGET (self)),
    .row_height = flam_graph_row_height (self),
    /* Rows, which are whole pixels high, and their labels are then where they
     * were before, a number of pixels further: the picture can be moved. */
    .scroll =
        self->shape == FLAM_SHAPE_FLAME ? round (self->scroll) : self->scroll,
    .from = self->from,
    .to = self->to,
    .min_width = 0.5,
    .zoom = self->zoom,
    .direction = self->direction,
    .rings = self->rings,
  };
}

const FlamLayout *
flam_graph_layout (FlamFlameGraph *self)
{
  FlamViewport viewport;

  if (self->layout == NULL && !flam_graph_is_empty (self))
    {
      viewport = flam_graph_viewport (self);
      self->layout =
          flam_layout_new_after (self->rows, &viewport, self->last_layout);
      g_clear_pointer (&self->last_layout, flam_layout_free);
    }
  return self->layout;
}

gboolean
flam_graph_find_box (FlamFlameGraph *self, FlamId node, FlamBox *box)
{
  const FlamLayout *layout = flam_graph_layout (self);

  return layout != NULL && flam_layout_find (self->rows, layout, node, box);
}

void
flam_graph_range_of (FlamFlameGraph *self,
                     FlamId node,
                     double *from,
                     double *to)
{
  *from = (double)flam_rows_x (self->rows, node);
  *to = *from + MAX ((double)self->tree->total[node], LEAST_RANGE);
}

/* --- how many rows -------------------------------------------------------- */

/* They are counted once: a zoom asks for those of the range that it leaves. */
static guint32
count_rows (FlamFlameGraph *self, FlamRowCount *count, double from, double to)
{
  FlamViewport viewport = flam_graph_viewport (self);

  if (count->from != from || count->to != to)
    {
      viewport.from = from;
      viewport.to = to;
      *count = (FlamRowCount){ from,
                               to,
                               flam_layout_n_rows (self->rows, &viewport) };
    }
  return count->n;
}

guint32
flam_graph_whole_rows (FlamFlameGraph *self)
{
  guint32 n =
      count_rows (self, &self->whole_rows, 0, (double)self->tree->total[0]);

  return MAX (MAX (n, self->n_rows), 1);
}

void
flam_graph_forget_rows (FlamFlameGraph *self)
{
  self->rest_rows.to = self->whole_rows.to = 0;
}

/* --- what is stale ------------------------------------------------------- */

static gboolean
tell_changed (gpointer data)
{
  FlamFlameGraph *self = data;

  self->changed_idle = 0;
  g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_DRAWN_CHANGED], 0);
  return G_SOURCE_REMOVE;
}

/* At once where a frame has begun, which is drawn before anything idle: in a
 * tick, or in what a pointer does, which GDK tells at a frame's beginning.
 * Never in a frame's layout, for others change their sizes when they are told.
 */
static void
tell_in_frame (FlamFlameGraph *self)
{
  if (self->changed_idle == 0)
    return;
  g_source_remove (self->changed_idle);
  tell_changed (self);
}

static void
queue_picture (FlamFlameGraph *self)
{
  g_clear_pointer (&self->image, gsk_render_node_unref);
  flam_graph_forget_tip (self);
  if (self->changed_idle == 0)
    self->changed_idle =
        g_idle_add_full (TELL_PRIORITY, tell_changed, self, NULL);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
flam_graph_redraw (FlamFlameGraph *self)
{
  g_clear_pointer (&self->picture, cairo_surface_destroy);
  g_clear_pointer (&self->last_picture, cairo_surface_destroy);
  queue_picture (self);
}

/* What there is of the next ones is taken from these: of boxes and of pixels,
 * if that is anything. */
void
flam_graph_relayout (FlamFlameGraph *self)
{
  if (self->layout != NULL)
    {
      g_clear_pointer (&self->last_layout, flam_layout_free);
      self->last_layout = g_steal_pointer (&self->layout);
    }
  if (self->picture != NULL)
    {
      g_clear_pointer (&self->last_picture, cairo_surface_destroy);
      self->last_picture = g_steal_pointer (&self->picture);
    }
  queue_picture (self);
}

void
flam_graph_forget_layout (FlamFlameGraph *self)
{
  g_clear_pointer (&self->layout, flam_layout_free);
  g_clear_pointer (&self->last_layout, flam_layout_free);
  g_clear_pointer (&self->picture, cairo_surface_destroy);
  g_clear_pointer (&self->last_picture, cairo_surface_destroy);
}

/* For another theme, font, palette or profile. */
void
flam_graph_restyle (FlamFlameGraph *self)
{
  g_clear_pointer (&self->palette, flam_palette_free);
  g_clear_pointer (&self->draw, flam_draw_free);
  flam_graph_forget_layout (self);
  flam_graph_redraw (self);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

void
flam_graph_clear_view (FlamFlameGraph *self)
{
  flam_graph_stop (self);
  g_clear_handle_id (&self->changed_idle, g_source_remove);
  g_clear_pointer (&self->palette, flam_palette_free);
  g_clear_pointer (&self->draw, flam_draw_free);
  flam_graph_forget_layout (self);
  g_clear_pointer (&self->image, gsk_render_node_unref);
  flam_graph_hide_tip (self);
}

/* --- scrolling ----------------------------------------------------------- */

static double
picture_height (FlamFlameGraph *self)
{
  return ceil (self->n_rows * flam_graph_row_height (self)) + 1;
}

/* In a sunburst the node's row. A treemap does not scroll. */
static double
centre_of (FlamFlameGraph *self, FlamId node)
{
  return flam_graph_is_empty (self) || self->shape != FLAM_SHAPE_SUNBURST
             ? 0
             : self->tree->depth[node] * flam_graph_row_height (self);
}

/* The root of a flame graph is at the bottom, where the adjustment's value is
 * greatest; `scroll` counts from the root in both directions. */
void
flam_graph_adjust (FlamFlameGraph *self)
{
  double page = gtk_widget_get_height (GTK_WIDGET (self));
  double upper, value;

  if (self->shape != FLAM_SHAPE_FLAME)
    {
      self->n_rows = 0;
      if (!flam_graph_is_moving (self))
        self->scroll = centre_of (self, self->zoom);
    }
  else if (!flam_graph_is_moving (self) && !flam_graph_is_empty (self) &&
           page > 0)
    self->n_rows = count_rows (self, &self->rest_rows, self->from, self->to);
  upper = MAX (picture_height (self), page);
  if (self->shape == FLAM_SHAPE_FLAME)
    self->scroll = CLAMP (self->scroll, 0, upper - page);
  else
    upper = page;
  value = self->shape != FLAM_SHAPE_FLAME ? 0
          : self->direction == FLAM_DIRECTION_FLAME
              ? upper - page - self->scroll
              : self->scroll;
  if (self->vadjustment == NULL)
    return;
  self->adjusting = TRUE;
  gtk_adjustment_configure (self->vadjustment,
                            value,
                            0,
                            upper,
                            flam_graph_row_height (self) * 3,
                            page * 0.9,
                            page);
  self->adjusting = FALSE;
}

void
flam_graph_on_scrolled (FlamFlameGraph *self)
{
  double value, last, scroll;
  gboolean same;

  if (self->adjusting || self->shape != FLAM_SHAPE_FLAME)
    return;
  value = gtk_adjustment_get_value (self->vadjustment);
  last = gtk_adjustment_get_upper (self->vadjustment) -
         gtk_adjustment_get_page_size (self->vadjustment);
  scroll = self->direction == FLAM_DIRECTION_FLAME ? last - value : value;
  scroll = MAX (scroll, 0);
  same = round (scroll) == round (self->scroll);
  self->scroll = scroll;
  if (same)
    return;
  flam_graph_relayout (self);
  flam_graph_hover_again (self);
  tell_in_frame (self);
}

/* Scrolls its row, and one above and below, into view. */
void
flam_graph_scroll_to (FlamFlameGraph *self, FlamId node)
{
  double row = flam_graph_row_height (self);
  double edge = self->tree->depth[node] * row;
  double page = gtk_widget_get_height (GTK_WIDGET (self));
  double before = self->scroll;

  if (self->shape != FLAM_SHAPE_FLAME)
    return;
  if (page < 3 * row)
    return;
  if (edge - row < self->scroll)
    self->scroll = MAX (edge - row, 0);
  else if (edge + 2 * row > self->scroll + page)
    self->scroll = edge + 2 * row - page;
  self->n_rows = MAX (self->n_rows, self->tree->depth[node] + 1);
  flam_graph_adjust (self);
  if (self->scroll != before)
    flam_graph_relayout (self);
}

/* --- moving -------------------------------------------------------------- */

static void
set_range (FlamFlameGraph *self, double from, double to)
{
  double whole = (double)self->tree->total[0];
  double range = CLAMP (to - from, MIN (LEAST_RANGE, whole), whole);

  self->from = CLAMP (from, 0, whole - range);
  self->to = self->from + range;
  flam_graph_relayout (self);
}

static void
arrive (FlamFlameGraph *self)
{
  self->rings = 0;
  set_range (self, self->motion.from1, self->motion.to1);
  flam_graph_adjust (self);
  flam_graph_hover_again (self);
}

/* `t`: 0..1 of the time. The width of the view changes by equal factors in
 * equal times, and its left edge so that the picture grows out of one point. */
static void
move_to (FlamFlameGraph *self, double t)
{
  const FlamMotion *motion = &self->motion;
  double range0 = motion->to0 - motion->from0;
  double range1 = motion->to1 - motion->from1;
  double eased = 1 - pow (1 - t, 3);
  double range = range0 * pow (range1 / range0, eased);
  double way = fabs (range1 - range0) < 1e-9 * range0
                   ? eased
                   : (range0 - range) / (range0 - range1);

  self->from = motion->from0 + (motion->from1 - motion->from0) * way;
  self->to = self->from + range;
  if (self->shape == FLAM_SHAPE_SUNBURST)
    {
      self->scroll =
          motion->scroll0 + (motion->scroll1 - motion->scroll0) * eased;
      self->rings = motion->rings0 + (motion->rings1 - motion->rings0) * eased;
    }
  flam_graph_relayout (self);
}

/* FALSE: there is nowhere further to go. */
static gboolean
move_on (FlamFlameGraph *self, double t)
{
  gboolean goes_on = t < 1 && !flam_graph_is_empty (self);

  if (goes_on)
    move_to (self, MAX (t, 0));
  else
    {
      self->motion.tick = self->motion.timer = 0;
      if (!flam_graph_is_empty (self))
        arrive (self);
    }
  tell_in_frame (self);
  return goes_on;
}

static gboolean
on_tick (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (widget);
  gint64 now = gdk_frame_clock_get_frame_time (clock);

  return move_on (self, (double)(now - self->motion.start) / ZOOM_TIME);
}

/* Where the CPU draws there are two pictures: half of the way, together with
 * what else is new at once, and the last. Each takes 3 ms of 1000x600 pixels,
 * and the frame clock is at rest in between. */
static gboolean
on_slow_tick (gpointer data)
{
  static const double times[] = { 0.2, 1 };
  FlamFlameGraph *self = data;

  return move_on (self, times[self->motion.step++]);
}

static void
begin_to_move (FlamFlameGraph *self, GdkFrameClock *clock)
{
  FlamMotion *motion = &self->motion;

  motion->start = gdk_frame_clock_get_frame_time (clock);
  motion->step = 0;
  if (!flam_snapshot_is_by_cpu (GTK_WIDGET (self)))
    motion->tick =
        gtk_widget_add_tick_callback (GTK_WIDGET (self), on_tick, NULL, NULL);
  else
    {
      motion->timer = g_timeout_add (SLOW_FRAME, on_slow_tick, self);
      on_slow_tick (self);
    }
}

void
flam_graph_stop (FlamFlameGraph *self)
{
  if (self->motion.tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->motion.tick);
  self->motion.tick = 0;
  g_clear_handle_id (&self->motion.timer, g_source_remove);
}

static gboolean
animations_wanted (FlamFlameGraph *self)
{
  gboolean wanted = FALSE;

  g_object_get (gtk_widget_get_settings (GTK_WIDGET (self)),
                "gtk-enable-animations",
                &wanted,
                NULL);
  return wanted && gtk_widget_get_mapped (GTK_WIDGET (self));
}

/* A sunburst's rings move inwards or outwards as it turns. */
static void
prepare_rings (FlamFlameGraph *self)
{
  FlamViewport to = flam_graph_viewport (self);
  const FlamLayout *layout = flam_graph_layout (self);

  to.from = self->motion.from1;
  to.to = self->motion.to1;
  to.scroll = centre_of (self, self->zoom);
  to.rings = 0;
  self->motion.scroll0 = self->scroll;
  self->motion.scroll1 = to.scroll;
  self->motion.rings0 = layout->viewport.rings;
  self->motion.rings1 = flam_sunburst_rings (self->rows, &to);
}

void
flam_graph_look_at (FlamFlameGraph *self,
                    double from,
                    double to,
                    gboolean animate)
{
  GdkFrameClock *clock = gtk_widget_get_frame_clock (GTK_WIDGET (self));

  flam_graph_stop (self);
  self->motion.from1 = from;
  self->motion.to1 = to;
  if (!animate || clock == NULL || !animations_wanted (self) ||
      self->shape == FLAM_SHAPE_TREEMAP)
    {
      arrive (self);
      return;
    }
  self->motion.from0 = self->from;
  self->motion.to0 = self->to;
  if (self->shape == FLAM_SHAPE_SUNBURST)
    prepare_rings (self);
  begin_to_move (self, clock);
}

static void
climb_to_view (FlamFlameGraph *self)
{
  FlamId zoom = self->zoom;
  double from, to;

  for (; zoom != 0; zoom = self->tree->parent[zoom])
    {
      flam_graph_range_of (self, zoom, &from, &to);
      if (from <= self->from + 1e-6 * (to - from) &&
          to >= self->to - 1e-6 * (to - from))
        break;
    }
  flam_graph_tell_zoom (self, zoom);
}

/* For shapes without panning: towards the node of interest, or outwards. */
static void
zoom_a_step (FlamFlameGraph *self, gboolean closer)
{
  FlamId node = self->hovered != FLAM_NONE ? self->hovered : self->selected;

  if (!closer)
    flam_flame_graph_outward (self);
  if (!closer || node == FLAM_NONE || node == self->zoom ||
      !flam_tree_is_ancestor (self->tree, self->zoom, node))
    return;
  while (self->tree->parent[node] != self->zoom)
    node = self->tree->parent[node];
  flam_graph_set_zoom (self, node, TRUE, TRUE);
}

void
flam_graph_zoom_by (FlamFlameGraph *self, double x, double factor)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double range = self->to - self->from;
  double share = width > 0 ? CLAMP (x / width, 0, 1) : 0.5;
  double wanted;

  if (flam_graph_is_empty (self))
    return;
  if (self->shape != FLAM_SHAPE_FLAME)
    {
      zoom_a_step (self, factor < 1);
      return;
    }
  flam_graph_stop (self);
  wanted = CLAMP (range * factor, LEAST_RANGE, (double)self->tree->total[0]);
  self->motion.from1 = self->from + (range - wanted) * share;
  self->motion.to1 = self->motion.from1 + wanted;
  arrive (self);
  climb_to_view (self);
  tell_in_frame (self);
}

void
flam_graph_pan_to (FlamFlameGraph *self, double from, double scroll)
{
  double range = self->to - self->from;

  flam_graph_stop (self);
  self->scroll = scroll;
  self->motion.from1 = from;
  self->motion.to1 = from + range;
  arrive (self);
  climb_to_view (self);
  tell_in_frame (self);
}
