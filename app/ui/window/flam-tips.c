/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-tips.h"

#include "flam-settings.h"

#include <glib/gi18n.h>

#define TIP_WIDTH_CHARS 36

typedef struct
{
  const char *id; /* in the setting */
  const char *text;
} Tip;

static const Tip tips[] = {
  { "range",
    N_ ("Drag over the overview to see only a part of the time. Esc shows all "
        "of it again.") },
  { "menu",
    N_ ("Right-click a box for its callers, to hide it, or to open its source "
        "in an editor.") },
};

static GQuark
target_quark (guint tip)
{
  return g_quark_from_string (tips[tip].id);
}

/* TRUE once per tip. */
static gboolean
take (const char *id)
{
  GSettings *settings = flam_settings_get ();
  g_auto (GStrv) left = g_settings_get_strv (settings, FLAM_KEY_TIPS);
  g_autoptr (GStrvBuilder) others = g_strv_builder_new ();
  g_auto (GStrv) rest = NULL;

  if (!g_strv_contains ((const char *const *)left, id))
    return FALSE;
  for (guint i = 0; left[i] != NULL; i++)
    if (g_strcmp0 (left[i], id) != 0)
      g_strv_builder_add (others, left[i]);
  rest = g_strv_builder_end (others);
  g_settings_set_strv (settings, FLAM_KEY_TIPS, (const char *const *)rest);
  return TRUE;
}

static void show_next (GtkWidget *owner);

static gboolean
go_on (gpointer popover)
{
  GtkWidget *owner = gtk_widget_get_parent (popover);

  if (owner != NULL)
    {
      gtk_widget_unparent (popover);
      show_next (owner);
    }
  return G_SOURCE_REMOVE;
}

/* The popover is still in use during its signal "closed". */
static void
on_closed (GtkPopover *popover)
{
  g_idle_add_full (
      G_PRIORITY_DEFAULT, go_on, g_object_ref (popover), g_object_unref);
}

static GtkWidget *
content_of (const char *text, GtkWidget *popover)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *label = gtk_label_new (text);
  GtkWidget *button = gtk_button_new_with_mnemonic (_ ("_Got It"));

  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_max_width_chars (GTK_LABEL (label), TIP_WIDTH_CHARS);
  gtk_widget_set_halign (button, GTK_ALIGN_END);
  g_signal_connect_swapped (
      button, "clicked", G_CALLBACK (gtk_popover_popdown), popover);
  gtk_box_append (GTK_BOX (box), label);
  gtk_box_append (GTK_BOX (box), button);
  gtk_widget_set_margin_top (box, 6);
  gtk_widget_set_margin_bottom (box, 6);
  gtk_widget_set_margin_start (box, 6);
  gtk_widget_set_margin_end (box, 6);
  return box;
}

static void
show (GtkWidget *owner, GtkWidget *target, const char *text)
{
  GtkWidget *popover = gtk_popover_new ();
  graphene_rect_t bounds;
  GdkRectangle at;

  if (!gtk_widget_compute_bounds (target, owner, &bounds))
    return;
  at = (GdkRectangle){ (int)(bounds.origin.x + bounds.size.width / 2),
                       (int)(bounds.origin.y + bounds.size.height / 2),
                       1,
                       1 };
  gtk_popover_set_child (GTK_POPOVER (popover), content_of (text, popover));
  gtk_popover_set_pointing_to (GTK_POPOVER (popover), &at);
  gtk_popover_set_position (GTK_POPOVER (popover), GTK_POS_BOTTOM);
  gtk_widget_set_parent (popover, owner);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (popover), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  g_signal_connect (popover, "closed", G_CALLBACK (on_closed), NULL);
  gtk_popover_popup (GTK_POPOVER (popover));
}

static void
show_next (GtkWidget *owner)
{
  for (guint i = 0; i < G_N_ELEMENTS (tips); i++)
    {
      GtkWidget *target =
          g_object_get_qdata (G_OBJECT (owner), target_quark (i));

      if (target != NULL && gtk_widget_get_mapped (target) && take (tips[i].id))
        {
          show (owner, target, _ (tips[i].text));
          return;
        }
    }
}

/* A target without a size has no place to point at. */
static gboolean
begin (gpointer owner)
{
  GtkWidget *first = g_object_get_qdata (owner, target_quark (0));

  if (!gtk_widget_get_mapped (owner))
    return G_SOURCE_REMOVE;
  if (gtk_widget_get_width (first) == 0)
    return G_SOURCE_CONTINUE;
  show_next (owner);
  return G_SOURCE_REMOVE;
}

void
flam_tips_offer (GtkWidget *owner, GtkWidget *overview, GtkWidget *graph)
{
  g_auto (GStrv) left =
      g_settings_get_strv (flam_settings_get (), FLAM_KEY_TIPS);

  if (left[0] == NULL ||
      g_object_get_qdata (G_OBJECT (owner), target_quark (0)) != NULL)
    return;
  g_object_set_qdata (G_OBJECT (owner), target_quark (0), overview);
  g_object_set_qdata (G_OBJECT (owner), target_quark (1), graph);
  g_timeout_add_full (
      G_PRIORITY_DEFAULT, 500, begin, g_object_ref (owner), g_object_unref);
}
