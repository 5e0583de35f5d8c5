/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-connection.h"

#include "flam-core-profile.h"
#include "flam-transport.h"
#include "flam-wire.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRINTED_MAX 65536
#define LINE_MAX_BYTES 4096
#define READS_MAX 16
#define WAIT_MS 100
#define CLOSE_MS 1000 /* until a client that does not end is killed */

/* Ctrl+C is for the program there: a client that may prompt on the terminal
 * must stay in its foreground group, and ignores it. */
static void
prepare_client (gpointer prompts)
{
  sigset_t none;

  sigemptyset (&none);
  sigprocmask (SIG_SETMASK, &none, NULL);
  signal (SIGINT, SIG_IGN);
  signal (SIGHUP, SIG_IGN);
  signal (SIGPIPE, SIG_DFL);
  if (!GPOINTER_TO_INT (prompts))
    setpgid (0, 0);
}

gboolean
flam_connection_open (FlamConnection *connection,
                      const char *host,
                      const char *script,
                      GError **error)
{
  g_auto (GStrv) command = flam_transport_command (host, script);
  g_autofree char *program = g_find_program_in_path (command[0]);

  connection->pid = 0;
  connection->in = connection->out = connection->errors = -1;
  connection->host = g_strdup (host);
  connection->printed = g_string_new (NULL);
  if (program == NULL)
    return flam_error_set (error,
                           FLAM_ERROR_SYSTEM,
                           N_ ("%s: %s is not installed here"),
                           host,
                           command[0]);
  if (!g_spawn_async_with_pipes (
          NULL,
          command,
          NULL,
          G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD,
          prepare_client,
          GINT_TO_POINTER (flam_transport_prompts (host)),
          &connection->pid,
          &connection->in,
          &connection->out,
          &connection->errors,
          error))
    {
      g_prefix_error (error, "%s: ", host);
      return FALSE;
    }
  flam_wire_never_wait (connection->in);
  flam_wire_never_wait (connection->out);
  flam_wire_never_wait (connection->errors);
  return TRUE;
}

void
flam_connection_wake (const FlamConnection *connection)
{
  if (connection->pid > 0)
    kill (connection->pid, SIGCONT);
}

static void
end_client (const FlamConnection *connection)
{
  pid_t ended = 0;

  kill (connection->pid, SIGTERM);
  flam_connection_wake (connection);
  for (guint ms = 0; ended == 0 && ms < CLOSE_MS; ms++)
    {
      g_usleep (1000);
      ended = waitpid (connection->pid, NULL, WNOHANG);
    }
  if (ended == 0)
    kill (connection->pid, SIGKILL);
  while (ended == 0 && waitpid (connection->pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

static void
close_one (int *fd)
{
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

void
flam_connection_close (FlamConnection *connection)
{
  close_one (&connection->in);
  close_one (&connection->out);
  close_one (&connection->errors);
  if (connection->pid > 0)
    end_client (connection);
  connection->pid = 0;
  g_clear_pointer (&connection->host, g_free);
  if (connection->printed != NULL)
    g_string_free (connection->printed, TRUE);
  connection->printed = NULL;
}

/* --- its output ------------------------------------------------------ */

gboolean
flam_connection_listen (FlamConnection *connection)
{
  char buffer[4096];
  ssize_t n = -1;

  /* It may print faster than this reads. */
  for (guint i = 0; connection->errors >= 0 && i < READS_MAX; i++)
    {
      n = read (connection->errors, buffer, sizeof buffer);
      if (n > 0)
        g_string_append_len (connection->printed, buffer, n);
      else if (n == 0 || errno != EINTR)
        break;
      if (connection->printed->len > PRINTED_MAX)
        g_string_erase (connection->printed,
                        0,
                        (gssize)connection->printed->len - PRINTED_MAX / 2);
    }
  return connection->errors >= 0 && n != 0;
}

/* As text of one line; g_free. */
static char *
last_line (FlamConnection *connection)
{
  g_auto (GStrv) lines = NULL;
  const char *last = "";
  char *valid;

  lines = g_strsplit_set (connection->printed->str, "\r\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (*g_strstrip (lines[i]) != '\0')
      last = lines[i];
  valid = g_utf8_make_valid (last, (gssize)strnlen (last, 500));
  for (char *p = valid; *p != '\0'; p++)
    if ((guchar)*p < ' ' || *p == 0x7f)
      *p = ' ';
  return valid;
}

static void
listen_to_end (FlamConnection *connection)
{
  struct pollfd one = { connection->errors, POLLIN, 0 };

  for (guint i = 0; i < 10 && flam_connection_listen (connection); i++)
    poll (&one, 1, 100);
}

gboolean
flam_connection_fail (FlamConnection *connection,
                      const char *what,
                      GError **error)
{
  g_autofree char *last = NULL;

  listen_to_end (connection);
  last = last_line (connection);
  return flam_error_set (error,
                         FLAM_ERROR_SYSTEM,
                         *last != '\0' ? "%s: %s: %s" : "%s: %s",
                         connection->host,
                         what,
                         last);
}

/* --- before there are messages ------------------------------------------- */

static gboolean
wait_for (FlamConnection *connection, int fd, short event, GError **error)
{
  struct pollfd fds[] = { { fd, event, 0 }, { connection->errors, POLLIN, 0 } };

  poll (fds, G_N_ELEMENTS (fds), WAIT_MS);
  if (fds[1].revents != 0 && !flam_connection_listen (connection))
    close_one (&connection->errors);
  return !connection->is_stopped (connection->data) ||
         flam_error_set (error,
                         FLAM_ERROR_CANCELLED,
                         N_ ("%s: interrupted before the recording began"),
                         connection->host);
}

gboolean
flam_connection_read (FlamConnection *connection,
                      gpointer data,
                      gsize size,
                      GError **error)
{
  for (gsize at = 0; at < size;)
    {
      ssize_t n = read (connection->out, (char *)data + at, size - at);

      if (n > 0)
        at += (gsize)n;
      else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        return flam_connection_fail (
            connection, N_ ("the recorder cannot be started there"), error);
      else if (!wait_for (connection, connection->out, POLLIN, error))
        return FALSE;
    }
  return TRUE;
}

char *
flam_connection_read_line (FlamConnection *connection, GError **error)
{
  g_autoptr (GString) line = g_string_new (NULL);
  char byte;

  for (;;)
    {
      if (!flam_connection_read (connection, &byte, 1, error))
        return NULL;
      if (byte == '\n')
        return g_string_free (g_steal_pointer (&line), FALSE);
      if (line->len >= LINE_MAX_BYTES)
        {
          flam_connection_fail (
              connection, N_ ("the recorder cannot be started there"), error);
          return NULL;
        }
      g_string_append_c (line, byte);
    }
}

gboolean
flam_connection_write (FlamConnection *connection,
                       gconstpointer data,
                       gsize size,
                       GError **error)
{
  const guint8 *bytes = data;

  while (size > 0)
    {
      ssize_t n = write (connection->in, bytes, size);

      if (n > 0)
        {
          bytes += n;
          size -= (gsize)n;
        }
      else if (errno != EAGAIN && errno != EINTR)
        return flam_connection_fail (
            connection, N_ ("the recorder cannot be copied there"), error);
      else if (!wait_for (connection, connection->in, POLLOUT, error))
        return FALSE;
    }
  return TRUE;
}
