/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include <math.h>

#define WHEEL_FACTOR 0.8
#define KEY_FACTOR 0.7

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
hover (FlamFlameGraph *self, FlamId node)
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
    self->pressed = node_at (self, x, y);
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
  FlamId node = self->pressed;

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
open_menu (FlamFlameGraph *self, FlamId node, double x, double y)
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
  open_menu (self, node_at (self, x, y), x, y);
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
  /* With Ctrl the frame is dragged, out of the window. */
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
walk_to (FlamFlameGraph *self, FlamId node)
{
  if (node == FLAM_NONE)
    return;
  flam_flame_graph_select_node (self, node);
  flam_graph_open_narrow (self, node);
}

static FlamId
previous_sibling (const FlamTree *tree, FlamId node)
{
  FlamId parent = tree->parent[node];
  FlamId sibling, next;

  if (parent == FLAM_NONE)
    return FLAM_NONE;
  sibling = flam_tree_first_child (tree, parent);
  if (sibling == node)
    return FLAM_NONE;
  while ((next = tree->subtree_end[sibling]) != node)
    sibling = next;
  return sibling;
}

/* Siblings are neighbours in a row, so the last one is found by place. */
static FlamId
last_sibling (FlamFlameGraph *self, FlamId node)
{
  FlamId parent = self->tree->parent[node];

  if (parent == FLAM_NONE)
    return node;
  return self->rows->at[self->rows->at[self->rows->index[parent] + 1].child - 1]
      .node;
}

static FlamId
first_sibling (FlamFlameGraph *self, FlamId node)
{
  FlamId parent = self->tree->parent[node];

  return parent == FLAM_NONE ? node : parent + 1;
}

static FlamId
neighbour (FlamFlameGraph *self, guint key)
{
  const FlamTree *tree = self->tree;
  FlamId node = self->selected;
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

/* The selected box, as far as it is in view; otherwise all of the view. */
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

void
flam_graph_add_input (FlamFlameGraph *self)
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
