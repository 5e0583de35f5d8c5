/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph-window.h"

#include <adwaita.h>

#include "flam-core-picture.h"
#include "flam-legend.h"
#include "flam-minimap.h"
#include "flam-overview.h"
#include "flam-test-trees.h"

#include <gnu/libc-version.h>
#include <libintl.h>
#include <string.h>

/* --- tests --------------------------------------------------------------- */

static void
test_clicks (void)
{
  Fixture fixture = { 0 };
  FlamId compute, spin;

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
  picture (fixture.window, "graph.png");
  compute = find_node (fixture.tree, "compute");
  spin = find_node (fixture.tree, "spin");
  click_node (&fixture, compute, GDK_BUTTON_PRIMARY, 1);
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, compute);
  g_assert_cmpuint (flam_flame_graph_get_selected (fixture.graph), ==, compute);
  g_assert_cmpuint (fixture.zoomed, ==, 1);
  g_assert_cmpuint (fixture.selected, ==, 1);
  wait_for_zoom (&fixture);
  picture (fixture.window, "zoomed.png");
  click_node (&fixture, spin, GDK_BUTTON_PRIMARY, 1);
  click_node (&fixture, spin, GDK_BUTTON_PRIMARY, 2);
  g_assert_cmpuint (fixture.activated, ==, 1);
  g_assert_cmpuint (fixture.last, ==, spin);
  wait_for_zoom (&fixture);
  g_assert_true (flam_flame_graph_back (fixture.graph));
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, compute);
  g_assert_true (flam_flame_graph_back (fixture.graph));
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 0);
  wait_for_zoom (&fixture);
  g_assert_false (flam_flame_graph_back (fixture.graph));
  click_node (&fixture, spin, GDK_BUTTON_SECONDARY, 1);
  g_assert_cmpuint (fixture.menus, ==, 1);
  g_assert_cmpuint (fixture.last, ==, spin);
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 0);
  close_window (&fixture);
}

static void
assert_selected (Fixture *fixture, const char *name)
{
  FlamNodeId node = flam_flame_graph_get_selected (fixture->graph);

  g_assert_cmpuint (node, !=, FLAM_NONE);
  g_assert_cmpstr (flam_tree_name (fixture->tree, node), ==, name);
}

static void
test_keys (void)
{
  Fixture fixture = { 0 };

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
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

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
  text = flam_flame_graph_describe (fixture.graph,
                                    find_node (fixture.tree, "spin"));
  none = flam_flame_graph_describe (fixture.graph, FLAM_NONE);
  g_assert_cmpstr (
      text, ==, "spin_heavy, total 51.2\302\240%, self 51.2\302\240%");
  g_assert_cmpstr (none, ==, "Flame graph");
  flam_flame_graph_select_node (fixture.graph,
                                find_node (fixture.tree, "spin"));
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
  g_autoptr (FlamRegex) regex = flam_regex_new ("sys_read|spin", 0, NULL);
  g_autoptr (FlamRegex) nothing = flam_regex_new ("nowhere", 0, NULL);

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
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

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
  flam_flame_graph_zoom_to (fixture.graph, find_node (fixture.tree, "main"));
  flam_flame_graph_zoom_to (fixture.graph, find_node (fixture.tree, "compute"));
  flam_flame_graph_select_node (fixture.graph,
                                find_node (fixture.tree, "spin"));
  flam_flame_graph_set_tree (fixture.graph, tree, NULL);
  flam_tree_unref (fixture.tree);
  fixture.tree = tree;
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph),
                    ==,
                    find_node (tree, "compute"));
  assert_selected (&fixture, "spin_heavy");
  flam_flame_graph_back (fixture.graph);
  g_assert_cmpuint (
      flam_flame_graph_get_zoom (fixture.graph), ==, find_node (tree, "main"));
  flam_flame_graph_set_tree (fixture.graph, NULL, NULL);
  settle ();
  g_assert_cmpuint (
      flam_flame_graph_get_selected (fixture.graph), ==, FLAM_NONE);
  g_assert_false (press_key (&fixture, GDK_KEY_Up, 0));
  close_window (&fixture);
}

/* What covers the top of the graph leaves the minimap free. */
static void
assert_below (Fixture *fixture, int covered)
{
  graphene_rect_t place;

  flam_minimap_set_covered (FLAM_MINIMAP (fixture->minimap), covered);
  settle ();
  g_assert_true (gtk_widget_get_visible (fixture->minimap));
  g_assert_true (
      gtk_widget_compute_bounds (fixture->minimap, fixture->window, &place));
  g_assert_cmpfloat (place.origin.y, >=, covered);
  flam_minimap_set_covered (FLAM_MINIMAP (fixture->minimap), 0);
  settle ();
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
  assert_below (&fixture, 60);
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

/* A selection that was made before the window exists is scrolled into view in
 * it. */
static void
test_selected_first (void)
{
  FlamTree *tree = flam_test_deep_tree (300);
  GtkWidget *window = gtk_window_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *widget = flam_flame_graph_new ();
  FlamFlameGraph *graph = FLAM_FLAME_GRAPH (widget);
  double edge;

  flam_flame_graph_set_tree (graph, tree, NULL);
  flam_flame_graph_select_node (graph, 200);
  gtk_window_set_default_size (GTK_WINDOW (window), 400, 300);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), widget);
  gtk_window_set_child (GTK_WINDOW (window), scroller);
  gtk_window_present (GTK_WINDOW (window));
  for (guint i = 0; i < 200 && gtk_widget_get_height (widget) < 100; i++)
    settle ();
  edge = tree->depth[200] * flam_graph_row_height (graph);
  g_assert_cmpfloat (graph->scroll, >, 0);
  g_assert_cmpfloat (graph->scroll, <=, edge);
  g_assert_cmpfloat (edge + flam_graph_row_height (graph),
                     <=,
                     graph->scroll + gtk_widget_get_height (widget));
  gtk_window_destroy (GTK_WINDOW (window));
  flam_tree_unref (tree);
}

static void
ask_again (FlamFlameGraph *graph, guint node, gpointer data)
{
  flam_flame_graph_zoom_to (graph, node);
}

/* Escape never shows less than before, wherever the wheel and dragging have
 * moved the view; back and forward go to earlier places. */
static void
test_outward (Fixture *fixture)
{
  FlamFlameGraph *graph = fixture->graph;
  FlamId spin = find_node (fixture->tree, "spin_heavy");
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

/* A session that is notified of a zoom sets it: this must not undo a view that
 * shows only a part of the node, nor add to the history. */
static void
test_echo (void)
{
  Fixture fixture = { 0 };
  double from, to;

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
  g_signal_connect (
      fixture.graph, "zoom-changed", G_CALLBACK (ask_again), NULL);
  flam_flame_graph_zoom_to (fixture.graph, find_node (fixture.tree, "compute"));
  wait_for_zoom (&fixture);
  flam_graph_zoom_by (fixture.graph, 100, 0.5);
  from = fixture.graph->from;
  to = fixture.graph->to;
  flam_flame_graph_zoom_to (fixture.graph, find_node (fixture.tree, "read"));
  wait_for_zoom (&fixture);
  flam_flame_graph_back (fixture.graph);
  wait_for_zoom (&fixture);
  g_assert_cmpfloat_with_epsilon (fixture.graph->from, from, 1e-6);
  g_assert_cmpfloat_with_epsilon (fixture.graph->to, to, 1e-6);
  g_assert_cmpuint (fixture.graph->history->len, ==, 1);
  flam_graph_zoom_by (fixture.graph, 450, 2.3);
  g_assert_false (flam_flame_graph_is_moving (fixture.graph));
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), !=, 2);
  g_assert_cmpuint (fixture.graph->history->len, ==, 1);
  test_outward (&fixture);
  close_window (&fixture);
}

/* The point under the pointer stays there; the view never leaves the whole; and
 * a zoom after going back clears "forward". */
static void
test_view_borders (void)
{
  Fixture fixture = { 0 };
  FlamFlameGraph *graph;
  double whole;

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
  graph = fixture.graph;
  whole = (double)fixture.tree->total[0];
  flam_graph_zoom_by (graph, 225, 0.5);
  g_assert_cmpfloat_with_epsilon (graph->from, whole / 8, 1e-6);
  g_assert_cmpfloat_with_epsilon (graph->to, whole * 5 / 8, 1e-6);
  flam_graph_pan_to (graph, whole, 0);
  g_assert_cmpfloat_with_epsilon (graph->from, whole / 2, 1e-6);
  g_assert_cmpfloat_with_epsilon (graph->to, whole, 1e-6);
  flam_graph_pan_to (graph, -whole, 0);
  g_assert_cmpfloat_with_epsilon (graph->from, 0, 1e-6);
  g_assert_cmpfloat_with_epsilon (graph->to, whole / 2, 1e-6);
  flam_graph_zoom_by (graph, 450, 1000);
  g_assert_cmpfloat_with_epsilon (graph->to, whole, 1e-6);
  flam_flame_graph_zoom_to (graph, find_node (fixture.tree, "compute"));
  g_assert_true (flam_flame_graph_back (graph));
  flam_flame_graph_zoom_to (graph, find_node (fixture.tree, "read"));
  g_assert_false (flam_flame_graph_forward (graph));
  close_window (&fixture);
}

/* Backward search goes the other way; matches too narrow to be seen are skipped
 * if there are others. */
static void
test_matches (void)
{
  static const struct
  {
    const char *pattern;
    guint n;
  } rows[] = { { "^wide", 3 }, { "^(wide|thin)", 3 }, { "^thin", 2 } };
  Fixture fixture = { 0 };
  FlamTree *tree = flam_test_tree ("wide_1 400000\nwide_2 300000\n"
                                   "wide_3 299000\nthin_1 500\nthin_2 500\n",
                                   FLAM_ORDER_TOTAL);

  open_window (&fixture, tree, 900, 300);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamRegex) regex = flam_regex_new (rows[i].pattern, 0, NULL);
      guint n;

      flam_flame_graph_set_search (fixture.graph, regex);
      flam_flame_graph_count_matches (fixture.graph, &n);
      g_assert_cmpuint (n, ==, rows[i].n);
    }
  {
    g_autoptr (FlamRegex) regex = flam_regex_new ("^wide", 0, NULL);

    flam_flame_graph_set_search (fixture.graph, regex);
    flam_flame_graph_select_node (fixture.graph, find_node (tree, "wide_2"));
    g_assert_true (flam_flame_graph_next_match (fixture.graph, TRUE));
    assert_selected (&fixture, "wide_1");
    g_assert_true (flam_flame_graph_next_match (fixture.graph, TRUE));
    assert_selected (&fixture, "wide_3");
    g_assert_true (flam_flame_graph_next_match (fixture.graph, FALSE));
    assert_selected (&fixture, "wide_1");
  }
  close_window (&fixture);
}

/* A selected function that is not in the other tree is not one of its
 * callers. */
static void
test_gone (void)
{
  Fixture fixture = { 0 };
  g_autoptr (FlamTree) with =
      flam_test_tree ("main;a;b 2\nmain;c 1\n", FLAM_ORDER_TOTAL);
  g_autoptr (FlamTree) without =
      flam_test_tree ("main;c 5\n", FLAM_ORDER_TOTAL);

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
  flam_flame_graph_set_tree (fixture.graph, with, NULL);
  flam_flame_graph_select_node (fixture.graph, find_node (with, "c"));
  flam_flame_graph_set_tree (fixture.graph, without, NULL);
  g_assert_cmpuint (flam_flame_graph_get_selected (fixture.graph),
                    ==,
                    find_node (without, "c"));
  flam_flame_graph_set_tree (fixture.graph, with, NULL);
  flam_flame_graph_select_node (fixture.graph, find_node (with, "b"));
  flam_flame_graph_set_tree (fixture.graph, without, NULL);
  g_assert_cmpuint (
      flam_flame_graph_get_selected (fixture.graph), ==, FLAM_NONE);
  close_window (&fixture);
}

/* Animations off: the first frame is the last. */
static void
test_still (void)
{
  Fixture fixture = { 0 };
  GtkSettings *settings = gtk_settings_get_default ();

  g_object_set (settings, "gtk-enable-animations", FALSE, NULL);
  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
  flam_flame_graph_zoom_to (fixture.graph, find_node (fixture.tree, "read"));
  g_assert_false (flam_flame_graph_is_moving (fixture.graph));
  g_assert_cmpfloat (fixture.graph->from, ==, 807);
  g_assert_cmpfloat (fixture.graph->to, ==, 900);
  close_window (&fixture);
  g_object_set (settings, "gtk-enable-animations", TRUE, NULL);
}

/* If the CPU draws, as here, an animation is two pictures. */
static void
test_few_pictures (void)
{
  Fixture fixture = { 0 };
  guint n = 0;

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
  settle ();
  g_signal_connect (
      fixture.graph, "drawn-changed", G_CALLBACK (count_drawn), &n);
  flam_flame_graph_zoom_to (fixture.graph, find_node (fixture.tree, "read"));
  g_assert_true (flam_flame_graph_is_moving (fixture.graph));
  while (flam_flame_graph_is_moving (fixture.graph))
    g_main_context_iteration (NULL, TRUE);
  settle ();
  g_assert_cmpuint (n, ==, 2);
  close_window (&fixture);
}

static GtkWidget *
wait_for_tip (Fixture *fixture)
{
  GtkWidget *tip = NULL;

  for (guint i = 0; i < 200 && (tip = shown_tip (fixture)) == NULL; i++)
    settle ();
  g_assert_nonnull (tip);
  settle ();
  return tip;
}

static graphene_rect_t
bounds_in_window (Fixture *fixture, GtkWidget *widget)
{
  graphene_rect_t bounds;

  g_assert_true (gtk_widget_compute_bounds (widget, fixture->window, &bounds));
  return bounds;
}

/* The window's own node has the same kind with and without a tooltip, so that
 * GTK redraws only the part that a tooltip covers. */
static void
assert_comparable (Fixture *fixture)
{
  GtkWidget *layer = gtk_window_get_child (GTK_WINDOW (fixture->window));
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node, *first;

  GTK_WIDGET_GET_CLASS (layer)->snapshot (layer, snapshot);
  node = gtk_snapshot_free_to_node (snapshot);
  g_assert_cmpint (
      gsk_render_node_get_node_type (node), ==, GSK_CONTAINER_NODE);
  first = gsk_container_node_get_child (node, 0);
  g_assert_cmpint (gsk_render_node_get_node_type (first), ==, GSK_DEBUG_NODE);
  gsk_render_node_unref (node);
}

/* Within the window, beside the row, and as large as its content. */
static void
test_tip (void)
{
  Fixture fixture = { 0 };
  const char *const names[] = { "compute", "std::vector", "what", "main" };
  GtkWidget *tip;
  graphene_rect_t bounds;
  float padding = 0;
  int wanted;

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 600, 300);
  assert_comparable (&fixture);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      FlamNodeId node = find_node (fixture.tree, names[i]);
      FlamBox box;

      point_at (&fixture, node);
      g_assert_cmpuint (fixture.graph->hovered, ==, node);
      tip = wait_for_tip (&fixture);
      assert_comparable (&fixture);
      g_assert_cmpint (
          gtk_accessible_get_accessible_role (GTK_ACCESSIBLE (tip)),
          ==,
          GTK_ACCESSIBLE_ROLE_TOOLTIP);
      gtk_widget_measure (gtk_widget_get_first_child (tip),
                          GTK_ORIENTATION_HORIZONTAL,
                          -1,
                          NULL,
                          &wanted,
                          NULL,
                          NULL);
      bounds = bounds_in_window (&fixture, tip);
      if (i == 0)
        padding = bounds.size.width - (float)wanted;
      g_assert_cmpfloat (bounds.size.width, ==, (float)wanted + padding);
      g_assert_cmpfloat (bounds.origin.x, >=, 0);
      g_assert_cmpfloat (bounds.origin.x + bounds.size.width, <=, 600);
      g_assert_cmpfloat (bounds.origin.y, >=, 0);
      g_assert_cmpfloat (bounds.origin.y + bounds.size.height, <=, 300);
      g_assert_true (flam_graph_find_box (fixture.graph, node, &box));
      g_assert_true (bounds.origin.y >= box.y + box.height ||
                     bounds.origin.y + bounds.size.height <= box.y);
      picture (fixture.window, "tip.png");
      /* The clicked box is not covered. */
      if (i % 2 == 1)
        {
          press_key (&fixture, GDK_KEY_Shift_L, 0);
          g_assert_null (shown_tip (&fixture));
        }
    }
  point_at (&fixture, find_node (fixture.tree, "compute"));
  wait_for_tip (&fixture);
  gtk_widget_set_visible (GTK_WIDGET (fixture.graph), FALSE);
  g_assert_null (shown_tip (&fixture));
  close_window (&fixture);
}

/* A scrolled window that is far too small, and no window at all. */
static void
test_narrow (void)
{
  Fixture fixture = { 0 };
  GtkWidget *alone = g_object_ref_sink (flam_flame_graph_new ());
  FlamTree *tree = flam_test_tree (graph_sample, FLAM_ORDER_TOTAL);

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
  FlamTree *tree = flam_test_tree (graph_sample, FLAM_ORDER_TOTAL);
  GtkWidget *graph = g_object_ref_sink (flam_flame_graph_new ());
  GtkWidget *legend =
      g_object_ref_sink (flam_legend_new (FLAM_FLAME_GRAPH (graph)));
  GtkWidget *first;
  guint n = 0;

  flam_flame_graph_set_tree (FLAM_FLAME_GRAPH (graph), tree, NULL);
  for (guint i = 0; i < 200 && gtk_widget_get_first_child (legend) == NULL; i++)
    settle ();
  for (GtkWidget *child = gtk_widget_get_first_child (legend); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n++;
  g_assert_cmpuint (n, ==, 6);
  /* The existing entries become the entries of another zoom. */
  first = gtk_widget_get_first_child (legend);
  g_object_add_weak_pointer (G_OBJECT (first), (gpointer *)&first);
  flam_flame_graph_zoom_to (FLAM_FLAME_GRAPH (graph), find_node (tree, "read"));
  for (guint i = 0; i < 200 && gtk_widget_get_last_child (legend) !=
                                   gtk_widget_get_next_sibling (
                                       gtk_widget_get_first_child (legend));
       i++)
    settle ();
  g_assert_nonnull (first);
  g_assert_true (first == gtk_widget_get_first_child (legend));
  g_object_remove_weak_pointer (G_OBJECT (first), (gpointer *)&first);
  g_object_unref (legend);
  g_object_unref (graph);
  flam_tree_unref (tree);
}

/* The root's displayed name is translated; in files it is not. */
static void
test_root_in_german (void)
{
  Fixture fixture = { 0 };
  g_autofree char *catalogues =
      g_build_filename (g_getenv ("FLAM_BUILD_ROOT"), "po", NULL);
  g_autofree char *text = NULL;

  g_setenv ("LANGUAGE", "de", TRUE);
  flam_message_init (catalogues);
  if (strcmp (gettext ("all"), "all") == 0 &&
      strcmp (gnu_get_libc_version (), "2.41") >= 0)
    {
      g_test_skip ("this C library translates nothing in C.UTF-8");
      return;
    }
  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 900, 300);
  picture (fixture.window, "german.png");
  text = flam_flame_graph_describe (fixture.graph, 0);
  g_assert_true (g_str_has_prefix (text, "alles, "));
  g_assert_cmpstr (flam_tree_name (fixture.tree, 0), ==, "all");
  close_window (&fixture);
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
  g_test_add_func ("/flame-graph/selected-first", test_selected_first);
  g_test_add_func ("/flame-graph/echo", test_echo);
  g_test_add_func ("/flame-graph/view-borders", test_view_borders);
  g_test_add_func ("/flame-graph/matches", test_matches);
  g_test_add_func ("/flame-graph/gone", test_gone);
  g_test_add_func ("/flame-graph/still", test_still);
  g_test_add_func ("/flame-graph/few-pictures", test_few_pictures);
  g_test_add_func ("/flame-graph/tip", test_tip);
  g_test_add_func ("/flame-graph/narrow", test_narrow);
  g_test_add_func ("/flame-graph/legend", test_legend);
  /* The last one: texts stay German. */
  g_test_add_func ("/flame-graph/root-in-german", test_root_in_german);
  return g_test_run ();
}
