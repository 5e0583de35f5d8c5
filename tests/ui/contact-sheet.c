/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contact-sheet make OUT.png PICTURE.png...     all of them, small, on one
 * sheet contact-sheet compare KEPT.png OUT.png NAME...  which of them look
 * otherwise
 *
 * A sheet is a grid of tiles, filled row by row in the order of the arguments,
 * with each picture as large as fits into its tile, at the top left. The mean
 * colors of squares of a tile are compared, so that slightly different letters
 * of the machine's fonts do not count, but a moved widget does. */

#include <cairo.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 6
#define TILE_WIDTH 240
#define TILE_HEIGHT 184
#define SQUARE 8 /* pixels per side */
/* Of 255: a square differs if its mean differs by more than this in a
 * channel. */
#define SQUARE_TOLERANCE 24
/* A tile in which more than this percentage differs looks different. */
#define TILE_TOLERANCE (TILE_WIDTH / SQUARE * (TILE_HEIGHT / SQUARE) / 100)

static cairo_surface_t *
read_picture (const char *path)
{
  cairo_surface_t *surface = cairo_image_surface_create_from_png (path);
  cairo_status_t status = cairo_surface_status (surface);

  if (status != CAIRO_STATUS_SUCCESS)
    {
      g_printerr ("%s: %s\n", path, cairo_status_to_string (status));
      exit (2);
    }
  return surface;
}

static int
make (const char *out, char **paths, int n)
{
  int rows = (n + COLUMNS - 1) / COLUMNS;
  cairo_surface_t *sheet = cairo_image_surface_create (
      CAIRO_FORMAT_RGB24, COLUMNS * TILE_WIDTH, rows * TILE_HEIGHT);
  cairo_t *cr = cairo_create (sheet);

  cairo_set_source_rgb (cr, 0.5, 0.5, 0.5);
  cairo_paint (cr);
  for (int i = 0; i < n; i++)
    {
      cairo_surface_t *picture = read_picture (paths[i]);
      int width = cairo_image_surface_get_width (picture);
      int height = cairo_image_surface_get_height (picture);
      double scale =
          MIN ((TILE_WIDTH - 4.0) / width, (TILE_HEIGHT - 4.0) / height);

      cairo_save (cr);
      cairo_translate (
          cr, i % COLUMNS * TILE_WIDTH + 2, i / COLUMNS * TILE_HEIGHT + 2);
      cairo_scale (cr, scale, scale);
      cairo_set_source_surface (cr, picture, 0, 0);
      cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_BEST);
      cairo_paint (cr);
      cairo_restore (cr);
      cairo_surface_destroy (picture);
    }
  cairo_destroy (cr);
  if (cairo_surface_write_to_png (sheet, out) != CAIRO_STATUS_SUCCESS)
    {
      g_printerr ("%s: cannot be written\n", out);
      return 2;
    }
  cairo_surface_destroy (sheet);
  return 0;
}

/* The mean of a channel (bits from `shift` on) of a square. */
static int
mean (cairo_surface_t *sheet, int x, int y, int shift)
{
  const guchar *data = cairo_image_surface_get_data (sheet);
  int stride = cairo_image_surface_get_stride (sheet);
  guint sum = 0;

  for (int j = 0; j < SQUARE; j++)
    for (int i = 0; i < SQUARE; i++)
      {
        guint32 pixel;

        memcpy (&pixel, data + (y + j) * stride + 4 * (x + i), sizeof pixel);
        sum += pixel >> shift & 255;
      }
  return (int)(sum / (SQUARE * SQUARE));
}

static gboolean
differs (cairo_surface_t *a, cairo_surface_t *b, int x, int y)
{
  for (int shift = 0; shift < 24; shift += 8)
    if (abs (mean (a, x, y, shift) - mean (b, x, y, shift)) > SQUARE_TOLERANCE)
      return TRUE;
  return FALSE;
}

static int
compare (const char *kept_path, const char *path, char **names, int n)
{
  cairo_surface_t *kept = read_picture (kept_path);
  cairo_surface_t *sheet = read_picture (path);
  int status = 0;

  if (cairo_image_surface_get_height (kept) !=
          cairo_image_surface_get_height (sheet) ||
      cairo_image_surface_get_width (kept) !=
          cairo_image_surface_get_width (sheet))
    {
      g_print ("%s: not as many pictures as in %s\n", path, kept_path);
      n = 0;
      status = 1;
    }
  for (int i = 0; i < n; i++)
    {
      int left = i % COLUMNS * TILE_WIDTH;
      int top = i / COLUMNS * TILE_HEIGHT;
      int others = 0;

      for (int y = 0; y < TILE_HEIGHT; y += SQUARE)
        for (int x = 0; x < TILE_WIDTH; x += SQUARE)
          others += differs (kept, sheet, left + x, top + y);
      if (others > TILE_TOLERANCE)
        {
          g_print ("%s: %s looks otherwise than in %s, in %d of %d squares\n",
                   path,
                   names[i],
                   kept_path,
                   others,
                   TILE_WIDTH / SQUARE * (TILE_HEIGHT / SQUARE));
          status = 1;
        }
    }
  cairo_surface_destroy (kept);
  cairo_surface_destroy (sheet);
  return status;
}

int
main (int argc, char **argv)
{
  if (argc > 3 && strcmp (argv[1], "make") == 0)
    return make (argv[2], argv + 3, argc - 3);
  if (argc > 4 && strcmp (argv[1], "compare") == 0)
    return compare (argv[2], argv[3], argv + 4, argc - 4);
  g_printerr ("contact-sheet make OUT.png PICTURE.png...\n"
              "contact-sheet compare KEPT.png OUT.png NAME...\n");
  return 2;
}
