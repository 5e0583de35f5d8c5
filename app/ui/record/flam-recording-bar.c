/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-recording-bar.h"

#include "flam-core-picture.h"
#include "flam-widget.h"
#include "flam-wrap-layout.h"

#include <glib/gi18n.h>

struct _FlamRecordingBar
{
  GtkWidget parent_instance;

  FlamRecording *recording;

  GtkLabel *title;
  GtkLabel *elapsed;
  GtkLabel *samples;
  GtkToggleButton *output;
  GtkToggleButton *pause;
};

G_DEFINE_FINAL_TYPE (FlamRecordingBar, flam_recording_bar, GTK_TYPE_WIDGET)

static const char *
state_text (FlamRecording *recording)
{
  switch (flam_recording_get_state (recording))
    {
    case FLAM_RECORDING_STARTING:
      return _ ("Starting");
    case FLAM_RECORDING_RUNNING:
      return _ ("Recording");
    case FLAM_RECORDING_PAUSED:
      return _ ("Paused");
    case FLAM_RECORDING_FINISHING:
    case FLAM_RECORDING_DONE:
    default:
      return _ ("Looking up symbols");
    }
}

static char *
title_text (FlamRecording *recording)
{
  const char *host = flam_recording_get_host (recording);
  const char *title = flam_recording_get_title (recording);

  if (host == NULL)
    /* Translators: "Recording" or another state, and the name of the program */
    return g_strdup_printf (_ ("%s %s"), state_text (recording), title);
  if (flam_recording_is_broken (recording))
    /* Translators: a machine or a container */
    return g_strdup_printf (_ ("Reconnecting to %s"), host);
  /* Translators: "Recording" or another state, the name of the program, and a
   * machine or a container */
  return g_strdup_printf (
      _ ("%s %s on %s"), state_text (recording), title, host);
}

static void
update (FlamRecordingBar *self)
{
  FlamRecordingState state = flam_recording_get_state (self->recording);
  gint64 seconds = flam_recording_get_elapsed_ms (self->recording) / 1000;
  guint64 n = flam_recording_get_samples (self->recording);
  g_autofree char *number = flam_format_value ((gint64)n, FLAM_UNIT_COUNT);
  g_autofree char *title = title_text (self->recording);
  g_autofree char *elapsed = NULL;
  g_autofree char *samples = NULL;

  /* Translators: minutes, seconds */
  elapsed =
      g_strdup_printf (_ ("%d:%02d"), (int)(seconds / 60), (int)(seconds % 60));
  samples =
      g_strdup_printf (ngettext ("%s sample", "%s samples", (gulong)n), number);
  gtk_label_set_label (self->title, title);
  gtk_label_set_label (self->elapsed, elapsed);
  gtk_label_set_label (self->samples, samples);
  gtk_widget_set_sensitive (GTK_WIDGET (self->pause),
                            state < FLAM_RECORDING_FINISHING);
}

static void
on_pause (FlamRecordingBar *self)
{
  if (self->recording != NULL)
    flam_recording_set_paused (self->recording,
                               gtk_toggle_button_get_active (self->pause));
}

void
flam_recording_bar_set_recording (FlamRecordingBar *self,
                                  FlamRecording *recording)
{
  g_return_if_fail (FLAM_IS_RECORDING_BAR (self));
  if (self->recording != NULL)
    g_signal_handlers_disconnect_by_func (self->recording, update, self);
  g_set_object (&self->recording, recording);
  gtk_widget_set_visible (GTK_WIDGET (self), recording != NULL);
  if (recording == NULL)
    return;
  gtk_toggle_button_set_active (self->pause, FALSE);
  g_signal_connect_object (
      recording, "changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  update (self);
}

void
flam_recording_bar_bind (FlamRecordingBar *self, FlamOutputPane *pane)
{
  g_return_if_fail (FLAM_IS_RECORDING_BAR (self));
  g_object_bind_property (
      pane, "has-content", self->output, "sensitive", G_BINDING_SYNC_CREATE);
  g_object_bind_property (pane,
                          "visible",
                          self->output,
                          "active",
                          G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
}

static void
flam_recording_bar_dispose (GObject *object)
{
  FlamRecordingBar *self = FLAM_RECORDING_BAR (object);

  g_clear_object (&self->recording);
  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_RECORDING_BAR);
  G_OBJECT_CLASS (flam_recording_bar_parent_class)->dispose (object);
}

static void
flam_recording_bar_class_init (FlamRecordingBarClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_recording_bar_dispose;
  g_type_ensure (FLAM_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-recording-bar.ui");
  gtk_widget_class_bind_template_child (class, FlamRecordingBar, title);
  gtk_widget_class_bind_template_child (class, FlamRecordingBar, elapsed);
  gtk_widget_class_bind_template_child (class, FlamRecordingBar, samples);
  gtk_widget_class_bind_template_child (class, FlamRecordingBar, pause);
  gtk_widget_class_bind_template_child (class, FlamRecordingBar, output);
}

static void
flam_recording_bar_init (FlamRecordingBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (
      self->pause, "toggled", G_CALLBACK (on_pause), self);
}
