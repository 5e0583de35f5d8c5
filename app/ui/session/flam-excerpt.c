/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-excerpt.h"

FlamExcerpt *
flam_excerpt_new (const FlamProfile *profile,
                  const FlamSelection *selection,
                  FlamTreeOrder order,
                  const FlamProgress *progress,
                  GError **error)
{
  g_autoptr (FlamExcerpt) self = g_atomic_rc_box_new0 (FlamExcerpt);

  self->profile = flam_profile_ref (profile);
  self->selection = flam_selection_copy (selection);
  self->weights = flam_weights_new (profile, selection, progress, error);
  if (self->weights == NULL)
    return NULL;
  self->tree = flam_tree_new (self->weights, selection, order, progress, error);
  if (self->tree == NULL)
    return NULL;
  self->rows = flam_rows_new (self->tree);
  self->by_thread = flam_weights_by_thread (profile, selection);
  if (profile->samples.state != NULL)
    self->by_state = flam_weights_by_state (profile, selection);
  return g_steal_pointer (&self);
}

FlamExcerpt *
flam_excerpt_upright (FlamExcerpt *self,
                      const FlamProgress *progress,
                      GError **error)
{
  g_autoptr (FlamSelection) selection = NULL;

  if (!self->tree->inverted)
    return flam_excerpt_ref (self);
  selection = flam_selection_copy (self->selection);
  selection->invert = FALSE;
  return flam_excerpt_new (
      self->profile, selection, FLAM_ORDER_TOTAL, progress, error);
}

FlamExcerpt *
flam_excerpt_new_of (const FlamExcerpt *excerpt, FlamTree *tree)
{
  FlamExcerpt *self = g_atomic_rc_box_new0 (FlamExcerpt);

  self->profile = flam_profile_ref (excerpt->profile);
  self->selection = flam_selection_copy (excerpt->selection);
  self->tree = tree;
  self->rows = flam_rows_new (tree);
  return self;
}

FlamExcerpt *
flam_excerpt_ref (FlamExcerpt *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
excerpt_clear (gpointer data)
{
  FlamExcerpt *self = data;

  g_clear_pointer (&self->rows, flam_rows_unref);
  g_clear_pointer (&self->tree, flam_tree_unref);
  g_clear_pointer (&self->weights, flam_weights_free);
  g_clear_pointer (&self->selection, flam_selection_free);
  g_clear_pointer (&self->profile, flam_profile_unref);
  g_free (self->by_thread);
}

void
flam_excerpt_unref (FlamExcerpt *self)
{
  g_atomic_rc_box_release_full (self, excerpt_clear);
}

const FlamMeasure *
flam_excerpt_get_measure (const FlamExcerpt *self)
{
  return self->profile->n_measures > 0
             ? &self->profile->measures[self->selection->measure]
             : NULL;
}

gint64
flam_excerpt_get_total (const FlamExcerpt *self)
{
  return self->tree->total[0];
}
