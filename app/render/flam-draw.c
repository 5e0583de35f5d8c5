/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-draw-private.h"

#include <math.h>

#define PADDING 4.0
#define LEAST_LABEL 12.0 /* pixels; nothing fits into less */

FlamDraw *
flam_draw_new (PangoContext *context, const PangoFontDescription *font)
{
  FlamDraw *draw = g_new0 (FlamDraw, 1);

  if (font == NULL)
    font = pango_context_get_font_description (context);
  draw->context = g_object_ref (context);
  /* Names of functions are code: from right to left, their brackets would be
   * mirrored. */
  pango_context_set_base_dir (context, PANGO_DIRECTION_LTR);
  draw->font = pango_font_description_copy (font);
  draw->labels = flam_labels_new (context, font);
  for (guint i = 0; i < FLAM_N_COLOR_STATES; i++)
    flam_glyphs_init (&draw->glyphs[i]);
  return draw;
}

void
flam_draw_free (FlamDraw *draw)
{
  for (guint i = 0; i < FLAM_N_COLOR_STATES; i++)
    flam_glyphs_clear (&draw->glyphs[i]);
  flam_labels_free (draw->labels);
  g_clear_pointer (&draw->outlines, g_hash_table_unref);
  g_clear_pointer (&draw->profile, flam_profile_unref);
  pango_font_description_free (draw->font);
  g_object_unref (draw->context);
  g_free (draw);
}

double
flam_draw_row_height (const FlamDraw *draw)
{
  return flam_picture_row_height (flam_labels_ascent (draw->labels) +
                                  flam_labels_descent (draw->labels));
}

static double
baseline_of (const FlamDraw *draw, double y, double height)
{
  double ascent = flam_labels_ascent (draw->labels);
  double descent = flam_labels_descent (draw->labels);

  return round (y + (height - ascent - descent) / 2 + ascent);
}

gboolean
flam_draw_is_in_rows (const FlamDraw *draw)
{
  double height = flam_draw_row_height (draw);
  double baseline = baseline_of (draw, 0, height - FLAM_DRAW_GAP);

  return flam_labels_above (draw->labels) <= baseline &&
         flam_labels_below (draw->labels) <= height - baseline;
}

void
flam_draw_set_profile (FlamDraw *draw, FlamProfile *profile)
{
  if (draw->profile == profile)
    return;
  flam_labels_forget (draw->labels);
  g_clear_pointer (&draw->profile, flam_profile_unref);
  draw->profile = flam_profile_ref (profile);
}

const char *
flam_draw_name_of (const FlamScene *scene, const FlamBox *box)
{
  return box->node == 0 && scene->root != NULL
             ? scene->root
             : flam_tree_name (scene->tree, box->node);
}

FlamColorState
flam_draw_state_of (const FlamScene *scene, const FlamBox *box)
{
  gboolean dimmed = scene->matched != NULL ? !scene->matched[box->node]
                                           : box->flags & FLAM_BOX_ANCESTOR;

  return dimmed
             ? FLAM_COLOR_DIMMED
             : flam_palette_label_state (
                   scene->palette, scene->tree, box->node, FLAM_COLOR_NORMAL);
}

FlamColor
flam_draw_color_of (const FlamScene *scene, const FlamBox *box)
{
  FlamColor color =
      box->flags & FLAM_BOX_STRIP
          ? flam_palette_strip (scene->palette)
          : flam_palette_node (scene->palette, scene->tree, box->node);

  if (flam_draw_state_of (scene, box) == FLAM_COLOR_DIMMED)
    color = flam_palette_dimmed (scene->palette, color);
  return color;
}

void
flam_draw_add_label (FlamDraw *draw,
                     FlamColorState state,
                     const char *name,
                     double left,
                     double right,
                     double y,
                     double height)
{
  left += PADDING;
  right -= PADDING;
  if (right - left < LEAST_LABEL || height < flam_labels_ascent (draw->labels))
    return;
  flam_labels_add (draw->labels,
                   &draw->glyphs[state],
                   name,
                   round (left),
                   baseline_of (draw, y, height),
                   right - round (left));
}

void
flam_draw_show_labels (FlamDraw *draw, cairo_t *cr, const FlamPalette *palette)
{
  for (guint i = 0; i < FLAM_N_COLOR_STATES; i++)
    {
      flam_draw_set_source (cr, flam_palette_text (palette, i));
      flam_glyphs_show (&draw->glyphs[i], cr);
    }
}
