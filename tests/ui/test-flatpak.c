/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flatpak.h"

#include <glib/gstdio.h>
#include <unistd.h>

static char *
info_file (const char *text)
{
  g_autoptr (GError) error = NULL;
  char *path = NULL;
  int fd = g_file_open_tmp ("flatpak-info-XXXXXX", &path, &error);

  g_assert_no_error (error);
  close (fd);
  g_assert_true (g_file_set_contents (path, text, -1, &error));
  return path;
}

static void
test_command (void)
{
  static const char *const arguments[] = {
    "/app/libexec/flambeau/flambeau-recorder",
    "--control-fd=3",
    "--",
    "ls",
    "a b",
    NULL
  };
  static const char *const wanted[] = {
    "flatpak-spawn",
    "--host",
    "--watch-bus",
    "--forward-fd=3",
    "--env=FLAMBEAU_ALLOC_LIB=/F/app/files/lib/flambeau/libflambeau-alloc.so",
    "--directory=/home/me/a folder",
    "/F/runtime/files/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
    "--library-path",
    "/F/app/files/lib:/F/runtime/files/lib/x86_64-linux-gnu",
    "/F/app/files/libexec/flambeau/flambeau-recorder",
    "--control-fd=3",
    "--",
    "ls",
    "a b",
    NULL
  };
  g_autofree char *info = info_file ("[Application]\nname=x\n[Instance]\n"
                                     "app-path=/F/app/files\n"
                                     "runtime-path=/F/runtime/files\n");
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) command =
      flam_flatpak_command (info, arguments, "/home/me/a folder", 3, &error);

  g_assert_no_error (error);
  g_assert_cmpstrv (command, wanted);
  g_unlink (info);
}

static void
test_errors (void)
{
  static const char *const arguments[] = { "/app/x", NULL };
  g_autofree char *info = info_file ("[Instance]\napp-path=/F/app\n");
  g_autoptr (GError) error = NULL;

  g_assert_null (flam_flatpak_command (info, arguments, NULL, 3, &error));
  g_assert_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_KEY_NOT_FOUND);
  g_clear_error (&error);
  g_unlink (info);
  g_assert_null (flam_flatpak_command (info, arguments, NULL, 3, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/flatpak/command", test_command);
  g_test_add_func ("/flatpak/errors", test_errors);
  return g_test_run ();
}
