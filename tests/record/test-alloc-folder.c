/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flam-alloc-folder.h"
#include "flam-alloc-shared.h"

/* Files that a killed recorder leaves are removed by the next one, and nothing
 * else is, whatever its name. */

#define NOBODY 65534

static void
put (const char *folder, const char *name, guint64 magic)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_true (
      g_file_set_contents (path, (const char *)&magic, sizeof magic, NULL));
}

static FlamAllocFolder
make (guint64 magic)
{
  FlamAllocFolder folder = { NULL, -1 };

  g_assert_true (flam_alloc_folder_make (&folder, NULL));
  if (magic != 0)
    put (folder.path, "control", magic);
  put (folder.path, "123.0", 1);
  return folder;
}

static gboolean
is_there (const char *path)
{
  GStatBuf st;

  return g_lstat (path, &st) == 0;
}

static void
die (FlamAllocFolder *folder)
{
  close (folder->fd);
}

static void
clean_up (const char *folder, const char *const *names)
{
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);
      g_assert_cmpint (g_unlink (path), ==, 0);
    }
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_dead (void)
{
  FlamAllocFolder dead = make (FLAM_ALLOC_MAGIC);
  FlamAllocFolder alive = make (FLAM_ALLOC_MAGIC);

  die (&dead);
  flam_alloc_folder_sweep ();
  g_assert_false (is_there (dead.path));
  g_assert_true (is_there (alive.path));
  flam_alloc_folder_remove (&alive);
  g_assert_null (alive.path);
  g_free (dead.path);
}

static void
test_not_ours (void)
{
  const char *const both[] = { "control", "123.0", NULL };
  const char *const one[] = { "123.0", NULL };
  FlamAllocFolder users = make (0);
  FlamAllocFolder damaged = make (1);
  FlamAllocFolder open = make (FLAM_ALLOC_MAGIC);
  FlamAllocFolder others = make (FLAM_ALLOC_MAGIC);

  die (&users);
  die (&damaged);
  die (&open);
  die (&others);
  g_assert_cmpint (g_chmod (open.path, 0755), ==, 0);
  if (geteuid () == 0)
    g_assert_cmpint (chown (others.path, NOBODY, NOBODY), ==, 0);
  else
    g_assert_cmpint (g_chmod (others.path, 0770), ==, 0);
  flam_alloc_folder_sweep ();
  clean_up (users.path, one);
  clean_up (damaged.path, both);
  clean_up (open.path, both);
  clean_up (others.path, both);
  g_free (users.path);
  g_free (damaged.path);
  g_free (open.path);
  g_free (others.path);
}

/* Neither the name nor a file in the folder can lead outside. */
static void
test_links (void)
{
  const char *const names[] = { "control", "123.0", "kept", NULL };
  g_autofree char *elsewhere = g_dir_make_tmp ("flam-folder-XXXXXX", NULL);
  g_autofree char *kept = g_build_filename (elsewhere, "kept", NULL);
  FlamAllocFolder dead = make (FLAM_ALLOC_MAGIC);
  g_autofree char *inside = g_build_filename (dead.path, "124.0", NULL);
  g_autofree char *name = g_strdup (dead.path);

  put (elsewhere, "control", FLAM_ALLOC_MAGIC);
  put (elsewhere, "123.0", 1);
  put (elsewhere, "kept", 1);
  g_assert_cmpint (symlink (kept, inside), ==, 0);
  die (&dead);
  flam_alloc_folder_sweep ();
  g_assert_false (is_there (dead.path));
  g_assert_true (is_there (kept));

  g_assert_cmpint (symlink (elsewhere, name), ==, 0);
  flam_alloc_folder_sweep ();
  g_assert_true (is_there (name));
  g_assert_cmpint (g_unlink (name), ==, 0);
  clean_up (elsewhere, names);
  g_free (dead.path);
}

/* The target has replaced the folder by a link. */
static void
test_swapped (void)
{
  const char *const names[] = { "control", "123.0", NULL };
  g_autofree char *elsewhere = g_dir_make_tmp ("flam-folder-XXXXXX", NULL);
  FlamAllocFolder alive = make (FLAM_ALLOC_MAGIC);
  g_autofree char *name = g_strdup (alive.path);
  g_autofree char *moved = g_strconcat (name, "-moved", NULL);

  put (elsewhere, "control", FLAM_ALLOC_MAGIC);
  put (elsewhere, "123.0", 1);
  g_assert_cmpint (g_rename (name, moved), ==, 0);
  g_assert_cmpint (symlink (elsewhere, name), ==, 0);
  flam_alloc_folder_remove (&alive);
  clean_up (elsewhere, names);
  g_assert_cmpint (g_unlink (name), ==, 0);
  g_assert_cmpint (g_rmdir (moved), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/alloc-folder/dead", test_dead);
  g_test_add_func ("/alloc-folder/not-ours", test_not_ours);
  g_test_add_func ("/alloc-folder/links", test_links);
  g_test_add_func ("/alloc-folder/swapped", test_swapped);
  return g_test_run ();
}
