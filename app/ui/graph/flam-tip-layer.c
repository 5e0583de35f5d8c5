/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tip-layer.h"

#include <adwaita.h>

#define GAP 4    /* between the area and its tooltip */
#define MARGIN 4 /* to the window's edges */

struct _FlamTipLayer
{
  GtkWidget parent_instance;
  GtkWidget *child, *tip;
  GtkWidget *owner; /* not referenced; NULL: nothing is shown */
  GdkRectangle area;
};

static void flam_tip_layer_buildable_init (GtkBuildableIface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (
    FlamTipLayer,
    flam_tip_layer,
    GTK_TYPE_WIDGET,
    G_IMPLEMENT_INTERFACE (GTK_TYPE_BUILDABLE, flam_tip_layer_buildable_init))

static GtkBuildableIface *parent_buildable;

/* --- place ---------------------------------------------------------------- */

static void
measure_tip (FlamTipLayer *self, int room, int *width, int *height)
{
  int least, wanted;

  gtk_widget_measure (
      self->tip, GTK_ORIENTATION_HORIZONTAL, -1, &least, &wanted, NULL, NULL);
  *width = MAX (least, MIN (wanted, room));
  gtk_widget_measure (
      self->tip, GTK_ORIENTATION_VERTICAL, *width, NULL, height, NULL, NULL);
}

/* As high as there is room, preferably below. */
static int
find_y (const graphene_rect_t *area, int tip, int height)
{
  int below = (int)(area->origin.y + area->size.height) + GAP;
  int above = (int)area->origin.y - GAP - tip;

  if (below + tip > height - MARGIN && above >= MARGIN)
    return above;
  return MAX (MIN (below, height - MARGIN - tip), MARGIN);
}

static void
allocate_tip (FlamTipLayer *self, int width, int height)
{
  graphene_rect_t owner, area;
  GtkAllocation place;

  if (!gtk_widget_compute_bounds (self->owner, GTK_WIDGET (self), &owner))
    return;
  area = GRAPHENE_RECT_INIT (owner.origin.x + (float)self->area.x,
                             owner.origin.y + (float)self->area.y,
                             (float)self->area.width,
                             (float)self->area.height);
  measure_tip (self, width - 2 * MARGIN, &place.width, &place.height);
  place.x = (int)(area.origin.x + area.size.width / 2) - place.width / 2;
  place.x = MAX (MIN (place.x, width - MARGIN - place.width), MARGIN);
  place.y = find_y (&area, place.height, height);
  gtk_widget_size_allocate (self->tip, &place, -1);
}

static void
flam_tip_layer_size_allocate (GtkWidget *widget,
                              int width,
                              int height,
                              int baseline)
{
  FlamTipLayer *self = FLAM_TIP_LAYER (widget);

  if (self->child != NULL)
    gtk_widget_size_allocate (
        self->child, &(GtkAllocation){ 0, 0, width, height }, baseline);
  if (self->owner != NULL)
    allocate_tip (self, width, height);
}

static void
flam_tip_layer_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  FlamTipLayer *self = FLAM_TIP_LAYER (widget);

  *minimum = *natural = 0;
  if (self->child != NULL)
    gtk_widget_measure (self->child,
                        orientation,
                        for_size,
                        minimum,
                        natural,
                        minimum_baseline,
                        natural_baseline);
}

static GtkSizeRequestMode
flam_tip_layer_get_request_mode (GtkWidget *widget)
{
  FlamTipLayer *self = FLAM_TIP_LAYER (widget);

  return self->child != NULL ? gtk_widget_get_request_mode (self->child)
                             : GTK_SIZE_REQUEST_CONSTANT_SIZE;
}

static void
append_child (FlamTipLayer *self, GtkSnapshot *snapshot)
{
  GtkSnapshot *own = gtk_snapshot_new ();
  GskRenderNode *node, *named;

  gtk_widget_snapshot_child (GTK_WIDGET (self), self->child, own);
  node = gtk_snapshot_free_to_node (own);
  if (node == NULL)
    return;
  named = gsk_debug_node_new (node, g_strdup ("child"));
  gtk_snapshot_append_node (snapshot, named);
  gsk_render_node_unref (named);
  gsk_render_node_unref (node);
}

/* GTK finds the changes since the last frame by comparing nodes one by one, by
 * kind, and would redraw everything whenever a tooltip appears or disappears.
 * So the number of nodes is the same with and without a tooltip, and the
 * child's node is wrapped in a node of another kind that draws nothing, so that
 * it is not compared with a tooltip's. */
static void
flam_tip_layer_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  static const GdkRGBA nothing = { 0, 0, 0, 0 };
  FlamTipLayer *self = FLAM_TIP_LAYER (widget);

  if (self->child != NULL)
    append_child (self, snapshot);
  gtk_snapshot_append_color (
      snapshot, &nothing, &GRAPHENE_RECT_INIT (0, 0, 0, 0));
  gtk_widget_snapshot_child (widget, self->tip, snapshot);
}

/* --- showing -------------------------------------------------------------- */

static void
hide (FlamTipLayer *self)
{
  if (self->owner == NULL)
    return;
  g_signal_handlers_disconnect_by_data (self->owner, self);
  self->owner = NULL;
  gtk_widget_set_visible (self->tip, FALSE);
  adw_bin_set_child (ADW_BIN (self->tip), NULL);
}

static FlamTipLayer *
layer_of (GtkWidget *owner)
{
  return FLAM_TIP_LAYER (gtk_widget_get_ancestor (owner, FLAM_TYPE_TIP_LAYER));
}

void
flam_tip_show (GtkWidget *owner,
               GtkWidget *content,
               const char *text,
               const GdkRectangle *area)
{
  FlamTipLayer *self = layer_of (owner);

  if (self == NULL)
    return;
  if (self->owner == owner && gdk_rectangle_equal (&self->area, area) &&
      adw_bin_get_child (ADW_BIN (self->tip)) == content)
    return;
  if (self->owner != owner)
    {
      hide (self);
      self->owner = owner;
      g_signal_connect_swapped (owner, "unmap", G_CALLBACK (hide), self);
    }
  self->area = *area;
  /* First, since the request of a hidden widget is not measured again. */
  gtk_widget_set_visible (self->tip, TRUE);
  adw_bin_set_child (ADW_BIN (self->tip), content);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self->tip), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

gboolean
flam_tip_hide (GtkWidget *owner)
{
  FlamTipLayer *self = layer_of (owner);

  if (self == NULL || self->owner != owner)
    return FALSE;
  hide (self);
  return TRUE;
}

/* --- the object ----------------------------------------------------------- */

static void
set_child (FlamTipLayer *self, GtkWidget *child)
{
  self->child = child;
  gtk_widget_insert_before (child, GTK_WIDGET (self), self->tip);
}

static void
flam_tip_layer_add_child (GtkBuildable *buildable,
                          GtkBuilder *builder,
                          GObject *child,
                          const char *type)
{
  FlamTipLayer *self = FLAM_TIP_LAYER (buildable);

  if (!GTK_IS_WIDGET (child) || self->child != NULL)
    {
      parent_buildable->add_child (buildable, builder, child, type);
      return;
    }
  set_child (self, GTK_WIDGET (child));
}

static void
flam_tip_layer_buildable_init (GtkBuildableIface *iface)
{
  parent_buildable = g_type_interface_peek_parent (iface);
  iface->add_child = flam_tip_layer_add_child;
}

static void
flam_tip_layer_dispose (GObject *object)
{
  FlamTipLayer *self = FLAM_TIP_LAYER (object);

  if (self->tip != NULL)
    hide (self);
  g_clear_pointer (&self->child, gtk_widget_unparent);
  g_clear_pointer (&self->tip, gtk_widget_unparent);
  G_OBJECT_CLASS (flam_tip_layer_parent_class)->dispose (object);
}

static void
flam_tip_layer_class_init (FlamTipLayerClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = flam_tip_layer_dispose;
  widget_class->measure = flam_tip_layer_measure;
  widget_class->get_request_mode = flam_tip_layer_get_request_mode;
  widget_class->size_allocate = flam_tip_layer_size_allocate;
  widget_class->snapshot = flam_tip_layer_snapshot;
}

static void
flam_tip_layer_init (FlamTipLayer *self)
{
  self->tip = g_object_new (ADW_TYPE_BIN,
                            "css-name",
                            "tooltip",
                            "accessible-role",
                            GTK_ACCESSIBLE_ROLE_TOOLTIP,
                            "can-target",
                            FALSE,
                            "visible",
                            FALSE,
                            NULL);
  gtk_widget_add_css_class (self->tip, "background");
  gtk_widget_add_css_class (self->tip, "flam-tip");
  gtk_widget_set_parent (self->tip, GTK_WIDGET (self));
}

GtkWidget *
flam_tip_layer_new (GtkWidget *child)
{
  FlamTipLayer *self = g_object_new (FLAM_TYPE_TIP_LAYER, NULL);

  set_child (self, child);
  return GTK_WIDGET (self);
}
