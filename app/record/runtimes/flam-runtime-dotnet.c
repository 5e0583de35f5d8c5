/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

/* .NET 6 and newer: its functions are not read, but it can write their names
 * to a map itself. Source: .NET's documentation of its run-time configuration
 * options for debugging and profiling. */

static gboolean
find (const FlamElf *elf, int fd, const char *path, FlamRuntimeFile *file)
{
  g_autofree char *base = g_path_get_basename (path);

  (void)elf;
  (void)fd;
  if (g_strcmp0 (base, "libcoreclr.so") != 0)
    return FALSE;
  file->why = N_ ("only a map that the program writes has their names");
  file->help = N_ ("start the program with DOTNET_PerfMapEnabled=1");
  file->variable = "DOTNET_PerfMapEnabled=1";
  return TRUE;
}

const FlamRuntime flam_runtime_dotnet = {
  .id = "dotnet",
  .label = ".NET",
  .find = find,
};
