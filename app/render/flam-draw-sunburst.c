/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-draw-private.h"

#include <math.h>

#include "flam-core-picture.h"

#define LEAST_ARC 3.0    /* pixels: narrower sectors have no gap */
#define LEAST_LABEL 14.0 /* nothing fits into less */

/* --- sectors ---------------------------------------------------------------
 */

/* The gap between two sectors has the same width along the whole edge: its
 * angle is smaller the farther out it is. */
static void
append_sector (cairo_t *cr, const FlamSunburst *sun, const FlamBox *box)
{
  double inner = box->y;
  double outer = MAX (box->y + box->height - FLAM_DRAW_GAP, inner);
  double from = box->x - G_PI / 2;
  double to = from + box->width;
  gboolean whole = box->width >= 2 * G_PI - 1e-6;
  double gap = FLAM_DRAW_GAP / 2;

  if (whole || box->width * outer < LEAST_ARC)
    gap = 0;
  cairo_new_sub_path (cr);
  if (inner < 1)
    cairo_arc (cr, sun->x, sun->y, outer, from, to);
  else
    {
      double wide = gap / outer;
      double narrow = MIN (gap / inner, box->width / 2);

      cairo_arc (cr, sun->x, sun->y, outer, from + wide, to - wide);
      if (whole)
        cairo_new_sub_path (cr);
      cairo_arc_negative (
          cr, sun->x, sun->y, inner, to - narrow, from + narrow);
    }
  cairo_close_path (cr);
}

void
flam_draw_append_sector (cairo_t *cr,
                         const FlamLayout *layout,
                         const FlamBox *box)
{
  FlamSunburst sun;

  flam_sunburst_init (&sun, &layout->viewport);
  append_sector (cr, &sun, box);
}

/* --- names -----------------------------------------------------------------
 */

/* A font for each angle would be expensive, a rotated shape is not: shapes are
 * kept unrotated. */
typedef struct
{
  cairo_scaled_font_t *font; /* a reference */
  gulong glyph;
} Outline;

static guint
outline_hash (gconstpointer data)
{
  const Outline *outline = data;

  return g_direct_hash (outline->font) ^ (guint)(outline->glyph * 2654435761u);
}

static gboolean
outline_equal (gconstpointer a, gconstpointer b)
{
  const Outline *x = a, *y = b;

  return x->font == y->font && x->glyph == y->glyph;
}

static void
outline_free (gpointer data)
{
  Outline *outline = data;

  cairo_scaled_font_destroy (outline->font);
  g_free (outline);
}

static void
path_free (gpointer data)
{
  cairo_path_destroy (data);
}

static cairo_path_t *
outline_new (const Outline *outline)
{
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_A8, 1, 1);
  cairo_t *cr = cairo_create (surface);
  const cairo_glyph_t glyph = { outline->glyph, 0, 0 };
  cairo_path_t *path;

  cairo_set_scaled_font (cr, outline->font);
  cairo_glyph_path (cr, &glyph, 1);
  path = cairo_copy_path (cr);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  return path;
}

static const cairo_path_t *
outline_of (FlamDraw *draw, cairo_scaled_font_t *font, gulong glyph)
{
  const Outline wanted = { font, glyph };
  cairo_path_t *path;
  Outline *kept;

  if (draw->outlines == NULL)
    draw->outlines = g_hash_table_new_full (
        outline_hash, outline_equal, outline_free, path_free);
  path = g_hash_table_lookup (draw->outlines, &wanted);
  if (path != NULL)
    return path;
  path = outline_new (&wanted);
  kept = g_new (Outline, 1);
  *kept = (Outline){ cairo_scaled_font_reference (font), glyph };
  g_hash_table_insert (draw->outlines, kept, path);
  return path;
}

/* Moves to the position of a piece of text that is `at` pixels right of the
 * text's center or, for straight text, of the whole text. */
static void
turn_to (cairo_t *cr,
         const FlamSunburst *sun,
         const FlamSunburstLabel *label,
         double at)
{
  double angle = label->angle;

  cairo_translate (cr, sun->x, sun->y);
  if (!label->along)
    {
      if (label->radius > 0)
        cairo_rotate (cr, angle - G_PI / 2);
      cairo_translate (cr, label->radius, 0);
      if (label->other)
        cairo_rotate (cr, G_PI);
      cairo_translate (cr, at, 0);
      return;
    }
  angle += (label->other ? -at : at) / label->radius;
  cairo_rotate (cr, label->other ? angle + G_PI : angle);
  cairo_translate (cr, 0, label->other ? label->radius : -label->radius);
}

/* A letter is rotated by approximately the angle of its own center. */
static void
append_glyphs (FlamDraw *draw,
               cairo_t *cr,
               const FlamSunburst *sun,
               const FlamSunburstLabel *label,
               FlamGlyphs *glyphs,
               double width)
{
  double half = flam_labels_ascent (draw->labels) * 0.3;

  for (guint i = 0; i < glyphs->fonts->len; i++)
    {
      const GArray *array = glyphs->glyphs->pdata[i];

      for (guint j = 0; j < array->len; j++)
        {
          const cairo_glyph_t *glyph = &g_array_index (array, cairo_glyph_t, j);

          cairo_save (cr);
          turn_to (cr, sun, label, glyph->x + half - width / 2);
          cairo_translate (cr, -half, glyph->y);
          cairo_append_path (
              cr, outline_of (draw, glyphs->fonts->pdata[i], glyph->index));
          cairo_restore (cr);
        }
    }
  g_ptr_array_set_size (glyphs->fonts, 0);
  g_ptr_array_set_size (glyphs->glyphs, 0);
}

static void
append_label (FlamDraw *draw,
              cairo_t *cr,
              const FlamSunburst *sun,
              const FlamScene *scene,
              const FlamBox *box)
{
  FlamGlyphs *glyphs = &draw->glyphs[FLAM_COLOR_NORMAL];
  double ascent = flam_labels_ascent (draw->labels);
  double line = ascent + flam_labels_descent (draw->labels), width;
  FlamSunburstLabel label;

  if (!flam_sunburst_label (box, line, &label) || label.room < LEAST_LABEL)
    return;
  width = flam_labels_add (draw->labels,
                           glyphs,
                           flam_draw_name_of (scene, box),
                           0,
                           ascent - line / 2,
                           label.room);
  append_glyphs (draw, cr, sun, &label, glyphs, width);
}

/* --- picture ---------------------------------------------------------------
 */

void
flam_draw_sunburst (FlamDraw *draw,
                    cairo_t *cr,
                    const FlamLayout *layout,
                    const FlamScene *scene)
{
  FlamSunburst sun;

  flam_sunburst_init (&sun, &layout->viewport);
  for (guint32 i = 0; i < layout->n; i++)
    {
      append_sector (cr, &sun, &layout->boxes[i]);
      flam_draw_set_source (cr, flam_draw_color_of (scene, &layout->boxes[i]));
      cairo_fill (cr);
    }
  for (guint state = 0; state < FLAM_N_COLOR_STATES && !scene->bare; state++)
    {
      for (guint32 i = 0; i < layout->n; i++)
        if (!(layout->boxes[i].flags & FLAM_BOX_STRIP) &&
            flam_draw_state_of (scene, &layout->boxes[i]) == state)
          append_label (draw, cr, &sun, scene, &layout->boxes[i]);
      flam_draw_set_source (cr, flam_palette_text (scene->palette, state));
      cairo_fill (cr);
    }
}
