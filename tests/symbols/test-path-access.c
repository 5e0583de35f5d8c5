/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Names from untrusted sources: which of them may be opened. */

#include "flam-binaries.h"
#include "flam-perf-map.h"
#include "flam-path-access.h"
#include "flam-source-path.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/resource.h>
#include <unistd.h>

static char *folder;

/* --- the list of mounts -------------------------------------------------- */

/* The linker puts these in place of GLib's functions (--wrap), so that the list
 * is this text, and is read again each time. */
static char *mountinfo; /* NULL: the system's own */

gboolean __real_g_file_get_contents (const char *name,
                                     char **text,
                                     gsize *size,
                                     GError **error);
gboolean __wrap_g_file_get_contents (const char *name,
                                     char **text,
                                     gsize *size,
                                     GError **error);
gint64 __wrap_g_get_monotonic_time (void);

gboolean
__wrap_g_file_get_contents (const char *name,
                            char **text,
                            gsize *size,
                            GError **error)
{
  if (mountinfo == NULL || strcmp (name, "/proc/self/mountinfo") != 0)
    return __real_g_file_get_contents (name, text, size, error);
  *text = g_strdup (mountinfo);
  return TRUE;
}

gint64
__wrap_g_get_monotonic_time (void)
{
  static gint64 now;

  return now += G_TIME_SPAN_MINUTE;
}

/* --- paths --------------------------------------------------------------- */

static char *
in_folder (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static gboolean
opens (const char *path)
{
  g_autoptr (GError) error = NULL;
  struct stat info;
  int fd = flam_path_access_open (path, &info, &error);

  g_assert_true ((fd < 0) == (error != NULL));
  if (fd < 0)
    return FALSE;
  close (fd);
  return TRUE;
}

static void
link_to (const char *target, const char *name)
{
  g_autofree char *path = in_folder (name);

  g_unlink (path);
  g_assert_cmpint (symlink (target, path), ==, 0);
}

static gboolean
link_opens (const char *target)
{
  g_autofree char *path = in_folder ("link");

  link_to (target, "link");
  return opens (path);
}

static void
test_kernel (void)
{
  g_autofree char *up = NULL;
  g_autofree char *loop = in_folder ("loop");

  g_assert_false (opens ("/proc/self/pagemap"));
  g_assert_false (opens ("/proc/self/maps"));
  g_assert_false (opens ("//proc/./self/../self/maps"));
  g_assert_false (opens ("/sys/kernel/notes"));
  g_assert_false (opens ("/dev/zero"));
  g_assert_false (link_opens ("/proc/self/maps"));
  g_assert_false (link_opens ("../../../../../../proc/self/maps"));
  up = g_build_filename (folder, "../../../../../../proc/self/maps", NULL);
  g_assert_false (opens (up));
  link_to ("loop", "loop");
  g_assert_false (opens (loop));
}

static void
test_regular (void)
{
  g_autofree char *fifo = in_folder ("fifo");
  g_autofree char *file = in_folder ("file.c");
  g_autofree char *folded = g_build_filename (folder, ".", "file.c", NULL);

  g_assert_true (g_file_set_contents (file, "int x;\n", -1, NULL));
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  g_assert_false (opens (fifo)); /* and does not wait for a writer */
  g_assert_false (opens (folder));
  g_assert_true (opens (file));
  g_assert_true (opens (folded));
  g_assert_true (link_opens (file));
  g_assert_true (link_opens ("file.c"));
  g_assert_true (link_opens ("./nothing/../file.c") == FALSE);
}

/* The folder, with a file system of this kind on "mounted" in it. */
static void
mount_as (const char *type)
{
  g_free (mountinfo);
  mountinfo = g_strdup_printf (
      "1 0 8:1 / / rw - ext4 /dev/x rw\n"
      "2 1 0:9 / %s/mounted rw,relatime shared:1 - %s there:/x rw\n",
      folder,
      type);
}

static void
test_network (void)
{
  static const char *const kinds[] = { "nfs",        "nfs4",   "cifs",
                                       "fuse.sshfs", "autofs", "smb3" };
  g_autofree char *below = in_folder ("mounted/share");
  g_autofree char *file = in_folder ("mounted/share/a.c");
  g_autofree char *base_lines = in_folder ("mounted-not/a.c");
  g_autofree char *beside_folder = in_folder ("mounted-not");

  g_mkdir_with_parents (below, 0700);
  g_mkdir_with_parents (beside_folder, 0700);
  g_assert_true (g_file_set_contents (file, "int x;\n", -1, NULL));
  g_assert_true (g_file_set_contents (base_lines, "int x;\n", -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      mount_as (kinds[i]);
      g_assert_false (opens (file));
      g_assert_false (link_opens ("mounted/share/a.c"));
      g_assert_true (opens (base_lines));
    }
  mount_as ("ext4");
  g_assert_true (opens (file));
  /* Named by the user: only below this folder for an automount, otherwise the
   * whole file system. */
  mount_as ("autofs");
  flam_path_access_grant (below);
  g_assert_true (opens (file));
  mount_as ("nfs");
  g_assert_true (opens (file));
  g_clear_pointer (&mountinfo, g_free);
}

/* The code that opens such names. */
static void
test_askers (void)
{
  g_autoptr (FlamSourcePaths) paths = flam_source_paths_new ();
  g_autoptr (FlamBinaries) binaries = flam_binaries_new (NULL, NULL);
  g_autofree char *why = NULL;

  flam_source_paths_add_root (paths, folder);
  g_assert_null (flam_source_paths_find (paths, "/proc/self/pagemap", NULL));
  g_assert_null (
      flam_source_paths_find (paths, "../../../proc/self/pagemap", NULL));
  g_assert_null (flam_binaries_find (binaries, "/proc/self/exe", "", &why));
  g_assert_nonnull (why);
}

static void
test_read (void)
{
  g_autofree char *file = in_folder ("read.c");
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  gsize size;

  g_assert_true (g_file_set_contents (file, "a\0b\n", 4, NULL));
  text = flam_path_access_read (file, 4, &size, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (text, size, "a\0b\n", 4);
  g_assert_cmpint (text[4], ==, 0);
  g_assert_null (flam_path_access_read (file, 3, &size, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_TOO_LARGE);
  g_clear_error (&error);
  g_assert_null (
      flam_path_access_read ("/proc/self/maps", 1 << 20, &size, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_SYSTEM);
}

/* A hole takes no memory: half a GiB of it would be noticed. */
static void
test_sparse_map (void)
{
  g_autofree char *path = g_strdup_printf ("/tmp/perf-%d.map", getpid ());
  g_autoptr (FlamPerfMap) map = NULL;
  struct rusage before, after;

  g_assert_true (g_file_set_contents (path, "1000 10 one\n", -1, NULL));
  g_assert_cmpint (truncate (path, (off_t)512 << 20), ==, 0);
  getrusage (RUSAGE_SELF, &before);
  map = flam_perf_map_open_process (getpid (), NULL);
  getrusage (RUSAGE_SELF, &after);
  g_assert_no_errno (g_remove (path));
  g_assert_cmpstr (flam_perf_map_find (map, 0x1008), ==, "one");
  g_assert_cmpint (after.ru_maxrss - before.ru_maxrss, <, 64 << 10);
}

static void
remove_all (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inside = g_build_filename (path, name, NULL);

      if (g_unlink (inside) != 0)
        remove_all (inside);
    }
  g_rmdir (path);
}

/* Links of a container mean its own files. */
static void
test_root (void)
{
  g_autofree char *root = g_build_filename (folder, "container", NULL);
  g_autofree char *etc = g_build_filename (root, "etc", NULL);
  g_autofree char *file = g_build_filename (etc, "name", NULL);
  g_autofree char *inside = g_build_filename (root, "inside", NULL);
  g_autofree char *outside = g_build_filename (root, "outside", NULL);
  g_autofree char *above = g_build_filename (root, "above", NULL);
  g_autofree char *text = NULL;
  g_autofree char *climbed = NULL;
  gsize size = 0;

  g_assert_cmpint (g_mkdir_with_parents (etc, 0700), ==, 0);
  g_assert_true (g_file_set_contents (file, "its own", -1, NULL));
  g_assert_cmpint (symlink ("/etc/name", inside), ==, 0);
  g_assert_cmpint (symlink ("/etc/passwd", outside), ==, 0);
  g_assert_cmpint (symlink ("../../../etc/name", above), ==, 0);
  g_assert_null (flam_path_access_read (inside, 100, &size, NULL));
  flam_path_access_grant_root (root);
  text = flam_path_access_read (inside, 100, &size, NULL);
  g_assert_cmpstr (text, ==, "its own");
  g_assert_null (flam_path_access_read (outside, 1 << 20, &size, NULL));
  climbed = flam_path_access_read (above, 100, &size, NULL);
  g_assert_cmpstr (climbed, ==, "its own");
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("flambeau-path-access-XXXXXX", NULL);
  g_test_add_func ("/path-access/kernel", test_kernel);
  g_test_add_func ("/path-access/regular", test_regular);
  g_test_add_func ("/path-access/network", test_network);
  g_test_add_func ("/path-access/askers", test_askers);
  g_test_add_func ("/path-access/read", test_read);
  g_test_add_func ("/path-access/root", test_root);
  g_test_add_func ("/path-access/sparse-map", test_sparse_map);
  status = g_test_run ();
  remove_all (folder);
  g_free (folder);
  return status;
}
