/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A session's profile: loaded from the file, then symbolized. */

#include "flam-session-private.h"

#include "flam-cache.h"
#include "flam-core-query.h"
#include "flam-saved-state.h"
#include "flam-loader.h"
#include "flam-settings.h"

#include <glib/gi18n.h>

/* Between two pictures of a file that is being read. */
#define PART_MS 300

/* --- profiles ------------------------------------------------------------- */

/* A capture that is itself a difference is shown as one. */
static void
begin_compared (FlamSession *self)
{
  int before =
      flam_transfer_find_before (self->profile, self->selection->measure);

  if (before >= 0)
    flam_baseline_set_measure (self->baseline, (guint)before);
}

/* The user has changed nothing about the beginning of a file. */
static gboolean
is_untouched (FlamSession *self)
{
  return self->undo->len == 0 && self->zoom == 0 && self->current == 0 &&
         flam_baseline_get_kind (self->baseline) == FLAM_BASELINE_NONE;
}

/* The first pictures of a recording do not yet show what kind of program it is:
 * the initial selection follows until the user changes it. */
static void
begin_again (FlamSession *self)
{
  FlamSelection *selection;

  if (self->follow == NULL || self->undo->len > 0 ||
      flam_baseline_get_kind (self->baseline) != FLAM_BASELINE_NONE)
    return;
  self->interpreted |= flam_frames_are_interpreted (self->profile);
  selection = flam_session_first_selection (self);
  selection->measure = self->selection->measure;
  flam_selection_free (self->selection);
  self->selection = selection;
}

/* `first`: of this path, or after its beginning. */
static void
take_profile (FlamSession *self, FlamProfile *profile, gboolean first)
{
  g_autoptr (FlamProfile) before = g_steal_pointer (&self->profile);
  g_autoptr (FlamSelection) selection = g_steal_pointer (&self->selection);

  self->profile = profile;
  if (before != NULL && selection != NULL && !(first && is_untouched (self)))
    {
      self->selection =
          flam_loader_carry_selection (before, selection, profile);
      for (guint i = 0; i < self->undo->len; i++)
        {
          FlamStep *step = self->undo->pdata[i];
          g_autoptr (FlamSelection) old = step->selection;

          step->selection = flam_loader_carry_selection (before, old, profile);
        }
      flam_baseline_carry (self->baseline, before, profile);
      begin_again (self);
    }
  else
    {
      self->interpreted = flam_frames_are_interpreted (profile);
      self->selection = flam_session_first_selection (self);
      self->selection->measure = flam_weights_default_measure (profile);
    }
  if (first && !self->growing)
    flam_session_state_restore (self);
  flam_session_changed (self, FLAM_SESSION_PROP_PROFILE);
  flam_session_changed (self, FLAM_SESSION_PROP_SELECTION);
  if (first && !self->growing && profile->n_measures > 0)
    begin_compared (self);
  flam_session_state_restore_page (self);
  flam_session_draw (self);
}

static void
symbolize_done (gpointer result, const GError *error, gpointer data)
{
  FlamSession *self = data;
  g_autoptr (FlamProfile) profile = result;

  if (error != NULL)
    return;
  if (profile != self->profile)
    take_profile (self, g_steal_pointer (&profile), FALSE);
  else
    flam_session_symbolize_more (self);
}

static void
start_symbolizing (FlamSession *self)
{
  FlamSymbolDetail detail = self->stage == STAGE_SYMTAB
                                ? FLAM_SYMBOL_DETAIL_SYMTAB
                                : FLAM_SYMBOL_DETAIL_FULL;

  self->stage--;
  flam_job_start (
      self->symbolize,
      flam_loader_symbolize_work,
      flam_loader_input_new_symbols (self->profile, self->path, detail),
      flam_loader_input_free,
      (GDestroyNotify)flam_profile_unref,
      symbolize_done,
      self);
}

void
flam_session_symbolize_more (FlamSession *self)
{
  /* Inlined functions and lines of a beginning would come too late. */
  if (self->growing && self->stage != STAGE_SYMTAB)
    return;
  if (self->stage != STAGE_DONE)
    start_symbolizing (self);
  else if (!self->live && !flam_job_is_busy (self->symbolize))
    g_signal_emit_by_name (self, "symbolized");
}

void
flam_session_symbolize_again (FlamSession *self)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->profile == NULL || self->live || !self->opened ||
      !flam_loader_needs_symbols (self->profile))
    return;
  self->stage = STAGE_SYMTAB;
  start_symbolizing (self);
}

static void
download_done (gpointer result, const GError *error, gpointer data)
{
  FlamSession *self = data;
  g_autoptr (FlamProfile) profile = result;

  if (profile != NULL && profile != self->profile)
    take_profile (self, g_steal_pointer (&profile), FALSE);
  g_signal_emit_by_name (self, "downloaded");
}

void
flam_session_download (FlamSession *self, const FlamModuleId *modules, guint n)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  g_return_if_fail (self->profile != NULL);
  flam_job_start (
      self->download,
      flam_loader_symbolize_work,
      flam_loader_input_new_download (self->profile, self->path, modules, n),
      flam_loader_input_free,
      (GDestroyNotify)flam_profile_unref,
      download_done,
      self);
}

static void
keep_done (gpointer result, const GError *error, gpointer data)
{
  g_clear_pointer ((FlamProfile **)&result, flam_profile_unref);
}

/* A capture that was slow to read and was not in the cache is put there. */
static void
keep_profile (FlamSession *self, const FlamProfile *profile)
{
  if (self->cache_file == NULL ||
      !g_settings_get_boolean (flam_settings_get (), FLAM_KEY_REMEMBER) ||
      g_get_monotonic_time () - self->load_began < FLAM_CACHE_WORTH ||
      g_file_test (self->cache_file, G_FILE_TEST_EXISTS))
    return;
  flam_job_start (self->keep,
                  flam_loader_keep_work,
                  flam_loader_input_new_keep (
                      profile, self->path, self->weights_as, self->cache_file),
                  flam_loader_input_free,
                  (GDestroyNotify)flam_profile_unref,
                  keep_done,
                  self);
}

/* `first`: of this path, or after its beginning. */
static void
show_profile (FlamSession *self, FlamProfile *profile, gboolean first)
{
  flam_job_cancel (self->symbolize);
  if (!self->live)
    {
      flam_source_names_unref (self->source_names);
      self->source_names = flam_source_names_new ();
    }
  self->stage = !self->live && flam_loader_needs_symbols (profile)
                    ? STAGE_SYMTAB
                    : STAGE_DONE;
  take_profile (self, profile, first);
}

/* --- the beginning of a large file ---------------------------------------- */

static void
drop_part (FlamSession *self)
{
  g_clear_handle_id (&self->part_id, g_source_remove);
  g_clear_pointer (&self->part, flam_profile_unref);
}

static gboolean
on_part_time (gpointer data)
{
  FlamSession *self = data;

  if (flam_job_is_busy (self->draw))
    return G_SOURCE_CONTINUE;
  if (self->part != NULL)
    {
      show_profile (self, g_steal_pointer (&self->part), TRUE);
      return G_SOURCE_CONTINUE;
    }
  self->part_id = 0;
  return G_SOURCE_REMOVE;
}

/* The first one is shown at once. A longer one waits for the picture of the one
 * before it, which it would cancel otherwise. */
static void
take_part (FlamSession *self, FlamProfile *part)
{
  self->growing = TRUE;
  if (self->part_id == 0)
    {
      self->part_id = g_timeout_add (PART_MS, on_part_time, self);
      show_profile (self, part, TRUE);
      return;
    }
  g_clear_pointer (&self->part, flam_profile_unref);
  self->part = part;
}

/* No more of the file comes: its beginning is the capture. */
static void
stop_growing (FlamSession *self)
{
  g_autoptr (FlamProfile) part = g_steal_pointer (&self->part);

  drop_part (self);
  self->growing = FALSE;
  if (part != NULL)
    {
      show_profile (self, g_steal_pointer (&part), FALSE);
      return;
    }
  flam_session_changed (self, FLAM_SESSION_PROP_PROFILE);
  flam_session_draw (self);
}

/* A recording that has begun, but has nothing to show yet. */
static gboolean
is_empty (const FlamProfile *profile)
{
  return profile->samples.n == 0 && profile->allocations.n == 0;
}

static void
load_done (gpointer result, const GError *error, gpointer data)
{
  FlamSession *self = data;
  gboolean first = self->profile == NULL || self->growing;

  if (error != NULL)
    {
      if (!self->live)
        flam_session_fail (self, error);
      if (self->growing)
        stop_growing (self);
      return;
    }
  if (self->live && first && is_empty (result))
    {
      flam_profile_unref (result);
      return;
    }
  if (flam_job_is_busy (self->load))
    {
      take_part (self, result);
      return;
    }
  drop_part (self);
  self->growing = FALSE;
  if (!self->live)
    {
      g_free (self->kept_file);
      self->kept_file = flam_saved_state_file (self->path);
      keep_profile (self, result);
    }
  show_profile (self, result, first);
}

/* --- the file --------------------------------------------------------------
 */

static gpointer
input_of_file (FlamSession *self)
{
  gpointer input = flam_loader_input_new (self->path, self->weights_as);
  g_autofree char *kept = flam_saved_state_file (self->path);

  /* The last selection may lie beyond the beginning. */
  if (self->profile == NULL &&
      (kept == NULL || !g_file_test (kept, G_FILE_TEST_EXISTS)))
    flam_loader_input_show_begun (input);
  return input;
}

static void
load (FlamSession *self)
{
  g_free (self->cache_file);
  self->cache_file =
      self->live ? NULL : flam_loader_cache_file (self->path, self->weights_as);
  self->load_began = g_get_monotonic_time ();
  drop_part (self);
  self->growing = FALSE;
  flam_job_cancel (self->symbolize);
  flam_job_cancel (self->download);
  flam_job_start (self->load,
                  flam_loader_load_work,
                  self->live ? flam_loader_input_new_live (self->follow)
                             : input_of_file (self),
                  flam_loader_input_free,
                  (GDestroyNotify)flam_profile_unref,
                  load_done,
                  self);
}

void
flam_session_forget (FlamSession *self)
{
  flam_session_state_flush (self);
  g_clear_pointer (&self->kept_file, g_free);
  g_list_store_remove_all (self->notes);
  flam_baseline_leave (self->baseline);
  flam_job_cancel (self->load);
  drop_part (self);
  flam_job_cancel (self->keep);
  flam_job_cancel (self->symbolize);
  flam_job_cancel (self->download);
  flam_job_cancel (self->draw);
  g_clear_pointer (&self->view_data, flam_view_data_unref);
  g_clear_pointer (&self->profile, flam_profile_unref);
  g_clear_pointer (&self->follow, flam_follow_unref);
  g_clear_pointer (&self->selection, flam_selection_free);
  g_clear_pointer (&self->restore, flam_step_free);
  g_ptr_array_set_size (self->undo, 0);
  self->zoom = 0;
  self->current = 0;
  self->line = 0;
  self->whole = FALSE;
  self->merged = 0;
  g_clear_pointer (&self->of, flam_view_data_unref);
  self->opened = FALSE;
  self->growing = FALSE;
  self->by_name = FALSE;
  self->restored = FALSE;
  self->stage = STAGE_DONE;
}

void
flam_session_open (FlamSession *self, const char *path)
{
  g_autofree char *copy = g_strdup (path);

  g_return_if_fail (FLAM_IS_SESSION (self));
  flam_session_forget (self);
  g_free (self->path);
  g_free (self->title);
  self->path = g_steal_pointer (&copy);
  self->title = g_filename_display_basename (self->path);
  self->weights_as = FLAM_WEIGHTS_GUESS;
  self->live = FALSE;
  flam_session_changed (self, FLAM_SESSION_PROP_PROFILE);
  flam_session_changed (self, FLAM_SESSION_PROP_VIEW_DATA);
  load (self);
}

void
flam_session_reload (FlamSession *self, gboolean live)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  g_return_if_fail (live ? self->follow != NULL : self->path != NULL);
  if (live && (flam_job_is_busy (self->load) || flam_job_is_busy (self->draw)))
    return;
  self->live = live;
  load (self);
}

FlamWeightsAs
flam_session_get_weights_as (FlamSession *self)
{
  g_return_val_if_fail (FLAM_IS_SESSION (self), FLAM_WEIGHTS_GUESS);
  return self->weights_as;
}

void
flam_session_set_weights_as (FlamSession *self, FlamWeightsAs weights_as)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  if (self->path == NULL || self->weights_as == weights_as)
    return;
  self->weights_as = weights_as;
  flam_session_reload (self, FALSE);
}

void
flam_session_follow (FlamSession *self, const char *path, const char *title)
{
  g_return_if_fail (FLAM_IS_SESSION (self));
  flam_session_forget (self);
  g_free (self->path);
  g_free (self->title);
  self->path = g_strdup (path);
  self->title = g_strdup (title);
  self->follow = flam_follow_new (path);
  self->live = TRUE;
  self->by_name = TRUE;
  flam_session_changed (self, FLAM_SESSION_PROP_PROFILE);
  flam_session_changed (self, FLAM_SESSION_PROP_VIEW_DATA);
}

void
flam_session_cancel (FlamSession *self)
{
  gboolean had_nothing = !self->opened;
  g_autoptr (GError) error = NULL;

  g_return_if_fail (FLAM_IS_SESSION (self));
  flam_job_cancel (self->load);
  flam_job_cancel (self->symbolize);
  flam_job_cancel (self->draw);
  if (self->growing)
    {
      stop_growing (self);
      return;
    }
  if (!had_nothing || self->live)
    return;
  error = g_error_new (FLAM_ERROR, FLAM_ERROR_CANCELLED, _ ("Cancelled"));
  flam_session_fail (self, error);
}
