/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flam-draw.h"
#include "flam-label.h"
#include "flam-test-trees.h"

static const char sample[] =
    "main@/bin/nest;compute@/bin/nest;std::vector<int, std::allocator<int> "
    ">::push_back(int&&)_[i]@/bin/nest 300\n"
    "main@/bin/nest;compute@/bin/nest;spin_heavy@/bin/nest 507\n"
    "main@/bin/nest;read@/lib/libc.so.6;sys_read_[k] 93\n"
    "main@/bin/nest;run_[j] 40\n"
    "main@/bin/nest;naïve_größe.py_[p] 30\n"
    "main@/bin/nest;what_[u] 20\n";

static GObject *
context_new (void)
{
  PangoContext *context =
      pango_font_map_create_context (pango_cairo_font_map_get_default ());
  PangoFontDescription *font = pango_font_description_from_string ("Sans 9");

  pango_context_set_font_description (context, font);
  pango_font_description_free (font);
  return G_OBJECT (context);
}

/* --- documents ----------------------------------------------------------- */

static void
keep (const char *name, const GString *document)
{
  const char *folder = g_getenv ("FLAM_TEST_PICTURES");
  g_autofree char *path = NULL;

  if (folder == NULL)
    return;
  path = g_build_filename (folder, name, NULL);
  g_assert_true (
      g_file_set_contents (path, document->str, document->len, NULL));
}

static void
test_png (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  FlamPictureOptions options = { .look.title = "nest" };
  g_autoptr (GError) error = NULL;

  for (guint look = 0; look < 4; look++)
    {
      g_autoptr (GString) out = g_string_new (NULL);
      g_autofree char *name = g_strdup_printf ("small-%u.png", look);

      options.dark = look & 1;
      options.scale = look & 2 ? 2 : 1;
      options.look.direction =
          look >> 1 ? FLAM_DIRECTION_ICICLE : FLAM_DIRECTION_FLAME;
      g_assert_true (flam_picture_to_png (tree, &options, out, &error));
      g_assert_no_error (error);
      g_assert_cmpmem (out->str, 8, "\x89PNG\r\n\x1a\n", 8);
      keep (name, out);
    }
}

static void
test_pdf (void)
{
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (20000, 300, 5, FLAM_ORDER_TOTAL);
  FlamPictureOptions options = { .look.title = "twenty thousand",
                                 .max_height = 900 };
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GString) png = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (flam_picture_to_pdf (tree, &options, out, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (out->str, 5, "%PDF-", 5);
  keep ("large.pdf", out);
  g_assert_true (flam_picture_to_png (tree, &options, png, &error));
  g_assert_no_error (error);
  keep ("large.png", png);
}

typedef struct
{
  const GString *bytes;
  gsize at;
} Reader;

static cairo_status_t
read_bytes (void *closure, unsigned char *data, unsigned int length)
{
  Reader *reader = closure;

  memcpy (data, reader->bytes->str + reader->at, length);
  reader->at += length;
  return CAIRO_STATUS_SUCCESS;
}

/* The tags of a picture give the function of its pixels. */
static void
test_tags (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  FlamPictureOptions options = { .look.title = "nest", .scale = 2 };
  g_autoptr (FlamPalette) palette =
      flam_palette_new_for (tree, &options.look.colors, FALSE);
  g_autoptr (GString) png = g_string_new (NULL);
  g_autoptr (GString) tags = g_string_new (NULL);
  g_auto (GStrv) lines = NULL;
  Reader reader = { png, 0 };
  cairo_surface_t *surface;
  guint found = 0;

  g_assert_true (flam_picture_to_png (tree, &options, png, NULL));
  g_assert_true (flam_picture_to_tags (tree, &options, tags, NULL));
  surface = cairo_image_surface_create_from_png_stream (read_bytes, &reader);
  lines = g_strsplit (tags->str, "\n", -1);
  for (guint i = 1; lines[i][0] != '\0'; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], "\t", -1);
      int x = atoi (fields[0]) + atoi (fields[2]) / 2;
      int y = atoi (fields[1]) + 1;
      const guint32 *row =
          (const guint32 *)(gconstpointer)(cairo_image_surface_get_data (
                                               surface) +
                                           (gsize)y *
                                               cairo_image_surface_get_stride (
                                                   surface));

      g_assert_cmpuint (g_strv_length (fields), ==, 7);
      for (FlamNodeId node = 0; node < tree->n; node++)
        if (strcmp (flam_tree_name (tree, node), fields[4]) == 0)
          {
            g_assert_cmphex (
                row[x] & 0xffffff, ==, flam_palette_node (palette, tree, node));
            found++;
          }
    }
  g_assert_cmpuint (found, ==, tree->n);
  cairo_surface_destroy (surface);
}

/* Calls of random lengths on two threads, and the threads' states. */
static FlamProfile *
calls_new (GRand *lot)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);

  flam_builder_add_measure (builder,
                            "wall-time",
                            "Wall time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  flam_builder_set_has_times (builder);
  flam_builder_set_spans (builder, 0, FLAM_SPANS_CALLS);
  for (guint t = 0; t < 2; t++)
    {
      FlamThreadId thread =
          flam_builder_thread (builder, process, (gint32)t + 1, 0);
      gint64 time = 0;

      for (guint i = 0; i < 400; i++)
        {
          gint64 weight = (gint64)exp (g_rand_double_range (lot, 0, 8));
          FlamSample one = { .thread = thread,
                             .time = time,
                             .stack = FLAM_NONE,
                             .state = g_rand_int_range (lot, 0, 3) };

          for (int depth = g_rand_int_range (lot, 1, 5); depth > 0; depth--)
            {
              g_autofree char *name =
                  g_strdup_printf ("f%d", g_rand_int_range (lot, 0, 9));

              one.stack = flam_builder_stack (
                  builder,
                  one.stack,
                  flam_builder_frame (
                      builder,
                      flam_builder_function_named (
                          builder, flam_builder_string (builder, name, -1), 0),
                      0,
                      0,
                      0));
            }
          flam_builder_add_sample (builder, &one, &weight);
          time += weight;
        }
    }
  return flam_builder_finish (builder, NULL);
}

/* The difference of two images: the sum over all channels of all pixels, with
 * 255 per channel. */
static double
distance (cairo_surface_t *a, cairo_surface_t *b)
{
  const guint8 *x = cairo_image_surface_get_data (a);
  const guint8 *y = cairo_image_surface_get_data (b);
  gsize n = (gsize)cairo_image_surface_get_stride (a) *
            cairo_image_surface_get_height (a);
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += abs (x[i] - y[i]);
  return sum / (double)n / 255;
}

/* A chart's boxes are the same, written to an image pixel by pixel or drawn as
 * paths, wherever its rows begin, except for pixels that boxes share. */
static void
test_chart_pixels (void)
{
  g_autoptr (GRand) lot = g_rand_new_with_seed (5);
  g_autoptr (FlamProfile) profile = calls_new (lot);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  g_autoptr (FlamTree) tree =
      flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  g_autoptr (FlamChart) chart = flam_chart_new (profile, selection, NULL, NULL);
  g_autoptr (FlamChartNodes) nodes = flam_chart_nodes_new (tree);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (profile, FLAM_PALETTE_CODE, FALSE);
  g_autoptr (GObject) context = context_new ();
  g_autoptr (FlamDraw) draw = flam_draw_new (PANGO_CONTEXT (context), NULL);
  FlamChartScene scene = { chart, nodes, palette, FALSE, G_MAXUINT, G_MAXUINT };

  for (guint round = 0; round < 12; round++)
    {
      double span = (double)(chart->to - chart->from) / (1 << round % 6);
      cairo_surface_t *recorded =
          cairo_recording_surface_create (CAIRO_CONTENT_COLOR_ALPHA, NULL);
      cairo_surface_t *image[2];
      g_autoptr (FlamChartLayout) layout = NULL;
      FlamChartView view;
      cairo_t *cr = cairo_create (recorded);

      flam_chart_view_init (&view, chart, 300, 18);
      view.from = g_rand_double_range (
          lot, 0, (double)(chart->to - chart->from) - span + 1);
      view.to = view.from + span;
      view.height = 100;
      view.top = round < 6 ? round * 7 : round * 3.3;
      layout = flam_chart_layout_new (chart, &view);
      flam_draw_chart (draw, cr, layout, &scene);
      cairo_destroy (cr);
      for (guint i = 0; i < 2; i++)
        image[i] = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 300, 118);
      cr = cairo_create (image[0]);
      cairo_set_source_surface (cr, recorded, 0, 0);
      cairo_paint (cr);
      cairo_destroy (cr);
      cr = cairo_create (image[1]);
      flam_draw_chart (draw, cr, layout, &scene);
      cairo_destroy (cr);
      g_test_message ("round %u: %g", round, distance (image[0], image[1]));
      g_assert_cmpfloat (distance (image[0], image[1]), <, 0.001);
      for (guint i = 0; i < 2; i++)
        cairo_surface_destroy (image[i]);
      cairo_surface_destroy (recorded);
    }
}

/* The label of a ruler's last tick is left out where it would be cut. */
static void
test_ruler_label_at_the_end (void)
{
  g_autoptr (GRand) lot = g_rand_new_with_seed (5);
  g_autoptr (FlamProfile) profile = calls_new (lot);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  g_autoptr (FlamTree) tree =
      flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  g_autoptr (FlamChart) chart = flam_chart_new (profile, selection, NULL, NULL);
  g_autoptr (FlamChartNodes) nodes = flam_chart_nodes_new (tree);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (profile, FLAM_PALETTE_CODE, FALSE);
  g_autoptr (GObject) context = context_new ();
  g_autoptr (FlamDraw) draw = flam_draw_new (PANGO_CONTEXT (context), NULL);
  FlamChartScene scene = { chart, nodes, palette, FALSE, G_MAXUINT, G_MAXUINT };
  cairo_surface_t *image =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, 300, 118);
  cairo_t *cr = cairo_create (image);
  g_autoptr (FlamChartLayout) layout = NULL;
  FlamChartView view;
  const guint32 *row;

  flam_chart_view_init (&view, chart, 300, 18);
  /* Ticks each 100 ns, the last one 8 pixels before the end. */
  view.from = 0;
  view.to = 200 * 300 / 292.5;
  view.height = 100;
  g_assert_true (flam_ticks_step (view.to, 300) == 100);
  layout = flam_chart_layout_new (chart, &view);
  flam_draw_chart (draw, cr, layout, &scene);
  cairo_destroy (cr);
  cairo_surface_flush (image);
  for (int y = 0; y < 10; y++)
    {
      row = (const guint32 *)(cairo_image_surface_get_data (image) +
                              y * cairo_image_surface_get_stride (image));
      for (int x = 294; x < 300; x++)
        g_assert_cmpuint (row[x], ==, row[292 - 2]);
    }
  cairo_surface_destroy (image);
}

/* The same for a chart. */
static void
test_chart_tags (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamThreadId thread = flam_builder_thread (builder, process, 7, 0);
  FlamStackId stack = FLAM_NONE;
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (FlamChart) chart = NULL;
  g_autoptr (FlamPalette) palette = NULL;
  g_autoptr (GString) png = g_string_new (NULL);
  g_autoptr (GString) tags = g_string_new (NULL);
  FlamPictureOptions options = { .look.title = "chart", .scale = 2 };
  Reader reader = { png, 0 };
  const gint64 weight = 10;
  cairo_surface_t *surface;
  g_auto (GStrv) lines = NULL;

  flam_builder_add_measure (builder,
                            "wall-time",
                            "Wall time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  flam_builder_set_has_times (builder);
  flam_builder_set_spans (builder, 0, FLAM_SPANS_CALLS);
  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%u", i);
      FlamFunctionId function = flam_builder_function_named (
          builder, flam_builder_string (builder, name, -1), i);
      FlamSample at = { .thread = thread, .time = i * 10 };

      stack = flam_builder_stack (
          builder, stack, flam_builder_frame (builder, function, 0, 0, 0));
      at.stack = stack;
      flam_builder_add_sample (builder, &at, &weight);
    }
  profile = flam_builder_finish (builder, NULL);
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  chart = flam_chart_new (profile, selection, NULL, NULL);
  options.chart = chart;
  palette = flam_palette_new_for (tree, &options.look.colors, FALSE);
  g_assert_true (flam_picture_to_png (tree, &options, png, NULL));
  g_assert_true (flam_picture_to_tags (tree, &options, tags, NULL));
  keep ("chart.png", png);
  surface = cairo_image_surface_create_from_png_stream (read_bytes, &reader);
  lines = g_strsplit (tags->str, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 5);
  for (guint i = 1; i < 4; i++)
    {
      g_auto (GStrv) fields = g_strsplit (lines[i], "\t", -1);
      int x = atoi (fields[0]) + atoi (fields[2]) - 6;
      int y = atoi (fields[1]) + 2;
      const guint32 *row =
          (const guint32 *)(gconstpointer)(cairo_image_surface_get_data (
                                               surface) +
                                           (gsize)y *
                                               cairo_image_surface_get_stride (
                                                   surface));

      g_assert_cmpint (atoi (fields[4] + 1), ==, (int)i - 1);
      g_assert_cmphex (
          row[x] & 0xffffff, ==, flam_palette_node (palette, tree, i));
    }
  cairo_surface_destroy (surface);
}

static void
test_nothing (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree ("", FLAM_ORDER_TOTAL);
  FlamPictureOptions options = { .bare = TRUE, .zoom = 77 };
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (flam_picture_to_png (tree, &options, out, &error));
  g_assert_no_error (error);
}

/* --- pixels and paths ---------------------------------------------------- */

static cairo_surface_t *
fill (FlamLayout *layout, const FlamColor *colors, gboolean pixels)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32,
                                  (int)layout->viewport.width,
                                  (int)layout->viewport.height);
  cairo_t *cr = cairo_create (surface);

  if (pixels)
    g_assert_true (flam_draw_boxes_as_pixels (cr, layout, colors, 0xffffff));
  else
    flam_draw_boxes_as_paths (cr, layout, colors, 0xffffff);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return surface;
}

/* The mean difference of a channel, 0 to 255. */
static double
difference (cairo_surface_t *a, cairo_surface_t *b)
{
  const guchar *x = cairo_image_surface_get_data (a);
  const guchar *y = cairo_image_surface_get_data (b);
  gsize n = (gsize)cairo_image_surface_get_stride (a) *
            cairo_image_surface_get_height (a);
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    sum += abs (x[i] - y[i]);
  return sum / (double)n;
}

static void
test_same_picture (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (tree->profile, FLAM_PALETTE_CODE, FALSE);
  FlamViewport viewport = {
    .width = 900,
    .height = 100,
    .row_height = 18,
    .to = (double)tree->total[0],
    .min_width = 0.5,
  };
  g_autoptr (FlamLayout) layout = flam_layout_new (rows, &viewport);
  g_autofree FlamColor *colors = g_new (FlamColor, layout->n);
  cairo_surface_t *pixels, *paths;

  for (guint32 i = 0; i < layout->n; i++)
    colors[i] = flam_palette_node (palette, tree, layout->boxes[i].node);
  pixels = fill (layout, colors, TRUE);
  paths = fill (layout, colors, FALSE);
  g_test_message ("difference %.3f", difference (pixels, paths));
  g_assert_cmpfloat (difference (pixels, paths), <, 0.1);
  for (guint32 i = 0; i < layout->n; i++)
    colors[i] = 0xffffff;
  cairo_surface_destroy (paths);
  paths = fill (layout, colors, FALSE);
  g_assert_cmpfloat (difference (pixels, paths), >, 10);
  cairo_surface_destroy (pixels);
  cairo_surface_destroy (paths);
}

/* Boxes that reach beyond the surface on all sides. */
static void
test_clipped (void)
{
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (3000, 100, 9, FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  g_autoptr (GObject) held = context_new ();
  PangoContext *context = (PangoContext *)held;
  g_autoptr (FlamDraw) draw = flam_draw_new (context, NULL);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (tree->profile, FLAM_PALETTE_CODE, TRUE);
  FlamScene scene = { .tree = tree, .palette = palette };

  for (guint round = 0; round < 60; round++)
    {
      double whole = (double)tree->total[0];
      FlamViewport viewport = {
        .width = g_test_rand_int_range (1, 500),
        .height = g_test_rand_int_range (1, 300),
        .row_height = flam_draw_row_height (draw),
        .scroll = g_test_rand_double_range (0, 200),
        .from = g_test_rand_double_range (0, whole * 0.6),
        .to = g_test_rand_double_range (whole * 0.61, whole),
        .min_width = 0.5,
        .direction = round % 2,
      };
      g_autoptr (FlamLayout) layout = flam_layout_new (rows, &viewport);
      cairo_surface_t *surface =
          cairo_image_surface_create (CAIRO_FORMAT_ARGB32,
                                      g_test_rand_int_range (1, 600),
                                      g_test_rand_int_range (1, 300));
      cairo_t *cr;

      cairo_surface_set_device_scale (surface, 1 + round % 3, 1 + round % 3);
      cr = cairo_create (surface);
      cairo_translate (cr, round % 5, round % 3);
      flam_draw_layout (draw, cr, layout, &scene);
      g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
      cairo_destroy (cr);
      cairo_surface_destroy (surface);
    }
}

/* Nothing is drawn outside of the viewport, as paths (a scaled context) and as
 * pixels, although the rows at its edges extend beyond it. */
static void
test_stays_inside (void)
{
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (3000, 100, 9, FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  g_autoptr (GObject) held = context_new ();
  g_autoptr (FlamDraw) draw = flam_draw_new ((PangoContext *)held, NULL);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (tree->profile, FLAM_PALETTE_CODE, FALSE);
  FlamScene scene = { .tree = tree, .palette = palette };
  FlamViewport viewport = {
    .width = 300,
    .height = 110,
    .row_height = flam_draw_row_height (draw),
    .scroll = 7,
    .to = (double)tree->total[0],
    .min_width = 0.5,
  };
  g_autoptr (FlamLayout) layout = flam_layout_new (rows, &viewport);

  for (guint scale = 1; scale <= 2; scale++)
    {
      cairo_surface_t *surface =
          cairo_image_surface_create (CAIRO_FORMAT_ARGB32, 800, 400);
      cairo_t *cr = cairo_create (surface);
      const guchar *data;
      int stride = cairo_image_surface_get_stride (surface);

      cairo_translate (cr, 40, 40);
      cairo_scale (cr, scale, scale);
      flam_draw_layout (draw, cr, layout, &scene);
      cairo_destroy (cr);
      cairo_surface_flush (surface);
      data = cairo_image_surface_get_data (surface);
      for (int y = 0; y < 400; y++)
        for (int x = 0; x < 800; x++)
          {
            const guint32 *line =
                (const guint32 *)(const void *)(data + stride * y);
            gboolean inside = x >= 40 && x < 40 + 300 * (int)scale && y >= 40 &&
                              y < 40 + 110 * (int)scale;

            g_assert_cmphex (line[x] != 0, ==, inside);
          }
      cairo_surface_destroy (surface);
    }
}

/* --- labels -------------------------------------------------------------- */

static guint
n_glyphs (const FlamGlyphs *glyphs)
{
  guint n = 0;

  for (guint i = 0; i < glyphs->glyphs->len; i++)
    n += ((GArray *)glyphs->glyphs->pdata[i])->len;
  return n;
}

static double
rightmost (const FlamGlyphs *glyphs)
{
  double x = 0;

  for (guint i = 0; i < glyphs->glyphs->len; i++)
    {
      const GArray *array = glyphs->glyphs->pdata[i];

      for (guint j = 0; j < array->len; j++)
        x = MAX (x, g_array_index (array, cairo_glyph_t, j).x);
    }
  return x;
}

static void
test_labels (void)
{
  static const char name[] = "engine::parser<char>::parse_document(int)";
  g_autoptr (GObject) held = context_new ();
  PangoContext *context = (PangoContext *)held;
  g_autoptr (FlamLabels) labels =
      flam_labels_new (context, pango_context_get_font_description (context));
  FlamGlyphs glyphs;
  double six;

  flam_glyphs_init (&glyphs);
  six = flam_labels_add (labels, &glyphs, "mmmmmm…", 0, 0, 1000);
  flam_glyphs_clear (&glyphs);
  flam_glyphs_init (&glyphs);
  flam_labels_add (labels, &glyphs, name, 0, 0, 1000);
  g_assert_cmpuint (n_glyphs (&glyphs), ==, strlen (name));
  for (double width = 0; width < 400; width += 3)
    {
      guint before;

      flam_glyphs_clear (&glyphs);
      flam_glyphs_init (&glyphs);
      flam_labels_add (labels, &glyphs, name, 0, 0, width);
      before = n_glyphs (&glyphs);
      g_assert_cmpfloat (rightmost (&glyphs), <=, width);
      if (width < 12)
        g_assert_cmpuint (before, ==, 0);
      if (width >= six)
        g_assert_cmpuint (before, >=, 6);
    }
  flam_labels_add (labels, &glyphs, "größe::日本語", 0, 0, 1000);
  flam_labels_add (labels, &glyphs, "", 0, 0, 1000);
  flam_labels_add (labels, &glyphs, "\xff\xfe bad", 0, 0, 30);
  flam_glyphs_clear (&glyphs);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/picture/tags", test_tags);
  g_test_add_func ("/picture/chart-tags", test_chart_tags);
  g_test_add_func ("/picture/chart-pixels", test_chart_pixels);
  g_test_add_func ("/picture/ruler-label-at-the-end",
                   test_ruler_label_at_the_end);
  g_test_add_func ("/picture/png", test_png);
  g_test_add_func ("/picture/pdf", test_pdf);
  g_test_add_func ("/picture/nothing", test_nothing);
  g_test_add_func ("/draw/same-picture", test_same_picture);
  g_test_add_func ("/draw/clipped", test_clipped);
  g_test_add_func ("/draw/stays-inside", test_stays_inside);
  g_test_add_func ("/draw/labels", test_labels);
  return g_test_run ();
}
