/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-legend.h"

#include <glib/gi18n.h>

#include "flam-core-picture.h"
#include "flam-swatch.h"

#define GAP 6
#define SPACING 14
#define DELAY 180 /* ms */

struct _FlamLegend
{
  GtkWidget parent_instance;
  FlamFlameGraph *graph;
  GPtrArray *entries; /* FlamLegendEntry, of the first children */
  gint64 total;       /* of the zoomed node */
  guint soon;
  gboolean other_colors; /* the nodes have to be grouped again */
};

G_DEFINE_FINAL_TYPE (FlamLegend, flam_legend, GTK_TYPE_WIDGET)

static void
remove_entries (FlamLegend *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
}

static const char *
name_of (const FlamLegendEntry *entry)
{
  return entry->is_kind ? _ (entry->name) : entry->name;
}

/* The tooltip is queried on demand: GTK asks the display server for the
 * pointer's position whenever a tooltip is set. */
static gboolean
on_query_entry (GtkWidget *box,
                int x,
                int y,
                gboolean by_keyboard,
                GtkTooltip *tooltip,
                gpointer data)
{
  FlamLegend *self = data;
  const FlamLegendEntry *entry;
  g_autofree char *share = NULL, *text = NULL;
  guint place = 0;

  while ((box = gtk_widget_get_prev_sibling (box)) != NULL)
    place++;
  if (place >= self->entries->len)
    return FALSE;
  entry = self->entries->pdata[place];
  share = flam_format_percent (entry->weight, self->total);
  /* Translators: a color's meaning, and its share of the picture */
  text = g_strdup_printf (_ ("%s: %s of self"), name_of (entry), share);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

static GtkWidget *
add_entry (FlamLegend *self, FlamColor color)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, GAP);
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 24);
  gtk_widget_add_css_class (label, "caption");
  gtk_box_append (GTK_BOX (box), flam_swatch_new (color));
  gtk_box_append (GTK_BOX (box), label);
  gtk_widget_set_has_tooltip (box, TRUE);
  g_signal_connect (box, "query-tooltip", G_CALLBACK (on_query_entry), self);
  gtk_widget_set_parent (box, GTK_WIDGET (self));
  return box;
}

static void
set_entry (GtkWidget *box, const FlamLegendEntry *entry)
{
  GtkWidget *swatch = gtk_widget_get_first_child (box);
  GtkWidget *label = gtk_widget_get_next_sibling (swatch);

  flam_swatch_set_color (FLAM_SWATCH (swatch), entry->color);
  gtk_label_set_label (GTK_LABEL (label), name_of (entry));
}

/* The existing entries become the new ones, and surplus entries are kept,
 * hidden: after most zooms they have the same names, and nothing needs a new
 * layout. */
static void
update (FlamLegend *self)
{
  FlamTree *tree = flam_flame_graph_get_tree (self->graph);
  FlamNodeId zoom = flam_flame_graph_get_zoom (self->graph);
  GtkWidget *box = gtk_widget_get_first_child (GTK_WIDGET (self));

  g_clear_pointer (&self->entries, g_ptr_array_unref);
  self->entries = flam_flame_graph_get_legend (self->graph);
  self->total = tree != NULL ? tree->total[zoom] : 0;
  self->other_colors = FALSE;
  for (guint i = 0; i < self->entries->len; i++)
    {
      const FlamLegendEntry *entry = self->entries->pdata[i];

      if (box == NULL)
        box = add_entry (self, entry->color);
      set_entry (box, entry);
      gtk_widget_set_visible (box, TRUE);
      box = gtk_widget_get_next_sibling (box);
    }
  for (; box != NULL; box = gtk_widget_get_next_sibling (box))
    gtk_widget_set_visible (box, FALSE);
}

static gboolean
update_now (gpointer data)
{
  FlamLegend *self = data;

  self->soon = 0;
  update (self);
  return G_SOURCE_REMOVE;
}

/* Together with the last picture of a zoom's animation. A million nodes are
 * grouped in about as long as a frame: that is left to a frame of its own. */
static void
on_drawn (FlamLegend *self)
{
  if (self->soon == 0 || self->other_colors ||
      flam_flame_graph_is_moving (self->graph))
    return;
  g_source_remove (self->soon);
  update_now (self);
}

/* After the zoom's animation: other entries need a new layout of the window. */
static void
update_soon (FlamLegend *self)
{
  if (self->soon == 0)
    self->soon = g_timeout_add (DELAY, update_now, self);
}

/* The first ones come with the first picture. */
static void
on_colors (FlamLegend *self)
{
  self->other_colors = TRUE;
  if (self->entries->len > 0)
    update_soon (self);
  else
    update (self);
}

static void
flam_legend_measure (GtkWidget *widget,
                     GtkOrientation orientation,
                     int for_size,
                     int *minimum,
                     int *natural,
                     int *minimum_baseline,
                     int *natural_baseline)
{
  gboolean across = orientation == GTK_ORIENTATION_HORIZONTAL;

  *minimum = *natural = 0;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      int wants;

      if (!gtk_widget_should_layout (child))
        continue;
      gtk_widget_measure (child, orientation, -1, NULL, &wants, NULL, NULL);
      if (across)
        *natural += wants + (*natural > 0 ? SPACING : 0);
      else
        *minimum = *natural = MAX (*natural, wants);
    }
}

/* Entries that do not fit are not shown; gtk_widget_set_child_visible() keeps
 * them without mapping them. */
static void
flam_legend_size_allocate (GtkWidget *widget,
                           int width,
                           int height,
                           int baseline)
{
  gboolean mirrored = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  gboolean fits = TRUE;
  int x = 0;

  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      int wants;

      if (!gtk_widget_should_layout (child))
        continue;
      gtk_widget_measure (
          child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &wants, NULL, NULL);
      fits = fits && x + wants <= width;
      gtk_widget_set_child_visible (child, fits);
      if (fits)
        gtk_widget_size_allocate (
            child,
            &(GtkAllocation){
                mirrored ? width - x - wants : x, 0, wants, height },
            -1);
      x += wants + SPACING;
    }
}

static void
flam_legend_dispose (GObject *object)
{
  FlamLegend *self = FLAM_LEGEND (object);

  g_clear_handle_id (&self->soon, g_source_remove);
  remove_entries (self);
  g_clear_pointer (&self->entries, g_ptr_array_unref);
  g_clear_object (&self->graph);
  G_OBJECT_CLASS (flam_legend_parent_class)->dispose (object);
}

static void
flam_legend_class_init (FlamLegendClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = flam_legend_dispose;
  widget_class->measure = flam_legend_measure;
  widget_class->size_allocate = flam_legend_size_allocate;
  gtk_widget_class_set_css_name (widget_class, "legend");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_LIST);
}

static void
flam_legend_init (FlamLegend *self)
{
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Colors"), -1);
}

GtkWidget *
flam_legend_new (FlamFlameGraph *graph)
{
  static const char *const signals[] = { "notify::tree",
                                         "notify::palette",
                                         "notify::dark" };
  FlamLegend *self = g_object_new (FLAM_TYPE_LEGEND, NULL);

  self->graph = g_object_ref (graph);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (
        graph, signals[i], G_CALLBACK (on_colors), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (
      graph, "notify::zoom", G_CALLBACK (update_soon), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (
      graph, "drawn-changed", G_CALLBACK (on_drawn), self, G_CONNECT_SWAPPED);
  update (self);
  return GTK_WIDGET (self);
}
