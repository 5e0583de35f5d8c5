/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-source-path.h"

#include <glib/gstdio.h>

static void
test_normalize (void)
{
  static const char *const cases[][2] = {
    { "/a/./b/../c//d", "/a/c/d" },
    { "../src/nest.c", "../src/nest.c" },
    { "/../x", "/x" },
    { "./a.c", "a.c" },
    { "a/../../b.c", "../b.c" },
    { "", "" },
    { "/", "/" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = flam_source_path_normalize (cases[i][0]);
      g_assert_cmpstr (path, ==, cases[i][1]);
    }
}

static void
test_find (void)
{
  g_autofree char *root = g_dir_make_tmp ("flam-source-XXXXXX", NULL);
  g_autofree char *lib = g_build_filename (root, "lib", NULL);
  g_autofree char *file = g_build_filename (lib, "sort.c", NULL);
  g_autofree char *mapping = g_strconcat ("/build/=", root, "/", NULL);
  g_autoptr (FlamSourcePaths) paths = flam_source_paths_new ();
  g_autofree char *found = NULL;
  g_autofree char *below = NULL;
  g_auto (GStrv) tried = NULL;

  g_assert_no_errno (g_mkdir (lib, 0700));
  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  g_assert_false (flam_source_paths_add (paths, "no-equals"));
  g_assert_false (flam_source_paths_add (paths, "=x"));
  g_assert_null (
      flam_source_paths_find (paths, "/build/app/../lib/sort.c", &tried));
  g_assert_cmpstr (tried[0], ==, "/build/lib/sort.c");
  g_assert_null (tried[1]);

  g_assert_true (flam_source_paths_add (paths, mapping));
  found = flam_source_paths_find (paths, "/build/app/../lib/sort.c", NULL);
  g_assert_cmpstr (found, ==, file);
  g_assert_null (flam_source_paths_find (paths, "/buildx/lib/sort.c", NULL));

  flam_source_paths_add_root (paths, root);
  below = flam_source_paths_find (paths, "/elsewhere/deep/lib/sort.c", NULL);
  g_assert_cmpstr (below, ==, file);
  g_assert_no_errno (g_remove (file));
  g_assert_no_errno (g_rmdir (lib));
  g_assert_no_errno (g_rmdir (root));
}

/* Copies come after the mappings and before the path itself, and are not
 * listed. */
static void
test_copies (void)
{
  g_autofree char *root = g_dir_make_tmp ("flam-source-XXXXXX", NULL);
  g_autofree char *folder = g_build_filename (root, root, NULL);
  g_autofree char *here = g_build_filename (root, "sort.c", NULL);
  g_autofree char *copy = g_build_filename (root, here, NULL);
  g_autoptr (FlamSourcePaths) paths = flam_source_paths_new ();
  g_autofree char *found = NULL;
  g_autofree char *own = NULL;
  g_auto (GStrv) tried = NULL;

  g_assert_no_errno (g_mkdir_with_parents (folder, 0700));
  flam_source_paths_set_copies (paths, root);
  g_assert_null (flam_source_paths_find (paths, here, &tried));
  g_assert_cmpstr (tried[0], ==, here);
  g_assert_null (tried[1]);
  g_assert_true (g_file_set_contents (here, "x", 1, NULL));
  own = flam_source_paths_find (paths, here, NULL);
  g_assert_cmpstr (own, ==, here);
  g_assert_true (g_file_set_contents (copy, "x", 1, NULL));
  found = flam_source_paths_find (paths, here, NULL);
  g_assert_cmpstr (found, ==, copy);
  g_assert_null (flam_source_paths_find (paths, "sort.c", NULL));
  g_assert_no_errno (g_remove (copy));
  g_assert_no_errno (g_remove (here));
  for (g_autofree char *at = g_strdup (folder); strlen (at) >= strlen (root);)
    {
      char *parent = g_path_get_dirname (at);

      g_assert_no_errno (g_rmdir (at));
      g_free (at);
      at = parent;
    }
}

/* Names of interpreters for code that is in no file, and names of files that
 * look like them. */
static void
test_origin (void)
{
  static const struct
  {
    const char *recorded;
    FlamSourceOrigin origin;
  } cases[] = {
    { "<string>", FLAM_SOURCE_COMMAND_LINE },
    { "-e", FLAM_SOURCE_COMMAND_LINE },
    { "[eval]", FLAM_SOURCE_COMMAND_LINE },
    { "Command line code", FLAM_SOURCE_COMMAND_LINE },
    { "(command line)", FLAM_SOURCE_COMMAND_LINE },
    { "<stdin>", FLAM_SOURCE_INPUT },
    { "[stdin]", FLAM_SOURCE_INPUT },
    { "<frozen importlib._bootstrap>", FLAM_SOURCE_BUILT_IN },
    { "<internal:kernel>", FLAM_SOURCE_BUILT_IN },
    { "node:internal/timers", FLAM_SOURCE_BUILT_IN },
    { "(eval)", FLAM_SOURCE_CREATED },
    { "(eval at /home/me/a.rb:3)", FLAM_SOURCE_CREATED },
    { "evalmachine.<anonymous>", FLAM_SOURCE_CREATED },
    { "/home/me/a.php(12) : eval()'d code", FLAM_SOURCE_CREATED },
    { "Command line code(1) : eval()'d code", FLAM_SOURCE_CREATED },
    { "<ipython-input-3-0a1b>", FLAM_SOURCE_CREATED },
    { "REPL[4]", FLAM_SOURCE_CREATED },
    { "", FLAM_SOURCE_FILE },
    { "app.py", FLAM_SOURCE_FILE },
    { "/home/me/none", FLAM_SOURCE_FILE },
    { "src/<odd>/app.py", FLAM_SOURCE_FILE },
    { "nodes.js", FLAM_SOURCE_FILE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (
        flam_source_path_origin (cases[i].recorded), ==, cases[i].origin);
}

/* The names are read once, and again for other roots. */
static void
test_names (void)
{
  g_autofree char *root = g_dir_make_tmp ("flam-source-XXXXXX", NULL);
  g_autofree char *remove = g_strdup_printf ("rm -rf '%s'", root);
  g_autofree char *folder = g_build_filename (root, "a", NULL);
  g_autofree char *inner = g_build_filename (folder, "b", NULL);
  g_autofree char *file = g_build_filename (inner, "late.py", NULL);
  FlamSourceNames *names = flam_source_names_new ();
  g_autoptr (FlamSourcePaths) first = flam_source_paths_new ();
  g_autoptr (FlamSourcePaths) second = flam_source_paths_new ();
  g_autofree char *found = NULL;

  flam_source_paths_add_root (first, root);
  flam_source_paths_set_names (first, names);
  g_assert_no_errno (g_mkdir_with_parents (inner, 0700));
  g_assert_null (flam_source_paths_find (first, "late.py", NULL));
  g_assert_true (g_file_set_contents (file, "x", 1, NULL));
  g_assert_null (flam_source_paths_find (first, "late.py", NULL));
  flam_source_paths_add_root (second, folder);
  flam_source_paths_set_names (second, names);
  flam_source_names_unref (names);
  found = flam_source_paths_find (second, "late.py", NULL);
  g_assert_cmpstr (found, ==, file);
  g_assert_cmpint (system (remove), ==, 0);
}

/* A package's path begins somewhere in the project, but not in what is hidden
 * there; a name alone has to be the only one. */
static void
test_below (void)
{
  static const char *const files[] = {
    "src/main/java/shop/Order.java",
    ".git/shop/Hidden.java",
    "a/Same.java",
    "b/Same.java",
    "b/Only.java",
  };
  static const char *const cases[][2] = {
    { "shop/Order.java", "src/main/java/shop/Order.java" },
    { "shop/Hidden.java", NULL },
    { "other/Order.java", NULL },
    { "Same.java", NULL },
    { "Only.java", "b/Only.java" },
    { "/src/shop/Only.java", NULL },
    { "../shop/Order.java", NULL },
  };
  g_autofree char *root = g_dir_make_tmp ("flam-source-XXXXXX", NULL);
  g_autofree char *remove = g_strdup_printf ("rm -rf '%s'", root);
  g_autofree char *mapping = g_strconcat (".=", root, NULL);
  g_autoptr (FlamSourcePaths) paths = flam_source_paths_new ();

  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (root, files[i], NULL);
      g_autofree char *folder = g_path_get_dirname (path);

      g_assert_no_errno (g_mkdir_with_parents (folder, 0700));
      g_assert_true (g_file_set_contents (path, "x", 1, NULL));
    }
  g_assert_null (flam_source_paths_find (paths, "shop/Order.java", NULL));
  g_assert_true (flam_source_paths_add (paths, mapping));
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *found =
          flam_source_paths_find (paths, cases[i][0], NULL);
      g_autofree char *expected =
          cases[i][1] != NULL ? g_build_filename (root, cases[i][1], NULL)
                              : NULL;

      g_assert_cmpstr (found, ==, expected);
    }
  g_assert_true (g_spawn_command_line_sync (remove, NULL, NULL, NULL, NULL));
}

/* A relative path begins in the working folder of a recorded process, whatever
 * there is in other roots and in this process's folder. */
static void
test_working_folders (void)
{
  static const char *const files[] = {
    "recorded/lib/a.rb",     "chosen/lib/a.rb",     "chosen/lib/b.rb",
    "recorded/src/s/O.java", "chosen/src/s/O.java", "recorded/deep/c.c",
    "here/lib/a.rb",
  };
  static const char *const cases[][2] = {
    { "lib/a.rb", "recorded/lib/a.rb" },
    { "./lib/a.rb", "recorded/lib/a.rb" },
    { "lib/b.rb", "chosen/lib/b.rb" },
    { "s/O.java", "recorded/src/s/O.java" },
    { "/build/deep/c.c", "recorded/deep/c.c" },
    { "lib/d.rb", NULL },
  };
  g_autofree char *root = g_dir_make_tmp ("flam-source-XXXXXX", NULL);
  g_autofree char *remove = g_strdup_printf ("rm -rf '%s'", root);
  g_autofree char *chosen = g_build_filename (root, "chosen", NULL);
  g_autofree char *recorded = g_build_filename (root, "recorded/", NULL);
  g_autofree char *here = g_build_filename (root, "here", NULL);
  g_autofree char *before = g_get_current_dir ();
  g_autoptr (FlamSourcePaths) paths = flam_source_paths_new ();
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamId process = flam_builder_process (builder, 1, 0);
  g_autoptr (FlamProfile) profile = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (root, files[i], NULL);
      g_autofree char *folder = g_path_get_dirname (path);

      g_assert_no_errno (g_mkdir_with_parents (folder, 0700));
      g_assert_true (g_file_set_contents (path, "x", 1, NULL));
    }
  flam_builder_add_working_folder (builder, process, "/");
  flam_builder_add_working_folder (builder, process, "~/hidden");
  flam_builder_add_working_folder (builder, process, "/proc");
  flam_builder_add_working_folder (builder, process, recorded);
  profile = flam_builder_finish (builder, NULL);
  flam_source_paths_add_root (paths, chosen);
  flam_source_paths_add_profile (paths, profile);
  g_assert_no_errno (g_chdir (here));
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *found =
          flam_source_paths_find (paths, cases[i][0], NULL);
      g_autofree char *expected =
          cases[i][1] != NULL ? g_build_filename (root, cases[i][1], NULL)
                              : NULL;

      g_assert_cmpstr (found, ==, expected);
    }
  g_assert_null (flam_source_paths_find (paths, "version", NULL));
  g_assert_no_errno (g_chdir (before));
  g_assert_true (g_spawn_command_line_sync (remove, NULL, NULL, NULL, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/source-path/normalize", test_normalize);
  g_test_add_func ("/source-path/find", test_find);
  g_test_add_func ("/source-path/copies", test_copies);
  g_test_add_func ("/source-path/below", test_below);
  g_test_add_func ("/source-path/working-folders", test_working_folders);
  g_test_add_func ("/source-path/names", test_names);
  g_test_add_func ("/source-path/origin", test_origin);
  return g_test_run ();
}
