/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-basis.h"

FlamBasis *
flam_basis_new (FlamBaseline *baseline)
{
  const FlamProfile *profile = flam_baseline_get_profile (baseline);
  FlamBasis *basis;

  if (flam_baseline_get_kind (baseline) == FLAM_BASELINE_NONE)
    return NULL;
  basis = g_new0 (FlamBasis, 1);
  basis->kind = flam_baseline_get_kind (baseline);
  if (profile != NULL)
    basis->profile = flam_profile_ref (profile);
  basis->part = flam_selection_copy (flam_baseline_get_part (baseline));
  basis->scale = flam_baseline_get_scale (baseline);
  basis->self = flam_baseline_get_self (baseline);
  return basis;
}

void
flam_basis_free (FlamBasis *basis)
{
  if (basis == NULL)
    return;
  g_clear_pointer (&basis->profile, flam_profile_unref);
  flam_selection_free (basis->part);
  g_free (basis);
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
  int before = flam_carry_find_before (profile, selection->measure);

  selection->measure = before >= 0 ? (guint)before : measure;
  return flam_measure_is_like (&profile->measures[selection->measure], now);
}

FlamSelection *
flam_basis_select (const FlamBasis *basis,
                   const FlamProfile *profile,
                   const FlamSelection *selection,
                   guint *without)
{
  g_autoptr (FlamSelection) selected = NULL;

  *without = 0;
  if (basis->kind == FLAM_BASELINE_CAPTURE)
    selected =
        flam_carry_selection (profile, selection, basis->profile, without);
  else
    selected = flam_selection_copy (selection);
  if (selected == NULL)
    return NULL;
  selected->invert = FALSE;
  if (basis->kind == FLAM_BASELINE_RANGE)
    {
      selected->from = basis->part->from;
      selected->to = basis->part->to;
    }
  else if (basis->kind == FLAM_BASELINE_THREADS)
    select_threads (selected, basis->part->threads);
  else if (basis->kind == FLAM_BASELINE_MEASURE &&
           !select_before (selected, profile, basis->part->measure))
    return NULL;
  return g_steal_pointer (&selected);
}

FlamDiffScale
flam_basis_factor (FlamScale scale,
                   const FlamBasisSide *base,
                   const FlamBasisSide *fresh)
{
  if (scale == FLAM_SCALE_SHARES)
    return (FlamDiffScale){ fresh->total, base->total };
  if (scale == FLAM_SCALE_TIME && base->length > 0 && fresh->length > 0)
    return (FlamDiffScale){ fresh->length, base->length };
  return FLAM_DIFF_UNSCALED;
}
