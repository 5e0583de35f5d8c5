/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-baseline-lines.h"

#include "flam-core-profile.h"

#include <string.h>

/* Unlike weights, a tree leaves out what transforms drop. */
static gboolean
find_factor (FlamBaselineLines *self,
             const FlamBaselineCopy *base_copy,
             const FlamViewData *view_data,
             const FlamProgress *progress,
             GError **error)
{
  FlamBaselineSide base = {
    0, flam_selection_get_length (self->selection, self->profile)
  };
  FlamBaselineSide fresh = {
    flam_view_data_get_total (view_data),
    flam_selection_get_length (view_data->selection, view_data->profile),
  };

  if (base_copy->scale == FLAM_SCALE_SHARES)
    {
      g_autoptr (FlamTree) tree = flam_tree_new (
          self->weights, self->selection, FLAM_ORDER_TOTAL, progress, error);

      if (tree == NULL)
        return FALSE;
      base.total = tree->total[0];
    }
  self->factor = flam_baseline_copy_factor (base_copy->scale, &base, &fresh);
  return TRUE;
}

/* Scales both sides to the same number of decimals. */
static gboolean
rescale (FlamBaselineLines *self,
         FlamViewData *view_data,
         const FlamProgress *progress,
         GError **error)
{
  g_autoptr (FlamProfile) is = flam_profile_ref (view_data->profile);

  if (!flam_rescale_both (&self->profile,
                          self->selection->measure,
                          &is,
                          view_data->selection->measure,
                          error))
    return FALSE;
  self->fresh = is == view_data->profile
                    ? flam_view_data_ref (view_data)
                    : flam_view_data_new (is,
                                          view_data->selection,
                                          FLAM_ORDER_TOTAL,
                                          NULL,
                                          progress,
                                          error);
  return self->fresh != NULL;
}

FlamBaselineLines *
flam_baseline_lines_new (const FlamBaselineCopy *base_copy,
                         FlamViewData *view_data,
                         const FlamProgress *progress,
                         GError **error)
{
  g_autoptr (FlamBaselineLines) self = g_atomic_rc_box_new0 (FlamBaselineLines);
  guint without;

  self->profile = flam_profile_ref (
      flam_baseline_copy_profile (base_copy, view_data->profile));
  self->self = base_copy->self;
  self->selection = flam_baseline_copy_select (
      base_copy, view_data->profile, view_data->selection, &without);
  if (self->selection == NULL || !rescale (self, view_data, progress, error))
    return NULL;
  self->weights =
      flam_weights_new (self->profile, self->selection, progress, error);
  if (self->weights == NULL ||
      !find_factor (self, base_copy, self->fresh, progress, error))
    return NULL;
  return g_steal_pointer (&self);
}

FlamBaselineLines *
flam_baseline_lines_ref (FlamBaselineLines *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
beside_clear (gpointer data)
{
  FlamBaselineLines *self = data;

  g_clear_pointer (&self->weights, flam_weights_free);
  g_clear_pointer (&self->selection, flam_selection_free);
  g_clear_pointer (&self->fresh, flam_view_data_unref);
  flam_profile_unref (self->profile);
}

void
flam_baseline_lines_unref (FlamBaselineLines *self)
{
  g_atomic_rc_box_release_full (self, beside_clear);
}

/* FLAM_NONE: not found. */
static FlamFunctionId
find_function (const FlamProfile *profile, const char *name)
{
  for (FlamId f = 0; f < profile->functions.n; f++)
    if (strcmp (flam_profile_function_name (profile, f), name) == 0)
      return f;
  return FLAM_NONE;
}

FlamLineRow *
flam_baseline_lines_get (const FlamBaselineLines *self,
                         const char *file,
                         FlamFunctionId function,
                         guint *n)
{
  const FlamViewData *view_data = self->fresh;
  FlamDiffWeights fresh = { view_data->weights, view_data->selection };
  FlamDiffWeights base = { self->weights, self->selection };
  const char *was = flam_diff_find_file (&fresh, file, &base);

  *n = 0;
  if (was == NULL)
    return NULL;
  if (function != FLAM_NONE && self->profile != view_data->profile)
    {
      function = find_function (
          self->profile,
          flam_profile_function_name (view_data->profile, function));
      if (function == FLAM_NONE)
        return NULL;
    }
  return flam_lines_new (self->weights, self->selection, was, function, n);
}
