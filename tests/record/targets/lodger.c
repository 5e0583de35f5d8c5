/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Runs before, while and after its allocations are recorded, and does what it
 * is told on its input:
 *
 *   w   100 blocks of 64 bytes, of which it frees 60; frees what it had before
 *   b   64 MiB in blocks of 1 KiB
 *   l   loads a library that only its own RUNPATH leads to, and allocates there
 *   f   forks a child that allocates 10 blocks and ends
 *   q   ends: status 7 if nothing was disturbed
 *
 * The first argument is what its first thread does, the second one what its
 * other threads do, a letter each:
 *
 *   c   read the commands
 *   a   allocate and free
 *   r   compute in the red zone and in vector registers, and check it
 *   s   sleep, and check that no sleep ends early
 *   e   epoll_wait(), and check that it never fails
 *   q   queue signals to the process, as many as are received in the end
 *   h   wait in the handler of a signal, on a small alternative stack */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_OLD 1000

static atomic_int over;
static atomic_int disturbed; /* a bit for each kind of disturbance */
static atomic_long sent, received;
static void *kept[65536 + 200];
static unsigned n_kept;

static void
check (int right, int bit)
{
  if (!right)
    atomic_fetch_or (&disturbed, 1 << bit);
}

__attribute__ ((noinline)) static void *
in_window (size_t size)
{
  void *data = malloc (size);

  __asm__ volatile("" : "+r"(data));
  return data;
}

__attribute__ ((noinline)) static void
keep_in_window (unsigned n, size_t size)
{
  for (unsigned i = 0; i < n; i++)
    kept[n_kept++] = in_window (size);
}

/* --- threads ------------------------------------------------------------- */

static void *
allocate (void *unused)
{
  while (!over)
    {
      void *data[16];

      for (int i = 0; i < 16; i++)
        data[i] = malloc (40 + i);
      for (int i = 0; i < 16; i++)
        free (data[i]);
    }
  return unused;
}

static void *
compute (void *unused)
{
  while (!over)
    {
      uint64_t wrong = 0;

      /* A value in each of the 16 words below the stack pointer, and in 4
       * registers; a loop; then all are compared. */
      __asm__ volatile(
          "mov $0x123456789abcdef, %%rax\n"
          "movq %%rax, %%xmm8\n movq %%rax, %%xmm9\n"
          "movq %%rax, %%xmm14\n movq %%rax, %%xmm15\n"
          ".set i, 1\n"
          ".rept 16\n mov %%rax, -8*i(%%rsp)\n .set i, i + 1\n .endr\n"
          "mov $20000, %%ecx\n"
          "1: dec %%ecx\n jnz 1b\n"
          ".set i, 1\n"
          ".rept 16\n mov -8*i(%%rsp), %%rdx\n xor %%rax, %%rdx\n"
          "or %%rdx, %0\n .set i, i + 1\n .endr\n"
          "movq %%xmm8, %%rdx\n xor %%rax, %%rdx\n or %%rdx, %0\n"
          "movq %%xmm9, %%rdx\n xor %%rax, %%rdx\n or %%rdx, %0\n"
          "movq %%xmm14, %%rdx\n xor %%rax, %%rdx\n or %%rdx, %0\n"
          "movq %%xmm15, %%rdx\n xor %%rax, %%rdx\n or %%rdx, %0\n"
          : "+r"(wrong)
          :
          : "rax", "rcx", "rdx", "xmm8", "xmm9", "xmm14", "xmm15", "cc");
      check (wrong == 0, 0);
    }
  return unused;
}

static double
now (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_MONOTONIC, &ts);
  return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void *
sleep_often (void *unused)
{
  while (!over)
    {
      struct timespec pause = { 0, 50000000 };
      double before = now ();
      int failed = nanosleep (&pause, NULL);

      check (!failed && now () - before >= 0.05, 1);
    }
  return unused;
}

static void *
wait_for_events (void *unused)
{
  int fd = epoll_create1 (0);
  struct epoll_event event;

  while (!over)
    check (epoll_wait (fd, &event, 1, 50) == 0, 2);
  return unused;
}

static void
on_queued (int number)
{
  received++;
}

static void *
queue_signals (void *unused)
{
  while (!over)
    {
      union sigval value = { 0 };
      struct timespec pause = { 0, 1000000 };

      if (sigqueue (getpid (), SIGRTMIN, value) == 0)
        sent++;
      nanosleep (&pause, NULL);
    }
  return unused;
}

static void
on_waiting (int number)
{
  struct timespec pause = { 0, 50000000 };

  while (!over)
    check (nanosleep (&pause, NULL) == 0, 3);
}

static void *
wait_in_handler (void *unused)
{
  static char memory[8192];
  stack_t stack = { .ss_sp = memory, .ss_size = sizeof memory };

  sigaltstack (&stack, NULL);
  pthread_kill (pthread_self (), SIGUSR2);
  return unused;
}

/* --- commands ------------------------------------------------------------ */

static void
say (const char *text)
{
  check (write (1, text, strlen (text)) == (ssize_t)strlen (text), 8);
}

/* Also by its address, which in a program at a fixed address is a jump of its
 * own. */
static void (*volatile freed_by) (void *);

static void
free_most (unsigned first, unsigned n)
{
  freed_by = free;
  for (unsigned i = first; i < first + n; i++)
    if (i % 2 == 0)
      free (kept[i]);
    else
      freed_by (kept[i]);
}

static void
load (void)
{
  void *library = dlopen ("lodger-library.so", RTLD_NOW);
  void (*run) (void) = library ? dlsym (library, "allocate_in_library") : NULL;

  check (run != NULL, 4);
  if (run != NULL)
    run ();
}

static void
fork_child (void)
{
  pid_t child = fork ();
  int status = 0;

  if (child == 0)
    {
      keep_in_window (10, 64);
      _exit (3);
    }
  check (waitpid (child, &status, 0) == child && WEXITSTATUS (status) == 3, 5);
}

static void *
obey (void *unused)
{
  void *old[N_OLD];
  unsigned n_old = N_OLD;
  char command = 0;
  ssize_t n;

  for (unsigned i = 0; i < N_OLD; i++)
    old[i] = malloc (100);
  say ("ready\n");
  while ((n = read (0, &command, 1)) == 1 && command != 'q')
    {
      if (command == 'w')
        {
          keep_in_window (100, 64);
          free_most (n_kept - 100, 60);
          while (n_old > 0)
            free (old[--n_old]);
        }
      if (command == 'b')
        keep_in_window (65536, 1024);
      if (command == 'l')
        load ();
      if (command == 'f')
        fork_child ();
      say ("done\n");
    }
  check (n == 1, 6);
  over = 1;
  return unused;
}

/* --- threads ------------------------------------------------------------- */

static void *(*work_of (char kind)) (void *)
{
  switch (kind)
    {
    case 'a':
      return allocate;
    case 'r':
      return compute;
    case 's':
      return sleep_often;
    case 'e':
      return wait_for_events;
    case 'q':
      return queue_signals;
    case 'h':
      return wait_in_handler;
    default:
      return obey;
    }
}

static void
handle_signals (void)
{
  struct sigaction queued = { .sa_handler = on_queued, .sa_flags = SA_RESTART };
  struct sigaction waiting = { .sa_handler = on_waiting,
                               .sa_flags = SA_ONSTACK };

  sigaction (SIGRTMIN, &queued, NULL);
  sigaction (SIGUSR2, &waiting, NULL);
}

int
main (int argc, char **argv)
{
  const char *others = argc > 2 ? argv[2] : "";
  pthread_t threads[16];
  sigset_t set;

  handle_signals ();
  /* Only the first thread gets queued signals. */
  sigemptyset (&set);
  sigaddset (&set, SIGRTMIN);
  pthread_sigmask (SIG_BLOCK, &set, NULL);
  for (unsigned i = 0; others[i] != 0; i++)
    pthread_create (&threads[i], NULL, work_of (others[i]), NULL);
  pthread_sigmask (SIG_UNBLOCK, &set, NULL);
  work_of (argc > 1 ? argv[1][0] : 'c') (NULL);
  for (unsigned i = 0; others[i] != 0; i++)
    pthread_join (threads[i], NULL);
  check (sent == received, 7);
  if (disturbed)
    fprintf (stderr, "disturbed: %x\n", disturbed);
  return disturbed ? 1 : 7;
}
