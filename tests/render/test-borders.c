/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels that fit exactly, boxes of less than a pixel, pictures one row too
 * high. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flam-draw-private.h"
#include "flam-picture.h"
#include "flam-test-trees.h"

/* --- labels -----------------------------------------------------------------
 */

static PangoContext *
context_new (void)
{
  PangoContext *context =
      pango_font_map_create_context (pango_cairo_font_map_get_default ());
  PangoFontDescription *font =
      pango_font_description_from_string ("Monospace 9");

  pango_context_set_font_description (context, font);
  pango_font_description_free (font);
  return context;
}

typedef struct
{
  PangoContext *context;
  FlamLabels *labels;
  FlamGlyphs glyphs;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->context = context_new ();
  fixture->labels = flam_labels_new (
      fixture->context, pango_context_get_font_description (fixture->context));
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  flam_labels_free (fixture->labels);
  g_object_unref (fixture->context);
}

/* The width of the added text, and its glyphs as numbers relative to each
 * other: a text of the same length as `alphabet`, which has each letter
 * once. */
static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";

static double
add (Fixture *fixture, const char *name, double width, GArray *placed)
{
  double added;

  flam_glyphs_init (&fixture->glyphs);
  added = flam_labels_add (
      fixture->labels, &fixture->glyphs, g_intern_string (name), 10, 20, width);
  if (placed != NULL && fixture->glyphs.glyphs->len > 0)
    {
      const GArray *all = fixture->glyphs.glyphs->pdata[0];

      g_array_append_vals (placed, all->data, all->len);
    }
  flam_glyphs_clear (&fixture->glyphs);
  return added;
}

/* In a monospaced font, each letter is one width further than the previous
 * one. */
static void
test_places (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GArray) placed =
      g_array_new (FALSE, FALSE, sizeof (cairo_glyph_t));
  double letter = add (fixture, "m", 1000, NULL);

  g_assert_cmpfloat (letter, >, 3);
  g_assert_cmpfloat_with_epsilon (
      add (fixture, "mmmm", 1000, placed), 4 * letter, 1e-3);
  g_assert_cmpuint (placed->len, ==, 4);
  for (guint i = 0; i < 4; i++)
    {
      const cairo_glyph_t *glyph = &g_array_index (placed, cairo_glyph_t, i);

      g_assert_cmpfloat_with_epsilon (glyph->x, 10 + i * letter, 1e-3);
      g_assert_cmpfloat (glyph->y, ==, 20);
    }
}

/* Eight letters: whole in the width of eight, cut in slightly less, and not
 * drawn where six of them and an ellipsis do not fit. */
static void
test_exact (Fixture *fixture, gconstpointer data)
{
  double letter = add (fixture, "m", 1000, NULL);
  double whole = add (fixture, "abcdefgh", 1000, NULL);
  double least = 6 * letter + add (fixture, "…", 1000, NULL);

  g_assert_cmpfloat_with_epsilon (whole, 8 * letter, 1e-3);
  g_assert_cmpfloat (add (fixture, "abcdefgh", whole, NULL), ==, whole);
  g_assert_cmpfloat (
      add (fixture, "abcdefgh", whole - 0.01, NULL), <, whole - letter / 2);
  g_assert_cmpfloat (add (fixture, "abcdefgh", least + 0.01, NULL), >, 0);
  g_assert_cmpfloat (add (fixture, "abcdefgh", least - 0.01, NULL), ==, 0);
  g_assert_cmpfloat (add (fixture, "m", letter, NULL), ==, letter);
}

/* Of 36 letters in the room of 11: four of the beginning, an ellipsis and six
 * of the end. */
static void
test_cut (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GArray) whole = g_array_new (FALSE, FALSE, sizeof (cairo_glyph_t));
  g_autoptr (GArray) cut = g_array_new (FALSE, FALSE, sizeof (cairo_glyph_t));
  double letter = add (fixture, "m", 1000, NULL);
  guint n;

  add (fixture, alphabet, 1000, whole);
  g_assert_cmpuint (whole->len, ==, 36);
  add (fixture, alphabet, 11.5 * letter, cut);
  n = cut->len;
  g_assert_cmpuint (n, >=, 10);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpuint (g_array_index (cut, cairo_glyph_t, i).index,
                      ==,
                      g_array_index (whole, cairo_glyph_t, i).index);
  for (guint i = 1; i <= 6; i++)
    g_assert_cmpuint (g_array_index (cut, cairo_glyph_t, n - i).index,
                      ==,
                      g_array_index (whole, cairo_glyph_t, 36 - i).index);
  g_assert_cmpuint (g_array_index (cut, cairo_glyph_t, 4).index,
                    !=,
                    g_array_index (whole, cairo_glyph_t, 4).index);
}

/* Text is left out from the first invalid UTF-8 byte on. */
static void
test_not_utf8 (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpfloat (add (fixture,
                          "ab\xff"
                          "cd",
                          1000,
                          NULL),
                     ==,
                     add (fixture, "ab", 1000, NULL));
}

/* --- boxes ------------------------------------------------------------------
 */

#define WIDTH 40
#define HEIGHT 30
#define BACKGROUND 0x202020u

static cairo_surface_t *
draw_boxes (FlamBox *boxes, guint32 n, const FlamColor *colors)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
  cairo_t *cr = cairo_create (surface);
  guint32 row[] = { 0, n };
  FlamLayout layout = {
    .viewport = { .width = WIDTH, .height = HEIGHT, .row_height = 15 },
    .boxes = boxes,
    .n = n,
    .n_rows = 1,
    .row = row
  };

  g_assert_true (flam_draw_boxes_as_pixels (cr, &layout, colors, BACKGROUND));
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return surface;
}

static guint
pixel (cairo_surface_t *surface, int x, int y)
{
  const guint8 *data = cairo_image_surface_get_data (surface);
  guint32 value;

  memcpy (
      &value, data + y * cairo_image_surface_get_stride (surface) + 4 * x, 4);
  return value & 0xffffff;
}

static void
test_boxes (void)
{
  FlamBox boxes[] = {
    { .x = 0, .width = 10 },       /* rounded, with a gap of a pixel */
    { .x = 10, .width = 0.3f },    /* less than a pixel: gets one */
    { .x = 10.3f, .width = 0.1f }, /* that pixel is already used */
    { .x = 12, .width = 3 },       /* plain, without a gap */
    { .x = 15, .width = 3 },
    { .x = 38, .width = 20 }, /* beyond the edge */
  };
  static const FlamColor colors[] = { 1, 2, 3, 4, 5, 6 };
  static const guint wanted[WIDTH] = { 1, 1, 1, 1,          1, 1,
                                       1, 1, 1, BACKGROUND, 2, BACKGROUND,
                                       4, 4, 4, 5,          5, 5 };
  cairo_surface_t *surface = draw_boxes (boxes, G_N_ELEMENTS (boxes), colors);

  for (int x = 0; x < WIDTH; x++)
    g_assert_cmphex (pixel (surface, x, 7),
                     ==,
                     x >= 38   ? 6
                     : x >= 18 ? BACKGROUND
                               : wanted[x]);
  /* 15 pixels per row, the last of them a gap; the rest is background. */
  g_assert_cmphex (pixel (surface, 5, 0), ==, 1);
  g_assert_cmphex (pixel (surface, 5, 13), ==, 1);
  g_assert_cmphex (pixel (surface, 5, 14), ==, BACKGROUND);
  g_assert_cmphex (pixel (surface, 5, 29), ==, BACKGROUND);
  /* A corner is part of neither. */
  g_assert_cmphex (pixel (surface, 0, 0), !=, 1);
  cairo_surface_destroy (surface);
}

static void
test_no_pixels (void)
{
  static const struct
  {
    double xx, xy;
    gboolean good;
  } rows[] = { { 1, 0, TRUE }, { 2, 0, FALSE }, { 1, 0.5, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      cairo_surface_t *surface =
          cairo_image_surface_create (CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
      cairo_t *cr = cairo_create (surface);
      cairo_matrix_t matrix;
      FlamPixels found;

      cairo_matrix_init (&matrix, rows[i].xx, 0, rows[i].xy, 1, 0, 0);
      cairo_set_matrix (cr, &matrix);
      g_assert_cmpint (
          flam_draw_find_pixels (cr, WIDTH, HEIGHT, &found), ==, rows[i].good);
      cairo_destroy (cr);
      cairo_surface_destroy (surface);
    }
}

/* --- layouts ----------------------------------------------------------------
 */

static cairo_surface_t *
draw_tree_in (PangoContext *context, FlamTree *tree, double from, gboolean bare)
{
  cairo_surface_t *surface =
      cairo_image_surface_create (CAIRO_FORMAT_RGB24, 200, 60);
  cairo_t *cr = cairo_create (surface);
  g_autoptr (FlamDraw) draw = flam_draw_new (context, NULL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  const FlamColors colors = { 0 };
  g_autoptr (FlamPalette) palette = flam_palette_new_for (tree, &colors, FALSE);
  FlamViewport viewport = flam_test_viewport (tree, 200, 60);
  g_autoptr (FlamLayout) layout = NULL;
  FlamScene scene = { .tree = tree, .palette = palette, .bare = bare };

  viewport.row_height = 20;
  viewport.from += from;
  viewport.min_width = 0.5;
  layout = flam_layout_new (rows, &viewport);
  flam_draw_layout (draw, cr, layout, &scene);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  return surface;
}

static cairo_surface_t *
draw_tree (FlamTree *tree, double from, gboolean bare)
{
  g_autoptr (GObject) context = G_OBJECT (context_new ());

  return draw_tree_in (PANGO_CONTEXT (context), tree, from, bare);
}

static guint
count_differences (cairo_surface_t *a, cairo_surface_t *b, int top, int bottom)
{
  guint n = 0;

  for (int y = top; y < bottom; y++)
    for (int x = 0; x < 200; x++)
      n += pixel (a, x, y) != pixel (b, x, y);
  return n;
}

/* A strip has no name; the root above it has one. */
static void
test_strip_labels (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (FlamTree) tree = NULL;
  cairo_surface_t *with, *without;

  for (guint i = 0; i < 1000; i++)
    g_string_append_printf (text, "function%04u 1\n", i);
  tree = flam_test_tree (text->str, FLAM_ORDER_NAME);
  with = draw_tree (tree, 0, FALSE);
  without = draw_tree (tree, 0, TRUE);
  g_assert_cmpuint (count_differences (with, without, 0, 19), >, 5);
  g_assert_cmpuint (count_differences (with, without, 20, 60), ==, 0);
  cairo_surface_destroy (with);
  cairo_surface_destroy (without);
}

/* A box that begins far left of the view has its name at the view's edge. */
static void
test_label_in_view (void)
{
  g_autoptr (FlamTree) tree =
      flam_test_tree ("function_name 1000\n", FLAM_ORDER_NAME);
  cairo_surface_t *whole = draw_tree (tree, 0, FALSE);
  cairo_surface_t *part = draw_tree (tree, 500, FALSE);
  guint n = 0;

  for (int y = 22; y < 38; y++)
    for (int x = 4; x < 100; x++)
      n += pixel (whole, x, y) != pixel (part, x, y);
  g_assert_cmpuint (n, ==, 0);
  cairo_surface_destroy (whole);
  cairo_surface_destroy (part);
}

/* Names are code, also in a window from right to left: brackets keep their
 * sides. */
static void
test_right_to_left (void)
{
  static const char *const names[] = { "push<int> 1000\n",
                                       "push<int>(ü) 1000\n" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (FlamTree) tree = flam_test_tree (names[i], FLAM_ORDER_NAME);
      g_autoptr (GObject) context = G_OBJECT (context_new ());
      cairo_surface_t *here = draw_tree (tree, 0, FALSE);
      cairo_surface_t *there;

      pango_context_set_base_dir (PANGO_CONTEXT (context), PANGO_DIRECTION_RTL);
      there = draw_tree_in (PANGO_CONTEXT (context), tree, 0, FALSE);
      g_assert_cmpuint (count_differences (here, there, 0, 60), ==, 0);
      cairo_surface_destroy (here);
      cairo_surface_destroy (there);
    }
}

/* --- documents --------------------------------------------------------------
 */

static GString *
png_of (const char *text, const char *title, double max_height)
{
  g_autoptr (FlamTree) tree = flam_test_tree (text, FLAM_ORDER_NAME);
  FlamPictureOptions options = { .look.title = title,
                                 .look.row_height = 20,
                                 .max_height = max_height };
  GString *out = g_string_new (NULL);

  g_assert_true (flam_picture_to_png (tree, &options, out, NULL));
  return out;
}

static guint
png_height (const char *text, const char *title, double max_height)
{
  g_autoptr (GString) out = png_of (text, title, max_height);
  guint32 height;

  memcpy (&height, out->str + 20, 4);
  return GUINT32_FROM_BE (height);
}

/* One more row is 20 more pixels, and a title takes space. With space for three
 * of four rows, three are drawn, with a note: omitted rows differ from missing
 * ones. */
static void
test_heights (void)
{
  guint three = png_height ("a;b 1\n", NULL, 16000);
  g_autoptr (GString) whole = png_of ("a;b 1\n", NULL, three + 10);
  g_autoptr (GString) cut = png_of ("a;b;c 1\n", NULL, three + 10);

  g_assert_cmpuint (png_height ("a;b;c 1\n", NULL, 16000), ==, three + 20);
  g_assert_cmpuint (png_height ("a;b 1\n", "title", 16000), >=, three + 10);
  for (guint max = three; max < three + 60; max++)
    {
      guint height = png_height ("a;b;c;d 1\n", NULL, max);

      g_assert_cmpuint (height, <=, max);
      g_assert_cmpuint (height % 20, ==, three % 20);
    }
  g_assert_cmpuint (png_height ("a;b;c 1\n", NULL, three + 10), ==, three);
  g_assert_false (g_string_equal (whole, cut));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define LABELS(name, function)                                                 \
  g_test_add (name, Fixture, NULL, set_up, function, tear_down)
  LABELS ("/borders/labels/places", test_places);
  LABELS ("/borders/labels/exact", test_exact);
  LABELS ("/borders/labels/cut", test_cut);
  LABELS ("/borders/labels/not-utf8", test_not_utf8);
  g_test_add_func ("/borders/boxes", test_boxes);
  g_test_add_func ("/borders/no-pixels", test_no_pixels);
  g_test_add_func ("/borders/strip-labels", test_strip_labels);
  g_test_add_func ("/borders/label-in-view", test_label_in_view);
  g_test_add_func ("/borders/right-to-left", test_right_to_left);
  g_test_add_func ("/borders/heights", test_heights);
  return g_test_run ();
}
