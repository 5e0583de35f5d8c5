/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-relay.h"

#include "flam-core-profile.h"
#include "flam-parcel.h"
#include "flam-relay-join.h"
#include "flam-wire.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MS 50
#define ROOM 65536 /* bytes of input that may be under way */
#define ARGUMENTS_MAX (4 << 20)
#define INPUT_MAX (4 << 20)
/* What the program prints while the connection is lost, and no more. */
#define PRINTED_MAX (16 << 20)
#define KEPT_TIME_MS 10000
/* The other end may notice later that the connection was lost. */
#define LATER_SECONDS 60
#define SECONDS_MAX (24 * 60 * 60)

typedef enum
{
  CONNECTED,
  LOST, /* another connection may come */
  ALONE,
} State;

typedef struct
{
  FlamWire wire;
  State state;
  gint64 patience; /* µs; 0: none */
  gint64 until;    /* the end of the wait for another connection */
  int listening;
  int joined; /* its process lives until this is closed; -1: the first
                 connection */
  pid_t recorder;
  int control; /* -1: the recorder has ended */
  GString *said;
  char *path;
  int capture; /* -1: not opened yet */
  guint64 sent;
  int output, errors; /* the program's output; -1: its end */
  guint64 dropped;    /* bytes of it, not reported yet */
  int input;          /* -1: none */
  GByteArray *unread; /* by the program */
  gboolean input_ends;
  gboolean kept;
  gboolean left;           /* the recorder on the other side was killed */
  gboolean without_status; /* which nobody reads */
} Relay;

/* --- the beginning ------------------------------------------------------- */

static gboolean
wait_for_data (FlamWire *wire)
{
  struct pollfd one = { wire->in, POLLIN, 0 };

  poll (&one, 1, -1);
  return flam_wire_receive (wire);
}

/* NULL: the other side has gone. */
static GPtrArray *
read_arguments (FlamWire *wire)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) argument = g_string_new (NULL);
  gsize size = 0;
  FlamWireMessage message;

  for (gboolean more = TRUE;;)
    {
      while (flam_wire_next (wire, &message, NULL))
        {
          if (message.kind != FLAM_WIRE_ARGUMENT)
            return NULL;
          if (message.size == 0)
            return g_steal_pointer (&arguments);
          size += message.size;
          if (size > ARGUMENTS_MAX)
            return NULL;
          g_string_append_len (
              argument, (const char *)message.data, (gssize)message.size);
          /* Each ends with a zero byte, and may take several messages. */
          if (message.data[message.size - 1] != '\0')
            continue;
          g_ptr_array_add (arguments, g_strdup (argument->str));
          g_string_truncate (argument, 0);
        }
      if (!more)
        return NULL;
      more = wait_for_data (wire);
    }
}

/* The name of the file, which the recorder creates. */
static char *
capture_path (const char *own)
{
  g_autofree char *folder = g_path_get_dirname (own);
  g_autofree char *cache = g_path_get_dirname (folder);
  g_autofree char *captures = g_build_filename (cache, "recordings", NULL);
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autofree char *time = g_date_time_format (now, "%Y-%m-%d-%H.%M.%S");
  g_autofree char *name =
      g_strdup_printf ("%s-%d.flambeau", time, (int)getpid ());

  g_mkdir_with_parents (captures, 0700);
  return g_build_filename (captures, name, NULL);
}

/* --- the recorder -------------------------------------------------------- */

static void
be_silent (const char *text)
{
}

/* Variables for the libraries here, not for the program. GLib would load
 * modules of this machine, made for another version of it. */
static void
set_alone (GPtrArray *unset, const char *name, const char *value)
{
  g_setenv (name, value, TRUE);
  g_ptr_array_add (unset, g_strdup (name));
}

static FlamRecordOptions *
be_recorder (const char *own,
             const char *path,
             GPtrArray *arguments,
             int control,
             GError **error)
{
  g_autofree char *folder = g_path_get_dirname (own);
  g_autofree char *library =
      g_build_filename (folder, FLAM_PARCEL_LIBRARY, NULL);
  g_autoptr (GPtrArray) all = g_ptr_array_new ();
  g_autoptr (GPtrArray) unset = g_ptr_array_new ();
  FlamRecordOptions *options;

  g_ptr_array_add (all, (gpointer)own);
  g_ptr_array_extend (all, arguments, NULL, NULL);
  g_ptr_array_add (all, NULL);
  options =
      flam_record_options_parse ((int)all->len - 1, (char **)all->pdata, error);
  if (options == NULL)
    return NULL;
  options->control_fd = control;
  g_free (options->output);
  options->output = g_strdup (path);
  for (guint i = 0; options->environment && options->environment[i]; i++)
    g_ptr_array_add (unset, options->environment[i]);
  g_clear_pointer (&options->environment, g_free);
  if (!g_getenv ("GIO_MODULE_DIR"))
    set_alone (unset, "GIO_MODULE_DIR", "/nonexistent");
  set_alone (unset, "FLAMBEAU_ALLOC_LIB", library);
  g_ptr_array_add (unset, NULL);
  options->environment = (char **)g_ptr_array_steal (unset, NULL);
  /* Its errors go over the control socket. */
  g_set_printerr_handler (be_silent);
  return options;
}

/* A pipe, one end of which the child has as `fd`. */
static gboolean
give_pipe (int pipes[2], gboolean to_child)
{
  if (pipe2 (pipes, O_CLOEXEC) != 0)
    return FALSE;
  flam_wire_never_wait (pipes[to_child ? 1 : 0]);
  return TRUE;
}

static void
become_child (int input, int output, int errors)
{
  setsid ();
  dup2 (input, STDIN_FILENO);
  dup2 (output, STDOUT_FILENO);
  dup2 (errors, STDERR_FILENO);
  signal (SIGPIPE, SIG_DFL);
  signal (SIGHUP, SIG_DFL);
}

/* 0 in the child, whose control descriptor it returns. */
static pid_t
start_child (Relay *relay, int *control)
{
  int input[2], output[2], errors[2], pair[2];
  pid_t pid;

  if (!give_pipe (input, TRUE) || !give_pipe (output, FALSE) ||
      !give_pipe (errors, FALSE) ||
      socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return -1;
  pid = fork ();
  if (pid == 0)
    {
      become_child (input[0], output[1], errors[1]);
      close (input[1]);
      close (output[0]);
      close (errors[0]);
      close (pair[0]);
      *control = pair[1];
    }
  close (input[0]);
  close (output[1]);
  close (errors[1]);
  if (pid == 0)
    return 0;
  close (pair[1]);
  flam_wire_never_wait (pair[0]);
  relay->recorder = pid;
  relay->control = pair[0];
  relay->input = input[1];
  relay->output = output[0];
  relay->errors = errors[0];
  return pid;
}

/* --- sending -------------------------------------------------------- */

static void
send_capture (Relay *relay)
{
  guint8 buffer[FLAM_WIRE_MAX];
  ssize_t n;

  if (relay->capture < 0)
    relay->capture = open (relay->path, O_RDONLY | O_CLOEXEC);
  while (relay->capture >= 0 && relay->state == CONNECTED &&
         !flam_wire_is_full (&relay->wire))
    {
      n = pread (relay->capture, buffer, sizeof buffer, (off_t)relay->sent);
      if (n <= 0)
        return;
      relay->sent += (guint64)n;
      flam_wire_put (&relay->wire, FLAM_WIRE_CAPTURE, buffer, (gsize)n);
    }
}

static gboolean
has_room (const Relay *relay)
{
  return relay->state == CONNECTED
             ? !flam_wire_is_full (&relay->wire)
             : relay->state == LOST && relay->wire.kept->len < PRINTED_MAX;
}

/* Reads what the program has printed. Without a connection, the program does
 * not wait: what is too much is dropped. */
static void
take_printed (Relay *relay, int *fd, FlamWireKind kind)
{
  guint8 buffer[FLAM_WIRE_MAX];

  while (*fd >= 0 &&
         (relay->state != CONNECTED || !flam_wire_is_full (&relay->wire)))
    {
      ssize_t n = read (*fd, buffer, sizeof buffer);

      if (n > 0 && has_room (relay))
        flam_wire_put (&relay->wire, kind, buffer, (gsize)n);
      else if (n > 0)
        relay->dropped += (guint64)n;
      else if (n < 0 && errno == EAGAIN)
        return;
      else if (n == 0 || (n < 0 && errno != EINTR))
        {
          close (*fd);
          *fd = -1;
        }
    }
}

static void
tell_dropped (Relay *relay)
{
  g_autofree char *text = NULL;

  if (relay->dropped == 0 || relay->state != CONNECTED)
    return;
  text = g_strdup_printf ("%s: %" G_GUINT64_FORMAT
                          " bytes of the program's output are missing: it "
                          "printed them while the connection was lost\n",
                          g_get_prgname (),
                          relay->dropped);
  flam_wire_put (&relay->wire, FLAM_WIRE_ERROR, text, strlen (text));
  relay->dropped = 0;
}

/* Whether a line of the recorder is to be sent. Each status replaces the one
 * before, so a lost connection does not keep them. "done" has the capture's
 * name, which the other side has, and FLAM_WIRE_END follows. */
static gboolean
is_wanted (const Relay *relay, const char *line)
{
  if (relay->state == ALONE || g_str_has_prefix (line, "done"))
    return FALSE;
  return !g_str_has_prefix (line, "status ") ||
         (relay->state == CONNECTED && !relay->without_status);
}

/* The recorder's lines, one message each. */
static void
take_said (Relay *relay)
{
  char buffer[4096];
  const char *end;
  ssize_t n;

  while ((n = read (relay->control, buffer, sizeof buffer)) > 0)
    g_string_append_len (relay->said, buffer, n);
  while ((end = strchr (relay->said->str, '\n')) != NULL)
    {
      gssize size = end - relay->said->str;

      if (is_wanted (relay, relay->said->str))
        flam_wire_put (
            &relay->wire, FLAM_WIRE_CONTROL, relay->said->str, (gsize)size);
      g_string_erase (relay->said, 0, size + 1);
    }
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
    {
      close (relay->control);
      relay->control = -1;
    }
}

/* --- receiving -------------------------------------------------------- */

static void
say (Relay *relay, const char *line)
{
  if (relay->control >= 0 &&
      send (relay->control, line, strlen (line), MSG_NOSIGNAL) < 0)
    return;
}

static void
feed (Relay *relay)
{
  ssize_t n = 1;

  while (relay->input >= 0 && relay->unread->len > 0 && n > 0)
    {
      n = write (relay->input, relay->unread->data, relay->unread->len);
      if (n > 0)
        {
          g_byte_array_remove_range (relay->unread, 0, (guint)n);
          if (relay->state != ALONE)
            flam_wire_put_number (&relay->wire, FLAM_WIRE_ROOM, (guint32)n);
        }
    }
  if (relay->input >= 0 && ((n < 0 && errno != EAGAIN && errno != EINTR) ||
                            (relay->input_ends && relay->unread->len == 0)))
    {
      close (relay->input);
      relay->input = -1;
    }
}

static void
take_signal (Relay *relay, int sig)
{
  if (sig == SIGINT)
    say (relay, "interrupt\n");
  else if ((sig == SIGTERM || sig == SIGHUP) && relay->control >= 0)
    kill (relay->recorder, sig);
}

static void
shut (Relay *relay, guint8 which)
{
  int *fd = which == STDOUT_FILENO ? &relay->output : &relay->errors;

  if (which == FLAM_WIRE_STATUS)
    {
      relay->without_status = TRUE;
      return;
    }
  if (*fd >= 0)
    close (*fd);
  *fd = -1;
}

static void
take_message (Relay *relay, const FlamWireMessage *message)
{
  switch ((int)message->kind)
    {
    case FLAM_WIRE_CONTROL:
      {
        g_autofree char *line =
            g_strdup_printf ("%.*s\n", (int)message->size, message->data);
        say (relay, line);
        break;
      }
    case FLAM_WIRE_INPUT:
      relay->input_ends |= message->size == 0;
      if (relay->input >= 0 && relay->unread->len < INPUT_MAX)
        g_byte_array_append (
            relay->unread, message->data, (guint)message->size);
      break;
    case FLAM_WIRE_SIGNAL:
      if (message->size == 1)
        take_signal (relay, *message->data);
      break;
    case FLAM_WIRE_SHUT:
      if (message->size == 1)
        shut (relay, *message->data);
      break;
    case FLAM_WIRE_KEPT:
      relay->kept = TRUE;
      break;
    case FLAM_WIRE_LEFT:
      relay->left = TRUE;
      break;
    default:
      break;
    }
}

/* --- the connection ------------------------------------------------------ */

/* Its other end learns that nothing follows. */
static void
close_connection (Relay *relay)
{
  int nothing = open ("/dev/null", O_RDWR | O_CLOEXEC);

  if (relay->joined >= 0)
    {
      close (relay->wire.in);
      close (relay->wire.out);
      close (relay->joined);
    }
  else
    for (int fd = 0; fd < 3 && nothing >= 0; fd++)
      dup2 (nothing, fd);
  relay->joined = -1;
  if (nothing >= 0)
    close (nothing);
}

static void
stop_listening (Relay *relay)
{
  if (relay->listening >= 0)
    close (relay->listening);
  relay->listening = -1;
}

/* Nobody will come. */
static void
leave (Relay *relay)
{
  stop_listening (relay);
  relay->state = ALONE;
  relay->input_ends = TRUE;
  g_byte_array_set_size (relay->unread, 0);
  say (relay, "stop\n");
}

static void
lose (Relay *relay)
{
  if (relay->state != CONNECTED)
    return;
  close_connection (relay);
  relay->state = LOST;
  relay->until = g_get_monotonic_time () + relay->patience;
  if (relay->patience == 0 || relay->listening < 0 || relay->left)
    leave (relay);
}

/* The other end may have noticed first that the connection was lost. */
static void
rejoin (Relay *relay)
{
  FlamJoined joined = flam_relay_accept (relay->listening);
  guint64 received = GUINT64_TO_LE (relay->wire.received);

  if (joined.socket < 0)
    return;
  if (write (joined.out, &received, sizeof received) != sizeof received ||
      !flam_wire_rejoin (&relay->wire, joined.in, joined.out, joined.received))
    {
      close (joined.in);
      close (joined.out);
      close (joined.socket);
      return;
    }
  relay->joined = joined.socket;
  relay->state = CONNECTED;
}

static void
take_connections (Relay *relay)
{
  struct pollfd one = { relay->listening, POLLIN, 0 };

  if (relay->listening < 0 || relay->state == ALONE || poll (&one, 1, 0) <= 0)
    return;
  lose (relay);
  if (relay->state == LOST)
    rejoin (relay);
}

static void
take_messages (Relay *relay)
{
  g_autoptr (GError) error = NULL;
  gboolean more = flam_wire_receive (&relay->wire);
  FlamWireMessage message;

  while (flam_wire_next (&relay->wire, &message, &error))
    take_message (relay, &message);
  if (!more || error != NULL || relay->left)
    lose (relay);
}

/* --- the loop ------------------------------------------------------------ */

static void
turn (Relay *relay)
{
  gboolean connected = relay->state == CONNECTED;
  gboolean reads = !connected || !flam_wire_is_full (&relay->wire);
  gboolean unsent = connected && flam_wire_has_unsent (&relay->wire);
  struct pollfd fds[] = {
    { connected ? relay->wire.in : -1, POLLIN, 0 },
    { unsent ? relay->wire.out : -1, POLLOUT, 0 },
    { relay->control, POLLIN, 0 },
    { reads ? relay->output : -1, POLLIN, 0 },
    { reads ? relay->errors : -1, POLLIN, 0 },
    { relay->unread->len > 0 ? relay->input : -1, POLLOUT, 0 },
    { relay->state != ALONE ? relay->listening : -1, POLLIN, 0 },
  };

  poll (fds, G_N_ELEMENTS (fds), relay->kept ? 0 : TICK_MS);
  take_connections (relay);
  if (relay->control >= 0)
    take_said (relay);
  take_printed (relay, &relay->output, FLAM_WIRE_OUTPUT);
  take_printed (relay, &relay->errors, FLAM_WIRE_ERROR);
  tell_dropped (relay);
  send_capture (relay);
  if (relay->state == CONNECTED)
    take_messages (relay);
  feed (relay);
  if (relay->state == CONNECTED && !flam_wire_send (&relay->wire))
    lose (relay);
  if (relay->state == LOST && g_get_monotonic_time () > relay->until)
    leave (relay);
}

static int
wait_for_recorder (const Relay *relay)
{
  int status = 0;

  while (waitpid (relay->recorder, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

/* The rest of the capture and of the output so far; then the end. */
static void
send_rest (Relay *relay, int status)
{
  guint8 end[12];
  guint32 code = GUINT32_TO_LE ((guint32)status);
  guint64 size = 0;
  struct stat st;

  if (g_file_test (relay->path, G_FILE_TEST_EXISTS))
    send_capture (relay);
  if (relay->capture >= 0 && fstat (relay->capture, &st) == 0 &&
      st.st_nlink > 0)
    size = (guint64)st.st_size;
  while (relay->state != ALONE && relay->sent < size)
    turn (relay);
  take_printed (relay, &relay->output, FLAM_WIRE_OUTPUT);
  take_printed (relay, &relay->errors, FLAM_WIRE_ERROR);
  while (relay->state != ALONE && relay->dropped > 0)
    turn (relay);
  size = GUINT64_TO_LE (size);
  memcpy (end, &code, 4);
  memcpy (end + 4, &size, 8);
  flam_wire_put (&relay->wire, FLAM_WIRE_END, end, sizeof end);
  for (guint i = 0; relay->state != ALONE && !relay->kept;
       i += relay->state == CONNECTED)
    {
      if (i >= KEPT_TIME_MS / TICK_MS)
        break;
      turn (relay);
    }
  if (relay->kept)
    g_unlink (relay->path);
}

/* Processes that the program has left may still print, and would be ended by
 * the signal for a pipe that nobody reads. */
static void
read_to_end (Relay *relay)
{
  stop_listening (relay);
  relay->state = ALONE;
  take_printed (relay, &relay->output, FLAM_WIRE_OUTPUT);
  take_printed (relay, &relay->errors, FLAM_WIRE_ERROR);
  if ((relay->output < 0 && relay->errors < 0) || fork () != 0)
    return;
  setsid ();
  close_connection (relay);
  while (relay->output >= 0 || relay->errors >= 0)
    {
      struct pollfd fds[] = { { relay->output, POLLIN, 0 },
                              { relay->errors, POLLIN, 0 } };

      poll (fds, G_N_ELEMENTS (fds), -1);
      take_printed (relay, &relay->output, FLAM_WIRE_OUTPUT);
      take_printed (relay, &relay->errors, FLAM_WIRE_ERROR);
    }
}

static G_GNUC_NORETURN void
run (Relay *relay)
{
  int status;

  signal (SIGPIPE, SIG_IGN);
  signal (SIGHUP, SIG_IGN);
  flam_wire_put (
      &relay->wire, FLAM_WIRE_FILE, relay->path, strlen (relay->path));
  flam_wire_put_number (&relay->wire, FLAM_WIRE_ROOM, ROOM);
  while (relay->control >= 0)
    turn (relay);
  status = wait_for_recorder (relay);
  if (relay->state != ALONE)
    send_rest (relay, status);
  read_to_end (relay);
  _exit (status);
}

static void
relay_clear (Relay *relay)
{
  flam_wire_clear (&relay->wire);
  g_string_free (relay->said, TRUE);
  g_byte_array_unref (relay->unread);
  g_free (relay->path);
}

static gint64
patience_of (const char *seconds)
{
  double n = g_ascii_strtod (seconds, NULL);

  return n > 0 ? (gint64)((MIN (n, SECONDS_MAX) + LATER_SECONDS) * 1e6) : 0;
}

FlamRecordOptions *
flam_relay_start (const char *own,
                  const char *name,
                  const char *seconds,
                  GError **error)
{
  Relay relay = { .capture = -1,
                  .control = -1,
                  .listening = -1,
                  .joined = -1,
                  .patience = patience_of (seconds) };
  g_autoptr (GPtrArray) arguments = NULL;
  FlamRecordOptions *options;
  int control = -1;

  flam_wire_init (&relay.wire, STDIN_FILENO, STDOUT_FILENO);
  arguments = read_arguments (&relay.wire);
  if (arguments == NULL)
    _exit (1);
  relay.said = g_string_new (NULL);
  relay.unread = g_byte_array_new ();
  relay.path = capture_path (own);
  switch (start_child (&relay, &control))
    {
    case -1:
      g_printerr ("%s\n", g_strerror (errno));
      _exit (1);
    case 0:
      options = be_recorder (own, relay.path, arguments, control, error);
      relay_clear (&relay);
      return options;
    default:
      if (relay.patience > 0)
        relay.listening = flam_relay_listen (name);
      run (&relay);
    }
}
