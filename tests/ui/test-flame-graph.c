/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include <adwaita.h>

#include "flam-legend.h"
#include "flam-minimap.h"
#include "flam-overview.h"
#include "flam-test-trees.h"

#include <string.h>

static const char sample[] =
    "main@/bin/nest;compute@/bin/nest;std::vector<int, std::allocator<int> "
    ">::push_back(int&&)_[i]@/bin/nest 300\n"
    "main@/bin/nest;compute@/bin/nest;spin_heavy@/bin/nest 507\n"
    "main@/bin/nest;read@/lib/libc.so.6;sys_read_[k] 93\n"
    "main@/bin/nest;run_[j] 40\n"
    "main@/bin/nest;load.py_[p] 30\n"
    "main@/bin/nest;what_[u] 20\n";

/* --- a window with a graph ----------------------------------------------- */

typedef struct
{
  GtkWidget *window;
  GtkWidget *minimap;
  FlamFlameGraph *graph;
  FlamTree *tree;
  guint selected, activated, hovered, zoomed, menus;
  FlamId last;
} Fixture;

/* Until every window has been drawn thrice and 60 ms have passed: by frames,
 * not by the clock alone, since machines are busy. */
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

static void
settle (void)
{
  g_autoptr (GHashTable) since = g_hash_table_new (NULL, NULL);
  gint64 start = g_get_monotonic_time ();

  while ((g_get_monotonic_time () < start + 60000 || !all_drawn (since)) &&
         g_get_monotonic_time () < start + PATIENCE)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
}

/* Until the view is at rest; a busy machine may take its time. */
static void
wait_for_zoom (Fixture *fixture)
{
  for (guint i = 0; i < 200 && fixture->graph->motion.tick != 0; i++)
    settle ();
  g_assert_cmpuint (fixture->graph->motion.tick, ==, 0);
}

static void
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
count (FlamFlameGraph *graph, guint node, guint *counter)
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

static void
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
  gtk_window_set_child (GTK_WINDOW (fixture->window), overlay);
  flam_flame_graph_set_tree (fixture->graph, tree, NULL);
  g_signal_connect (
      fixture->graph, "node-selected", G_CALLBACK (count), &fixture->selected);
  g_signal_connect (fixture->graph,
                    "node-activated",
                    G_CALLBACK (count),
                    &fixture->activated);
  g_signal_connect (
      fixture->graph, "node-activated", G_CALLBACK (remember), fixture);
  g_signal_connect (
      fixture->graph, "node-hovered", G_CALLBACK (count), &fixture->hovered);
  g_signal_connect (
      fixture->graph, "zoom-changed", G_CALLBACK (count), &fixture->zoomed);
  g_signal_connect (
      fixture->graph, "context-menu", G_CALLBACK (on_menu), fixture);
  gtk_window_present (GTK_WINDOW (fixture->window));
  wait_until_mapped (GTK_WIDGET (fixture->graph));
  settle ();
}

static void
close_window (Fixture *fixture)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  settle ();
  flam_tree_unref (fixture->tree);
}

static FlamId
find (FlamTree *tree, const char *name)
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

static gboolean
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

/* The middle of a node's box: rows and widths as the widget has them. */
static void
middle_of (Fixture *fixture, FlamId node, double *x, double *y)
{
  FlamRows *rows = flam_flame_graph_get_rows (fixture->graph);
  FlamView view;
  double width = gtk_widget_get_width (GTK_WIDGET (fixture->graph));
  double height = gtk_widget_get_height (GTK_WIDGET (fixture->graph));
  double whole = (double)fixture->tree->total[0];
  double share;

  flam_flame_graph_get_view (fixture->graph, &view);
  share = ((double)flam_rows_x (rows, node) +
           (double)fixture->tree->total[node] / 2) /
          whole;
  *x = (share - view.x) / view.width * width;
  *x = CLAMP (*x, 1, width - 2);
  *y = height - (fixture->tree->depth[node] + 0.5) *
                    flam_graph_row_height (fixture->graph);
}

static void
click (Fixture *fixture, FlamId node, guint button, int n_press)
{
  GObject *gesture =
      controller (fixture->graph, GTK_TYPE_GESTURE_CLICK, button);
  double x, y;

  middle_of (fixture, node, &x, &y);
  g_signal_emit_by_name (gesture, "pressed", n_press, x, y);
  g_signal_emit_by_name (gesture, "released", n_press, x, y);
}

/* --- pictures ------------------------------------------------------------ */

static void
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

/* --- tests --------------------------------------------------------------- */

static void
test_clicks (void)
{
  Fixture fixture = { 0 };
  FlamId compute, spin;

  open_window (&fixture, flam_test_tree (sample, FLAM_ORDER_TOTAL), 900, 300);
  picture (fixture.window, "graph.png");
  compute = find (fixture.tree, "compute");
  spin = find (fixture.tree, "spin");
  click (&fixture, compute, GDK_BUTTON_PRIMARY, 1);
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, compute);
  g_assert_cmpuint (flam_flame_graph_get_selected (fixture.graph), ==, compute);
  g_assert_cmpuint (fixture.zoomed, ==, 1);
  g_assert_cmpuint (fixture.selected, ==, 1);
  wait_for_zoom (&fixture);
  picture (fixture.window, "zoomed.png");
  click (&fixture, spin, GDK_BUTTON_PRIMARY, 1);
  click (&fixture, spin, GDK_BUTTON_PRIMARY, 2);
  g_assert_cmpuint (fixture.activated, ==, 1);
  g_assert_cmpuint (fixture.last, ==, spin);
  wait_for_zoom (&fixture);
  g_assert_true (flam_flame_graph_back (fixture.graph));
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, compute);
  g_assert_true (flam_flame_graph_back (fixture.graph));
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 0);
  wait_for_zoom (&fixture);
  g_assert_false (flam_flame_graph_back (fixture.graph));
  click (&fixture, spin, GDK_BUTTON_SECONDARY, 1);
  g_assert_cmpuint (fixture.menus, ==, 1);
  g_assert_cmpuint (fixture.last, ==, spin);
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 0);
  close_window (&fixture);
}

static void
assert_selected (Fixture *fixture, const char *name)
{
  FlamId node = flam_flame_graph_get_selected (fixture->graph);

  g_assert_cmpuint (node, !=, FLAM_NONE);
  g_assert_cmpstr (flam_tree_name (fixture->tree, node), ==, name);
}

static void
test_keys (void)
{
  Fixture fixture = { 0 };

  open_window (&fixture, flam_test_tree (sample, FLAM_ORDER_TOTAL), 900, 300);
  g_assert_true (press_key (&fixture, GDK_KEY_Up, 0));
  assert_selected (&fixture, "all");
  press_key (&fixture, GDK_KEY_Up, 0);
  assert_selected (&fixture, "main");
  press_key (&fixture, GDK_KEY_Up, 0);
  assert_selected (&fixture, "compute");
  press_key (&fixture, GDK_KEY_Right, 0);
  assert_selected (&fixture, "read");
  press_key (&fixture, GDK_KEY_End, 0);
  assert_selected (&fixture, "what");
  press_key (&fixture, GDK_KEY_Right, 0);
  assert_selected (&fixture, "what");
  press_key (&fixture, GDK_KEY_Left, 0);
  assert_selected (&fixture, "load.py");
  press_key (&fixture, GDK_KEY_Home, 0);
  assert_selected (&fixture, "compute");
  press_key (&fixture, GDK_KEY_Return, 0);
  assert_selected (&fixture, "compute");
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 2);
  wait_for_zoom (&fixture);
  press_key (&fixture, GDK_KEY_Right, 0);
  assert_selected (&fixture, "read");
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 1);
  g_assert_true (press_key (&fixture, GDK_KEY_Escape, 0));
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 0);
  g_assert_true (press_key (&fixture, GDK_KEY_BackSpace, 0));
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 1);
  wait_for_zoom (&fixture);
  g_assert_true (press_key (&fixture, GDK_KEY_Escape, 0));
  wait_for_zoom (&fixture);
  g_assert_false (press_key (&fixture, GDK_KEY_Escape, 0));
  press_key (&fixture, GDK_KEY_Menu, 0);
  g_assert_cmpuint (fixture.menus, ==, 1);
  g_assert_false (press_key (&fixture, GDK_KEY_f, 0));
  g_assert_false (press_key (&fixture, GDK_KEY_Up, GDK_CONTROL_MASK));
  flam_flame_graph_set_direction (fixture.graph, FLAM_DIRECTION_ICICLE);
  press_key (&fixture, GDK_KEY_Down, 0);
  assert_selected (&fixture, "sys_read");
  press_key (&fixture, GDK_KEY_Up, 0);
  assert_selected (&fixture, "read");
  picture (fixture.window, "icicle.png");
  close_window (&fixture);
}

static void
test_spoken (void)
{
  Fixture fixture = { 0 };
  g_autofree char *text = NULL;
  g_autofree char *none = NULL;

  open_window (&fixture, flam_test_tree (sample, FLAM_ORDER_TOTAL), 900, 300);
  text = flam_flame_graph_describe (fixture.graph, find (fixture.tree, "spin"));
  none = flam_flame_graph_describe (fixture.graph, FLAM_NONE);
  g_assert_cmpstr (
      text, ==, "spin_heavy, total 51.2\302\240%, self 51.2\302\240%");
  g_assert_cmpstr (none, ==, "Flame graph");
  flam_flame_graph_select_node (fixture.graph, find (fixture.tree, "spin"));
  gtk_test_accessible_assert_property (
      GTK_ACCESSIBLE (fixture.graph), GTK_ACCESSIBLE_PROPERTY_LABEL, text);
  g_assert_true (gtk_test_accessible_has_role (GTK_ACCESSIBLE (fixture.graph),
                                               GTK_ACCESSIBLE_ROLE_IMG));
  close_window (&fixture);
}

static void
test_search (void)
{
  Fixture fixture = { 0 };
  g_autoptr (GRegex) regex = g_regex_new ("sys_read|spin", 0, 0, NULL);
  g_autoptr (GRegex) nothing = g_regex_new ("nowhere", 0, 0, NULL);

  open_window (&fixture, flam_test_tree (sample, FLAM_ORDER_TOTAL), 900, 300);
  flam_flame_graph_set_search (fixture.graph, regex);
  g_assert_cmpint (flam_flame_graph_get_matched (fixture.graph), ==, 507 + 93);
  picture (fixture.window, "search.png");
  g_assert_true (flam_flame_graph_next_match (fixture.graph, FALSE));
  assert_selected (&fixture, "spin_heavy");
  g_assert_true (flam_flame_graph_next_match (fixture.graph, FALSE));
  assert_selected (&fixture, "sys_read");
  g_assert_true (flam_flame_graph_next_match (fixture.graph, FALSE));
  assert_selected (&fixture, "spin_heavy");
  g_assert_true (flam_flame_graph_next_match (fixture.graph, TRUE));
  assert_selected (&fixture, "sys_read");
  flam_flame_graph_set_search (fixture.graph, nothing);
  g_assert_false (flam_flame_graph_next_match (fixture.graph, FALSE));
  flam_flame_graph_set_search (fixture.graph, NULL);
  g_assert_cmpint (flam_flame_graph_get_matched (fixture.graph), ==, 0);
  close_window (&fixture);
}

/* Zoom, selection and history are found again by name in another tree. */
static void
test_new_tree (void)
{
  static const char later[] =
      "other@/bin/nest 5000\n"
      "main@/bin/nest;compute@/bin/nest;spin_heavy@/bin/nest 900\n"
      "main@/bin/nest;fresh 3000\n";
  Fixture fixture = { 0 };
  FlamTree *tree = flam_test_tree (later, FLAM_ORDER_TOTAL);

  open_window (&fixture, flam_test_tree (sample, FLAM_ORDER_TOTAL), 900, 300);
  flam_flame_graph_zoom_to (fixture.graph, find (fixture.tree, "main"));
  flam_flame_graph_zoom_to (fixture.graph, find (fixture.tree, "compute"));
  flam_flame_graph_select_node (fixture.graph, find (fixture.tree, "spin"));
  flam_flame_graph_set_tree (fixture.graph, tree, NULL);
  flam_tree_unref (fixture.tree);
  fixture.tree = tree;
  g_assert_cmpuint (
      flam_flame_graph_get_zoom (fixture.graph), ==, find (tree, "compute"));
  assert_selected (&fixture, "spin_heavy");
  flam_flame_graph_back (fixture.graph);
  g_assert_cmpuint (
      flam_flame_graph_get_zoom (fixture.graph), ==, find (tree, "main"));
  flam_flame_graph_set_tree (fixture.graph, NULL, NULL);
  settle ();
  g_assert_cmpuint (
      flam_flame_graph_get_selected (fixture.graph), ==, FLAM_NONE);
  g_assert_false (press_key (&fixture, GDK_KEY_Up, 0));
  close_window (&fixture);
}

static void
test_large (void)
{
  Fixture fixture = { 0 };
  FlamView view;
  gint64 in_view;

  open_window (&fixture,
               flam_test_random_tree (20000, 400, 5, FLAM_ORDER_TOTAL),
               1200,
               600);
  picture (fixture.window, "large.png");
  wait_for_minimap (&fixture);
  g_assert_cmpint (flam_flame_graph_get_hidden (fixture.graph, &in_view), >, 0);
  g_assert_cmpint (in_view, ==, fixture.tree->total[0]);
  flam_flame_graph_get_view (fixture.graph, &view);
  g_assert_cmpfloat_with_epsilon (view.y + view.height, 1, 1e-6);
  view.y = 0;
  flam_flame_graph_set_view (fixture.graph, &view);
  flam_flame_graph_get_view (fixture.graph, &view);
  g_assert_cmpfloat_with_epsilon (view.y, 0, 0.02);
  press_key (&fixture, GDK_KEY_plus, 0);
  press_key (&fixture, GDK_KEY_plus, 0);
  press_key (&fixture, GDK_KEY_Page_Up, 0);
  press_key (&fixture, GDK_KEY_Page_Down, 0);
  flam_flame_graph_set_dark (fixture.graph, TRUE);
  picture (fixture.window, "large-dark.png");
  for (guint i = 0; i < 40; i++)
    press_key (&fixture, i % 3 == 2 ? GDK_KEY_Right : GDK_KEY_Up, 0);
  picture (fixture.window, "large-walked.png");
  close_window (&fixture);
}

static void
test_deep (void)
{
  Fixture fixture = { 0 };

  open_window (&fixture, flam_test_deep_tree (30000), 400, 300);
  flam_flame_graph_zoom_to (fixture.graph, 29990);
  flam_flame_graph_select_node (fixture.graph, 29999);
  wait_for_zoom (&fixture);
  picture (fixture.window, "deep.png");
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 29990);
  close_window (&fixture);
}

static void
ask_again (FlamFlameGraph *graph, guint node, gpointer data)
{
  flam_flame_graph_zoom_to (graph, node);
}

/* Escape never shows less than before, wherever the wheel and the hand have
 * brought the view; back and forward go where one was. */
static void
test_outward (Fixture *fixture)
{
  FlamFlameGraph *graph = fixture->graph;
  FlamId spin = find (fixture->tree, "spin_heavy");
  double range, from, to;
  guint steps = 0;

  flam_flame_graph_zoom_to (graph, spin);
  wait_for_zoom (fixture);
  flam_graph_zoom_by (graph, 300, 0.3);
  flam_graph_pan_to (graph, graph->from + (graph->to - graph->from) / 3, 0);
  from = graph->from;
  to = graph->to;
  do
    {
      range = graph->to - graph->from;
      if (!press_key (fixture, GDK_KEY_Escape, 0))
        break;
      wait_for_zoom (fixture);
      g_assert_cmpfloat (graph->to - graph->from, >, range * 0.999);
    }
  while (++steps < 20);
  g_assert_cmpuint (steps, >=, 2);
  g_assert_cmpuint (steps, <, 20);
  g_assert_cmpfloat (range, ==, (double)fixture->tree->total[0]);
  for (guint i = 0; i < steps; i++)
    g_assert_true (flam_flame_graph_back (graph));
  wait_for_zoom (fixture);
  g_assert_cmpfloat_with_epsilon (graph->from, from, 1e-6);
  g_assert_cmpfloat_with_epsilon (graph->to, to, 1e-6);
  for (guint i = 0; i < steps; i++)
    g_assert_true (flam_flame_graph_forward (graph));
  wait_for_zoom (fixture);
  g_assert_cmpfloat (
      graph->to - graph->from, ==, (double)fixture->tree->total[0]);
  g_assert_false (flam_flame_graph_forward (graph));
}

/* A session that is told of a zoom sets it: that must not undo a view which
 * shows a part of the node only, nor put anything into the history. */
static void
test_echo (void)
{
  Fixture fixture = { 0 };
  double from, to;

  open_window (&fixture, flam_test_tree (sample, FLAM_ORDER_TOTAL), 900, 300);
  g_signal_connect (
      fixture.graph, "zoom-changed", G_CALLBACK (ask_again), NULL);
  flam_flame_graph_zoom_to (fixture.graph, find (fixture.tree, "compute"));
  wait_for_zoom (&fixture);
  flam_graph_zoom_by (fixture.graph, 100, 0.5);
  from = fixture.graph->from;
  to = fixture.graph->to;
  flam_flame_graph_zoom_to (fixture.graph, find (fixture.tree, "read"));
  wait_for_zoom (&fixture);
  flam_flame_graph_back (fixture.graph);
  wait_for_zoom (&fixture);
  g_assert_cmpfloat_with_epsilon (fixture.graph->from, from, 1e-6);
  g_assert_cmpfloat_with_epsilon (fixture.graph->to, to, 1e-6);
  g_assert_cmpuint (fixture.graph->history->len, ==, 1);
  flam_graph_zoom_by (fixture.graph, 450, 2.3);
  g_assert_cmpuint (fixture.graph->motion.tick, ==, 0);
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), !=, 2);
  g_assert_cmpuint (fixture.graph->history->len, ==, 1);
  test_outward (&fixture);
  close_window (&fixture);
}

/* Animations off: the first frame is the last. */
static void
test_still (void)
{
  Fixture fixture = { 0 };
  GtkSettings *settings = gtk_settings_get_default ();

  g_object_set (settings, "gtk-enable-animations", FALSE, NULL);
  open_window (&fixture, flam_test_tree (sample, FLAM_ORDER_TOTAL), 900, 300);
  flam_flame_graph_zoom_to (fixture.graph, find (fixture.tree, "read"));
  g_assert_cmpuint (fixture.graph->motion.tick, ==, 0);
  g_assert_cmpfloat (fixture.graph->from, ==, 807);
  g_assert_cmpfloat (fixture.graph->to, ==, 900);
  close_window (&fixture);
  g_object_set (settings, "gtk-enable-animations", TRUE, NULL);
}

/* A scrolled window far too small, and no window at all. */
static void
test_narrow (void)
{
  Fixture fixture = { 0 };
  GtkWidget *alone = g_object_ref_sink (flam_flame_graph_new ());
  FlamTree *tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);

  open_window (&fixture,
               flam_test_random_tree (20000, 400, 5, FLAM_ORDER_TOTAL),
               180,
               120);
  for (guint i = 0; i < 30; i++)
    press_key (&fixture, i % 4 == 3 ? GDK_KEY_Return : GDK_KEY_Up, 0);
  wait_for_zoom (&fixture);
  picture (fixture.window, "narrow.png");
  close_window (&fixture);
  flam_flame_graph_set_tree (FLAM_FLAME_GRAPH (alone), tree, NULL);
  flam_flame_graph_zoom_to (FLAM_FLAME_GRAPH (alone), 2);
  flam_flame_graph_select_node (FLAM_FLAME_GRAPH (alone), 3);
  flam_flame_graph_select_node (FLAM_FLAME_GRAPH (alone), 77777);
  g_assert_cmpuint (
      flam_flame_graph_get_selected (FLAM_FLAME_GRAPH (alone)), ==, FLAM_NONE);
  g_object_unref (alone);
  flam_tree_unref (tree);
}

static void
test_legend (void)
{
  FlamTree *tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  GtkWidget *graph = g_object_ref_sink (flam_flame_graph_new ());
  GtkWidget *legend =
      g_object_ref_sink (flam_legend_new (FLAM_FLAME_GRAPH (graph)));
  guint n = 0;

  flam_flame_graph_set_tree (FLAM_FLAME_GRAPH (graph), tree, NULL);
  for (guint i = 0; i < 200 && gtk_widget_get_first_child (legend) == NULL; i++)
    settle ();
  for (GtkWidget *child = gtk_widget_get_first_child (legend); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n++;
  g_assert_cmpuint (n, ==, 7);
  g_object_unref (legend);
  g_object_unref (graph);
  flam_tree_unref (tree);
}

int
main (int argc, char **argv)
{
  g_setenv ("GTK_A11Y", "test", TRUE);
  g_test_init (&argc, &argv, NULL);
  adw_init ();
  g_test_add_func ("/flame-graph/clicks", test_clicks);
  g_test_add_func ("/flame-graph/keys", test_keys);
  g_test_add_func ("/flame-graph/spoken", test_spoken);
  g_test_add_func ("/flame-graph/search", test_search);
  g_test_add_func ("/flame-graph/new-tree", test_new_tree);
  g_test_add_func ("/flame-graph/large", test_large);
  g_test_add_func ("/flame-graph/deep", test_deep);
  g_test_add_func ("/flame-graph/echo", test_echo);
  g_test_add_func ("/flame-graph/still", test_still);
  g_test_add_func ("/flame-graph/narrow", test_narrow);
  g_test_add_func ("/flame-graph/legend", test_legend);
  return g_test_run ();
}
