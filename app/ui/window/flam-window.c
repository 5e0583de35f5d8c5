/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-window.h"

#include "flam-application.h"
#include "flam-compare-dialog.h"
#include "flam-copy-picture.h"
#include "flam-environment.h"
#include "flam-export-dialog.h"
#include "flam-files.h"
#include "flam-help.h"
#include "flam-location-dialog.h"
#include "flam-notes-dialog.h"
#include "flam-record-dialog.h"
#include "flam-settings.h"
#include "flam-shortcuts.h"
#include "flam-tip-layer.h"
#include "flam-widget.h"
#include "flam-window-files.h"
#include "flam-window-memory.h"
#include "flam-window-tabs.h"

#include <glib/gi18n.h>
#include <string.h>

#define SMALL_WIDTH 600
#define NARROW_WIDTH 860
#define TIGHT_WIDTH 1220
/* How long a new window waits for its content. */
#define PRESENT_AFTER_MS 100

struct _FlamWindow
{
  AdwApplicationWindow parent_instance;

  int width; /* as the room was made for */
  FlamRoom room;
  GBindingGroup *searching; /* the button and the search bar of the tab */
  guint present_id;         /* a new one that is still to be presented */
  gboolean ready;
  GHashTable *enabled; /* actions: enabled + 1, as it was set last */

  AdwHeaderBar *header;
  AdwSplitButton *open_button;
  AdwButtonContent *record_content;
  GtkButton *record_button;
  AdwWindowTitle *window_title;
  GtkMenuButton *menu_button;
  GtkMenuButton *trust_button;
  GtkToggleButton *search_button;
  AdwTabView *tab_view;
  AdwTabBar *tab_bar;
};

G_DEFINE_FINAL_TYPE (FlamWindow, flam_window, ADW_TYPE_APPLICATION_WINDOW)

/* --- the tab in front ----------------------------------------------------- */

AdwTabView *
flam_window_get_tabs (FlamWindow *self)
{
  g_return_val_if_fail (FLAM_IS_WINDOW (self), NULL);
  return self->tab_view;
}

AdwTabBar *
flam_window_get_tab_bar (FlamWindow *self)
{
  g_return_val_if_fail (FLAM_IS_WINDOW (self), NULL);
  return self->tab_bar;
}

FlamTab *
flam_window_get_tab (FlamWindow *self)
{
  AdwTabPage *page;

  g_return_val_if_fail (FLAM_IS_WINDOW (self), NULL);
  page = adw_tab_view_get_selected_page (self->tab_view);
  return page != NULL ? FLAM_TAB (adw_tab_page_get_child (page)) : NULL;
}

FlamTab *
flam_window_vacant_tab (FlamWindow *self)
{
  FlamTab *tab = flam_window_get_tab (self);

  return tab != NULL && flam_tab_is_vacant (tab) ? tab
                                                 : flam_window_tabs_add (self);
}

/* --- presenting ----------------------------------------------------------- */

static gboolean
present_now (gpointer data)
{
  FlamWindow *self = data;

  self->present_id = 0;
  gtk_window_present (GTK_WINDOW (self));
  return G_SOURCE_REMOVE;
}

void
flam_window_present_ready (FlamWindow *self)
{
  g_return_if_fail (FLAM_IS_WINDOW (self));
  if (gtk_widget_get_visible (GTK_WIDGET (self)))
    {
      gtk_window_present (GTK_WINDOW (self));
      return;
    }
  flam_tab_prepare (flam_window_get_tab (self));
  if (self->present_id == 0)
    self->present_id = g_timeout_add (PRESENT_AFTER_MS, present_now, self);
}

/* Once all that follows the tab has seen the change. */
static void
present_if_ready (FlamWindow *self)
{
  if (self->present_id == 0 || self->ready ||
      flam_tab_is_busy (flam_window_get_tab (self)))
    return;
  self->ready = TRUE;
  g_source_remove (self->present_id);
  self->present_id =
      g_idle_add_full (G_PRIORITY_DEFAULT, present_now, self, NULL);
}

/* --- the tab in front, and what it shows ---------------------------------- */

void
flam_window_toast (FlamWindow *self, const char *message)
{
  flam_tab_toast (flam_window_get_tab (self), message);
}

static FlamTab *
tab_of (gpointer window)
{
  return flam_window_get_tab (window);
}

static FlamSession *
session_of (gpointer window)
{
  return flam_tab_get_session (tab_of (window));
}

static FlamCaptureView *
view_of (gpointer window)
{
  return flam_tab_get_view (tab_of (window));
}

/* A check mark in the menu. */
static void
update_invert (FlamWindow *self, gboolean capture)
{
  GAction *invert = g_action_map_lookup_action (G_ACTION_MAP (self), "invert");
  const FlamSelection *selection =
      flam_session_get_selection (session_of (self));

  g_simple_action_set_enabled (G_SIMPLE_ACTION (invert), capture);
  g_simple_action_set_state (
      G_SIMPLE_ACTION (invert),
      g_variant_new_boolean (selection != NULL && selection->invert));
}

/* GTK passes this on to all widgets of all tabs, even if nothing changes. */
static void
enable (FlamWindow *self, const char *action, gboolean enabled)
{
  gpointer value = GINT_TO_POINTER (enabled + 1);

  if (g_hash_table_lookup (self->enabled, action) == value)
    return;
  g_hash_table_insert (self->enabled, (gpointer)action, value);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), action, enabled);
}

static void
update_actions (FlamWindow *self, gboolean capture)
{
  static const char *const of_capture[] = {
    "win.search",          "win.search-next", "win.search-previous",
    "win.save-as",         "win.export",      "win.copy-picture",
    "win.source-pane",     "win.undo",        "win.back",
    "win.forward",         "win.compare",     "win.compare-file",
    "win.set-baseline",    "win.notes",       "win.threads",
    "win.capture-quality",
  };

  for (guint i = 0; i < G_N_ELEMENTS (of_capture); i++)
    enable (self, of_capture[i], capture);
  enable (
      self, "win.reload", capture || flam_tab_shows_history (tab_of (self)));
  enable (self, "win.stop", flam_tab_can_stop (tab_of (self)));
  enable (self, "win.record-again", flam_tab_has_recorded (tab_of (self)));
  update_invert (self, capture);
  flam_window_memory_update (self);
}

/* One button, since screen readers do not learn of one that appears later. */
static void
show_stop (FlamWindow *self, gboolean stop)
{
  GtkWidget *button = GTK_WIDGET (self->record_button);

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button),
                                  stop ? "win.stop" : "win.record");
  gtk_widget_set_tooltip_text (
      button, stop ? _ ("Stop recording") : _ ("Record a program (Ctrl+R)"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (button),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  stop ? _ ("Stop") : _ ("Record a program"),
                                  -1);
  adw_button_content_set_icon_name (self->record_content,
                                    stop ? "media-playback-stop-symbolic"
                                         : "media-record-symbolic");
  adw_button_content_set_label (self->record_content,
                                self->room.narrow ? ""
                                : stop            ? _ ("_Stop")
                                                  : _ ("Record"));
  if (stop)
    gtk_widget_add_css_class (button, "destructive-action");
  else
    gtk_widget_remove_css_class (button, "destructive-action");
}

/* `view`: of the tab in front; NULL: it has none. */
static void
update_view (FlamWindow *self, FlamCaptureView *view)
{
  if (view == NULL)
    {
      g_binding_group_set_source (self->searching, NULL);
      return;
    }
  flam_search_bar_bind (flam_capture_view_get_search (view), self->searching);
  flam_capture_view_set_room (view, self->room);
}

void
flam_window_update (FlamWindow *self)
{
  FlamTab *tab;
  gboolean capture, recording;
  g_autofree char *subtitle = NULL;

  g_return_if_fail (FLAM_IS_WINDOW (self));
  tab = flam_window_get_tab (self);
  if (tab == NULL)
    return;
  capture = flam_tab_shows_capture (tab);
  recording = flam_tab_get_recording (tab) != NULL;
  adw_window_title_set_title (self->window_title, flam_tab_get_title (tab));
  subtitle = flam_tab_get_subtitle (tab);
  adw_window_title_set_subtitle (self->window_title, subtitle);
  gtk_window_set_title (GTK_WINDOW (self), flam_tab_get_title (tab));
  update_actions (self, capture);
  /* Stop is where Record was: nothing that appears pushes it aside. */
  show_stop (self, recording);
  gtk_widget_set_visible (GTK_WIDGET (self->trust_button),
                          capture && !(self->room.narrow && recording));
  gtk_widget_set_visible (GTK_WIDGET (self->search_button), capture);
  gtk_menu_button_set_popover (
      self->trust_button, capture ? flam_tab_get_capture_quality (tab) : NULL);
  update_view (self, flam_tab_get_view (tab));
  if (!capture)
    gtk_toggle_button_set_active (self->search_button, FALSE);
  present_if_ready (self);
}

/* --- files ---------------------------------------------------------------- */

static void
action_open (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_window_choose_files (FLAM_WINDOW (widget));
}

static void
action_open_location (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_location_dialog_present (GTK_WINDOW (widget));
}

static void
action_open_uri (GtkWidget *widget, const char *name, GVariant *parameter)
{
  g_autoptr (GFile) file =
      g_file_new_for_uri (g_variant_get_string (parameter, NULL));

  flam_application_open_file (FLAM_APPLICATION (g_application_get_default ()),
                              GTK_WINDOW (widget),
                              file);
}

static void
create_recents (GtkMenuButton *button, gpointer data)
{
  g_autoptr (GMenuModel) menu = flam_files_recent_menu ();

  gtk_menu_button_set_menu_model (button, menu);
}

/* The split button itself can only be given a menu that exists already, and GTK
 * creates the widgets of one at once. */
static void
create_recents_on_demand (FlamWindow *self)
{
  GtkWidget *child =
      gtk_widget_get_first_child (GTK_WIDGET (self->open_button));

  while (child != NULL && !GTK_IS_MENU_BUTTON (child))
    child = gtk_widget_get_next_sibling (child);
  g_return_if_fail (child != NULL);
  gtk_menu_button_set_create_popup_func (
      GTK_MENU_BUTTON (child), create_recents, NULL, NULL);
}

static void
action_reload (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_tab_reload (tab_of (widget));
}

static void
action_save_as (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_window_choose_copy (FLAM_WINDOW (widget),
                           flam_session_get_path (session_of (widget)));
}

static void
action_export (GtkWidget *widget, const char *name, GVariant *parameter)
{
  FlamSession *session = session_of (widget);

  if (flam_session_get_view_data (session) != NULL)
    flam_dialog_present (
        FLAM_DIALOG (flam_export_dialog_new (FLAM_WINDOW (widget), session)),
        GTK_WINDOW (widget));
}

static void
action_copy_picture (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_copy_picture (FLAM_WINDOW (widget), session_of (widget));
}

static void
action_compare (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_compare_dialog_present (FLAM_WINDOW (widget));
}

static void
action_compare_file (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_window_choose_baseline (FLAM_WINDOW (widget), session_of (widget));
}

static void
action_compare_uris (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const char *base, *fresh;

  g_variant_get (parameter, "(&s&s)", &base, &fresh);
  flam_window_compare (FLAM_WINDOW (widget), base, fresh);
}

static void
action_history (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_window_choose_folder (FLAM_WINDOW (widget));
}

static void
action_notes (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_notes_dialog_present (GTK_WINDOW (widget), session_of (widget));
}

static void
action_set_baseline (GtkWidget *widget, const char *name, GVariant *parameter)
{
  if (!flam_compare_set_selection (session_of (widget)))
    flam_window_toast (
        FLAM_WINDOW (widget),
        _ ("Select a time range or threads to compare others with"));
}

/* --- recording ------------------------------------------------------------ */

static void
on_record (FlamRecordDialog *dialog,
           const FlamRecordOptions *options,
           const char *name,
           gpointer data)
{
  flam_tab_record (flam_window_vacant_tab (data), options, name, NULL);
}

static void
record_again (GtkWidget *widget, const char *variables)
{
  FlamTab *recorded = tab_of (widget);

  flam_tab_record_again (
      flam_window_vacant_tab (FLAM_WINDOW (widget)), recorded, variables);
}

static void
action_record_again (GtkWidget *widget, const char *name, GVariant *parameter)
{
  record_again (widget, NULL);
}

static void
action_record_left (GtkWidget *widget, const char *name, GVariant *parameter)
{
  FlamTab *recorded = tab_of (widget);

  if (flam_tab_has_recorded (recorded))
    flam_tab_record_left (flam_window_vacant_tab (FLAM_WINDOW (widget)),
                          recorded);
}

/* `chosen`: the dialog's offer is taken. */
static void
present_dialog (GtkWidget *widget, gboolean chosen)
{
  FlamRecordDialog *dialog = flam_record_dialog_new ();
  const FlamProfile *profile = flam_session_get_profile (session_of (widget));

  if (profile != NULL)
    flam_record_dialog_offer (
        dialog,
        profile->facts.command,
        flam_facts_other (&profile->facts, FLAM_FACT_UNREAD),
        flam_facts_other (&profile->facts, FLAM_FACT_UNREAD_VARIABLES),
        chosen);
  g_signal_connect_object (dialog, "record", G_CALLBACK (on_record), widget, 0);
  flam_dialog_present (FLAM_DIALOG (dialog), GTK_WINDOW (widget));
}

static void
action_record (GtkWidget *widget, const char *name, GVariant *parameter)
{
  present_dialog (widget, FALSE);
}

/* With the variables by which the shown program names its functions. */
static void
action_record_named (GtkWidget *widget, const char *name, GVariant *parameter)
{
  const FlamProfile *profile = flam_session_get_profile (session_of (widget));
  const char *variables =
      profile != NULL
          ? flam_facts_other (&profile->facts, FLAM_FACT_UNREAD_VARIABLES)
          : NULL;

  if (variables != NULL && flam_tab_has_launched (tab_of (widget)))
    record_again (widget, variables);
  else
    present_dialog (widget, TRUE);
}

/* --- the rest of the actions ---------------------------------------------- */

static void
action_cancel (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_tab_cancel (tab_of (widget));
}

static void
action_back (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_tab_back_to_start (tab_of (widget));
}

static void
action_search (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_search_bar_start (flam_capture_view_get_search (view_of (widget)));
}

static void
action_search_next (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_search_bar_next (flam_capture_view_get_search (view_of (widget)),
                        strcmp (name, "win.search-previous") == 0);
}

static void
action_page (GtkWidget *widget, const char *name, GVariant *parameter)
{
  if (flam_tab_shows_capture (tab_of (widget)))
    flam_capture_view_show_page (view_of (widget),
                                 g_variant_get_int32 (parameter) - 1);
}

static void
action_source_pane (GtkWidget *widget, const char *name, GVariant *parameter)
{
  GSettings *settings = flam_settings_get ();

  g_settings_set_boolean (
      settings,
      FLAM_KEY_SOURCE_SHOWN,
      !g_settings_get_boolean (settings, FLAM_KEY_SOURCE_SHOWN));
}

static void
action_show_all (GtkWidget *widget, const char *name, GVariant *parameter)
{
  if (flam_session_get_selection (session_of (widget)) != NULL)
    flam_session_reset_selection (session_of (widget));
}

static void
action_undo (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_session_undo (session_of (widget));
}

static void
action_travel (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_capture_view_travel (view_of (widget),
                            strcmp (name, "win.forward") == 0);
}

static void
action_capture_quality (GtkWidget *widget,
                        const char *name,
                        GVariant *parameter)
{
  gtk_menu_button_popup (FLAM_WINDOW (widget)->trust_button);
}

static void
action_threads (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_capture_view_choose_threads (view_of (widget));
}

static void
on_invert (GSimpleAction *action, GVariant *state, gpointer window)
{
  flam_capture_view_toggle_invert (view_of (window));
}

static const GActionEntry invert_entry = {
  "invert", NULL, NULL, "false", on_invert
};

static void
action_menu (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_menu_button_popup (FLAM_WINDOW (widget)->menu_button);
}

static void
action_help (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_help_show (GTK_WINDOW (widget), flam_tab_get_topic (tab_of (widget)));
}

static void
action_shortcuts (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_shortcuts_show (GTK_WINDOW (widget));
}

/* --- size ----------------------------------------------------------------- */

static void
update_room (FlamWindow *self, int width)
{
  double scale = flam_widget_text_scale (GTK_WIDGET (self));
  FlamRoom room = { .tight = width < TIGHT_WIDTH * scale,
                    .narrow = width < NARROW_WIDTH * scale,
                    .stacked = width < SMALL_WIDTH * scale,
                    .small = width < SMALL_WIDTH };

  self->width = width;
  if (memcmp (&room, &self->room, sizeof room) == 0)
    return;
  self->room = room;
  if (room.narrow)
    adw_split_button_set_icon_name (self->open_button,
                                    "document-open-symbolic");
  else
    adw_split_button_set_label (self->open_button, _ ("_Open"));
  adw_header_bar_set_centering_policy (
      self->header,
      room.narrow ? ADW_CENTERING_POLICY_LOOSE : ADW_CENTERING_POLICY_STRICT);
  /* A small header has no room for all of them; the start page and the menu
   * have this one, too. */
  gtk_widget_set_visible (GTK_WIDGET (self->open_button), !room.small);
  if (room.small)
    gtk_widget_add_css_class (GTK_WIDGET (self->header), "flam-small");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self->header), "flam-small");
  flam_window_update (self);
}

/* Its text may have another font or size. */
static void
flam_window_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  FlamWindow *self = FLAM_WINDOW (widget);

  GTK_WIDGET_CLASS (flam_window_parent_class)->css_changed (widget, change);
  if (gtk_widget_get_realized (widget))
    update_room (self, self->width);
}

static void
on_layout (GdkSurface *surface, int width, int height, gpointer data)
{
  update_room (data, width);
}

static void
flam_window_realize (GtkWidget *widget)
{
  FlamWindow *self = FLAM_WINDOW (widget);

  GTK_WIDGET_CLASS (flam_window_parent_class)->realize (widget);
  g_signal_connect_object (gtk_native_get_surface (GTK_NATIVE (self)),
                           "layout",
                           G_CALLBACK (on_layout),
                           self,
                           0);
}

static gboolean
flam_window_close_request (GtkWindow *window)
{
  if (!flam_window_tabs_stop (FLAM_WINDOW (window)))
    return GDK_EVENT_STOP;
  return GTK_WINDOW_CLASS (flam_window_parent_class)->close_request (window);
}

/* --- object --------------------------------------------------------------- */

static void
flam_window_dispose (GObject *object)
{
  FlamWindow *self = FLAM_WINDOW (object);

  if (self->tab_view != NULL)
    g_signal_handlers_disconnect_by_data (self->tab_view, self);
  g_clear_handle_id (&self->present_id, g_source_remove);
  g_clear_object (&self->searching);
  g_clear_pointer (&self->enabled, g_hash_table_unref);
  gtk_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_WINDOW);
  G_OBJECT_CLASS (flam_window_parent_class)->dispose (object);
}

static void
install_actions (GtkWidgetClass *class)
{
  gtk_widget_class_install_action (class, "win.open", NULL, action_open);
  gtk_widget_class_install_action (class, "win.open-uri", "s", action_open_uri);
  gtk_widget_class_install_action (
      class, "win.open-location", NULL, action_open_location);
  gtk_widget_class_install_action (class, "win.record", NULL, action_record);
  gtk_widget_class_install_action (
      class, "win.record-again", NULL, action_record_again);
  gtk_widget_class_install_action (
      class, "win.record-left", NULL, action_record_left);
  gtk_widget_class_install_action (
      class, "win.record-named", NULL, action_record_named);
  gtk_widget_class_install_action (class, "win.reload", NULL, action_reload);
  gtk_widget_class_install_action (class, "win.save-as", NULL, action_save_as);
  gtk_widget_class_install_action (class, "win.export", NULL, action_export);
  gtk_widget_class_install_action (
      class, "win.copy-picture", NULL, action_copy_picture);
  gtk_widget_class_install_action (class, "win.cancel", NULL, action_cancel);
  gtk_widget_class_install_action (class, "win.stop", NULL, action_cancel);
  gtk_widget_class_install_action (
      class, "win.back-to-start", NULL, action_back);
  gtk_widget_class_install_action (class, "win.compare", NULL, action_compare);
  gtk_widget_class_install_action (
      class, "win.compare-file", NULL, action_compare_file);
  gtk_widget_class_install_action (
      class, "win.compare-uris", "(ss)", action_compare_uris);
  gtk_widget_class_install_action (class, "win.history", NULL, action_history);
  gtk_widget_class_install_action (
      class, "win.set-baseline", NULL, action_set_baseline);
  gtk_widget_class_install_action (class, "win.notes", NULL, action_notes);
  gtk_widget_class_install_action (
      class, "win.shortcuts", NULL, action_shortcuts);
  gtk_widget_class_install_action (class, "win.search", NULL, action_search);
  gtk_widget_class_install_action (
      class, "win.search-next", NULL, action_search_next);
  gtk_widget_class_install_action (
      class, "win.search-previous", NULL, action_search_next);
  gtk_widget_class_install_action (class, "win.page", "i", action_page);
  gtk_widget_class_install_action (
      class, "win.source-pane", NULL, action_source_pane);
  gtk_widget_class_install_action (
      class, "win.show-all", NULL, action_show_all);
  gtk_widget_class_install_action (class, "win.undo", NULL, action_undo);
  gtk_widget_class_install_action (class, "win.back", NULL, action_travel);
  gtk_widget_class_install_action (class, "win.forward", NULL, action_travel);
  gtk_widget_class_install_action (class, "win.threads", NULL, action_threads);
  gtk_widget_class_install_action (
      class, "win.capture-quality", NULL, action_capture_quality);
  gtk_widget_class_install_action (class, "win.menu", NULL, action_menu);
  gtk_widget_class_install_action (class, "win.help", NULL, action_help);
}

/* The divider of the page and the source goes on with F6 from each of them;
 * from elsewhere, it leads there. Without a capture, it leads from the header
 * to what is below it, and back. */
static gboolean
on_next_pane (GtkWidget *widget, GVariant *arguments, gpointer data)
{
  GtkWidget *tab = GTK_WIDGET (tab_of (widget));
  GtkWidget *focus = gtk_root_get_focus (GTK_ROOT (widget));

  if (flam_tab_shows_capture (FLAM_TAB (tab)))
    {
      flam_capture_view_begin (view_of (widget));
      return TRUE;
    }
  if (focus != NULL && gtk_widget_is_ancestor (focus, tab))
    tab = GTK_WIDGET (FLAM_WINDOW (widget)->header);
  return gtk_widget_child_focus (tab, GTK_DIR_TAB_FORWARD);
}

static void
flam_window_class_init (FlamWindowClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_window_dispose;
  class->realize = flam_window_realize;
  class->css_changed = flam_window_css_changed;
  GTK_WINDOW_CLASS (klass)->close_request = flam_window_close_request;

  g_type_ensure (FLAM_TYPE_TIP_LAYER);
  gtk_widget_class_add_binding (class, GDK_KEY_F6, 0, on_next_pane, NULL);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-window.ui");
  gtk_widget_class_bind_template_child (class, FlamWindow, header);
  gtk_widget_class_bind_template_child (class, FlamWindow, open_button);
  gtk_widget_class_bind_template_child (class, FlamWindow, record_button);
  gtk_widget_class_bind_template_child (class, FlamWindow, record_content);
  gtk_widget_class_bind_template_child (class, FlamWindow, window_title);
  gtk_widget_class_bind_template_child (class, FlamWindow, menu_button);
  gtk_widget_class_bind_template_child (class, FlamWindow, trust_button);
  gtk_widget_class_bind_template_child (class, FlamWindow, search_button);
  gtk_widget_class_bind_template_child (class, FlamWindow, tab_view);
  gtk_widget_class_bind_template_child (class, FlamWindow, tab_bar);
  install_actions (class);
}

static void
keep_size (FlamWindow *self)
{
  GSettings *settings = flam_settings_get ();

  g_settings_bind (
      settings, FLAM_KEY_WIDTH, self, "default-width", G_SETTINGS_BIND_DEFAULT);
  g_settings_bind (settings,
                   FLAM_KEY_HEIGHT,
                   self,
                   "default-height",
                   G_SETTINGS_BIND_DEFAULT);
  g_settings_bind (
      settings, FLAM_KEY_MAXIMIZED, self, "maximized", G_SETTINGS_BIND_DEFAULT);
}

static void
flam_window_init (FlamWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->enabled = g_hash_table_new (g_str_hash, g_str_equal);
  self->searching = g_binding_group_new ();
  g_binding_group_bind (self->searching,
                        "search-mode-enabled",
                        self->search_button,
                        "active",
                        G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
  g_action_map_add_action_entries (G_ACTION_MAP (self), &invert_entry, 1, self);
  flam_window_accept_drops (self);
  flam_window_memory_install (self);
  flam_window_tabs_install (self);
  create_recents_on_demand (self);
  keep_size (self);
  update_room (self, g_settings_get_int (flam_settings_get (), FLAM_KEY_WIDTH));
}

FlamWindow *
flam_window_new (GtkApplication *application)
{
  return g_object_new (FLAM_TYPE_WINDOW, "application", application, NULL);
}
