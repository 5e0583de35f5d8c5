/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-rounds.h"

#include "flam-push.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often it checks whether to stop. */
#define LOOK (G_USEC_PER_SEC / 10)

typedef struct
{
  const FlamRecordOptions *options;
  FlamLocation *to;
  char *folder; /* temporary */
  char *path;   /* of the current capture */
} Rounds;

static volatile sig_atomic_t stopped;

static void
on_signal (int number)
{
  stopped = number;
}

/* The recorder also gets the signal from the terminal, and ends the capture. */
static void
catch_signals (void)
{
  const struct sigaction action = { .sa_handler = on_signal };

  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  sigaction (SIGHUP, &action, NULL);
}

/* --- one round ------------------------------------------------------------ */

static char **
recorder_arguments (const Rounds *self, GError **error)
{
  g_autoptr (FlamRecordOptions) options =
      flam_record_options_copy (self->options, error);
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_auto (GStrv) arguments = NULL;

  if (options == NULL)
    return NULL;
  g_free (options->output);
  options->output = g_strdup (self->path);
  options->force = TRUE;
  options->every = 0;
  g_clear_pointer (&options->push, g_free);
  if (self->options->every > 0)
    {
      options->duration = options->span;
      options->span = 0;
    }
  arguments = flam_record_options_to_arguments (options);
  g_strv_builder_add (words, flam_recorder_path ());
  g_strv_builder_add (words, g_get_prgname ());
  g_strv_builder_addv (words, (const char **)arguments);
  return g_strv_builder_end (words);
}

/* Its exit status; -1 after printing why it could not be started. */
static int
run_recorder (const Rounds *self)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) arguments = recorder_arguments (self, &error);
  GPid child;
  gboolean told = FALSE;
  int status = 0;

  if (arguments == NULL ||
      !g_spawn_async (NULL,
                      arguments,
                      NULL,
                      G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_FILE_AND_ARGV_ZERO |
                          G_SPAWN_CHILD_INHERITS_STDIN,
                      NULL,
                      NULL,
                      &child,
                      &error))
    {
      flam_cli_error ("%s", error->message);
      return -1;
    }
  /* Without a wait that only a signal ends: one that comes before it would be
   * lost. */
  while (waitpid (child, &status, WNOHANG) == 0)
    {
      if (stopped != 0 && !told)
        told = kill (child, stopped) == 0;
      g_usleep (LOOK);
    }
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

static gboolean
push_capture (const Rounds *self)
{
  static const FlamServerOptions server;
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamProfile) profile = flam_cli_load (self->path, options);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *note = NULL;

  if (profile == NULL)
    return FALSE;
  if (profile->n_measures > 0)
    selection->measure = flam_weights_default_measure (profile);
  if (!flam_push (
          self->to, profile, selection, self->path, &server, &note, &error))
    {
      g_autofree char *shown = flam_message_shown (error->message);

      flam_cli_error ("%s", shown);
      return FALSE;
    }
  if (note != NULL)
    flam_cli_error ("%s: %s", self->to->text, note);
  return TRUE;
}

/* --- all ------------------------------------------------------------------ */

/* A service that is named may come back; one that is known by its number is
 * gone for good. */
static gboolean
may_return (const FlamRecordOptions *options)
{
  return options->pids == NULL;
}

static void
wait_until (gint64 time)
{
  while (stopped == 0 && g_get_monotonic_time () < time)
    g_usleep (MIN (LOOK, (gulong)MAX (time - g_get_monotonic_time (), 1)));
}

static int
run_rounds (Rounds *self)
{
  const gint64 every = (gint64)(self->options->every * G_USEC_PER_SEC);

  for (guint round = 1;; round++)
    {
      gint64 start = g_get_monotonic_time ();
      int status = run_recorder (self);
      gboolean pushed = TRUE;

      if (g_file_test (self->path, G_FILE_TEST_EXISTS))
        pushed = push_capture (self);
      else if (every == 0 || !may_return (self->options))
        return round == 1 ? (status > 0 ? status : FLAM_EXIT_REFUSED)
                          : FLAM_EXIT_DONE;
      if (every == 0)
        return status != 0 ? MAX (status, FLAM_EXIT_REFUSED)
               : pushed    ? FLAM_EXIT_DONE
                           : FLAM_EXIT_REFUSED;
      g_unlink (self->path);
      wait_until (start + every);
      if (stopped != 0)
        return FLAM_EXIT_DONE;
    }
}

int
flam_cli_rounds (const FlamRecordOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamLocation) to = flam_location_new (options->push, &error);
  Rounds self = { .options = options, .to = to };
  int status;

  if (to == NULL || !flam_push_check (to, &error))
    {
      g_autofree char *shown = flam_message_shown (error->message);

      return flam_cli_usage ("record: --push: %s", shown);
    }
  self.folder = g_dir_make_tmp ("flambeau-push.XXXXXX", &error);
  if (self.folder == NULL)
    {
      flam_cli_error ("%s", error->message);
      return FLAM_EXIT_REFUSED;
    }
  self.path = options->output != NULL
                  ? g_strdup (options->output)
                  : g_build_filename (self.folder, "push.flambeau", NULL);
  catch_signals ();
  status = run_rounds (&self);
  if (options->output == NULL)
    g_unlink (self.path);
  g_rmdir (self.folder);
  g_free (self.folder);
  g_free (self.path);
  return status;
}
