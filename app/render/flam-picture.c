/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-picture.h"

#include <cairo-pdf.h>
#include <math.h>

#include "flam-core-picture.h"
#include "flam-draw.h"
#include "flam-png.h"

#define MARGIN 12.0
#define MAX_PIXELS 32000

typedef struct
{
  FlamTree *tree;
  FlamPictureOptions options;
  PangoContext *context;
  FlamDraw *draw;
  FlamPalette *palette;
  FlamRows *rows;
  FlamViewport viewport;
  FlamLayout *layout; /* NULL: of a chart */
  FlamChartNodes *nodes;
  FlamChartLayout *chart_layout;
  gboolean cut; /* rows were left out */
  double line;  /* height of a line of text */
  double body;  /* height of the boxes, and of a chart's ruler */
  double height;
} Picture;

/* --- layout -------------------------------------------------------------- */

#define POINTS_A_PIXEL 0.75

static PangoContext *
context_new (const FlamPictureOptions *picture)
{
  PangoContext *context =
      pango_font_map_create_context (pango_cairo_font_map_get_default ());
  PangoFontDescription *description = pango_font_description_from_string (
      picture->font != NULL ? picture->font : "Sans 9");
  cairo_font_options_t *options = cairo_font_options_create ();

  if (picture->look.font_size > 0)
    pango_font_description_set_size (
        description,
        (int)(picture->look.font_size * POINTS_A_PIXEL * PANGO_SCALE));
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_SLIGHT);
  pango_cairo_context_set_font_options (context, options);
  pango_context_set_font_description (context, description);
  cairo_font_options_destroy (options);
  pango_font_description_free (description);
  return context;
}

static double
frame_top (const Picture *picture)
{
  const FlamPictureStyle *look = &picture->options.look;

  if (picture->options.bare)
    return 0;
  return MARGIN + (look->title != NULL ? picture->line * 1.8 : 0) +
         (look->subtitle != NULL ? picture->line * 1.2 : 0);
}

static double
or_default (double value, double otherwise)
{
  return value > 0 ? value : otherwise;
}

/* The height of a flame graph is that of its rows; the others have that of
 * flam_picture_style_height(). */
static void
choose_height (Picture *picture, double row, double room)
{
  FlamViewport *view = &picture->viewport;
  guint32 n = 0;

  if (view->shape != FLAM_SHAPE_FLAME)
    {
      view->height =
          MIN (flam_picture_style_height (view->shape, view->width), room);
      picture->body = view->height = MAX (view->height, row);
      return;
    }
  n = flam_layout_n_rows (picture->rows, view);
  picture->cut = n * row > MAX (room, row);
  picture->body = MAX (MIN (n * row, floor (room / row) * row), row);
  view->height = picture->body;
}

static void
lay_out_tree (Picture *picture, double width, double row, double room)
{
  const FlamPictureStyle *look = &picture->options.look;
  FlamNodeId zoom = picture->options.zoom;

  picture->rows = flam_rows_new (picture->tree);
  picture->viewport = (FlamViewport){
    .shape = look->shape,
    .width = width,
    .height = row,
    .row_height = row,
    .min_width = or_default (look->min_width, 0.5),
    .zoom = zoom,
    .direction = flam_direction_of (picture->tree, look->direction),
  };
  if (picture->tree->n > 0)
    {
      double x = (double)flam_rows_x (picture->rows, zoom);

      picture->viewport.from = x;
      picture->viewport.to = x + (double)picture->tree->total[zoom];
    }
  if (look->shape == FLAM_SHAPE_SUNBURST && picture->tree->n > 0)
    picture->viewport.scroll = row * picture->tree->depth[zoom];
  choose_height (picture, row, room);
  picture->layout = flam_layout_new (picture->rows, &picture->viewport);
  picture->cut |= flam_layout_is_cut (picture->rows, picture->layout);
}

static void
lay_out_chart (Picture *picture, double width, double row, double room)
{
  const FlamChart *chart = picture->options.chart;
  FlamChartView view;
  double height;

  flam_chart_view_init (&view, chart, width, row);
  if (picture->options.look.min_width > 0)
    view.min_width = picture->options.look.min_width;
  height = flam_chart_height (chart, &view);
  view.height = MAX (MIN (height, floor (room - FLAM_DRAW_RULER)), row);
  picture->cut = height > view.height;
  picture->body = view.height + FLAM_DRAW_RULER;
  picture->nodes = flam_chart_nodes_new (picture->tree);
  picture->chart_layout = flam_chart_layout_new (chart, &view);
}

static void
lay_out (Picture *picture)
{
  const FlamPictureStyle *look = &picture->options.look;
  double side = picture->options.bare ? 0 : MARGIN;
  double width = MAX (look->width - 2 * side, 1);
  double row = or_default (look->row_height, picture->line);
  double room = picture->options.max_height - frame_top (picture) -
                (picture->options.bare ? 0 : picture->line * 3 + MARGIN);

  if (picture->options.chart != NULL)
    lay_out_chart (picture, width, row, room);
  else
    lay_out_tree (picture, width, row, room);
  picture->height = frame_top (picture) + picture->body;
  if (!picture->options.bare)
    picture->height += picture->line * 2.6 + MARGIN;
  picture->height = ceil (picture->height);
}

static void
picture_init (Picture *picture,
              FlamTree *tree,
              const FlamPictureOptions *options)
{
  FlamPictureOptions *own = &picture->options;

  *own = *options;
  own->look.width = or_default (own->look.width, 1200);
  own->scale = or_default (own->scale, 1);
  own->max_height = or_default (own->max_height, 16000);
  if (own->zoom >= tree->n)
    own->zoom = 0;
  picture->tree = tree;
  picture->context = context_new (own);
  picture->draw = flam_draw_new (picture->context, NULL);
  picture->line = flam_draw_row_height (picture->draw);
  flam_color_rules_try (own->look.colors.rules, tree);
  picture->palette = flam_palette_new_for (tree, &own->look.colors, own->dark);
  lay_out (picture);
}

static void
picture_clear (Picture *picture)
{
  g_clear_pointer (&picture->layout, flam_layout_free);
  g_clear_pointer (&picture->rows, flam_rows_unref);
  g_clear_pointer (&picture->chart_layout, flam_chart_layout_free);
  g_clear_pointer (&picture->nodes, flam_chart_nodes_free);
  flam_palette_free (picture->palette);
  flam_draw_free (picture->draw);
  g_object_unref (picture->context);
}

/* --- drawing ------------------------------------------------------------- */

/* Returns the text's width. Text longer than `room` is cut with an ellipsis. */
static double
draw_text (Picture *picture,
           cairo_t *cr,
           const char *text,
           double x,
           double y,
           double room,
           double size)
{
  g_autoptr (PangoLayout) layout = pango_layout_new (picture->context);
  PangoFontDescription *font = pango_font_description_copy (
      pango_context_get_font_description (picture->context));
  int width;

  pango_font_description_set_size (
      font, (int)(pango_font_description_get_size (font) * size));
  if (size > 1)
    pango_font_description_set_weight (font, PANGO_WEIGHT_BOLD);
  pango_layout_set_font_description (layout, font);
  pango_font_description_free (font);
  pango_layout_set_text (layout, text, -1);
  pango_layout_set_width (layout, (int)(MAX (room, 0) * PANGO_SCALE));
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_get_pixel_size (layout, &width, NULL);
  cairo_move_to (cr, x, y);
  pango_cairo_show_layout (cr, layout);
  return width;
}

static void
draw_legend (Picture *picture, cairo_t *cr, double y)
{
  g_autoptr (GPtrArray) entries = flam_palette_legend (
      picture->palette, picture->tree, picture->options.zoom, 8);
  double x = MARGIN, end = picture->options.look.width - MARGIN;

  for (guint i = 0; i < entries->len && x + 60 < end; i++)
    {
      const FlamLegendEntry *entry = entries->pdata[i];
      double size = picture->line - 8;

      flam_draw_set_source (cr, entry->color);
      cairo_rectangle (cr, x, y + 3, size, size);
      cairo_fill (cr);
      flam_draw_set_source (cr, flam_palette_ink (picture->palette));
      x += size + 5;
      x += draw_text (picture, cr, entry->name, x, y, end - x, 1) + 14;
    }
}

static char *
describe (Picture *picture)
{
  const FlamTree *tree = picture->tree;
  gint64 total = tree->n > 0 ? tree->total[0] : 0;
  g_autofree char *weight = NULL;
  gboolean measured = tree->profile->n_measures > tree->measure;
  FlamMeasure measure = { .unit = FLAM_UNIT_COUNT, .denominator = 1 };
  GString *text = g_string_new (NULL);

  if (measured)
    measure = flam_tree_measure (tree);
  weight = measured && tree->n > 0 && tree->change == NULL
               ? flam_format_whole (tree)
               : flam_format_weight (&measure, total);
  g_string_append_printf (
      text,
      "%s: %s",
      measured ? flam_profile_string (tree->profile, measure.name) : "Samples",
      weight);
  if (picture->layout != NULL && picture->layout->hidden > 0)
    {
      g_autofree char *share =
          flam_format_percent (picture->layout->hidden, total);

      g_string_append_printf (
          text, "; %s in functions too narrow to draw", share);
    }
  if (picture->options.chart != NULL && !picture->options.chart->exact)
    g_string_append (text, "; " FLAM_CHART_FROM_SAMPLES);
  if (picture->cut)
    g_string_append (text,
                     picture->layout != NULL ? "; deeper calls are left out"
                                             : "; further lanes are left out");
  if (!tree->profile->facts.complete)
    g_string_append (text, "; the capture is incomplete");
  return g_string_free (text, FALSE);
}

static void
draw_body (Picture *picture, cairo_t *cr)
{
  const FlamScene scene = { .tree = picture->tree,
                            .palette = picture->palette };
  const FlamChartScene chart = {
    .chart = picture->options.chart,
    .nodes = picture->nodes,
    .palette = picture->palette,
    .dark = picture->options.dark,
    .hovered = G_MAXUINT,
    .selected = G_MAXUINT,
  };

  if (picture->chart_layout != NULL)
    flam_draw_chart (picture->draw, cr, picture->chart_layout, &chart);
  else if (picture->tree->n > 0)
    flam_draw_layout (picture->draw, cr, picture->layout, &scene);
}

static void
draw_picture (Picture *picture, cairo_t *cr)
{
  const FlamPictureOptions *options = &picture->options;
  FlamColor text = flam_palette_ink (picture->palette);
  double room = options->look.width - 2 * MARGIN;
  double below = frame_top (picture) + picture->body + MARGIN / 2;
  g_autofree char *description = NULL;

  flam_draw_set_source (cr, flam_palette_background (picture->palette));
  cairo_paint (cr);
  cairo_save (cr);
  cairo_translate (cr, options->bare ? 0 : MARGIN, round (frame_top (picture)));
  draw_body (picture, cr);
  cairo_restore (cr);
  if (options->bare)
    return;
  flam_draw_set_source (cr, text);
  if (options->look.title != NULL)
    draw_text (picture, cr, options->look.title, MARGIN, MARGIN, room, 1.3);
  if (options->look.subtitle != NULL)
    draw_text (picture,
               cr,
               options->look.subtitle,
               MARGIN,
               frame_top (picture) - picture->line * 1.3,
               room,
               1);
  draw_legend (picture, cr, below);
  description = describe (picture);
  flam_draw_set_source (cr, text);
  draw_text (
      picture, cr, description, MARGIN, below + picture->line * 1.15, room, 1);
}

/* --- documents ----------------------------------------------------------- */

static cairo_status_t
append (void *closure, const unsigned char *data, unsigned int length)
{
  g_string_append_len (closure, (const char *)data, length);
  return CAIRO_STATUS_SUCCESS;
}

static gboolean
check (cairo_status_t status, GError **error)
{
  if (status == CAIRO_STATUS_SUCCESS)
    return TRUE;
  return flam_error_set (error,
                         FLAM_ERROR_SYSTEM,
                         N_ ("The picture could not be drawn: %s."),
                         cairo_status_to_string (status));
}

static cairo_status_t
draw_on (Picture *picture, cairo_surface_t *surface)
{
  cairo_t *cr = cairo_create (surface);
  cairo_status_t status;

  draw_picture (picture, cr);
  status = cairo_status (cr);
  cairo_destroy (cr);
  return status;
}

gboolean
flam_picture_to_png (FlamTree *tree,
                     const FlamPictureOptions *options,
                     GString *out,
                     GError **error)
{
  Picture picture = { 0 };
  cairo_surface_t *surface;
  cairo_status_t status;
  double width, height;

  picture_init (&picture, tree, options);
  width = MIN (picture.options.look.width * picture.options.scale, MAX_PIXELS);
  height = MIN (picture.height * picture.options.scale, MAX_PIXELS);
  surface =
      cairo_image_surface_create (CAIRO_FORMAT_ARGB32, (int)width, (int)height);
  cairo_surface_set_device_scale (
      surface, picture.options.scale, picture.options.scale);
  status = draw_on (&picture, surface);
  if (status == CAIRO_STATUS_SUCCESS && !flam_png_append (surface, out))
    status = CAIRO_STATUS_NO_MEMORY;
  cairo_surface_destroy (surface);
  picture_clear (&picture);
  return check (status, error);
}

gboolean
flam_picture_to_pdf (FlamTree *tree,
                     const FlamPictureOptions *options,
                     GString *out,
                     GError **error)
{
  Picture picture = { 0 };
  cairo_surface_t *surface;
  cairo_status_t status;

  picture_init (&picture, tree, options);
  surface = cairo_pdf_surface_create_for_stream (
      append, out, picture.options.look.width, picture.height);
  if (picture.options.look.title != NULL)
    cairo_pdf_surface_set_metadata (
        surface, CAIRO_PDF_METADATA_TITLE, picture.options.look.title);
  if (picture.options.look.notes != NULL)
    cairo_pdf_surface_set_metadata (
        surface, CAIRO_PDF_METADATA_SUBJECT, picture.options.look.notes);
  status = draw_on (&picture, surface);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  picture_clear (&picture);
  return check (status, error);
}

/* --- the frame of each pixel ---------------------------------------------- */

static void
append_field (GString *out, const char *text)
{
  g_string_append_c (out, '\t');
  for (; *text != '\0'; text++)
    g_string_append_c (out, *text == '\t' || *text == '\n' ? ' ' : *text);
}

/* Edges are where flam_draw_boxes_as_pixels() rounds them. `node` 0: only the
 * name is known. */
static void
append_tag (const Picture *picture,
            const cairo_rectangle_t *box,
            const char *name,
            FlamNodeId node,
            GString *out)
{
  double scale = picture->options.scale;
  double inside =
      picture->options.look.width - (picture->options.bare ? 0 : 2 * MARGIN);
  int left = (int)lround ((picture->options.bare ? 0 : MARGIN) * scale);
  int top = (int)lround (round (frame_top (picture)) * scale);
  int width = (int)(MAX (inside, 1) * scale);
  int from = CLAMP ((int)lround (box->x * scale), 0, width);
  int to = CLAMP ((int)lround ((box->x + box->width) * scale), 0, width);
  int y = (int)lround (box->y * scale);
  int bottom = (int)lround ((box->y + box->height) * scale);
  const char *file = "";
  guint32 line = 0;

  if (node != 0)
    line = flam_tree_source_line (picture->tree, node, &file);
  g_string_append_printf (out,
                          "%d\t%d\t%d\t%d",
                          left + from,
                          top + y,
                          MAX (to - from, 1),
                          bottom - y);
  append_field (out, name);
  append_field (out, file);
  g_string_append_printf (out, "\t%u\n", line);
}

static void
append_tree_tags (const Picture *picture, GString *out)
{
  for (guint32 i = 0; i < picture->layout->n; i++)
    {
      const FlamBox *box = &picture->layout->boxes[i];
      const cairo_rectangle_t where = {
        box->x, box->y, box->width, picture->viewport.row_height
      };
      gboolean strip = (box->flags & FLAM_BOX_STRIP) != 0;

      append_tag (picture,
                  &where,
                  strip ? "" : flam_tree_name (picture->tree, box->node),
                  strip ? 0 : box->node,
                  out);
    }
}

static void
append_chart_tags (const Picture *picture, GString *out)
{
  const FlamChart *chart = picture->options.chart;

  for (guint32 i = 0; i < picture->chart_layout->n; i++)
    {
      const FlamChartBox *box = &picture->chart_layout->boxes[i];
      const cairo_rectangle_t where = {
        box->x, box->y + FLAM_DRAW_RULER, box->width, box->height
      };

      append_tag (picture,
                  &where,
                  flam_chart_box_name (chart, box),
                  box->flags & FLAM_CHART_BOX_STRIP
                      ? 0
                      : flam_chart_nodes_of (picture->nodes, chart, box->span),
                  out);
    }
}

gboolean
flam_picture_to_tags (FlamTree *tree,
                      const FlamPictureOptions *options,
                      GString *out,
                      GError **error)
{
  Picture picture = { 0 };

  picture_init (&picture, tree, options);
  g_string_append (out, "x\ty\twidth\theight\tfunction\tfile\tline\n");
  if (picture.chart_layout != NULL)
    append_chart_tags (&picture, out);
  else
    append_tree_tags (&picture, out);
  picture_clear (&picture);
  return TRUE;
}
