/* SPDX-License-Identifier: GPL-3.0-or-later */

/* gets memory | malloc | resources | again | wait | wake: gets memory from the
 * kernel, or descriptors and threads, in numbers that are known here. Each of
 * its functions gets one kind. "wait" does the first and the third for each
 * byte of its input; "wake" has a thread that another one wakes 50 times. */

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NOINLINE __attribute__ ((noinline))
#define PAGE 4096ul
#define USE(value) __asm__ volatile("" : : "r"(value) : "memory")

static volatile int sink;

static char *
map (size_t size, int protection)
{
  char *at = mmap (NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (at == MAP_FAILED)
    _exit (1);
  madvise (at, size, MADV_NOHUGEPAGE);
  return at;
}

NOINLINE static char *
map_kept (void)
{
  char *at = map (100 * PAGE, PROT_READ | PROT_WRITE);

  sink++;
  return at;
}

NOINLINE static void
touch (volatile char *at)
{
  for (unsigned long i = 0; i < 100; i++)
    at[i * PAGE] = 1;
  sink++;
}

NOINLINE static void
map_and_unmap (void)
{
  char *at = map (30 * PAGE, PROT_READ | PROT_WRITE);

  munmap (at, 10 * PAGE);
  munmap (at + 10 * PAGE, 20 * PAGE);
  sink++;
}

NOINLINE static void
map_and_move (void)
{
  char *at = map (4 * PAGE, PROT_READ | PROT_WRITE);

  at = mremap (at, 4 * PAGE, 40 * PAGE, MREMAP_MAYMOVE);
  USE (at);
  sink++;
}

/* Only usable addresses count as memory. */
NOINLINE static void
reserve (void)
{
  char *at = map (5000 * PAGE, PROT_NONE);

  mprotect (at + PAGE, 7 * PAGE, PROT_READ | PROT_WRITE);
  mprotect (at + PAGE, 2 * PAGE, PROT_NONE);
  sink++;
}

NOINLINE static void
move_break (void)
{
  syscall (SYS_brk, (char *)sbrk (0) + 64 * PAGE);
  sink++;
}

/* malloc's own growth: glibc takes 132 KiB and more at a time. */
NOINLINE static void
allocate (void)
{
  for (int i = 0; i < 200; i++)
    USE (malloc (50000));
  sink++;
}

NOINLINE static void
open_and_leak (void)
{
  for (int i = 0; i < 10; i++)
    if (open ("/dev/null", O_RDONLY) < 0)
      _exit (1);
  sink++;
}

NOINLINE static void
open_and_close (void)
{
  for (int i = 0; i < 25; i++)
    close (open ("/dev/null", O_RDONLY));
  sink++;
}

/* Two at a time; close_range() closes one pair. */
NOINLINE static void
make_pairs (void)
{
  int ends[2], sockets[2];

  if (pipe (ends) != 0 || socketpair (AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
    _exit (1);
  syscall (SYS_close_range, ends[0], ends[1], 0);
  sink++;
}

/* dup2() replaces its target. */
NOINLINE static void
duplicate (void)
{
  int first = dup (0);

  if (first < 0 || dup2 (0, first) != first ||
      fcntl (0, F_DUPFD_CLOEXEC, 100) < 100)
    _exit (1);
  sink++;
}

NOINLINE static void
receive (void)
{
  char byte = 1, control[CMSG_SPACE (sizeof (int))] = { 0 };
  struct iovec io = { &byte, 1 };
  struct msghdr message = { .msg_iov = &io,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof control };
  struct cmsghdr *head = CMSG_FIRSTHDR (&message);
  int sockets[2], sent = 0;

  if (socketpair (AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
    _exit (1);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN (sizeof sent);
  memcpy (CMSG_DATA (head), &sent, sizeof sent);
  if (sendmsg (sockets[0], &message, 0) != 1 ||
      recvmsg (sockets[1], &message, 0) != 1)
    _exit (1);
  close (sockets[0]);
  close (sockets[1]);
  sink++;
}

static void *
nothing (void *data)
{
  return data;
}

NOINLINE static void
join_threads (void)
{
  pthread_t thread;

  for (int i = 0; i < 5; i++)
    if (pthread_create (&thread, NULL, nothing, NULL) != 0 ||
        pthread_join (thread, NULL) != 0)
      _exit (1);
  sink++;
}

NOINLINE static void
forget_threads (void)
{
  pthread_t thread;

  for (int i = 0; i < 3; i++)
    if (pthread_create (&thread, NULL, nothing, NULL) != 0)
      _exit (1);
  sink++;
}

NOINLINE static void
detach_threads (void)
{
  pthread_attr_t attributes;
  pthread_t thread;

  pthread_attr_init (&attributes);
  pthread_attr_setdetachstate (&attributes, PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < 2; i++)
    if (pthread_create (&thread, &attributes, nothing, NULL) != 0)
      _exit (1);
  sink++;
}

/* Descriptors that exec closes, and two that it does not. */
static void
run_again (char **argv)
{
  if (open ("/dev/null", O_RDONLY | O_CLOEXEC) < 0 ||
      eventfd (0, EFD_CLOEXEC) < 0 || open ("/dev/null", O_RDONLY) < 0 ||
      eventfd (0, 0) < 0)
    _exit (1);
  execl (argv[0], argv[0], "nothing", NULL);
  _exit (1);
}

/* --- who wakes a thread -------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t rang = PTHREAD_COND_INITIALIZER;
static int n_rings;

static void *
ring (void *unused)
{
  prctl (PR_SET_NAME, "ringer");
  for (int i = 0; i < 50; i++)
    {
      usleep (2000);
      pthread_mutex_lock (&lock);
      n_rings++;
      pthread_cond_signal (&rang);
      pthread_mutex_unlock (&lock);
    }
  return unused;
}

static void *
wait_for_rings (void *unused)
{
  prctl (PR_SET_NAME, "waiter");
  for (int i = 0; i < 50; i++)
    {
      pthread_mutex_lock (&lock);
      while (n_rings <= i)
        pthread_cond_wait (&rang, &lock);
      pthread_mutex_unlock (&lock);
    }
  return unused;
}

static void
wake (void)
{
  pthread_t threads[2];

  if (pthread_create (&threads[0], NULL, wait_for_rings, NULL) != 0 ||
      pthread_create (&threads[1], NULL, ring, NULL) != 0)
    _exit (1);
  for (int i = 0; i < 2; i++)
    pthread_join (threads[i], NULL);
}

/* --- all ----------------------------------------------------------------- */

static void
get_memory (void)
{
  char *at = map_kept ();

  touch (at);
  map_and_unmap ();
  map_and_move ();
  reserve ();
  move_break ();
}

static void
get_resources (void)
{
  open_and_leak ();
  open_and_close ();
  make_pairs ();
  duplicate ();
  receive ();
  join_threads ();
  forget_threads ();
  detach_threads ();
  usleep (50000);
}

int
main (int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  struct rusage usage;

  if (strcmp (what, "memory") == 0)
    get_memory ();
  else if (strcmp (what, "malloc") == 0)
    allocate ();
  else if (strcmp (what, "resources") == 0)
    get_resources ();
  else if (strcmp (what, "again") == 0)
    run_again (argv);
  else if (strcmp (what, "wake") == 0)
    wake ();
  else if (strcmp (what, "wait") == 0)
    {
      char byte;

      /* The recorder attaches meanwhile. */
      while (read (0, &byte, 1) > 0)
        {
          get_memory ();
          get_resources ();
          if (write (1, "x", 1) != 1)
            _exit (1);
        }
      return 0;
    }
  getrusage (RUSAGE_SELF, &usage);
  fprintf (stderr, "faults %ld\n", usage.ru_minflt + usage.ru_majflt);
  return 0;
}
