/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-page-bar.h"

#include <glib/gi18n.h>

#include "flam-core-picture.h"
#include "flam-flame-graph-private.h"

#define MARGIN 12

struct _FlamPageBar
{
  GtkBox parent_instance;
  FlamFlameGraph *graph;
  GtkWidget *back, *on;
  GtkLabel *text;
};

G_DEFINE_FINAL_TYPE (FlamPageBar, flam_page_bar, GTK_TYPE_BOX)

static char *
count_text (guint32 count)
{
  return flam_format_value (count, FLAM_UNIT_COUNT);
}

static char *
page_text (const FlamGraphPage *page)
{
  g_autofree char *first = count_text (page->first + 1);
  g_autofree char *last = count_text (page->end);
  g_autofree char *n = count_text (page->n);

  if (page->hidden > 0)
    {
      g_autofree char *hidden = count_text (page->hidden);

      /* Translators: functions that do not fit into the picture */
      return g_strdup_printf (ngettext ("%s more", "%s more", page->hidden),
                              hidden);
    }
  /* Translators: the first, the last and the total number: "17–41 of 300" */
  return g_strdup_printf (_ ("%s–%s of %s"), first, last, n);
}

static void
update (FlamPageBar *self)
{
  FlamGraphPage page;
  gboolean paged = flam_graph_get_page (self->graph, &page);

  if (paged)
    {
      g_autofree char *text = page_text (&page);

      gtk_label_set_text (self->text, text);
      gtk_widget_set_sensitive (self->back, page.back);
      gtk_widget_set_sensitive (self->on, page.on);
    }
  gtk_widget_set_visible (GTK_WIDGET (self), paged);
}

static void
on_previous (FlamPageBar *self)
{
  flam_graph_turn_page (self->graph, TRUE);
}

static void
on_next (FlamPageBar *self)
{
  flam_graph_turn_page (self->graph, FALSE);
}

/* The keyboard focus stays with the graph, whose keys do the same. */
static GtkWidget *
add_button (FlamPageBar *self,
            const char *icon,
            const char *name,
            GCallback clicked)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);

  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "circular");
  gtk_widget_set_focus_on_click (button, FALSE);
  gtk_widget_set_tooltip_text (button, name);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  gtk_box_append (GTK_BOX (self), button);
  return button;
}

static void
flam_page_bar_dispose (GObject *object)
{
  g_clear_object (&FLAM_PAGE_BAR (object)->graph);
  G_OBJECT_CLASS (flam_page_bar_parent_class)->dispose (object);
}

static void
flam_page_bar_class_init (FlamPageBarClass *class)
{
  G_OBJECT_CLASS (class)->dispose = flam_page_bar_dispose;
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "pagebar");
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class),
                                        GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
flam_page_bar_init (FlamPageBar *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  gtk_box_set_spacing (GTK_BOX (self), 3);
  self->back = add_button (self,
                           "go-previous-symbolic",
                           _ ("Previous Page"),
                           G_CALLBACK (on_previous));
  self->text = GTK_LABEL (gtk_label_new (NULL));
  gtk_widget_add_css_class (GTK_WIDGET (self->text), "numeric");
  gtk_box_append (GTK_BOX (self), GTK_WIDGET (self->text));
  self->on = add_button (
      self, "go-next-symbolic", _ ("Next Page"), G_CALLBACK (on_next));
  gtk_widget_set_halign (widget, GTK_ALIGN_START);
  gtk_widget_set_valign (widget, GTK_ALIGN_END);
  gtk_widget_set_margin_start (widget, MARGIN);
  gtk_widget_set_margin_bottom (widget, MARGIN);
  gtk_widget_set_visible (widget, FALSE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Functions in view"),
                                  -1);
}

GtkWidget *
flam_page_bar_new (FlamFlameGraph *graph)
{
  FlamPageBar *self = g_object_new (FLAM_TYPE_PAGE_BAR, NULL);

  self->graph = g_object_ref (graph);
  g_signal_connect_object (
      graph, "drawn-changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}
