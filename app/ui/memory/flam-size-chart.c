/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-size-chart.h"

#include "flam-core-picture.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#define HEIGHT 150
#define AXIS 20.0f  /* room for sizes below the bars */
#define HEAD 18.0f  /* room for figures above them */
#define LABEL 52.0f /* pixels that a label needs */

struct _FlamSizeChart
{
  GtkWidget parent_instance;
  FlamMemorySummary *memory;
  FlamMemoryPart part;
  gboolean bytes;
};

G_DEFINE_FINAL_TYPE (FlamSizeChart, flam_size_chart, GTK_TYPE_WIDGET)

/* --- figures -------------------------------------------------------------- */

static guint
n_bars (FlamSizeChart *self)
{
  return self->memory != NULL ? self->memory->end_bin - self->memory->first_bin
                              : 0;
}

static const FlamAmount *
amount_of (FlamSizeChart *self, guint bar)
{
  return &self->memory->size[self->memory->first_bin + bar].part[self->part];
}

static gint64
value_of (FlamSizeChart *self, guint bar)
{
  const FlamAmount *amount = amount_of (self, bar);

  return self->bytes ? amount->bytes : amount->blocks;
}

static char *
value_text (FlamSizeChart *self, guint bar)
{
  return flam_format_value (value_of (self, bar),
                            self->bytes ? FLAM_UNIT_BYTES : FLAM_UNIT_COUNT);
}

/* Sizes are usually powers of two: "64 KiB", as in source code. */
static char *
power_text (gint64 size)
{
  static const char *const units[] = { "B",   "KiB", "MiB", "GiB",
                                       "TiB", "PiB", "EiB" };
  guint unit = 0;

  while (size >= 1024)
    {
      size /= 1024;
      unit++;
    }
  return g_strdup_printf ("%d %s", (int)size, units[unit]);
}

static char *
range_text (FlamSizeChart *self, guint bar)
{
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;
  gint64 low, high;

  flam_memory_summary_bin_range (self->memory->first_bin + bar, &low, &high);
  from = power_text (low);
  if (low == high)
    return g_steal_pointer (&from);
  to = high < G_MAXINT64 ? power_text (high + 1) : g_strdup ("8 EiB");
  /* Translators: sizes of blocks of memory */
  return g_strdup_printf (_ ("%s to less than %s"), from, to);
}

static char *
bar_text (FlamSizeChart *self, guint bar)
{
  const FlamAmount *amount = amount_of (self, bar);
  const FlamAmount *all = &self->memory->all.part[self->part];
  g_autofree char *range = range_text (self, bar);
  g_autofree char *bytes = flam_format_value (amount->bytes, FLAM_UNIT_BYTES);
  g_autofree char *blocks = flam_format_value (amount->blocks, FLAM_UNIT_COUNT);
  g_autofree char *share = flam_format_percent (amount->bytes, all->bytes);
  g_autofree char *block_share =
      flam_format_percent (amount->blocks, all->blocks);

  /* Translators: a size; bytes and their share; blocks and their share */
  return g_strdup_printf (_ ("%s: %s (%s) in %s blocks (%s)"),
                          range,
                          bytes,
                          share,
                          blocks,
                          block_share);
}

/* --- drawing -------------------------------------------------------------- */

static GdkRGBA
ink_of (FlamSizeChart *self, float alpha)
{
  GdkRGBA ink;

  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                               &ink);
  ink.alpha = alpha;
  return ink;
}

static GdkRGBA
bar_color (void)
{
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());

  return dark ? (GdkRGBA){ 0.34f, 0.81f, 0.52f, 0.85f }
              : (GdkRGBA){ 0.15f, 0.60f, 0.36f, 0.85f };
}

static void
append_text (FlamSizeChart *self,
             GtkSnapshot *snapshot,
             const char *text,
             float center,
             float top,
             float alpha)
{
  g_autoptr (PangoLayout) layout =
      gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  PangoAttrList *attributes = pango_attr_list_new ();
  float room = (float)gtk_widget_get_width (GTK_WIDGET (self));
  GdkRGBA ink = ink_of (self, alpha);
  int width, height;

  pango_attr_list_insert (attributes, pango_attr_scale_new (0.78));
  pango_layout_set_attributes (layout, attributes);
  pango_attr_list_unref (attributes);
  pango_layout_get_pixel_size (layout, &width, &height);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot,
      &GRAPHENE_POINT_INIT (CLAMP (roundf (center - (float)width / 2),
                                   0,
                                   MAX (room - (float)width, 0)),
                            roundf (top)));
  gtk_snapshot_append_layout (snapshot, layout, &ink);
  gtk_snapshot_restore (snapshot);
}

static void
append_bar (FlamSizeChart *self,
            GtkSnapshot *snapshot,
            guint bar,
            float width,
            double top)
{
  float base = (float)gtk_widget_get_height (GTK_WIDGET (self)) - AXIS;
  double share = (double)value_of (self, bar) / top;
  float height = share > 0 ? MAX ((float)share * (base - HEAD), 1) : 0;
  float x = (float)bar * width;
  GdkRGBA color = bar_color ();
  g_autofree char *text = NULL;

  gtk_snapshot_append_color (
      snapshot,
      &color,
      &GRAPHENE_RECT_INIT (x + 1, base - height, MAX (width - 2, 1), height));
  if (share < 0.005 || width < LABEL)
    return;
  text = value_text (self, bar);
  append_text (
      self, snapshot, text, x + width / 2, base - height - HEAD + 1, 0.9f);
}

/* A size is written at the edge where its bar begins, as far as there is
 * room. */
static void
append_axis (FlamSizeChart *self, GtkSnapshot *snapshot, float width)
{
  float base = (float)gtk_widget_get_height (GTK_WIDGET (self)) - AXIS;
  guint step = MAX ((guint)ceilf (LABEL / MAX (width, 1)), 1);
  GdkRGBA line = ink_of (self, 0.25f);

  gtk_snapshot_append_color (
      snapshot,
      &line,
      &GRAPHENE_RECT_INIT (
          0, base, (float)gtk_widget_get_width (GTK_WIDGET (self)), 1));
  for (guint bar = 0; bar < n_bars (self); bar += step)
    {
      g_autofree char *text = NULL;
      gint64 low, high;

      flam_memory_summary_bin_range (
          self->memory->first_bin + bar, &low, &high);
      text = power_text (low);
      append_text (self,
                   snapshot,
                   text,
                   (float)bar * width + width / 2,
                   base + 3,
                   0.75f);
    }
}

static float
bar_width (FlamSizeChart *self)
{
  float width = (float)gtk_widget_get_width (GTK_WIDGET (self));

  return MIN (width / (float)MAX (n_bars (self), 1), 96);
}

static void
flam_size_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamSizeChart *self = FLAM_SIZE_CHART (widget);
  float width = bar_width (self);
  gint64 top = 1;

  for (guint bar = 0; bar < n_bars (self); bar++)
    top = MAX (top, value_of (self, bar));
  for (guint bar = 0; bar < n_bars (self); bar++)
    append_bar (self, snapshot, bar, width, (double)top);
  append_axis (self, snapshot, width);
}

/* --- words ---------------------------------------------------------------- */

static gboolean
on_query_tooltip (GtkWidget *widget,
                  int x,
                  int y,
                  gboolean by_keyboard,
                  GtkTooltip *tooltip,
                  gpointer data)
{
  FlamSizeChart *self = FLAM_SIZE_CHART (widget);
  float width = bar_width (self);
  guint bar = (guint)((float)x / MAX (width, 1));
  g_autofree char *text = NULL;

  if (by_keyboard || bar >= n_bars (self))
    return FALSE;
  text = bar_text (self, bar);
  gtk_tooltip_set_text (tooltip, text);
  gtk_tooltip_set_tip_area (tooltip,
                            &(GdkRectangle){ (int)((float)bar * width),
                                             0,
                                             MAX ((int)width, 1),
                                             gtk_widget_get_height (widget) });
  return TRUE;
}

static void
announce (FlamSizeChart *self)
{
  g_autoptr (GString) text = g_string_new (_ ("Sizes of blocks"));

  for (guint bar = 0; bar < n_bars (self); bar++)
    if (amount_of (self, bar)->blocks > 0)
      {
        g_autofree char *words = bar_text (self, bar);

        g_string_append_printf (text, "; %s", words);
      }
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text->str, -1);
}

void
flam_size_chart_set (FlamSizeChart *self,
                     FlamMemorySummary *memory,
                     FlamMemoryPart part,
                     gboolean bytes)
{
  g_return_if_fail (FLAM_IS_SIZE_CHART (self));
  if (memory != NULL)
    flam_memory_summary_ref (memory);
  g_clear_pointer (&self->memory, flam_memory_summary_unref);
  self->memory = memory;
  self->part = part;
  self->bytes = bytes;
  announce (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- the object ----------------------------------------------------------- */

static void
flam_size_chart_measure (GtkWidget *widget,
                         GtkOrientation orientation,
                         int for_size,
                         int *minimum,
                         int *natural,
                         int *minimum_baseline,
                         int *natural_baseline)
{
  gboolean across = orientation == GTK_ORIENTATION_HORIZONTAL;

  *minimum = across ? 120 : HEIGHT;
  *natural = across ? 480 : HEIGHT;
}

static void
flam_size_chart_dispose (GObject *object)
{
  g_clear_pointer (&FLAM_SIZE_CHART (object)->memory,
                   flam_memory_summary_unref);
  G_OBJECT_CLASS (flam_size_chart_parent_class)->dispose (object);
}

static void
flam_size_chart_class_init (FlamSizeChartClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_size_chart_dispose;
  class->measure = flam_size_chart_measure;
  class->snapshot = flam_size_chart_snapshot;
  gtk_widget_class_set_accessible_role (class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
flam_size_chart_init (FlamSizeChart *self)
{
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (on_query_tooltip), NULL);
}
