/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-recording.h"

#include "flam-config.h"
#include "flam-flatpak.h"
#include "flam-settings.h"
#include "flam-types.h"

#include <errno.h>
#include <gio/gunixinputstream.h>
#include <gio/gunixoutputstream.h>
#include <glib/gi18n.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONTROL_FD 3

struct _FlamRecording
{
  GObject parent_instance;

  char *path;
  char *title;
  int control; /* our end of the pair */
  GDataInputStream *lines;
  GSubprocess *process;
  GCancellable *cancellable;

  FlamRecordingState state;
  gint64 elapsed_ms;
  guint64 samples;
  char *message; /* the recorder's own words for what went wrong */
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

static const char *const mode_names[] = { "cpu", "wall", "alloc", "both" };

static FlamRecordMode
mode_of_settings (GSettings *settings)
{
  g_autofree char *name =
      g_settings_get_string (settings, FLAM_KEY_RECORD_MODE);

  for (guint i = 0; i < G_N_ELEMENTS (mode_names); i++)
    if (strcmp (name, mode_names[i]) == 0)
      return (FlamRecordMode)i;
  return FLAM_RECORD_MODE_CPU;
}

const char *
flam_record_mode_name (FlamRecordMode mode)
{
  return mode_names[mode];
}

FlamRecordOptions *
flam_record_options_new (void)
{
  GSettings *settings = flam_settings_get ();
  FlamRecordOptions *options = g_new0 (FlamRecordOptions, 1);

  options->mode = mode_of_settings (settings);
  options->rate = g_settings_get_uint (settings, FLAM_KEY_RECORD_RATE);
  options->sample_bytes =
      g_settings_get_uint64 (settings, FLAM_KEY_RECORD_BYTES);
  options->follow = g_settings_get_boolean (settings, FLAM_KEY_RECORD_FOLLOW);
  options->python = g_settings_get_boolean (settings, FLAM_KEY_RECORD_PYTHON);
  options->python_malloc =
      g_settings_get_boolean (settings, FLAM_KEY_RECORD_PYTHON_MALLOC);
  return options;
}

void
flam_record_options_free (FlamRecordOptions *options)
{
  g_strfreev (options->argv);
  g_free (options->name);
  g_free (options->cwd);
  g_strfreev (options->envp);
  g_strfreev (options->env);
  g_free (options);
}

static const char *
recorder_path (void)
{
  const char *path = g_getenv ("FLAMBEAU_RECORDER");

  return path != NULL && *path != '\0' ? path
                                       : FLAM_LIBEXECDIR "/flambeau-recorder";
}

static char *
base_name (const FlamRecordOptions *options)
{
  g_autofree char *base = NULL;

  if (options->argv != NULL)
    base = g_path_get_basename (options->argv[0]);
  else
    base = g_strdup (options->name != NULL ? options->name : "process");
  return g_strdelimit (g_steal_pointer (&base), "/", '-');
}

/* In the user's data folder: a recording is work, not cache. */
static char *
new_path (const FlamRecordOptions *options)
{
  g_autofree char *folder =
      g_build_filename (g_get_user_data_dir (), "flambeau", "recordings", NULL);
  g_autofree char *base = base_name (options);
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

static void
add (GPtrArray *arguments, const char *argument)
{
  g_ptr_array_add (arguments, g_strdup (argument));
}

static GPtrArray *
recorder_arguments (const FlamRecordOptions *options, const char *output)
{
  GPtrArray *arguments = g_ptr_array_new_with_free_func (g_free);

  add (arguments, recorder_path ());
  g_ptr_array_add (arguments, g_strdup_printf ("--control-fd=%d", CONTROL_FD));
  g_ptr_array_add (arguments, g_strdup_printf ("--output=%s", output));
  g_ptr_array_add (arguments,
                   g_strdup_printf ("--mode=%s", mode_names[options->mode]));
  g_ptr_array_add (arguments, g_strdup_printf ("--rate=%u", options->rate));
  if (options->mode == FLAM_RECORD_MODE_ALLOC ||
      options->mode == FLAM_RECORD_MODE_BOTH)
    g_ptr_array_add (arguments,
                     options->sample_bytes == 0
                         ? g_strdup ("--exact")
                         : g_strdup_printf ("--sample-bytes=%" G_GUINT64_FORMAT,
                                            options->sample_bytes));
  add (arguments, options->follow ? "--follow" : "--no-follow");
  add (arguments, options->python ? "--python" : "--no-python");
  if (options->python_malloc)
    add (arguments, "--python-malloc");
  for (guint i = 0; options->env != NULL && options->env[i] != NULL; i++)
    g_ptr_array_add (arguments, g_strdup_printf ("--env=%s", options->env[i]));
  if (options->argv == NULL)
    g_ptr_array_add (arguments, g_strdup_printf ("--pid=%d", options->pid));
  else
    {
      add (arguments, "--");
      for (guint i = 0; options->argv[i] != NULL; i++)
        add (arguments, options->argv[i]);
    }
  g_ptr_array_add (arguments, NULL);
  return arguments;
}

/* --- what it says --------------------------------------------------------- */

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
      self->elapsed_ms = g_ascii_strtoll (words[1], NULL, 10);
      self->samples = g_ascii_strtoull (words[2], NULL, 10);
      if (self->state == FLAM_RECORDING_STARTING)
        set_state (self, FLAM_RECORDING_RUNNING);
    }
  else if (g_str_has_prefix (line, "target "))
    set_state (self, FLAM_RECORDING_RUNNING);
  else if (strcmp (line, "paused") == 0)
    set_state (self, FLAM_RECORDING_PAUSED);
  else if (strcmp (line, "resumed") == 0)
    set_state (self, FLAM_RECORDING_RUNNING);
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
                         _ ("The recorder ended before its capture was whole; "
                            "what it wrote is in %s"),
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

/* --- what is said to it --------------------------------------------------- */

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

/* --- start ---------------------------------------------------------------- */

static gboolean
spawn (FlamRecording *self,
       const FlamRecordOptions *options,
       int theirs,
       GError **error)
{
  g_autoptr (GPtrArray) arguments = recorder_arguments (options, self->path);
  const char *const *command = (const char *const *)arguments->pdata;
  g_auto (GStrv) outside = NULL;
  g_autoptr (GSubprocessLauncher) launcher =
      g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDIN_INHERIT);

  if (g_file_test (FLAM_FLATPAK_INFO, G_FILE_TEST_EXISTS))
    {
      outside = flam_flatpak_command (
          FLAM_FLATPAK_INFO, command, options->cwd, CONTROL_FD, error);
      command = (const char *const *)outside;
    }
  if (options->cwd != NULL)
    g_subprocess_launcher_set_cwd (launcher, options->cwd);
  if (options->envp != NULL)
    g_subprocess_launcher_set_environ (launcher, options->envp);
  g_subprocess_launcher_take_fd (launcher, theirs, CONTROL_FD);
  if (command != NULL)
    self->process = g_subprocess_launcher_spawnv (launcher, command, error);
  if (self->process == NULL)
    g_prefix_error (error, _ ("The recorder cannot be started: "));
  return self->process != NULL;
}

FlamRecording *
flam_recording_start (const FlamRecordOptions *options, GError **error)
{
  g_autoptr (FlamRecording) self = g_object_new (FLAM_TYPE_RECORDING, NULL);
  g_autoptr (GInputStream) stream = NULL;
  int pair[2];

  self->path = new_path (options);
  self->title = options->argv != NULL
                    ? g_filename_display_basename (options->argv[0])
                    : g_strdup (options->name);
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
  if (!spawn (self, options, pair[1], error))
    return NULL;
  stream = g_unix_input_stream_new (self->control, FALSE);
  self->lines = g_data_input_stream_new (stream);
  read_line (self);
  return g_steal_pointer (&self);
}

/* --- properties ----------------------------------------------------------- */

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
  g_clear_object (&self->process);
  g_clear_object (&self->cancellable);
  g_free (self->path);
  g_free (self->title);
  g_free (self->message);
  G_OBJECT_CLASS (flam_recording_parent_class)->finalize (object);
}

/* Closing our end makes the recorder end its recording by itself. */
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
  self->cancellable = g_cancellable_new ();
}
