/* SPDX-License-Identifier: GPL-3.0-or-later */

/* server SECONDS: a thread that serves four connections of the loopback with
 * epoll; the other one sends requests on one after another, about every ms. An
 * answer costs 0.2 ms of work. */

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "truth.h"

#define N_CLIENTS 4

enum
{
  PARSE,
  ANSWER,
  RESPOND,
  AWAIT,
  ASK,
  N_PARTS
};
static TruthPart parts[N_PARTS] = { { "parse", 0 },
                                    { "answer", 0 },
                                    { "respond", 0 },
                                    { "await", 0 },
                                    { "ask", 0 } };
static int clients[N_CLIENTS], servers[N_CLIENTS], poller;

WORK (parse)
WORK (answer)

NOINLINE static int
await (void)
{
  struct epoll_event event;

  while (epoll_wait (poller, &event, 1, -1) != 1)
    ;
  truth_sink++;
  return event.data.fd;
}

/* FALSE: the other end is closed. */
NOINLINE static int
respond (int fd)
{
  char text[64];
  int n = (int)read (fd, text, sizeof text);

  if (n > 0 && write (fd, text, sizeof text) != sizeof text)
    n = 0;
  truth_sink++;
  return n > 0;
}

static void *
serve (void *unused)
{
  TruthThread *self = truth_thread_begin ("server");
  int alive = 1;

  while (alive)
    {
      int fd;

      TIMED (parts[AWAIT], fd = await ());
      TIMED (parts[PARSE], parse (50));
      TIMED (parts[ANSWER], answer (150));
      TIMED (parts[RESPOND], alive = respond (fd));
    }
  truth_thread_end (self);
  return NULL;
}

NOINLINE static void
ask (int fd)
{
  char text[64] = "what";

  truth_sleep (1000);
  if (write (fd, text, 4) != 4 || read (fd, text, sizeof text) <= 0)
    _exit (1);
  truth_sink++;
}

static int
connect_all (void)
{
  struct sockaddr_in address = { .sin_family = AF_INET };
  socklen_t size = sizeof address;
  int listener = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

  address.sin_addr.s_addr = htonl (INADDR_LOOPBACK);
  poller = epoll_create1 (EPOLL_CLOEXEC);
  if (bind (listener, (struct sockaddr *)&address, size) != 0 ||
      listen (listener, N_CLIENTS) != 0 ||
      getsockname (listener, (struct sockaddr *)&address, &size) != 0)
    return 0;
  for (int i = 0; i < N_CLIENTS; i++)
    {
      struct epoll_event event = { .events = EPOLLIN };

      clients[i] = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (connect (clients[i], (struct sockaddr *)&address, size) != 0)
        return 0;
      servers[i] = accept (listener, NULL, NULL);
      event.data.fd = servers[i];
      if (epoll_ctl (poller, EPOLL_CTL_ADD, servers[i], &event) != 0)
        return 0;
    }
  close (listener);
  return 1;
}

int
main (int argc, char **argv)
{
  TruthThread *self = truth_thread_begin ("client");
  pthread_t thread;

  if (!connect_all () || pthread_create (&thread, NULL, serve, NULL) != 0)
    return 1;
  truth_begin (argc, argv);
  for (int i = 0; truth_goes_on (); i++)
    TIMED (parts[ASK], ask (clients[i % N_CLIENTS]));
  for (int i = 0; i < N_CLIENTS; i++)
    close (clients[i]);
  pthread_join (thread, NULL);
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
