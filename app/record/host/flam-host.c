/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-host.h"

#include "flam-core-picture.h"
#include "flam-core-profile.h"
#include "flam-guard.h"
#include "flam-host-start.h"
#include "flam-output.h"
#include "flam-relay-join.h"
#include "flam-relay.h"
#include "flam-wire.h"

#include <errno.h>
#include <glib/gi18n.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define INTERRUPTS_MAX 3
#define FIRST_WAIT_MS 250
#define LONGEST_WAIT_MS 15000
#define TEXT_MAX_BYTES 4096
#define PIECE 4096 /* what a pipe that can be written to takes at least */
/* After SIGTERM or SIGHUP, until the other side has ended. */
#define END_US (60 * G_USEC_PER_SEC)
/* After the last message. */
#define PART_US (5 * G_USEC_PER_SEC)
#define PART_BYTES (16 << 20)

typedef struct
{
  const FlamRecordOptions *options;
  FlamControl *control;
  FlamOutput output;
  FlamConnection connection;
  FlamGuard guard; /* of the connection, while the recording goes on */
  FlamWire wire;
  int signals;         /* signalfd */
  guint interrupts;    /* from the terminal */
  guint heeded;        /* of them, before the present wait */
  gboolean stopped;    /* while there was no connection */
  int ended_by;        /* SIGTERM or SIGHUP; 0: neither */
  gint64 ended_at;     /* when it arrived */
  gint64 room;         /* bytes of input that may be sent */
  gboolean input_ends; /* or the program has none */
  char *name;          /* of the recording, by which it is joined again */
  char *there;         /* the capture's name on the other machine */
  guint64 received;    /* bytes of it */
  guint64 size;        /* of all, once known */
  GError *failed;      /* it cannot be written here */
  char *message;       /* the error message of the recorder there */
  gboolean ended;
  int status;
} Host;

/* --- reports ------------------------------------------------------------- */

static int
report (Host *host, const GError *error)
{
  g_autofree char *shown = NULL;

  setlocale (LC_MESSAGES, "");
  shown = flam_message_shown (error->message);
  g_printerr ("%s: %s\n", g_get_prgname (), shown);
  flam_control_say (host->control, "error %s", error->message);
  return host->ended_by != 0 ? 128 + host->ended_by : 1;
}

/* --- signals ------------------------------------------------------------- */

static void
take_signals (Host *host)
{
  struct signalfd_siginfo info;

  while (read (host->signals, &info, sizeof info) == sizeof info)
    if (info.ssi_signo != SIGINT)
      {
        if (host->ended_by == 0)
          host->ended_at = g_get_monotonic_time ();
        host->ended_by = (int)info.ssi_signo;
      }
    else if (info.ssi_code == SI_KERNEL)
      host->interrupts++;
    else
      host->stopped = TRUE;
}

static void
open_signals (Host *host)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  struct sigaction old;
  sigset_t heard;

  sigemptyset (&heard);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (sigaction (numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaddset (&heard, numbers[i]);
  sigprocmask (SIG_BLOCK, &heard, NULL);
  signal (SIGPIPE, SIG_IGN);
  host->signals = signalfd (-1, &heard, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void
command (Host *host, const char *line)
{
  flam_wire_put (&host->wire, FLAM_WIRE_CONTROL, line, strlen (line));
}

/* Ends a wait for a connection. `stop` is for the next one, if there was one
 * before. */
static gboolean
is_stopped (gpointer data)
{
  Host *host = data;
  FlamCommand next;
  char *text;

  take_signals (host);
  flam_control_read (host->control);
  while ((next = flam_control_next (host->control, &text)) != FLAM_COMMAND_NONE)
    {
      if (next == FLAM_COMMAND_STOP && host->there != NULL)
        command (host, "stop");
      else if (next == FLAM_COMMAND_STOP || next == FLAM_COMMAND_TERMINATE)
        host->stopped = TRUE;
      g_free (text);
    }
  return host->stopped || host->control->closed || host->ended_by != 0 ||
         host->interrupts > host->heeded;
}

/* --- to the other machine ------------------------------------------------ */

static void
send_arguments (Host *host)
{
  FlamRecordOptions all = *host->options;
  g_auto (GStrv) arguments = NULL;
  guint8 status = FLAM_WIRE_STATUS;

  all.reached = all.host;
  all.host = all.output = NULL;
  all.force = FALSE;
  all.control_fd = -1;
  arguments = flam_record_options_to_arguments (&all);
  for (guint i = 0; arguments[i] != NULL; i++)
    flam_wire_put (&host->wire,
                   FLAM_WIRE_ARGUMENT,
                   arguments[i],
                   strlen (arguments[i]) + 1);
  flam_wire_put (&host->wire, FLAM_WIRE_ARGUMENT, "", 0);
  if (host->control->fd < 0)
    flam_wire_put (&host->wire, FLAM_WIRE_SHUT, &status, 1);
}

static void
send_signals (Host *host)
{
  guint before = host->interrupts;
  guint8 number = SIGINT;

  take_signals (host);
  if (host->interrupts != before)
    flam_wire_put (&host->wire, FLAM_WIRE_SIGNAL, &number, 1);
  number = (guint8)host->ended_by;
  if (number != 0)
    flam_wire_put (&host->wire, FLAM_WIRE_SIGNAL, &number, 1);
  else if (host->stopped)
    command (host, "stop");
  host->stopped = FALSE;
  flam_connection_wake (&host->connection);
}

static void
send_commands (Host *host)
{
  static const char *const names[] = {
    [FLAM_COMMAND_STOP] = "stop",
    [FLAM_COMMAND_PAUSE] = "pause",
    [FLAM_COMMAND_RESUME] = "resume",
    [FLAM_COMMAND_MARK] = "mark",
    [FLAM_COMMAND_TERMINATE] = "terminate",
    [FLAM_COMMAND_INTERRUPT] = "interrupt",
  };
  gboolean was_closed = host->control->closed;
  FlamCommand next;
  char *text;

  flam_control_read (host->control);
  while ((next = flam_control_next (host->control, &text)) != FLAM_COMMAND_NONE)
    {
      g_autofree char *owned = text;
      g_autofree char *line = g_strdup_printf ("%s %s", names[next], owned);

      command (host, g_strchomp (line));
    }
  if (host->control->closed && !was_closed)
    command (host, "stop");
  flam_connection_wake (&host->connection);
}

static void
send_input (Host *host)
{
  guint8 buffer[FLAM_WIRE_MAX];
  ssize_t n =
      read (STDIN_FILENO, buffer, (gsize)MIN (host->room, FLAM_WIRE_MAX));

  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return;
  host->input_ends = n <= 0;
  host->room -= MAX (n, 0);
  flam_wire_put (&host->wire, FLAM_WIRE_INPUT, buffer, (gsize)MAX (n, 0));
}

/* --- from the other machine ---------------------------------------------- */

/* The data received so far remains. The rest is of no use here, and may have no
 * end: the other side is left at once, and completes the capture there. */
static void
fail_output (Host *host, int code)
{
  if (host->failed != NULL)
    return;
  flam_error_set (&host->failed,
                  FLAM_ERROR_SYSTEM,
                  host->there != NULL
                      ? N_ ("%s: cannot be written: %s; the capture remains on "
                            "%s: %s")
                      : N_ ("%s: cannot be written: %s"),
                  host->output.path,
                  g_strerror (code),
                  host->options->host,
                  host->there);
  host->ended = TRUE;
  flam_wire_put (&host->wire, FLAM_WIRE_LEFT, "", 0);
}

static void
put_capture (Host *host, const guint8 *data, gsize size)
{
  while (size > 0 && host->failed == NULL)
    {
      ssize_t n = pwrite (host->output.fd, data, size, (off_t)host->received);

      if (n > 0)
        {
          data += n;
          size -= (gsize)n;
          host->received += (guint64)n;
        }
      else if (n == 0 || errno != EINTR)
        fail_output (host, n == 0 ? ENOSPC : errno);
    }
}

/* Whether to wait no longer for the other side. */
static gboolean
gives_up (const Host *host)
{
  return host->interrupts >= INTERRUPTS_MAX ||
         (host->ended_by != 0 &&
          g_get_monotonic_time () - host->ended_at > END_US);
}

/* As without a connection in between: writing to a pipe that nobody reads ends
 * the program. While nobody reads it, Ctrl+C reaches the program. */
static void
print (Host *host, guint8 fd, const guint8 *data, gsize size)
{
  while (size > 0 && !gives_up (host))
    {
      struct pollfd fds[] = { { fd, POLLOUT, 0 },
                              { host->signals, POLLIN, 0 } };
      ssize_t n;

      poll (fds, G_N_ELEMENTS (fds), host->ended_by != 0 ? END_US / 1000 : -1);
      if (fds[1].revents != 0)
        {
          send_signals (host);
          flam_wire_send (&host->wire);
        }
      if (fds[0].revents == 0)
        continue;
      n = write (fd, data, MIN (size, PIECE));
      if (n > 0)
        {
          data += n;
          size -= (gsize)n;
        }
      else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        {
          flam_wire_put (&host->wire, FLAM_WIRE_SHUT, &fd, 1);
          return;
        }
    }
}

/* Nothing in it controls a terminal; g_free. */
static char *
plain_text (const FlamWireMessage *message)
{
  char *text = g_utf8_make_valid ((const char *)message->data,
                                  (gssize)MIN (message->size, TEXT_MAX_BYTES));

  for (char *p = text; *p != '\0'; p++)
    if ((guchar)*p < ' ' || *p == 0x7f)
      *p = ' ';
  return text;
}

static void
take_line (Host *host, const FlamWireMessage *message)
{
  g_autofree char *line = plain_text (message);

  /* "done" has the capture's name there. */
  if (g_str_has_prefix (line, "done"))
    return;
  if (!g_str_has_prefix (line, "error "))
    {
      flam_control_say (host->control, "%s", line);
      return;
    }
  g_free (host->message);
  host->message = g_strdup (line + strlen ("error "));
}

static void
take_end (Host *host, const FlamWireMessage *message)
{
  guint64 size = 0;

  if (message->size != 12)
    return;
  memcpy (&size, message->data + 4, 8);
  size = GUINT64_FROM_LE (size);
  host->ended = TRUE;
  host->size = size;
  host->status = (int)(flam_wire_number (message) & 0xff);
  /* A block that could not be written whole was taken back. */
  if (size < host->received && ftruncate (host->output.fd, (off_t)size) == 0)
    host->received = size;
  flam_wire_put (&host->wire,
                 size == host->received && host->failed == NULL
                     ? FLAM_WIRE_KEPT
                     : FLAM_WIRE_LEFT,
                 "",
                 0);
}

static void
take_message (Host *host, const FlamWireMessage *message)
{
  switch ((int)message->kind)
    {
    case FLAM_WIRE_CONTROL:
      take_line (host, message);
      break;
    case FLAM_WIRE_FILE:
      g_free (host->there);
      host->there = plain_text (message);
      break;
    case FLAM_WIRE_CAPTURE:
      put_capture (host, message->data, message->size);
      break;
    case FLAM_WIRE_OUTPUT:
      print (host, STDOUT_FILENO, message->data, message->size);
      break;
    case FLAM_WIRE_ERROR:
      print (host, STDERR_FILENO, message->data, message->size);
      break;
    case FLAM_WIRE_ROOM:
      host->room = MIN (host->room + flam_wire_number (message), G_MAXINT32);
      break;
    case FLAM_WIRE_END:
      take_end (host, message);
      break;
    default:
      break;
    }
}

/* --- a lost connection --------------------------------------------------- */

static void
tell (Host *host, const char *what)
{
  if (host->control->fd >= 0 || !isatty (STDERR_FILENO))
    return;
  setlocale (LC_MESSAGES, "");
  g_printerr (
      "%s: %s: %s\n", g_get_prgname (), host->options->host, gettext (what));
}

/* FALSE: it has been stopped. */
static gboolean
wait_for (Host *host, gint64 ms)
{
  gint64 until = g_get_monotonic_time () + ms * 1000;
  gint64 left;

  while (!is_stopped (host) && (left = until - g_get_monotonic_time ()) > 0)
    {
      struct pollfd fds[] = { { host->signals, POLLIN, 0 },
                              { host->control->fd, POLLIN, 0 } };

      poll (fds, G_N_ELEMENTS (fds), (int)(left / 1000) + 1);
    }
  return !is_stopped (host);
}

/* The counts of what has arrived at both ends; FALSE with `gone`: nobody
 * listens there any more. */
static gboolean
join (Host *host, gboolean *gone, GError **error)
{
  FlamConnection *connection = &host->connection;
  g_autofree char *arguments =
      g_strconcat (FLAM_JOIN_OPTION " ", host->name, NULL);
  guint64 received = GUINT64_TO_LE (host->wire.received);
  g_autofree char *word = NULL;

  if (!flam_host_start (connection, host->options->host, arguments, error))
    return FALSE;
  word = flam_host_read_word (connection, error);
  *gone = g_strcmp0 (word, "gone") == 0;
  if (g_strcmp0 (word, "begin") != 0 ||
      !flam_connection_write (connection, &received, sizeof received, error) ||
      !flam_connection_read (connection, &received, sizeof received, error) ||
      !flam_wire_rejoin (&host->wire,
                         connection->out,
                         connection->in,
                         GUINT64_FROM_LE (received)))
    return FALSE;
  flam_guard_start (&host->guard, connection->in, connection->out);
  return TRUE;
}

static gboolean
join_again (Host *host, GError **error)
{
  gint64 until = g_get_monotonic_time () +
                 (gint64)(host->options->reconnect * G_USEC_PER_SEC);
  gboolean gone = FALSE;

  if (host->options->reconnect == 0 || host->there == NULL)
    return flam_connection_fail (
        &host->connection,
        host->there == NULL
            ? N_ ("the recorder cannot be started there")
            : N_ ("the connection was lost; the program keeps running"),
        error);
  tell (host, N_ ("the connection was lost; reconnecting"));
  flam_control_say (host->control, "broken");
  host->heeded = host->interrupts;
  flam_guard_end (&host->guard);
  for (gint64 ms = 0; !gone && g_get_monotonic_time () + ms * 1000 < until &&
                      wait_for (host, ms);
       ms = CLAMP (2 * ms, FIRST_WAIT_MS, LONGEST_WAIT_MS))
    {
      flam_connection_close (&host->connection);
      if (!join (host, &gone, NULL))
        continue;
      tell (host, N_ ("reconnected"));
      flam_control_say (host->control, "joined");
      return TRUE;
    }
  return flam_connection_fail (
      &host->connection,
      gone ? N_ ("the connection was lost, and the recording on that host has "
                 "ended")
           : N_ ("the connection was lost; the program keeps running"),
      error);
}

static gboolean
take_messages (Host *host, GError **error)
{
  GError *garbage = NULL;
  gboolean more = flam_wire_receive (&host->wire);
  FlamWireMessage message;

  while (!host->ended && flam_wire_next (&host->wire, &message, &garbage))
    take_message (host, &message);
  if (garbage != NULL)
    {
      g_prefix_error (&garbage, "%s: ", host->options->host);
      g_propagate_error (error, garbage);
      return FALSE;
    }
  return more || host->ended || join_again (host, error);
}

/* --- the loop ------------------------------------------------------------ */

static gboolean
turn (Host *host, GError **error)
{
  gboolean has_input =
      !host->input_ends && host->room > 0 && !flam_wire_is_full (&host->wire);
  struct pollfd fds[] = {
    { host->wire.in, POLLIN, 0 },
    { flam_wire_has_unsent (&host->wire) ? host->wire.out : -1, POLLOUT, 0 },
    { host->signals, POLLIN, 0 },
    { host->control->closed ? -1 : host->control->fd, POLLIN, 0 },
    { has_input ? STDIN_FILENO : -1, POLLIN, 0 },
    { host->connection.errors, POLLIN, 0 },
  };

  poll (fds, G_N_ELEMENTS (fds), host->ended_by != 0 ? END_US / 1000 : -1);
  if (fds[5].revents != 0 && !flam_connection_listen (&host->connection))
    {
      close (host->connection.errors);
      host->connection.errors = -1;
    }
  if (fds[2].revents != 0)
    send_signals (host);
  if (fds[3].revents != 0)
    send_commands (host);
  if (fds[4].revents != 0)
    send_input (host);
  if (fds[0].revents != 0 && !take_messages (host, error))
    return FALSE;
  if (!host->ended && gives_up (host))
    {
      flam_wire_put (&host->wire, FLAM_WIRE_LEFT, "", 0);
      flam_wire_send (&host->wire);
      return flam_connection_fail (
          &host->connection, N_ ("no answer; gave up waiting"), error);
    }
  /* Only reading decides whether the connection is lost: what has arrived is
   * read first. */
  flam_wire_send (&host->wire);
  return TRUE;
}

/* Until all is sent and the other side has ended. */
static void
part (Host *host)
{
  FlamWire *wire = &host->wire;
  gint64 until = g_get_monotonic_time () + PART_US;
  guint64 most = wire->received + PART_BYTES;
  gboolean more = TRUE;

  while (more && wire->received < most && g_get_monotonic_time () < until)
    {
      struct pollfd fds[] = {
        { wire->in, POLLIN, 0 },
        { flam_wire_has_unsent (wire) ? wire->out : -1, POLLOUT, 0 },
      };

      flam_wire_send (wire);
      wire->at = 0;
      g_byte_array_set_size (wire->unread, 0);
      poll (fds, G_N_ELEMENTS (fds), 100);
      more = flam_wire_receive (wire);
    }
}

/* With the capture's name here, where it is now, if there is one. */
static gboolean
fail_there (Host *host, GError **error)
{
  GString *message = g_string_new (host->message);

  if (host->received > 0 && host->there != NULL && *host->there != '\0')
    g_string_replace (message, host->there, host->output.path, 1);
  flam_error_set (
      error, FLAM_ERROR_SYSTEM, "%s: %s", host->options->host, message->str);
  g_string_free (message, TRUE);
  return FALSE;
}

static gboolean
finish_output (Host *host, GError **error)
{
  if (host->failed != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&host->failed));
      return FALSE;
    }
  if (host->received == 0)
    flam_output_abandon (&host->output);
  if (host->received > 0 && !flam_output_finish (&host->output, error))
    return FALSE;
  if (host->message != NULL)
    return fail_there (host, error);
  return host->received == host->size ||
         flam_error_set (error,
                         FLAM_ERROR_TRUNCATED,
                         N_ ("%s: only %" PRIu64 " of the capture's %" PRIu64
                             " bytes arrived, and are in %s"),
                         host->options->host,
                         host->received,
                         host->size,
                         host->output.path);
}

static int
end (Host *host)
{
  g_autoptr (GError) error = NULL;

  part (host);
  if (!finish_output (host, &error))
    {
      report (host, error);
      return host->status != 0 ? host->status : 1;
    }
  flam_control_say (host->control, "done %s", host->output.path);
  if (host->control->fd < 0 && isatty (STDERR_FILENO))
    g_printerr ("%s: wrote %s\n", g_get_prgname (), host->output.path);
  return host->status;
}

/* Where the capture is. */
static int
report_broken (Host *host, GError *error)
{
  g_autoptr (GError) kept = NULL;

  if (host->there == NULL || host->received == 0)
    {
      flam_output_abandon (&host->output);
      return report (host, error);
    }
  flam_error_set (&kept,
                  FLAM_ERROR_SYSTEM,
                  N_ ("%s; the data received is in %s, and the whole capture "
                      "is in %s on that host"),
                  error->message,
                  host->output.base_lines != NULL ? host->output.base_lines
                                                  : host->output.path,
                  host->there);
  return report (host, kept);
}

static gboolean
begin (Host *host, GError **error)
{
  g_autofree char *uuid = g_uuid_string_random ();
  char seconds[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *arguments = NULL;

  g_ascii_dtostr (seconds, sizeof seconds, host->options->reconnect);
  host->name = g_steal_pointer (&uuid);
  arguments = g_strjoin (" ", FLAM_RELAY_OPTION, host->name, seconds, NULL);
  return flam_host_start (
      &host->connection, host->options->host, arguments, error);
}

static int
record (Host *host)
{
  g_autoptr (GError) error = NULL;

  flam_wire_init (&host->wire, host->connection.out, host->connection.in);
  flam_guard_start (&host->guard, host->connection.in, host->connection.out);
  send_arguments (host);
  host->input_ends = flam_record_options_attaches (host->options);
  if (host->input_ends)
    flam_wire_put (&host->wire, FLAM_WIRE_INPUT, "", 0);
  while (!host->ended && error == NULL)
    turn (host, &error);
  return error == NULL ? end (host) : report_broken (host, error);
}

static void
host_init (Host *host, const FlamRecordOptions *options, FlamControl *control)
{
  *host = (Host){ .options = options, .control = control, .output.fd = -1 };
  host->connection.is_stopped = is_stopped;
  host->connection.data = host;
  open_signals (host);
}

static void
host_clear (Host *host)
{
  flam_guard_end (&host->guard);
  flam_connection_close (&host->connection);
  if (host->wire.unread != NULL)
    flam_wire_clear (&host->wire);
  if (host->signals >= 0)
    close (host->signals);
  flam_output_clear (&host->output);
  g_clear_error (&host->failed);
  g_free (host->name);
  g_free (host->there);
  g_free (host->message);
}

int
flam_host_record (FlamRecordOptions *options, FlamControl *control)
{
  g_autoptr (GError) error = NULL;
  Host host;
  int status;

  host_init (&host, options, control);
  if (!flam_output_open (&host.output, options, &error))
    status = report (&host, error);
  else if (!begin (&host, &error))
    {
      flam_output_abandon (&host.output);
      status = report (&host, error);
      if (host.interrupts > 0)
        status = 128 + SIGINT;
    }
  else
    status = record (&host);
  host_clear (&host);
  return status;
}

int
flam_host_remove_recorder (const FlamRecordOptions *options,
                           FlamControl *control)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *word = NULL;
  Host host;
  int status = 0;

  host_init (&host, options, control);
  word = flam_host_run (&host.connection,
                        options->host,
                        FLAM_HOST_CACHE "set -e; rm -rf \"$c\"/recorder-*; "
                                        "echo " FLAM_RELAY_WORD " removed",
                        &error);
  if (word == NULL)
    status = report (&host, error);
  host_clear (&host);
  return status;
}
