/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-start-page.h"

#include "flam-config.h"
#include "flam-core-profile.h"
#include "flam-files.h"
#include "flam-formats.h"
#include "flam-saved-state.h"
#include "flam-settings.h"
#include "flam-thumbnail.h"
#include "flam-widget.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#define RECENT_MAX 9
#define COLUMNS_MAX 3

struct _FlamStartPage
{
  GtkWidget parent_instance;

  GtkLabel *formats_label;
  GtkButton *example;
  GtkButton *reopen;
  GtkBox *recent_box;
  GtkFlowBox *recent_flow;
};

G_DEFINE_FINAL_TYPE (FlamStartPage, flam_start_page, GTK_TYPE_WIDGET)

static GtkWidget *
picture_of (const char *path)
{
  g_autoptr (GdkPaintable) thumbnail = flam_thumbnail_find (path);
  GtkWidget *frame = adw_clamp_new ();
  GtkWidget *picture;

  if (thumbnail != NULL)
    {
      picture = gtk_picture_new_for_paintable (thumbnail);
      gtk_widget_set_valign (picture, GTK_ALIGN_END);
    }
  else
    {
      picture = gtk_image_new_from_icon_name ("view-grid-symbolic");
      gtk_image_set_pixel_size (GTK_IMAGE (picture), 32);
      gtk_widget_add_css_class (picture, "dim-label");
    }
  adw_clamp_set_maximum_size (ADW_CLAMP (frame), FLAM_THUMBNAIL_WIDTH);
  adw_clamp_set_child (ADW_CLAMP (frame), picture);
  gtk_widget_set_size_request (
      frame, FLAM_THUMBNAIL_WIDTH, FLAM_THUMBNAIL_HEIGHT);
  gtk_widget_set_overflow (frame, GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class (frame, "flam-thumbnail");
  return frame;
}

static GtkWidget *
line_of_text (const char *text, const char *css_class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 16);
  gtk_widget_add_css_class (label, css_class);
  return label;
}

static GtkWidget *
recent_card (GtkRecentInfo *info)
{
  g_autoptr (GFile) file = g_file_new_for_uri (gtk_recent_info_get_uri (info));
  g_autofree char *path = g_file_get_path (file);
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *shown = g_filename_display_name (folder);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  GtkWidget *button = gtk_button_new ();

  gtk_box_append (GTK_BOX (box), picture_of (path));
  gtk_box_append (
      GTK_BOX (box),
      line_of_text (gtk_recent_info_get_display_name (info), "heading"));
  gtk_box_append (GTK_BOX (box), line_of_text (shown, "caption"));
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "flam-card");
  gtk_widget_set_tooltip_text (button, path);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  gtk_recent_info_get_display_name (info),
                                  -1);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.open-uri");
  gtk_actionable_set_action_target (
      GTK_ACTIONABLE (button), "s", gtk_recent_info_get_uri (info));
  return button;
}

static void
update_recent (FlamStartPage *self)
{
  g_autoptr (GPtrArray) recent = flam_files_recent (RECENT_MAX);
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (
              GTK_WIDGET (self->recent_flow))) != NULL)
    gtk_flow_box_remove (self->recent_flow, child);
  for (guint i = 0; i < recent->len; i++)
    {
      GtkWidget *item = gtk_flow_box_child_new ();
      gtk_flow_box_child_set_child (GTK_FLOW_BOX_CHILD (item),
                                    recent_card (recent->pdata[i]));
      gtk_widget_set_focusable (item, FALSE);
      gtk_flow_box_insert (self->recent_flow, item, -1);
    }
  gtk_flow_box_set_max_children_per_line (self->recent_flow,
                                          CLAMP (recent->len, 1, COLUMNS_MAX));
  gtk_widget_set_visible (GTK_WIDGET (self->recent_box), recent->len > 0);
}

/* A hidden page is updated when it is shown: each tab has one, and files may be
 * opened by the dozen. */
static void
on_recent_changed (FlamStartPage *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    update_recent (self);
}

/* The tabs of the last window, by name. */
static void
update_reopen (FlamStartPage *self)
{
  gboolean wanted =
      g_settings_get_boolean (flam_settings_get (), FLAM_KEY_REMEMBER);
  g_auto (GStrv) uris = flam_saved_state_get_tabs ();
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; uris[i] != NULL; i++)
    {
      g_autofree char *path = g_filename_from_uri (uris[i], NULL, NULL);
      g_autofree char *name = g_filename_display_basename (path);

      g_string_append_printf (names, "%s%s", i > 0 ? "\n" : "", name);
    }
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->reopen), names->str);
  gtk_widget_set_visible (GTK_WIDGET (self->reopen), wanted && names->len > 0);
}

/* The most common formats; the tooltip names all. */
static void
say_what_opens (FlamStartPage *self)
{
  static const char *const common[] = {
    "perf-data", "heaptrack",    "sysprof",   "pprof",
    "gecko",     "chrome-trace", "callgrind", "memray",
  };
  g_autoptr (GString) few = g_string_new (NULL);
  g_autoptr (GString) all = g_string_new (NULL);
  g_autofree char *text = NULL;
  guint others = 0;

  for (; flam_importers[others] != NULL; others++)
    g_string_append_printf (
        all, "%s%s", others > 0 ? ", " : "", _ (flam_importers[others]->label));
  for (guint i = 0; i < G_N_ELEMENTS (common); i++, others--)
    g_string_append_printf (few,
                            "%s%s",
                            i > 0 ? ", " : "",
                            _ (flam_importer_find (common[i])->label));
  /* The only one whose label is not a name. */
  g_string_append_printf (few, ", %s", _ ("folded stacks"));
  others--;
  /* Translators: %s is a list of formats, %u the number of further ones */
  text = g_strdup_printf (
      ngettext (
          "Record a program, or open or drop a capture from another tool: %s, "
          "and %u other format. Compressed files work, too.",
          "Record a program, or open or drop a capture from another tool: %s, "
          "and %u other formats. Compressed files work, too.",
          others),
      few->str,
      others);
  gtk_label_set_label (self->formats_label, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->formats_label), all->str);
}

/* The capture that is installed with the program. */
static void
offer_example (FlamStartPage *self)
{
  g_autofree char *path =
      flam_installed_or_built (FLAM_DATADIR "/example/example.flambeau",
                               "data/example/example.flambeau");
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autofree char *uri = g_file_get_uri (file);

  gtk_actionable_set_action_target (GTK_ACTIONABLE (self->example), "s", uri);
  gtk_widget_set_visible (GTK_WIDGET (self->example),
                          g_file_test (path, G_FILE_TEST_IS_REGULAR));
}

static void
flam_start_page_map (GtkWidget *widget)
{
  update_recent (FLAM_START_PAGE (widget));
  update_reopen (FLAM_START_PAGE (widget));
  GTK_WIDGET_CLASS (flam_start_page_parent_class)->map (widget);
}

static void
flam_start_page_dispose (GObject *object)
{
  flam_widget_dispose_template (GTK_WIDGET (object), FLAM_TYPE_START_PAGE);
  G_OBJECT_CLASS (flam_start_page_parent_class)->dispose (object);
}

static void
flam_start_page_class_init (FlamStartPageClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_start_page_dispose;
  class->map = flam_start_page_map;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-start-page.ui");
  gtk_widget_class_bind_template_child (class, FlamStartPage, formats_label);
  gtk_widget_class_bind_template_child (class, FlamStartPage, example);
  gtk_widget_class_bind_template_child (class, FlamStartPage, reopen);
  gtk_widget_class_bind_template_child (class, FlamStartPage, recent_box);
  gtk_widget_class_bind_template_child (class, FlamStartPage, recent_flow);
}

static void
flam_start_page_init (FlamStartPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  say_what_opens (self);
  offer_example (self);
  g_signal_connect_object (gtk_recent_manager_get_default (),
                           "changed",
                           G_CALLBACK (on_recent_changed),
                           self,
                           G_CONNECT_SWAPPED);
}
