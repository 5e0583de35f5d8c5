/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-thread-row.h"

#include "flam-core-picture.h"
#include "flam-overview.h"
#include "flam-plot-widget.h"

#include <glib/gi18n.h>

#define STRIP_WIDTH 72
#define STRIP_HEIGHT 16

struct _FlamThreadRow
{
  GtkWidget parent_instance;

  FlamThreadItem *item;
  gboolean syncing;

  GtkWidget *check;
  GtkWidget *name;
  GtkWidget *strip;
  GtkWidget *share;
};

static guint toggled_signal;

G_DEFINE_FINAL_TYPE (FlamThreadRow, flam_thread_row, GTK_TYPE_WIDGET)

static void
on_toggled (FlamThreadRow *self)
{
  if (!self->syncing)
    g_signal_emit (self, toggled_signal, 0);
}

void
flam_thread_row_set_active (FlamThreadRow *self, gboolean active)
{
  g_return_if_fail (FLAM_IS_THREAD_ROW (self));
  self->syncing = TRUE;
  gtk_check_button_set_active (GTK_CHECK_BUTTON (self->check), active);
  self->syncing = FALSE;
}

FlamThreadItem *
flam_thread_row_get_item (FlamThreadRow *self)
{
  return self->item;
}

void
flam_thread_row_set (FlamThreadRow *self,
                     FlamThreadItem *item,
                     const FlamViewData *view_data,
                     gint64 whole)
{
  const FlamMeasure *measure = flam_view_data_get_measure (view_data);
  gboolean process = item->thread == FLAM_NONE;
  g_autofree char *share = flam_format_percent (item->weight, whole);
  g_autofree char *weight = NULL;
  g_autofree char *tip = NULL;

  g_return_if_fail (FLAM_IS_THREAD_ROW (self));
  g_set_object (&self->item, item);
  gtk_label_set_label (GTK_LABEL (self->name), item->name);
  if (*item->former != '\0')
    /* Translators: the former name of a process or thread */
    tip = g_strdup_printf (_ ("%s, formerly %s"), item->name, item->former);
  gtk_widget_set_tooltip_text (self->name, tip != NULL ? tip : item->name);
  gtk_label_set_label (GTK_LABEL (self->share), share);
  if (measure != NULL)
    weight = flam_format_figure (&view_data->profile->facts,
                                 measure,
                                 (FlamFigure){ item->weight, .other = -1 });
  gtk_widget_set_tooltip_text (self->share, weight);
  if (process)
    gtk_widget_add_css_class (self->name, "heading");
  else
    gtk_widget_remove_css_class (self->name, "heading");
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, item->name, -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  tip != NULL ? tip : share,
                                  -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->check),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  item->name,
                                  -1);
}

void
flam_thread_row_set_timeline (FlamThreadRow *self, FlamTimeline *timeline)
{
  g_return_if_fail (FLAM_IS_THREAD_ROW (self));
  gtk_widget_set_child_visible (self->strip, FALSE);
  if (timeline == NULL || self->item == NULL || self->item->thread == FLAM_NONE)
    return;
  for (guint i = 0; i + 1 < timeline->n_rows; i++)
    if (timeline->threads[i] == self->item->thread)
      {
        flam_plot_widget_set_plot (FLAM_PLOT_WIDGET (self->strip),
                                   flam_overview_row_plot (timeline, i + 1));
        gtk_widget_set_child_visible (self->strip, TRUE);
        return;
      }
}

static void
flam_thread_row_dispose (GObject *object)
{
  FlamThreadRow *self = FLAM_THREAD_ROW (object);
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
  g_clear_object (&self->item);
  G_OBJECT_CLASS (flam_thread_row_parent_class)->dispose (object);
}

/* A check button has no action for assistive tools; the row has one. */
static void
action_toggle (GtkWidget *widget, const char *name, GVariant *parameter)
{
  FlamThreadRow *self = FLAM_THREAD_ROW (widget);

  gtk_check_button_set_active (
      GTK_CHECK_BUTTON (self->check),
      !gtk_check_button_get_active (GTK_CHECK_BUTTON (self->check)));
}

static void
flam_thread_row_class_init (FlamThreadRowClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = flam_thread_row_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass),
                                            GTK_TYPE_BOX_LAYOUT);
  /* Newer GTKs do not expose the name of a widget that has no role. */
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass),
                                        GTK_ACCESSIBLE_ROLE_GROUP);
  gtk_widget_class_install_action (
      GTK_WIDGET_CLASS (klass), "thread.toggle", NULL, action_toggle);
  toggled_signal = g_signal_new ("toggled",
                                 FLAM_TYPE_THREAD_ROW,
                                 G_SIGNAL_RUN_LAST,
                                 0,
                                 NULL,
                                 NULL,
                                 NULL,
                                 G_TYPE_NONE,
                                 0);
}

static void
flam_thread_row_init (FlamThreadRow *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  gtk_box_layout_set_spacing (
      GTK_BOX_LAYOUT (gtk_widget_get_layout_manager (widget)), 6);
  self->check = gtk_check_button_new ();
  gtk_widget_set_parent (self->check, widget);
  g_signal_connect_swapped (
      self->check, "toggled", G_CALLBACK (on_toggled), self);

  self->name = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->name), 0);
  gtk_label_set_ellipsize (GTK_LABEL (self->name), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_width_chars (GTK_LABEL (self->name), 10);
  gtk_label_set_max_width_chars (GTK_LABEL (self->name), 32);
  gtk_widget_set_hexpand (self->name, TRUE);
  gtk_widget_set_parent (self->name, widget);

  self->strip = flam_plot_widget_new_small ();
  gtk_widget_set_size_request (self->strip, STRIP_WIDTH, STRIP_HEIGHT);
  gtk_widget_set_valign (self->strip, GTK_ALIGN_CENTER);
  gtk_widget_set_child_visible (self->strip, FALSE);
  gtk_widget_set_parent (self->strip, widget);

  self->share = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (self->share), 1);
  gtk_label_set_width_chars (GTK_LABEL (self->share), 7);
  gtk_widget_add_css_class (self->share, "numeric");
  gtk_widget_set_parent (self->share, widget);
}

GtkWidget *
flam_thread_row_new (void)
{
  return g_object_new (FLAM_TYPE_THREAD_ROW, NULL);
}
