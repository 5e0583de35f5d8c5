/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-window-memory.h"

#include "flam-growth-dialog.h"
#include "flam-leak-rules.h"
#include "flam-memory-model.h"
#include "flam-settings.h"
#include "flam-window.h"

#include <glib/gi18n.h>

static FlamSession *
session_of (gpointer window)
{
  return g_object_get_data (G_OBJECT (window), "flam-session");
}

static gboolean
has_blocks (FlamSession *session)
{
  const FlamProfile *profile = flam_session_get_profile (session);

  return profile != NULL && profile->allocations.n > 0;
}

static int
find_source (const FlamProfile *profile, FlamMeasureSource source)
{
  for (guint i = 0; i < profile->n_measures; i++)
    if (profile->measures[i].source == source)
      return (int)i;
  return -1;
}

/* --- the peak ------------------------------------------------------------- */

static void
on_show_peak (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  FlamSession *session = session_of (window);
  int measure =
      has_blocks (session)
          ? find_source (flam_session_get_profile (session), FLAM_FROM_PEAK)
          : -1;

  if (measure >= 0)
    flam_session_set_measure (session, (guint)measure);
}

/* --- growth --------------------------------------------------------------- */

static void
on_growth_chosen (FlamGrowthDialog *dialog,
                  gint64 from,
                  gint64 to,
                  FlamSession *session)
{
  FlamSelection *selection =
      flam_selection_copy (flam_session_get_selection (session));
  int measure =
      find_source (flam_session_get_profile (session), FLAM_FROM_LEAKED);

  if (measure >= 0)
    selection->measure = (guint)measure;
  selection->from = from;
  selection->to = to;
  flam_session_select (session, selection);
}

static void
on_growth (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  FlamSession *session = session_of (window);
  FlamGrowthDialog *dialog;

  if (!has_blocks (session))
    return;
  dialog = flam_growth_dialog_new (session);
  g_signal_connect_object (
      dialog, "chosen", G_CALLBACK (on_growth_chosen), session, 0);
  flam_growth_dialog_present (dialog, GTK_WINDOW (window));
}

/* --- suppressions --------------------------------------------------------- */

static void
say (gpointer window, const GError *error)
{
  flam_window_toast (FLAM_WINDOW (window), error->message);
}

static void
apply_rules (FlamSession *session)
{
  FlamSelection *selection;

  if (flam_session_get_selection (session) == NULL)
    return;
  selection = flam_selection_copy (flam_session_get_selection (session));
  flam_leak_rules_apply (selection, NULL);
  flam_session_select (session, selection);
}

/* A file that was chosen once may be gone. */
static void
check_rules (FlamSession *session, gpointer window)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GError) error = NULL;

  if (has_blocks (session) && !flam_leak_rules_apply (selection, &error))
    say (window, error);
}

static void
on_rules_chosen (GtkNativeDialog *dialog, int response, gpointer window)
{
  g_autoptr (GFile) file = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  if (file != NULL)
    path = g_file_get_path (file);
  if (path != NULL && !flam_leak_rules_add (path, &error))
    say (window, error);
  else if (path != NULL)
    apply_rules (session_of (window));
  g_object_unref (dialog);
}

static void
on_suppressions (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (_ ("Leak Suppressions"),
                                   window,
                                   GTK_FILE_CHOOSER_ACTION_OPEN,
                                   _ ("_Open"),
                                   NULL);

  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_signal_connect_object (
      dialog, "response", G_CALLBACK (on_rules_chosen), window, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

/* --- weights of a text ---------------------------------------------------- */

static const char *const weight_words[FLAM_N_WEIGHTS] = {
  [FLAM_WEIGHTS_GUESS] = "guess",   [FLAM_WEIGHTS_SAMPLES] = "samples",
  [FLAM_WEIGHTS_TIME] = "time",     [FLAM_WEIGHTS_BYTES] = "bytes",
  [FLAM_WEIGHTS_FAULTS] = "faults",
};

static gboolean
is_folded (FlamSession *session)
{
  const FlamProfile *profile = flam_session_get_profile (session);

  return profile != NULL && strcmp (profile->facts.format, "folded") == 0;
}

static void
on_weights (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  const char *word = g_variant_get_string (parameter, NULL);

  for (guint i = 0; i < FLAM_N_WEIGHTS; i++)
    if (strcmp (word, weight_words[i]) == 0)
      {
        g_simple_action_set_state (action, parameter);
        flam_session_set_weights_as (session_of (window), i);
      }
}

/* --- frames --------------------------------------------------------------- */

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

/* A check mark in the menu. */
static void
add_setting (GActionMap *map, const char *key)
{
  g_autoptr (GAction) action =
      g_settings_create_action (flam_settings_get (), key);

  g_action_map_add_action (map, action);
}

static void
follow_frames (GActionMap *map,
               FlamSession *session,
               const char *key,
               const char *changed)
{
  add_setting (map, key);
  g_signal_connect_object (flam_settings_get (),
                           changed,
                           G_CALLBACK (on_frames_setting),
                           session,
                           0);
}

/* --- the actions ---------------------------------------------------------- */

static const GActionEntry entries[] = {
  { "show-peak", on_show_peak },
  { "growth", on_growth },
  { "suppressions", on_suppressions },
};

static const GActionEntry weights_entry = {
  "weights", NULL, "s", "'guess'", on_weights
};

static void
update_enabled (FlamSession *session, GParamSpec *pspec, GActionMap *map)
{
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    g_simple_action_set_enabled (
        G_SIMPLE_ACTION (g_action_map_lookup_action (map, entries[i].name)),
        has_blocks (session));
  g_simple_action_set_enabled (
      G_SIMPLE_ACTION (g_action_map_lookup_action (map, weights_entry.name)),
      is_folded (session));
  if (flam_session_get_profile (session) == NULL)
    g_simple_action_set_state (
        G_SIMPLE_ACTION (g_action_map_lookup_action (map, weights_entry.name)),
        g_variant_new_string (weight_words[FLAM_WEIGHTS_GUESS]));
}

void
flam_window_memory_install (GtkApplicationWindow *window, FlamSession *session)
{
  GActionMap *map = G_ACTION_MAP (window);

  g_object_set_data (G_OBJECT (window), "flam-session", session);
  g_action_map_add_action_entries (
      map, entries, G_N_ELEMENTS (entries), window);
  g_action_map_add_action_entries (map, &weights_entry, 1, window);
  follow_frames (
      map, session, FLAM_KEY_IRRELEVANT, "changed::" FLAM_KEY_IRRELEVANT);
  add_setting (map, FLAM_KEY_SOURCE_SHOWN);
  follow_frames (map, session, FLAM_KEY_IMPORTS, "changed::" FLAM_KEY_IMPORTS);
  g_signal_connect_object (flam_settings_get (),
                           "changed::" FLAM_KEY_LEAK_RULES,
                           G_CALLBACK (apply_rules),
                           session,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (
      session, "opened", G_CALLBACK (check_rules), window, 0);
  g_signal_connect_object (
      session, "notify::profile", G_CALLBACK (update_enabled), window, 0);
  update_enabled (session, NULL, map);
}
