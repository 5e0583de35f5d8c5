/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-guard.h"

#include "flam-wire.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALIVE 3
#define LEAVE_US (10 * G_USEC_PER_SEC) /* at most */

/* Closes all other files: a pipe ends for its reader only when no process has
 * it open for writing. */
static void
keep_only (int in, int out, int alive)
{
  int fds[] = { in, out, alive };
  long n = sysconf (_SC_OPEN_MAX);

  /* Above those that they become. */
  for (int i = 0; i < 3; i++)
    fds[i] = fcntl (fds[i], F_DUPFD, ALIVE + 1);
  for (int i = 0; i < 3; i++)
    dup2 (fds[i], i + 1);
  close (STDIN_FILENO);
  if (syscall (SYS_close_range, ALIVE + 1, ~0U, 0) != 0)
    for (int fd = ALIVE + 1; fd < n; fd++)
      close (fd);
}

/* The client ends where nobody reads its output; it has to send this first.
 * The other side may send without end. */
static void
leave (int in, int out)
{
  static const guint8 message[] = { FLAM_WIRE_LEFT, 0 };
  struct pollfd one = { out, POLLIN, 0 };
  gint64 until = g_get_monotonic_time () + LEAVE_US;
  gint64 left = LEAVE_US;
  char buffer[4096];
  ssize_t n = write (in, message, sizeof message);

  close (in);
  while (n != 0 && left > 0 && poll (&one, 1, (int)(left / 1000) + 1) > 0)
    {
      n = read (out, buffer, sizeof buffer);
      left = until - g_get_monotonic_time ();
    }
}

static G_GNUC_NORETURN void
be_guard (int in, int out, int alive)
{
  char byte;

  setsid ();
  signal (SIGPIPE, SIG_IGN);
  keep_only (in, out, alive);
  while (read (ALIVE, &byte, 1) < 0 && errno == EINTR)
    ;
  leave (1, 2);
  _exit (0);
}

void
flam_guard_start (FlamGuard *guard, int in, int out)
{
  int alive[2];

  guard->pid = 0;
  if (pipe2 (alive, O_CLOEXEC) != 0)
    return;
  guard->pid = fork ();
  if (guard->pid == 0)
    {
      close (alive[1]);
      be_guard (in, out, alive[0]);
    }
  close (alive[0]);
  guard->alive = alive[1];
  if (guard->pid > 0)
    return;
  close (alive[1]);
  guard->pid = 0;
}

void
flam_guard_end (FlamGuard *guard)
{
  if (guard->pid == 0)
    return;
  kill (guard->pid, SIGKILL);
  while (waitpid (guard->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  close (guard->alive);
  guard->pid = 0;
}
