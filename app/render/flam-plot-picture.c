/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-plot-picture.h"

#include <cairo-svg.h>

#include "flam-draw-plot.h"
#include "flam-png.h"

#define MARGIN 12.0
#define FONT "Sans 9"
#define TITLE_FONT "Sans Bold 11"
#define TITLE_ROOM 24.0
#define MAX_PIXELS 32000

static double
top_of (const FlamPlotPicture *picture)
{
  return MARGIN + (picture->title != NULL ? TITLE_ROOM : 0);
}

static double
whole_width (const FlamPlotPicture *picture)
{
  return picture->width + 2 * MARGIN;
}

static double
whole_height (const FlamPlotPicture *picture)
{
  return top_of (picture) + picture->height + MARGIN;
}

static void
draw_title (PangoContext *context, cairo_t *cr, const char *title)
{
  g_autoptr (PangoLayout) layout = pango_layout_new (context);
  PangoFontDescription *font = pango_font_description_from_string (TITLE_FONT);

  pango_layout_set_font_description (layout, font);
  pango_layout_set_text (layout, title, -1);
  cairo_move_to (cr, MARGIN, MARGIN / 2);
  pango_cairo_show_layout (cr, layout);
  pango_font_description_free (font);
}

static gboolean
check (cairo_status_t status, GError **error)
{
  return status == CAIRO_STATUS_SUCCESS ||
         flam_error_set (error,
                         FLAM_ERROR_SYSTEM,
                         N_ ("the picture cannot be drawn: %s"),
                         cairo_status_to_string (status));
}

static gboolean
draw (const FlamPlot *plot,
      const FlamPlotPicture *picture,
      cairo_surface_t *surface,
      GError **error)
{
  PangoContext *context =
      pango_font_map_create_context (pango_cairo_font_map_get_default ());
  PangoFontDescription *font = pango_font_description_from_string (FONT);
  g_autoptr (GTimeZone) zone = g_time_zone_new_utc ();
  const FlamPlotLook look = { .ink = { 0.2, 0.2, 0.2 }, .zone = zone };
  cairo_t *cr = cairo_create (surface);
  cairo_status_t status;

  pango_context_set_font_description (context, font);
  pango_font_description_free (font);
  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_paint (cr);
  cairo_set_source_rgb (cr, look.ink.red, look.ink.green, look.ink.blue);
  if (picture->title != NULL)
    draw_title (context, cr, picture->title);
  cairo_translate (cr, MARGIN, top_of (picture));
  flam_draw_plot (
      context, cr, plot, picture->width, picture->height, &look, NULL);
  status = cairo_status (cr);
  cairo_destroy (cr);
  g_object_unref (context);
  return check (status, error);
}

static cairo_status_t
append (void *out, const unsigned char *bytes, unsigned int length)
{
  g_string_append_len (out, (const char *)bytes, length);
  return CAIRO_STATUS_SUCCESS;
}

gboolean
flam_plot_to_svg (const FlamPlot *plot,
                  const FlamPlotPicture *picture,
                  GString *out,
                  GError **error)
{
  cairo_surface_t *surface = cairo_svg_surface_create_for_stream (
      append, out, whole_width (picture), whole_height (picture));
  gboolean drawn = draw (plot, picture, surface, error);

  cairo_surface_finish (surface);
  drawn = drawn && check (cairo_surface_status (surface), error);
  cairo_surface_destroy (surface);
  return drawn;
}

gboolean
flam_plot_to_png (const FlamPlot *plot,
                  const FlamPlotPicture *picture,
                  GString *out,
                  GError **error)
{
  cairo_surface_t *surface = cairo_image_surface_create (
      CAIRO_FORMAT_RGB24,
      (int)MIN (whole_width (picture), MAX_PIXELS),
      (int)MIN (whole_height (picture), MAX_PIXELS));
  gboolean drawn =
      draw (plot, picture, surface, error) &&
      check (flam_png_append (surface, out) ? CAIRO_STATUS_SUCCESS
                                            : CAIRO_STATUS_NO_MEMORY,
             error);

  cairo_surface_destroy (surface);
  return drawn;
}
