/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-history-function.h"

#include "flam-core-picture.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

#define SHOWN_CHARS 28

struct _FlamHistoryFunction
{
  GtkWidget parent_instance;

  char *chosen; /* NULL: none */
  GtkStringList *names;
  GtkStringFilter *filter;
  GtkMenuButton *button;
  GtkLabel *label;
  GtkSearchEntry *search;
  GtkListView *list;
};

static guint changed_signal;

G_DEFINE_FINAL_TYPE (FlamHistoryFunction,
                     flam_history_function,
                     GTK_TYPE_WIDGET)

/* --- choices -------------------------------------------------------------- */

static void
show_chosen (FlamHistoryFunction *self)
{
  const char *all = _ ("All functions");
  g_autofree char *folded =
      self->chosen != NULL ? flam_format_folded_name (self->chosen) : NULL;
  g_autofree char *visible =
      flam_format_visible (self->chosen != NULL ? self->chosen : all);
  g_autofree char *name = g_strdup_printf (_ ("Function: %s"), visible);

  gtk_label_set_label (self->label, folded != NULL ? folded : all);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->button), name);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self->button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static void
choose (FlamHistoryFunction *self, const char *name)
{
  char *copy = g_strdup (name);

  g_free (self->chosen);
  self->chosen = copy;
  show_chosen (self);
  gtk_menu_button_popdown (self->button);
  g_signal_emit (self, changed_signal, 0);
}

const char *
flam_history_function_get (FlamHistoryFunction *self)
{
  g_return_val_if_fail (FLAM_IS_HISTORY_FUNCTION (self), NULL);
  return self->chosen;
}

void
flam_history_function_set_names (FlamHistoryFunction *self,
                                 const GPtrArray *names)
{
  g_autoptr (GPtrArray) copy = g_ptr_array_new ();

  g_return_if_fail (FLAM_IS_HISTORY_FUNCTION (self));
  for (guint i = 0; i < names->len; i++)
    g_ptr_array_add (copy, names->pdata[i]);
  g_ptr_array_add (copy, NULL);
  gtk_string_list_splice (self->names,
                          0,
                          g_list_model_get_n_items (G_LIST_MODEL (self->names)),
                          (const char *const *)copy->pdata);
}

/* --- the list ------------------------------------------------------------- */

static void
row_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_list_item_set_child (item, label);
}

static void
row_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  const char *name = gtk_string_object_get_string (
      GTK_STRING_OBJECT (gtk_list_item_get_item (item)));

  flam_widget_show_name (
      GTK_LABEL (gtk_list_item_get_child (item)), name, NULL);
}

static void
on_row (GtkListView *list, guint position, FlamHistoryFunction *self)
{
  g_autoptr (GtkStringObject) row = g_list_model_get_item (
      G_LIST_MODEL (gtk_list_view_get_model (list)), position);

  if (row != NULL)
    choose (self, gtk_string_object_get_string (row));
}

static void
on_search (GtkSearchEntry *entry, FlamHistoryFunction *self)
{
  gtk_string_filter_set_search (self->filter,
                                gtk_editable_get_text (GTK_EDITABLE (entry)));
}

/* Enter chooses the first remaining one. The last change of the text may not
 * have been applied yet. */
static void
on_enter (GtkSearchEntry *entry, FlamHistoryFunction *self)
{
  on_search (entry, self);
  on_row (self->list, 0, self);
}

static void
on_all (FlamHistoryFunction *self)
{
  choose (self, NULL);
}

static void
on_shown (GtkPopover *popover, FlamHistoryFunction *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
  gtk_widget_grab_focus (GTK_WIDGET (self->search));
}

static GtkWidget *
make_list (FlamHistoryFunction *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkFilterListModel *filtered;
  GtkWidget *scrolled = gtk_scrolled_window_new ();

  self->names = gtk_string_list_new (NULL);
  self->filter = gtk_string_filter_new (
      gtk_property_expression_new (GTK_TYPE_STRING_OBJECT, NULL, "string"));
  gtk_string_filter_set_match_mode (self->filter,
                                    GTK_STRING_FILTER_MATCH_MODE_SUBSTRING);
  filtered =
      gtk_filter_list_model_new (G_LIST_MODEL (g_object_ref (self->names)),
                                 GTK_FILTER (g_object_ref (self->filter)));
  self->list = GTK_LIST_VIEW (gtk_list_view_new (
      GTK_SELECTION_MODEL (gtk_single_selection_new (G_LIST_MODEL (filtered))),
      factory));
  gtk_list_view_set_single_click_activate (self->list, TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Functions"),
                                  -1);
  g_signal_connect (factory, "setup", G_CALLBACK (row_setup), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (row_bind), NULL);
  g_signal_connect (self->list, "activate", G_CALLBACK (on_row), self);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scrolled),
                                 GTK_WIDGET (self->list));
  gtk_widget_set_size_request (scrolled, 280, 300);
  return scrolled;
}

static GtkWidget *
make_popover (FlamHistoryFunction *self)
{
  GtkWidget *popover = gtk_popover_new ();
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *all = gtk_button_new_with_label (_ ("All functions"));

  self->search = GTK_SEARCH_ENTRY (gtk_search_entry_new ());
  g_object_set (
      self->search, "placeholder-text", _ ("Part of a function’s name"), NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->search),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Part of a function’s name"),
                                  -1);
  gtk_widget_add_css_class (all, "flat");
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->search));
  gtk_box_append (GTK_BOX (box), all);
  gtk_box_append (GTK_BOX (box), make_list (self));
  gtk_popover_set_child (GTK_POPOVER (popover), box);
  g_signal_connect (
      self->search, "search-changed", G_CALLBACK (on_search), self);
  g_signal_connect (self->search, "activate", G_CALLBACK (on_enter), self);
  g_signal_connect_swapped (all, "clicked", G_CALLBACK (on_all), self);
  g_signal_connect (popover, "show", G_CALLBACK (on_shown), self);
  return popover;
}

/* --- the object ----------------------------------------------------------- */

static void
flam_history_function_dispose (GObject *object)
{
  FlamHistoryFunction *self = FLAM_HISTORY_FUNCTION (object);

  if (self->button != NULL)
    gtk_widget_unparent (GTK_WIDGET (self->button));
  self->button = NULL;
  g_clear_object (&self->names);
  g_clear_object (&self->filter);
  g_clear_pointer (&self->chosen, g_free);
  G_OBJECT_CLASS (flam_history_function_parent_class)->dispose (object);
}

static void
flam_history_function_class_init (FlamHistoryFunctionClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = flam_history_function_dispose;
  changed_signal = g_signal_new ("changed",
                                 FLAM_TYPE_HISTORY_FUNCTION,
                                 G_SIGNAL_RUN_LAST,
                                 0,
                                 NULL,
                                 NULL,
                                 NULL,
                                 G_TYPE_NONE,
                                 0);
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass),
                                            GTK_TYPE_BIN_LAYOUT);
}

static void
flam_history_function_init (FlamHistoryFunction *self)
{
  GtkWidget *arrow = gtk_image_new_from_icon_name ("pan-down-symbolic");
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);

  self->button = GTK_MENU_BUTTON (gtk_menu_button_new ());
  self->label = GTK_LABEL (gtk_label_new (NULL));
  gtk_label_set_ellipsize (self->label, PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (self->label, SHOWN_CHARS);
  gtk_widget_set_hexpand (GTK_WIDGET (self->label), TRUE);
  gtk_label_set_xalign (self->label, 0);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->label));
  gtk_box_append (GTK_BOX (box), arrow);
  gtk_menu_button_set_child (self->button, box);
  gtk_menu_button_set_popover (self->button, make_popover (self));
  gtk_widget_set_parent (GTK_WIDGET (self->button), GTK_WIDGET (self));
  show_chosen (self);
}
