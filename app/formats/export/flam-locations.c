/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-locations.h"

#include "flam-export-common.h"

void
flam_locations_init (FlamLocations *self, const FlamProfile *profile)
{
  const FlamStacks *stacks = &profile->stacks;
  g_autoptr (GHashTable) known =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);

  self->of = g_new (guint32, stacks->n + 1);
  self->first = g_array_new (FALSE, FALSE, sizeof (FlamStackId));
  for (FlamId s = 0; s < stacks->n; s++)
    {
      guint32 around =
          flam_export_is_inlined (profile, s) ? self->of[stacks->prefix[s]] : 0;
      guint64 key = (guint64)stacks->frame[s] << 32 | around;
      FlamStackId stack = s;

      self->of[s] = GPOINTER_TO_UINT (g_hash_table_lookup (known, &key));
      if (self->of[s] != 0)
        continue;
      g_array_append_val (self->first, stack);
      self->of[s] = self->first->len;
      g_hash_table_insert (
          known, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (self->of[s]));
    }
}

void
flam_locations_clear (FlamLocations *self)
{
  g_clear_pointer (&self->of, g_free);
  g_clear_pointer (&self->first, g_array_unref);
}

FlamStackId
flam_locations_caller (const FlamProfile *profile, FlamStackId stack)
{
  while (flam_export_is_inlined (profile, stack))
    stack = profile->stacks.prefix[stack];
  return profile->stacks.prefix[stack];
}
