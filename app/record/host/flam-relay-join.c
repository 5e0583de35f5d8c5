/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-relay-join.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PREFIX "flambeau-"
#define N_FDS 2
#define WAITING 4 /* connections that may wait to be accepted */

typedef union
{
  struct cmsghdr head; /* aligns it */
  char bytes[CMSG_SPACE (N_FDS * sizeof (int))];
} Control;

/* Its first byte is 0: the name is in no folder. */
static socklen_t
make_address (struct sockaddr_un *address, const char *name)
{
  *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
  g_snprintf (
      address->sun_path + 1, sizeof address->sun_path - 1, PREFIX "%s", name);
  return (socklen_t)(offsetof (struct sockaddr_un, sun_path) + 1 +
                     strlen (address->sun_path + 1));
}

static gboolean
is_own (int fd)
{
  struct ucred peer;
  socklen_t size = sizeof peer;

  return getsockopt (fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == geteuid ();
}

int
flam_relay_listen (const char *name)
{
  struct sockaddr_un address;
  socklen_t size = make_address (&address, name);
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

  if (fd >= 0 && bind (fd, (struct sockaddr *)&address, size) == 0 &&
      listen (fd, WAITING) == 0)
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

/* --- the relay ----------------------------------------------------------- */

/* Closes descriptors that arrived without the rest, too. */
static gboolean
take_fds (struct msghdr *message, FlamJoined *joined)
{
  struct cmsghdr *head = CMSG_FIRSTHDR (message);
  int fds[N_FDS];
  gsize n;

  if (head == NULL || head->cmsg_level != SOL_SOCKET ||
      head->cmsg_type != SCM_RIGHTS)
    return FALSE;
  n = (head->cmsg_len - CMSG_LEN (0)) / sizeof (int);
  memcpy (fds, CMSG_DATA (head), MIN (n, N_FDS) * sizeof (int));
  joined->in = fds[0];
  joined->out = fds[1];
  if (n == N_FDS)
    return TRUE;
  for (gsize i = 0; i < n; i++)
    close (fds[i]);
  return FALSE;
}

FlamJoined
flam_relay_accept (int listening)
{
  FlamJoined joined = {
    .socket = accept4 (listening, NULL, NULL, SOCK_CLOEXEC),
  };
  Control control;
  struct iovec data = { &joined.received, sizeof joined.received };
  struct msghdr message = {
    .msg_iov = &data,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };

  if (joined.socket < 0)
    return joined;
  if (is_own (joined.socket) &&
      recvmsg (joined.socket, &message, MSG_CMSG_CLOEXEC) ==
          sizeof joined.received &&
      take_fds (&message, &joined))
    return joined;
  close (joined.socket);
  joined.socket = -1;
  return joined;
}

/* --- the other process --------------------------------------------------- */

static int
find_relay (const char *name)
{
  struct sockaddr_un address;
  socklen_t size = make_address (&address, name);
  int fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

  if (fd >= 0 && connect (fd, (struct sockaddr *)&address, size) == 0 &&
      is_own (fd))
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

static gboolean
read_count (guint64 *count)
{
  char *bytes = (char *)count;

  for (gsize at = 0; at < sizeof *count;)
    {
      ssize_t n = read (STDIN_FILENO, bytes + at, sizeof *count - at);

      if (n > 0)
        at += (gsize)n;
      else if (n == 0 || errno != EINTR)
        return FALSE;
    }
  *count = GUINT64_FROM_LE (*count);
  return TRUE;
}

static gboolean
hand_over (int fd, guint64 received)
{
  static const int fds[N_FDS] = { STDIN_FILENO, STDOUT_FILENO };
  Control control = { .bytes = "" };
  struct iovec data = { &received, sizeof received };
  struct msghdr message = {
    .msg_iov = &data,
    .msg_iovlen = 1,
    .msg_control = &control,
    .msg_controllen = sizeof control,
  };
  struct cmsghdr *head = CMSG_FIRSTHDR (&message);

  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN (sizeof fds);
  memcpy (CMSG_DATA (head), fds, sizeof fds);
  return sendmsg (fd, &message, MSG_NOSIGNAL) == sizeof received;
}

static void
print_word (const char *word)
{
  g_autofree char *line = g_strconcat (FLAM_RELAY_WORD " ", word, "\n", NULL);

  if (write (STDOUT_FILENO, line, strlen (line)) < 0)
    return;
}

int
flam_relay_join (const char *name)
{
  int fd = find_relay (name);
  guint64 received;
  char byte;

  print_word (fd >= 0 ? "begin" : "gone");
  if (fd < 0)
    return 1;
  /* The relay does not wait for the client's answer. */
  close (fd);
  if (!read_count (&received))
    return 1;
  fd = find_relay (name);
  if (fd < 0 || !hand_over (fd, received))
    return 1;
  while (read (fd, &byte, 1) < 0 && errno == EINTR)
    ;
  return 0;
}
