/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Completion of paths in a folder of known files. */

#include "flam-path-completion.h"

#include <glib/gstdio.h>
#include <sys/stat.h>

static char *folder;

static void
touch (const char *name, int mode)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  g_assert_no_errno (g_chmod (path, mode));
}

static void
make_folder (const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_no_errno (g_mkdir (path, 0700));
}

typedef struct
{
  const char *text, *inserted;
  guint candidates;
  FlamCompleteWhat what;
} Case;

static const Case cases[] = {
  { "./pro", "gram ", 1, FLAM_COMPLETE_COMMAND },
  { "./no", "", 0, FLAM_COMPLETE_COMMAND },
  { "./not", "", 0, FLAM_COMPLETE_COMMAND }, /* a program must be runnable */
  { "x not", "es.txt ", 1, FLAM_COMPLETE_COMMAND },
  { "x my", "\\ file ", 1, FLAM_COMPLETE_COMMAND },
  { "x my\\ f", "ile ", 1, FLAM_COMPLETE_COMMAND },
  { "x \"my f", "ile\" ", 1, FLAM_COMPLETE_COMMAND },
  { "x 'my f", "ile' ", 1, FLAM_COMPLETE_COMMAND },
  { "x lib", "", 2, FLAM_COMPLETE_COMMAND },
  { "x li", "b", 2, FLAM_COMPLETE_COMMAND },
  { "x libe", "xec/", 1, FLAM_COMPLETE_COMMAND },
  { "x libexec/", "in ", 1, FLAM_COMPLETE_COMMAND },
  { "x .h", "idden ", 1, FLAM_COMPLETE_COMMAND },
  { "x gr\xc3\xbc", "n-", 2, FLAM_COMPLETE_COMMAND },
  { "x k", "", 2, FLAM_COMPLETE_COMMAND }, /* "ä" and "ö" share a byte */
  { "runnab", "le-of-flambeau ", 1, FLAM_COMPLETE_COMMAND },
  { "", "", 0, FLAM_COMPLETE_COMMAND },
  { "libe", "xec/", 1, FLAM_COMPLETE_FOLDER },
  { "not", "", 0, FLAM_COMPLETE_FOLDER },
  { "our ", "folder/", 1, FLAM_COMPLETE_FOLDER },
};

static void
test_cases (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) candidates =
          g_ptr_array_new_with_free_func (g_free);
      g_autofree char *inserted =
          flam_path_complete (cases[i].text, folder, cases[i].what, candidates);

      g_test_message ("“%s”", cases[i].text);
      g_assert_cmpstr (inserted, ==, cases[i].inserted);
      g_assert_cmpuint (candidates->len, ==, cases[i].candidates);
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *path = NULL;
  g_autofree char *command = NULL;
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("flam-completion-XXXXXX", NULL);
  path = g_build_filename (folder, "path", NULL);
  command = g_strconcat ("rm -r ", folder, NULL);
  touch ("program", 0755);
  touch ("notes.txt", 0644);
  touch ("my file", 0644);
  touch (".hidden", 0644);
  touch ("gr\xc3\xbcn-1", 0644);
  touch ("gr\xc3\xbcn-2", 0644);
  make_folder ("our folder");
  make_folder ("lib");
  make_folder ("libexec");
  make_folder ("path");
  touch ("k\xc3\xa4", 0644);
  touch ("k\xc3\xb6", 0644);
  touch ("libexec/in", 0644);
  touch ("libexec/.hidden", 0644);
  touch ("path/runnable-of-flambeau", 0755);
  touch ("path/runnabit", 0644);
  g_setenv ("PATH", path, TRUE);
  g_test_add_func ("/path-completion/cases", test_cases);
  status = g_test_run ();
  g_setenv ("PATH", "/usr/bin:/bin", TRUE);
  g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL);
  return status;
}
