/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph-window.h"
#include "flam-minimap.h"
#include "flam-tip-layer.h"

#include <math.h>

const char graph_sample[] =
    "main@/bin/nest;compute@/bin/nest;std::vector<int, std::allocator<int> "
    ">::push_back(int&&)_[i]@/bin/nest 300\n"
    "main@/bin/nest;compute@/bin/nest;spin_heavy@/bin/nest 507\n"
    "main@/bin/nest;read@/lib/libc.so.6;sys_read_[k] 93\n"
    "main@/bin/nest;run_[j] 40\n"
    "main@/bin/nest;load.py_[p] 30\n"
    "main@/bin/nest;what_[u] 20\n";

/* Waits until every window has been drawn three times and 60 ms have passed: by
 * frames, not only by the clock, since machines are busy. */
#define PATIENCE (30 * G_USEC_PER_SEC)

static gboolean
is_drawn (GtkWindow *window, GHashTable *since)
{
  GdkFrameClock *clock = gtk_widget_get_frame_clock (GTK_WIDGET (window));
  gint64 frame;

  if (clock == NULL || !gtk_widget_get_mapped (GTK_WIDGET (window)) ||
      gtk_widget_get_width (GTK_WIDGET (window)) == 0)
    return FALSE;
  frame = gdk_frame_clock_get_frame_counter (clock);
  if (!g_hash_table_contains (since, window))
    g_hash_table_insert (since, window, GSIZE_TO_POINTER ((gsize)frame));
  gdk_frame_clock_request_phase (clock, GDK_FRAME_CLOCK_PHASE_PAINT);
  return frame >=
         (gint64)GPOINTER_TO_SIZE (g_hash_table_lookup (since, window)) + 3;
}

static gboolean
all_drawn (GHashTable *since)
{
  g_autoptr (GList) windows = gtk_window_list_toplevels ();
  gboolean drawn = TRUE;

  for (GList *l = windows; l != NULL; l = l->next)
    drawn = is_drawn (l->data, since) && drawn;
  return drawn;
}

void
settle (void)
{
  g_autoptr (GHashTable) since = g_hash_table_new (NULL, NULL);
  gint64 start = g_get_monotonic_time ();

  while ((g_get_monotonic_time () < start + 60000 || !all_drawn (since)) &&
         g_get_monotonic_time () < start + PATIENCE)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
}

void
count_drawn (FlamFlameGraph *graph, guint *n)
{
  g_assert_null (graph->picture);
  (*n)++;
}

void
wait_for_zoom (Fixture *fixture)
{
  for (guint i = 0; i < 200 && flam_flame_graph_is_moving (fixture->graph); i++)
    settle ();
  g_assert_false (flam_flame_graph_is_moving (fixture->graph));
}

void
wait_for_minimap (Fixture *fixture)
{
  for (guint i = 0; i < 200 && !gtk_widget_get_visible (fixture->minimap); i++)
    settle ();
  g_assert_true (gtk_widget_get_visible (fixture->minimap));
}

static void
wait_until_mapped (GtkWidget *widget)
{
  for (guint i = 0; i < 200 && gtk_widget_get_width (widget) == 0; i++)
    settle ();
  g_assert_cmpint (gtk_widget_get_width (widget), >, 0);
}

static void
count_node (FlamFlameGraph *graph, guint node, guint *counter)
{
  (*counter)++;
}

static void
remember (FlamFlameGraph *graph, guint node, Fixture *fixture)
{
  fixture->last = node;
}

static void
on_menu (
    FlamFlameGraph *graph, guint node, double x, double y, Fixture *fixture)
{
  fixture->menus++;
  fixture->last = node;
}

void
open_window (Fixture *fixture, FlamTree *tree, int width, int height)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *overlay = gtk_overlay_new ();

  fixture->tree = tree;
  fixture->graph = FLAM_FLAME_GRAPH (flam_flame_graph_new ());
  fixture->window = gtk_window_new ();
  fixture->minimap = flam_minimap_new (fixture->graph);
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), width, height);
  gtk_window_set_decorated (GTK_WINDOW (fixture->window), FALSE);
  gtk_scrolled_window_set_policy (
      GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller),
                                 GTK_WIDGET (fixture->graph));
  gtk_overlay_set_child (GTK_OVERLAY (overlay), scroller);
  gtk_widget_set_halign (fixture->minimap, GTK_ALIGN_END);
  gtk_widget_set_valign (fixture->minimap, GTK_ALIGN_START);
  gtk_widget_set_margin_end (fixture->minimap, 18);
  gtk_widget_set_margin_top (fixture->minimap, 12);
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), fixture->minimap);
  gtk_window_set_child (GTK_WINDOW (fixture->window),
                        flam_tip_layer_new (overlay));
  flam_flame_graph_set_tree (fixture->graph, tree, NULL);
  g_signal_connect (fixture->graph,
                    "node-selected",
                    G_CALLBACK (count_node),
                    &fixture->selected);
  g_signal_connect (fixture->graph,
                    "node-activated",
                    G_CALLBACK (count_node),
                    &fixture->activated);
  g_signal_connect (
      fixture->graph, "node-activated", G_CALLBACK (remember), fixture);
  g_signal_connect (fixture->graph,
                    "node-hovered",
                    G_CALLBACK (count_node),
                    &fixture->hovered);
  g_signal_connect (fixture->graph,
                    "zoom-changed",
                    G_CALLBACK (count_node),
                    &fixture->zoomed);
  g_signal_connect (
      fixture->graph, "context-menu", G_CALLBACK (on_menu), fixture);
  gtk_window_present (GTK_WINDOW (fixture->window));
  wait_until_mapped (GTK_WIDGET (fixture->graph));
  settle ();
}

void
close_window (Fixture *fixture)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  settle ();
  flam_tree_unref (fixture->tree);
}

FlamNodeId
find_node (FlamTree *tree, const char *name)
{
  for (FlamId i = 0; i < tree->n; i++)
    if (g_str_has_prefix (flam_tree_name (tree, i), name))
      return i;
  g_assert_not_reached ();
}

static GObject *
controller (FlamFlameGraph *graph, GType type, guint button)
{
  g_autoptr (GListModel) all =
      gtk_widget_observe_controllers (GTK_WIDGET (graph));

  for (guint i = 0; i < g_list_model_get_n_items (all); i++)
    {
      g_autoptr (GObject) item = g_list_model_get_item (all, i);

      if (G_OBJECT_TYPE (item) == type &&
          (button == 0 ||
           gtk_gesture_single_get_button (GTK_GESTURE_SINGLE (item)) == button))
        return item;
    }
  g_assert_not_reached ();
}

gboolean
press_key (Fixture *fixture, guint key, GdkModifierType state)
{
  gboolean handled = FALSE;

  g_signal_emit_by_name (
      controller (fixture->graph, GTK_TYPE_EVENT_CONTROLLER_KEY, 0),
      "key-pressed",
      key,
      0,
      state,
      &handled);
  return handled;
}

/* A treemap's frame has its title at the top. */
static void
middle_of_shape (Fixture *fixture, FlamNodeId node, double *x, double *y)
{
  FlamViewport viewport = flam_graph_viewport (fixture->graph);
  double angle, radius;
  FlamBox box;

  g_assert_true (flam_graph_find_box (fixture->graph, node, &box));
  angle = box.x + box.width / 2.0;
  radius = box.y > 0 ? box.y + box.height / 2.0 : 1;
  *x = box.x + box.width - 3;
  *y = box.y + 3;
  if (viewport.shape == FLAM_SHAPE_TREEMAP)
    return;
  *x = viewport.width / 2 + radius * sin (angle);
  *y = viewport.height / 2 - radius * cos (angle);
}

/* The middle of a node's box, with the widget's own rows and widths. */
static void
middle_of (Fixture *fixture, FlamNodeId node, double *x, double *y)
{
  FlamRows *rows = fixture->graph->rows;
  FlamView view;
  double width = gtk_widget_get_width (GTK_WIDGET (fixture->graph));
  double height = gtk_widget_get_height (GTK_WIDGET (fixture->graph));
  double whole = (double)fixture->tree->total[0];
  double share;

  if (fixture->graph->shape != FLAM_SHAPE_FLAME)
    {
      middle_of_shape (fixture, node, x, y);
      return;
    }
  flam_flame_graph_get_view (fixture->graph, &view);
  share = ((double)flam_rows_x (rows, node) +
           (double)fixture->tree->total[node] / 2) /
          whole;
  *x = (share - view.x) / view.width * width;
  *x = CLAMP (*x, 1, width - 2);
  *y = height - (fixture->tree->depth[node] + 0.5) *
                    flam_graph_row_height (fixture->graph);
}

void
click_at (Fixture *fixture, double x, double y, guint button, int n_press)
{
  GObject *gesture =
      controller (fixture->graph, GTK_TYPE_GESTURE_CLICK, button);

  g_signal_emit_by_name (gesture, "pressed", n_press, x, y);
  g_signal_emit_by_name (gesture, "released", n_press, x, y);
}

void
click_node (Fixture *fixture, FlamNodeId node, guint button, int n_press)
{
  double x, y;

  middle_of (fixture, node, &x, &y);
  click_at (fixture, x, y, button, n_press);
}

void
point_at (Fixture *fixture, FlamNodeId node)
{
  double x, y;

  middle_of (fixture, node, &x, &y);
  g_signal_emit_by_name (
      controller (fixture->graph, GTK_TYPE_EVENT_CONTROLLER_MOTION, 0),
      "motion",
      x,
      y);
}

GtkWidget *
shown_tip (Fixture *fixture)
{
  GtkWidget *layer = gtk_window_get_child (GTK_WINDOW (fixture->window));
  GtkWidget *tip = gtk_widget_get_last_child (layer);

  return gtk_widget_get_visible (tip) ? tip : NULL;
}

void
picture (GtkWidget *widget, const char *name)
{
  const char *folder = g_getenv ("FLAM_TEST_PICTURES");
  GtkWidget *window = GTK_WIDGET (gtk_widget_get_root (widget));
  GdkPaintable *paintable;
  GtkSnapshot *snapshot;
  GskRenderNode *node;
  GdkTexture *texture;
  g_autofree char *path = NULL;

  if (folder == NULL)
    return;
  settle ();
  paintable = gtk_widget_paintable_new (window);
  snapshot = gtk_snapshot_new ();
  gtk_snapshot_scale (snapshot,
                      (float)gtk_widget_get_scale_factor (window),
                      (float)gtk_widget_get_scale_factor (window));
  gdk_paintable_snapshot (paintable,
                          snapshot,
                          gtk_widget_get_width (window),
                          gtk_widget_get_height (window));
  node = gtk_snapshot_free_to_node (snapshot);
  texture = gsk_renderer_render_texture (
      gtk_native_get_renderer (GTK_NATIVE (window)), node, NULL);
  path = g_build_filename (folder, name, NULL);
  gdk_texture_save_to_png (texture, path);
  g_object_unref (texture);
  gsk_render_node_unref (node);
  g_object_unref (paintable);
}
