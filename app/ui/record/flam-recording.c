/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-recording.h"

#include "flam-config.h"
#include "flam-core-profile.h"
#include "flam-environment.h"
#include "flam-flatpak.h"
#include "flam-printed.h"
#include "flam-settings.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define CONTROL_FD 3

struct _FlamRecording
{
  GObject parent_instance;

  char *path;
  char *title;
  FlamRecordOptions *options;
  char *name;
  char **envp;
  FlamPrinted *printed;
  int control; /* our end of the socket pair */
  int input;   /* our end of the terminal that the program reads; -1: none */
  int target;  /* the program's process; 0: not known yet, or elsewhere */
  GDataInputStream *lines;
  GSubprocess *process;
  GCancellable *cancellable;

  FlamRecordingState state;
  gint64 elapsed_ms; /* without pauses */
  gint64 clock_ms;   /* the recorder's descriptors, with their numbers */
  gint64 paused_ms;
  gboolean begun; /* the options' delay has passed */
  guint64 samples;
  int exit_status; /* as in a shell; -1: not ended yet, or unknown */
  GArray *left;    /* int: processes that outlived the program */
  char *left_name; /* of the last one */
  char *message;   /* the recorder's own error message */
  gboolean broken; /* the connection to another machine */
  gboolean finished;
};

enum
{
  SIGNAL_CHANGED,
  SIGNAL_FINISHED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (FlamRecording, flam_recording, G_TYPE_OBJECT)

/* --- options -------------------------------------------------------------- */

FlamRecordOptions *
flam_recording_options_new (void)
{
  GSettings *settings = flam_settings_get ();
  FlamRecordOptions *options = flam_record_options_new ();

  g_free (options->mode);
  options->mode = g_settings_get_string (settings, FLAM_KEY_RECORD_MODE);
  options->rate = g_settings_get_uint (settings, FLAM_KEY_RECORD_RATE);
  options->sample_bytes =
      (gint64)g_settings_get_uint64 (settings, FLAM_KEY_RECORD_BYTES);
  options->exact = options->sample_bytes == 0;
  options->follow = g_settings_get_boolean (settings, FLAM_KEY_RECORD_FOLLOW);
  options->python = g_settings_get_boolean (settings, FLAM_KEY_RECORD_PYTHON);
  options->python_malloc =
      g_settings_get_boolean (settings, FLAM_KEY_RECORD_PYTHON_MALLOC);
  return options;
}

/* In the user's data folder, since a recording is work, not cache. */
static char *
new_path (const char *title)
{
  g_autofree char *folder =
      g_build_filename (g_get_user_data_dir (), "flambeau", "recordings", NULL);
  g_autofree char *base = g_strdelimit (g_strdup (title), "/", '-');
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *stamp = g_date_time_format (now, "%Y-%m-%d %H.%M.%S");
  char *path = NULL;

  g_mkdir_with_parents (folder, 0700);
  for (guint i = 1; path == NULL; i++)
    {
      g_autofree char *name =
          i == 1 ? g_strdup_printf ("%s %s.flambeau", base, stamp)
                 : g_strdup_printf ("%s %s-%u.flambeau", base, stamp, i);
      path = g_build_filename (folder, name, NULL);
      if (g_file_test (path, G_FILE_TEST_EXISTS))
        g_clear_pointer (&path, g_free);
    }
  return path;
}

/* --- messages ------------------------------------------------------------- */

static void
set_state (FlamRecording *self, FlamRecordingState state)
{
  if (self->state < FLAM_RECORDING_FINISHING || state > self->state)
    self->state = state;
}

static void
take_line (FlamRecording *self, const char *line)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 5);
  guint n = g_strv_length (words);

  if (n >= 5 && strcmp (words[0], "status") == 0)
    {
      gint64 now = g_ascii_strtoll (words[1], NULL, 10);

      if (self->state == FLAM_RECORDING_PAUSED)
        self->paused_ms += now - self->clock_ms;
      self->clock_ms = now;
      self->elapsed_ms = now - self->paused_ms;
      self->samples = g_ascii_strtoull (words[2], NULL, 10);
      if (self->state == FLAM_RECORDING_STARTING)
        set_state (self, FLAM_RECORDING_RUNNING);
    }
  else if (g_str_has_prefix (line, "target "))
    {
      if (self->options->host == NULL)
        self->target = atoi (line + strlen ("target "));
      set_state (self, FLAM_RECORDING_RUNNING);
    }
  else if (strcmp (line, "broken") == 0 || strcmp (line, "joined") == 0)
    self->broken = *line == 'b';
  else if (strcmp (line, "paused") == 0)
    set_state (self, FLAM_RECORDING_PAUSED);
  else if (strcmp (line, "resumed") == 0)
    {
      self->begun = TRUE;
      set_state (self, FLAM_RECORDING_RUNNING);
    }
  else if (g_str_has_prefix (line, "exited "))
    self->exit_status = atoi (line + strlen ("exited "));
  else if (n >= 2 && strcmp (words[0], "left") == 0)
    {
      int pid = atoi (words[1]);

      g_array_append_val (self->left, pid);
      g_free (self->left_name);
      self->left_name = g_strdup (n > 2 ? words[2] : "");
    }
  else if (strcmp (line, "finishing") == 0)
    set_state (self, FLAM_RECORDING_FINISHING);
  else if (g_str_has_prefix (line, "done"))
    set_state (self, FLAM_RECORDING_DONE);
  else if (g_str_has_prefix (line, "error "))
    {
      g_free (self->message);
      self->message = g_strdup (line + strlen ("error "));
    }
  g_signal_emit (self, signals[SIGNAL_CHANGED], 0);
}

static void read_line (FlamRecording *self);

static void
finish (FlamRecording *self)
{
  g_autoptr (GError) error = NULL;

  if (self->finished)
    return;
  self->finished = TRUE;
  if (self->message != NULL)
    error = g_error_new_literal (FLAM_ERROR, FLAM_ERROR_SYSTEM, self->message);
  else if (self->state != FLAM_RECORDING_DONE)
    error = g_error_new (FLAM_ERROR,
                         FLAM_ERROR_SYSTEM,
                         _ ("The recorder ended before its capture was "
                            "complete; the written part is in %s"),
                         self->path);
  self->state = FLAM_RECORDING_DONE;
  g_signal_emit (self, signals[SIGNAL_FINISHED], 0, error);
}

static void
line_read (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (FlamRecording) self = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *line = g_data_input_stream_read_line_finish_utf8 (
      G_DATA_INPUT_STREAM (source), result, NULL, &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  if (line == NULL)
    {
      finish (self);
      return;
    }
  take_line (self, line);
  read_line (self);
}

static void
read_line (FlamRecording *self)
{
  g_data_input_stream_read_line_async (self->lines,
                                       G_PRIORITY_DEFAULT,
                                       self->cancellable,
                                       line_read,
                                       g_object_ref (self));
}

/* --- commands ------------------------------------------------------------- */

static void
say (FlamRecording *self, const char *words)
{
  if (self->control >= 0 &&
      send (self->control, words, strlen (words), MSG_NOSIGNAL) < 0)
    g_debug ("recorder: %s: %s", words, g_strerror (errno));
}

void
flam_recording_stop (FlamRecording *self)
{
  g_return_if_fail (FLAM_IS_RECORDING (self));
  say (self, "stop\n");
}

void
flam_recording_set_paused (FlamRecording *self, gboolean paused)
{
  g_return_if_fail (FLAM_IS_RECORDING (self));
  say (self, paused ? "pause\n" : "resume\n");
}

char *
flam_recording_take_printed (FlamRecording *self, gboolean *left_out)
{
  g_return_val_if_fail (FLAM_IS_RECORDING (self), NULL);
  return flam_printed_take (self->printed, left_out);
}

/* --- input ---------------------------------------------------------------- */

/* Nobody reads the terminal's echo: the pane shows what was sent. It is
 * nobody's controlling terminal, so that it sends no signals. -1 if the system
 * has none; the program then reads what the window does. */
static int
open_terminal (FlamRecording *self)
{
  int theirs;

  if (openpty (&self->input, &theirs, NULL, NULL, NULL) != 0)
    {
      self->input = -1;
      return -1;
    }
  fcntl (self->input, F_SETFD, FD_CLOEXEC);
  fcntl (self->input, F_SETFL, O_NONBLOCK);
  fcntl (theirs, F_SETFD, FD_CLOEXEC);
  return theirs;
}

gboolean
flam_recording_takes_input (FlamRecording *self)
{
  g_return_val_if_fail (FLAM_IS_RECORDING (self), FALSE);
  return self->input >= 0 && !self->finished && self->exit_status < 0;
}

/* The kernel's line on a waiting process: the number of its system call, read()
 * is 0, and its arguments. */
gboolean
flam_recording_waits_for_input (FlamRecording *self)
{
  g_autofree char *path = NULL;
  g_autofree char *line = NULL;

  g_return_val_if_fail (FLAM_IS_RECORDING (self), FALSE);
  if (!flam_recording_takes_input (self) || self->target <= 0)
    return FALSE;
  path = g_strdup_printf ("/proc/%d/syscall", self->target);
  return g_file_get_contents (path, &line, NULL, NULL) &&
         g_str_has_prefix (line, "0 0x0 ");
}

gboolean
flam_recording_hides_input (FlamRecording *self)
{
  struct termios mode;

  g_return_val_if_fail (FLAM_IS_RECORDING (self), FALSE);
  return self->input >= 0 && tcgetattr (self->input, &mode) == 0 &&
         (mode.c_lflag & (tcflag_t)ECHO) == 0;
}

void
flam_recording_send_input (FlamRecording *self, const char *text)
{
  char unread[256];

  g_return_if_fail (FLAM_IS_RECORDING (self));
  if (self->input < 0)
    return;
  /* The echo, and a program's output to its own input, would fill the
   * terminal. */
  while (read (self->input, unread, sizeof unread) > 0)
    ;
  if (write (self->input, text, strlen (text)) < 0)
    g_debug ("input: %s", g_strerror (errno));
}

/* --- exit status ---------------------------------------------------------- */

/* The one that `left_name` names. */
static int
last_left (const FlamRecording *self)
{
  return g_array_index (self->left, int, self->left->len - 1);
}

/* How the program ended. */
static char *
describe_exit (const FlamRecording *self)
{
  if (self->exit_status == 0)
    return g_strdup_printf (_ ("%s ended without an error"), self->title);
  /* As in a shell. */
  if (self->exit_status > 128 && self->exit_status < 128 + NSIG)
    /* Translators: a program, a signal's number and its description */
    return g_strdup_printf (_ ("%s was ended by signal %d (%s)"),
                            self->title,
                            self->exit_status - 128,
                            g_strsignal (self->exit_status - 128));
  return g_strdup_printf (
      _ ("%s ended with exit status %d"), self->title, self->exit_status);
}

static char *
describe_left (FlamRecording *self)
{
  if (self->left->len == 1)
    /* Translators: a process that the program has started, with its number */
    return g_strdup_printf (
        _ ("A process that it started is still running: %s (process %d)"),
        self->left_name,
        last_left (self));
  /* Translators: how many processes, and one of these with its number */
  return g_strdup_printf (
      ngettext ("%u process that it started is still running, such as %s "
                "(process %d)",
                "%u processes that it started are still running, such as %s "
                "(process %d)",
                self->left->len),
      self->left->len,
      self->left_name,
      last_left (self));
}

char *
flam_recording_describe_end (FlamRecording *self)
{
  g_autofree char *how = NULL;
  g_autofree char *left = NULL;

  g_return_val_if_fail (FLAM_IS_RECORDING (self), NULL);
  if (flam_record_options_attaches (self->options))
    /* Translators: a process */
    return g_strdup_printf (_ ("Recorded %s"), self->title);
  if (self->exit_status < 0)
    /* Translators: a program */
    return g_strdup_printf (_ ("Recording saved. %s is still running."),
                            self->title);
  how = describe_exit (self);
  if (self->left->len == 0)
    return g_steal_pointer (&how);
  left = describe_left (self);
  /* Translators: how a program ended, and the processes that it has left */
  return g_strdup_printf (_ ("%s. %s"), how, left);
}

guint
flam_recording_count_left (FlamRecording *self)
{
  g_return_val_if_fail (FLAM_IS_RECORDING (self), 0);
  return self->left->len;
}

gboolean
flam_recording_has_failed (FlamRecording *self)
{
  g_return_val_if_fail (FLAM_IS_RECORDING (self), FALSE);
  return self->exit_status > 0;
}

char *
flam_recording_describe_wait (FlamRecording *self)
{
  g_return_val_if_fail (FLAM_IS_RECORDING (self), NULL);
  switch (self->state)
    {
    case FLAM_RECORDING_STARTING:
      if (self->options->host != NULL)
        /* Translators: a machine or a container */
        return g_strdup_printf (_ ("Connecting to %s."), self->options->host);
      return g_strdup (flam_record_options_attaches (self->options)
                           ? _ ("Attaching to the process.")
                           : _ ("Starting the program."));
    case FLAM_RECORDING_PAUSED:
      if (self->options->delay > 0 && !self->begun)
        return g_strdup_printf (_ ("Samples begin after a delay of %g s."),
                                self->options->delay);
      return g_strdup (_ ("Paused: no samples are taken."));
    case FLAM_RECORDING_RUNNING:
      if (self->samples > 0)
        return g_strdup (_ ("The first samples are being read."));
      return g_strdup (_ ("Waiting for the first samples. A program that only "
                          "waits uses no CPU and has no samples."));
    case FLAM_RECORDING_FINISHING:
    case FLAM_RECORDING_DONE:
    default:
      return g_strdup (_ ("Looking up the names of recorded functions."));
    }
}

/* --- start ---------------------------------------------------------------- */

static char **
recorder_command (const FlamRecordOptions *options, char *output)
{
  FlamRecordOptions all = *options;
  g_auto (GStrv) arguments = NULL;
  g_autoptr (GStrvBuilder) command = g_strv_builder_new ();

  if (all.host == NULL)
    all.directory = NULL; /* the working folder of the recorder */
  all.output = output;
  all.control_fd = CONTROL_FD;
  arguments = flam_record_options_to_arguments (&all);
  g_strv_builder_add (command, flam_recorder_path ());
  g_strv_builder_addv (command, (const char **)arguments);
  return g_strv_builder_end (command);
}

static gboolean
spawn (FlamRecording *self,
       const FlamRecordOptions *options,
       const char *const *envp,
       int theirs,
       GError **error)
{
  g_auto (GStrv) inside = recorder_command (options, self->path);
  const char *const *command = (const char *const *)inside;
  const char *directory = options->host == NULL ? options->directory : NULL;
  g_auto (GStrv) outside = NULL;
  int terminal =
      flam_record_options_attaches (options) ? -1 : open_terminal (self);
  g_autoptr (GSubprocessLauncher) launcher =
      g_subprocess_launcher_new (terminal < 0 ? G_SUBPROCESS_FLAGS_STDIN_INHERIT
                                              : G_SUBPROCESS_FLAGS_NONE);

  if (g_file_test (FLAM_FLATPAK_INFO, G_FILE_TEST_EXISTS))
    {
      outside = flam_flatpak_command (
          FLAM_FLATPAK_INFO, command, directory, CONTROL_FD, error);
      command = (const char *const *)outside;
    }
  if (directory != NULL)
    g_subprocess_launcher_set_cwd (launcher, directory);
  if (envp != NULL)
    g_subprocess_launcher_set_environ (launcher, (char **)envp);
  g_subprocess_launcher_take_fd (launcher, theirs, CONTROL_FD);
  if (terminal >= 0)
    g_subprocess_launcher_take_stdin_fd (launcher, terminal);
  g_subprocess_launcher_take_stdout_fd (
      launcher, flam_printed_dup (self->printed, CONTROL_FD + 1));
  g_subprocess_launcher_take_stderr_fd (
      launcher, flam_printed_dup (self->printed, CONTROL_FD + 1));
  flam_printed_seal (self->printed);
  if (command != NULL)
    self->process = g_subprocess_launcher_spawnv (launcher, command, error);
  if (self->process == NULL)
    g_prefix_error (error, _ ("The recorder cannot be started: "));
  return self->process != NULL;
}

FlamRecording *
flam_recording_start (const FlamRecordOptions *options,
                      const char *name,
                      const char *const *envp,
                      GError **error)
{
  g_autoptr (FlamRecording) self = g_object_new (FLAM_TYPE_RECORDING, NULL);
  g_autoptr (GInputStream) stream = NULL;
  int pair[2];

  self->title = name != NULL ? g_strdup (name)
                             : g_filename_display_basename (options->argv[0]);
  self->path = options->output != NULL
                   ? g_canonicalize_filename (
                         options->output,
                         options->host == NULL ? options->directory : NULL)
                   : new_path (self->title);
  self->options = flam_record_options_copy (options, error);
  self->name = g_strdup (name);
  self->envp = g_strdupv ((char **)envp);
  if (self->options == NULL)
    return NULL;
  self->printed = flam_printed_new (error);
  if (self->printed == NULL)
    return NULL;
  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    {
      g_set_error (error,
                   FLAM_ERROR,
                   FLAM_ERROR_SYSTEM,
                   _ ("The recorder cannot be started: %s"),
                   g_strerror (errno));
      return NULL;
    }
  self->control = pair[0];
  if (!spawn (self, options, envp, pair[1], error))
    return NULL;
  stream = g_unix_input_stream_new (self->control, FALSE);
  self->lines = g_data_input_stream_new (stream);
  read_line (self);
  return g_steal_pointer (&self);
}

/* --- properties ----------------------------------------------------------- */

gboolean
flam_recording_add_variables (FlamRecordOptions *options,
                              const char *variables,
                              const char *const *envp,
                              GError **error)
{
  g_auto (GStrv) words = NULL;
  g_auto (GStrv) inherited =
      envp != NULL ? g_strdupv ((char **)envp) : g_get_environ ();

  if (!g_shell_parse_argv (variables, NULL, &words, error))
    return FALSE;
  for (guint i = 0; words[i] != NULL; i++)
    {
      guint n = options->environment != NULL
                    ? g_strv_length (options->environment)
                    : 0;
      g_autoptr (GStrvBuilder) all = g_strv_builder_new ();
      g_auto (GStrv) before = NULL;

      g_strv_builder_addv (all, (const char **)inherited);
      if (n > 0)
        g_strv_builder_addv (all, (const char **)options->environment);
      before = g_strv_builder_end (all);
      options->environment = g_renew (char *, options->environment, n + 2);
      options->environment[n] =
          flam_environment_add ((const char *const *)before, words[i]);
      options->environment[n + 1] = NULL;
    }
  return TRUE;
}

gboolean
flam_recording_is_launched (FlamRecording *self)
{
  g_return_val_if_fail (FLAM_IS_RECORDING (self), FALSE);
  return !flam_record_options_attaches (self->options);
}

FlamRecording *
flam_recording_start_again (FlamRecording *self,
                            const char *variables,
                            GError **error)
{
  g_autoptr (FlamRecordOptions) options = NULL;

  g_return_val_if_fail (FLAM_IS_RECORDING (self), NULL);
  options = flam_record_options_copy (self->options, error);
  if (options == NULL)
    return NULL;
  g_clear_pointer (&options->output, g_free);
  options->force = FALSE;
  if (variables != NULL &&
      !flam_recording_add_variables (
          options, variables, (const char *const *)self->envp, error))
    return NULL;
  return flam_recording_start (
      options, self->name, (const char *const *)self->envp, error);
}

FlamRecording *
flam_recording_start_left (FlamRecording *self, GError **error)
{
  g_autoptr (FlamRecordOptions) options = NULL;

  g_return_val_if_fail (FLAM_IS_RECORDING (self) && self->left->len > 0, NULL);
  options = flam_record_options_copy (self->options, error);
  if (options == NULL)
    return NULL;
  g_clear_pointer (&options->argv, g_strfreev);
  g_clear_pointer (&options->output, g_free);
  options->force = FALSE;
  for (guint i = 0; i < self->left->len; i++)
    {
      int pid = g_array_index (self->left, int, i);

      /* One that has ended meanwhile does not prevent the others. */
      if (i + 1 == self->left->len || options->host != NULL ||
          kill (pid, 0) == 0 || errno == EPERM)
        flam_record_options_add_pid (options, pid);
    }
  return flam_recording_start (
      options, self->left_name, (const char *const *)self->envp, error);
}

gboolean
flam_recording_is_broken (FlamRecording *self)
{
  return self->broken && !self->finished;
}

FlamRecordingState
flam_recording_get_state (FlamRecording *self)
{
  return self->state;
}

const char *
flam_recording_get_path (FlamRecording *self)
{
  return self->path;
}

const char *
flam_recording_get_title (FlamRecording *self)
{
  return self->title;
}

const char *
flam_recording_get_host (FlamRecording *self)
{
  return self->options->host;
}

gint64
flam_recording_get_elapsed_ms (FlamRecording *self)
{
  return self->elapsed_ms;
}

guint64
flam_recording_get_samples (FlamRecording *self)
{
  return self->samples;
}

static void
flam_recording_finalize (GObject *object)
{
  FlamRecording *self = FLAM_RECORDING (object);

  g_clear_object (&self->lines);
  if (self->control >= 0)
    close (self->control);
  if (self->input >= 0)
    close (self->input);
  g_clear_object (&self->process);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->printed, flam_printed_free);
  g_clear_pointer (&self->options, flam_record_options_free);
  g_free (self->name);
  g_strfreev (self->envp);
  g_free (self->path);
  g_free (self->title);
  g_array_unref (self->left);
  g_free (self->left_name);
  g_free (self->message);
  G_OBJECT_CLASS (flam_recording_parent_class)->finalize (object);
}

/* Closing our end makes the recorder end its recording. */
static void
flam_recording_dispose (GObject *object)
{
  g_cancellable_cancel (FLAM_RECORDING (object)->cancellable);
  G_OBJECT_CLASS (flam_recording_parent_class)->dispose (object);
}

static void
flam_recording_class_init (FlamRecordingClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = flam_recording_dispose;
  object_class->finalize = flam_recording_finalize;
  signals[SIGNAL_CHANGED] = g_signal_new ("changed",
                                          FLAM_TYPE_RECORDING,
                                          G_SIGNAL_RUN_LAST,
                                          0,
                                          NULL,
                                          NULL,
                                          NULL,
                                          G_TYPE_NONE,
                                          0);
  signals[SIGNAL_FINISHED] = g_signal_new ("finished",
                                           FLAM_TYPE_RECORDING,
                                           G_SIGNAL_RUN_LAST,
                                           0,
                                           NULL,
                                           NULL,
                                           NULL,
                                           G_TYPE_NONE,
                                           1,
                                           G_TYPE_ERROR);
}

static void
flam_recording_init (FlamRecording *self)
{
  self->control = -1;
  self->input = -1;
  self->exit_status = -1;
  self->cancellable = g_cancellable_new ();
  self->left = g_array_new (FALSE, FALSE, sizeof (int));
}
