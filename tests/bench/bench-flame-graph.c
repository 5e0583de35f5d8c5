/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The flame graph widget in a window of 1600x900, over a tree of a million
 * nodes: the cost of a frame, from the widget's snapshot to the pixels of a
 * surface. Views are those of typical work: the whole graph, zooms into nodes
 * of every weight and depth, the frames of the animation between them,
 * scrolling, wheel zooms, a search. Every frame is a new view. */

#include "flam-flame-graph-private.h"

#include <adwaita.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "flam-test-trees.h"

#define NODES 1000000
#define FRAMES 1200

typedef struct
{
  FlamFlameGraph *graph;
  cairo_surface_t *surface;
  double ms[FRAMES];
  guint n;
} Bench;

static void
settle (void)
{
  gint64 end = g_get_monotonic_time () + 200000;

  while (g_get_monotonic_time () < end)
    g_main_context_iteration (NULL, FALSE);
}

/* The thread's own time: drawing never waits, and the machine may be busy with
 * other things. */
static double
now_ms (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void
frame (Bench *bench)
{
  GtkWidget *widget = GTK_WIDGET (bench->graph);
  double start = now_ms ();
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node;
  cairo_t *cr;

  GTK_WIDGET_GET_CLASS (widget)->snapshot (widget, snapshot);
  node = gtk_snapshot_free_to_node (snapshot);
  cr = cairo_create (bench->surface);
  gsk_render_node_draw (node, cr);
  cairo_destroy (cr);
  cairo_surface_flush (bench->surface);
  gsk_render_node_unref (node);
  if (bench->n < FRAMES)
    bench->ms[bench->n++] = now_ms () - start;
}

/* Like the animation: eight frames on the way. */
static void
zoom (Bench *bench, FlamNodeId node)
{
  FlamFlameGraph *graph = bench->graph;
  double from0 = graph->from, to0 = graph->to, from1, to1;

  flam_graph_set_zoom (graph, node, FALSE, FALSE);
  from1 = graph->from;
  to1 = graph->to;
  for (guint i = 1; i <= 8; i++)
    {
      graph->from = from0 + (from1 - from0) * i / 8;
      graph->to = to0 + (to1 - to0) * i / 8;
      flam_graph_relayout (graph);
      frame (bench);
    }
}

static void
work (Bench *bench)
{
  FlamFlameGraph *graph = bench->graph;
  GRand *random = g_rand_new_with_seed (42);
  g_autoptr (FlamRegex) regex = flam_regex_new ("visit_1", 0, NULL);
  FlamNodeId node = 0;

  for (guint round = 0; bench->n < FRAMES; round++)
    {
      if (round % 5 == 0)
        node = 0;
      else
        node = (FlamId)g_rand_int_range (
            random, (gint)node, (gint)graph->tree->subtree_end[node]);
      if (round % 16 == 8)
        flam_flame_graph_set_search (graph, regex);
      if (round % 16 == 12)
        flam_flame_graph_set_search (graph, NULL);
      zoom (bench, node);
      for (guint i = 0; i < 4; i++)
        {
          flam_graph_pan_to (graph, graph->from, graph->scroll + 60);
          frame (bench);
        }
      for (guint i = 0; i < 3; i++)
        {
          flam_graph_zoom_by (graph, g_rand_int_range (random, 0, 1600), 0.8);
          frame (bench);
        }
    }
  g_rand_free (random);
}

static int
ascending (const void *a, const void *b)
{
  const double *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

static void
print (const char *name, double ms, const char *target)
{
  g_print ("flame graph of 1,000,000 nodes, 1600x900: %s\t%.1f ms\t-\t-\t%s\n",
           name,
           ms,
           target);
}

/* Under its own Xvfb, whether or not there is a display. */
static void
ensure_display (char **argv)
{
  const char *root = g_getenv ("FLAM_SOURCE_ROOT");
  g_autofree char *script = NULL;

  if (root == NULL || g_getenv ("FLAM_BENCH_DISPLAY") != NULL)
    return;
  g_setenv ("FLAM_BENCH_DISPLAY", "1", TRUE);
  script = g_build_filename (root, "tests", "ui", "with-display", NULL);
  execl (script, script, argv[0], NULL);
  g_printerr ("%s: %s\n", script, g_strerror (errno));
}

static GtkWidget *
open_window (Bench *bench, FlamTree *tree)
{
  GtkWidget *window = gtk_window_new ();
  GtkWidget *scroller = gtk_scrolled_window_new ();

  bench->graph = FLAM_FLAME_GRAPH (flam_flame_graph_new ());
  gtk_window_set_default_size (GTK_WINDOW (window), 1600, 900);
  gtk_window_set_decorated (GTK_WINDOW (window), FALSE);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller),
                                 GTK_WIDGET (bench->graph));
  gtk_scrolled_window_set_policy (
      GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_window_set_child (GTK_WINDOW (window), scroller);
  flam_flame_graph_set_tree (bench->graph, tree, NULL);
  gtk_window_present (GTK_WINDOW (window));
  settle ();
  return window;
}

int
main (int argc, char **argv)
{
  Bench bench = { 0 };
  g_autoptr (FlamTree) tree = NULL;
  GtkWidget *window;

  ensure_display (argv);
  adw_init ();
  tree = flam_test_random_tree (NODES, 5000, 11, FLAM_ORDER_TOTAL);
  window = open_window (&bench, tree);
  bench.surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 1600, 900);
  g_printerr ("# %u nodes, %dx%d, %d frames\n",
              tree->n,
              gtk_widget_get_width (GTK_WIDGET (bench.graph)),
              gtk_widget_get_height (GTK_WIDGET (bench.graph)),
              FRAMES);
  work (&bench);
  qsort (bench.ms, bench.n, sizeof (double), ascending);
  print ("median frame", bench.ms[bench.n / 2], "8 ms");
  print ("99th percentile", bench.ms[bench.n * 99 / 100], "16 ms");
  g_printerr ("# slowest %.2f ms\n", bench.ms[bench.n - 1]);
  cairo_surface_destroy (bench.surface);
  gtk_window_destroy (GTK_WINDOW (window));
  return 0;
}
