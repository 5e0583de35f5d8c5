/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-frame-traits.h"

static FlamFrameTraits
traits_of_function (const FlamProfile *profile, FlamId function)
{
  guint8 kind = profile->functions.kind[function];
  guint8 flags = profile->functions.flags[function];
  guint traits = 0;

  if (kind == FLAM_KIND_INTERPRETED || kind == FLAM_KIND_JIT)
    traits |= FLAM_HAS_INTERPRETED;
  else if (kind != FLAM_KIND_ROOT)
    traits |= FLAM_HAS_NATIVE;
  if (flags & FLAM_FUNCTION_IRRELEVANT)
    traits |= FLAM_HAS_IRRELEVANT;
  if (flags & FLAM_FUNCTION_IMPORT)
    traits |= FLAM_HAS_IMPORTS;
  return traits;
}

/* By stack: whether interpreted code is on it. */
static gboolean *
interpreted_stacks (const FlamProfile *profile)
{
  const FlamStacks *stacks = &profile->stacks;
  gboolean *interpreted = g_new (gboolean, MAX (stacks->n, 1));

  for (FlamId i = 0; i < stacks->n; i++)
    {
      FlamId function = profile->frames.function[stacks->frame[i]];

      interpreted[i] =
          (traits_of_function (profile, function) & FLAM_HAS_INTERPRETED) !=
              0 ||
          (stacks->prefix[i] != FLAM_NONE && interpreted[stacks->prefix[i]]);
    }
  return interpreted;
}

static gboolean
has_machine_code (const FlamProfile *profile)
{
  for (FlamId i = 0; i < profile->functions.n; i++)
    if (profile->functions.module[i] != FLAM_NONE &&
        (traits_of_function (profile, i) & FLAM_HAS_NATIVE) != 0)
      return TRUE;
  return FALSE;
}

static guint32
count_in (const gboolean *interpreted, const FlamStackId *stack, guint32 n)
{
  guint32 found = 0;

  for (guint32 i = 0; i < n; i++)
    if (stack[i] != FLAM_NONE && interpreted[stack[i]])
      found++;
  return found;
}

gboolean
flam_frames_are_interpreted (const FlamProfile *profile)
{
  const FlamThreads *threads = &profile->threads;
  const FlamSamples *samples = &profile->samples;
  g_autofree gboolean *interpreted = NULL;
  guint32 found = 0;

  if (!has_machine_code (profile))
    return FALSE;
  interpreted = interpreted_stacks (profile);
  if (samples->n == 0)
    return count_in (interpreted,
                     profile->allocations.stack,
                     profile->allocations.n) > profile->allocations.n / 2;
  for (FlamId t = 0; t < threads->n; t++)
    found += count_in (interpreted,
                       samples->stack + threads->first_sample[t],
                       threads->n_samples[t]);
  return found > samples->n / 2;
}

FlamFrameTraits
flam_frame_traits_of (const FlamProfile *profile)
{
  guint traits = 0;

  for (FlamId i = 0; i < profile->functions.n; i++)
    traits |= traits_of_function (profile, i);
  for (FlamId i = 0; i < profile->frames.n; i++)
    {
      if (profile->frames.inline_depth[i] > 0)
        traits |= FLAM_HAS_INLINES;
      if (profile->frames.status[i] != 0)
        traits |= FLAM_HAS_STATUS;
      if (profile->frames.status[i] & FLAM_STATUS_REPL)
        traits |= FLAM_HAS_REPL;
    }
  return traits;
}
