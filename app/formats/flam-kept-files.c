/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-kept-files.h"

#include <string.h>
#include <sys/stat.h>

static void
clear (gpointer file)
{
  g_free (((FlamKeptFile *)file)->path);
}

static int
by_use (gconstpointer a, gconstpointer b)
{
  const FlamKeptFile *x = a, *y = b;

  return (x->used < y->used) - (x->used > y->used);
}

GArray *
flam_kept_files (const char *folder, const char *suffix)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GArray *list = g_array_new (FALSE, FALSE, sizeof (FlamKeptFile));
  const char *name;

  g_array_set_clear_func (list, clear);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      FlamKeptFile file = { g_build_filename (folder, name, NULL) };
      struct stat at;

      if (strstr (name, suffix) == NULL || lstat (file.path, &at) != 0)
        {
          g_free (file.path);
          continue;
        }
      file.size = (guint64)at.st_size;
      file.used =
          at.st_mtim.tv_sec * G_USEC_PER_SEC + at.st_mtim.tv_nsec / 1000;
      g_array_append_val (list, file);
    }
  g_array_sort (list, by_use);
  return list;
}
