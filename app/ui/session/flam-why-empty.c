/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-why-empty.h"

#include "flam-core-query.h"

#include <glib/gi18n.h>

static gboolean
keeps_some (const FlamTransform *transform)
{
  return transform->kind == FLAM_TRANSFORM_FOCUS ||
         transform->kind == FLAM_TRANSFORM_FILTER;
}

/* Such as one that was stored when the functions had other names. */
static gboolean
matches_any (const FlamTransform *transform, const FlamProfile *profile)
{
  for (FlamFunctionId i = 0; i < profile->functions.n; i++)
    if (flam_transform_matches (transform, profile, i))
      return TRUE;
  return FALSE;
}

static gboolean
has_unmatched (const GPtrArray *transforms, const FlamProfile *profile)
{
  for (guint i = 0; transforms != NULL && i < transforms->len; i++)
    {
      const FlamTransform *one = transforms->pdata[i];

      if (one->of == FLAM_BY_FUNCTION && keeps_some (one) &&
          !matches_any (one, profile))
        return TRUE;
    }
  return FALSE;
}

const char *
flam_why_empty (FlamSession *session)
{
  const FlamProfile *profile = flam_session_get_profile (session);
  const FlamSelection *selection = flam_session_get_selection (session);

  if (profile == NULL || selection == NULL)
    return "";
  if (has_unmatched (selection->transforms, profile))
    return _ ("A transform in the path matches no function of this capture.");
  if (selection->from != G_MININT64 || selection->to != G_MAXINT64)
    return _ ("Nothing was measured in the selected time range.");
  if (selection->transforms != NULL && selection->transforms->len > 0)
    return _ ("Everything is hidden by the transforms in the path.");
  if (selection->states != FLAM_STATES_ALL)
    return _ ("No samples are in the selected states.");
  if (selection->threads != NULL && selection->threads->len == 0)
    return _ ("No thread is selected.");
  if (selection->threads != NULL)
    return _ ("The selected threads have no values of this measure.");
  if (profile->samples.n == 0 && profile->allocations.n == 0)
    return _ ("This capture has no samples.");
  return _ ("This capture has no values of this measure.");
}

gboolean
flam_why_empty_is_narrowed (FlamSession *session)
{
  const FlamSelection *selection = flam_session_get_selection (session);

  return selection != NULL &&
         (selection->threads != NULL || selection->from != G_MININT64 ||
          selection->to != G_MAXINT64 ||
          (selection->transforms != NULL && selection->transforms->len > 0) ||
          selection->states != FLAM_STATES_ALL || selection->no_native ||
          selection->no_inlines || selection->no_repl ||
          selection->allocators != 0 || selection->suppressions != NULL);
}
