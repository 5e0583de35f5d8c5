/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-baseline-copy.h"

FlamBaselineCopy *
flam_baseline_copy_new (FlamBaseline *baseline)
{
  const FlamProfile *profile = flam_baseline_get_profile (baseline);
  FlamBaselineCopy *base_copy;

  if (flam_baseline_get_kind (baseline) == FLAM_BASELINE_NONE)
    return NULL;
  base_copy = g_new0 (FlamBaselineCopy, 1);
  base_copy->kind = flam_baseline_get_kind (baseline);
  if (profile != NULL)
    base_copy->profile = flam_profile_ref (profile);
  base_copy->part = flam_selection_copy (flam_baseline_get_part (baseline));
  base_copy->scale = flam_baseline_get_scale (baseline);
  base_copy->self = flam_baseline_get_self (baseline);
  return base_copy;
}

void
flam_baseline_copy_free (FlamBaselineCopy *base_copy)
{
  if (base_copy == NULL)
    return;
  g_clear_pointer (&base_copy->profile, flam_profile_unref);
  flam_selection_free (base_copy->part);
  g_free (base_copy);
}

static void
select_threads (FlamSelection *selection, const GArray *threads)
{
  flam_selection_no_threads (selection);
  for (guint i = 0; threads != NULL && i < threads->len; i++)
    flam_selection_add_thread (selection, g_array_index (threads, FlamId, i));
}

/* The baseline measure that corresponds to the shown one; if it has none, the
 * pair of the first measure that has a counterpart. */
static gboolean
select_before (FlamSelection *selection,
               const FlamProfile *profile,
               guint measure)
{
  const FlamMeasure *now = &profile->measures[selection->measure];
  int before = flam_transfer_find_before (profile, selection->measure);

  selection->measure = before >= 0 ? (guint)before : measure;
  return flam_measure_is_like (&profile->measures[selection->measure], now);
}

FlamSelection *
flam_baseline_copy_select (const FlamBaselineCopy *base_copy,
                           const FlamProfile *profile,
                           const FlamSelection *selection,
                           guint *without)
{
  g_autoptr (FlamSelection) selected = NULL;

  *without = 0;
  if (base_copy->kind == FLAM_BASELINE_CAPTURE)
    selected = flam_transfer_selection (
        profile, selection, base_copy->profile, without);
  else
    selected = flam_selection_copy (selection);
  if (selected == NULL)
    return NULL;
  selected->invert = FALSE;
  if (base_copy->kind == FLAM_BASELINE_RANGE)
    {
      selected->from = base_copy->part->from;
      selected->to = base_copy->part->to;
    }
  else if (base_copy->kind == FLAM_BASELINE_THREADS)
    select_threads (selected, base_copy->part->threads);
  else if (base_copy->kind == FLAM_BASELINE_MEASURE &&
           !select_before (selected, profile, base_copy->part->measure))
    return NULL;
  return g_steal_pointer (&selected);
}

FlamDiffScale
flam_baseline_copy_factor (FlamScale scale,
                           const FlamBaselineSide *base,
                           const FlamBaselineSide *fresh)
{
  if (scale == FLAM_SCALE_SHARES)
    return (FlamDiffScale){ fresh->total, base->total };
  if (scale == FLAM_SCALE_TIME && base->length > 0 && fresh->length > 0)
    return (FlamDiffScale){ fresh->length, base->length };
  return FLAM_DIFF_UNSCALED;
}
