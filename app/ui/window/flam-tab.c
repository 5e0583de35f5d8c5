/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-tab-private.h"

#include "flam-capture-quality.h"
#include "flam-core-picture.h"
#include "flam-files.h"
#include "flam-formats.h"
#include "flam-history-store.h"
#include "flam-settings.h"
#include "flam-suppression-settings.h"
#include "flam-thumbnail.h"
#include "flam-transport.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

static guint changed_signal;

G_DEFINE_FINAL_TYPE (FlamTab, flam_tab, GTK_TYPE_WIDGET)

/* --- content -------------------------------------------------------------- */

static gboolean
is_shown (FlamTab *self, const char *page)
{
  return strcmp (self->page, page) == 0;
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
update_progress (FlamTab *self)
{
  FlamActivity activity = flam_session_get_activity (self->session);
  double fraction = flam_session_get_fraction (self->session);
  g_autofree char *text = NULL;

  /* Waiting for a recording shows no progress. */
  gtk_widget_set_visible (GTK_WIDGET (self->progress),
                          activity != FLAM_ACTIVITY_NONE &&
                              flam_tab_shows_capture (self));
  if (self->busy_bar != NULL)
    gtk_widget_set_visible (GTK_WIDGET (self->busy_bar),
                            activity != FLAM_ACTIVITY_NONE &&
                                self->recording == NULL);
  if (activity == FLAM_ACTIVITY_NONE)
    return;
  /* Translators: an activity, and its progress */
  text = g_strdup_printf (
      _ ("%s, %d %%"), activity_text (activity), (int)(fraction * 100));
  if (self->busy_bar != NULL)
    {
      gtk_progress_bar_set_text (self->busy_bar, text);
      gtk_progress_bar_set_fraction (self->busy_bar, fraction);
    }
  gtk_progress_bar_set_fraction (self->progress, fraction);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->progress), text);
}

/* Takes ownership of a builder's object, and adds it as a page. */
static void
add_page (FlamTab *self, const char *page, gpointer widget)
{
  gtk_stack_add_named (self->stack, GTK_WIDGET (widget), page);
}

static void
update_busy_page (FlamTab *self)
{
  if (self->busy_page == NULL)
    return;
  adw_status_page_set_title (self->busy_page, self->title);
  adw_status_page_set_description (self->busy_page, self->text);
  gtk_widget_set_visible (GTK_WIDGET (self->busy_cancel), self->cancellable);
}

static void
update_error_page (FlamTab *self)
{
  if (self->error_page == NULL)
    return;
  adw_status_page_set_title (self->error_page, self->title);
  adw_status_page_set_description (self->error_page, self->text);
}

static void
add_busy_page (FlamTab *self)
{
  g_autoptr (GtkBuilder) builder = gtk_builder_new_from_resource (
      "/dev/flambeau/Flambeau/ui/flam-busy-page.ui");

  self->busy_page = ADW_STATUS_PAGE (gtk_builder_get_object (builder, "page"));
  self->busy_bar = GTK_PROGRESS_BAR (gtk_builder_get_object (builder, "bar"));
  self->busy_cancel = GTK_BUTTON (gtk_builder_get_object (builder, "cancel"));
  add_page (self, "busy", self->busy_page);
  update_busy_page (self);
  update_progress (self);
}

static void
add_error_page (FlamTab *self)
{
  g_autoptr (GtkBuilder) builder = gtk_builder_new_from_resource (
      "/dev/flambeau/Flambeau/ui/flam-error-page.ui");

  self->error_page = ADW_STATUS_PAGE (gtk_builder_get_object (builder, "page"));
  add_page (self, "error", self->error_page);
  update_error_page (self);
}

/* The session has a capture already if the tab was not seen until now. */
static void
add_capture_view (FlamTab *self)
{
  self->capture_view = g_object_new (FLAM_TYPE_CAPTURE_VIEW, NULL);
  add_page (self, "capture", self->capture_view);
  flam_capture_view_set_session (self->capture_view, self->session);
  flam_session_repeat (self->session);
}

/* A tab has only the pages that were seen: a hundred files on a command line
 * are a hundred captures, but a single view. */
static void
need_page (FlamTab *self, const char *page)
{
  if (gtk_stack_get_child_by_name (self->stack, page) != NULL)
    return;
  if (strcmp (page, "start") == 0)
    add_page (self, page, g_object_new (FLAM_TYPE_START_PAGE, NULL));
  else if (strcmp (page, "busy") == 0)
    add_busy_page (self);
  else if (strcmp (page, "error") == 0)
    add_error_page (self);
  else if (strcmp (page, "capture") == 0)
    add_capture_view (self);
}

static void
see_page (FlamTab *self)
{
  need_page (self, self->page);
  gtk_stack_set_visible_child_name (self->stack, self->page);
}

static gboolean
see (gpointer data)
{
  FlamTab *self = data;

  self->see_id = 0;
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return G_SOURCE_REMOVE;
  see_page (self);
  flam_tab_prepare (self);
  return G_SOURCE_REMOVE;
}

/* Before the next frame, but after all that is still to happen to the tab: each
 * of many files that are opened together is in front for a moment. */
static void
see_soon (FlamTab *self)
{
  if (self->see_id == 0 && gtk_widget_get_mapped (GTK_WIDGET (self)))
    self->see_id = g_idle_add_full (G_PRIORITY_HIGH_IDLE, see, self, NULL);
}

void
flam_tab_changed (FlamTab *self)
{
  g_signal_emit (self, changed_signal, 0);
}

static void
show_page (FlamTab *self, const char *page)
{
  self->page = page;
  see_soon (self);
  flam_tab_changed (self);
}

static void
take_text (FlamTab *self, const char *title, const char *text)
{
  g_free (self->title);
  g_free (self->text);
  self->title = g_strdup (title);
  self->text = g_strdup (text);
}

void
flam_tab_show_error (FlamTab *self, const char *title, const char *message)
{
  g_autofree char *shown = flam_message_sentence (message);
  g_autofree char *text = g_markup_escape_text (shown, -1);

  take_text (self, title, text);
  update_error_page (self);
  show_page (self, "error");
}

void
flam_tab_show_busy (FlamTab *self,
                    const char *title,
                    const char *description,
                    gboolean cancellable)
{
  g_autofree char *text = g_markup_escape_text (title, -1);

  take_text (self, text, description);
  self->cancellable = cancellable;
  update_busy_page (self);
  update_progress (self);
  show_page (self, "busy");
}

void
flam_tab_describe_busy (FlamTab *self, const char *description)
{
  g_free (self->text);
  self->text = g_strdup (description);
  update_busy_page (self);
}

/* The name of the folder, interned: it stays valid while the tab uses it. */
static const char *
history_title (FlamTab *self)
{
  const char *path = flam_history_view_get_path (self->history_view);
  g_autofree char *name = g_filename_display_basename (path);

  return g_intern_string (name);
}

const char *
flam_tab_get_title (FlamTab *self)
{
  const char *title;

  g_return_val_if_fail (FLAM_IS_TAB (self), NULL);
  if (flam_tab_shows_history (self))
    return history_title (self);
  title = flam_session_get_title (self->session);
  return title == NULL || is_shown (self, "start") ? _ ("Flambeau") : title;
}

char *
flam_tab_get_subtitle (FlamTab *self)
{
  const FlamProfile *profile;
  const char *host;
  g_autofree char *shown = NULL;

  g_return_val_if_fail (FLAM_IS_TAB (self), NULL);
  if (flam_tab_shows_history (self))
    return g_strdup (_ ("History"));
  profile = flam_session_get_profile (self->session);
  if (profile == NULL)
    return g_strdup ("");
  host = flam_facts_other (&profile->facts, FLAM_FACT_REACHED);
  if (host == NULL)
    return g_strdup (profile->facts.command);
  shown = flam_format_visible (host);
  /* Translators: a command line, or a file, and a machine or a container */
  return g_strdup_printf (_ ("%s on %s"), profile->facts.command, shown);
}

guint
flam_tab_get_number (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), 0);
  return self->number;
}

const char *
flam_tab_get_topic (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), NULL);
  if (flam_tab_shows_capture (self))
    return flam_capture_view_get_topic (flam_tab_get_view (self));
  if (flam_tab_shows_history (self))
    return "history";
  if (self->recording != NULL)
    return "record";
  return is_shown (self, "error") ? "formats" : "index";
}

gboolean
flam_tab_shows_capture (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), FALSE);
  return is_shown (self, "capture");
}

gboolean
flam_tab_shows_history (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), FALSE);
  return is_shown (self, "history");
}

gboolean
flam_tab_is_vacant (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), FALSE);
  return self->recording == NULL &&
         (is_shown (self, "start") || is_shown (self, "error"));
}

gboolean
flam_tab_is_busy (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), FALSE);
  return is_shown (self, "busy") ||
         (flam_tab_shows_history (self) &&
          flam_history_view_is_busy (self->history_view));
}

FlamRecording *
flam_tab_get_recording (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), NULL);
  return self->recording;
}

gboolean
flam_tab_can_stop (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), FALSE);
  return self->recording != NULL &&
         flam_recording_get_state (self->recording) < FLAM_RECORDING_FINISHING;
}

FlamSession *
flam_tab_get_session (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), NULL);
  return self->session;
}

FlamCaptureView *
flam_tab_get_view (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), NULL);
  if (flam_tab_shows_capture (self))
    need_page (self, "capture");
  return self->capture_view;
}

GtkWidget *
flam_tab_get_capture_quality (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), NULL);
  if (self->capture_quality == NULL)
    self->capture_quality = g_object_ref_sink (
        GTK_WIDGET (flam_capture_quality_new (self->session)));
  return self->capture_quality;
}

void
flam_tab_toast (FlamTab *self, const char *message)
{
  g_autofree char *shown = flam_message_sentence (message);
  g_autofree char *text = g_markup_escape_text (shown, -1);

  g_return_if_fail (FLAM_IS_TAB (self));
  adw_toast_overlay_add_toast (self->toasts, adw_toast_new (text));
}

void
flam_tab_prepare (FlamTab *self)
{
  g_return_if_fail (FLAM_IS_TAB (self));
  if (is_shown (self, "busy"))
    need_page (self, "capture");
}

/* --- opening -------------------------------------------------------------- */

gboolean
flam_tab_shows_file (FlamTab *self, GFile *file)
{
  const char *path;
  g_autoptr (GFile) mine = NULL;

  g_return_val_if_fail (FLAM_IS_TAB (self), FALSE);
  path = flam_tab_shows_history (self)
             ? flam_history_view_get_path (self->history_view)
             : flam_session_get_path (self->session);
  if (path == NULL ||
      !(flam_tab_shows_capture (self) || flam_tab_shows_history (self) ||
        flam_tab_is_busy (self)))
    return FALSE;
  mine = g_file_new_for_path (path);
  return g_file_equal (mine, file);
}

/* FALSE: not of captures. perf's folders are captures, and so are those of
 * formats that have one (uftrace, CTF). */
static gboolean
is_folder (const char *path)
{
  g_autofree char *head = g_build_filename (path, "data", NULL);
  g_autofree char *file = flam_formats_find_file (path);

  return g_file_test (path, G_FILE_TEST_IS_DIR) &&
         !g_file_test (head, G_FILE_TEST_IS_REGULAR) &&
         strcmp (file, path) == 0;
}

/* Few tabs ever show a history, so it is not created with each of them. */
static void
need_history_view (FlamTab *self)
{
  if (self->history_view != NULL)
    return;
  self->history_view = g_object_new (FLAM_TYPE_HISTORY_VIEW, NULL);
  gtk_stack_add_named (self->stack, GTK_WIDGET (self->history_view), "history");
  g_signal_connect_object (self->history_view,
                           "changed",
                           G_CALLBACK (flam_tab_changed),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->history_view,
                           "given-up",
                           G_CALLBACK (flam_tab_back_to_start),
                           self,
                           G_CONNECT_SWAPPED);
}

void
flam_tab_open (FlamTab *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);
  g_autofree char *title = NULL;

  g_return_if_fail (FLAM_IS_TAB (self));
  if (path == NULL)
    {
      g_autofree char *name = g_file_get_parse_name (file);
      g_autofree char *message = g_strdup_printf (
          _ ("%s: only files on this computer can be opened"), name);
      flam_tab_show_error (self, _ ("Cannot Open This File"), message);
      return;
    }
  g_clear_pointer (&self->compare_with, g_free);
  if (is_folder (path) || flam_history_store_is (path))
    {
      need_history_view (self);
      flam_history_view_open (self->history_view, path);
      show_page (self, "history");
      return;
    }
  self->load_began = g_get_monotonic_time ();
  flam_session_open (self->session, path);
  flam_tab_watch (self);
  title = g_strdup_printf (_ ("Opening %s"),
                           flam_session_get_title (self->session));
  flam_tab_show_busy (self, title, NULL, TRUE);
}

void
flam_tab_compare_with (FlamTab *self, const char *path)
{
  g_return_if_fail (FLAM_IS_TAB (self));
  g_clear_pointer (&self->compare_with, g_free);
  if (flam_tab_shows_capture (self))
    flam_baseline_open (flam_session_get_baseline (self->session), path);
  else
    self->compare_with = g_strdup (path);
}

void
flam_tab_reload (FlamTab *self)
{
  g_return_if_fail (FLAM_IS_TAB (self));
  if (flam_tab_shows_history (self))
    flam_history_view_reload (self->history_view);
  else if (self->recording == NULL)
    {
      flam_tab_watch (self);
      flam_session_reload (self->session, FALSE);
    }
}

/* The keyboard focus goes to the capture as soon as the tab is in front. */
static gboolean
begin (gpointer data)
{
  FlamTab *self = data;

  if (self->begins && gtk_widget_get_mapped (GTK_WIDGET (self)))
    {
      self->begins = FALSE;
      see_page (self);
      /* A program's input keeps it. */
      if (!flam_widget_is_written_to (GTK_WIDGET (self)))
        flam_capture_view_begin (flam_tab_get_view (self));
    }
  return G_SOURCE_REMOVE;
}

static void
flam_tab_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (flam_tab_parent_class)->map (widget);
  see_soon (FLAM_TAB (widget));
  /* After the tabs have moved the focus. */
  g_idle_add_full (
      G_PRIORITY_DEFAULT, begin, g_object_ref (widget), g_object_unref);
}

/* "1.2 s to 3.4 s, 2 threads, focus: parse": the active selection. */
static char *
describe_selection (const FlamSelection *selection, const FlamProfile *profile)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);

  if (selection->from != G_MININT64 || selection->to != G_MAXINT64)
    {
      g_autofree char *from = flam_format_moment (
          flam_facts_clock (&profile->facts), MAX (selection->from, 0));
      g_autofree char *to =
          flam_format_moment (flam_facts_clock (&profile->facts),
                              MIN (selection->to, profile->facts.duration_ns));

      /* Translators: a range of time */
      g_ptr_array_add (parts, g_strdup_printf (_ ("%s to %s"), from, to));
    }
  if (selection->threads != NULL)
    g_ptr_array_add (
        parts,
        g_strdup_printf (
            ngettext ("%u thread", "%u threads", selection->threads->len),
            selection->threads->len));
  if (selection->transforms != NULL && selection->transforms->len > 0)
    g_ptr_array_add (parts,
                     g_strdup_printf (ngettext ("%u transform",
                                                "%u transforms",
                                                selection->transforms->len),
                                      selection->transforms->len));
  g_ptr_array_add (parts, NULL);
  return g_strjoinv (", ", (char **)parts->pdata);
}

/* A capture opened with a stored selection does not show everything. */
static void
say_restored (FlamTab *self)
{
  g_autofree char *parts =
      describe_selection (flam_session_get_selection (self->session),
                          flam_session_get_profile (self->session));
  g_autofree char *text =
      *parts != '\0'
          /* Translators: the visible part of a capture: "1.2 s to 3.4 s" */
          ? g_strdup_printf (_ ("Shown as it was left: %s"), parts)
          : g_strdup (_ ("Shown as it was left"));
  g_autofree char *markup = g_markup_escape_text (text, -1);
  AdwToast *toast = adw_toast_new (markup);

  adw_toast_set_button_label (toast, _ ("Show _Everything"));
  adw_toast_set_action_name (toast, "win.show-all");
  adw_toast_set_timeout (toast, 15);
  adw_toast_overlay_add_toast (self->toasts, toast);
}

static void
show_capture (FlamTab *self)
{
  if (flam_tab_shows_capture (self))
    return;
  show_page (self, "capture");
  self->begins = TRUE;
  begin (self);
}

static void
on_opened (FlamSession *session, gpointer data)
{
  FlamTab *self = data;
  const FlamProfile *profile = flam_session_get_profile (session);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *opened = NULL;

  show_capture (self);
  opened = g_strdup_printf (_ ("%s is open"), flam_session_get_title (session));
  flam_tab_notify_of_load (self, opened, NULL);
  if (!flam_session_is_live (session))
    flam_files_remember (flam_session_get_path (session));
  if (flam_session_is_restored (session))
    say_restored (self);
  /* A chosen file of rules may no longer exist. */
  if (profile->allocations.n > 0 &&
      !flam_suppression_settings_apply (selection, &error))
    flam_tab_toast (self, error->message);
  if (self->compare_with != NULL)
    {
      g_autofree char *base = g_steal_pointer (&self->compare_with);

      flam_baseline_open (flam_session_get_baseline (session), base);
    }
}

static void
save_thumbnail (FlamTab *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);

  if (view_data == NULL)
    {
      self->thumbnail_saved = FALSE;
      return;
    }
  if (!self->thumbnail_saved && !flam_session_is_live (self->session) &&
      !flam_session_is_growing (self->session) && view_data->tree->total[0] > 0)
    {
      flam_thumbnail_save_async (flam_session_get_path (self->session),
                                 view_data);
      self->thumbnail_saved = TRUE;
    }
}

static void
on_failed (FlamSession *session, const GError *error, gpointer data)
{
  FlamTab *self = data;

  if (flam_tab_shows_capture (self))
    flam_tab_toast (self, error->message);
  else if (g_error_matches (error, FLAM_ERROR, FLAM_ERROR_CANCELLED))
    {
      self->load_began = 0;
      show_page (self, "start");
    }
  else
    {
      flam_tab_show_error (self, _ ("Cannot Open This File"), error->message);
      flam_tab_notify_of_load (
          self, _ ("Cannot Open This File"), error->message);
    }
}

/* Keeps the previous baseline. */
static void
on_baseline_failed (FlamBaseline *baseline, const GError *error, gpointer data)
{
  flam_tab_toast (data, error->message);
}

void
flam_tab_cancel (FlamTab *self)
{
  g_return_if_fail (FLAM_IS_TAB (self));
  if (self->recording != NULL)
    flam_recording_stop (self->recording);
  else if (flam_tab_shows_history (self))
    flam_history_view_cancel (self->history_view);
  else
    flam_session_cancel (self->session);
}

void
flam_tab_back_to_start (FlamTab *self)
{
  g_return_if_fail (FLAM_IS_TAB (self));
  show_page (self, "start");
}

/* --- settings ------------------------------------------------------------- */

static void
on_frames_setting (GSettings *settings, const char *key, FlamSession *session)
{
  FlamSelection *selection;

  if (flam_session_get_selection (session) == NULL)
    return;
  selection = flam_selection_copy (flam_session_get_selection (session));
  flam_settings_apply_frames (selection);
  flam_session_select (session, selection);
}

static void
on_rules_setting (GSettings *settings, const char *key, FlamSession *session)
{
  FlamSelection *selection;

  if (flam_session_get_selection (session) == NULL)
    return;
  selection = flam_selection_copy (flam_session_get_selection (session));
  flam_suppression_settings_apply (selection, NULL);
  flam_session_select (session, selection);
}

static void
follow_settings (FlamSession *session)
{
  static const struct
  {
    const char *changed;
    GCallback then;
  } followed[] = {
    { "changed::" FLAM_KEY_IRRELEVANT, G_CALLBACK (on_frames_setting) },
    { "changed::" FLAM_KEY_IMPORTS, G_CALLBACK (on_frames_setting) },
    { "changed::" FLAM_KEY_LEAK_RULES, G_CALLBACK (on_rules_setting) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (followed); i++)
    g_signal_connect_object (flam_settings_get (),
                             followed[i].changed,
                             followed[i].then,
                             session,
                             0);
}

/* --- object --------------------------------------------------------------- */

static void
flam_tab_dispose (GObject *object)
{
  FlamTab *self = FLAM_TAB (object);

  flam_tab_withdraw (self);
  flam_tab_unwatch (self);
  g_clear_handle_id (&self->follow_id, g_source_remove);
  g_clear_handle_id (&self->see_id, g_source_remove);
  g_clear_object (&self->recording);
  g_clear_object (&self->recorded);
  g_clear_pointer (&self->compare_with, g_free);
  g_clear_pointer (&self->title, g_free);
  g_clear_pointer (&self->text, g_free);
  if (self->session != NULL)
    g_object_run_dispose (G_OBJECT (self->session));
  g_clear_object (&self->capture_quality);
  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_TAB);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_tab_parent_class)->dispose (object);
}

static void
flam_tab_class_init (FlamTabClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_tab_dispose;
  class->map = flam_tab_map;
  changed_signal = g_signal_new ("changed",
                                 FLAM_TYPE_TAB,
                                 G_SIGNAL_RUN_LAST,
                                 0,
                                 NULL,
                                 NULL,
                                 NULL,
                                 G_TYPE_NONE,
                                 0);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-tab.ui");
  gtk_widget_class_bind_template_child (class, FlamTab, toasts);
  gtk_widget_class_bind_template_child (class, FlamTab, column);
  gtk_widget_class_bind_template_child (class, FlamTab, progress);
  gtk_widget_class_bind_template_child (class, FlamTab, stack);
}

static void
flam_tab_init (FlamTab *self)
{
  static guint last_number;

  self->number = ++last_number;
  self->page = "start";
  gtk_widget_init_template (GTK_WIDGET (self));
  self->session = flam_session_new ();
  g_signal_connect_object (self->session,
                           "begun",
                           G_CALLBACK (show_capture),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (
      self->session, "opened", G_CALLBACK (on_opened), self, 0);
  g_signal_connect_object (
      self->session, "failed", G_CALLBACK (on_failed), self, 0);
  g_signal_connect_object (flam_session_get_baseline (self->session),
                           "failed",
                           G_CALLBACK (on_baseline_failed),
                           self,
                           0);
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
  g_signal_connect_object (self->session,
                           "notify::profile",
                           G_CALLBACK (flam_tab_changed),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session,
                           "notify::view-data",
                           G_CALLBACK (flam_tab_changed),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session,
                           "notify::view-data",
                           G_CALLBACK (save_thumbnail),
                           self,
                           G_CONNECT_SWAPPED);
  follow_settings (self->session);
  show_page (self, "start");
}

FlamTab *
flam_tab_new (void)
{
  return g_object_new (FLAM_TYPE_TAB, NULL);
}
