/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Plots as pixels: where there is ink and where there is none, in each shape,
 * on light and dark backgrounds, at both scales. */

#include "flam-draw-plot.h"

#define WIDTH 200
#define HEIGHT 100

static const gint64 four[] = { 10, 0, 5, 10 };

typedef struct
{
  cairo_surface_t *image;
  int scale;
  FlamRect area, note;
} Picture;

static FlamPlot *
plot_of (FlamPlotShape shape)
{
  FlamPlot *plot = flam_plot_new (FLAM_PLOT_TIME, 1, FLAM_UNIT_NS, NULL, NULL);

  plot->to = 1000;
  plot->top = 10;
  plot->series[0] = (FlamPlotSeries){
    .shape = shape, .color = { 0xc00000, 0x00c000 }, .n = 4, .value = four
  };
  return plot;
}

static Picture
draw (const FlamPlot *plot, gboolean dark, int scale)
{
  PangoContext *context =
      pango_font_map_create_context (pango_cairo_font_map_get_default ());
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  FlamPlotLook look = { dark, { dark, dark, dark }, utc };
  Picture picture = { .scale = scale };
  cairo_t *cr;

  picture.image = cairo_image_surface_create (
      CAIRO_FORMAT_ARGB32, WIDTH * scale, HEIGHT * scale);
  cairo_surface_set_device_scale (picture.image, scale, scale);
  cr = cairo_create (picture.image);
  flam_draw_plot (context, cr, plot, WIDTH, HEIGHT, &look, &picture.note);
  g_assert_cmpint (cairo_status (cr), ==, CAIRO_STATUS_SUCCESS);
  cairo_destroy (cr);
  cairo_surface_flush (picture.image);
  picture.area = flam_plot_area (plot, WIDTH, HEIGHT);
  g_object_unref (context);
  return picture;
}

/* The middle pixel of a place: 0xAARRGGBB, premultiplied. */
static guint32
pixel (const Picture *picture, double x, double y)
{
  const guint8 *data = cairo_image_surface_get_data (picture->image);
  int stride = cairo_image_surface_get_stride (picture->image);
  guint32 value;

  memcpy (&value,
          data + (gsize)(int)(y * picture->scale) * stride +
              (gsize)(int)(x * picture->scale) * sizeof value,
          sizeof value);
  return value;
}

static guint
opacity (const Picture *picture, double x, double y)
{
  return pixel (picture, x, y) >> 24;
}

static void
clear (Picture *picture)
{
  cairo_surface_destroy (picture->image);
}

static void
test_area (void)
{
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_AREA);

  for (int scale = 1; scale <= 2; scale++)
    {
      Picture picture = draw (plot, FALSE, scale);
      double bottom = picture.area.y + picture.area.height;

      /* 0.35 of 255. */
      g_assert_cmpuint (opacity (&picture, 25, bottom - 5), ==, 89);
      g_assert_cmpuint (opacity (&picture, 75, bottom - 5), ==, 0);
      g_assert_cmpuint (
          opacity (&picture, 125, bottom - picture.area.height / 4), ==, 89);
      g_assert_cmpuint (
          opacity (&picture, 125, bottom - picture.area.height * 3 / 4), ==, 0);
      clear (&picture);
    }
}

/* Of the slots in a pixel, the greatest value. */
static void
test_narrow (void)
{
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_AREA);
  gint64 many[4 * WIDTH];
  Picture picture;

  for (guint i = 0; i < G_N_ELEMENTS (many); i++)
    many[i] = i % 4 == 2 ? 10 : 0;
  plot->series[0].value = many;
  plot->series[0].n = G_N_ELEMENTS (many);
  picture = draw (plot, FALSE, 1);
  for (int x = 0; x < WIDTH; x++)
    g_assert_cmpuint (
        opacity (&picture, x, picture.area.y + picture.area.height / 2),
        ==,
        89);
  clear (&picture);
}

/* Layers are opaque and stand on one another. */
static void
test_layers (void)
{
  static const gint64 layer[] = { 4, 6, 0, 0, 5, 0, 5, 5 };
  static const FlamColor colors[][2] = { { 0x0000ff, 0x0000ff },
                                         { 0xff0000, 0xff0000 } };
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_AREA);
  Picture picture;
  double bottom;

  plot->series[0].layer = layer;
  plot->series[0].n_layers = 2;
  plot->series[0].layer_color = colors;
  picture = draw (plot, FALSE, 1);
  bottom = picture.area.y + picture.area.height;
  g_assert_cmphex (pixel (&picture, 25, bottom - 2), ==, 0xff0000ff);
  g_assert_cmphex (pixel (&picture, 25, picture.area.y + 2), ==, 0xffff0000);
  g_assert_cmphex (pixel (&picture, 125, bottom - 2), ==, 0xff0000ff);
  g_assert_cmpuint (opacity (&picture, 125, picture.area.y + 2), ==, 0);
  clear (&picture);
}

static char *
slot_text (const FlamPlot *plot, guint slot)
{
  return g_strdup ("");
}

static void
test_bars (void)
{
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_BARS);

  plot->axis = FLAM_PLOT_SLOTS;
  plot->slot_text = slot_text;
  for (int dark = 0; dark < 2; dark++)
    {
      Picture picture = draw (plot, dark, 1);
      double bottom = picture.area.y + picture.area.height;
      guint32 inside = pixel (&picture, 25, bottom - 5);

      /* 0.85 of 255; red on light, green on dark. */
      g_assert_cmpuint (inside >> 24, ==, 217);
      g_assert_cmpuint (inside >> (dark ? 16 : 8) & 255, ==, 0);
      g_assert_cmpuint (inside >> (dark ? 8 : 16) & 255, >, 100);
      g_assert_cmpuint (opacity (&picture, 75, bottom - 5), ==, 0);
      /* Half as high, and a gap of two pixels between bars. */
      g_assert_cmpuint (
          opacity (&picture, 125, bottom - picture.area.height / 2 + 2),
          ==,
          217);
      g_assert_cmpuint (opacity (&picture, 150, bottom - 5), ==, 0);
      clear (&picture);
    }
}

/* The greater, the darker; the same whether a part or all of it is drawn. */
static void
test_cells (void)
{
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_CELLS);
  Picture picture;
  guint32 most, none, half;

  plot->n_rows = 2;
  picture = draw (plot, FALSE, 1);
  /* Two columns, 64 wide: 10 below 0, then 5 below 10. */
  most = pixel (&picture, 10, picture.area.height - 5);
  none = pixel (&picture, 10, 5);
  half = pixel (&picture, 70, picture.area.height - 5);
  g_assert_cmphex (most, ==, pixel (&picture, 70, 5));
  g_assert_cmpuint (most & 255, <, half & 255);
  g_assert_cmpuint (half & 255, <, none & 255);
  g_assert_cmpuint (none >> 24, ==, 255);
  g_assert_cmpuint (opacity (&picture, 130, 5), ==, 0);
  clear (&picture);
}

static void
test_line (void)
{
  static const double x[] = { 0, 0.25, 0.5, 1 };
  static const gboolean hollow[] = { FALSE, FALSE, TRUE, FALSE };
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_LINE);

  plot->axis = FLAM_PLOT_DATE;
  plot->series[0].x = x;
  plot->series[0].hollow = hollow;
  for (int dark = 0; dark < 2; dark++)
    {
      Picture picture = draw (plot, dark, 1);
      FlamRect full =
          flam_plot_place (plot, &picture.area, (FlamPlotSpot){ 0, 1 });
      FlamRect open =
          flam_plot_place (plot, &picture.area, (FlamPlotSpot){ 0, 2 });
      guint paper = dark ? 0x1e : 0xfa;

      g_assert_cmphex (pixel (&picture, full.x, full.y - 2),
                       ==,
                       dark ? 0xff00c000 : 0xffc00000);
      g_assert_cmphex (pixel (&picture, open.x, open.y),
                       ==,
                       0xff000000 | paper << 16 | paper << 8 | paper);
      clear (&picture);
    }
}

/* The remark on a place begins beside the key or below it. */
static void
test_notes (void)
{
  g_autoptr (FlamPlot) plot = plot_of (FLAM_PLOT_AREA);
  Picture picture = draw (plot, FALSE, 1);

  g_assert_cmpfloat (picture.note.width, ==, 0);
  clear (&picture);
  plot->note = g_strdup ("peak");
  plot->note_x = 0.5;
  picture = draw (plot, FALSE, 1);
  g_assert_cmpfloat (picture.note.y, ==, 3);
  g_assert_cmpfloat_with_epsilon (
      picture.note.x + picture.note.width / 2, WIDTH / 2, 1);
  g_assert_cmpuint (
      opacity (&picture, 100.5, picture.note.y + picture.note.height + 3),
      >,
      89);
  clear (&picture);
  plot->key = g_strdup ("a key as long as the picture is wide");
  picture = draw (plot, FALSE, 1);
  g_assert_cmpfloat (picture.note.y, >, 3);
  clear (&picture);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/area", test_area);
  g_test_add_func ("/plot/narrow", test_narrow);
  g_test_add_func ("/plot/layers", test_layers);
  g_test_add_func ("/plot/bars", test_bars);
  g_test_add_func ("/plot/cells", test_cells);
  g_test_add_func ("/plot/line", test_line);
  g_test_add_func ("/plot/notes", test_notes);
  return g_test_run ();
}
