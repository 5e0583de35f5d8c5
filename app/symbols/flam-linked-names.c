/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-linked-names.h"

/* The function under its linked name, for each function; FLAM_NONE where it has
 * that name already. */
static FlamId *
rename_functions (FlamBuilder *builder, const FlamProfile *profile)
{
  const FlamFunctions *functions = &profile->functions;
  FlamId *renamed = g_new (FlamId, functions->n + 1);

  for (FlamId i = 0; i < functions->n; i++)
    {
      FlamFunction function = {
        .name = functions->system_name[i],
        .file = functions->file[i],
        .module = functions->module[i],
        .line = functions->line[i],
        .kind = functions->kind[i],
        .flags = functions->flags[i],
      };

      renamed[i] = function.name != 0 && function.name != functions->name[i]
                       ? flam_builder_function (builder, &function)
                       : FLAM_NONE;
    }
  return renamed;
}

static FlamId
copy_frame (FlamBuilder *builder,
            const FlamProfile *profile,
            FlamId frame,
            FlamId function)
{
  const FlamFrames *frames = &profile->frames;

  return flam_builder_frame_in (builder,
                                function,
                                frames->address[frame],
                                frames->file[frame],
                                frames->line[frame],
                                frames->inline_depth[frame]);
}

FlamProfile *
flam_linked_names (const FlamProfile *profile)
{
  FlamBuilder *builder = flam_builder_new_edit (profile);
  g_autofree FlamId *renamed = rename_functions (builder, profile);
  FlamProfile *named;

  for (FlamId i = 0; i < profile->frames.n; i++)
    {
      FlamId function = renamed[profile->frames.function[i]];
      FlamId frame;

      if (function == FLAM_NONE)
        continue;
      frame = copy_frame (builder, profile, i, function);
      flam_builder_replace_frame (builder, i, &frame, 1);
    }
  named = flam_builder_finish (builder, NULL);
  g_assert (named != NULL);
  return named;
}
