/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-color-rows.h"

#include "flam-core-picture.h"
#include "flam-user-colors.h"

#include <glib/gi18n.h>
#include <string.h>

#define NEW_COLOR "#3584e4"

struct _FlamColorRows
{
  AdwPreferencesGroup parent_instance;

  GPtrArray *rows; /* the group's rows: one per rule, and one being added */
  gboolean writing;
  GtkWidget *add;   /* a button */
  gboolean focuses; /* incremented by the next update, for the row at `focus` */
  guint focus;
};

G_DEFINE_FINAL_TYPE (FlamColorRows, flam_color_rows, ADW_TYPE_PREFERENCES_GROUP)

static void update (FlamColorRows *self);

/* --- a row ---------------------------------------------------------------- */

static guint
place_of (FlamColorRows *self, gpointer widget)
{
  GtkWidget *row = gtk_widget_get_ancestor (widget, ADW_TYPE_ENTRY_ROW);
  guint place = 0;

  g_ptr_array_find (self->rows, row, &place);
  return place;
}

/* `shown` (the title) and `whole` (the tooltip) describe the fault; NULL:
 * none. */
static void
show_title (GtkWidget *row, const char *shown, const char *whole)
{
  g_autofree char *markup = g_markup_escape_text (
      shown != NULL ? shown : _ ("Names That Match (Regular Expression)"), -1);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), markup);
  gtk_widget_set_tooltip_text (row, whole);
  if (shown != NULL)
    gtk_widget_add_css_class (row, "error");
  else
    gtk_widget_remove_css_class (row, "error");
}

/* A valid rule that took too long on a name of the capture is ignored. */
static void
show_slow (GtkWidget *row)
{
  const char *name = flam_user_colors_get_slow (
      flam_user_colors_get (), gtk_editable_get_text (GTK_EDITABLE (row)));
  g_autofree char *shown =
      name != NULL
          ? g_strdup_printf (
                _ ("the regular expression takes too long on “%s”"), name)
          : NULL;

  show_title (row, shown, shown);
}

/* The title has room for the cause, which comes last: "... at char 7: missing
 * terminating )". */
static void
show_error (GtkWidget *row, const GError *error)
{
  g_autofree char *shown =
      error != NULL ? flam_message_shown (error->message) : NULL;
  const char *colon = shown != NULL ? strrchr (shown, ':') : NULL;

  if (shown == NULL)
    show_slow (row);
  else
    show_title (
        row, colon != NULL ? colon + strspn (colon, ": ") : shown, shown);
}

/* "REGEX=#RRGGBB"; g_free. */
static char *
line_of_row (GtkWidget *row)
{
  GdkRGBA color;

  gtk_color_chooser_get_rgba (g_object_get_data (G_OBJECT (row), "flam-color"),
                              &color);
  return g_strdup_printf ("%s=#%02x%02x%02x",
                          gtk_editable_get_text (GTK_EDITABLE (row)),
                          (guint)(color.red * 255 + 0.5f),
                          (guint)(color.green * 255 + 0.5f),
                          (guint)(color.blue * 255 + 0.5f));
}

/* An invalid rule is not written: the file keeps the old one. */
static void
on_changed (GtkWidget *widget, FlamColorRows *self)
{
  GtkWidget *row = gtk_widget_get_ancestor (widget, ADW_TYPE_ENTRY_ROW);
  g_autoptr (FlamColorRules) rules = flam_color_rules_new ();
  g_autofree char *line = line_of_row (row);
  const char *text = gtk_editable_get_text (GTK_EDITABLE (row));
  g_autoptr (GError) error = NULL;

  if (*text == '\0' || *text == '#')
    {
      show_error (row, NULL);
      return;
    }
  self->writing = TRUE;
  if (flam_color_rules_add_line (rules, line, &error))
    flam_user_colors_set_line (
        flam_user_colors_get (), place_of (self, row), line, &error);
  self->writing = FALSE;
  show_error (row, error);
}

static void
on_color (GtkColorButton *button, FlamColorRows *self)
{
  on_changed (GTK_WIDGET (button), self);
}

/* The rows are kept, since the user may be typing in them. A row that reports a
 * fault is not among the rules in use. */
static void
on_used (FlamColorRows *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    {
      GtkWidget *row = self->rows->pdata[i];

      if (!gtk_widget_has_css_class (row, "error"))
        show_slow (row);
    }
}

/* The clicked button is in one of the rows that are recreated. */
static gboolean
update_later (gpointer data)
{
  update (data);
  return G_SOURCE_REMOVE;
}

static void
queue_update (FlamColorRows *self)
{
  if (!self->writing)
    g_idle_add_full (G_PRIORITY_DEFAULT_IDLE,
                     update_later,
                     g_object_ref (self),
                     g_object_unref);
}

static void
on_remove (GtkButton *button, FlamColorRows *self)
{
  guint place = place_of (self, button);

  self->focuses = TRUE;
  self->focus = place;
  if (place < flam_user_colors_get_n (flam_user_colors_get ()))
    flam_user_colors_remove (flam_user_colors_get (), place, NULL);
  else
    queue_update (self);
}

static void
on_up (GtkButton *button, FlamColorRows *self)
{
  guint place = place_of (self, button);

  if (place == 0 || place >= flam_user_colors_get_n (flam_user_colors_get ()))
    return;
  self->focuses = TRUE;
  self->focus = place - 1;
  flam_user_colors_move_up (flam_user_colors_get (), place, NULL);
}

static GtkWidget *
new_button (FlamColorRows *self,
            const char *icon,
            const char *name,
            GCallback clicked)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_tooltip_text (button, name);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  if (clicked != NULL)
    g_signal_connect (button, "clicked", clicked, self);
  return button;
}

static GtkWidget *
add_row (FlamColorRows *self, const char *pattern, const char *color)
{
  GtkWidget *row = adw_entry_row_new ();
  FlamColor number = 0;
  GtkWidget *button;
  GdkRGBA rgba;

  flam_named_color_parse (color, &number);
  rgba = (GdkRGBA){ (float)(number >> 16 & 255) / 255,
                    (float)(number >> 8 & 255) / 255,
                    (float)(number & 255) / 255,
                    1 };
  button = gtk_color_button_new_with_rgba (&rgba);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Color"), -1);
  g_object_set_data (G_OBJECT (row), "flam-color", button);
  gtk_editable_set_text (GTK_EDITABLE (row), pattern);
  show_error (row, NULL);
  adw_entry_row_add_suffix (ADW_ENTRY_ROW (row), button);
  if (self->rows->len > 0)
    adw_entry_row_add_suffix (
        ADW_ENTRY_ROW (row),
        new_button (self, "go-up-symbolic", _ ("Move up"), G_CALLBACK (on_up)));
  adw_entry_row_add_suffix (
      ADW_ENTRY_ROW (row),
      new_button (
          self, "user-trash-symbolic", _ ("Remove"), G_CALLBACK (on_remove)));
  g_signal_connect (row, "changed", G_CALLBACK (on_changed), self);
  g_signal_connect (button, "color-set", G_CALLBACK (on_color), self);
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (self), row);
  g_ptr_array_add (self->rows, row);
  return row;
}

/* --- all ------------------------------------------------------------------ */

/* The focused rows are gone. Without a focus, the dialog would not receive keys
 * either. */
static void
restore_focus (FlamColorRows *self)
{
  guint n = self->rows->len;

  if (!self->focuses)
    return;
  self->focuses = FALSE;
  gtk_widget_grab_focus (n > 0 ? self->rows->pdata[MIN (self->focus, n - 1)]
                               : self->add);
}

/* Moves the focus out of the rows before they are removed: newer GTKs clear the
 * focus later, even if it was already put into a new row. */
static void
save_focus (FlamColorRows *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  if (focus != NULL && gtk_widget_is_ancestor (focus, GTK_WIDGET (self)))
    gtk_widget_grab_focus (self->add);
}

static void
update (FlamColorRows *self)
{
  FlamUserColors *colors = flam_user_colors_get ();

  save_focus (self);
  for (guint i = 0; i < self->rows->len; i++)
    adw_preferences_group_remove (ADW_PREFERENCES_GROUP (self),
                                  self->rows->pdata[i]);
  g_ptr_array_set_size (self->rows, 0);
  for (guint i = 0; i < flam_user_colors_get_n (colors); i++)
    {
      const char *line = flam_user_colors_get_line (colors, i);
      const char *equals = strrchr (line, '=');
      g_autofree char *pattern = equals != NULL
                                     ? g_strndup (line, (gsize)(equals - line))
                                     : g_strdup (line);
      g_autoptr (FlamColorRules) rules = flam_color_rules_new ();
      g_autoptr (GError) error = NULL;
      GtkWidget *row;

      row = add_row (self, pattern, equals != NULL ? equals + 1 : "");
      flam_color_rules_add_line (rules, line, &error);
      show_error (row, error);
    }
  restore_focus (self);
}

static void
on_add (FlamColorRows *self)
{
  guint n = flam_user_colors_get_n (flam_user_colors_get ());
  GtkWidget *row = self->rows->len > n ? self->rows->pdata[n]
                                       : add_row (self, "", NEW_COLOR);

  gtk_widget_grab_focus (row);
}

static void
flam_color_rows_finalize (GObject *object)
{
  g_ptr_array_unref (FLAM_COLOR_ROWS (object)->rows);
  G_OBJECT_CLASS (flam_color_rows_parent_class)->finalize (object);
}

static void
flam_color_rows_class_init (FlamColorRowsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_color_rows_finalize;
}

static void
flam_color_rows_init (FlamColorRows *self)
{
  AdwPreferencesGroup *group = ADW_PREFERENCES_GROUP (self);
  GtkWidget *add =
      new_button (self, "list-add-symbolic", _ ("Add a rule"), NULL);

  self->rows = g_ptr_array_new ();
  self->add = add;
  adw_preferences_group_set_title (group, _ ("Colors of Functions"));
  adw_preferences_group_set_description (
      group,
      _ ("If several rules match a name, the first one applies. Exports from "
         "the window use these colors, too."));
  adw_preferences_group_set_header_suffix (group, add);
  g_signal_connect_object (
      add, "clicked", G_CALLBACK (on_add), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (flam_user_colors_get (),
                           "changed",
                           G_CALLBACK (queue_update),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (flam_user_colors_get (),
                           "used",
                           G_CALLBACK (on_used),
                           self,
                           G_CONNECT_SWAPPED);
  update (self);
}
