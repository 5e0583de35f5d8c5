/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A builder that begins with what a profile has: its code is interned again
 * and gets the numbers it had, since no two rows of it are alike. */

#include "flam-builder-private.h"

static void
copy_modules (FlamBuilder *builder, const FlamProfile *profile)
{
  const FlamModules *modules = &profile->modules;

  for (FlamId i = 0; i < modules->n; i++)
    {
      FlamId id = flam_builder_module (
          builder,
          flam_profile_string (profile, modules->path[i]),
          flam_profile_string (profile, modules->build_id[i]),
          modules->addressing[i]);

      g_assert (id == i);
      flam_builder_set_module_symbols (
          builder,
          i,
          modules->symbols[i],
          flam_profile_string (profile, modules->why[i]));
    }
}

static void
copy_functions (FlamBuilder *builder, const FlamFunctions *functions)
{
  for (FlamId i = 0; i < functions->n; i++)
    {
      const FlamFunction function = {
        .name = functions->name[i],
        .system_name = functions->system_name[i],
        .file = functions->file[i],
        .module = functions->module[i],
        .line = functions->line[i],
        .kind = functions->kind[i],
        .flags = functions->flags[i],
      };
      FlamId id = flam_builder_function (builder, &function);

      g_assert (id == i);
    }
}

static void
copy_frames (FlamBuilder *builder, const FlamFrames *frames)
{
  for (FlamId i = 0; i < frames->n; i++)
    {
      FlamId id = flam_builder_frame_in (builder,
                                         frames->function[i],
                                         frames->address[i],
                                         frames->file[i],
                                         frames->line[i],
                                         frames->inline_depth[i]);

      g_assert (id == i);
    }
}

FlamBuilder *
flam_builder_new_edit (const FlamProfile *profile)
{
  FlamBuilder *builder = flam_builder_new ();
  guint32 n_frames = profile->frames.n;

  builder->base = flam_profile_ref (profile);
  for (FlamId i = 0; i < flam_profile_n_strings (profile); i++)
    flam_builder_string (builder, flam_profile_string (profile, i), -1);
  copy_modules (builder, profile);
  copy_functions (builder, &profile->functions);
  copy_frames (builder, &profile->frames);
  flam_column_init (&builder->chain_first, sizeof (guint64));
  flam_column_init (&builder->chain_length, sizeof (guint32));
  flam_column_init (&builder->chains, sizeof (FlamId));
  flam_column_backfill (&builder->chain_first, n_frames);
  flam_column_backfill (&builder->chain_length, n_frames);
  return builder;
}

void
flam_builder_replace_frame (FlamBuilder *builder,
                            FlamId frame,
                            const FlamId *chain,
                            guint n)
{
  g_assert (builder->base != NULL && n > 0);
  g_assert (frame < builder->chain_first.n);
  flam_column_at (&builder->chain_first, guint64, frame) = builder->chains.n;
  flam_column_at (&builder->chain_length, guint32, frame) = n;
  for (guint i = 0; i < n; i++)
    {
      g_assert (chain[i] < builder->columns[COLUMN_FRAME_FUNCTION].n);
      flam_column_append (&builder->chains, FlamId, chain[i]);
    }
}
