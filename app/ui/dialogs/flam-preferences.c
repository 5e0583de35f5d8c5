/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-preferences.h"

#include "flam-cache.h"
#include "flam-color-rows.h"
#include "flam-field-row.h"
#include "flam-files.h"
#include "flam-help.h"
#include "flam-saved-state.h"
#include "flam-platform.h"
#include "flam-settings.h"

#include <glib/gi18n.h>

struct _FlamPreferences
{
  AdwPreferencesPage parent_instance;

  GPtrArray *mapping_rows; /* not referenced: they are in the group */
  GPtrArray *binary_rows;
  GPtrArray *rule_rows;

  AdwComboRow *scheme;
  AdwComboRow *shape;
  AdwComboRow *direction;
  AdwComboRow *order;
  GtkSwitch *system_font;
  AdwActionRow *font_row;
  GtkFontButton *font;
  AdwComboRow *debuginfod;
  AdwEntryRow *debuginfod_urls;
  AdwEntryRow *editor;
  GtkSwitch *remember;
  GtkButton *forget;
  AdwPreferencesGroup *mappings;
  AdwPreferencesGroup *binaries;
  GtkButton *add_binaries;
  AdwPreferencesGroup *rules;
};

G_DEFINE_FINAL_TYPE (FlamPreferences,
                     flam_preferences,
                     ADW_TYPE_PREFERENCES_PAGE)

/* --- choices: the values of a key, in the order of the rows --------------- */

static const char *const schemes[] = { "default", "light", "dark", NULL };
static const char *const shapes[] = { "flame", "sunburst", "treemap", NULL };
static const char *const directions[] = { "flame", "icicle", NULL };
static const char *const orders[] = { "total", "name", NULL };
static const char *const downloads[] = { "ask", "always", "never", NULL };

static gboolean
choice_get (GValue *value, GVariant *variant, gpointer choices)
{
  const char *const *list = choices;
  const char *text = g_variant_get_string (variant, NULL);

  for (guint i = 0; list[i] != NULL; i++)
    if (strcmp (list[i], text) == 0)
      {
        g_value_set_uint (value, i);
        return TRUE;
      }
  return FALSE;
}

static GVariant *
choice_set (const GValue *value, const GVariantType *type, gpointer choices)
{
  const char *const *list = choices;
  guint row = g_value_get_uint (value);

  return row < g_strv_length ((char **)list) ? g_variant_new_string (list[row])
                                             : NULL;
}

static void
bind_choice (const char *key, AdwComboRow *row, const char *const *choices)
{
  g_settings_bind_with_mapping (flam_settings_get (),
                                key,
                                row,
                                "selected",
                                G_SETTINGS_BIND_DEFAULT,
                                choice_get,
                                choice_set,
                                (gpointer)choices,
                                NULL);
}

/* --- lists of files and folders ------------------------------------------- */

static void
clear_rows (AdwPreferencesGroup *group, GPtrArray *rows)
{
  for (guint i = 0; i < rows->len; i++)
    adw_preferences_group_remove (group, rows->pdata[i]);
  g_ptr_array_set_size (rows, 0);
}

static void
add_row (AdwPreferencesGroup *group,
         GPtrArray *rows,
         const char *title,
         const char *subtitle,
         GCallback remove,
         guint index)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *button = gtk_button_new_from_icon_name ("user-trash-symbolic");
  g_autofree char *title_markup = g_markup_escape_text (title, -1);
  g_autofree char *subtitle_markup = g_markup_escape_text (subtitle, -1);

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title_markup);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle_markup);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_tooltip_text (button, _ ("Forget"));
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Forget"), -1);
  g_signal_connect (button, "clicked", remove, GUINT_TO_POINTER (index));
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), button);
  adw_preferences_group_add (group, row);
  g_ptr_array_add (rows, row);
}

static void
forget_mapping (GtkButton *button, gpointer index)
{
  g_autoptr (GVariant) old =
      g_settings_get_value (flam_settings_get (), FLAM_KEY_PATH_MAPPINGS);
  GVariantBuilder builder;

  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(ss)"));
  for (gsize i = 0; i < g_variant_n_children (old); i++)
    if (i != GPOINTER_TO_UINT (index))
      {
        g_autoptr (GVariant) one = g_variant_get_child_value (old, i);
        g_variant_builder_add_value (&builder, one);
      }
  g_settings_set_value (flam_settings_get (),
                        FLAM_KEY_PATH_MAPPINGS,
                        g_variant_builder_end (&builder));
}

static void
forget_string (const char *key, guint index)
{
  g_auto (GStrv) old = g_settings_get_strv (flam_settings_get (), key);
  g_autoptr (GPtrArray) rest = g_ptr_array_new ();

  for (guint i = 0; old[i] != NULL; i++)
    if (i != index)
      g_ptr_array_add (rest, old[i]);
  g_ptr_array_add (rest, NULL);
  g_settings_set_strv (
      flam_settings_get (), key, (const char *const *)rest->pdata);
}

static void
forget_binaries (GtkButton *button, gpointer index)
{
  forget_string (FLAM_KEY_BINARIES, GPOINTER_TO_UINT (index));
}

static void
forget_rules (GtkButton *button, gpointer index)
{
  forget_string (FLAM_KEY_LEAK_RULES, GPOINTER_TO_UINT (index));
}

static void
add_strings (AdwPreferencesGroup *group,
             GPtrArray *rows,
             const char *key,
             GCallback forget)
{
  g_auto (GStrv) list = g_settings_get_strv (flam_settings_get (), key);

  clear_rows (group, rows);
  for (guint i = 0; list[i] != NULL; i++)
    add_row (group, rows, list[i], "", forget, i);
}

static gboolean
update_lists (gpointer data)
{
  FlamPreferences *self = data;
  g_autoptr (GVariant) mappings =
      g_settings_get_value (flam_settings_get (), FLAM_KEY_PATH_MAPPINGS);

  clear_rows (self->mappings, self->mapping_rows);
  for (gsize i = 0; i < g_variant_n_children (mappings); i++)
    {
      const char *from;
      const char *to;
      g_variant_get_child (mappings, i, "(&s&s)", &from, &to);
      add_row (self->mappings,
               self->mapping_rows,
               to,
               from,
               G_CALLBACK (forget_mapping),
               (guint)i);
    }
  add_strings (self->binaries,
               self->binary_rows,
               FLAM_KEY_BINARIES,
               G_CALLBACK (forget_binaries));
  add_strings (self->rules,
               self->rule_rows,
               FLAM_KEY_LEAK_RULES,
               G_CALLBACK (forget_rules));
  gtk_widget_set_visible (GTK_WIDGET (self->mappings),
                          self->mapping_rows->len > 0);
  gtk_widget_set_visible (GTK_WIDGET (self->rules), self->rule_rows->len > 0);
  return G_SOURCE_REMOVE;
}

/* The clicked button is in one of the rows. */
static void
queue_update_lists (FlamPreferences *self)
{
  g_idle_add_full (G_PRIORITY_DEFAULT_IDLE,
                   update_lists,
                   g_object_ref (self),
                   g_object_unref);
}

static void
binaries_chosen (const char *path, gpointer self)
{
  flam_settings_push_string (FLAM_KEY_BINARIES, path, 50);
}

static void
on_add_binaries (FlamPreferences *self)
{
  flam_files_choose (GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self))),
                     GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
                     _ ("Add a Folder"),
                     _ ("_Add"),
                     binaries_chosen,
                     G_OBJECT (self));
}

static void
on_forget (FlamPreferences *self)
{
  flam_saved_state_forget ();
  flam_cache_trim (0);
  gtk_widget_set_sensitive (GTK_WIDGET (self->forget), FALSE);
}

/* --- object --------------------------------------------------------------- */

static void
flam_preferences_dispose (GObject *object)
{
  gtk_widget_dispose_template (GTK_WIDGET (object), FLAM_TYPE_PREFERENCES);
  G_OBJECT_CLASS (flam_preferences_parent_class)->dispose (object);
}

static void
flam_preferences_finalize (GObject *object)
{
  FlamPreferences *self = FLAM_PREFERENCES (object);

  g_ptr_array_unref (self->mapping_rows);
  g_ptr_array_unref (self->binary_rows);
  g_ptr_array_unref (self->rule_rows);
  G_OBJECT_CLASS (flam_preferences_parent_class)->finalize (object);
}

static void
flam_preferences_class_init (FlamPreferencesClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_preferences_dispose;
  G_OBJECT_CLASS (klass)->finalize = flam_preferences_finalize;
  g_type_ensure (FLAM_TYPE_COLOR_ROWS);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-preferences.ui");
  gtk_widget_class_bind_template_child (class, FlamPreferences, scheme);
  gtk_widget_class_bind_template_child (class, FlamPreferences, shape);
  gtk_widget_class_bind_template_child (class, FlamPreferences, direction);
  gtk_widget_class_bind_template_child (class, FlamPreferences, order);
  gtk_widget_class_bind_template_child (class, FlamPreferences, system_font);
  gtk_widget_class_bind_template_child (class, FlamPreferences, font_row);
  gtk_widget_class_bind_template_child (class, FlamPreferences, font);
  gtk_widget_class_bind_template_child (class, FlamPreferences, debuginfod);
  gtk_widget_class_bind_template_child (
      class, FlamPreferences, debuginfod_urls);
  gtk_widget_class_bind_template_child (class, FlamPreferences, editor);
  gtk_widget_class_bind_template_child (class, FlamPreferences, remember);
  gtk_widget_class_bind_template_child (class, FlamPreferences, forget);
  gtk_widget_class_bind_template_child (class, FlamPreferences, mappings);
  gtk_widget_class_bind_template_child (class, FlamPreferences, binaries);
  gtk_widget_class_bind_template_child (class, FlamPreferences, add_binaries);
  gtk_widget_class_bind_template_child (class, FlamPreferences, rules);
}

static void
flam_preferences_init (FlamPreferences *self)
{
  static const char *const changes[] = { "changed::" FLAM_KEY_PATH_MAPPINGS,
                                         "changed::" FLAM_KEY_BINARIES,
                                         "changed::" FLAM_KEY_LEAK_RULES };
  GSettings *settings = flam_settings_get ();

  gtk_widget_init_template (GTK_WIDGET (self));
  flam_field_row_describe (self->editor);
  flam_field_row_describe (self->debuginfod_urls);
  flam_help_bind (GTK_WIDGET (self), "symbols");
  self->mapping_rows = g_ptr_array_new ();
  self->binary_rows = g_ptr_array_new ();
  self->rule_rows = g_ptr_array_new ();
  bind_choice (FLAM_KEY_COLOR_SCHEME, self->scheme, schemes);
  bind_choice (FLAM_KEY_SHAPE, self->shape, shapes);
  bind_choice (FLAM_KEY_DIRECTION, self->direction, directions);
  bind_choice (FLAM_KEY_ORDER, self->order, orders);
  bind_choice (FLAM_KEY_DEBUGINFOD, self->debuginfod, downloads);
  g_settings_bind (settings,
                   FLAM_KEY_DEBUGINFOD_URLS,
                   self->debuginfod_urls,
                   "text",
                   G_SETTINGS_BIND_DEFAULT);
  g_settings_bind (settings,
                   FLAM_KEY_SYSTEM_FONT,
                   self->system_font,
                   "active",
                   G_SETTINGS_BIND_DEFAULT);
  g_settings_bind (settings,
                   FLAM_KEY_SYSTEM_FONT,
                   self->font_row,
                   "sensitive",
                   G_SETTINGS_BIND_GET | G_SETTINGS_BIND_INVERT_BOOLEAN);
  g_settings_bind (
      settings, FLAM_KEY_FONT, self->font, "font", G_SETTINGS_BIND_DEFAULT);
  g_settings_bind (
      settings, FLAM_KEY_EDITOR, self->editor, "text", G_SETTINGS_BIND_DEFAULT);
  g_settings_bind (settings,
                   FLAM_KEY_REMEMBER,
                   self->remember,
                   "active",
                   G_SETTINGS_BIND_DEFAULT);
  g_signal_connect_swapped (
      self->forget, "clicked", G_CALLBACK (on_forget), self);
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    g_signal_connect_object (settings,
                             changes[i],
                             G_CALLBACK (queue_update_lists),
                             self,
                             G_CONNECT_SWAPPED);
  g_signal_connect_swapped (
      self->add_binaries, "clicked", G_CALLBACK (on_add_binaries), self);
  update_lists (self);
}

void
flam_preferences_show (GtkWindow *parent)
{
  flam_platform_present_preferences (g_object_new (FLAM_TYPE_PREFERENCES, NULL),
                                     parent);
}
