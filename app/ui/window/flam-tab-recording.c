/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-tab-private.h"

#include "flam-files.h"

#include <glib/gi18n.h>

static gboolean
follow (gpointer data)
{
  FlamTab *self = data;

  flam_session_reload (self->session, TRUE);
  return G_SOURCE_CONTINUE;
}

static void
stop_following (FlamTab *self)
{
  g_clear_handle_id (&self->follow_id, g_source_remove);
  flam_recording_bar_set_recording (self->recording_bar, NULL);
  g_clear_object (&self->recording);
  flam_tab_changed (self);
}

/* A recording is a file, and may be wanted elsewhere. */
static void
say_where (FlamTab *self, const char *path)
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
  FlamTab *self = data;
  g_autofree char *path = g_strdup (flam_recording_get_path (recording));
  g_autofree char *message = error != NULL ? g_strdup (error->message) : NULL;
  gboolean have_file = g_file_test (path, G_FILE_TEST_EXISTS);

  stop_following (self);
  if (have_file && (message == NULL || flam_tab_shows_capture (self)))
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
  if (flam_tab_shows_capture (self))
    flam_tab_toast (self, message);
  else
    flam_tab_show_error (self, _ ("Cannot Record"), message);
}

void
flam_tab_record (FlamTab *self,
                 const FlamRecordOptions *options,
                 const char *name,
                 const char *const *envp)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  g_return_if_fail (FLAM_IS_TAB (self));
  self->recording = flam_recording_start (options, name, envp, &error);
  if (self->recording == NULL)
    {
      flam_tab_show_error (self, _ ("Cannot Record"), error->message);
      return;
    }
  g_signal_connect_object (
      self->recording, "finished", G_CALLBACK (recording_finished), self, 0);
  flam_recording_bar_set_recording (self->recording_bar, self->recording);
  flam_session_follow (self->session,
                       flam_recording_get_path (self->recording),
                       flam_recording_get_title (self->recording));
  self->follow_id = g_timeout_add_seconds (1, follow, self);
  text = g_strdup_printf (_ ("Recording %s"),
                          flam_recording_get_title (self->recording));
  /* Stop is in the bar above. */
  flam_tab_show_busy (
      self,
      text,
      _ ("Waiting for the first samples. A program that only waits uses no "
         "CPU, and has none."),
      FALSE);
}
