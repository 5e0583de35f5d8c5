/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-flatpak.h"

#include <string.h>

#define LIBRARIES "lib/x86_64-linux-gnu"
#define LINKER LIBRARIES "/ld-linux-x86-64.so.2"

/* "/app/libexec/x" -> APP-PATH "/libexec/x" */
static char *
outside (const char *path, const char *app)
{
  return g_str_has_prefix (path, "/app/")
             ? g_build_filename (app, path + strlen ("/app/"), NULL)
             : g_strdup (path);
}

static void
add_spawn (GStrvBuilder *command, const char *app, const char *cwd, int fd)
{
  g_autofree char *library = g_strconcat ("--env=FLAMBEAU_ALLOC_LIB=",
                                          app,
                                          "/lib/flambeau/libflambeau-alloc.so",
                                          NULL);

  g_strv_builder_add_many (
      command, "flatpak-spawn", "--host", "--watch-bus", NULL);
  if (fd >= 0)
    {
      g_autofree char *forward = g_strdup_printf ("--forward-fd=%d", fd);

      g_strv_builder_add (command, forward);
    }
  g_strv_builder_add (command, library);
  if (cwd != NULL)
    {
      g_autofree char *folder = g_strconcat ("--directory=", cwd, NULL);

      g_strv_builder_add (command, folder);
    }
}

static void
add_linker (GStrvBuilder *command, const char *app, const char *runtime)
{
  g_autofree char *linker = g_build_filename (runtime, LINKER, NULL);
  g_autofree char *path =
      g_strconcat (app, "/lib:", runtime, "/" LIBRARIES, NULL);

  g_strv_builder_add_many (command, linker, "--library-path", path, NULL);
}

char **
flam_flatpak_command (const char *info,
                      const char *const *arguments,
                      const char *cwd,
                      int fd,
                      GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GStrvBuilder) command = g_strv_builder_new ();
  g_autofree char *app = NULL;
  g_autofree char *runtime = NULL;
  g_autofree char *recorder = NULL;

  if (!g_key_file_load_from_file (file, info, G_KEY_FILE_NONE, error))
    return NULL;
  app = g_key_file_get_string (file, "Instance", "app-path", error);
  if (app == NULL)
    return NULL;
  runtime = g_key_file_get_string (file, "Instance", "runtime-path", error);
  if (runtime == NULL)
    return NULL;

  add_spawn (command, app, cwd, fd);
  add_linker (command, app, runtime);
  recorder = outside (arguments[0], app);
  g_strv_builder_add (command, recorder);
  g_strv_builder_addv (command, (const char **)arguments + 1);
  return g_strv_builder_end (command);
}
