/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-process-feed.h"

#include "flam-flatpak.h"
#include "flam-process-line.h"
#include "flam-record-options.h"

#include <gio/gio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define EVERY_SECONDS 2
#define ERROR_MAX_BYTES 4096

struct _FlamProcessFeed
{
  guint references; /* the owner's, and one for each pending call */
  char *host;
  FlamProcessesRead read; /* NULL: it was stopped, or has failed */
  gpointer data;
  GSubprocess *recorder;
  GCancellable *cancellable;
  GDataInputStream *lines;
  GPtrArray *list; /* as far as it has arrived; NULL: none begun */
};

static void
feed_unref (FlamProcessFeed *feed)
{
  if (--feed->references > 0)
    return;
  g_clear_object (&feed->recorder);
  g_clear_object (&feed->lines);
  g_clear_pointer (&feed->list, g_ptr_array_unref);
  g_object_unref (feed->cancellable);
  g_free (feed->host);
  g_free (feed);
}

static FlamProcessFeed *
feed_ref (FlamProcessFeed *feed)
{
  feed->references++;
  return feed;
}

static void
fail (FlamProcessFeed *feed, const GError *error)
{
  FlamProcessesRead read = g_steal_pointer (&feed->read);

  if (read != NULL)
    read (NULL, error, feed->data);
}

/* --- what it prints ------------------------------------------------------- */

static void
take_line (FlamProcessFeed *feed, const char *line)
{
  g_autoptr (FlamProcess) process = NULL;
  g_autoptr (GPtrArray) list = NULL;

  if (*line == '\0' && feed->list != NULL)
    {
      list = flam_process_list_sort (feed->list);
      g_clear_pointer (&feed->list, g_ptr_array_unref);
      feed->read (list, NULL, feed->data);
      return;
    }
  if (strcmp (line, FLAM_PROCESS_TITLES) == 0)
    {
      g_clear_pointer (&feed->list, g_ptr_array_unref);
      feed->list = g_ptr_array_new_with_free_func (g_object_unref);
      return;
    }
  process = flam_process_parse (line);
  if (process != NULL && feed->list != NULL &&
      feed->list->len < FLAM_PROCESS_LINES_MAX &&
      (feed->host != NULL || process->pid != getpid ()))
    g_ptr_array_add (feed->list, g_steal_pointer (&process));
}

/* The last line of its messages, without the program's name. */
static void
error_read (GObject *source, GAsyncResult *result, gpointer data)
{
  FlamProcessFeed *feed = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_input_stream_read_bytes_finish (
      G_INPUT_STREAM (source), result, &error);
  g_autofree char *text = NULL;
  g_auto (GStrv) parts = NULL;

  if (bytes != NULL)
    {
      gsize size;
      gconstpointer printed = g_bytes_get_data (bytes, &size);

      text = g_utf8_make_valid (printed != NULL ? printed : "", (gssize)size);
      parts = g_strsplit (g_strstrip (text), ": ", 2);
      g_clear_error (&error);
      g_set_error_literal (&error,
                           FLAM_ERROR,
                           FLAM_ERROR_SYSTEM,
                           parts[0] != NULL && parts[1] != NULL ? parts[1]
                                                                : text);
    }
  if (feed->read != NULL && error != NULL)
    fail (feed, error);
  feed_unref (feed);
}

static void read_line (FlamProcessFeed *feed);

static void
line_read (GObject *source, GAsyncResult *result, gpointer data)
{
  FlamProcessFeed *feed = data;
  g_autofree char *line = g_data_input_stream_read_line_finish_utf8 (
      G_DATA_INPUT_STREAM (source), result, NULL, NULL);

  if (feed->read != NULL && line != NULL)
    {
      take_line (feed, line);
      if (feed->read != NULL)
        read_line (feed);
    }
  else if (feed->read != NULL)
    g_input_stream_read_bytes_async (
        g_subprocess_get_stderr_pipe (feed->recorder),
        ERROR_MAX_BYTES,
        G_PRIORITY_DEFAULT,
        feed->cancellable,
        error_read,
        feed_ref (feed));
  feed_unref (feed);
}

static void
read_line (FlamProcessFeed *feed)
{
  g_data_input_stream_read_line_async (feed->lines,
                                       G_PRIORITY_DEFAULT,
                                       feed->cancellable,
                                       line_read,
                                       feed_ref (feed));
}

/* --- start ---------------------------------------------------------------- */

static char **
command_of (const char *host, GError **error)
{
  g_autoptr (FlamRecordOptions) options = flam_record_options_new ();
  g_autoptr (GStrvBuilder) words = g_strv_builder_new ();
  g_auto (GStrv) arguments = NULL;
  g_auto (GStrv) inside = NULL;

  options->list = TRUE;
  options->every = EVERY_SECONDS;
  options->host = g_strdup (host);
  arguments = flam_record_options_to_arguments (options);
  g_strv_builder_add (words, flam_recorder_path ());
  g_strv_builder_addv (words, (const char **)arguments);
  inside = g_strv_builder_end (words);
  if (!g_file_test (FLAM_FLATPAK_INFO, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&inside);
  return flam_flatpak_command (
      FLAM_FLATPAK_INFO, (const char *const *)inside, NULL, -1, error);
}

static gboolean
spawn (FlamProcessFeed *feed, GError **error)
{
  g_auto (GStrv) command = command_of (feed->host, error);

  if (command == NULL)
    return FALSE;
  feed->recorder = g_subprocess_newv ((const char *const *)command,
                                      G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                          G_SUBPROCESS_FLAGS_STDERR_PIPE,
                                      error);
  if (feed->recorder == NULL)
    return FALSE;
  feed->lines =
      g_data_input_stream_new (g_subprocess_get_stdout_pipe (feed->recorder));
  return TRUE;
}

static gboolean
begin (gpointer data)
{
  FlamProcessFeed *feed = data;
  g_autoptr (GError) error = NULL;

  if (feed->read != NULL && spawn (feed, &error))
    read_line (feed);
  else if (feed->read != NULL)
    fail (feed, error);
  feed_unref (feed);
  return G_SOURCE_REMOVE;
}

FlamProcessFeed *
flam_process_feed_start (const char *host,
                         FlamProcessesRead read,
                         gpointer data)
{
  FlamProcessFeed *feed = g_new0 (FlamProcessFeed, 1);

  feed->references = 1;
  feed->host = g_strdup (host);
  feed->read = read;
  feed->data = data;
  feed->cancellable = g_cancellable_new ();
  g_idle_add (begin, feed_ref (feed));
  return feed;
}

void
flam_process_feed_stop (FlamProcessFeed *feed)
{
  if (feed == NULL)
    return;
  feed->read = NULL;
  g_cancellable_cancel (feed->cancellable);
  if (feed->recorder != NULL)
    g_subprocess_send_signal (feed->recorder, SIGTERM);
  feed_unref (feed);
}
