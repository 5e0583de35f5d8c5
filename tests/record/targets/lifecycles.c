/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Processes and threads that are short-lived, or begin and end in unusual ways:
 *
 *   coroutines  two of makecontext(), which work and allocate
 *   late-names  threads that are named after their start, and end soon
 *   forks       children that work, and their CPU time by the kernel's account
 *   master      waits, while its children work
 *   daemon      ends, while its child's child works
 *   crowd       100 threads
 *   exec        a thread becomes another program, which works, too */

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__ ((noinline))
#else
#define NOINLINE __attribute__ ((noinline, noclone))
#endif

static volatile uint64_t sink;
static void *volatile block;

NOINLINE static void
work (uint64_t n)
{
  for (uint64_t i = 0; i < n; i++)
    sink = sink * 6364136223846793005ull + 1;
}

NOINLINE static void
allocate (void)
{
  block = malloc (100);
  free (block);
}

static ucontext_t contexts[3];

static void
coroutine (int which)
{
  for (int i = 0; i < 100; i++)
    {
      work (1000000);
      allocate ();
      swapcontext (&contexts[which], &contexts[3 - which]);
    }
}

static int
coroutines (void)
{
  for (int i = 1; i < 3; i++)
    {
      getcontext (&contexts[i]);
      contexts[i].uc_stack.ss_sp = malloc (65536);
      contexts[i].uc_stack.ss_size = 65536;
      contexts[i].uc_link = &contexts[0];
      makecontext (&contexts[i], (void (*) (void))coroutine, 1, i);
    }
  swapcontext (&contexts[0], &contexts[1]);
  return 0;
}

static void *
late_body (void *data)
{
  char name[16];

  usleep (3000);
  snprintf (name, sizeof name, "late%ld", (long)(intptr_t)data);
  pthread_setname_np (pthread_self (), name);
  work (500000);
  return NULL;
}

static int
late_names (void)
{
  for (long round = 0; round < 10; round++)
    {
      pthread_t threads[8];

      for (long i = 0; i < 8; i++)
        pthread_create (&threads[i], NULL, late_body, (void *)(intptr_t)i);
      for (long i = 0; i < 8; i++)
        pthread_join (threads[i], NULL);
    }
  return 0;
}

static double
seconds (const struct rusage *usage)
{
  return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
         1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

static int
say_used (void)
{
  struct rusage own, children;

  getrusage (RUSAGE_SELF, &own);
  getrusage (RUSAGE_CHILDREN, &children);
  fprintf (stderr, "used %.6f\n", seconds (&own) + seconds (&children));
  return 0;
}

/* The time to release their memory at their end belongs to them, too. */
static int
forks (void)
{

  for (int i = 0; i < 100; i++)
    {
      if (fork () == 0)
        {
          size_t size = 4 << 20;
          char *pages = mmap (NULL,
                              size,
                              PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS,
                              -1,
                              0);

          memset (pages, 1, size);
          work (100000);
          _exit (0);
        }
      wait (NULL);
    }
  return say_used ();
}

static void *
exec_body (void *program)
{
  work (50000000);
  execl (program, program, "worker", (char *)NULL);
  return NULL;
}

static int
exec_case (char *program)
{
  pthread_t thread;

  pthread_create (&thread, NULL, exec_body, program);
  work (100000000);
  while (pause () < 0)
    ;
  return 0;
}

static int
worker (void)
{
  work (50000000);
  return say_used ();
}

/* Its children do the work, as a server's do; they end with it. */
static int
master (void)
{
  for (int i = 0; i < 2; i++)
    if (fork () == 0)
      {
        prctl (PR_SET_PDEATHSIG, SIGKILL);
        alarm (60);
        for (;;)
          work (1000000);
      }
  while (pause () < 0)
    ;
  return 0;
}

/* Its first process ends, and the working one becomes an orphan. */
static int
daemon_case (void)
{
  if (fork () == 0)
    {
      setsid ();
      if (fork () == 0)
        {
          alarm (1);
          for (;;)
            work (1000000);
        }
      _exit (0);
    }
  wait (NULL);
  return 0;
}

static void *
idle_body (void *data)
{
  work (1000000);
  pause ();
  return NULL;
}

/* More threads than there are descriptors. */
static int
crowd (void)
{
  pthread_t thread;

  for (int i = 0; i < 100; i++)
    pthread_create (&thread, NULL, idle_body, NULL);
  work (100000000);
  return 0;
}

int
main (int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";

  if (strcmp (what, "coroutines") == 0)
    return coroutines ();
  if (strcmp (what, "late-names") == 0)
    return late_names ();
  if (strcmp (what, "forks") == 0)
    return forks ();
  if (strcmp (what, "master") == 0)
    return master ();
  if (strcmp (what, "daemon") == 0)
    return daemon_case ();
  if (strcmp (what, "crowd") == 0)
    return crowd ();
  if (strcmp (what, "exec") == 0)
    return exec_case (argv[0]);
  if (strcmp (what, "worker") == 0)
    return worker ();
  return 2;
}
