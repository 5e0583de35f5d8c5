/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-curve.h"

#include <adwaita.h>

#include "flam-core-picture.h"
#include "flam-draw.h"

static GdkRGBA
curve_color (const FlamTimeline *timeline, gboolean dark)
{
  if (timeline->kind == FLAM_TIMELINE_MEMORY)
    return dark ? (GdkRGBA){ 0.34f, 0.81f, 0.52f, 1 }
                : (GdkRGBA){ 0.15f, 0.60f, 0.36f, 1 };
  return dark ? (GdkRGBA){ 1, 0.56f, 0.30f, 1 }
              : (GdkRGBA){ 0.87f, 0.37f, 0.08f, 1 };
}

gboolean
flam_curve_is_dark (GtkWidget *widget)
{
  return adw_is_initialized () &&
         adw_style_manager_get_dark (adw_style_manager_get_default ());
}

/* The bucket with the greatest value within one pixel. */
static guint
bucket_at (const FlamTimeline *timeline, guint row, int pixel, int pixels)
{
  const gint64 *value = flam_timeline_row (timeline, row);
  guint end, most = flam_timeline_buckets_at (timeline, pixel, pixels, &end);

  for (guint i = most + 1; i < end; i++)
    if (value[i] > value[most])
      most = i;
  return most;
}

static double
value_at (const FlamTimeline *timeline, guint row, int pixel, int pixels)
{
  guint bucket = bucket_at (timeline, row, pixel, pixels);

  return (double)flam_timeline_row (timeline, row)[bucket];
}

static void
trace (cairo_t *cr,
       const FlamTimeline *timeline,
       guint row,
       gint64 top,
       const graphene_rect_t *area)
{
  int pixels = (int)area->size.width;
  double bottom = area->origin.y + area->size.height;
  double scale = area->size.height / (double)MAX (top, 1);

  for (int i = 0; i < pixels; i++)
    {
      double y = bottom - value_at (timeline, row, i, pixels) * scale;

      cairo_line_to (cr, area->origin.x + i, y);
      cairo_line_to (cr, area->origin.x + i + 1, y);
    }
}

/* Running at the bottom, waiting above it; a column of pixels is one bucket. */
static void
append_states (GtkSnapshot *snapshot,
               const FlamTimeline *timeline,
               guint row,
               gint64 top,
               const graphene_rect_t *area,
               gboolean dark)
{
  const FlamStateSplit *split = timeline->split + (gsize)row * timeline->n;
  int pixels = (int)area->size.width;
  double scale = area->size.height / (double)MAX (top, 1);
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, area);

  for (guint state = 0; state < FLAM_N_STATES; state++)
    {
      flam_draw_set_source (cr, flam_palette_state_color (state, dark));
      for (int i = 0; i < pixels; i++)
        {
          guint bucket = bucket_at (timeline, row, i, pixels);
          gint64 below = 0;

          for (guint s = 0; s < state; s++)
            below += split[bucket].weight[s];
          if (split[bucket].weight[state] <= 0)
            continue;
          cairo_rectangle (cr,
                           area->origin.x + i,
                           area->origin.y + area->size.height -
                               (double)(below + split[bucket].weight[state]) *
                                   scale,
                           1,
                           (double)split[bucket].weight[state] * scale);
        }
      cairo_fill (cr);
    }
  cairo_destroy (cr);
}

void
flam_curve_append (GtkSnapshot *snapshot,
                   const FlamTimeline *timeline,
                   guint row,
                   gint64 top,
                   const graphene_rect_t *area,
                   gboolean dark)
{
  double left = area->origin.x;
  double bottom = area->origin.y + area->size.height;
  GdkRGBA color = curve_color (timeline, dark);
  GdkRGBA fill = color;
  cairo_t *cr;

  if (timeline->split != NULL)
    {
      append_states (snapshot, timeline, row, top, area, dark);
      return;
    }
  cr = gtk_snapshot_append_cairo (snapshot, area);

  fill.alpha = 0.35f;
  cairo_move_to (cr, left, bottom);
  trace (cr, timeline, row, top, area);
  cairo_line_to (cr, left + (int)area->size.width, bottom);
  cairo_close_path (cr);
  gdk_cairo_set_source_rgba (cr, &fill);
  cairo_fill (cr);
  cairo_new_path (cr);
  trace (cr, timeline, row, top, area);
  gdk_cairo_set_source_rgba (cr, &color);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
  cairo_destroy (cr);
}
