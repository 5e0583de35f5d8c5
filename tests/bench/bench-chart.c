/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The flame chart of a million calls on eight threads: the cost of a frame,
 * from the view to the pixels of a surface of 1600x900. Every frame is a new
 * view: the whole chart, and zooms to any length of time anywhere. */

#include "flam-draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "flam-core-query.h"

#define EVENTS 1000000
#define THREADS 8
#define DEPTH 12
#define FRAMES 600
#define WIDTH 1600
#define HEIGHT 900

/* The thread's own time: the machine may be busy with other things. */
static double
now_ms (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* The depth of each thread's calls varies, and each call takes its time. */
static FlamProfile *
profile_new (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  g_autoptr (GRand) lot = g_rand_new_with_seed (7);
  FlamFunctionId functions[200];

  flam_builder_add_measure (builder,
                            "wall-time",
                            "Wall time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  flam_builder_set_spans (builder, 0, FLAM_SPANS_CALLS);
  flam_builder_set_has_times (builder);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      g_autofree char *name = g_strdup_printf ("module::call_%u(int)", i);

      functions[i] = flam_builder_function_named (
          builder, flam_builder_string (builder, name, -1), FLAM_KIND_NATIVE);
    }
  for (guint t = 0; t < THREADS; t++)
    {
      FlamThreadId thread =
          flam_builder_thread (builder, process, (gint32)t + 1, 0);
      FlamId path[DEPTH + 1] = { FLAM_NONE };
      guint depth = 0;
      gint64 time = 0;

      for (guint i = 0; i < EVENTS / THREADS; i++)
        {
          gint64 weight = g_rand_int_range (lot, 50, 50000);
          FlamSample sample = { .thread = thread, .time = time };
          guint to = (guint)g_rand_int_range (lot, 0, DEPTH);

          for (depth = MIN (depth, to); depth < to; depth++)
            path[depth + 1] = flam_builder_stack (
                builder,
                path[depth],
                flam_builder_frame (builder,
                                    functions[g_rand_int_range (lot, 0, 200)],
                                    0,
                                    0,
                                    0));
          sample.stack = path[depth];
          flam_builder_add_sample (builder, &sample, &weight);
          time += weight;
        }
    }
  return flam_builder_finish (builder, NULL);
}

static int
ascending (const void *a, const void *b)
{
  double x = *(const double *)a;
  double y = *(const double *)b;

  return (x > y) - (x < y);
}

int
main (void)
{
  g_autoptr (FlamProfile) profile = profile_new ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  g_autoptr (FlamTree) tree =
      flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  g_autoptr (FlamChart) chart = flam_chart_new (profile, selection, NULL, NULL);
  g_autoptr (FlamChartNodes) nodes = flam_chart_nodes_new (tree);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (profile, FLAM_PALETTE_CODE, FALSE);
  PangoContext *context =
      pango_font_map_create_context (pango_cairo_font_map_get_default ());
  g_autoptr (FlamDraw) draw = flam_draw_new (context, NULL);
  g_autoptr (GRand) lot = g_rand_new_with_seed (11);
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, WIDTH, HEIGHT);
  double all = (double)(chart->to - chart->from);
  double ms[FRAMES];

  for (guint i = 0; i < FRAMES; i++)
    {
      double start = now_ms ();
      double span = all / (1 << i % 18);
      FlamChartScene scene = { chart, nodes,     palette,
                               FALSE, G_MAXUINT, G_MAXUINT };
      g_autoptr (FlamChartLayout) layout = NULL;
      cairo_t *cr = cairo_create (surface);
      FlamChartView view;

      flam_chart_view_init (&view, chart, WIDTH, 18);
      view.from = g_rand_double_range (lot, 0, all - span + 1);
      view.to = view.from + span;
      view.height = HEIGHT - FLAM_DRAW_RULER;
      view.top = g_rand_double_range (
          lot, 0, MAX (flam_chart_height (chart, &view) - view.height, 1));
      layout = flam_chart_layout_new (chart, &view);
      flam_draw_chart (draw, cr, layout, &scene);
      cairo_destroy (cr);
      ms[i] = now_ms () - start;
    }
  qsort (ms, FRAMES, sizeof *ms, ascending);
  printf ("flame chart of 1,000,000 calls, %dx%d: median frame\t%.1f ms\t-\t-\t"
          "8 ms\n",
          WIDTH,
          HEIGHT,
          ms[FRAMES / 2]);
  printf (
      "flame chart of 1,000,000 calls, %dx%d: 99th percentile\t%.1f ms\t-\t-"
      "\t16 ms\n",
      WIDTH,
      HEIGHT,
      ms[FRAMES * 99 / 100]);
  cairo_surface_destroy (surface);
  g_object_unref (context);
  return 0;
}
