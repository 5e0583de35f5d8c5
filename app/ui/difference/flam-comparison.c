/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-comparison.h"

FlamComparisonInput *
flam_comparison_input_new (FlamViewData *view_data,
                           FlamBaseline *baseline,
                           FlamScale scale,
                           gboolean self)
{
  FlamComparisonInput *input = g_new0 (FlamComparisonInput, 1);
  const FlamProfile *profile = flam_baseline_get_profile (baseline);

  input->view_data = flam_view_data_ref (view_data);
  if (profile != NULL)
    input->profile = flam_profile_ref (profile);
  flam_baseline_get_range (baseline, &input->from, &input->to);
  input->scale = scale;
  input->self = self;
  return input;
}

void
flam_comparison_input_free (gpointer data)
{
  FlamComparisonInput *input = data;

  flam_view_data_unref (input->view_data);
  g_clear_pointer (&input->profile, flam_profile_unref);
  g_free (input);
}

/* --- one side ------------------------------------------------------------- */

/* NULL: there is nothing to compare with. */
static FlamSelection *
select_base (const FlamComparisonInput *input, FlamComparison *comparison)
{
  const FlamViewData *view_data = input->view_data;
  FlamSelection *selection;

  if (input->profile != NULL)
    selection = flam_carry_selection (view_data->profile,
                                      view_data->selection,
                                      input->profile,
                                      &comparison->without);
  else
    {
      selection = flam_selection_copy (view_data->selection);
      selection->from = input->from;
      selection->to = input->to;
    }
  if (selection != NULL)
    selection->invert = FALSE;
  return selection;
}

static void
find_factor (FlamComparison *self, FlamScale scale)
{
  FlamDiffScale lengths;

  self->base_length =
      flam_selection_get_length (self->base->selection, self->base->profile);
  self->fresh_length =
      flam_selection_get_length (self->fresh->selection, self->fresh->profile);
  lengths = (FlamDiffScale){ self->fresh_length, self->base_length };
  self->scale = scale;
  self->factor = FLAM_DIFF_UNSCALED;
  if (scale == FLAM_SCALE_SHARES)
    self->factor = flam_diff_scale_totals (self->base->tree, self->fresh->tree);
  else if (scale == FLAM_SCALE_TIME && lengths.to > 0 && lengths.from > 0)
    self->factor = lengths;
}

/* --- both ----------------------------------------------------------------- */

static void
compare (FlamComparison *self, gboolean own)
{
  const FlamTree *base = self->base->tree;
  const FlamTree *fresh = self->fresh->tree;

  self->changed[FLAM_DIFF_FRESH] = flam_view_data_new_of (
      self->fresh,
      flam_diff_tree (base, fresh, FLAM_DIFF_FRESH, own, self->factor));
  self->changed[FLAM_DIFF_BASE] = flam_view_data_new_of (
      self->base,
      flam_diff_tree (base, fresh, FLAM_DIFF_BASE, own, self->factor));
  self->rows =
      flam_diff_functions (base, fresh, own, self->factor, &self->n_rows);
}

gpointer
flam_comparison_work (gpointer data,
                      const FlamProgress *progress,
                      GError **error)
{
  const FlamComparisonInput *input = data;
  const FlamProfile *profile =
      input->profile != NULL ? input->profile : input->view_data->profile;
  g_autoptr (FlamComparison) self = g_atomic_rc_box_new0 (FlamComparison);
  g_autoptr (FlamSelection) selection = select_base (input, self);

  self->fresh = flam_view_data_upright (input->view_data, progress, error);
  if (self->fresh == NULL)
    return NULL;
  if (selection == NULL)
    return g_steal_pointer (&self);
  self->base = flam_view_data_new (
      profile, selection, FLAM_ORDER_TOTAL, NULL, progress, error);
  if (self->base == NULL)
    return NULL;
  find_factor (self, input->scale);
  compare (self, input->self);
  return g_steal_pointer (&self);
}

FlamComparison *
flam_comparison_ref (FlamComparison *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
comparison_clear (gpointer data)
{
  FlamComparison *self = data;

  g_clear_pointer (&self->base, flam_view_data_unref);
  g_clear_pointer (&self->fresh, flam_view_data_unref);
  for (guint i = 0; i < G_N_ELEMENTS (self->changed); i++)
    g_clear_pointer (&self->changed[i], flam_view_data_unref);
  g_free (self->rows);
}

void
flam_comparison_unref (FlamComparison *self)
{
  g_atomic_rc_box_release_full (self, comparison_clear);
}
