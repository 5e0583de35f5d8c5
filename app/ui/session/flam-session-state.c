/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The state of a capture that a session stores until the capture is opened
 * again. */

#include "flam-session-private.h"

#include "flam-saved-state.h"
#include "flam-settings.h"

#define SAVE_DELAY_S 1 /* changes within this time are written together */

static gboolean
is_wanted (FlamSession *self)
{
  return self->kept_file != NULL &&
         g_settings_get_boolean (flam_settings_get (), FLAM_KEY_REMEMBER);
}

/* --- reading -------------------------------------------------------------- */

/* The other side of a comparison is not stored, and the state is incomplete
 * without it. A capture that is itself a difference is compared again. */
static gboolean
lacks_baseline (GKeyFile *kept, const FlamProfile *profile, guint measure)
{
  g_autofree char *page = g_key_file_get_string (kept, "Place", "Page", NULL);

  return (g_strcmp0 (page, "difference") == 0 ||
          g_key_file_get_boolean (kept, "Place", "Compared", NULL)) &&
         flam_transfer_find_before (profile, measure) < 0;
}

/* Restores the last state, if all of it can be restored. Missing names may come
 * later, with the symbols. */
void
flam_session_state_restore (FlamSession *self)
{
  g_autoptr (GKeyFile) kept = NULL;
  g_autoptr (FlamSelection) selection = NULL;

  if (is_wanted (self))
    kept = flam_saved_state_load (self->kept_file);
  if (kept == NULL || !g_key_file_get_boolean (kept, "Capture", "Notes", NULL))
    flam_notes_take (self->notes, self->profile);
  if (kept == NULL)
    return;
  flam_notes_read (self->notes, kept);
  selection = flam_selection_copy (self->selection);
  if (!flam_saved_state_get_selection (kept, self->profile, selection) ||
      lacks_baseline (kept, self->profile, selection->measure))
    return;
  self->selection->measure = selection->measure;
  self->restored = !flam_selection_equal (selection, self->selection);
  flam_selection_free (self->selection);
  self->selection = g_steal_pointer (&selection);
  g_clear_pointer (&self->restore, flam_step_free);
  self->restore = g_new0 (FlamStep, 1);
  self->restore->zoom = flam_saved_state_get_path (kept, "Zoom");
  self->restore->current = flam_saved_state_get_path (kept, "Current");
  self->restore->waits = TRUE;
  g_free (self->kept_page);
  self->kept_page = g_key_file_get_string (kept, "Place", "Page", NULL);
}

gboolean
flam_session_is_restored (FlamSession *self)
{
  g_return_val_if_fail (FLAM_IS_SESSION (self), FALSE);
  return self->restored;
}

/* The first page of a capture without a saved state: the summary if it only has
 * memory. */
static const char *
first_page (FlamSession *self)
{
  return self->profile->allocations.n > 0 && !flam_session_is_live (self) &&
                 !flam_profile_has_kind (self->profile, FLAM_MEASURE_CPU)
             ? "memory"
             : "graph";
}

/* Call once the pages are known. */
void
flam_session_state_restore_page (FlamSession *self)
{
  g_autofree char *page = g_steal_pointer (&self->kept_page);

  if (page != NULL)
    flam_session_set_page (self, page);
  else if (!self->begun &&
           (*self->page == '\0' || strcmp (self->page, "graph") == 0))
    flam_session_set_page (self, first_page (self));
  self->begun = TRUE;
}

/* --- writing -------------------------------------------------------------- */

static GKeyFile *
kept_of_now (FlamSession *self)
{
  GKeyFile *kept = g_key_file_new ();
  g_autoptr (FlamSelection) first = flam_session_first_selection (self);
  const FlamStep *waiting =
      self->restore != NULL && self->restore->waits ? self->restore : NULL;
  const FlamTree *tree = flam_session_get_tree (self);
  g_auto (GStrv) zoom = NULL;
  g_auto (GStrv) current = NULL;

  first->measure = flam_weights_default_measure (self->profile);
  flam_saved_state_set_selection (kept, self->profile, first, self->selection);
  if (waiting != NULL)
    {
      flam_saved_state_set_path (kept, "Zoom", waiting->zoom);
      flam_saved_state_set_path (kept, "Current", waiting->current);
    }
  else if (tree != NULL)
    {
      zoom = flam_tree_get_path (tree, self->zoom);
      current = flam_tree_get_path (tree, self->current);
      flam_saved_state_set_path (kept, "Zoom", zoom);
      flam_saved_state_set_path (kept, "Current", current);
    }
  if (*self->page != '\0' && strcmp (self->page, first_page (self)) != 0)
    g_key_file_set_string (kept, "Place", "Page", self->page);
  if (flam_baseline_get_kind (self->baseline) != FLAM_BASELINE_NONE)
    g_key_file_set_boolean (kept, "Place", "Compared", TRUE);
  flam_notes_write (G_LIST_MODEL (self->notes), kept);
  /* Notes from the capture are included, unless they were removed. */
  if (self->profile->notes.n > 0)
    g_key_file_set_boolean (kept, "Capture", "Notes", TRUE);
  return kept;
}

/* If writing fails, only this state is lost. */
static void
write_now (FlamSession *self)
{
  g_autoptr (GKeyFile) kept = NULL;
  g_auto (GStrv) groups = NULL;
  g_autoptr (GError) error = NULL;

  if (!is_wanted (self) || self->profile == NULL || self->live)
    return;
  kept = kept_of_now (self);
  groups = g_key_file_get_groups (kept, NULL);
  if (groups[0] != NULL)
    g_key_file_set_string (kept, "Capture", "Path", self->path);
  if (!flam_saved_state_save (self->kept_file, kept, &error))
    g_debug ("%s", error->message);
}

static gboolean
on_time (gpointer data)
{
  FlamSession *self = data;

  self->keep_id = 0;
  write_now (self);
  return G_SOURCE_REMOVE;
}

void
flam_session_state_queue (FlamSession *self)
{
  if (self->keep_id == 0 && self->opened && is_wanted (self))
    self->keep_id = g_timeout_add_seconds (SAVE_DELAY_S, on_time, self);
}

void
flam_session_state_flush (FlamSession *self)
{
  if (self->keep_id == 0)
    return;
  g_clear_handle_id (&self->keep_id, g_source_remove);
  write_now (self);
}

/* --- notes ---------------------------------------------------------------- */

GListStore *
flam_session_get_notes (FlamSession *self)
{
  g_return_val_if_fail (FLAM_IS_SESSION (self), NULL);
  return self->notes;
}
