/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include "flam-core-picture.h"
#include "flam-snapshot-image.h"
#include "flam-tip-layer.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>
#include <gsk/gsk.h>
#include <math.h>

guint flam_graph_signals[FLAM_GRAPH_N_SIGNALS];

static void tell_zoom (FlamFlameGraph *self, FlamNodeId node);
static FlamZoomState present_place (FlamFlameGraph *self);
static void push_place (FlamFlameGraph *self);

/* --- words --------------------------------------------------------------- */

gboolean
flam_graph_has_states (FlamFlameGraph *self)
{
  guint states = flam_tree_states (self->tree);

  return (states & (states - 1)) != 0;
}

/* The most frequent state of the threads, which determines the color. */
static void
add_main_state (FlamFlameGraph *self, FlamNodeId node, char **text)
{
  const FlamStateSplit *split;
  g_autofree char *share = NULL;
  g_autofree char *before = NULL;
  guint most = 0;

  if (!flam_graph_has_states (self))
    return;
  split = &self->tree->split[node];
  for (guint i = 1; i < FLAM_N_STATES; i++)
    if (split->weight[i] > split->weight[most])
      most = i;
  share = flam_format_percent (split->weight[most], self->tree->total[node]);
  before = *text;
  *text = g_strdup_printf (
      "%s, %s %s", before, _ (flam_state_to_title (most)), share);
}

const char *
flam_graph_kind_text (const FlamTreeChange *change, FlamNodeId node)
{
  switch ((FlamChangeKind)change->kind[node])
    {
    case FLAM_CHANGE_NEW:
      return _ ("new");
    case FLAM_CHANGE_GONE:
      return _ ("gone");
    case FLAM_CHANGE_UNTRACKED:
      /* Translators: a function that is new in all places, not only on this
       * path */
      return _ ("new function");
    case FLAM_CHANGE_KEPT:
    default:
      return NULL;
    }
}

/* A node compared with the one on the same path in another tree. */
static void
add_change (FlamFlameGraph *self, FlamNodeId node, char **text)
{
  const FlamTreeChange *change = self->tree->change;
  const FlamMeasure measure = flam_tree_measure (self->tree);
  const FlamChangeEstimate estimate = flam_tree_change_estimate (change, node);
  const char *kind = NULL;
  g_autofree char *delta = NULL;
  g_autofree char *before = NULL;

  if (change == NULL)
    return;
  kind = flam_graph_kind_text (change, node);
  delta =
      flam_value_text_change (&measure, change->delta[node], &estimate.delta);
  before = *text;
  /* Translators: a frame, and its change */
  *text = kind != NULL
              /* Translators: the same, and "new" or "gone" */
              ? g_strdup_printf (_ ("%s, change %s, %s"), before, delta, kind)
              : g_strdup_printf (_ ("%s, change %s"), before, delta);
}

/* In the shape of both, widths are not amounts. */
static char *
describe_both (FlamFlameGraph *self, FlamNodeId node)
{
  const FlamTreeChange *change = self->tree->change;
  const FlamMeasure measure = flam_tree_measure (self->tree);
  const FlamChangeEstimate estimate = flam_tree_change_estimate (change, node);
  g_autofree char *was =
      flam_format_estimated (&estimate.base, &measure, change->base[node]);
  g_autofree char *is = flam_format_estimated (
      &estimate.fresh, &measure, change->base[node] + change->delta[node]);

  g_autofree char *name =
      flam_format_visible (flam_graph_name (self->tree, node));

  return g_strdup_printf (_ ("%s, before %s, now %s"), name, was, is);
}

/* --- notes ---------------------------------------------------------------- */

void
flam_flame_graph_set_notes (FlamFlameGraph *self,
                            FlamGraphNotes notes,
                            gpointer data)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  self->notes = notes;
  self->notes_data = data;
  flam_graph_hide_tip (self);
  flam_graph_announce (self);
}

const char *
flam_graph_name (const FlamTree *tree, FlamNodeId node)
{
  return node == 0 && !tree->rooted
             /* Translators: the box below all others in the graph */
             ? _ ("all")
             : flam_tree_name (tree, node);
}

char *
flam_graph_note_of (FlamFlameGraph *self, FlamNodeId node)
{
  return self->notes != NULL && node != 0
             ? self->notes (self->notes_data, flam_tree_name (self->tree, node))
             : NULL;
}

static void
add_note (FlamFlameGraph *self, FlamNodeId node, char **text)
{
  g_autofree char *note = flam_graph_note_of (self, node);
  g_autofree char *before = NULL;

  if (note == NULL)
    return;
  before = *text;
  /* Translators: text for a screen reader: a function, and the note about it */
  *text = g_strdup_printf (_ ("%s; note: %s"), before, note);
}

static void
add_statuses (FlamFlameGraph *self, FlamNodeId node, char **text)
{
  for (guint i = 0; i < FLAM_N_STATUSES; i++)
    if (flam_tree_status (self->tree, node) & 1u << i)
      {
        g_autofree char *before = *text;

        *text =
            g_strdup_printf ("%s, %s", before, _ (flam_status_to_title (i)));
      }
}

/* The accessible text: function, shares of the time. */
static char *
describe_shares (FlamFlameGraph *self, FlamNodeId node)
{
  const FlamFunctionRow row = flam_functions_row_of_node (self->tree, node);
  g_autofree char *total =
      flam_format_percent (row.total, self->tree->total[0]);
  g_autofree char *self_share =
      flam_format_percent (row.self, self->tree->total[0]);
  g_autofree char *name =
      flam_format_visible (flam_graph_name (self->tree, node));

  if (!flam_functions_has_self (self->tree, node))
    /* Translators: text for a screen reader: function, share of the time */
    return g_strdup_printf (_ ("%s, total %s"), name, total);
  /* Translators: text for a screen reader: function, shares of the time */
  return g_strdup_printf (_ ("%s, total %s, self %s"), name, total, self_share);
}

char *
flam_flame_graph_describe (FlamFlameGraph *self, FlamNodeId node)
{
  char *text;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), NULL);
  if (flam_graph_is_empty (self) || node >= self->tree->n)
    return g_strdup (self->shape == FLAM_SHAPE_SUNBURST  ? _ ("Sunburst")
                     : self->shape == FLAM_SHAPE_TREEMAP ? _ ("Treemap")
                                                         : _ ("Flame graph"));
  text = self->tree->change != NULL && self->tree->change->both
             ? describe_both (self, node)
             : describe_shares (self, node);
  add_main_state (self, node, &text);
  add_statuses (self, node, &text);
  add_change (self, node, &text);
  add_note (self, node, &text);
  return text;
}

void
flam_graph_announce (FlamFlameGraph *self)
{
  g_autofree char *said = flam_flame_graph_describe (self, self->selected);
  g_autofree char *label = self->title != NULL
                               ? g_strdup_printf ("%s: %s", self->title, said)
                               : g_strdup (said);

  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

void
flam_flame_graph_set_title (FlamFlameGraph *self, const char *title)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  g_free (self->title);
  self->title = g_strdup (title);
  flam_graph_announce (self);
}

/* --- view ---------------------------------------------------------------- */

#define ZOOM_TIME 150000 /* µs */
#define SLOW_FRAME 70    /* ms between pictures if the CPU draws */
#define FONT_SCALE 0.9
/* Before the next frame is drawn, so that the minimap is drawn with it. */
#define TELL_PRIORITY (GDK_PRIORITY_REDRAW - 5)
#define LEAST_RANGE 1.0 /* weight units across the view */

/* --- the visible part ----------------------------------------------------- */

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

void
flam_graph_forget_palette (FlamFlameGraph *self)
{
  g_clear_pointer (&self->legend, flam_palette_legend_free);
  g_clear_pointer (&self->palette, flam_palette_free);
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
    /* Rows, which are a whole number of pixels high, and their labels are then
     * shifted by a whole number of pixels, so the picture can be moved. */
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
flam_graph_find_box (FlamFlameGraph *self, FlamNodeId node, FlamBox *box)
{
  const FlamLayout *layout = flam_graph_layout (self);

  return layout != NULL && flam_layout_find (self->rows, layout, node, box);
}

void
flam_graph_range_of (FlamFlameGraph *self,
                     FlamNodeId node,
                     double *from,
                     double *to)
{
  *from = (double)flam_rows_x (self->rows, node);
  *to = *from + MAX ((double)self->tree->total[node], LEAST_RANGE);
}

/* --- how many rows -------------------------------------------------------- */

/* They are counted once: a zoom needs the ones of the range that it leaves. */
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

/* --- pointer ------------------------------------------------------------- */

static FlamId
node_at (FlamFlameGraph *self, double x, double y)
{
  const FlamLayout *layout = flam_graph_layout (self);
  const FlamBox *box;

  if (layout == NULL)
    return FLAM_NONE;
  box = flam_layout_hit (layout, x, y);
  return box == NULL || flam_graph_is_strip (box) ? FLAM_NONE : box->node;
}

FlamId
flam_flame_graph_get_node_at (FlamFlameGraph *self, double x, double y)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FLAM_NONE);
  return node_at (self, x, y);
}

static void
hover (FlamFlameGraph *self, FlamNodeId node)
{
  if (node == self->hovered)
    return;
  self->hovered = node;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_NODE_HOVERED], 0, node);
}

void
flam_graph_hover_again (FlamFlameGraph *self)
{
  hover (self,
         self->pointer_inside && !self->dragging
             ? node_at (self, self->pointer_x, self->pointer_y)
             : FLAM_NONE);
}

/* The shown tooltip belongs to another picture. */
static void
forget_tip (FlamFlameGraph *self)
{
  if (self->tip == NULL)
    return;
  flam_tip_hide (GTK_WIDGET (self));
  self->tip_hidden = g_get_monotonic_time ();
  g_clear_object (&self->tip);
  g_clear_pointer (&self->tip_text, g_free);
}

void
flam_graph_hide_tip (FlamFlameGraph *self)
{
  g_clear_handle_id (&self->tip_soon, g_source_remove);
  forget_tip (self);
}

/* --- stale data ------------------------------------------------------- */

static gboolean
tell_changed (gpointer data)
{
  FlamFlameGraph *self = data;

  self->changed_idle = 0;
  g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_DRAWN_CHANGED], 0);
  return G_SOURCE_REMOVE;
}

/* At once if a frame has begun, which is drawn before any idle work: in a tick,
 * or in pointer events, which GDK delivers at the beginning of a frame. Never
 * during a frame's layout, since the notified widgets change their sizes. */
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
  forget_tip (self);
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

/* Boxes and pixels of the next picture are taken from these, as far as they
 * match. */
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
  flam_graph_forget_palette (self);
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
  flam_graph_forget_palette (self);
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

/* In a sunburst, the node's row. A treemap does not scroll. */
static double
centre_of (FlamFlameGraph *self, FlamNodeId node)
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

/* Scrolls its row, and one above and below, into view, once there is room. */
static void
scroll_to (FlamFlameGraph *self, FlamNodeId node)
{
  double row = flam_graph_row_height (self);
  double edge = self->tree->depth[node] * row;
  double page = gtk_widget_get_height (GTK_WIDGET (self));
  double before = self->scroll;

  if (self->shape != FLAM_SHAPE_FLAME)
    return;
  self->scroll_later = page < 3 * row;
  if (self->scroll_later)
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

void
flam_graph_scroll_if_later (FlamFlameGraph *self)
{
  if (self->scroll_later && !flam_graph_is_empty (self))
    scroll_to (self, self->selected != FLAM_NONE ? self->selected : self->zoom);
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

/* FALSE: no further place exists. */
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

/* If the CPU draws, there are two pictures: one half-way, drawn at once with
 * the other changes, and the last one. Each takes 3 ms for 1000x600 pixels, and
 * the frame clock is at rest in between. */
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

/* Moves to another view, at once or in 150 ms. */
static void
look_at (FlamFlameGraph *self, double from, double to, gboolean animate)
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
  FlamNodeId zoom = self->zoom;
  double from, to;

  for (; zoom != 0; zoom = self->tree->parent[zoom])
    {
      flam_graph_range_of (self, zoom, &from, &to);
      if (from <= self->from + 1e-6 * (to - from) &&
          to >= self->to - 1e-6 * (to - from))
        break;
    }
  tell_zoom (self, zoom);
}

/* For shapes without panning: towards the node of interest, or outwards. */
static void
zoom_a_step (FlamFlameGraph *self, gboolean closer)
{
  FlamNodeId node = self->hovered != FLAM_NONE ? self->hovered : self->selected;

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

/* --- pages --------------------------------------------------------------- */

#define NAME_WIDTH 40    /* pixels: of the first box of a page */
#define NAME_AREA 4000.0 /* the same for a treemap */

/* The width in pixels of the range of x: the circumference of a sunburst. */
static double
width_of (FlamFlameGraph *self)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double height = gtk_widget_get_height (GTK_WIDGET (self));

  return self->shape == FLAM_SHAPE_SUNBURST ? G_PI * MIN (width, height)
                                            : width;
}

/* The number of boxes from one box on whose names would fit if all were as
 * large as the first. */
static double
page_from (FlamFlameGraph *self, FlamNodeId node)
{
  double names = width_of (self) / NAME_WIDTH;

  if (self->shape == FLAM_SHAPE_TREEMAP)
    names = gtk_widget_get_width (GTK_WIDGET (self)) *
            gtk_widget_get_height (GTK_WIDGET (self)) / NAME_AREA;
  return MAX (names, 4) * (double)self->tree->total[node];
}

/* --- a treemap: what the zoomed node calls, heaviest first ------------------
 */

static guint32
page_end (FlamFlameGraph *self, const FlamFamily *family, guint32 first)
{
  double page = page_from (self, self->rows->at[family->index[first]].node);
  guint32 end =
      flam_family_rank_at (family, (double)family->x[first] + page + 0.5);

  return CLAMP (end, first + 1, family->n);
}

/* The first page shows all callees: those that do not fit are its strip. */
static void
look_at_ranks (FlamFlameGraph *self,
               const FlamFamily *family,
               guint32 first,
               guint32 end)
{
  if (first == 0)
    {
      flam_graph_set_zoom (self, self->zoom, TRUE, TRUE);
      return;
    }
  push_place (self);
  look_at (self, (double)family->x[first], (double)family->x[end], TRUE);
}

/* For a treemap: the page that begins with a callee of the zoomed node. */
static void
look_at_callee (FlamFlameGraph *self, FlamNodeId node)
{
  g_autoptr (FlamFamily) family = NULL;
  guint32 first;

  if (self->shape != FLAM_SHAPE_TREEMAP ||
      self->tree->parent[node] != self->zoom)
    return;
  family = flam_family_new (self->rows, self->zoom);
  first = flam_family_rank_of (family, self->rows, node);
  if (first < family->n && self->tree->total[node] > 0)
    look_at_ranks (self, family, first, page_end (self, family, first));
}

/* In a treemap, a strip of framed boxes opens in its caller first. */
static void
open_treemap_strip (FlamFlameGraph *self, const FlamBox *strip)
{
  FlamId parent = self->tree->parent[strip->node];
  FlamZoomState now = present_place (self);
  g_autoptr (FlamFamily) family = NULL;
  double from, to;
  guint32 first;

  if (parent != self->zoom)
    {
      flam_graph_set_zoom (self, parent, TRUE, TRUE);
      return;
    }
  family = flam_family_new (self->rows, parent);
  /* The strip of the whole view has the lightest callees; a page's strip begins
   * with its heaviest. */
  flam_graph_range_of (self, parent, &from, &to);
  first = now.to - now.from < to - from
              ? flam_family_rank_of (family, self->rows, strip->node)
              : family->n - strip->count;
  look_at_ranks (self, family, first, page_end (self, family, first));
}

/* The number of boxes before the page that fit on one that begins with the
 * first of them. */
static guint32
page_before (FlamFlameGraph *self, const FlamFamily *family, guint32 end)
{
  guint32 first = end;

  while (first > 0 && page_end (self, family, first - 1) >= end)
    first--;
  return MIN (first, end - 1);
}

static void
turn_treemap (FlamFlameGraph *self, gboolean back)
{
  g_autoptr (FlamFamily) family = flam_family_new (self->rows, self->zoom);
  FlamZoomState now = present_place (self);
  guint32 first = flam_family_rank_at (family, now.from - 0.5);
  guint32 end = flam_family_rank_at (family, now.to - 0.5);

  if (back && first > 0)
    look_at_ranks (self, family, page_before (self, family, first), first);
  else if (!back && end < family->n)
    look_at_ranks (self, family, end, page_end (self, family, end));
}

/* --- any shape ------------------------------------------------------------ */

static void
look_at_page (FlamFlameGraph *self, FlamNodeId node, double page)
{
  double from = (double)flam_rows_x (self->rows, node);

  push_place (self);
  look_at (self, from, from + MAX (page, 1), TRUE);
}

/* Opens a strip, or a page of it that begins with its heaviest. If that view is
 * not closer, opens its caller. */
void
flam_graph_open_strip (FlamFlameGraph *self, const FlamBox *strip)
{
  const FlamRows *rows = self->rows;
  guint32 first = rows->index[strip->node];
  guint32 end = MIN (first + strip->count, rows->n);
  double width =
      self->shape == FLAM_SHAPE_SUNBURST ? 2 * G_PI : width_of (self);
  double page = strip->width / width * (self->to - self->from);
  gboolean heaviest_first = TRUE;

  if (self->shape == FLAM_SHAPE_TREEMAP)
    {
      open_treemap_strip (self, strip);
      return;
    }
  for (guint32 i = first + 1; i < end; i++)
    heaviest_first &= rows->at[i].total <= rows->at[first].total;
  if (heaviest_first)
    page = MIN (page, page_from (self, strip->node));
  if (page >= self->to - self->from)
    flam_graph_set_zoom (self, self->tree->parent[strip->node], TRUE, TRUE);
  else
    look_at_page (self, strip->node, page);
}

/* Makes a node visible that was walked to: shows the page that begins with
 * it. */
void
flam_graph_open_narrow (FlamFlameGraph *self, FlamNodeId node)
{
  FlamZoomState now = present_place (self);
  double total = (double)self->tree->total[node];

  if (self->shape != FLAM_SHAPE_TREEMAP && total > 0 &&
      total * width_of (self) < now.to - now.from)
    look_at_page (self, node, page_from (self, node));
}

/* Goes from page to page of a part that is viewed closely; FALSE if the wanted
 * node is visible, or would be too wide or too narrow. */
static gboolean
pan_to_see (FlamFlameGraph *self, double x, double end)
{
  FlamZoomState now = present_place (self);
  double range = now.to - now.from;

  if (self->shape == FLAM_SHAPE_TREEMAP || (end > now.from && x < now.to) ||
      end - x > range || (end - x) * width_of (self) < range)
    return FALSE;
  look_at (
      self, x >= now.to ? x : end - range, x >= now.to ? x + range : end, TRUE);
  return TRUE;
}

/* The callees of the zoomed node that do not fit; FALSE: all do. */
static gboolean
find_strip (FlamFlameGraph *self, FlamBox *strip)
{
  const FlamLayout *layout = flam_graph_layout (self);

  strip->count = 0;
  for (guint32 i = 0; i < layout->n; i++)
    if (flam_graph_is_strip (&layout->boxes[i]) &&
        self->tree->parent[layout->boxes[i].node] == self->zoom &&
        layout->boxes[i].count > strip->count)
      *strip = layout->boxes[i];
  return strip->count > 0;
}

/* From the view of all callees, the next page shows those that do not fit
 * there. */
void
flam_graph_turn_page (FlamFlameGraph *self, gboolean back)
{
  FlamZoomState now = present_place (self);
  double from, to, range = now.to - now.from;
  FlamBox strip;

  flam_graph_range_of (self, self->zoom, &from, &to);
  if (!back && range >= to - from)
    {
      if (find_strip (self, &strip))
        flam_graph_open_strip (self, &strip);
      return;
    }
  if (self->shape == FLAM_SHAPE_TREEMAP)
    {
      turn_treemap (self, back);
      return;
    }
  if (back ? now.from <= from : now.to >= to)
    return;
  push_place (self);
  from = back ? MAX (now.from - range, from) : MIN (now.to, to - range);
  look_at (self, from, from + range, TRUE);
}

/* The first callee of a node, as an index of the rows, whose right edge is
 * beyond `x`. */
static guint32
callee_at (const FlamRows *rows, guint32 index, double x)
{
  guint32 low = rows->at[index].child, high = rows->at[index + 1].child;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if ((double)(rows->at[middle].x + rows->at[middle].total) > x)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

/* The deepest node from `index` on that has callees and fills a range. */
static guint32
index_filling (const FlamRows *rows, guint32 index, double from, double to)
{
  for (;;)
    {
      guint32 next = callee_at (rows, index, from + 0.5);

      if (next == rows->at[index + 1].child ||
          rows->at[next].child == rows->at[next + 1].child ||
          (double)rows->at[next].x > from + 0.5 ||
          (double)(rows->at[next].x + rows->at[next].total) < to - 0.5)
        return index;
      index = next;
    }
}

gboolean
flam_graph_get_page (FlamFlameGraph *self, FlamGraphPage *page)
{
  const FlamRows *rows = self->rows;
  FlamZoomState now;
  double from, to;
  guint32 index, last;
  FlamBox strip;

  if (self->shape != FLAM_SHAPE_SUNBURST || flam_graph_is_empty (self) ||
      flam_graph_layout (self) == NULL)
    return FALSE;
  now = present_place (self);
  flam_graph_range_of (self, self->zoom, &from, &to);
  index = rows->index[self->zoom];
  if (now.to - now.from >= to - from)
    {
      guint32 n = rows->at[index + 1].child - rows->at[index].child;

      if (!find_strip (self, &strip))
        return FALSE;
      *page = (FlamGraphPage){ n, 0, n, strip.count, FALSE, TRUE };
      return TRUE;
    }
  index = index_filling (rows, index, now.from, now.to);
  last = callee_at (rows, index, now.to - 0.5);
  page->n = rows->at[index + 1].child - rows->at[index].child;
  page->first = callee_at (rows, index, now.from + 0.5) - rows->at[index].child;
  page->end = MIN (last + 1 - rows->at[index].child, page->n);
  page->hidden = 0;
  page->back = now.from > from;
  page->on = now.to < to;
  return TRUE;
}

/* --- zoom ---------------------------------------------------------------- */

#define MAX_HISTORY 100

/* --- zoom ---------------------------------------------------------------- */

static FlamZoomState
present_place (FlamFlameGraph *self)
{
  FlamZoomState state = { self->zoom, self->from, self->to };

  if (flam_graph_is_moving (self))
    {
      state.from = self->motion.from1;
      state.to = self->motion.to1;
    }
  return state;
}

static void
push_zoom (FlamFlameGraph *self, GArray *states)
{
  FlamZoomState state = present_place (self);

  if (states->len >= MAX_HISTORY)
    g_array_remove_index (states, 0);
  g_array_append_val (states, state);
}

/* Appends it to the history. */
static void
push_place (FlamFlameGraph *self)
{
  push_zoom (self, self->history);
  g_array_set_size (self->future, 0);
}

/* Handlers of a zoom may request the same zoom (such as a session that stores
 * it): the view is already moving there, and need not show the whole node. */
static void
tell_zoom (FlamFlameGraph *self, FlamNodeId node)
{
  if (self->zoom == node)
    return;
  self->zoom = node;
  self->telling_zoom = TRUE;
  g_object_notify (G_OBJECT (self), "zoom");
  g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_ZOOM_CHANGED], 0, node);
  self->telling_zoom = FALSE;
}

void
flam_graph_set_zoom (FlamFlameGraph *self,
                     FlamNodeId node,
                     gboolean remember,
                     gboolean animate)
{
  double from, to;
  gboolean there;

  if (flam_graph_is_empty (self) || node >= self->tree->n)
    return;
  flam_graph_range_of (self, node, &from, &to);
  there = flam_graph_is_moving (self)
              ? self->motion.from1 == from && self->motion.to1 == to
              : self->from == from && self->to == to;
  if (node == self->zoom && there)
    return;
  if (remember)
    push_place (self);
  tell_zoom (self, node);
  look_at (self, from, to, animate);
  scroll_to (self, node);
}

void
flam_flame_graph_zoom_to (FlamFlameGraph *self, FlamNodeId node)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (!self->telling_zoom || node != self->zoom)
    flam_graph_set_zoom (self, node, TRUE, TRUE);
}

FlamNodeId
flam_flame_graph_get_zoom (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  return self->zoom;
}

static gboolean
travel (FlamFlameGraph *self, GArray *from, GArray *to)
{
  FlamZoomState state;

  if (flam_graph_is_empty (self) || from->len == 0)
    return FALSE;
  state = g_array_index (from, FlamZoomState, from->len - 1);
  g_array_set_size (from, from->len - 1);
  push_zoom (self, to);
  tell_zoom (self, state.zoom);
  look_at (self, state.from, state.to, TRUE);
  return TRUE;
}

gboolean
flam_flame_graph_back (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  return travel (self, self->history, self->future);
}

gboolean
flam_flame_graph_forward (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  return travel (self, self->future, self->history);
}

/* A caller as wide as its callee would look the same, so it is skipped. */
gboolean
flam_flame_graph_outward (FlamFlameGraph *self)
{
  FlamZoomState now;
  FlamNodeId node;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  if (flam_graph_is_empty (self))
    return FALSE;
  now = present_place (self);
  for (node = self->zoom; node != FLAM_NONE; node = self->tree->parent[node])
    {
      double from, to;

      flam_graph_range_of (self, node, &from, &to);
      if (from <= now.from && to >= now.to && to - from > now.to - now.from)
        break;
    }
  if (node == FLAM_NONE && self->zoom == 0)
    return FALSE;
  flam_graph_set_zoom (self, node != FLAM_NONE ? node : 0, TRUE, TRUE);
  return TRUE;
}

/* --- selection ----------------------------------------------------------- */

void
flam_graph_set_selected (FlamFlameGraph *self, FlamNodeId node)
{
  if (self->selected == node)
    return;
  self->selected = node;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  flam_graph_announce (self);
  g_object_notify (G_OBJECT (self), "selected");
  g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_NODE_SELECTED], 0, node);
}

static gboolean
is_out_of_sight (FlamFlameGraph *self, FlamNodeId node)
{
  FlamBox box;

  return !flam_graph_is_moving (self) &&
         !flam_graph_find_box (self, node, &box);
}

/* A sunburst has no room for all rings, nor a treemap for all boxes, and
 * neither shows the zoomed node's callers. */
static void
bring_out (FlamFlameGraph *self, FlamNodeId node)
{
  gboolean caller = node != self->zoom &&
                    flam_tree_is_ancestor (self->tree, node, self->zoom);

  if (!caller && node != 0 && self->tree->parent[node] != self->zoom &&
      is_out_of_sight (self, node))
    flam_graph_set_zoom (self, self->tree->parent[node], TRUE, TRUE);
  if (!caller && node != 0 && is_out_of_sight (self, node))
    look_at_callee (self, node);
  if (caller || is_out_of_sight (self, node))
    flam_graph_set_zoom (self, node, TRUE, TRUE);
}

/* Zooms out until the node is visible, if it is not. */
static void
reveal (FlamFlameGraph *self, FlamNodeId node)
{
  FlamNodeId zoom = self->zoom;
  double x = (double)flam_rows_x (self->rows, node);
  double end = x + (double)self->tree->total[node];

  while (zoom != 0 && !flam_tree_is_ancestor (self->tree, zoom, node) &&
         !flam_tree_is_ancestor (self->tree, node, zoom))
    zoom = self->tree->parent[zoom];
  if (zoom == self->zoom && pan_to_see (self, x, end))
    {
      scroll_to (self, node);
      return;
    }
  if (zoom != self->zoom || end <= self->from || x >= self->to)
    flam_graph_set_zoom (self, zoom, TRUE, TRUE);
  if (self->shape != FLAM_SHAPE_FLAME)
    bring_out (self, node);
  scroll_to (self, node);
}

void
flam_flame_graph_select_node (FlamFlameGraph *self, FlamNodeId node)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (flam_graph_is_empty (self) || node >= self->tree->n)
    node = FLAM_NONE;
  if (node != FLAM_NONE)
    reveal (self, node);
  flam_graph_set_selected (self, node);
}

FlamId
flam_flame_graph_get_selected (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FLAM_NONE);
  return self->selected;
}

/* --- search -------------------------------------------------------------- */

static void
run_search (FlamFlameGraph *self)
{
  g_clear_pointer (&self->matched, g_free);
  g_clear_pointer (&self->strip.columns, g_free);
  self->matched_weight = 0;
  if (self->search != NULL && !flam_graph_is_empty (self))
    {
      self->matched = g_new0 (guint8, self->tree->n);
      self->matched_weight =
          flam_tree_search (self->tree, self->search, self->matched);
    }
  flam_graph_redraw (self);
  g_object_notify (G_OBJECT (self), "matched");
}

void
flam_flame_graph_set_search (FlamFlameGraph *self, FlamRegex *regex)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (regex == self->search)
    return;
  g_clear_pointer (&self->search, flam_regex_unref);
  if (regex != NULL)
    self->search = flam_regex_ref (regex);
  run_search (self);
}

gint64
flam_flame_graph_get_matched (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  return self->matched_weight;
}

/* Visits matches that are wide enough to be visible when zoomed out, or all
 * matches if there are none of those. */
static gint64
least_match (FlamFlameGraph *self)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  gint64 least = (gint64)((double)self->tree->total[0] / MAX (width, 1) / 2);

  for (guint32 i = 0; i < self->tree->n; i++)
    if (self->matched[i] && self->tree->total[i] >= least)
      return least;
  return 0;
}

static FlamId
find_match (FlamFlameGraph *self, gboolean backward, gint64 least)
{
  guint32 n = self->tree->n;
  guint32 at = self->selected < n ? self->selected : backward ? 0 : n - 1;

  for (guint32 i = 0; i < n; i++)
    {
      at = backward ? (at + n - 1) % n : (at + 1) % n;
      if (self->matched[at] && self->tree->total[at] >= least)
        return at;
    }
  return FLAM_NONE;
}

gboolean
flam_flame_graph_next_match (FlamFlameGraph *self, gboolean backward)
{
  FlamId match;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  if (self->matched == NULL)
    return FALSE;
  match = find_match (self, backward, least_match (self));
  if (match == FLAM_NONE)
    return FALSE;
  flam_flame_graph_select_node (self, match);
  return TRUE;
}

guint
flam_flame_graph_count_matches (FlamFlameGraph *self, guint *n)
{
  guint at = 0;
  gint64 least;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  *n = 0;
  if (self->matched == NULL)
    return 0;
  least = least_match (self);
  for (guint32 i = 0; i < self->tree->n; i++)
    if (self->matched[i] && self->tree->total[i] >= least)
      {
        (*n)++;
        if (i == self->selected)
          at = *n;
      }
  return at;
}

/* --- another tree -------------------------------------------------------- */

/* The state that is carried over from the old tree to the new one. */
typedef struct
{
  FlamNodeId zoom, selected;
  double from, to; /* of the zoomed node's range: 0, 1 shows the whole node */
} Kept;

static void
as_share (FlamFlameGraph *self, FlamZoomState *state)
{
  double from, to;

  flam_graph_range_of (self, state->zoom, &from, &to);
  state->from = (state->from - from) / (to - from);
  state->to = (state->to - from) / (to - from);
}

static void
as_range (FlamFlameGraph *self, FlamZoomState *state)
{
  double from, to;

  flam_graph_range_of (self, state->zoom, &from, &to);
  state->to = from + state->to * (to - from);
  state->from = from + state->from * (to - from);
}

/* If a node is gone, its state moves to its nearest ancestor, whole. */
static void
carry_zoom (FlamFlameGraph *self, FlamZoomState *state, FlamTree *tree)
{
  FlamNodeId zoom = flam_tree_find_path (self->tree, state->zoom, tree);

  as_share (self, state);
  if (tree->depth[zoom] != self->tree->depth[state->zoom])
    {
      state->from = 0;
      state->to = 1;
    }
  state->zoom = zoom;
}

static FlamId
carry_selected (FlamFlameGraph *self, FlamTree *tree)
{
  FlamNodeId node = self->selected;
  FlamId found;

  if (node == FLAM_NONE)
    return FLAM_NONE;
  found = flam_tree_find_path (self->tree, node, tree);
  return tree->depth[found] == self->tree->depth[node] ? found : FLAM_NONE;
}

static void
swap_tree (FlamFlameGraph *self, FlamTree *tree, FlamRows *rows)
{
  gboolean same_profile = self->tree != NULL && tree != NULL &&
                          self->tree->profile == tree->profile;

  /* Strengths of self costs are relative to the greatest one in the tree, and
   * the next tree may be at the address of the last one. */
  if (!same_profile || self->palette_mode == FLAM_PALETTE_SELF)
    flam_graph_forget_palette (self);
  g_clear_pointer (&self->legend, flam_palette_legend_free);
  flam_graph_forget_layout (self);
  g_clear_pointer (&self->rows, flam_rows_unref);
  g_clear_pointer (&self->tree, flam_tree_unref);
  if (tree == NULL)
    return;
  self->tree = flam_tree_ref (tree);
  self->rows = rows != NULL ? flam_rows_ref (rows) : flam_rows_new (tree);
}

static void
forget_zooms (FlamFlameGraph *self)
{
  g_array_set_size (self->history, 0);
  g_array_set_size (self->future, 0);
  self->selected = FLAM_NONE;
  self->hovered = FLAM_NONE;
  self->pointed = FLAM_NONE;
  self->pressed = FLAM_NONE;
  self->zoom = 0;
  self->from = 0;
  self->to = self->tree != NULL && self->tree->n > 0
                 ? (double)self->tree->total[0]
                 : 1;
}

static void
replace_tree (FlamFlameGraph *self, FlamTree *tree, FlamRows *rows)
{
  FlamZoomState now = { self->zoom, self->from, self->to };
  FlamId selected = carry_selected (self, tree);

  carry_zoom (self, &now, tree);
  for (guint i = 0; i < self->history->len; i++)
    carry_zoom (self, &g_array_index (self->history, FlamZoomState, i), tree);
  for (guint i = 0; i < self->future->len; i++)
    carry_zoom (self, &g_array_index (self->future, FlamZoomState, i), tree);
  swap_tree (self, tree, rows);
  for (guint i = 0; i < self->history->len; i++)
    as_range (self, &g_array_index (self->history, FlamZoomState, i));
  for (guint i = 0; i < self->future->len; i++)
    as_range (self, &g_array_index (self->future, FlamZoomState, i));
  as_range (self, &now);
  self->zoom = now.zoom;
  self->from = now.from;
  self->to = now.to;
  self->selected = selected;
  self->hovered = FLAM_NONE;
  self->pointed = FLAM_NONE;
  self->pressed = FLAM_NONE;
}

void
flam_flame_graph_set_tree (FlamFlameGraph *self, FlamTree *tree, FlamRows *rows)
{
  FlamNodeId zoom, selected;

  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (tree == self->tree)
    return;
  if (flam_graph_is_moving (self))
    {
      self->from = self->motion.from1;
      self->to = self->motion.to1;
      flam_graph_stop (self);
    }
  if (self->hovered != FLAM_NONE)
    {
      self->hovered = FLAM_NONE;
      self->pointed = FLAM_NONE;
      g_signal_emit (
          self, flam_graph_signals[FLAM_GRAPH_NODE_HOVERED], 0, FLAM_NONE);
    }
  zoom = self->zoom;
  selected = self->selected;
  if (flam_graph_is_empty (self) || tree == NULL || tree->n == 0 ||
      tree->total[0] <= 0)
    {
      swap_tree (self, tree, rows);
      forget_zooms (self);
      self->scroll = 0;
    }
  else
    replace_tree (self, tree, rows);

  flam_graph_forget_rows (self);
  run_search (self);
  flam_graph_relayout (self);
  flam_graph_adjust (self);
  flam_graph_announce (self);
  g_object_notify (G_OBJECT (self), "tree");
  flam_graph_hover_again (self);
  if (zoom != self->zoom || tree == NULL)
    {
      self->telling_zoom = TRUE;
      g_signal_emit (
          self, flam_graph_signals[FLAM_GRAPH_ZOOM_CHANGED], 0, self->zoom);
      self->telling_zoom = FALSE;
    }
  if (selected != FLAM_NONE && self->selected == FLAM_NONE)
    g_signal_emit (
        self, flam_graph_signals[FLAM_GRAPH_NODE_SELECTED], 0, FLAM_NONE);
}
