/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph-window.h"

#include <adwaita.h>

#include <math.h>

#include "flam-core-picture.h"
#include "flam-test-trees.h"

/* The graph in its other shapes, and when it is crowded. */

/* The same clicks and keys work in every shape. */
static void
test_shape (gconstpointer data)
{
  FlamShape shape = GPOINTER_TO_INT (data);
  g_autofree char *name =
      g_strconcat (flam_shape_to_string (shape), ".png", NULL);
  Fixture fixture = { 0 };
  FlamId compute, spin;
  FlamView view;
  FlamBox box;

  open_window (
      &fixture, flam_test_tree (graph_sample, FLAM_ORDER_TOTAL), 700, 500);
  flam_flame_graph_set_shape (fixture.graph, shape);
  settle ();
  picture (fixture.window, name);
  compute = find_node (fixture.tree, "compute");
  spin = find_node (fixture.tree, "spin");
  click_node (&fixture, compute, GDK_BUTTON_PRIMARY, 1);
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, compute);
  g_assert_cmpuint (flam_flame_graph_get_selected (fixture.graph), ==, compute);
  wait_for_zoom (&fixture);
  flam_flame_graph_get_view (fixture.graph, &view);
  g_assert_cmpfloat (view.width, ==, 1);
  /* Its callers are not visible: the zoomed node is the way back. */
  g_assert_false (flam_graph_find_box (fixture.graph, 0, &box));
  click_node (&fixture, compute, GDK_BUTTON_PRIMARY, 1);
  wait_for_zoom (&fixture);
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), <, compute);
  g_assert_cmpuint (flam_flame_graph_get_selected (fixture.graph), ==, compute);

  g_assert_true (press_key (&fixture, GDK_KEY_Down, 0));
  g_assert_cmpuint (
      fixture.tree->parent[flam_flame_graph_get_selected (fixture.graph)],
      ==,
      compute);
  g_assert_true (press_key (&fixture, GDK_KEY_Up, 0));
  g_assert_cmpuint (flam_flame_graph_get_selected (fixture.graph), ==, compute);
  g_assert_true (press_key (&fixture, GDK_KEY_Return, 0));
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, compute);
  wait_for_zoom (&fixture);
  /* A selected caller is scrolled into view. */
  g_assert_true (press_key (&fixture, GDK_KEY_Up, 0));
  wait_for_zoom (&fixture);
  g_assert_true (flam_graph_find_box (
      fixture.graph, flam_flame_graph_get_selected (fixture.graph), &box));
  while (flam_flame_graph_outward (fixture.graph))
    wait_for_zoom (&fixture);
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 0);

  /* The wheel zooms towards the selected node, and back. */
  flam_flame_graph_select_node (fixture.graph, spin);
  for (guint i = 0; i < fixture.tree->depth[spin]; i++)
    {
      flam_graph_zoom_by (fixture.graph, 5, 0.8);
      wait_for_zoom (&fixture);
    }
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, spin);
  flam_graph_zoom_by (fixture.graph, 5, 1.25);
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), <, spin);
  wait_for_zoom (&fixture);
  click_node (&fixture, spin, GDK_BUTTON_SECONDARY, 1);
  g_assert_cmpuint (fixture.last, ==, spin);
  g_assert_cmpint (flam_flame_graph_get_hidden (fixture.graph, NULL), >=, 0);

  flam_flame_graph_set_tree (fixture.graph, NULL, NULL);
  settle ();
  flam_flame_graph_set_tree (fixture.graph, fixture.tree, NULL);
  flam_flame_graph_set_shape (fixture.graph, FLAM_SHAPE_FLAME);
  g_assert_true (flam_graph_find_box (fixture.graph, 0, &box));
  close_window (&fixture);
}

/* The strip among the visible boxes, and the number of its nodes. */
static guint
click_strip (Fixture *fixture)
{
  const FlamLayout *layout = flam_graph_layout (fixture->graph);

  for (guint32 i = 0; i < layout->n; i++)
    if (layout->boxes[i].flags & FLAM_BOX_STRIP)
      {
        FlamBox box = layout->boxes[i];
        double x = box.x + box.width / 2, y = box.y + box.height / 2;
        FlamSunburst sun;

        if (layout->viewport.shape == FLAM_SHAPE_SUNBURST)
          {
            double angle = x, radius = y;

            flam_sunburst_init (&sun, &layout->viewport);
            x = sun.x + radius * sin (angle);
            y = sun.y - radius * cos (angle);
          }
        click_at (fixture, x, y, GDK_BUTTON_PRIMARY, 1);
        return box.count;
      }
  return 0;
}

static void
assert_readable (Fixture *fixture, FlamNodeId node)
{
  FlamBox box;

  g_assert_true (flam_graph_find_box (fixture->graph, node, &box));
  if (fixture->graph->shape == FLAM_SHAPE_SUNBURST)
    box.width *= box.y + box.height;
  g_assert_cmpfloat (box.width, >=, 20);
  g_assert_cmpfloat (box.x, >=, -1);
  g_assert_cmpfloat (box.x, <, 600);
}

/* A sunburst's text about the visible functions: `first` is the first. */
static void
assert_page (Fixture *fixture, guint32 first)
{
  FlamGraphPage page;

  if (fixture->graph->shape != FLAM_SHAPE_SUNBURST)
    {
      g_assert_false (flam_graph_get_page (fixture->graph, &page));
      return;
    }
  g_assert_true (flam_graph_get_page (fixture->graph, &page));
  g_assert_cmpuint (page.n, ==, fixture->tree->n - 1);
  g_assert_cmpuint (page.first, ==, first);
  g_assert_cmpuint (page.end, >, first);
  g_assert_true (page.back && page.on);
}

/* Shapes that do not scroll have pages. */
static void
turn_pages (Fixture *fixture, FlamId first)
{
  double from = fixture->graph->from, to = fixture->graph->to;

  assert_page (fixture, first - 1);
  g_assert_true (press_key (fixture, GDK_KEY_Page_Down, 0));
  wait_for_zoom (fixture);
  g_assert_cmpfloat_with_epsilon (fixture->graph->from, to, 0.5);
  g_assert_true (press_key (fixture, GDK_KEY_Page_Up, 0));
  wait_for_zoom (fixture);
  g_assert_cmpfloat_with_epsilon (fixture->graph->to, to, 0.5);
  g_assert_cmpfloat (fixture->graph->from, >, from - (to - from));
  g_assert_true (flam_flame_graph_back (fixture->graph));
  wait_for_zoom (fixture);
  g_assert_true (flam_flame_graph_back (fixture->graph));
  wait_for_zoom (fixture);
  g_assert_cmpfloat_with_epsilon (fixture->graph->from, from, 0.5);
}

/* Many roots, as in an inverted tree: a click on the merged box shows the
 * heaviest of its nodes, and keys go from page to page. */
static void
test_pages (gconstpointer data)
{
  FlamShape shape = GPOINTER_TO_INT (data);
  g_autofree char *name =
      g_strconcat (flam_shape_to_string (shape), "-page.png", NULL);
  g_autoptr (GString) text = g_string_new ("heavy 1000000\n");
  Fixture fixture = { 0 };
  FlamGraphPage page;
  gboolean paged;
  FlamId first;

  for (guint i = 0; i < 30000; i++)
    g_string_append_printf (text, "f%05u %u\n", i, 30000 / (i + 1) + 1);
  open_window (
      &fixture, flam_test_tree (text->str, FLAM_ORDER_TOTAL), 600, 400);
  flam_flame_graph_set_shape (fixture.graph, shape);
  settle ();
  paged = flam_graph_get_page (fixture.graph, &page);
  g_assert_cmpint (paged, ==, shape == FLAM_SHAPE_SUNBURST);
  first = fixture.tree->n - click_strip (&fixture);
  if (paged)
    g_assert_cmpuint (page.n - page.hidden + 1, ==, first);
  g_assert_cmpuint (first, <, 1000);
  wait_for_zoom (&fixture);
  g_assert_cmpuint (flam_flame_graph_get_zoom (fixture.graph), ==, 0);
  assert_readable (&fixture, first);
  picture (fixture.window, name);
  if (shape != FLAM_SHAPE_FLAME)
    turn_pages (&fixture, first);
  flam_flame_graph_select_node (fixture.graph, first);
  for (guint i = 0; i < 200; i++)
    {
      press_key (&fixture, GDK_KEY_Right, 0);
      wait_for_zoom (&fixture);
      g_assert_cmpuint (
          flam_flame_graph_get_selected (fixture.graph), ==, first + i + 1);
    }
  g_assert_cmpfloat (
      fixture.graph->from, >, (double)flam_rows_x (fixture.graph->rows, first));
  g_assert_true (flam_flame_graph_outward (fixture.graph));
  wait_for_zoom (&fixture);
  g_assert_cmpfloat (fixture.graph->to, ==, (double)fixture.tree->total[0]);
  if (shape != FLAM_SHAPE_FLAME)
    {
      g_assert_true (press_key (&fixture, GDK_KEY_Page_Down, 0));
      wait_for_zoom (&fixture);
      assert_readable (&fixture, first);
      g_assert_true (flam_flame_graph_outward (fixture.graph));
      wait_for_zoom (&fixture);
    }
  /* Walking into it opens it. */
  flam_flame_graph_select_node (fixture.graph, first - 1);
  press_key (&fixture, GDK_KEY_Right, 0);
  wait_for_zoom (&fixture);
  press_key (&fixture, GDK_KEY_End, 0);
  wait_for_zoom (&fixture);
  assert_readable (&fixture, fixture.tree->n - 1);
  while (flam_flame_graph_back (fixture.graph))
    wait_for_zoom (&fixture);
  g_assert_cmpfloat (fixture.graph->from, ==, 0);
  close_window (&fixture);
}

int
main (int argc, char **argv)
{
  g_setenv ("GTK_A11Y", "test", TRUE);
  g_test_init (&argc, &argv, NULL);
  adw_init ();
  g_test_add_data_func ("/graph-shapes/sunburst",
                        GINT_TO_POINTER (FLAM_SHAPE_SUNBURST),
                        test_shape);
  g_test_add_data_func ("/graph-shapes/treemap",
                        GINT_TO_POINTER (FLAM_SHAPE_TREEMAP),
                        test_shape);
  g_test_add_data_func ("/graph-shapes/pages/flame",
                        GINT_TO_POINTER (FLAM_SHAPE_FLAME),
                        test_pages);
  g_test_add_data_func ("/graph-shapes/pages/sunburst",
                        GINT_TO_POINTER (FLAM_SHAPE_SUNBURST),
                        test_pages);
  g_test_add_data_func ("/graph-shapes/pages/treemap",
                        GINT_TO_POINTER (FLAM_SHAPE_TREEMAP),
                        test_pages);
  return g_test_run ();
}
