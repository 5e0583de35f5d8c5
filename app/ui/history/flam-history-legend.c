/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-history-legend.h"

#include "flam-history-words.h"
#include "flam-widget.h"
#include "flam-wrap-layout.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#define HEIGHT_MOST 96 /* pixels: more series are scrolled */

struct _FlamHistoryLegend
{
  GtkWidget parent_instance;

  GtkBox *box;
  GPtrArray *listed;  /* the keys of the series with a button */
  gboolean dark;      /* the colors of the buttons */
  GHashTable *hidden; /* keys */
};

static guint changed_signal;

G_DEFINE_FINAL_TYPE (FlamHistoryLegend, flam_history_legend, GTK_TYPE_WIDGET)

/* Captures that the regex does not match have no name. */
static char *
key_of (const FlamTrend *trend, guint series)
{
  const char *name = trend->series[series].name;

  return name != NULL ? g_strconcat ("=", name, NULL) : g_strdup ("");
}

static gboolean
lists (FlamHistoryLegend *self, const FlamTrend *trend, gboolean dark)
{
  if (self->listed->len != trend->n || self->dark != dark)
    return FALSE;
  for (guint i = 0; i < trend->n; i++)
    {
      g_autofree char *key = key_of (trend, i);

      if (strcmp (self->listed->pdata[i], key) != 0)
        return FALSE;
    }
  return TRUE;
}

static void
on_toggled (GtkToggleButton *button, FlamHistoryLegend *self)
{
  const char *key = g_object_get_data (G_OBJECT (button), "key");

  if (gtk_toggle_button_get_active (button))
    g_hash_table_remove (self->hidden, key);
  else
    g_hash_table_add (self->hidden, g_strdup (key));
  g_signal_emit (self, changed_signal, 0);
}

static void
add_button (FlamHistoryLegend *self, const FlamTrend *trend, guint series)
{
  GtkWidget *label = gtk_label_new (NULL);
  GtkWidget *button = gtk_toggle_button_new ();
  char *key = key_of (trend, series);
  g_autofree char *markup =
      flam_history_words_legend (trend, series, self->dark);

  g_ptr_array_add (self->listed, key);
  gtk_label_set_markup (GTK_LABEL (label), markup);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 40);
  gtk_button_set_child (GTK_BUTTON (button), label);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (button),
      GTK_ACCESSIBLE_PROPERTY_LABEL,
      flam_history_words_series (trend->series[series].name),
      -1);
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (button),
                                !g_hash_table_contains (self->hidden, key));
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "flam-series");
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, _ ("Show or hide this series"));
  g_object_set_data_full (G_OBJECT (button), "key", g_strdup (key), g_free);
  g_signal_connect (button, "toggled", G_CALLBACK (on_toggled), self);
  gtk_box_append (self->box, button);
}

static void
list_series (FlamHistoryLegend *self, const FlamTrend *trend, gboolean dark)
{
  GtkWidget *child;

  self->dark = dark;
  g_ptr_array_set_size (self->listed, 0);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->box))) != NULL)
    gtk_box_remove (self->box, child);
  for (guint i = 0; i < trend->n; i++)
    add_button (self, trend, i);
}

void
flam_history_legend_apply (FlamHistoryLegend *self, FlamTrend *trend)
{
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());

  g_return_if_fail (FLAM_IS_HISTORY_LEGEND (self));
  if (!lists (self, trend, dark))
    list_series (self, trend, dark);
  for (guint i = 0; i < trend->n && trend->n > 1; i++)
    if (g_hash_table_contains (self->hidden, self->listed->pdata[i]))
      flam_trend_hide (trend, i);
  gtk_widget_set_visible (GTK_WIDGET (self), trend->n > 1);
}

static void
flam_history_legend_dispose (GObject *object)
{
  FlamHistoryLegend *self = FLAM_HISTORY_LEGEND (object);
  GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (self));

  g_clear_pointer (&child, gtk_widget_unparent);
  g_clear_pointer (&self->listed, g_ptr_array_unref);
  g_clear_pointer (&self->hidden, g_hash_table_unref);
  G_OBJECT_CLASS (flam_history_legend_parent_class)->dispose (object);
}

static void
flam_history_legend_class_init (FlamHistoryLegendClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_history_legend_dispose;
  changed_signal = g_signal_new ("changed",
                                 FLAM_TYPE_HISTORY_LEGEND,
                                 G_SIGNAL_RUN_LAST,
                                 0,
                                 NULL,
                                 NULL,
                                 NULL,
                                 G_TYPE_NONE,
                                 0);
  gtk_widget_class_set_layout_manager_type (class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
flam_history_legend_init (FlamHistoryLegend *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new ();

  self->listed = g_ptr_array_new_with_free_func (g_free);
  self->hidden = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->box = GTK_BOX (gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0));
  gtk_widget_set_layout_manager (GTK_WIDGET (self->box),
                                 g_object_new (FLAM_TYPE_WRAP_LAYOUT, NULL));
  gtk_widget_add_css_class (GTK_WIDGET (self->box), "flam-all-series");
  gtk_scrolled_window_set_policy (
      GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (
      GTK_SCROLLED_WINDOW (scroller), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scroller),
                                              HEIGHT_MOST);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller),
                                 GTK_WIDGET (self->box));
  gtk_widget_set_parent (scroller, GTK_WIDGET (self));
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Series"), -1);
}
