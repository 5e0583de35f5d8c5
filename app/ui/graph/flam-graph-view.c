/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-graph-view.h"

#include "flam-frame-drag.h"
#include "flam-minimap.h"
#include "flam-page-bar.h"
#include "flam-settings.h"
#include "flam-transforms.h"
#include "flam-user-colors.h"
#include "flam-why-empty.h"

#include <adwaita.h>
#include <glib/gi18n.h>

struct _FlamGraphView
{
  FlamPage parent_instance;

  FlamSession *session; /* the page's */
  gboolean syncing;

  GtkStack *stack;
  GtkOverlay *overlay;
  GtkScrolledWindow *scroller;
  GtkScrollbar *bar;
  FlamMinimap *minimap; /* not referenced: owned by the overlay */
  FlamFlameGraph *graph;
  AdwStatusPage *empty;
  GtkButton *way_back;
};

enum
{
  PROP_0,
  PROP_MATCHED,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (FlamGraphView, flam_graph_view, FLAM_TYPE_PAGE)

static FlamId
as_selected (FlamId current)
{
  return current != 0 ? current : FLAM_NONE;
}

/* --- session -> widget ---------------------------------------------------- */

static void
update_empty (FlamGraphView *self, const FlamTree *tree)
{
  if (tree == NULL || tree->n > 1)
    {
      gtk_stack_set_visible_child_name (self->stack, "graph");
      return;
    }
  adw_status_page_set_description (self->empty, flam_why_empty (self->session));
  gtk_widget_set_visible (GTK_WIDGET (self->way_back),
                          flam_why_empty_is_narrowed (self->session));
  gtk_stack_set_visible_child_name (self->stack, "empty");
}

static void
update_palette (FlamGraphView *self)
{
  const FlamTree *tree = flam_session_get_tree (self->session);

  if (tree != NULL)
    flam_flame_graph_set_palette (self->graph,
                                  flam_settings_get_palette (tree));
}

static void
update_moving (FlamGraphView *self)
{
  flam_session_set_moving (self->session,
                           flam_flame_graph_is_moving (self->graph));
}

static void
on_view_data (FlamGraphView *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);

  self->syncing = TRUE;
  if (view_data == NULL)
    flam_flame_graph_set_tree (self->graph, NULL, NULL);
  else
    {
      update_palette (self);
      flam_flame_graph_set_tree (self->graph, view_data->tree, view_data->rows);
    }
  self->syncing = FALSE;
  update_moving (self);
  update_empty (self, view_data != NULL ? view_data->tree : NULL);
}

static void
on_zoom (FlamGraphView *self)
{
  if (flam_session_get_view_data (self->session) == NULL)
    return;
  self->syncing = TRUE;
  flam_flame_graph_zoom_to (self->graph, flam_session_get_zoom (self->session));
  self->syncing = FALSE;
}

static void
on_current (FlamGraphView *self)
{
  FlamId current = flam_session_get_current (self->session);

  /* The widget may zoom out to show it, which changes the session's zoom. */
  if (flam_session_get_view_data (self->session) != NULL)
    flam_flame_graph_select_node (self->graph, as_selected (current));
}

static void
on_search (FlamGraphView *self)
{
  flam_flame_graph_set_search (self->graph,
                               flam_session_get_search_regex (self->session));
}

/* --- widget -> session ---------------------------------------------------- */

static void
on_node_selected (FlamFlameGraph *graph, guint node, FlamGraphView *self)
{
  if (!self->syncing)
    flam_session_set_current (self->session, node == FLAM_NONE ? 0 : node);
}

static void
on_zoom_changed (FlamFlameGraph *graph, guint node, FlamGraphView *self)
{
  if (!self->syncing)
    flam_session_set_zoom (self->session, node == FLAM_NONE ? 0 : node);
}

static void
on_node_activated (FlamFlameGraph *graph, guint node, FlamGraphView *self)
{
  if (node != FLAM_NONE)
    flam_session_set_current (self->session, node);
  g_settings_set_boolean (flam_settings_get (), FLAM_KEY_SOURCE_SHOWN, TRUE);
}

static void
on_context_menu (
    FlamFlameGraph *graph, guint node, double x, double y, FlamGraphView *self)
{
  flam_transforms_popup (GTK_WIDGET (graph), self->session, node, x, y);
}

static void
on_matched (FlamGraphView *self)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MATCHED]);
}

static void
on_way_back (FlamGraphView *self)
{
  flam_session_reset_selection (self->session);
}

static void
update_direction (FlamGraphView *self)
{
  g_autofree char *value =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_DIRECTION);

  flam_flame_graph_set_direction (self->graph,
                                  strcmp (value, "icicle") == 0
                                      ? FLAM_DIRECTION_ICICLE
                                      : FLAM_DIRECTION_FLAME);
}

static void
update_shape (FlamGraphView *self)
{
  flam_flame_graph_set_shape (self->graph, flam_settings_get_shape ());
}

static void
update_order (FlamGraphView *self)
{
  g_autofree char *value =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_ORDER);

  flam_session_set_order (self->session,
                          strcmp (value, "name") == 0 ? FLAM_ORDER_NAME
                                                      : FLAM_ORDER_TOTAL);
}

FlamFlameGraph *
flam_graph_view_get_graph (FlamGraphView *self)
{
  g_return_val_if_fail (FLAM_IS_GRAPH_VIEW (self), NULL);
  return self->graph;
}

gint64
flam_graph_view_get_matched (FlamGraphView *self)
{
  g_return_val_if_fail (FLAM_IS_GRAPH_VIEW (self), 0);
  return flam_flame_graph_get_matched (self->graph);
}

void
flam_graph_view_next_match (FlamGraphView *self, gboolean backward)
{
  g_return_if_fail (FLAM_IS_GRAPH_VIEW (self));
  flam_flame_graph_next_match (self->graph, backward);
}

void
flam_graph_view_set_covered (FlamGraphView *self, int height)
{
  g_return_if_fail (FLAM_IS_GRAPH_VIEW (self));
  flam_minimap_set_covered (self->minimap, height);
}

/* --- notes ---------------------------------------------------------------- */

static char *
notes_about (gpointer data, const char *function)
{
  return flam_notes_about (data, function);
}

/* Notes are part of the graph's text for a frame. */
static void
on_notes (FlamGraphView *self)
{
  flam_flame_graph_set_notes (
      self->graph, notes_about, flam_session_get_notes (self->session));
}

/* --- object --------------------------------------------------------------- */

static void
follow (FlamGraphView *self, gpointer object, const char *signal, GCallback f)
{
  g_signal_connect_object (object, signal, f, self, G_CONNECT_SWAPPED);
}

static void
flam_graph_view_constructed (GObject *object)
{
  FlamGraphView *self = FLAM_GRAPH_VIEW (object);
  GSettings *settings = flam_settings_get ();

  G_OBJECT_CLASS (flam_graph_view_parent_class)->constructed (object);
  self->session = flam_page_get_session (FLAM_PAGE (self));
  follow (self, self->session, "notify::view-data", G_CALLBACK (on_view_data));
  follow (self, self->session, "notify::zoom", G_CALLBACK (on_zoom));
  follow (self, self->session, "notify::current", G_CALLBACK (on_current));
  follow (self, self->session, "notify::search", G_CALLBACK (on_search));
  follow (self,
          settings,
          "changed::" FLAM_KEY_DIRECTION,
          G_CALLBACK (update_direction));
  follow (
      self, settings, "changed::" FLAM_KEY_SHAPE, G_CALLBACK (update_shape));
  follow (
      self, settings, "changed::" FLAM_KEY_ORDER, G_CALLBACK (update_order));
  follow (self,
          settings,
          "changed::" FLAM_KEY_COLOR_STATES,
          G_CALLBACK (update_palette));
  follow (
      self, settings, "changed::" FLAM_KEY_COLORS, G_CALLBACK (update_palette));
  follow (self,
          flam_session_get_notes (self->session),
          "items-changed",
          G_CALLBACK (on_notes));
  on_notes (self);
  update_direction (self);
  update_shape (self);
  update_order (self);
}

static void
flam_graph_view_get_property (GObject *object,
                              guint prop_id,
                              GValue *value,
                              GParamSpec *pspec)
{
  if (prop_id == PROP_MATCHED)
    g_value_set_int64 (value,
                       flam_graph_view_get_matched (FLAM_GRAPH_VIEW (object)));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static gboolean
flam_graph_view_begin (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GTK_WIDGET (FLAM_GRAPH_VIEW (widget)->graph));
}

static void
flam_graph_view_class_init (FlamGraphViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = flam_graph_view_constructed;
  object_class->get_property = flam_graph_view_get_property;
  FLAM_PAGE_CLASS (klass)->begin = flam_graph_view_begin;

  properties[PROP_MATCHED] =
      g_param_spec_int64 ("matched",
                          NULL,
                          NULL,
                          0,
                          G_MAXINT64,
                          0,
                          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  g_type_ensure (FLAM_TYPE_FLAME_GRAPH);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-graph-view.ui");
  gtk_widget_class_bind_template_child (class, FlamGraphView, stack);
  gtk_widget_class_bind_template_child (class, FlamGraphView, overlay);
  gtk_widget_class_bind_template_child (class, FlamGraphView, scroller);
  gtk_widget_class_bind_template_child (class, FlamGraphView, bar);
  gtk_widget_class_bind_template_child (class, FlamGraphView, graph);
  gtk_widget_class_bind_template_child (class, FlamGraphView, empty);
  gtk_widget_class_bind_template_child (class, FlamGraphView, way_back);
}

/* The minimap replaces the scroll bar where there is room for it. The bar is
 * not that of the scrolled window, which would fade in and out for a second
 * whenever the pointer moves: 40 ms of CPU time without a GPU, where the
 * hovered box takes
 * 2. With the policy without a bar, GTK would animate the edges at each step of
 * the wheel when everything is visible. */
static void
on_drawn_changed (FlamFlameGraph *graph, FlamGraphView *self)
{
  GtkAdjustment *rows = gtk_scrolled_window_get_vadjustment (self->scroller);
  gboolean scrolls =
      gtk_adjustment_get_upper (rows) > gtk_adjustment_get_page_size (rows) + 1;
  gboolean mapped = gtk_widget_get_visible (GTK_WIDGET (self->minimap));

  update_moving (self);
  gtk_scrolled_window_set_policy (self->scroller,
                                  GTK_POLICY_NEVER,
                                  scrolls ? GTK_POLICY_EXTERNAL
                                          : GTK_POLICY_AUTOMATIC);
  gtk_widget_set_visible (GTK_WIDGET (self->bar), scrolls && !mapped);
}

static void
flam_graph_view_init (FlamGraphView *self)
{
  GtkWidget *minimap;

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_scrollbar_set_adjustment (
      self->bar, gtk_scrolled_window_get_vadjustment (self->scroller));
  minimap = flam_minimap_new (self->graph);
  gtk_widget_set_halign (minimap, GTK_ALIGN_END);
  gtk_widget_set_valign (minimap, GTK_ALIGN_START);
  gtk_overlay_add_overlay (self->overlay, minimap);
  gtk_overlay_add_overlay (self->overlay, flam_page_bar_new (self->graph));
  self->minimap = FLAM_MINIMAP (minimap);
  g_signal_connect (
      self->graph, "drawn-changed", G_CALLBACK (on_drawn_changed), self);
  g_signal_connect (
      self->graph, "node-selected", G_CALLBACK (on_node_selected), self);
  g_signal_connect (
      self->graph, "zoom-changed", G_CALLBACK (on_zoom_changed), self);
  g_signal_connect (
      self->graph, "node-activated", G_CALLBACK (on_node_activated), self);
  g_signal_connect (
      self->graph, "context-menu", G_CALLBACK (on_context_menu), self);
  g_signal_connect_swapped (
      self->graph, "notify::matched", G_CALLBACK (on_matched), self);
  flam_frame_drag_add_graph (self->graph);
  flam_user_colors_follow (self->graph);
  g_signal_connect_swapped (
      self->way_back, "clicked", G_CALLBACK (on_way_back), self);
}
