/* SPDX-License-Identifier: GPL-3.0-or-later */

/* echo SECONDS: a thread that answers twenty clients on TCP connections of the
 * loopback, with about 20 µs of work for each request. Each of four other
 * threads represents five of the clients: it sends a request on every
 * connection, and then reads the answers. The server's system calls take about
 * as long as its work. */

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "truth.h"

#define N_CLIENTS 20
#define N_THREADS 4

enum
{
  PARSE,
  READ,
  WRITE,
  AWAIT,
  ASK,
  N_PARTS
};
static TruthPart parts[N_PARTS] = { { "parse", 0 },
                                    { "read_request", 0 },
                                    { "write_answer", 0 },
                                    { "await", 0 },
                                    { "ask_all", 0 } };
static int clients[N_CLIENTS], servers[N_CLIENTS], poller;

WORK (parse)

NOINLINE static int
await (struct epoll_event *events)
{
  int n = epoll_wait (poller, events, N_CLIENTS, -1);

  truth_sink++;
  return n;
}

NOINLINE static int
read_request (int fd, char *text, int size)
{
  int n = (int)read (fd, text, (size_t)size);

  truth_sink++;
  return n;
}

NOINLINE static int
write_answer (int fd, const char *text, int n)
{
  int done = (int)write (fd, text, (size_t)n);

  truth_sink++;
  return done;
}

static void *
serve (void *unused)
{
  TruthThread *self = truth_thread_begin ("server");
  struct epoll_event events[N_CLIENTS];
  int alive = N_CLIENTS;

  while (alive > 0)
    {
      int n;

      TIMED (parts[AWAIT], n = await (events));
      for (int i = 0; i < n; i++)
        {
          char text[64];
          int fd = events[i].data.fd, got;

          TIMED (parts[READ], got = read_request (fd, text, sizeof text));
          if (got <= 0)
            {
              close (fd);
              alive--;
              continue;
            }
          TIMED (parts[PARSE], parse (20));
          TIMED (parts[WRITE], write_answer (fd, text, got));
        }
    }
  truth_thread_end (self);
  return NULL;
}

NOINLINE static void
ask_all (const int *fds)
{
  char text[64] = "what";

  for (int i = 0; i < N_CLIENTS / N_THREADS; i++)
    if (write (fds[i], text, sizeof text) != sizeof text)
      _exit (1);
  for (int i = 0; i < N_CLIENTS / N_THREADS; i++)
    if (read (fds[i], text, sizeof text) <= 0)
      _exit (1);
  truth_sink++;
}

static void *
be_clients (void *data)
{
  TruthThread *self = truth_thread_begin ("clients");
  const int *fds = data;

  while (truth_goes_on ())
    TIMED (parts[ASK], ask_all (fds));
  for (int i = 0; i < N_CLIENTS / N_THREADS; i++)
    close (fds[i]);
  truth_thread_end (self);
  return NULL;
}

static int
connect_all (void)
{
  struct sockaddr_in address = { .sin_family = AF_INET };
  socklen_t size = sizeof address;
  int listener = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

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
      setsockopt (clients[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      setsockopt (servers[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
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
  TruthThread *self = truth_thread_begin ("main");
  pthread_t server, threads[N_THREADS];

  if (!connect_all ())
    return 1;
  truth_begin (argc, argv);
  if (pthread_create (&server, NULL, serve, NULL) != 0)
    return 1;
  for (int i = 0; i < N_THREADS; i++)
    if (pthread_create (&threads[i],
                        NULL,
                        be_clients,
                        clients + i * (N_CLIENTS / N_THREADS)) != 0)
      return 1;
  for (int i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
  pthread_join (server, NULL);
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
