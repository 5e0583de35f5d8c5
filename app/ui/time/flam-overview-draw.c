/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-overview-private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "flam-accent.h"
#include "flam-core-picture.h"

/* --- drawing ------------------------------------------------------------- */

static GdkRGBA
ink_of (FlamOverview *self, float alpha)
{
  GdkRGBA ink;

  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                               &ink);
  ink.alpha = alpha;
  return ink;
}

static GdkRGBA
paper_of (FlamOverview *self, float alpha)
{
  float shade = flam_curve_is_dark (GTK_WIDGET (self)) ? 0.12f : 0.98f;

  return (GdkRGBA){ shade, shade, shade, alpha };
}

static PangoLayout *
small_text (FlamOverview *self, const char *text)
{
  PangoLayout *layout =
      gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  PangoAttrList *attributes = pango_attr_list_new ();

  pango_attr_list_insert (attributes, pango_attr_scale_new (0.78));
  pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum=1"));
  pango_layout_set_attributes (layout, attributes);
  pango_attr_list_unref (attributes);
  return layout;
}

/* Returns the width. `align`: 0 left of x, 0.5 centered, 1 right of it. */
static double
append_text (FlamOverview *self,
             GtkSnapshot *snapshot,
             const char *text,
             double x,
             double y,
             double align,
             const GdkRGBA *color)
{
  g_autoptr (PangoLayout) layout = small_text (self, text);
  int width, height;
  double room = gtk_widget_get_width (GTK_WIDGET (self));

  pango_layout_get_pixel_size (layout, &width, &height);
  x = CLAMP (x - width * (1 - align), 2, MAX (room - width - 2, 2));
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT ((float)round (x), (float)round (y)));
  gtk_snapshot_append_layout (snapshot, layout, color);
  gtk_snapshot_restore (snapshot);
  return width;
}

/* Text centered at x, readable over any curve: beside `taken` or, without room,
 * below it; NULL: in the first row. Returns its rectangle. */
static graphene_rect_t
append_badge (FlamOverview *self,
              GtkSnapshot *snapshot,
              const char *text,
              double x,
              const graphene_rect_t *taken,
              const GdkRGBA *paper,
              const GdkRGBA *ink)
{
  g_autoptr (PangoLayout) layout = small_text (self, text);
  double room = gtk_widget_get_width (GTK_WIDGET (self));
  graphene_rect_t bounds;
  GskRoundedRect pill;
  int width, height;

  pango_layout_get_pixel_size (layout, &width, &height);
  x = round (CLAMP (x - width / 2.0, 7, MAX (room - width - 7, 7)));
  bounds = GRAPHENE_RECT_INIT (
      (float)x - 5, 3, (float)width + 10, (float)height + 2);
  if (taken != NULL && graphene_rect_intersection (taken, &bounds, NULL))
    bounds.origin.y = taken->origin.y + taken->size.height + 1;
  gsk_rounded_rect_init_from_rect (&pill, &bounds, (float)(height + 2) / 2);
  gtk_snapshot_push_rounded_clip (snapshot, &pill);
  gtk_snapshot_append_color (snapshot, paper, &bounds);
  gtk_snapshot_pop (snapshot);
  append_text (self, snapshot, text, x, bounds.origin.y + 1, 1, ink);
  return bounds;
}

static void
append_axis (FlamOverview *self, GtkSnapshot *snapshot, double top)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double span = (double)(self->timeline->end - self->timeline->start);
  double step = flam_ticks_step (span, width);
  GdkRGBA line = ink_of (self, 0.18f);
  GdkRGBA text = ink_of (self, 0.72f);

  gtk_snapshot_append_color (
      snapshot, &line, &GRAPHENE_RECT_INIT (0, (float)top, (float)width, 1));
  for (double time = 0; time < span; time += step)
    {
      double x = round (time / span * width);
      g_autofree char *label = flam_ticks_text (time, step);

      gtk_snapshot_append_color (
          snapshot, &line, &GRAPHENE_RECT_INIT ((float)x, (float)top, 1, 4));
      if (x + 40 < width)
        append_text (self, snapshot, label, x + 3, top + 1, 1, &text);
    }
}

/* Whether the curve already shows the heap. */
gboolean
flam_overview_has_counter (const FlamTimeline *timeline, guint counter)
{
  return timeline->kind == FLAM_TIMELINE_MEMORY &&
         timeline->counters[counter].unit == timeline->unit &&
         timeline->counters[counter].top > 0 &&
         strcmp (timeline->counters[counter].id, "heap") != 0;
}

char *
flam_overview_counter_name (const char *id)
{
  /* Translators: resident set size, as the system reports it */
  return flam_format_visible (strcmp (id, "rss") == 0 ? _ ("RSS") : id);
}

static gint64
top_of (FlamOverview *self)
{
  const FlamTimeline *timeline = self->timeline;
  gint64 top = timeline->top[0];

  for (guint i = 0; i < timeline->n_counters; i++)
    if (flam_overview_has_counter (timeline, i))
      top = MAX (top, timeline->counters[i].top);
  return MAX (top, 1);
}

static void
append_counter (FlamOverview *self,
                GtkSnapshot *snapshot,
                const struct FlamTimelineCounter *counter,
                gint64 top,
                const graphene_rect_t *area)
{
  GdkRGBA color = ink_of (self, 0.5f);
  guint n = self->timeline->n;
  const double dashes[] = { 3, 2 };
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, area);

  for (guint i = 0; i < n; i++)
    cairo_line_to (
        cr,
        area->origin.x +
            flam_timeline_middle_of (self->timeline, i) * area->size.width,
        area->origin.y +
            area->size.height * (1 - (double)counter->value[i] / (double)top));
  gdk_cairo_set_source_rgba (cr, &color);
  cairo_set_line_width (cr, 1);
  cairo_set_dash (cr, dashes, 2, 0);
  cairo_stroke (cr);
  cairo_destroy (cr);
}

static void
append_peak (FlamOverview *self,
             GtkSnapshot *snapshot,
             const graphene_rect_t *key,
             double height)
{
  g_autofree char *value =
      flam_format_value (self->timeline->peak, self->timeline->unit);
  /* Translators: the maximum of the memory in use */
  g_autofree char *text = g_strdup_printf (_ ("peak %s"), value);
  GdkRGBA line = ink_of (self, 0.45f);
  GdkRGBA ink = ink_of (self, 0.9f);
  GdkRGBA paper = paper_of (self, 0.85f);
  double x = round (flam_overview_pixel_of (self, self->timeline->peak_time));
  float below;

  /* The line begins below the text, so that the text stays readable. */
  self->peak = append_badge (self, snapshot, text, x, key, &paper, &ink);
  below = self->peak.origin.y + self->peak.size.height;
  if (below < (float)height)
    gtk_snapshot_append_color (
        snapshot,
        &line,
        &GRAPHENE_RECT_INIT ((float)x, below, 1, (float)height - below));
}

/* The legend of the lines, with the maximum of each, which is the picture's
 * scale. Returns its rectangle. */
static graphene_rect_t
append_key (FlamOverview *self, GtkSnapshot *snapshot)
{
  const FlamTimeline *timeline = self->timeline;
  g_autofree char *most = flam_format_value (timeline->top[0], timeline->unit);
  g_autoptr (GString) text = g_string_new (NULL);
  GdkRGBA ink = ink_of (self, 0.85f);
  GdkRGBA paper = paper_of (self, 0.7f);

  /* Translators: memory; the maximum of the curve */
  g_string_printf (text, _ ("— in use, up to %s"), most);
  for (guint i = 0; i < timeline->n_counters; i++)
    if (flam_overview_has_counter (timeline, i))
      {
        g_autofree char *name =
            flam_overview_counter_name (timeline->counters[i].id);
        g_autofree char *top = flam_format_value (timeline->counters[i].top,
                                                  timeline->counters[i].unit);

        g_string_append (text, "   ");
        /* Translators: the name and the maximum of a dashed line */
        g_string_append_printf (text, _ ("- - %s, up to %s"), name, top);
      }
  return append_badge (self, snapshot, text->str, 0, NULL, &paper, &ink);
}

static GskRenderNode *
curve_new (FlamOverview *self, double width, double height)
{
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  double base = height - FLAM_OVERVIEW_AXIS;
  graphene_rect_t area =
      GRAPHENE_RECT_INIT (0, 3, (float)width, (float)base - 3);
  gint64 top = top_of (self);
  graphene_rect_t key;

  self->peak = GRAPHENE_RECT_INIT (0, 0, 0, 0);
  flam_curve_append (snapshot,
                     self->timeline,
                     0,
                     top,
                     &area,
                     flam_curve_is_dark (GTK_WIDGET (self)));
  if (self->timeline->kind == FLAM_TIMELINE_MEMORY)
    {
      for (guint i = 0; i < self->timeline->n_counters; i++)
        if (flam_overview_has_counter (self->timeline, i))
          append_counter (
              self, snapshot, &self->timeline->counters[i], top, &area);
      key = append_key (self, snapshot);
      if (self->timeline->peak_time >= 0)
        append_peak (self, snapshot, &key, base);
    }
  append_axis (self, snapshot, base);
  return gtk_snapshot_free_to_node (snapshot);
}

static void
append_edge (GtkSnapshot *snapshot, double x, double base, const GdkRGBA *color)
{
  GskRoundedRect grip;

  gtk_snapshot_append_color (
      snapshot, color, &GRAPHENE_RECT_INIT ((float)x - 1, 0, 2, (float)base));
  gsk_rounded_rect_init_from_rect (
      &grip, &GRAPHENE_RECT_INIT ((float)x - 3, (float)base / 2 - 8, 6, 16), 3);
  gtk_snapshot_push_rounded_clip (snapshot, &grip);
  gtk_snapshot_append_color (snapshot, color, &grip.bounds);
  gtk_snapshot_pop (snapshot);
}

static void
append_selection (FlamOverview *self, GtkSnapshot *snapshot, double height)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double base = height - FLAM_OVERVIEW_AXIS;
  double from = round (flam_overview_pixel_of (self, self->from));
  double to = round (flam_overview_pixel_of (self, self->to));
  GdkRGBA veil = paper_of (self, 0.68f);
  GdkRGBA accent = flam_accent (flam_curve_is_dark (GTK_WIDGET (self)), 1);
  GdkRGBA ink = ink_of (self, 1);
  GdkRGBA paper = paper_of (self, 0.85f);
  g_autofree char *length =
      flam_format_value (self->to - self->from, FLAM_UNIT_NS);

  gtk_snapshot_append_color (
      snapshot, &veil, &GRAPHENE_RECT_INIT (0, 0, (float)from, (float)base));
  gtk_snapshot_append_color (
      snapshot,
      &veil,
      &GRAPHENE_RECT_INIT ((float)to, 0, (float)(width - to), (float)base));
  append_edge (snapshot, from, base, &accent);
  append_edge (snapshot, to, base, &accent);
  append_badge (self, snapshot, length, (from + to) / 2, NULL, &paper, &ink);
}

static void
append_focus (FlamOverview *self, GtkSnapshot *snapshot, int width, int height)
{
  GdkRGBA ink = ink_of (self, 0.6f);
  const float widths[4] = { 1, 1, 1, 1 };
  const GdkRGBA colors[4] = { ink, ink, ink, ink };
  GskRoundedRect outline;

  gsk_rounded_rect_init_from_rect (
      &outline, &GRAPHENE_RECT_INIT (0, 0, width, height), 4);
  gtk_snapshot_append_border (snapshot, &outline, widths, colors);
}

void
flam_overview_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamOverview *self = FLAM_OVERVIEW (widget);
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);
  GdkRGBA line;

  if (self->timeline == NULL || width <= 0 || height <= FLAM_OVERVIEW_AXIS)
    return;
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  if (self->curve == NULL)
    self->curve = curve_new (self, width, height);
  if (self->curve != NULL)
    gtk_snapshot_append_node (snapshot, self->curve);
  if (flam_overview_has_range (self))
    append_selection (self, snapshot, height);
  line = ink_of (self, 0.35f);
  if (self->pointer >= 0 && self->grab == FLAM_GRAB_NONE)
    gtk_snapshot_append_color (
        snapshot,
        &line,
        &GRAPHENE_RECT_INIT ((float)floor (self->pointer),
                             0,
                             1,
                             (float)(height - FLAM_OVERVIEW_AXIS)));
  if (gtk_widget_has_visible_focus (widget))
    append_focus (self, snapshot, width, height);
  gtk_snapshot_pop (snapshot);
}
