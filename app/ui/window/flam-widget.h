/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WIDGET_H
#define FLAM_WIDGET_H

#include <gtk/gtk.h>

#include "flam-core-picture.h"

/* Whether a menu is open in the widget's window: it has the focus then, and
 * tooltips must not cover it. */
static inline gboolean
flam_widget_is_below_menu (GtkWidget *widget)
{
  GtkRoot *root = gtk_widget_get_root (widget);
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  return focus != NULL &&
         gtk_widget_get_ancestor (focus, GTK_TYPE_POPOVER) != NULL;
}

/* Whether the focus is in a field within the widget, to write in. */
static inline gboolean
flam_widget_is_written_to (GtkWidget *widget)
{
  GtkRoot *root = gtk_widget_get_root (widget);
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  return focus != NULL && GTK_IS_EDITABLE (focus) &&
         (focus == widget || gtk_widget_is_ancestor (focus, widget));
}

/* dispose() of a widget with a template: clears the template's children, and
 * unparents those without a name as well. */
static inline void
flam_widget_dispose_template (GtkWidget *widget, GType type)
{
  GtkWidget *child;

  gtk_widget_dispose_template (widget, type);
  while ((child = gtk_widget_get_first_child (widget)) != NULL)
    gtk_widget_unparent (child);
}

/* A function as a heading above other data: its name folded, and in full in the
 * tooltip; `more` may be NULL. */
static inline void
flam_widget_show_name (GtkLabel *label, const char *name, const char *more)
{
  g_autofree char *folded = flam_format_folded_name (name);
  g_autofree char *visible = flam_format_visible (name);
  g_autofree char *whole = g_strjoin ("\n", visible, more, NULL);

  gtk_label_set_label (label, folded);
  gtk_widget_set_tooltip_text (GTK_WIDGET (label), whole);
}

/* The width of a text in characters of the average width: those of Chinese and
 * Japanese are as wide as two. */
static inline guint
flam_widget_count_columns (const char *text)
{
  guint n = 0;

  for (; *text != '\0'; text = g_utf8_next_char (text))
    n += g_unichar_iswide (g_utf8_get_char (text)) ? 2 : 1;
  return n;
}

/* Figures below one another: their last digits, in every language. */
static inline void
flam_widget_align_figure (GtkLabel *label)
{
  gtk_widget_set_direction (GTK_WIDGET (label), GTK_TEXT_DIR_LTR);
  gtk_label_set_xalign (label, 1);
  gtk_widget_add_css_class (GTK_WIDGET (label), "numeric");
}

/* How much wider the widget's text is than that which the sizes in this program
 * are for, of 8 pixels a character: at least 1. */
static inline double
flam_widget_text_scale (GtkWidget *widget)
{
  PangoContext *context = gtk_widget_get_pango_context (widget);
  PangoFontMetrics *metrics = pango_context_get_metrics (context, NULL, NULL);
  int width = pango_font_metrics_get_approximate_char_width (metrics);

  pango_font_metrics_unref (metrics);
  return MAX (width / (8.0 * PANGO_SCALE), 1);
}

#endif
