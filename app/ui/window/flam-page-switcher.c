/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-page-switcher.h"

#include <glib/gi18n.h>

struct _FlamPageSwitcher
{
  GtkWidget parent_instance;

  GtkStack *stack;     /* not referenced: beside it in the template */
  GHashTable *buttons; /* id -> GtkToggleButton, not referenced */
  GtkToggleButton *first;
  GtkMenuButton *more;
  GtkBox *list; /* in the menu */
  gboolean syncing;
};

G_DEFINE_FINAL_TYPE (FlamPageSwitcher, flam_page_switcher, GTK_TYPE_WIDGET)

static void
on_toggled (GtkToggleButton *button, FlamPageSwitcher *self)
{
  const char *id = g_object_get_data (G_OBJECT (button), "id");

  if (self->syncing || !gtk_toggle_button_get_active (button))
    return;
  gtk_menu_button_popdown (self->more);
  gtk_stack_set_visible_child_name (self->stack, id);
}

/* GTK reports this only when it changes: an assistive program that starts later
 * would miss it. */
static void
tell_pressed (FlamPageSwitcher *self)
{
  GHashTableIter iter;
  gpointer button;

  g_hash_table_iter_init (&iter, self->buttons);
  while (g_hash_table_iter_next (&iter, NULL, &button))
    gtk_accessible_update_state (GTK_ACCESSIBLE (button),
                                 GTK_ACCESSIBLE_STATE_PRESSED,
                                 gtk_toggle_button_get_active (button)
                                     ? GTK_ACCESSIBLE_TRISTATE_TRUE
                                     : GTK_ACCESSIBLE_TRISTATE_FALSE,
                                 -1);
}

static void
on_visible_page (FlamPageSwitcher *self)
{
  const char *id = gtk_stack_get_visible_child_name (self->stack);
  GtkToggleButton *button =
      id != NULL ? g_hash_table_lookup (self->buttons, id) : NULL;
  gboolean in_menu;

  if (button == NULL)
    return;
  in_menu =
      gtk_widget_get_parent (GTK_WIDGET (button)) == GTK_WIDGET (self->list);
  self->syncing = TRUE;
  gtk_toggle_button_set_active (button, TRUE);
  self->syncing = FALSE;
  tell_pressed (self);
  gtk_menu_button_set_label (
      self->more,
      in_menu ? g_object_get_data (G_OBJECT (button), "title") : _ ("More"));
  if (in_menu)
    gtk_widget_add_css_class (GTK_WIDGET (self->more), "flam-chosen");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self->more), "flam-chosen");
}

void
flam_page_switcher_set_stack (FlamPageSwitcher *self, GtkStack *stack)
{
  g_return_if_fail (FLAM_IS_PAGE_SWITCHER (self));
  self->stack = stack;
  g_signal_connect_object (stack,
                           "notify::visible-child",
                           G_CALLBACK (on_visible_page),
                           self,
                           G_CONNECT_SWAPPED);
}

void
flam_page_switcher_add (FlamPageSwitcher *self,
                        const char *id,
                        const char *title,
                        gboolean in_menu)
{
  GtkWidget *button = gtk_toggle_button_new_with_label (title);

  g_return_if_fail (FLAM_IS_PAGE_SWITCHER (self));
  g_object_set_data_full (G_OBJECT (button), "id", g_strdup (id), g_free);
  g_object_set_data_full (G_OBJECT (button), "title", g_strdup (title), g_free);
  gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (button), self->first);
  if (self->first == NULL)
    self->first = GTK_TOGGLE_BUTTON (button);
  g_hash_table_insert (self->buttons, g_strdup (id), button);
  if (in_menu)
    {
      gtk_widget_add_css_class (button, "flat");
      gtk_label_set_xalign (
          GTK_LABEL (gtk_button_get_child (GTK_BUTTON (button))), 0);
      gtk_box_append (self->list, button);
    }
  else
    gtk_widget_insert_before (
        button, GTK_WIDGET (self), GTK_WIDGET (self->more));
  g_signal_connect (button, "toggled", G_CALLBACK (on_toggled), self);
  on_visible_page (self);
}

void
flam_page_switcher_set_shown (FlamPageSwitcher *self,
                              const char *id,
                              gboolean shown)
{
  GtkWidget *button;

  g_return_if_fail (FLAM_IS_PAGE_SWITCHER (self));
  button = g_hash_table_lookup (self->buttons, id);
  if (button != NULL)
    gtk_widget_set_visible (button, shown);
}

static void
flam_page_switcher_dispose (GObject *object)
{
  FlamPageSwitcher *self = FLAM_PAGE_SWITCHER (object);
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
  g_clear_pointer (&self->buttons, g_hash_table_unref);
  G_OBJECT_CLASS (flam_page_switcher_parent_class)->dispose (object);
}

static void
flam_page_switcher_class_init (FlamPageSwitcherClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = flam_page_switcher_dispose;
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BOX_LAYOUT);
}

static void
flam_page_switcher_init (FlamPageSwitcher *self)
{
  GtkWidget *popover = gtk_popover_new ();

  self->buttons = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->list = GTK_BOX (gtk_box_new (GTK_ORIENTATION_VERTICAL, 0));
  self->more = GTK_MENU_BUTTON (gtk_menu_button_new ());
  gtk_popover_set_child (GTK_POPOVER (popover), GTK_WIDGET (self->list));
  gtk_menu_button_set_popover (self->more, popover);
  gtk_menu_button_set_label (self->more, _ ("More"));
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->more), _ ("More Views"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->more),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("More Views"),
                                  -1);
  gtk_widget_set_parent (GTK_WIDGET (self->more), GTK_WIDGET (self));
  gtk_widget_add_css_class (GTK_WIDGET (self), "linked");
}
