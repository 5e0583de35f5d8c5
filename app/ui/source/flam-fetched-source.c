/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-fetched-source.h"

#include "flam-flatpak.h"
#include "flam-record-options.h"
#include "flam-transport.h"

#include <string.h>

const char *
flam_fetched_host (const FlamProfile *profile, const char *recorded)
{
  const char *host = flam_facts_other (&profile->facts, FLAM_FACT_REACHED);

  return host != NULL && recorded != NULL && *recorded == '/' &&
                 strchr (recorded, '\n') == NULL &&
                 flam_transport_check (host, NULL)
             ? host
             : NULL;
}

/* `host` is a capture's text; g_free. */
static char *
folder_of (const FlamProfile *profile,
           FlamFunctionId function,
           const char *host)
{
  FlamModuleId module =
      function != FLAM_NONE ? profile->functions.module[function] : FLAM_NONE;
  const char *id =
      module != FLAM_NONE
          ? flam_profile_string (profile, profile->modules.build_id[module])
          : "";
  g_autofree char *host_part = g_uri_escape_string (host, "@", TRUE);
  g_autofree char *id_part = g_uri_escape_string (id, NULL, TRUE);
  g_autofree char *on = g_strconcat ("on-", host_part, NULL);
  g_autofree char *build = g_strconcat ("build-", id_part, NULL);

  return g_build_filename (
      g_get_user_cache_dir (), "flambeau", "sources", on, build, NULL);
}

void
flam_fetched_add_paths (FlamSourcePaths *paths,
                        const FlamProfile *profile,
                        FlamFunctionId function)
{
  const char *host = flam_fetched_host (profile, "/");
  g_autofree char *folder =
      host != NULL ? folder_of (profile, function, host) : NULL;

  if (folder != NULL && g_file_test (folder, G_FILE_TEST_IS_DIR))
    flam_source_paths_set_copies (paths, folder);
}

/* --- fetching ------------------------------------------------------------- */

static void
fetched (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  GSubprocess *recorder = G_SUBPROCESS (source);
  g_autofree char *printed = NULL;
  GError *error = NULL;
  const char *message;

  if (!g_subprocess_communicate_utf8_finish (
          recorder, result, NULL, &printed, &error))
    g_task_return_error (task, error);
  else if (g_subprocess_get_successful (recorder))
    g_task_return_boolean (task, TRUE);
  else
    {
      /* The program's name is before it. */
      message = strstr (printed, ": ");
      g_task_return_new_error (
          task,
          FLAM_ERROR,
          FLAM_ERROR_SYSTEM,
          "%s",
          g_strchomp (message != NULL ? (char *)message + 2 : printed));
    }
}

static char **
command_of (const char *host,
            const char *recorded,
            const char *output,
            GError **error)
{
  g_autoptr (FlamRecordOptions) options = flam_record_options_new ();
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_auto (GStrv) arguments = NULL;
  g_auto (GStrv) inside = NULL;

  options->host = g_strdup (host);
  options->fetch = g_strdup (recorded);
  options->output = g_strdup (output);
  arguments = flam_record_options_to_arguments (options);
  g_strv_builder_add (words, flam_recorder_path ());
  g_strv_builder_addv (words, (const char **)arguments);
  inside = g_strv_builder_end (words);
  if (!g_file_test (FLAM_FLATPAK_INFO, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&inside);
  return flam_flatpak_command (
      FLAM_FLATPAK_INFO, (const char *const *)inside, NULL, -1, error);
}

void
flam_fetched_fetch (const FlamProfile *profile,
                    FlamFunctionId function,
                    const char *recorded,
                    GAsyncReadyCallback done,
                    gpointer data)
{
  g_autoptr (GTask) task = g_task_new (NULL, NULL, done, data);
  const char *host = flam_fetched_host (profile, recorded);
  g_autofree char *folder = folder_of (profile, function, host);
  g_autofree char *path = flam_source_path_normalize (recorded);
  g_autofree char *output = g_build_filename (folder, path, NULL);
  g_autoptr (GSubprocess) recorder = NULL;
  GError *error = NULL;
  g_auto (GStrv) command = command_of (host, path, output, &error);

  if (command != NULL)
    recorder = g_subprocess_newv (
        (const char *const *)command, G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
  if (recorder == NULL)
    g_task_return_error (task, error);
  else
    g_subprocess_communicate_utf8_async (
        recorder, NULL, NULL, fetched, g_steal_pointer (&task));
}

gboolean
flam_fetched_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
