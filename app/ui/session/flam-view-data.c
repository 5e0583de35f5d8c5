/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-core-query.h"
#include "flam-view-data.h"

/* Only the new samples were summed; the earlier sums are added. */
static void
add_sums (FlamViewData *self, const FlamViewData *before)
{
  for (FlamId t = 0; t < before->profile->threads.n; t++)
    self->by_thread[t] += before->by_thread[t];
  for (guint i = 0; i < FLAM_N_STATES; i++)
    self->by_state.weight[i] += before->by_state.weight[i];
}

/* The sums of `before` are valid for these, too. The sums by thread are valid
 * for any selection of threads. A selection that drops stacks changes them
 * all. */
static gboolean
holds (const FlamViewData *before,
       const FlamProfile *profile,
       const FlamSelection *selection,
       gboolean any_thread)
{
  return before != NULL && before->weights != NULL &&
         before->profile == profile &&
         selection->measure < profile->n_measures &&
         profile->measures[selection->measure].source == FLAM_FROM_SAMPLES &&
         !flam_selection_drops_stacks (before->selection) &&
         !flam_selection_drops_stacks (selection) &&
         flam_selection_has_same_samples (
             before->selection, selection, any_thread);
}

static void
add_thread_sums (FlamViewData *self,
                 const FlamViewData *before,
                 const FlamProfile *had,
                 const FlamShown *shown)
{
  if (holds (before, self->profile, self->selection, TRUE))
    self->by_thread =
        g_memdup2 (before->by_thread,
                   (self->profile->threads.n + 1) * sizeof *self->by_thread);
  else
    self->by_thread = flam_weights_by_thread_since (
        had, self->profile, self->selection, shown);
  if (self->profile->samples.state == NULL)
    return;
  self->by_state =
      holds (before, self->profile, self->selection, FALSE)
          ? before->by_state
          : flam_weights_by_state_since (had, self->profile, self->selection);
}

/* `dropping`: the shown stacks, if the selection drops some; otherwise NULL. */
static FlamWeights *
weigh (const FlamProfile *profile,
       const FlamSelection *selection,
       const FlamShown *dropping,
       const FlamViewData *before,
       const FlamProgress *progress,
       GError **error)
{
  FlamWeights *weights = NULL;

  if (before != NULL && before->weights != NULL)
    weights = flam_weights_new_shown (
        before->weights, before->selection, profile, selection, dropping);
  if (weights == NULL)
    weights = flam_weights_new (profile, selection, progress, error);
  return weights;
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
  g_auto (FlamShown) shown = { 0 };
  gboolean goes_on =
      before != NULL && before->weights != NULL &&
      flam_weights_go_on (
          before->profile, before->selection, profile, selection);
  const FlamProfile *had = goes_on ? before->profile : NULL;
  const FlamShown *dropping =
      flam_selection_drops_stacks (selection) ? &shown : NULL;

  self->profile = flam_profile_ref (profile);
  self->namesakes = before != NULL && before->profile == profile
                        ? flam_namesakes_ref (before->namesakes)
                        : flam_namesakes_new (profile);
  self->selection = flam_selection_copy (selection);
  if (!flam_shown_init (&shown, profile, selection, progress, error))
    return NULL;
  self->weights =
      goes_on ? flam_weights_new_since (
                    before->weights, profile, selection, progress, error)
              : weigh (profile, selection, dropping, before, progress, error);
  if (self->weights == NULL)
    return NULL;
  self->tree = flam_tree_new_shown (
      self->weights, selection, &shown, order, progress, error);
  if (self->tree == NULL)
    return NULL;
  add_thread_sums (self, goes_on ? NULL : before, had, dropping);
  flam_shown_clear (&shown);
  self->rows = flam_rows_new (self->tree);
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
      self->profile, selection, FLAM_ORDER_TOTAL, self, progress, error);
}

FlamViewData *
flam_view_data_new_of (const FlamViewData *view_data, FlamTree *tree)
{
  FlamViewData *self = g_atomic_rc_box_new0 (FlamViewData);

  self->profile = flam_profile_ref (tree->profile);
  self->namesakes = flam_namesakes_ref (view_data->namesakes);
  self->selection = flam_selection_copy (view_data->selection);
  self->selection->measure = tree->measure;
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
  g_clear_pointer (&self->namesakes, flam_namesakes_unref);
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

const char *
flam_view_data_get_name (const FlamViewData *self, FlamNodeId node)
{
  const char *whole =
      flam_by_is_code (self->tree->by)
          ? flam_namesakes_get (self->namesakes,
                                flam_tree_function (self->tree, node))
          : NULL;

  return whole != NULL ? whole : flam_functions_name (self->tree, node);
}

gint64
flam_view_data_get_total (const FlamViewData *self)
{
  return self->tree->total[0];
}
