/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gprof-binary.h"

#include <gio/gio.h>
#include <string.h>

#define MAX_FILES 512
/* The end is rounded up to the range of a counter. */
#define ROUNDED 16

static gboolean
code_ends_at (const FlamElf *elf, guint64 end)
{
  static const char *const names[] = { "etext", "_etext", "__etext" };
  guint64 vaddr, size;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (flam_elf_find_symbol (elf, names[i], &vaddr, &size))
      return vaddr <= end && end - vaddr <= ROUNDED;
  return FALSE;
}

static FlamElf *
look_in (const char *folder, guint64 end)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  for (guint i = 0;
       dir != NULL && i < MAX_FILES && (name = g_dir_read_name (dir)) != NULL;
       i++)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr (FlamElf) elf = NULL;

      if (!g_file_test (path, G_FILE_TEST_IS_EXECUTABLE) ||
          !g_file_test (path, G_FILE_TEST_IS_REGULAR))
        continue;
      elf = flam_elf_open (path, NULL);
      if (elf != NULL && code_ends_at (elf, end))
        return g_steal_pointer (&elf);
    }
  return NULL;
}

FlamElf *
flam_gprof_find_binary (const char *const *folders,
                        const char *capture,
                        guint64 end)
{
  g_autofree char *own = g_path_get_dirname (capture);
  FlamElf *elf = NULL;

  for (guint i = 0; folders != NULL && folders[i] != NULL && elf == NULL; i++)
    elf = look_in (folders[i], end);
  if (elf == NULL && g_path_is_absolute (capture) == FALSE &&
      strcmp (capture, "-") == 0)
    return NULL;
  return elf != NULL ? elf : look_in (own, end);
}
