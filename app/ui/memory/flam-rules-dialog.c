/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-rules-dialog.h"

#include "flam-core-picture.h"
#include "flam-list-dialog.h"
#include "flam-memory-model.h"
#include "flam-settings.h"
#include "flam-suppression-settings.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>

/* The data of one dialog, freed with it. */
typedef struct
{
  GtkWindow *parent; /* the parent of the dialog */
  FlamMemoryModel *model;
  void (*add) (GtkWindow *parent);
  FlamListDialog *dialog; /* owns this */
} Rules;

static void
rules_free (gpointer data)
{
  Rules *self = data;

  g_signal_handlers_disconnect_by_data (self->model, self);
  g_signal_handlers_disconnect_by_data (flam_settings_get (), self);
  g_object_unref (self->model);
  g_free (self);
}

/* "2 rules; they hide 24.6 kB, 1 block": `first` is the index of the file's
 * first rule among all rules in use. */
static char *
words_of (Rules *self, guint first, guint n)
{
  const FlamMemorySummary *memory = flam_memory_model_get (self->model);
  FlamSpread spread[FLAM_MEMORY_N] = { { 0 } };
  FlamAmounts hidden = { .spread = spread };
  FlamAmount *all = &hidden.part[FLAM_MEMORY_LEAKED];
  FlamEstimate estimate;
  g_autofree char *rules =
      g_strdup_printf (ngettext ("%u rule", "%u rules", n), n);
  g_autofree char *bytes = NULL;
  g_autofree char *blocks = NULL;

  if (memory == NULL || memory->rule == NULL || memory->suppressions == NULL ||
      first + n > flam_suppressions_get_n (memory->suppressions))
    return g_steal_pointer (&rules);
  for (guint i = first; i < first + n; i++)
    {
      const FlamAmounts *rule = &memory->rule[i];

      all->bytes += rule->part[FLAM_MEMORY_LEAKED].bytes;
      all->blocks += rule->part[FLAM_MEMORY_LEAKED].blocks;
      if (rule->spread != NULL)
        flam_spread_add (&spread[FLAM_MEMORY_LEAKED],
                         &rule->spread[FLAM_MEMORY_LEAKED]);
    }
  estimate = flam_amounts_estimate (memory, &hidden, FLAM_MEMORY_LEAKED, TRUE);
  bytes = flam_format_with_error (&estimate, all->bytes, FLAM_UNIT_BYTES);
  blocks = flam_value_text_part_blocks (memory, &hidden, FLAM_MEMORY_LEAKED);
  /* Translators: "2 rules; hidden: 24.6 kB, 1 block" */
  return g_strdup_printf (_ ("%s; hidden: %s, %s"), rules, bytes, blocks);
}

static void
fill (Rules *self)
{
  g_auto (GStrv) paths =
      g_settings_get_strv (flam_settings_get (), FLAM_KEY_LEAK_RULES);
  guint first = 0;

  flam_list_dialog_clear (self->dialog);
  for (guint i = 0; paths[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      guint n = 0;
      gboolean good = flam_suppression_settings_count (paths[i], &n, &error);
      g_autofree char *name = g_filename_display_basename (paths[i]);
      g_autofree char *words =
          good ? words_of (self, first, n) : g_strdup (error->message);

      first += n;
      flam_list_dialog_add_row (
          self->dialog, name, words, FALSE, _ ("Remove These Rules"));
    }
}

static void
on_remove (Rules *self, guint row)
{
  g_auto (GStrv) paths =
      g_settings_get_strv (flam_settings_get (), FLAM_KEY_LEAK_RULES);

  if (row < g_strv_length (paths))
    flam_suppression_settings_remove (paths[row]);
}

static void
on_add (Rules *self)
{
  GtkWindow *parent = self->parent;
  void (*add) (GtkWindow *) = self->add;

  flam_dialog_close (FLAM_DIALOG (self->dialog));
  add (parent);
}

void
flam_rules_dialog_present (GtkWindow *parent,
                           FlamSession *session,
                           void (*add) (GtkWindow *parent))
{
  Rules *self = g_new0 (Rules, 1);
  GtkWidget *button = gtk_button_new_with_mnemonic (_ ("_Add…"));

  self->parent = parent;
  self->add = add;
  self->model = g_object_ref (flam_memory_model_of (session));
  self->dialog =
      flam_list_dialog_new (_ ("Leak Suppressions"),
                            _ ("All leaks are counted. Add a file with "
                               "LeakSanitizer rules to leave some out."),
                            "leaks");
  g_object_set_data_full (
      G_OBJECT (self->dialog), "flam-rules", self, rules_free);
  flam_list_dialog_add_button (self->dialog, button);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (on_add), self);
  g_signal_connect_swapped (
      self->dialog, "remove", G_CALLBACK (on_remove), self);
  g_signal_connect_swapped (
      self->model, "notify::memory", G_CALLBACK (fill), self);
  g_signal_connect_swapped (flam_settings_get (),
                            "changed::" FLAM_KEY_LEAK_RULES,
                            G_CALLBACK (fill),
                            self);
  flam_memory_model_watch (self->model, GTK_WIDGET (self->dialog));
  fill (self);
  flam_dialog_present (FLAM_DIALOG (self->dialog), parent);
}
