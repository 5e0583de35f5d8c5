/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-window.h"

#include "flam-application.h"
#include "flam-capture-view.h"
#include "flam-export-dialog.h"
#include "flam-files.h"
#include "flam-record-dialog.h"
#include "flam-recording-bar.h"
#include "flam-settings.h"
#include "flam-start-page.h"
#include "flam-trust.h"
#include "flam-window-files.h"
#include "flam-window-memory.h"

#include <glib/gi18n.h>

#define NARROW_WIDTH 860
#define TIGHT_WIDTH 1220

struct _FlamWindow
{
  AdwApplicationWindow parent_instance;

  FlamSession *session;
  FlamRecording *recording; /* NULL: not recording */
  guint follow_id;
  gboolean narrow;

  AdwToastOverlay *toasts;
  AdwHeaderBar *header;
  AdwSplitButton *open_button;
  AdwButtonContent *record_content;
  GtkButton *record_button;
  AdwWindowTitle *window_title;
  GtkMenuButton *menu_button;
  GtkMenuButton *trust_button;
  GtkToggleButton *search_button;
  FlamRecordingBar *recording_bar;
  GtkProgressBar *progress;
  GtkStack *stack;
  FlamStartPage *start_page;
  AdwStatusPage *busy_page;
  GtkProgressBar *busy_bar;
  GtkButton *busy_cancel;
  AdwStatusPage *error_page;
  FlamCaptureView *capture_view;
};

G_DEFINE_FINAL_TYPE (FlamWindow, flam_window, ADW_TYPE_APPLICATION_WINDOW)

static gboolean
shows (FlamWindow *self, const char *page)
{
  return g_strcmp0 (gtk_stack_get_visible_child_name (self->stack), page) == 0;
}

/* A narrow header has no room for it beside the capture's own buttons; the
 * menu has it, too. */
static void
update_record_button (FlamWindow *self)
{
  gtk_widget_set_visible (GTK_WIDGET (self->record_button),
                          !self->narrow || !shows (self, "capture"));
}

static void
show_page (FlamWindow *self, const char *page)
{
  gboolean capture = strcmp (page, "capture") == 0;

  gtk_stack_set_visible_child_name (self->stack, page);
  gtk_widget_set_visible (GTK_WIDGET (self->trust_button), capture);
  gtk_widget_set_visible (GTK_WIDGET (self->search_button), capture);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.search", capture);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.save-as", capture);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.export", capture);
  gtk_widget_action_set_enabled (
      GTK_WIDGET (self), "win.copy-picture", capture);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.reload", capture);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.invert", capture);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.source-pane", capture);
  update_record_button (self);
  if (!capture)
    gtk_toggle_button_set_active (self->search_button, FALSE);
}

static void
update_title (FlamWindow *self)
{
  const char *title = flam_session_get_title (self->session);
  const FlamProfile *profile = flam_session_get_profile (self->session);
  const char *command = profile != NULL ? profile->facts.command : "";

  if (title == NULL || shows (self, "start"))
    title = _ ("Flambeau");
  adw_window_title_set_title (self->window_title, title);
  adw_window_title_set_subtitle (self->window_title, command);
  gtk_window_set_title (GTK_WINDOW (self), title);
}

gboolean
flam_window_is_vacant (FlamWindow *self)
{
  g_return_val_if_fail (FLAM_IS_WINDOW (self), FALSE);
  return self->recording == NULL &&
         (shows (self, "start") || shows (self, "error"));
}

gboolean
flam_window_shows_file (FlamWindow *self, GFile *file)
{
  const char *path = flam_session_get_path (self->session);
  g_autoptr (GFile) mine = NULL;

  g_return_val_if_fail (FLAM_IS_WINDOW (self), FALSE);
  if (path == NULL || !(shows (self, "capture") || shows (self, "busy")))
    return FALSE;
  mine = g_file_new_for_path (path);
  return g_file_equal (mine, file);
}

void
flam_window_toast (FlamWindow *self, const char *message)
{
  g_autofree char *text = g_markup_escape_text (message, -1);

  g_return_if_fail (FLAM_IS_WINDOW (self));
  adw_toast_overlay_add_toast (self->toasts, adw_toast_new (text));
}

/* --- opening -------------------------------------------------------------- */

static void
show_error (FlamWindow *self, const char *title, const char *message)
{
  g_autofree char *text = g_markup_escape_text (message, -1);

  adw_status_page_set_title (self->error_page, title);
  adw_status_page_set_description (self->error_page, text);
  show_page (self, "error");
  update_title (self);
}

void
flam_window_open (FlamWindow *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);
  g_autofree char *title = NULL;

  g_return_if_fail (FLAM_IS_WINDOW (self));
  if (path == NULL)
    {
      g_autofree char *name = g_file_get_parse_name (file);
      g_autofree char *message = g_strdup_printf (
          _ ("%s: only files on this computer can be opened"), name);
      show_error (self, _ ("Cannot Open This File"), message);
      return;
    }
  flam_session_open (self->session, path);
  title = g_strdup_printf (_ ("Opening %s"),
                           flam_session_get_title (self->session));
  adw_status_page_set_title (self->busy_page, title);
  adw_status_page_set_description (self->busy_page, NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->busy_cancel), TRUE);
  gtk_progress_bar_set_fraction (self->busy_bar, 0);
  gtk_progress_bar_set_text (self->busy_bar, "");
  gtk_widget_set_visible (GTK_WIDGET (self->busy_bar), FALSE);
  show_page (self, "busy");
  update_title (self);
}

static void
on_opened (FlamSession *session, gpointer data)
{
  FlamWindow *self = data;

  show_page (self, "capture");
  flam_capture_view_begin (self->capture_view);
  update_title (self);
  if (!flam_session_is_live (session))
    flam_files_remember (flam_session_get_path (session));
}

static void
on_failed (FlamSession *session, const GError *error, gpointer data)
{
  FlamWindow *self = data;

  if (shows (self, "capture"))
    flam_window_toast (self, error->message);
  else if (g_error_matches (error, FLAM_ERROR, FLAM_ERROR_CANCELLED))
    {
      show_page (self, "start");
      update_title (self);
    }
  else
    show_error (self, _ ("Cannot Open This File"), error->message);
}

static const char *
activity_text (FlamActivity activity)
{
  switch (activity)
    {
    case FLAM_ACTIVITY_LOADING:
      return _ ("Reading");
    case FLAM_ACTIVITY_SYMBOLIZING:
      return _ ("Looking up symbols");
    case FLAM_ACTIVITY_DRAWING:
      return _ ("Adding up");
    case FLAM_ACTIVITY_NONE:
    default:
      return "";
    }
}

static void
update_progress (FlamWindow *self)
{
  FlamActivity activity = flam_session_get_activity (self->session);
  double fraction = flam_session_get_fraction (self->session);
  g_autofree char *text = NULL;

  gtk_widget_set_visible (GTK_WIDGET (self->busy_bar),
                          activity != FLAM_ACTIVITY_NONE);
  gtk_widget_set_visible (GTK_WIDGET (self->progress),
                          activity != FLAM_ACTIVITY_NONE &&
                              shows (self, "capture"));
  if (activity == FLAM_ACTIVITY_NONE)
    return;
  /* Translators: what is being done, and how far it is */
  text = g_strdup_printf (
      _ ("%s, %d %%"), activity_text (activity), (int)(fraction * 100));
  gtk_progress_bar_set_text (self->busy_bar, text);
  gtk_progress_bar_set_fraction (self->busy_bar, fraction);
  gtk_progress_bar_set_fraction (self->progress, fraction);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->progress), text);
}

static void
action_open (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_window_choose_files (FLAM_WINDOW (widget));
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
update_recents (FlamWindow *self)
{
  g_autoptr (GMenuModel) menu = flam_files_recent_menu ();

  adw_split_button_set_menu_model (self->open_button, menu);
}

static void
action_reload (GtkWidget *widget, const char *name, GVariant *parameter)
{
  FlamWindow *self = FLAM_WINDOW (widget);

  if (self->recording == NULL)
    flam_session_reload (self->session, FALSE);
}

static void
action_save_as (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_window_choose_copy (
      FLAM_WINDOW (widget),
      flam_session_get_path (FLAM_WINDOW (widget)->session));
}

static void
action_export (GtkWidget *widget, const char *name, GVariant *parameter)
{
  FlamWindow *self = FLAM_WINDOW (widget);

  if (flam_session_get_excerpt (self->session) != NULL)
    gtk_window_present (
        GTK_WINDOW (flam_export_dialog_new (self, self->session)));
}

static void
action_copy_picture (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_export_copy_picture (FLAM_WINDOW (widget),
                            FLAM_WINDOW (widget)->session);
}

/* --- recording ------------------------------------------------------------ */

static gboolean
follow (gpointer data)
{
  FlamWindow *self = data;

  flam_session_reload (self->session, TRUE);
  return G_SOURCE_CONTINUE;
}

static void
stop_following (FlamWindow *self)
{
  g_clear_handle_id (&self->follow_id, g_source_remove);
  flam_recording_bar_set_recording (self->recording_bar, NULL);
  g_clear_object (&self->recording);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.record", TRUE);
}

/* A recording is a file, and may be wanted elsewhere. */
static void
say_where (FlamWindow *self, const char *path)
{
  g_autofree char *name = g_filename_display_name (path);
  g_autofree char *text =
      g_markup_printf_escaped (_ ("Recorded: the capture is %s"), name);
  AdwToast *toast = adw_toast_new (text);

  adw_toast_set_button_label (toast, _ ("Save As…"));
  adw_toast_set_action_name (toast, "win.save-as");
  adw_toast_set_timeout (toast, 15);
  adw_toast_overlay_add_toast (self->toasts, toast);
}

static void
recording_finished (FlamRecording *recording,
                    const GError *error,
                    gpointer data)
{
  FlamWindow *self = data;
  g_autofree char *path = g_strdup (flam_recording_get_path (recording));
  g_autofree char *message = error != NULL ? g_strdup (error->message) : NULL;
  gboolean have_file = g_file_test (path, G_FILE_TEST_EXISTS);

  stop_following (self);
  if (have_file && (message == NULL || shows (self, "capture")))
    {
      flam_session_reload (self->session, FALSE);
      flam_files_remember (path);
    }
  if (message == NULL)
    {
      say_where (self, path);
      return;
    }
  flam_session_cancel (self->session);
  if (shows (self, "capture"))
    flam_window_toast (self, message);
  else
    show_error (self, _ ("Cannot Record"), message);
}

static void
start_recording (FlamWindow *self,
                 const FlamRecordOptions *options,
                 const char *name,
                 const char *const *envp)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  self->recording = flam_recording_start (options, name, envp, &error);
  if (self->recording == NULL)
    {
      show_error (self, _ ("Cannot Record"), error->message);
      return;
    }
  g_signal_connect_object (
      self->recording, "finished", G_CALLBACK (recording_finished), self, 0);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.record", FALSE);
  flam_recording_bar_set_recording (self->recording_bar, self->recording);
  flam_session_follow (self->session,
                       flam_recording_get_path (self->recording),
                       flam_recording_get_title (self->recording));
  self->follow_id = g_timeout_add_seconds (1, follow, self);
  text = g_strdup_printf (_ ("Recording %s"),
                          flam_recording_get_title (self->recording));
  adw_status_page_set_title (self->busy_page, text);
  adw_status_page_set_description (
      self->busy_page,
      _ ("Waiting for the first samples. A program that only waits uses no "
         "CPU, and has none."));
  /* Stop is in the bar above. */
  gtk_widget_set_visible (GTK_WIDGET (self->busy_bar), FALSE);
  gtk_widget_set_visible (GTK_WIDGET (self->busy_cancel), FALSE);
  show_page (self, "busy");
  update_title (self);
}

static void
on_record (FlamRecordDialog *dialog,
           const FlamRecordOptions *options,
           const char *name,
           gpointer data)
{
  FlamWindow *self = data;

  if (!flam_window_is_vacant (self))
    {
      self = flam_window_new (gtk_window_get_application (data));
      gtk_window_present (GTK_WINDOW (self));
    }
  start_recording (self, options, name, NULL);
}

static void
action_record (GtkWidget *widget, const char *name, GVariant *parameter)
{
  FlamRecordDialog *dialog = flam_record_dialog_new (GTK_WINDOW (widget));

  g_signal_connect_object (dialog, "record", G_CALLBACK (on_record), widget, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

void
flam_window_record (FlamWindow *self,
                    const char *const *argv,
                    const char *cwd,
                    const char *const *envp)
{
  g_autoptr (FlamRecordOptions) options = flam_recording_options_new ();

  g_return_if_fail (FLAM_IS_WINDOW (self));
  options->argv = g_strdupv ((char **)argv);
  options->directory = g_strdup (cwd);
  start_recording (self, options, NULL, envp);
}

/* --- the rest of the actions ---------------------------------------------- */

static void
action_cancel (GtkWidget *widget, const char *name, GVariant *parameter)
{
  FlamWindow *self = FLAM_WINDOW (widget);

  if (self->recording != NULL)
    flam_recording_stop (self->recording);
  else
    flam_session_cancel (self->session);
}

static void
action_back (GtkWidget *widget, const char *name, GVariant *parameter)
{
  show_page (FLAM_WINDOW (widget), "start");
  update_title (FLAM_WINDOW (widget));
}

static void
action_search (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_search_bar_start (
      flam_capture_view_get_search (FLAM_WINDOW (widget)->capture_view));
}

static void
action_search_next (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_search_bar_next (
      flam_capture_view_get_search (FLAM_WINDOW (widget)->capture_view),
      strcmp (name, "win.search-previous") == 0);
}

static void
action_page (GtkWidget *widget, const char *name, GVariant *parameter)
{
  FlamWindow *self = FLAM_WINDOW (widget);

  if (shows (self, "capture"))
    flam_capture_view_show_page (self->capture_view,
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
action_undo (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_session_undo (FLAM_WINDOW (widget)->session);
}

static void
action_travel (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_capture_view_travel (FLAM_WINDOW (widget)->capture_view,
                            strcmp (name, "win.forward") == 0);
}

static void
action_invert (GtkWidget *widget, const char *name, GVariant *parameter)
{
  flam_capture_view_toggle_invert (FLAM_WINDOW (widget)->capture_view);
}

static void
action_menu (GtkWidget *widget, const char *name, GVariant *parameter)
{
  gtk_menu_button_popup (FLAM_WINDOW (widget)->menu_button);
}

/* --- size ----------------------------------------------------------------- */

static void
update_narrow (FlamWindow *self, int width)
{
  gboolean narrow = width < NARROW_WIDTH;

  flam_capture_view_set_tight (self->capture_view, width < TIGHT_WIDTH);
  if (self->narrow == narrow)
    return;
  self->narrow = narrow;
  flam_capture_view_set_narrow (self->capture_view, narrow);
  adw_button_content_set_label (self->record_content,
                                narrow ? "" : _ ("Record"));
  update_record_button (self);
  if (narrow)
    adw_split_button_set_icon_name (self->open_button,
                                    "document-open-symbolic");
  else
    adw_split_button_set_label (self->open_button, _ ("_Open"));
  adw_header_bar_set_centering_policy (self->header,
                                       narrow ? ADW_CENTERING_POLICY_LOOSE
                                              : ADW_CENTERING_POLICY_STRICT);
}

static void
on_layout (GdkSurface *surface, int width, int height, gpointer data)
{
  update_narrow (data, width);
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
  FlamWindow *self = FLAM_WINDOW (window);

  if (self->recording != NULL)
    flam_recording_stop (self->recording);
  return GTK_WINDOW_CLASS (flam_window_parent_class)->close_request (window);
}

/* --- object --------------------------------------------------------------- */

static void
flam_window_dispose (GObject *object)
{
  FlamWindow *self = FLAM_WINDOW (object);

  g_clear_handle_id (&self->follow_id, g_source_remove);
  g_clear_object (&self->recording);
  if (self->session != NULL)
    g_object_run_dispose (G_OBJECT (self->session));
  gtk_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_WINDOW);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_window_parent_class)->dispose (object);
}

static void
install_actions (GtkWidgetClass *class)
{
  gtk_widget_class_install_action (class, "win.open", NULL, action_open);
  gtk_widget_class_install_action (class, "win.open-uri", "s", action_open_uri);
  gtk_widget_class_install_action (class, "win.record", NULL, action_record);
  gtk_widget_class_install_action (class, "win.reload", NULL, action_reload);
  gtk_widget_class_install_action (class, "win.save-as", NULL, action_save_as);
  gtk_widget_class_install_action (class, "win.export", NULL, action_export);
  gtk_widget_class_install_action (
      class, "win.copy-picture", NULL, action_copy_picture);
  gtk_widget_class_install_action (class, "win.cancel", NULL, action_cancel);
  gtk_widget_class_install_action (
      class, "win.back-to-start", NULL, action_back);
  gtk_widget_class_install_action (class, "win.search", NULL, action_search);
  gtk_widget_class_install_action (
      class, "win.search-next", NULL, action_search_next);
  gtk_widget_class_install_action (
      class, "win.search-previous", NULL, action_search_next);
  gtk_widget_class_install_action (class, "win.page", "i", action_page);
  gtk_widget_class_install_action (
      class, "win.source-pane", NULL, action_source_pane);
  gtk_widget_class_install_action (class, "win.undo", NULL, action_undo);
  gtk_widget_class_install_action (class, "win.back", NULL, action_travel);
  gtk_widget_class_install_action (class, "win.forward", NULL, action_travel);
  gtk_widget_class_install_action (class, "win.invert", NULL, action_invert);
  gtk_widget_class_install_action (class, "win.menu", NULL, action_menu);
}

static void
flam_window_class_init (FlamWindowClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_window_dispose;
  class->realize = flam_window_realize;
  GTK_WINDOW_CLASS (klass)->close_request = flam_window_close_request;

  g_type_ensure (FLAM_TYPE_START_PAGE);
  g_type_ensure (FLAM_TYPE_CAPTURE_VIEW);
  g_type_ensure (FLAM_TYPE_RECORDING_BAR);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-window.ui");
  gtk_widget_class_bind_template_child (class, FlamWindow, toasts);
  gtk_widget_class_bind_template_child (class, FlamWindow, header);
  gtk_widget_class_bind_template_child (class, FlamWindow, open_button);
  gtk_widget_class_bind_template_child (class, FlamWindow, record_button);
  gtk_widget_class_bind_template_child (class, FlamWindow, record_content);
  gtk_widget_class_bind_template_child (class, FlamWindow, window_title);
  gtk_widget_class_bind_template_child (class, FlamWindow, menu_button);
  gtk_widget_class_bind_template_child (class, FlamWindow, trust_button);
  gtk_widget_class_bind_template_child (class, FlamWindow, search_button);
  gtk_widget_class_bind_template_child (class, FlamWindow, recording_bar);
  gtk_widget_class_bind_template_child (class, FlamWindow, progress);
  gtk_widget_class_bind_template_child (class, FlamWindow, stack);
  gtk_widget_class_bind_template_child (class, FlamWindow, start_page);
  gtk_widget_class_bind_template_child (class, FlamWindow, busy_page);
  gtk_widget_class_bind_template_child (class, FlamWindow, busy_bar);
  gtk_widget_class_bind_template_child (class, FlamWindow, busy_cancel);
  gtk_widget_class_bind_template_child (class, FlamWindow, error_page);
  gtk_widget_class_bind_template_child (class, FlamWindow, capture_view);
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
  self->session = flam_session_new ();
  g_signal_connect_object (
      self->session, "opened", G_CALLBACK (on_opened), self, 0);
  g_signal_connect_object (
      self->session, "failed", G_CALLBACK (on_failed), self, 0);
  g_signal_connect_object (self->session,
                           "notify::activity",
                           G_CALLBACK (update_progress),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session,
                           "notify::fraction",
                           G_CALLBACK (update_progress),
                           self,
                           G_CONNECT_SWAPPED);
  flam_capture_view_set_session (self->capture_view, self->session);
  flam_search_bar_bind (flam_capture_view_get_search (self->capture_view),
                        self->search_button);
  gtk_menu_button_set_popover (self->trust_button,
                               GTK_WIDGET (flam_trust_new (self->session)));

  flam_window_accept_drops (self);
  flam_window_memory_install (GTK_APPLICATION_WINDOW (self), self->session);
  g_signal_connect_object (gtk_recent_manager_get_default (),
                           "changed",
                           G_CALLBACK (update_recents),
                           self,
                           G_CONNECT_SWAPPED);
  update_recents (self);
  keep_size (self);
  show_page (self, "start");
  update_narrow (self,
                 g_settings_get_int (flam_settings_get (), FLAM_KEY_WIDTH));
}

FlamWindow *
flam_window_new (GtkApplication *application)
{
  return g_object_new (FLAM_TYPE_WINDOW, "application", application, NULL);
}
