/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-cost-cell.h"

#include "flam-core-picture.h"
#include "flam-widget.h"

#define SHARE_CHARS 7 /* "100.0 %" */
#define SHARE_GAP 6

struct _FlamCostCell
{
  GtkWidget parent_instance;
  GtkWidget *value;
  GtkWidget *share;
  double fraction;
};

G_DEFINE_FINAL_TYPE (FlamCostCell, flam_cost_cell, GTK_TYPE_WIDGET)

/* The bar is behind the figures, and light enough to keep them readable. */
static void
flam_cost_cell_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamCostCell *self = FLAM_COST_CELL (widget);
  float width = gtk_widget_get_width (widget);
  float height = gtk_widget_get_height (widget);
  float length = width * (float)CLAMP (self->fraction, 0, 1);
  GdkRGBA color;

  if (length >= 0.5f)
    {
      gtk_style_context_get_color (gtk_widget_get_style_context (widget),
                                   &color);
      color.alpha = 0.13f;
      gtk_snapshot_append_color (
          snapshot,
          &color,
          &GRAPHENE_RECT_INIT (width - length, 0, length, height));
    }
  GTK_WIDGET_CLASS (flam_cost_cell_parent_class)->snapshot (widget, snapshot);
}

static int
natural_width (GtkWidget *widget)
{
  int natural;

  gtk_widget_measure (
      widget, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &natural, NULL, NULL);
  return natural;
}

static void
flam_cost_cell_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  FlamCostCell *self = FLAM_COST_CELL (widget);
  int value, share;

  gtk_widget_measure (self->value, orientation, -1, &value, NULL, NULL, NULL);
  gtk_widget_measure (self->share, orientation, -1, &share, NULL, NULL, NULL);
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 0 : MAX (value, share);
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL
                 ? natural_width (self->value) + natural_width (self->share)
                 : *minimum;
}

/* Without room for both, the share is hidden, as the bar shows it, too. The
 * share has the same width in all rows; the value gets the rest. */
static void
flam_cost_cell_size_allocate (GtkWidget *widget,
                              int width,
                              int height,
                              int baseline)
{
  FlamCostCell *self = FLAM_COST_CELL (widget);
  int share = natural_width (self->share);
  gboolean both = natural_width (self->value) + share <= width;
  int left = both ? width - share : width;

  gtk_widget_set_child_visible (self->share, both);
  gtk_widget_allocate (self->value, left, height, baseline, NULL);
  if (both)
    gtk_widget_allocate (
        self->share,
        width - left,
        height,
        baseline,
        gsk_transform_translate (NULL, &GRAPHENE_POINT_INIT ((float)left, 0)));
}

static void
flam_cost_cell_dispose (GObject *object)
{
  FlamCostCell *self = FLAM_COST_CELL (object);

  g_clear_pointer (&self->value, gtk_widget_unparent);
  g_clear_pointer (&self->share, gtk_widget_unparent);
  G_OBJECT_CLASS (flam_cost_cell_parent_class)->dispose (object);
}

static void
flam_cost_cell_class_init (FlamCostCellClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_cost_cell_dispose;
  class->snapshot = flam_cost_cell_snapshot;
  class->measure = flam_cost_cell_measure;
  class->size_allocate = flam_cost_cell_size_allocate;
  gtk_widget_class_set_css_name (class, "flamcost");
}

static GtkWidget *
figure (FlamCostCell *self)
{
  GtkWidget *label = gtk_label_new (NULL);

  flam_widget_align_figure (GTK_LABEL (label));
  gtk_widget_set_parent (label, GTK_WIDGET (self));
  return label;
}

static void
flam_cost_cell_init (FlamCostCell *self)
{
  self->value = figure (self);
  self->share = figure (self);
  gtk_label_set_width_chars (GTK_LABEL (self->share), SHARE_CHARS);
  gtk_widget_set_margin_start (self->share, SHARE_GAP);
  gtk_widget_add_css_class (self->share, "dim-label");
}

GtkWidget *
flam_cost_cell_new (void)
{
  return g_object_new (FLAM_TYPE_COST_CELL, NULL);
}

int
flam_cost_cell_get_value_width (GtkWidget *cell)
{
  g_return_val_if_fail (FLAM_IS_COST_CELL (cell), 0);
  return natural_width (FLAM_COST_CELL (cell)->value);
}

void
flam_cost_cell_set (FlamCostCell *self,
                    const FlamViewData *view_data,
                    FlamFigure figure)
{
  const FlamMeasure *measure = flam_view_data_get_measure (view_data);
  gint64 total = flam_view_data_get_total (view_data);
  g_autofree char *value = NULL;
  gint64 weight = figure.weight;
  g_autofree char *share = NULL;

  g_return_if_fail (FLAM_IS_COST_CELL (self));
  if (weight != 0 && measure != NULL)
    {
      value = flam_format_figure (&view_data->profile->facts, measure, figure);
      share = flam_format_percent (weight, total);
    }
  /* AT-SPI calls an empty label by its type. */
  gtk_label_set_label (GTK_LABEL (self->value), value != NULL ? value : " ");
  gtk_label_set_label (GTK_LABEL (self->share), share != NULL ? share : " ");
  self->fraction = total > 0 ? (double)weight / (double)total : 0;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
