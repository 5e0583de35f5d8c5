/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include <adwaita.h>
#include <math.h>

#define WHEEL_FACTOR 0.8
#define KEY_FACTOR 0.7

/* --- pointer ------------------------------------------------------------- */

static void
on_motion (GtkEventControllerMotion *controller,
           double x,
           double y,
           FlamFlameGraph *self)
{
  gboolean moved = x != self->pointer_x || y != self->pointer_y;

  self->pointer_x = x;
  self->pointer_y = y;
  self->pointer_inside = TRUE;
  flam_graph_hover_again (self);
  if (moved)
    flam_graph_show_tip_soon (self);
}

static void
on_leave (GtkEventControllerMotion *controller, FlamFlameGraph *self)
{
  self->pointer_inside = FALSE;
  flam_graph_hide_tip (self);
  flam_graph_hover_again (self);
}

static void
on_pressed (GtkGestureClick *click,
            int n_press,
            double x,
            double y,
            FlamFlameGraph *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  flam_graph_hide_tip (self);
  if (n_press == 1)
    self->pressed = flam_flame_graph_get_node_at (self, x, y);
}

/* The second click of a double click applies to the node of the first one: the
 * picture has moved under the pointer since. */
static void
on_released (GtkGestureClick *click,
             int n_press,
             double x,
             double y,
             FlamFlameGraph *self)
{
  FlamNodeId node = self->pressed;

  if (node == FLAM_NONE)
    {
      const FlamLayout *layout = flam_graph_layout (self);
      const FlamBox *box =
          layout != NULL ? flam_layout_hit (layout, x, y) : NULL;

      if (box != NULL && n_press == 1)
        flam_graph_open_strip (self, box);
      return;
    }
  if (n_press == 1)
    {
      gboolean out = self->shape != FLAM_SHAPE_FLAME && node == self->zoom;

      flam_graph_set_selected (self, node);
      /* Its callers are not drawn, so they cannot be clicked. */
      if (out)
        flam_flame_graph_outward (self);
      else
        flam_graph_set_zoom (self, node, TRUE, TRUE);
    }
  else if (n_press == 2)
    g_signal_emit (
        self, flam_graph_signals[FLAM_GRAPH_NODE_ACTIVATED], 0, node);
}

static void
open_menu (FlamFlameGraph *self, FlamNodeId node, double x, double y)
{
  if (node == FLAM_NONE)
    return;
  flam_graph_hide_tip (self);
  flam_graph_set_selected (self, node);
  g_signal_emit (
      self, flam_graph_signals[FLAM_GRAPH_CONTEXT_MENU], 0, node, x, y);
}

static void
on_secondary (GtkGestureClick *click,
              int n_press,
              double x,
              double y,
              FlamFlameGraph *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  gtk_gesture_set_state (GTK_GESTURE (click), GTK_EVENT_SEQUENCE_CLAIMED);
  open_menu (self, flam_flame_graph_get_node_at (self, x, y), x, y);
}

static void
on_back_button (GtkGestureClick *click,
                int n_press,
                double x,
                double y,
                FlamFlameGraph *self)
{
  flam_flame_graph_back (self);
}

static void
on_forward_button (GtkGestureClick *click,
                   int n_press,
                   double x,
                   double y,
                   FlamFlameGraph *self)
{
  flam_flame_graph_forward (self);
}

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, FlamFlameGraph *self)
{
  /* With Ctrl, the frame is dragged out of the window. */
  if (gtk_event_controller_get_current_event_state (
          GTK_EVENT_CONTROLLER (drag)) &
      GDK_CONTROL_MASK)
    gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_DENIED);
  self->drag_from = self->from;
  self->drag_scroll = self->scroll;
}

static void
on_drag_update (GtkGestureDrag *drag,
                double dx,
                double dy,
                FlamFlameGraph *self)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double across, along;

  if (flam_graph_is_empty (self) || width <= 0 ||
      self->shape != FLAM_SHAPE_FLAME)
    return;
  if (gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (drag)) != NULL &&
      gtk_gesture_get_sequence_state (GTK_GESTURE (drag),
                                      gtk_gesture_single_get_current_sequence (
                                          GTK_GESTURE_SINGLE (drag))) !=
          GTK_EVENT_SEQUENCE_CLAIMED)
    {
      if (!gtk_drag_check_threshold (GTK_WIDGET (self), 0, 0, (int)dx, (int)dy))
        return;
      gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_CLAIMED);
      gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "grabbing");
      self->dragging = TRUE;
    }
  across = self->drag_from - dx * (self->to - self->from) / width;
  along = self->direction == FLAM_DIRECTION_FLAME ? self->drag_scroll + dy
                                                  : self->drag_scroll - dy;
  flam_graph_pan_to (self, across, MAX (along, 0));
}

static void
on_drag_end (GtkGestureDrag *drag, double dx, double dy, FlamFlameGraph *self)
{
  gtk_widget_set_cursor (GTK_WIDGET (self), NULL);
  self->dragging = FALSE;
  flam_graph_hover_again (self);
}

/* At the first or the last row, the scrolled window would draw a glow for half
 * a second, which takes five times as much CPU as a step that scrolls. It is
 * for fingers, which feel no notch. */
static gboolean
is_past_end (FlamFlameGraph *self,
             GtkEventControllerScroll *controller,
             double dy)
{
  GtkAdjustment *down = self->vadjustment;
  double value = gtk_adjustment_get_value (down);

  return gtk_event_controller_scroll_get_unit (controller) ==
             GDK_SCROLL_UNIT_WHEEL &&
         (dy < 0   ? value <= gtk_adjustment_get_lower (down)
          : dy > 0 ? value >= gtk_adjustment_get_upper (down) -
                                  gtk_adjustment_get_page_size (down)
                   : FALSE);
}

static gboolean
on_scroll (GtkEventControllerScroll *controller,
           double dx,
           double dy,
           FlamFlameGraph *self)
{
  GdkModifierType state = gtk_event_controller_get_current_event_state (
      GTK_EVENT_CONTROLLER (controller));
  double range = self->to - self->from;

  if (flam_graph_is_empty (self))
    return FALSE;
  if (state & GDK_CONTROL_MASK)
    {
      flam_graph_zoom_by (self, self->pointer_x, pow (WHEEL_FACTOR, -dy));
      return TRUE;
    }
  if (state & GDK_SHIFT_MASK && dx == 0)
    {
      dx = dy;
      dy = 0;
    }
  if (dx == 0 && is_past_end (self, controller, dy))
    return TRUE;
  if (dx == 0 || self->shape != FLAM_SHAPE_FLAME ||
      range >= (double)self->tree->total[0])
    return FALSE;
  flam_graph_pan_to (self, self->from + dx * range * 0.1, self->scroll);
  return dy == 0;
}

static void
on_pinch_begin (GtkGesture *pinch,
                GdkEventSequence *sequence,
                FlamFlameGraph *self)
{
  self->pinch_range = self->to - self->from;
}

static void
on_pinch (GtkGestureZoom *pinch, double scale, FlamFlameGraph *self)
{
  double range = self->to - self->from;
  double x = self->pointer_x, y;

  if (flam_graph_is_empty (self) || scale <= 0 ||
      self->shape != FLAM_SHAPE_FLAME)
    return;
  gtk_gesture_get_bounding_box_center (GTK_GESTURE (pinch), &x, &y);
  flam_graph_zoom_by (self, x, self->pinch_range / scale / range);
}

/* --- keys ---------------------------------------------------------------- */

static void
walk_to (FlamFlameGraph *self, FlamNodeId node)
{
  if (node == FLAM_NONE)
    return;
  flam_flame_graph_select_node (self, node);
  flam_graph_open_narrow (self, node);
}

static FlamNodeId
previous_sibling (const FlamTree *tree, FlamNodeId node)
{
  FlamId parent = tree->parent[node];
  FlamNodeId sibling, next;

  if (parent == FLAM_NONE)
    return FLAM_NONE;
  sibling = flam_tree_first_child (tree, parent);
  if (sibling == node)
    return FLAM_NONE;
  while ((next = tree->subtree_end[sibling]) != node)
    sibling = next;
  return sibling;
}

/* Siblings are adjacent in a row, so the last one is found by its position. */
static FlamNodeId
last_sibling (FlamFlameGraph *self, FlamNodeId node)
{
  FlamId parent = self->tree->parent[node];

  if (parent == FLAM_NONE)
    return node;
  return self->rows->at[self->rows->at[self->rows->index[parent] + 1].child - 1]
      .node;
}

static FlamNodeId
first_sibling (FlamFlameGraph *self, FlamNodeId node)
{
  FlamId parent = self->tree->parent[node];

  return parent == FLAM_NONE ? node : parent + 1;
}

static FlamId
neighbour (FlamFlameGraph *self, guint key)
{
  const FlamTree *tree = self->tree;
  FlamNodeId node = self->selected;
  gboolean away = (key == GDK_KEY_Up || key == GDK_KEY_KP_Up) ==
                  (self->direction == FLAM_DIRECTION_FLAME &&
                   self->shape == FLAM_SHAPE_FLAME);

  switch (key)
    {
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      return away ? flam_tree_first_child (tree, node) : tree->parent[node];
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      return previous_sibling (tree, node);
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      return flam_tree_next_sibling (tree, node);
    case GDK_KEY_Home:
    case GDK_KEY_KP_Home:
      return first_sibling (self, node);
    default:
      return last_sibling (self, node);
    }
}

static void
page (FlamFlameGraph *self, double pages)
{
  double value, size;

  if (self->shape != FLAM_SHAPE_FLAME)
    {
      flam_graph_turn_page (self, pages < 0);
      return;
    }
  value = gtk_adjustment_get_value (self->vadjustment);
  size = gtk_adjustment_get_page_increment (self->vadjustment);

  gtk_adjustment_set_value (self->vadjustment, value + pages * size);
}

/* The visible part of the selected box; otherwise the whole view. */
static FlamRect
selected_rect (FlamFlameGraph *self)
{
  FlamViewport viewport = flam_graph_viewport (self);
  FlamRect rect = { 0, 0, viewport.width, viewport.height };
  FlamBox box;

  if (self->selected != FLAM_NONE &&
      flam_graph_find_box (self, self->selected, &box))
    rect = flam_layout_bounds (flam_graph_layout (self), &box);
  return rect;
}

static double
middle_of_selected (FlamFlameGraph *self)
{
  FlamRect rect = selected_rect (self);

  return CLAMP (
      rect.x + rect.width / 2, 0, gtk_widget_get_width (GTK_WIDGET (self)));
}

static void
open_menu_at_selected (FlamFlameGraph *self)
{
  FlamRect rect = selected_rect (self);

  if (self->selected != FLAM_NONE)
    open_menu (self,
               self->selected,
               middle_of_selected (self),
               CLAMP (rect.y + rect.height / 2,
                      0,
                      gtk_widget_get_height (GTK_WIDGET (self))));
}

static gboolean
walk (FlamFlameGraph *self, guint key)
{
  if (self->selected == FLAM_NONE)
    walk_to (self, self->zoom);
  else
    walk_to (self, neighbour (self, key));
  return TRUE;
}

static gboolean
on_key (GtkEventControllerKey *keys,
        guint key,
        guint code,
        GdkModifierType state,
        FlamFlameGraph *self)
{
  GdkModifierType held =
      state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK);

  flam_graph_hide_tip (self);
  if (flam_graph_is_empty (self) || held != 0)
    return FALSE;
  switch (key)
    {
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
    case GDK_KEY_Home:
    case GDK_KEY_KP_Home:
    case GDK_KEY_End:
    case GDK_KEY_KP_End:
      return walk (self, key);
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
    case GDK_KEY_ISO_Enter:
      if (self->selected != FLAM_NONE)
        flam_flame_graph_zoom_to (self, self->selected);
      return TRUE;
    case GDK_KEY_space:
    case GDK_KEY_KP_Space:
      if (self->selected == FLAM_NONE)
        walk_to (self, self->zoom);
      else
        g_signal_emit (self,
                       flam_graph_signals[FLAM_GRAPH_NODE_SELECTED],
                       0,
                       self->selected);
      return TRUE;
    case GDK_KEY_Escape:
      return flam_flame_graph_outward (self);
    case GDK_KEY_BackSpace:
      return flam_flame_graph_back (self);
    case GDK_KEY_Page_Up:
    case GDK_KEY_KP_Page_Up:
      page (self, -1);
      return TRUE;
    case GDK_KEY_Page_Down:
    case GDK_KEY_KP_Page_Down:
      page (self, 1);
      return TRUE;
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add:
      flam_graph_zoom_by (self, middle_of_selected (self), KEY_FACTOR);
      return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract:
      flam_graph_zoom_by (self, middle_of_selected (self), 1 / KEY_FACTOR);
      return TRUE;
    case GDK_KEY_Menu:
      open_menu_at_selected (self);
      return TRUE;
    case GDK_KEY_F10:
      if (!(state & GDK_SHIFT_MASK))
        return FALSE;
      open_menu_at_selected (self);
      return TRUE;
    default:
      return FALSE;
    }
}

/* --- wiring -------------------------------------------------------------- */

static GtkGesture *
add_click (FlamFlameGraph *self, guint button)
{
  GtkGesture *click = gtk_gesture_click_new ();

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), button);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  return click;
}

static void
add_clicks (FlamFlameGraph *self)
{
  GtkGesture *secondary = add_click (self, GDK_BUTTON_SECONDARY);
  GtkGesture *back = add_click (self, 8);
  GtkGesture *forward = add_click (self, 9);

  self->click = add_click (self, GDK_BUTTON_PRIMARY);
  g_signal_connect (self->click, "pressed", G_CALLBACK (on_pressed), self);
  g_signal_connect (self->click, "released", G_CALLBACK (on_released), self);
  g_signal_connect (secondary, "pressed", G_CALLBACK (on_secondary), self);
  g_signal_connect (back, "pressed", G_CALLBACK (on_back_button), self);
  g_signal_connect (forward, "pressed", G_CALLBACK (on_forward_button), self);
}

static void
add_drags (FlamFlameGraph *self)
{
  GtkGesture *pinch = gtk_gesture_zoom_new ();

  self->drag = gtk_gesture_drag_new ();
  g_signal_connect (self->drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (
      self->drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect (self->drag, "drag-end", G_CALLBACK (on_drag_end), self);
  g_signal_connect (pinch, "begin", G_CALLBACK (on_pinch_begin), self);
  g_signal_connect (pinch, "scale-changed", G_CALLBACK (on_pinch), self);
  gtk_widget_add_controller (GTK_WIDGET (self),
                             GTK_EVENT_CONTROLLER (self->drag));
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (pinch));
}

static void
add_input (FlamFlameGraph *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  add_clicks (self);
  add_drags (self);
  self->motion_controller = gtk_event_controller_motion_new ();
  g_signal_connect (
      self->motion_controller, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (
      self->motion_controller, "leave", G_CALLBACK (on_leave), self);
  gtk_widget_add_controller (widget, self->motion_controller);
  self->scroll_controller =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  g_signal_connect (
      self->scroll_controller, "scroll", G_CALLBACK (on_scroll), self);
  gtk_widget_add_controller (widget, self->scroll_controller);
  self->keys = gtk_event_controller_key_new ();
  g_signal_connect (self->keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (widget, self->keys);
}

/* --- object -------------------------------------------------------------- */

#define LEGEND_ENTRIES 12

G_DEFINE_FINAL_TYPE_WITH_CODE (FlamFlameGraph,
                               flam_flame_graph,
                               GTK_TYPE_WIDGET,
                               G_IMPLEMENT_INTERFACE (GTK_TYPE_SCROLLABLE,
                                                      NULL))

enum
{
  PROP_0,
  PROP_TREE,
  PROP_ZOOM,
  PROP_SELECTED,
  PROP_SHAPE,
  PROP_DIRECTION,
  PROP_PALETTE,
  PROP_DARK,
  PROP_MATCHED,
  N_PROPS,
  PROP_HADJUSTMENT = N_PROPS,
  PROP_VADJUSTMENT,
  PROP_HSCROLL_POLICY,
  PROP_VSCROLL_POLICY,
};

static GParamSpec *properties[N_PROPS];

static void
notify (FlamFlameGraph *self, guint property)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

/* --- tree -------------------------------------------------------------- */

FlamTree *
flam_flame_graph_get_tree (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), NULL);
  return self->tree;
}

/* --- looks --------------------------------------------------------------- */

void
flam_flame_graph_set_direction (FlamFlameGraph *self, FlamDirection direction)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (direction == self->direction)
    return;
  self->direction = direction;
  flam_graph_adjust (self);
  flam_graph_relayout (self);
  notify (self, PROP_DIRECTION);
}

void
flam_flame_graph_set_shape (FlamFlameGraph *self, FlamShape shape)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (shape == self->shape)
    return;
  flam_graph_stop (self);
  self->shape = shape;
  self->scroll = 0;
  self->rings = 0;
  if (!flam_graph_is_empty (self))
    flam_graph_range_of (self, self->zoom, &self->from, &self->to);
  flam_graph_relayout (self);
  flam_graph_adjust (self);
  flam_graph_announce (self);
  notify (self, PROP_SHAPE);
}

void
flam_flame_graph_set_palette (FlamFlameGraph *self, FlamPaletteMode mode)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (mode == self->palette_mode)
    return;
  self->palette_mode = mode;
  flam_graph_forget_palette (self);
  flam_graph_redraw (self);
  notify (self, PROP_PALETTE);
}

void
flam_flame_graph_set_rules (FlamFlameGraph *self, FlamColorRules *rules)
{
  FlamColorRules *before;

  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  before = self->rules;
  if (rules == before)
    return;
  self->rules = rules != NULL ? flam_color_rules_ref (rules) : NULL;
  flam_graph_forget_palette (self);
  g_clear_pointer (&before, flam_color_rules_unref);
  flam_graph_redraw (self);
  notify (self, PROP_PALETTE);
}

static void
use_dark (FlamFlameGraph *self, gboolean dark)
{
  if (dark == self->dark)
    return;
  self->dark = dark;
  flam_graph_forget_palette (self);
  flam_graph_redraw (self);
  notify (self, PROP_DARK);
}

void
flam_flame_graph_set_dark (FlamFlameGraph *self, gboolean dark)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  self->dark_is_set = TRUE;
  use_dark (self, !!dark);
}

static void
follow_desktop (AdwStyleManager *manager,
                GParamSpec *property,
                FlamFlameGraph *self)
{
  if (!self->dark_is_set)
    use_dark (self, adw_style_manager_get_dark (manager));
}

GPtrArray *
flam_flame_graph_get_legend (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), NULL);
  if (flam_graph_is_empty (self))
    return g_ptr_array_new ();
  if (self->legend == NULL)
    self->legend =
        flam_palette_legend_new (flam_graph_palette (self), self->tree);
  return flam_palette_legend_entries (self->legend, self->zoom, LEGEND_ENTRIES);
}

/* --- the visible range
 * ----------------------------------------------------- */

gboolean
flam_flame_graph_is_moving (FlamFlameGraph *self)
{
  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), FALSE);
  return flam_graph_is_moving (self);
}

gint64
flam_flame_graph_get_hidden (FlamFlameGraph *self, gint64 *in_view)
{
  const FlamLayout *layout;

  g_return_val_if_fail (FLAM_IS_FLAME_GRAPH (self), 0);
  layout = flam_graph_layout (self);
  if (in_view != NULL)
    *in_view = layout != NULL ? layout->in_view : 0;
  return layout != NULL ? layout->hidden : 0;
}

static double
rows_height (FlamFlameGraph *self)
{
  return flam_graph_whole_rows (self) * flam_graph_row_height (self);
}

void
flam_flame_graph_get_view (FlamFlameGraph *self, FlamView *view)
{
  double whole, height, page, far;

  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  *view = (FlamView){ 0, 0, 1, 1 };
  if (flam_graph_is_empty (self) || self->shape != FLAM_SHAPE_FLAME)
    return;
  whole = (double)self->tree->total[0];
  height = rows_height (self);
  page = gtk_widget_get_height (GTK_WIDGET (self));
  view->x = self->from / whole;
  view->width = (self->to - self->from) / whole;
  view->height = MIN (page / height, 1);
  far = CLAMP (self->scroll / height, 0, 1 - view->height);
  view->y =
      self->direction == FLAM_DIRECTION_FLAME ? 1 - view->height - far : far;
}

void
flam_flame_graph_set_view (FlamFlameGraph *self, const FlamView *view)
{
  double far;

  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (flam_graph_is_empty (self) || self->shape != FLAM_SHAPE_FLAME)
    return;
  far = self->direction == FLAM_DIRECTION_FLAME ? 1 - view->height - view->y
                                                : view->y;
  flam_graph_pan_to (self,
                     view->x * (double)self->tree->total[0],
                     MAX (far, 0) * rows_height (self));
}

/* --- the object ---------------------------------------------------------- */

static void
set_adjustment (FlamFlameGraph *self,
                GtkAdjustment **field,
                GtkAdjustment *adjustment)
{
  if (*field == adjustment && adjustment != NULL)
    return;
  if (*field != NULL)
    g_signal_handlers_disconnect_by_func (*field, flam_graph_on_scrolled, self);
  g_clear_object (field);
  if (adjustment == NULL)
    adjustment = gtk_adjustment_new (0, 0, 0, 0, 0, 0);
  *field = g_object_ref_sink (adjustment);
  if (field == &self->vadjustment)
    {
      g_signal_connect_swapped (adjustment,
                                "value-changed",
                                G_CALLBACK (flam_graph_on_scrolled),
                                self);
      flam_graph_adjust (self);
    }
}

static void
flam_flame_graph_set_property (GObject *object,
                               guint id,
                               const GValue *value,
                               GParamSpec *pspec)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (object);

  switch (id)
    {
    case PROP_SHAPE:
      flam_flame_graph_set_shape (self, g_value_get_int (value));
      break;
    case PROP_DIRECTION:
      flam_flame_graph_set_direction (self, g_value_get_int (value));
      break;
    case PROP_PALETTE:
      flam_flame_graph_set_palette (self, g_value_get_int (value));
      break;
    case PROP_DARK:
      flam_flame_graph_set_dark (self, g_value_get_boolean (value));
      break;
    case PROP_ZOOM:
      flam_flame_graph_zoom_to (self, g_value_get_uint (value));
      break;
    case PROP_SELECTED:
      flam_flame_graph_select_node (self, g_value_get_uint (value));
      break;
    case PROP_HADJUSTMENT:
      set_adjustment (self, &self->hadjustment, g_value_get_object (value));
      break;
    case PROP_VADJUSTMENT:
      set_adjustment (self, &self->vadjustment, g_value_get_object (value));
      break;
    case PROP_HSCROLL_POLICY:
      self->hpolicy = g_value_get_enum (value);
      break;
    case PROP_VSCROLL_POLICY:
      self->vpolicy = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
flam_flame_graph_get_property (GObject *object,
                               guint id,
                               GValue *value,
                               GParamSpec *pspec)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (object);

  switch (id)
    {
    case PROP_TREE:
      g_value_set_pointer (value, self->tree);
      break;
    case PROP_ZOOM:
      g_value_set_uint (value, self->zoom);
      break;
    case PROP_SELECTED:
      g_value_set_uint (value, self->selected);
      break;
    case PROP_SHAPE:
      g_value_set_int (value, self->shape);
      break;
    case PROP_DIRECTION:
      g_value_set_int (value, self->direction);
      break;
    case PROP_PALETTE:
      g_value_set_int (value, self->palette_mode);
      break;
    case PROP_DARK:
      g_value_set_boolean (value, self->dark);
      break;
    case PROP_MATCHED:
      g_value_set_int64 (value, self->matched_weight);
      break;
    case PROP_HADJUSTMENT:
      g_value_set_object (value, self->hadjustment);
      break;
    case PROP_VADJUSTMENT:
      g_value_set_object (value, self->vadjustment);
      break;
    case PROP_HSCROLL_POLICY:
      g_value_set_enum (value, self->hpolicy);
      break;
    case PROP_VSCROLL_POLICY:
      g_value_set_enum (value, self->vpolicy);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
flam_flame_graph_dispose (GObject *object)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (object);

  flam_graph_clear_view (self);
  if (self->vadjustment != NULL)
    g_signal_handlers_disconnect_by_func (
        self->vadjustment, flam_graph_on_scrolled, self);
  g_clear_object (&self->hadjustment);
  g_clear_object (&self->vadjustment);
  G_OBJECT_CLASS (flam_flame_graph_parent_class)->dispose (object);
}

static void
flam_flame_graph_finalize (GObject *object)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (object);

  g_clear_pointer (&self->rules, flam_color_rules_unref);
  g_clear_pointer (&self->rows, flam_rows_unref);
  g_clear_pointer (&self->tree, flam_tree_unref);
  g_clear_pointer (&self->search, flam_regex_unref);
  g_clear_pointer (&self->matched, g_free);
  g_clear_pointer (&self->strip.columns, g_free);
  flam_graph_forget_pixels (self);
  g_array_unref (self->history);
  g_array_unref (self->future);
  g_free (self->title);
  G_OBJECT_CLASS (flam_flame_graph_parent_class)->finalize (object);
}

static void
flam_flame_graph_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  gboolean wide = orientation == GTK_ORIENTATION_HORIZONTAL;

  *minimum = 80;
  *natural = wide ? 600 : 300;
}

static void
flam_flame_graph_size_allocate (GtkWidget *widget,
                                int width,
                                int height,
                                int baseline)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (widget);

  flam_graph_forget_rows (self);
  flam_graph_relayout (self);
  flam_graph_adjust (self);
  flam_graph_scroll_if_later (self);
}

/* The pixels are several MB, and drawn again within a millisecond or two. */
static void
flam_flame_graph_unmap (GtkWidget *widget)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (widget);

  GTK_WIDGET_CLASS (flam_flame_graph_parent_class)->unmap (widget);
  flam_graph_forget_pixels (self);
}

static void
flam_flame_graph_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (flam_flame_graph_parent_class)
      ->css_changed (widget, change);
  flam_graph_restyle (FLAM_FLAME_GRAPH (widget));
}

static void
add_properties (GObjectClass *class)
{
  const GParamFlags flags =
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  const GParamFlags read = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  properties[PROP_TREE] = g_param_spec_pointer ("tree", NULL, NULL, read);
  properties[PROP_ZOOM] =
      g_param_spec_uint ("zoom", NULL, NULL, 0, G_MAXUINT, 0, flags);
  properties[PROP_SELECTED] = g_param_spec_uint (
      "selected", NULL, NULL, 0, G_MAXUINT, FLAM_NONE, flags);
  properties[PROP_SHAPE] = g_param_spec_int (
      "shape", NULL, NULL, 0, FLAM_N_SHAPES - 1, FLAM_SHAPE_FLAME, flags);
  properties[PROP_DIRECTION] = g_param_spec_int ("direction",
                                                 NULL,
                                                 NULL,
                                                 0,
                                                 FLAM_DIRECTION_ICICLE,
                                                 FLAM_DIRECTION_FLAME,
                                                 flags);
  properties[PROP_PALETTE] = g_param_spec_int (
      "palette", NULL, NULL, 0, FLAM_N_PALETTES - 1, FLAM_PALETTE_CODE, flags);
  properties[PROP_DARK] =
      g_param_spec_boolean ("dark", NULL, NULL, FALSE, flags);
  properties[PROP_MATCHED] =
      g_param_spec_int64 ("matched", NULL, NULL, 0, G_MAXINT64, 0, read);
  g_object_class_install_properties (class, N_PROPS, properties);
  g_object_class_override_property (class, PROP_HADJUSTMENT, "hadjustment");
  g_object_class_override_property (class, PROP_VADJUSTMENT, "vadjustment");
  g_object_class_override_property (
      class, PROP_HSCROLL_POLICY, "hscroll-policy");
  g_object_class_override_property (
      class, PROP_VSCROLL_POLICY, "vscroll-policy");
}

static void
add_signal (GObjectClass *class, guint signal, const char *name, guint n)
{
  flam_graph_signals[signal] = g_signal_new (name,
                                             G_TYPE_FROM_CLASS (class),
                                             G_SIGNAL_RUN_LAST,
                                             0,
                                             NULL,
                                             NULL,
                                             NULL,
                                             G_TYPE_NONE,
                                             n,
                                             G_TYPE_UINT,
                                             G_TYPE_DOUBLE,
                                             G_TYPE_DOUBLE);
}

static void
flam_flame_graph_class_init (FlamFlameGraphClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->set_property = flam_flame_graph_set_property;
  object_class->get_property = flam_flame_graph_get_property;
  object_class->dispose = flam_flame_graph_dispose;
  object_class->finalize = flam_flame_graph_finalize;
  widget_class->measure = flam_flame_graph_measure;
  widget_class->size_allocate = flam_flame_graph_size_allocate;
  widget_class->snapshot = flam_graph_snapshot;
  widget_class->unmap = flam_flame_graph_unmap;
  widget_class->css_changed = flam_flame_graph_css_changed;
  add_properties (object_class);
  add_signal (object_class, FLAM_GRAPH_NODE_HOVERED, "node-hovered", 1);
  add_signal (object_class, FLAM_GRAPH_NODE_SELECTED, "node-selected", 1);
  add_signal (object_class, FLAM_GRAPH_NODE_ACTIVATED, "node-activated", 1);
  add_signal (object_class, FLAM_GRAPH_ZOOM_CHANGED, "zoom-changed", 1);
  add_signal (object_class, FLAM_GRAPH_CONTEXT_MENU, "context-menu", 3);
  add_signal (object_class, FLAM_GRAPH_DRAWN_CHANGED, "drawn-changed", 0);
  add_signal (object_class, FLAM_GRAPH_RULES_TRIED, "rules-tried", 0);
  gtk_widget_class_set_css_name (widget_class, "flamegraph");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
flam_flame_graph_init (FlamFlameGraph *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  self->direction = FLAM_DIRECTION_FLAME;
  self->history = g_array_new (FALSE, FALSE, sizeof (FlamZoomState));
  self->future = g_array_new (FALSE, FALSE, sizeof (FlamZoomState));
  self->to = 1;
  self->selected = FLAM_NONE;
  self->hovered = FLAM_NONE;
  self->pressed = FLAM_NONE;
  self->pointed = FLAM_NONE;
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);
  add_input (self);
  flam_graph_announce (self);
  g_signal_connect (
      self, "notify::has-focus", G_CALLBACK (gtk_widget_queue_draw), NULL);
  g_signal_connect_object (self,
                           "notify::scale-factor",
                           G_CALLBACK (flam_graph_redraw),
                           self,
                           G_CONNECT_SWAPPED);
  if (adw_is_initialized ())
    {
      AdwStyleManager *manager = adw_style_manager_get_default ();

      g_signal_connect_object (
          manager, "notify::dark", G_CALLBACK (follow_desktop), self, 0);
      follow_desktop (manager, NULL, self);
    }
}

GtkWidget *
flam_flame_graph_new (void)
{
  return g_object_new (FLAM_TYPE_FLAME_GRAPH, NULL);
}
