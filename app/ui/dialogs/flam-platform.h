/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PLATFORM_H
#define FLAM_PLATFORM_H

/* The few places where newer releases of the platform need other calls than
 * Debian 12's: libadwaita 1.5 has dialogs inside the window, GTK 4.12 can name
 * list rows and control how Tab leaves them, and GtkSourceView 5.16 measures
 * gutter lines in fractions. Each has one function here, which uses the newer
 * call if it exists. */

#include <adwaita.h>
#include <gtksourceview/gtksource.h>

G_BEGIN_DECLS

/* A question with a few answers, and one of our widgets between them. */
#if ADW_CHECK_VERSION(1, 5, 0)
typedef AdwAlertDialog FlamAlert;
typedef AdwAlertDialogClass FlamAlertClass;
#define FLAM_TYPE_ALERT ADW_TYPE_ALERT_DIALOG
#define FLAM_ALERT_CLASS ADW_ALERT_DIALOG_CLASS
#define flam_alert_add_responses adw_alert_dialog_add_responses
#define flam_alert_set_response_appearance                                     \
  adw_alert_dialog_set_response_appearance
#define flam_alert_set_response_enabled adw_alert_dialog_set_response_enabled
#define flam_alert_set_default_response adw_alert_dialog_set_default_response
#define flam_alert_set_close_response adw_alert_dialog_set_close_response
#define flam_alert_set_extra_child adw_alert_dialog_set_extra_child
#else
typedef AdwMessageDialog FlamAlert;
typedef AdwMessageDialogClass FlamAlertClass;
#define FLAM_TYPE_ALERT ADW_TYPE_MESSAGE_DIALOG
#define FLAM_ALERT_CLASS ADW_MESSAGE_DIALOG_CLASS
#define flam_alert_add_responses adw_message_dialog_add_responses
#define flam_alert_set_response_appearance                                     \
  adw_message_dialog_set_response_appearance
#define flam_alert_set_response_enabled adw_message_dialog_set_response_enabled
#define flam_alert_set_default_response adw_message_dialog_set_default_response
#define flam_alert_set_close_response adw_message_dialog_set_close_response
#define flam_alert_set_extra_child adw_message_dialog_set_extra_child
#endif

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamAlert, g_object_unref)

static inline void
flam_alert_present (FlamAlert *alert, GtkWindow *parent)
{
#if ADW_CHECK_VERSION(1, 5, 0)
  adw_dialog_present (ADW_DIALOG (alert), GTK_WIDGET (parent));
#else
  gtk_window_set_transient_for (GTK_WINDOW (alert), parent);
  gtk_window_set_modal (GTK_WINDOW (alert), TRUE);
  gtk_window_present (GTK_WINDOW (alert));
#endif
}

/* Pages of settings, transient for `parent`. */
static inline void
flam_platform_present_preferences (AdwPreferencesPage *page, GtkWindow *parent)
{
#if ADW_CHECK_VERSION(1, 5, 0)
  AdwDialog *dialog = adw_preferences_dialog_new ();

  adw_preferences_dialog_add (ADW_PREFERENCES_DIALOG (dialog), page);
  adw_dialog_present (dialog, GTK_WIDGET (parent));
#else
  int room = gtk_widget_get_width (GTK_WIDGET (parent));
  GtkWidget *window = g_object_new (ADW_TYPE_PREFERENCES_WINDOW,
                                    "transient-for",
                                    parent,
                                    "modal",
                                    TRUE,
                                    "search-enabled",
                                    FALSE,
                                    "default-width",
                                    MIN (560, MAX (room, 360)),
                                    "default-height",
                                    620,
                                    NULL);

  adw_preferences_window_add (ADW_PREFERENCES_WINDOW (window), page);
  gtk_window_present (GTK_WINDOW (window));
#endif
}

#if ADW_CHECK_VERSION(1, 5, 0)
#define flam_platform_show_about(parent, ...)                                  \
  adw_show_about_dialog (GTK_WIDGET (parent), __VA_ARGS__)
#else
#define flam_platform_show_about(parent, ...)                                  \
  adw_show_about_window (parent, __VA_ARGS__)
#endif

/* A list that cannot have the focus is passed over. */
static inline gboolean
flam_platform_leave (GtkWidget *list, GVariant *backward, gpointer data)
{
  GtkWidget *root = GTK_WIDGET (gtk_widget_get_root (list));

  gtk_widget_set_can_focus (list, FALSE);
  gtk_widget_child_focus (root,
                          g_variant_get_boolean (backward)
                              ? GTK_DIR_TAB_BACKWARD
                              : GTK_DIR_TAB_FORWARD);
  gtk_widget_set_can_focus (list, TRUE);
  return TRUE;
}

static inline void
flam_platform_add_tab (GtkEventController *keys,
                       guint key,
                       GdkModifierType modifiers,
                       gboolean backward)
{
  GtkShortcut *shortcut = gtk_shortcut_new (
      gtk_keyval_trigger_new (key, modifiers),
      gtk_callback_action_new (flam_platform_leave, NULL, NULL));

  gtk_shortcut_set_arguments (shortcut, g_variant_new_boolean (backward));
  gtk_shortcut_controller_add_shortcut (GTK_SHORTCUT_CONTROLLER (keys),
                                        shortcut);
}

/* Makes Tab go from a list or a table to the widget after it; without this, GTK
 * steps through its rows first. */
static inline void
flam_platform_tab_leaves (GtkWidget *list)
{
  GtkEventController *keys;

#if GTK_CHECK_VERSION(4, 12, 0)
  if (!GTK_IS_LIST_BOX (list))
    {
      g_object_set (list, "tab-behavior", GTK_LIST_TAB_ITEM, NULL);
      return;
    }
#endif
  keys = gtk_shortcut_controller_new ();
  flam_platform_add_tab (keys, GDK_KEY_Tab, 0, FALSE);
  flam_platform_add_tab (keys, GDK_KEY_ISO_Left_Tab, GDK_SHIFT_MASK, TRUE);
  gtk_widget_add_controller (list, keys);
}

/* The accessible text of a list row. Newer GTKs expose it on the row and do not
 * expose the name of a box inside. */
static inline void
flam_platform_name_row (GtkListItem *row, const char *name)
{
#if GTK_CHECK_VERSION(4, 12, 0)
  g_object_set (row, "accessible-label", name, NULL);
#else
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (gtk_list_item_get_child (row)),
      GTK_ACCESSIBLE_PROPERTY_LABEL,
      name,
      -1);
#endif
}

/* The top and the height of a line's cell in the gutter, in pixels. */
static inline void
flam_platform_gutter_line (GtkSourceGutterLines *lines,
                           guint line,
                           double *y,
                           double *height)
{
#if GTK_SOURCE_CHECK_VERSION(5, 16, 0)
  gtk_source_gutter_lines_get_line_extent (
      lines, line, GTK_SOURCE_GUTTER_RENDERER_ALIGNMENT_MODE_CELL, y, height);
#else
  int whole_y, whole_height;

  gtk_source_gutter_lines_get_line_yrange (
      lines,
      line,
      GTK_SOURCE_GUTTER_RENDERER_ALIGNMENT_MODE_CELL,
      &whole_y,
      &whole_height);
  *y = whole_y;
  *height = whole_height;
#endif
}

G_END_DECLS

#endif
