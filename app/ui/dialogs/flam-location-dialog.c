/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-location-dialog.h"

#include "flam-application.h"
#include "flam-fetch.h"
#include "flam-field-row.h"
#include "flam-job.h"
#include "flam-list-dialog.h"
#include "flam-push.h"
#include "flam-settings.h"
#include "flam-view-data.h"
#include "flam-window.h"

#include <glib/gi18n.h>

#define HISTORY_MAX 12

/* What an address is for: a capture comes from there, or goes there. */
typedef struct
{
  const char *title, *none, *button;
  const char *key; /* of the latest addresses */
  FlamJobWork work;
  FlamJobDone done;
  FlamJobWork history; /* of a ClickHouse; NULL: there is none */
} Purpose;

/* The data of one dialog, freed with it. */
typedef struct
{
  const Purpose *purpose;
  FlamSession *session; /* to send; NULL: to open */
  FlamJob *job;
  GtkWindow *parent; /* not referenced: the dialog is above it */

  FlamListDialog *dialog; /* owns this */
  AdwEntryRow *address;
  AdwPasswordEntryRow *token;
  GtkSwitch *keep;
  GtkLabel *says;
  GtkSpinner *spinner;
  GtkWidget *open;
  GtkWidget *history; /* NULL: no such button */
} Locations;

typedef struct
{
  char *text;
  char *token; /* "": from the environment or the keyring */
  gboolean keep;
  FlamViewData *view_data; /* to send, and the path of its capture */
  char *path;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  g_clear_pointer (&input->view_data, flam_view_data_unref);
  g_free (input->path);
  g_free (input->text);
  g_free (input->token);
  g_free (input);
}

static FlamServerOptions
options_of (const Input *input, const FlamProgress *progress)
{
  return (FlamServerOptions){
    .token = *input->token != '\0' ? input->token : NULL,
    .progress = progress,
    .asks_token = TRUE,
  };
}

/* After the server has accepted it. */
static gboolean
keep_token (const Input *input, const FlamLocation *location, GError **error)
{
  return !input->keep || *input->token == '\0' ||
         flam_server_keep_token (location, input->token, error);
}

static gpointer
fetch_by (const Input *input,
          char *(*save) (const FlamLocation *location,
                         const FlamServerOptions *options,
                         GError **error),
          const FlamProgress *progress,
          GError **error)
{
  g_autoptr (FlamLocation) location = flam_location_new (input->text, error);
  const FlamServerOptions options = options_of (input, progress);
  g_autofree char *path = NULL;

  if (location == NULL)
    return NULL;
  path = save (location, &options, error);
  if (path == NULL || !keep_token (input, location, error))
    return NULL;
  return g_steal_pointer (&path);
}

/* On the worker. The path of a file with the capture. */
static gpointer
fetch (gpointer data, const FlamProgress *progress, GError **error)
{
  return fetch_by (data, flam_fetch_file, progress, error);
}

/* The same with the runs of a ClickHouse. */
static gpointer
fetch_history (gpointer data, const FlamProgress *progress, GError **error)
{
  return fetch_by (data, flam_fetch_history, progress, error);
}

/* On the worker. The sentence that tells that it was sent. */
static gpointer
push (gpointer data, const FlamProgress *progress, GError **error)
{
  const Input *input = data;
  g_autoptr (FlamLocation) location = flam_location_new (input->text, error);
  g_autoptr (FlamSelection) selection =
      flam_selection_copy (input->view_data->selection);
  const FlamServerOptions options = options_of (input, progress);
  g_autofree char *note = NULL;

  /* From the callees up is a way to show a capture, and not part of it. */
  selection->invert = FALSE;
  if (location == NULL ||
      !flam_push (location,
                  input->view_data->profile,
                  selection,
                  input->path,
                  &options,
                  &note,
                  error) ||
      !keep_token (input, location, error))
    return NULL;
  return note != NULL
             ? g_strdup_printf (_ ("Sent to %s: %s"), location->server, note)
             : g_strdup_printf (_ ("Sent to %s"), location->server);
}

static void
locations_free (gpointer data)
{
  Locations *self = data;

  flam_job_cancel (self->job);
  g_object_unref (self->job);
  g_clear_object (&self->session);
  g_free (self);
}

static const char *
text_of (gpointer editable)
{
  return gtk_editable_get_text (GTK_EDITABLE (editable));
}

static gboolean
is_clickhouse (Locations *self)
{
  g_autofree char *text = g_strstrip (g_strdup (text_of (self->address)));
  g_autoptr (FlamLocation) location =
      flam_location_is (text) ? flam_location_new (text, NULL) : NULL;

  return location != NULL && location->kind == FLAM_LOCATION_CLICKHOUSE;
}

static void
update (Locations *self)
{
  gboolean busy = flam_job_is_busy (self->job);

  gtk_widget_set_visible (GTK_WIDGET (self->spinner), busy);
  gtk_spinner_set_spinning (self->spinner, busy);
  gtk_widget_set_sensitive (
      self->open, !busy && flam_location_is (text_of (self->address)));
  if (self->history != NULL)
    {
      gtk_widget_set_visible (self->history, is_clickhouse (self));
      gtk_widget_set_sensitive (self->history, !busy);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->says),
                          *gtk_label_get_label (self->says) != '\0');
}

static void
refuse (Locations *self, const GError *error)
{
  g_autofree char *shown = flam_message_sentence (error->message);

  gtk_label_set_label (self->says, shown);
  gtk_widget_add_css_class (GTK_WIDGET (self->says), "error");
  update (self);
}

static void
fetched (gpointer result, const GError *error, gpointer data)
{
  Locations *self = data;
  g_autofree char *path = result;
  g_autoptr (GFile) file = NULL;

  if (path == NULL)
    {
      refuse (self, error);
      return;
    }
  file = g_file_new_for_path (path);
  flam_application_open_file (
      FLAM_APPLICATION (g_application_get_default ()), self->parent, file);
  flam_dialog_close (FLAM_DIALOG (self->dialog));
}

static void
pushed (gpointer result, const GError *error, gpointer data)
{
  Locations *self = data;
  g_autofree char *sentence = result;

  if (sentence == NULL)
    {
      refuse (self, error);
      return;
    }
  flam_window_toast (FLAM_WINDOW (self->parent), sentence);
  flam_dialog_close (FLAM_DIALOG (self->dialog));
}

static const Purpose to_open = {
  N_ ("Open Location"),
  N_ ("For example\nhttp://localhost:6060/debug/pprof/profile?seconds=10\n"
      "pyroscope+https://HOST/?service=NAME&from=-1h\n"
      "parca+http://HOST:7070/?service=NAME&from=-1h\n"
      "clickhouse://USER@HOST:8123/DB?service=NAME"),
  N_ ("_Open"),
  FLAM_KEY_LOCATIONS,
  fetch,
  fetched,
  fetch_history,
};

static const Purpose to_send = {
  N_ ("Send to a Server"),
  N_ ("The selected part of the capture is sent, with the names of its "
      "functions, files and host; for example to\n"
      "pyroscope+https://HOST/?service=NAME\n"
      "otlp+http://HOST:4318/?service=NAME\n"
      "clickhouse://USER@HOST:8123/DB?service=NAME&commit=COMMIT"),
  N_ ("_Send"),
  FLAM_KEY_DESTINATIONS,
  push,
  pushed,
  NULL,
};

/* An address that is wrong is refused by the job. */
static void
show_wait (Locations *self, const FlamLocation *location)
{
  guint seconds =
      location != NULL && self->session == NULL ? location->seconds : 0;
  g_autofree char *text = NULL;

  if (seconds > 0)
    text = g_strdup_printf (ngettext ("The server records for %u second.",
                                      "The server records for %u seconds.",
                                      seconds),
                            seconds);
  gtk_widget_remove_css_class (GTK_WIDGET (self->says), "error");
  gtk_label_set_label (self->says,
                       text != NULL ? text : _ ("Waiting for the server."));
}

static void
begin (Locations *self, FlamJobWork work)
{
  g_autoptr (FlamLocation) location = NULL;
  Input *input;

  input = g_new0 (Input, 1);
  input->text = g_strstrip (g_strdup (text_of (self->address)));
  input->token = g_strstrip (g_strdup (text_of (self->token)));
  input->keep = gtk_switch_get_active (self->keep);
  location = flam_location_new (input->text, NULL);
  if (location != NULL &&
      g_settings_get_boolean (flam_settings_get (), FLAM_KEY_REMEMBER))
    flam_settings_push_string (self->purpose->key, location->text, HISTORY_MAX);
  if (self->session != NULL)
    {
      input->view_data =
          flam_view_data_ref (flam_session_get_view_data (self->session));
      input->path = g_strdup (flam_session_get_path (self->session));
    }
  show_wait (self, location);
  flam_job_start (
      self->job, work, input, input_free, g_free, self->purpose->done, self);
  update (self);
}

static void
on_open (Locations *self)
{
  if (gtk_widget_get_sensitive (self->open))
    begin (self, self->purpose->work);
}

static void
on_history (Locations *self)
{
  begin (self, self->purpose->history);
}

/* --- the latest ----------------------------------------------------------- */

static void
fill (Locations *self)
{
  g_auto (GStrv) latest =
      g_settings_get_strv (flam_settings_get (), self->purpose->key);

  flam_list_dialog_clear (self->dialog);
  for (guint i = 0; latest[i] != NULL; i++)
    flam_list_dialog_add_row (
        self->dialog, latest[i], "", TRUE, _ ("Remove This Address"));
}

static void
on_go (Locations *self, guint row)
{
  g_auto (GStrv) latest =
      g_settings_get_strv (flam_settings_get (), self->purpose->key);

  if (row < g_strv_length (latest))
    gtk_editable_set_text (GTK_EDITABLE (self->address), latest[row]);
  gtk_widget_grab_focus (GTK_WIDGET (self->address));
}

static void
on_remove (Locations *self, guint row)
{
  g_auto (GStrv) latest =
      g_settings_get_strv (flam_settings_get (), self->purpose->key);
  g_autoptr (GStrvBuilder) rest = g_strv_builder_new ();
  g_auto (GStrv) kept = NULL;

  for (guint i = 0; latest[i] != NULL; i++)
    if (i != row)
      g_strv_builder_add (rest, latest[i]);
  kept = g_strv_builder_end (rest);
  g_settings_set_strv (
      flam_settings_get (), self->purpose->key, (const char *const *)kept);
  fill (self);
}

/* --- the dialog ----------------------------------------------------------- */

static GtkWidget *
keep_row (Locations *self)
{
  GtkWidget *row = adw_action_row_new ();

  self->keep = GTK_SWITCH (gtk_switch_new ());
  gtk_widget_set_valign (GTK_WIDGET (self->keep), GTK_ALIGN_CENTER);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row),
                                 _ ("Keep the Token in the Keyring"));
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), GTK_WIDGET (self->keep));
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row),
                                         GTK_WIDGET (self->keep));
  return row;
}

static GtkWidget *
top_of (Locations *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  GtkWidget *list = gtk_list_box_new ();

  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  self->address = ADW_ENTRY_ROW (adw_entry_row_new ());
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->address),
                                 _ ("Address"));
  self->token = ADW_PASSWORD_ENTRY_ROW (adw_password_entry_row_new ());
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->token),
                                 _ ("Token, If the Server Needs One"));
  flam_field_row_describe (self->address);
  flam_field_row_describe (self->token);
  gtk_list_box_append (GTK_LIST_BOX (list), GTK_WIDGET (self->address));
  gtk_list_box_append (GTK_LIST_BOX (list), GTK_WIDGET (self->token));
  gtk_list_box_append (GTK_LIST_BOX (list), keep_row (self));
  self->says = GTK_LABEL (gtk_label_new (""));
  gtk_label_set_wrap (self->says, TRUE);
  gtk_label_set_wrap_mode (self->says, PANGO_WRAP_WORD_CHAR);
  gtk_label_set_xalign (self->says, 0);
  gtk_label_set_selectable (self->says, TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->says), "error");
  gtk_box_append (GTK_BOX (box), list);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->says));
  g_signal_connect_swapped (
      self->address, "entry-activated", G_CALLBACK (on_open), self);
  g_signal_connect_swapped (
      self->token, "entry-activated", G_CALLBACK (on_open), self);
  g_signal_connect_swapped (
      self->address, "changed", G_CALLBACK (update), self);
  return box;
}

static void
add_buttons (Locations *self)
{
  self->open = gtk_button_new_with_mnemonic (_ (self->purpose->button));
  gtk_widget_add_css_class (self->open, "suggested-action");
  self->spinner = GTK_SPINNER (gtk_spinner_new ());
  flam_list_dialog_add_button (self->dialog, self->open);
  if (self->purpose->history != NULL)
    {
      self->history = gtk_button_new_with_mnemonic (_ ("_History"));
      gtk_widget_set_tooltip_text (self->history,
                                   _ ("Shows the runs one by one, over time"));
      flam_list_dialog_add_button (self->dialog, self->history);
      g_signal_connect_swapped (
          self->history, "clicked", G_CALLBACK (on_history), self);
    }
  flam_list_dialog_add_button (self->dialog, GTK_WIDGET (self->spinner));
  g_signal_connect_swapped (self->open, "clicked", G_CALLBACK (on_open), self);
}

static void
present (GtkWindow *parent, FlamSession *session, const Purpose *purpose)
{
  Locations *self = g_new0 (Locations, 1);

  self->purpose = purpose;
  self->session = session != NULL ? g_object_ref (session) : NULL;
  self->job = flam_job_new ();
  self->parent = parent;
  self->dialog =
      flam_list_dialog_new (_ (purpose->title), _ (purpose->none), "servers");
  g_object_set_data_full (
      G_OBJECT (self->dialog), "flam-locations", self, locations_free);
  flam_list_dialog_add_top (self->dialog, top_of (self));
  add_buttons (self);
  flam_dialog_set_focus (FLAM_DIALOG (self->dialog),
                         GTK_WIDGET (self->address));
  g_signal_connect_swapped (self->dialog, "go", G_CALLBACK (on_go), self);
  g_signal_connect_swapped (
      self->dialog, "remove", G_CALLBACK (on_remove), self);
  fill (self);
  update (self);
  flam_dialog_present (FLAM_DIALOG (self->dialog), parent);
}

void
flam_location_dialog_present (GtkWindow *parent)
{
  present (parent, NULL, &to_open);
}

void
flam_location_dialog_present_to_send (GtkWindow *parent, FlamSession *session)
{
  present (parent, session, &to_send);
}
