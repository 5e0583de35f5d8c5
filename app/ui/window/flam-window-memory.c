/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-window-memory.h"

#include "flam-growth-dialog.h"
#include "flam-memory-model.h"
#include "flam-rules-dialog.h"
#include "flam-settings.h"
#include "flam-suppression-settings.h"
#include "flam-window.h"

#include <glib/gi18n.h>

static FlamSession *
session_of (gpointer window)
{
  return flam_tab_get_session (flam_window_get_tab (window));
}

static gboolean
has_blocks (FlamSession *session)
{
  const FlamProfile *profile = flam_session_get_profile (session);

  return profile != NULL && profile->allocations.n > 0;
}

/* --- the peak and the leaks ------------------------------------------------
 */

static void
show_measure (FlamSession *session, FlamMeasureSource source)
{
  int measure = has_blocks (session)
                    ? flam_profile_find_source (
                          flam_session_get_profile (session), source)
                    : -1;

  if (measure >= 0)
    flam_session_set_measure (session, (guint)measure);
}

static void
on_show_peak (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  show_measure (session_of (window), FLAM_FROM_PEAK);
}

static void
on_show_leaks (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  show_measure (session_of (window), FLAM_FROM_LEAKED);
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
  int measure = flam_profile_find_source (flam_session_get_profile (session),
                                          FLAM_FROM_LEAKED);

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
on_rules_chosen (GtkNativeDialog *dialog, int response, gpointer window)
{
  g_autoptr (GFile) file = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  if (file != NULL)
    path = g_file_get_path (file);
  if (path != NULL && !flam_suppression_settings_add (path, &error))
    flam_window_toast (window, error->message);
  g_object_unref (dialog);
}

static void
choose_rules (GtkWindow *window)
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

/* The files in use; if there are none, opens a chooser for one. */
static void
on_suppressions (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  g_auto (GStrv) paths =
      g_settings_get_strv (flam_settings_get (), FLAM_KEY_LEAK_RULES);

  if (paths[0] != NULL)
    flam_rules_dialog_present (window, session_of (window), choose_rules);
  else
    choose_rules (window);
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
        flam_session_set_weights_as (session_of (window), i);
        flam_window_memory_update (window);
      }
}

/* --- the actions ---------------------------------------------------------- */

static const GActionEntry entries[] = {
  { "show-peak", on_show_peak },
  { "show-leaks", on_show_leaks },
  { "growth", on_growth },
  { "suppressions", on_suppressions },
};

static const GActionEntry weights_entry = {
  "weights", NULL, "s", "'guess'", on_weights
};

static GSimpleAction *
action_of (FlamWindow *window, const GActionEntry *entry)
{
  return G_SIMPLE_ACTION (
      g_action_map_lookup_action (G_ACTION_MAP (window), entry->name));
}

void
flam_window_memory_update (FlamWindow *window)
{
  FlamSession *session = session_of (window);
  FlamWeightsAs weights = flam_session_get_weights_as (session);

  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    g_simple_action_set_enabled (action_of (window, &entries[i]),
                                 has_blocks (session));
  g_simple_action_set_enabled (action_of (window, &weights_entry),
                               is_folded (session));
  g_simple_action_set_state (action_of (window, &weights_entry),
                             g_variant_new_string (weight_words[weights]));
}

void
flam_window_memory_install (FlamWindow *window)
{
  /* Check marks in the menu; every session follows the settings by itself. */
  static const char *const settings[] = {
    FLAM_KEY_SHAPE,      FLAM_KEY_DIRECTION, FLAM_KEY_COLORS,
    FLAM_KEY_IRRELEVANT, FLAM_KEY_IMPORTS,   FLAM_KEY_SOURCE_SHOWN,
  };
  GActionMap *map = G_ACTION_MAP (window);

  g_action_map_add_action_entries (
      map, entries, G_N_ELEMENTS (entries), window);
  g_action_map_add_action_entries (map, &weights_entry, 1, window);
  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autoptr (GAction) action =
          g_settings_create_action (flam_settings_get (), settings[i]);

      g_action_map_add_action (map, action);
    }
}
