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

/* --- the end -------------------------------------------------------------- */

static GtkWidget *
line_of_toast (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_set_tooltip_text (label, text);
  gtk_widget_add_css_class (label, class);
  return label;
}

static GtkWidget *
button_of_toast (const char *label, const char *action)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (label);

  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), action);
  return button;
}

/* A recording is a file that may be needed elsewhere, and may be repeated after
 * a change to the program. A toast has only one button. */
static void
say_end (FlamTab *self)
{
  g_autofree char *end = flam_recording_describe_end (self->recorded);
  g_autofree char *name =
      g_filename_display_name (flam_recording_get_path (self->recorded));
  g_autofree char *where = g_strdup_printf (_ ("Saved as %s"), name);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  AdwToast *toast = adw_toast_new (end);
  guint left = flam_recording_count_left (self->recorded);

  gtk_box_append (GTK_BOX (buttons),
                  button_of_toast (_ ("_Save As…"), "win.save-as"));
  gtk_box_append (GTK_BOX (buttons),
                  button_of_toast (_ ("Record _Again"), "win.record-again"));
  if (left > 0)
    gtk_box_append (GTK_BOX (buttons),
                    button_of_toast (left == 1
                                         ? _ ("_Attach to Remaining Process")
                                         : _ ("_Attach to Remaining Processes"),
                                     "win.record-left"));
  gtk_box_append (GTK_BOX (box), line_of_toast (end, "heading"));
  gtk_box_append (GTK_BOX (box), line_of_toast (where, "caption"));
  gtk_box_append (GTK_BOX (box), buttons);
  adw_toast_set_custom_title (toast, box);
  adw_toast_set_timeout (toast, 15);
  adw_toast_overlay_add_toast (self->toasts, toast);
  flam_tab_notify (self, end, where);
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
  if (have_file)
    flam_files_remember (path);
  if (have_file && (message == NULL || flam_tab_shows_capture (self)))
    {
      flam_tab_watch (self);
      flam_session_reload (self->session, FALSE);
    }
  /* The cause of an error is usually in the output. */
  flam_output_pane_update (self->output);
  if (flam_recording_has_failed (self->recorded) &&
      flam_output_pane_has_text (self->output))
    gtk_widget_set_visible (GTK_WIDGET (self->output), TRUE);
  if (message == NULL)
    {
      say_end (self);
      return;
    }
  flam_session_cancel (self->session);
  flam_tab_notify (self, _ ("Cannot Record"), message);
  if (flam_tab_shows_capture (self))
    flam_tab_toast (self, message);
  else
    flam_tab_show_error (self, _ ("Cannot Record"), message);
}

/* --- the start ------------------------------------------------------------ */

static void
show_wait (FlamTab *self)
{
  g_autofree char *text = flam_recording_describe_wait (self->recording);

  flam_tab_describe_busy (self, text);
}

static void
need_bars (FlamTab *self)
{
  if (self->recording_bar != NULL)
    return;
  self->recording_bar = g_object_new (FLAM_TYPE_RECORDING_BAR, NULL);
  self->output = g_object_new (FLAM_TYPE_OUTPUT_PANE, NULL);
  gtk_box_prepend (self->column, GTK_WIDGET (self->recording_bar));
  gtk_box_append (self->column, GTK_WIDGET (self->output));
  flam_recording_bar_bind (self->recording_bar, self->output);
}

/* Takes ownership of a started recording, or shows why it did not start. */
static void
take_recording (FlamTab *self, FlamRecording *recording, const GError *error)
{
  g_autofree char *text = NULL;

  if (recording == NULL)
    {
      flam_tab_show_error (self, _ ("Cannot Record"), error->message);
      return;
    }
  self->recording = recording;
  g_set_object (&self->recorded, recording);
  g_signal_connect_object (
      recording, "finished", G_CALLBACK (recording_finished), self, 0);
  g_signal_connect_object (
      recording, "changed", G_CALLBACK (show_wait), self, G_CONNECT_SWAPPED);
  need_bars (self);
  flam_recording_bar_set_recording (self->recording_bar, recording);
  flam_output_pane_set_recording (self->output, recording);
  flam_session_follow (self->session,
                       flam_recording_get_path (recording),
                       flam_recording_get_title (recording));
  self->follow_id = g_timeout_add_seconds (1, follow, self);
  text = g_strdup_printf (_ ("Recording %s"),
                          flam_recording_get_title (recording));
  /* Stop is in the bar above. */
  flam_tab_show_busy (self, text, NULL, FALSE);
  show_wait (self);
}

void
flam_tab_record (FlamTab *self,
                 const FlamRecordOptions *options,
                 const char *name,
                 const char *const *envp)
{
  g_autoptr (GError) error = NULL;
  FlamRecording *recording;

  g_return_if_fail (FLAM_IS_TAB (self));
  recording = flam_recording_start (options, name, envp, &error);
  take_recording (self, recording, error);
}

gboolean
flam_tab_has_recorded (FlamTab *self)
{
  g_return_val_if_fail (FLAM_IS_TAB (self), FALSE);
  return self->recorded != NULL && self->recording == NULL;
}

gboolean
flam_tab_has_launched (FlamTab *self)
{
  return flam_tab_has_recorded (self) &&
         flam_recording_is_launched (self->recorded);
}

void
flam_tab_record_again (FlamTab *self, FlamTab *recorded, const char *variables)
{
  g_autoptr (GError) error = NULL;
  FlamRecording *recording;

  g_return_if_fail (FLAM_IS_TAB (self) && flam_tab_has_recorded (recorded));
  recording =
      flam_recording_start_again (recorded->recorded, variables, &error);
  take_recording (self, recording, error);
}

void
flam_tab_record_left (FlamTab *self, FlamTab *recorded)
{
  g_autoptr (GError) error = NULL;
  FlamRecording *recording;

  g_return_if_fail (FLAM_IS_TAB (self) && flam_tab_has_recorded (recorded));
  recording = flam_recording_start_left (recorded->recorded, &error);
  take_recording (self, recording, error);
}

/* Once this process has gone, the recorder ends by itself and writes the
 * capture, even if it has not created the file yet. */
void
flam_tab_leave_recording (FlamTab *self)
{
  g_return_if_fail (FLAM_IS_TAB (self));
  if (self->recording == NULL)
    return;
  flam_recording_stop (self->recording);
  flam_files_remember (flam_recording_get_path (self->recording));
}
