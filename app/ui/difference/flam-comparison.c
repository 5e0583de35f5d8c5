/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-comparison.h"

#include "flam-core-profile.h"

FlamComparisonInput *
flam_comparison_input_new (FlamViewData *view_data,
                           FlamBaselineCopy *base_copy,
                           gboolean lines)
{
  FlamComparisonInput *input = g_new0 (FlamComparisonInput, 1);

  input->view_data = flam_view_data_ref (view_data);
  input->base_copy = base_copy;
  input->lines = lines;
  return input;
}

void
flam_comparison_input_free (gpointer data)
{
  FlamComparisonInput *input = data;

  flam_view_data_unref (input->view_data);
  flam_baseline_copy_free (input->base_copy);
  g_free (input);
}

/* The pairs of measures that can be compared, if the chosen one has no
 * counterpart. */
static GArray *
find_pairs (const FlamComparisonInput *input)
{
  const FlamProfile *profile = input->view_data->profile;
  GArray *pairs = g_array_new (FALSE, FALSE, sizeof (FlamMeasurePair));
  g_autoptr (FlamSelection) asked =
      flam_selection_copy (input->view_data->selection);

  asked->count = FALSE;
  for (guint i = 0; i < profile->n_measures; i++)
    {
      g_autoptr (FlamSelection) found = NULL;
      FlamMeasurePair pair = { i, 0 };
      guint without;

      asked->measure = i;
      found = flam_baseline_copy_select (
          input->base_copy, profile, asked, &without);
      if (found == NULL)
        continue;
      pair.before = found->measure;
      g_array_append_val (pairs, pair);
    }
  return pairs;
}

static void
find_factor (FlamComparison *self, FlamScale scale)
{
  FlamBaselineSide base, fresh;

  self->base_length =
      flam_selection_get_length (self->base->selection, self->base->profile);
  self->fresh_length =
      flam_selection_get_length (self->fresh->selection, self->fresh->profile);
  base = (FlamBaselineSide){ self->base->tree->total[0], self->base_length };
  fresh = (FlamBaselineSide){ self->fresh->tree->total[0], self->fresh_length };
  self->scale = scale;
  self->factor = flam_baseline_copy_factor (scale, &base, &fresh);
}

static void
compare (FlamComparison *self, const FlamComparisonInput *input)
{
  const FlamTree *base = self->base->tree;
  const FlamTree *fresh = self->fresh->tree;
  FlamDiffWeights was = { self->base->weights, self->base->selection };
  FlamDiffWeights is = { self->fresh->weights, self->fresh->selection };

  self->self = input->base_copy->self;
  for (guint i = 0; i < FLAM_N_DIFF_SHAPES; i++)
    self->changed[i] = flam_view_data_new_of (
        i == FLAM_DIFF_BASE ? self->base : self->fresh,
        flam_diff_tree (base, fresh, i, self->self, self->factor));
  if (!base->inverted && !fresh->inverted && fresh->by == FLAM_BY_FUNCTION)
    self->headline = flam_headline_new_difference (
        base, fresh, self->factor, &self->headline_of);
  self->rows =
      input->lines
          ? flam_diff_lines (
                &was, &is, NULL, self->self, self->factor, &self->n_rows)
          : flam_diff_functions (
                base, fresh, self->self, self->factor, &self->n_rows);
}

/* Scales both sides to the same number of decimals; FALSE with an error. */
static gboolean
weigh (FlamComparison *self,
       const FlamProfile *profile,
       const FlamSelection *selection,
       const FlamProgress *progress,
       GError **error)
{
  g_autoptr (FlamProfile) was = flam_profile_ref (profile);
  g_autoptr (FlamProfile) is = flam_profile_ref (self->fresh->profile);
  FlamViewData *fresh;

  if (!flam_rescale_both (&was,
                          selection->measure,
                          &is,
                          self->fresh->selection->measure,
                          error))
    return FALSE;
  self->base = flam_view_data_new (
      was, selection, FLAM_ORDER_TOTAL, NULL, progress, error);
  if (self->base == NULL || is == self->fresh->profile)
    return self->base != NULL;
  fresh = flam_view_data_new (
      is, self->fresh->selection, FLAM_ORDER_TOTAL, NULL, progress, error);
  if (fresh == NULL)
    return FALSE;
  flam_view_data_unref (self->fresh);
  self->fresh = fresh;
  return TRUE;
}

gpointer
flam_comparison_work (gpointer data,
                      const FlamProgress *progress,
                      GError **error)
{
  const FlamComparisonInput *input = data;
  FlamViewData *shown = input->view_data;
  const FlamProfile *profile =
      flam_baseline_copy_profile (input->base_copy, shown->profile);
  g_autoptr (FlamComparison) self = g_atomic_rc_box_new0 (FlamComparison);
  g_autoptr (FlamSelection) selection = flam_baseline_copy_select (
      input->base_copy, shown->profile, shown->selection, &self->without);

  self->fresh = flam_view_data_upright (shown, progress, error);
  if (self->fresh == NULL)
    return NULL;
  if (selection == NULL)
    {
      self->pairs = find_pairs (input);
      return g_steal_pointer (&self);
    }
  if (!flam_selection_check (selection, profile, error))
    return NULL;
  if (!weigh (self, profile, selection, progress, error))
    return NULL;
  if (!flam_diff_is_possible (self->base->tree, self->fresh->tree))
    {
      g_clear_pointer (&self->base, flam_view_data_unref);
      self->pairs = find_pairs (input);
      return g_steal_pointer (&self);
    }
  find_factor (self, input->base_copy->scale);
  compare (self, input);
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
  g_clear_pointer (&self->pairs, g_array_unref);
  g_clear_pointer (&self->headline, flam_headline_free);
  g_free (self->rows);
}

void
flam_comparison_unref (FlamComparison *self)
{
  g_atomic_rc_box_release_full (self, comparison_clear);
}
