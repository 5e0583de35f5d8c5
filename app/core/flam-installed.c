/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-installed.h"

#include "flam-config.h"

#include <string.h>

/* The program's own folder ends as the folder in which it would be installed;
 * for a program that runs from a build tree it ends as neither. */
static char *
find_prefix (void)
{
  static const char *const folders[] = { FLAM_BINDIR, FLAM_LIBEXECDIR };
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *own = g_path_get_dirname (program != NULL ? program : "");

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      const char *below = folders[i] + strlen (FLAM_PREFIX);

      if (g_str_has_prefix (folders[i], FLAM_PREFIX "/") &&
          g_str_has_suffix (own, below))
        return g_strndup (own, strlen (own) - strlen (below));
    }
  return g_strdup (FLAM_PREFIX);
}

char *
flam_installed (const char *path)
{
  static char *prefix;

  if (g_once_init_enter (&prefix))
    g_once_init_leave (&prefix, find_prefix ());
  return g_str_has_prefix (path, FLAM_PREFIX "/")
             ? g_strconcat (prefix, path + strlen (FLAM_PREFIX), NULL)
             : g_strdup (path);
}
