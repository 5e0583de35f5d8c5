/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-linked-names.h"

#include <string.h>

/* The new name of a function: a string of the builder; 0: it keeps its name. */
typedef FlamId (*Rename) (FlamBuilder *builder,
                          const FlamProfile *profile,
                          FlamFunctionId function);

/* The function under its new name, for each function; FLAM_NONE where it keeps
 * its name. */
static FlamId *
rename_functions (FlamBuilder *builder,
                  const FlamProfile *profile,
                  Rename rename)
{
  const FlamFunctions *functions = &profile->functions;
  FlamId *renamed = g_new (FlamId, functions->n + 1);

  for (FlamId i = 0; i < functions->n; i++)
    {
      FlamFunction function = {
        .name = rename (builder, profile, i),
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

static FlamFrameId
copy_frame (FlamBuilder *builder,
            const FlamProfile *profile,
            FlamFrameId frame,
            FlamFunctionId function)
{
  const FlamFrames *frames = &profile->frames;

  return flam_builder_frame_in (builder,
                                function,
                                frames->address[frame],
                                frames->file[frame],
                                frames->line[frame],
                                frames->inline_depth[frame]);
}

static FlamProfile *
rename_all (const FlamProfile *profile, Rename rename)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new_edit (profile);
  g_autofree FlamId *renamed = rename_functions (builder, profile, rename);
  FlamProfile *named;

  for (FlamId i = 0; i < profile->frames.n; i++)
    {
      FlamFunctionId function = renamed[profile->frames.function[i]];
      FlamFrameId frame;

      if (function == FLAM_NONE)
        continue;
      frame = copy_frame (builder, profile, i, function);
      flam_builder_replace_frame (builder, i, &frame, 1);
    }
  named = flam_builder_finish (builder, NULL);
  g_assert (named != NULL);
  return named;
}

static FlamId
linked_name (FlamBuilder *builder,
             const FlamProfile *profile,
             FlamFunctionId function)
{
  return profile->functions.system_name[function];
}

FlamProfile *
flam_linked_names (const FlamProfile *profile)
{
  return rename_all (profile, linked_name);
}

static FlamId
name_without_addresses (FlamBuilder *builder,
                        const FlamProfile *profile,
                        FlamFunctionId function)
{
  const char *name = flam_profile_function_name (profile, function);
  g_autoptr (GString) text = NULL;

  if (strstr (name, "0x") == NULL)
    return 0;
  text = g_string_new (NULL);
  while (*name != '\0')
    {
      gsize digits = strncmp (name, "0x", 2) == 0
                         ? strspn (name + 2, "0123456789abcdefABCDEF")
                         : 0;

      if (digits > 0)
        g_string_append (text, "0x...");
      else
        g_string_append_c (text, *name);
      name += digits > 0 ? digits + 2 : 1;
    }
  return flam_builder_string (builder, text->str, (gssize)text->len);
}

FlamProfile *
flam_names_without_addresses (const FlamProfile *profile)
{
  return rename_all (profile, name_without_addresses);
}
