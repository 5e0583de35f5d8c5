/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-shown.h"
#include "flam-weights.h"

/* A hidden frame's status is attributed to its caller:
 *
 *    stacks         status   last     shown       its status
 *    0 cook         -        0        0 cook      dispatch
 *    1 └─ jl_invoke dispatch 0        1 └─ chop   -
 *    2    └─ chop   -        1 */

/* The stacks that are selected, with weight, and their callers. */
static guint8 *
find_heavy (const FlamShown *shown,
            const FlamProfile *profile,
            const FlamWeights *weights)
{
  const FlamStacks *stacks = &profile->stacks;
  guint8 *heavy = g_new0 (guint8, (gsize)stacks->n + 1);
  const GArray *by_top = weights->by_top;

  for (guint i = 0; by_top != NULL && i < by_top->len; i++)
    {
      FlamId s = g_array_index (by_top, FlamTopWeight, i).stack;

      if (s != FLAM_NONE)
        heavy[s] = TRUE;
    }
  for (FlamId s = 0; s < stacks->n; s++)
    {
      if (by_top == NULL)
        heavy[s] = weights->weight[s] != 0;
      heavy[s] &= shown->of[s] != FLAM_NONE;
    }
  for (FlamId s = stacks->n; s-- > 0;)
    if (heavy[s] && stacks->prefix[s] != FLAM_NONE)
      heavy[stacks->prefix[s]] = TRUE;
  return heavy;
}

guint8 *
flam_shown_status (const FlamShown *shown,
                   const FlamProfile *profile,
                   const FlamWeights *weights)
{
  const FlamStacks *stacks = &profile->stacks;
  g_autofree guint8 *heavy = NULL;
  guint8 *status;

  if (flam_profile_statuses (profile) == 0)
    return NULL;
  status = g_new0 (guint8, (gsize)shown->n + 1);
  if (shown->last == NULL)
    {
      for (FlamId s = 0; s < shown->n; s++)
        status[s] = profile->frames.status[shown->frame[s]];
      return status;
    }
  heavy = find_heavy (shown, profile, weights);
  for (FlamId s = 0; s < stacks->n; s++)
    if (heavy[s] && shown->last[s] != FLAM_NONE)
      status[shown->last[s]] |= profile->frames.status[stacks->frame[s]];
  return status;
}
