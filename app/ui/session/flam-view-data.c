/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-view-data.h"

/* What is new was summed: what there was before is added. */
static void
add_sums (FlamViewData *self, const FlamViewData *before)
{
  for (FlamId t = 0; t < before->profile->threads.n; t++)
    self->by_thread[t] += before->by_thread[t];
  for (guint i = 0; i < FLAM_N_STATES; i++)
    self->by_state.weight[i] += before->by_state.weight[i];
}

FlamViewData *
flam_view_data_new (const FlamProfile *profile,
                    const FlamSelection *selection,
                    FlamTreeOrder order,
                    const FlamViewData *before,
                    const FlamProgress *progress,
                    GError **error)
{
  g_autoptr (FlamViewData) self = g_atomic_rc_box_new0 (FlamViewData);
  gboolean goes_on =
      before != NULL && before->weights != NULL &&
      flam_weights_go_on (
          before->profile, before->selection, profile, selection);
  const FlamProfile *had = goes_on ? before->profile : NULL;

  self->profile = flam_profile_ref (profile);
  self->selection = flam_selection_copy (selection);
  self->weights =
      goes_on ? flam_weights_new_since (
                    before->weights, profile, selection, progress, error)
              : flam_weights_new (profile, selection, progress, error);
  if (self->weights == NULL)
    return NULL;
  self->tree = flam_tree_new (self->weights, selection, order, progress, error);
  if (self->tree == NULL)
    return NULL;
  self->rows = flam_rows_new (self->tree);
  self->by_thread = flam_weights_by_thread_since (had, profile, selection);
  if (profile->samples.state != NULL)
    self->by_state = flam_weights_by_state_since (had, profile, selection);
  if (goes_on)
    add_sums (self, before);
  return g_steal_pointer (&self);
}

FlamViewData *
flam_view_data_upright (FlamViewData *self,
                        const FlamProgress *progress,
                        GError **error)
{
  g_autoptr (FlamSelection) selection = NULL;

  if (!self->tree->inverted)
    return flam_view_data_ref (self);
  selection = flam_selection_copy (self->selection);
  selection->invert = FALSE;
  return flam_view_data_new (
      self->profile, selection, FLAM_ORDER_TOTAL, NULL, progress, error);
}

FlamViewData *
flam_view_data_new_of (const FlamViewData *view_data, FlamTree *tree)
{
  FlamViewData *self = g_atomic_rc_box_new0 (FlamViewData);

  self->profile = flam_profile_ref (view_data->profile);
  self->selection = flam_selection_copy (view_data->selection);
  self->tree = tree;
  self->rows = flam_rows_new (tree);
  return self;
}

FlamViewData *
flam_view_data_ref (FlamViewData *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
view_data_clear (gpointer data)
{
  FlamViewData *self = data;

  g_clear_pointer (&self->rows, flam_rows_unref);
  g_clear_pointer (&self->tree, flam_tree_unref);
  g_clear_pointer (&self->weights, flam_weights_free);
  g_clear_pointer (&self->selection, flam_selection_free);
  g_clear_pointer (&self->profile, flam_profile_unref);
  g_free (self->by_thread);
}

void
flam_view_data_unref (FlamViewData *self)
{
  g_atomic_rc_box_release_full (self, view_data_clear);
}

const FlamMeasure *
flam_view_data_get_measure (const FlamViewData *self)
{
  return self->profile->n_measures > 0
             ? &self->profile->measures[self->selection->measure]
             : NULL;
}

gint64
flam_view_data_get_total (const FlamViewData *self)
{
  return self->tree->total[0];
}
