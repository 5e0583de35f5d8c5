/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph-window.h"

#include <adwaita.h>
#include <string.h>

#include "flam-test-trees.h"

/* A picture after scrolling is made from the last one: it must equal a newly
 * drawn one, byte by byte. Run at scales of 1 and 2. */

#define MARK 0xff123456u

/* As a frame does it. */
static void
draw (FlamFlameGraph *graph)
{
  GtkWidget *widget = GTK_WIDGET (graph);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node;

  GTK_WIDGET_GET_CLASS (widget)->snapshot (widget, snapshot);
  node = gtk_snapshot_free_to_node (snapshot);
  g_clear_pointer (&node, gsk_render_node_unref);
  g_assert_nonnull (graph->picture);
}

static gsize
size_of (cairo_surface_t *picture)
{
  return (gsize)cairo_image_surface_get_stride (picture) *
         cairo_image_surface_get_height (picture);
}

static GBytes *
pixels_of (FlamFlameGraph *graph)
{
  return g_bytes_new (cairo_image_surface_get_data (graph->picture),
                      size_of (graph->picture));
}

static void
assert_as_if_drawn_anew (FlamFlameGraph *graph)
{
  g_autoptr (GBytes) moved = NULL;
  g_autoptr (GBytes) drawn = NULL;

  draw (graph);
  moved = pixels_of (graph);
  flam_graph_forget_layout (graph);
  flam_graph_redraw (graph);
  draw (graph);
  drawn = pixels_of (graph);
  g_assert_true (g_bytes_equal (moved, drawn));
}

static void
scroll_to (FlamFlameGraph *graph, double scroll)
{
  double last = gtk_adjustment_get_upper (graph->vadjustment) -
                gtk_adjustment_get_page_size (graph->vadjustment);

  g_assert_cmpfloat (last, >, 100);
  gtk_adjustment_set_value (graph->vadjustment, CLAMP (scroll, 0, last));
}

/* By less than a row, by some rows, by more than the view; also by parts of
 * pixels. */
static void
scroll_about (FlamFlameGraph *graph)
{
  static const double ranges[] = { 3, 40, 200, 3000 };

  flam_graph_redraw (graph);
  draw (graph);
  for (guint i = 0; i < 80; i++)
    {
      double range = ranges[i % G_N_ELEMENTS (ranges)];
      double by = g_test_rand_double_range (-range, range);

      scroll_to (graph,
                 gtk_adjustment_get_value (graph->vadjustment) +
                     (i % 2 == 0 ? by : (int)by));
      assert_as_if_drawn_anew (graph);
    }
}

static void
open_deep (Fixture *fixture)
{
  open_window (fixture,
               flam_test_random_tree (20000, 400, 5, FLAM_ORDER_TOTAL),
               700,
               180);
}

/* With the same range of x: nothing of the last picture is valid. */
static void
test_other_tree (FlamFlameGraph *graph)
{
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (20000, 400, 5, FLAM_ORDER_NAME);

  draw (graph);
  flam_flame_graph_set_tree (graph, tree, NULL);
  assert_as_if_drawn_anew (graph);
}

static void
test_pixels (void)
{
  Fixture fixture = { 0 };
  g_autoptr (FlamRegex) regex = flam_regex_new ("visit", 0, NULL);

  open_deep (&fixture);
  scroll_about (fixture.graph);
  flam_flame_graph_set_direction (fixture.graph, FLAM_DIRECTION_ICICLE);
  scroll_about (fixture.graph);
  flam_flame_graph_set_search (fixture.graph, regex);
  scroll_about (fixture.graph);
  test_other_tree (fixture.graph);
  close_window (&fixture);
}

/* Letters with so many accents that they extend into other rows. */
static void
test_high_letters (void)
{
  Fixture fixture = { 0 };
  g_autoptr (GString) text = g_string_new ("root");
  g_autoptr (GString) name = g_string_new ("a");

  for (guint i = 0; i < 12; i++)
    g_string_append (name, "\314\202");
  for (guint i = 0; i < 60; i++)
    g_string_append_printf (text, ";%s%u", i % 7 == 3 ? name->str : "b", i);
  g_string_append (text, " 5\n");
  open_window (
      &fixture, flam_test_tree (text->str, FLAM_ORDER_TOTAL), 500, 200);
  scroll_about (fixture.graph);
  g_assert_false (flam_draw_is_in_rows (flam_graph_draw (fixture.graph)));
  close_window (&fixture);
}

/* Whether a picture has the marked pixels of the previous one. */
static gboolean
is_moved (FlamFlameGraph *graph, double scroll)
{
  guint32 *pixels;
  gsize n;

  flam_graph_redraw (graph);
  draw (graph);
  pixels = (guint32 *)(void *)cairo_image_surface_get_data (graph->picture);
  n = size_of (graph->picture) / 4;
  pixels[n / 2] = MARK;
  scroll_to (graph, scroll);
  draw (graph);
  pixels = (guint32 *)(void *)cairo_image_surface_get_data (graph->picture);
  for (gsize i = 0; i < n; i++)
    if (pixels[i] == MARK)
      return TRUE;
  return FALSE;
}

static void
test_moves (void)
{
  Fixture fixture = { 0 };
  FlamFlameGraph *graph;

  open_deep (&fixture);
  graph = fixture.graph;
  scroll_to (graph, 100);
  g_assert_true (is_moved (graph, 160));
  g_assert_true (is_moved (graph, 90));
  g_assert_false (is_moved (graph, 1e6));
  scroll_to (graph, 100);
  g_assert_true (flam_draw_is_in_rows (flam_graph_draw (graph)));
  close_window (&fixture);
}

/* Widgets that follow the picture are notified before it is drawn, so that
 * there is one frame and not two; and parts of a pixel cause neither
 * notifications nor drawing. */
static void
test_one_frame (void)
{
  Fixture fixture = { 0 };
  FlamFlameGraph *graph;
  guint n = 0;

  open_deep (&fixture);
  graph = fixture.graph;
  scroll_to (graph, 100);
  settle ();
  g_signal_connect (graph, "drawn-changed", G_CALLBACK (count_drawn), &n);
  scroll_to (graph, 160);
  g_assert_cmpuint (n, ==, 1);
  flam_graph_zoom_by (graph, 300, 0.7);
  g_assert_cmpuint (n, ==, 2);
  flam_graph_pan_to (graph, graph->from, graph->scroll + 20);
  g_assert_cmpuint (n, ==, 3);
  settle ();
  g_assert_cmpuint (n, ==, 3);
  g_assert_nonnull (graph->picture);
  scroll_to (graph, gtk_adjustment_get_value (graph->vadjustment) + 0.2);
  g_assert_nonnull (graph->picture);
  close_window (&fixture);
}

static GtkEventController *
wheel_of (FlamFlameGraph *graph)
{
  g_autoptr (GListModel) all =
      gtk_widget_observe_controllers (GTK_WIDGET (graph));

  for (guint i = 0; i < g_list_model_get_n_items (all); i++)
    {
      g_autoptr (GtkEventController) one = g_list_model_get_item (all, i);

      if (GTK_IS_EVENT_CONTROLLER_SCROLL (one))
        return one; /* the graph's */
    }
  g_assert_not_reached ();
}

static gboolean
turn_wheel (FlamFlameGraph *graph, double dy)
{
  gboolean handled = FALSE;

  g_signal_emit_by_name (wheel_of (graph), "scroll", 0.0, dy, &handled);
  return handled;
}

/* A turn of the wheel is the scrolled window's, unless there is nothing to
 * scroll to: the glow that it would draw then takes many frames. */
static void
test_ends (void)
{
  Fixture fixture = { 0 };
  FlamFlameGraph *graph;

  open_deep (&fixture);
  graph = fixture.graph;
  scroll_to (graph, 0);
  g_assert_true (turn_wheel (graph, -1));
  g_assert_false (turn_wheel (graph, 1));
  scroll_to (graph, 60);
  g_assert_false (turn_wheel (graph, -1));
  g_assert_false (turn_wheel (graph, 1));
  scroll_to (graph, G_MAXINT);
  g_assert_false (turn_wheel (graph, -1));
  g_assert_true (turn_wheel (graph, 1));
  close_window (&fixture);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  adw_init ();
  g_test_add_func ("/graph-scroll/pixels", test_pixels);
  g_test_add_func ("/graph-scroll/high-letters", test_high_letters);
  g_test_add_func ("/graph-scroll/moves", test_moves);
  g_test_add_func ("/graph-scroll/one-frame", test_one_frame);
  g_test_add_func ("/graph-scroll/ends", test_ends);
  return g_test_run ();
}
