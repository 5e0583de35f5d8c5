/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-installed.h"

#include "flam-config.h"

#include <string.h>

static char *
find_program (void)
{
  char *program = g_file_read_link ("/proc/self/exe", NULL);

  return program != NULL ? program : g_strdup ("");
}

/* Compares the end of the program's own folder with the folder in which it
 * would be installed. A program in a build tree has no such end: NULL. */
static char *
find_prefix (void)
{
  static const char *const folders[] = { FLAM_BINDIR, FLAM_LIBEXECDIR };
  g_autofree char *program = find_program ();
  g_autofree char *own = g_path_get_dirname (program);

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      const char *below = folders[i] + strlen (FLAM_PREFIX);

      if (g_str_has_prefix (folders[i], FLAM_PREFIX "/") &&
          g_str_has_suffix (own, below))
        return g_strndup (own, strlen (own) - strlen (below));
    }
  return NULL;
}

char *
flam_installed (const char *path)
{
  static char *prefix;

  if (g_once_init_enter (&prefix))
    {
      char *moved = find_prefix ();

      g_once_init_leave (&prefix,
                         moved != NULL ? moved : g_strdup (FLAM_PREFIX));
    }
  return g_str_has_prefix (path, FLAM_PREFIX "/")
             ? g_strconcat (prefix, path + strlen (FLAM_PREFIX), NULL)
             : g_strdup (path);
}

char *
flam_build_tree (void)
{
  static const char *const rooms[] = { "/app/", "/tests/" };
  g_autofree char *prefix = find_prefix ();
  g_autofree char *program = find_program ();
  const char *room = NULL;

  for (guint i = 0; prefix == NULL && i < G_N_ELEMENTS (rooms); i++)
    room = MAX (room, (const char *)g_strrstr (program, rooms[i]));
  return room != NULL ? g_strndup (program, (gsize)(room - program)) : NULL;
}

char *
flam_installed_or_built (const char *path, const char *built)
{
  g_autofree char *tree = flam_build_tree ();
  g_autofree char *own =
      tree != NULL ? g_build_filename (tree, built, NULL) : NULL;

  return own != NULL && g_file_test (own, G_FILE_TEST_EXISTS)
             ? g_steal_pointer (&own)
             : flam_installed (path);
}
