/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A program to be linked with musl, whose functions have no CFI: each part
 * works in functions of the C library, or in a signal handler, and measures its
 * CPU time.
 *
 *   musl SECONDS     prints "FUNCTION NS" for each part */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE 65536
#define N_SORTED 8192
#define STACK 65536

static char from[SIZE], to[SIZE];
static volatile long sink;

static long long
now (void)
{
  struct timespec ts;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &ts);
  return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

__attribute__ ((noinline)) void
copies (void)
{
  for (int i = 0; i < 400; i++)
    {
      memcpy (to, from, SIZE);
      sink += to[i];
    }
}

__attribute__ ((noinline)) void
searches (void)
{
  memset (to, 'x', SIZE - 1);
  to[SIZE - 1] = 0;
  for (int i = 0; i < 60; i++)
    sink += (long)strlen (to) + (strchr (to, 'y') == NULL);
}

static int
compare (const void *a, const void *b)
{
  return *(const int *)a - *(const int *)b;
}

__attribute__ ((noinline)) void
sorts (void)
{
  static int values[N_SORTED];
  unsigned seed = 1;

  for (int i = 0; i < N_SORTED; i++)
    values[i] = (int)((seed = seed * 1664525 + 1013904223) >> 8);
  qsort (values, N_SORTED, sizeof *values, compare);
  sink += values[7];
}

__attribute__ ((noinline)) void
prints (void)
{
  char text[256];

  for (int i = 0; i < 2000; i++)
    sink += snprintf (text, sizeof text, "%d %s %f", i, "text", i * 1.5);
}

/* Most of the allocator is in functions that are not exported. */
__attribute__ ((noinline)) void
allocates (void)
{
  static void *blocks[4096];
  static unsigned seed = 1;

  for (int i = 0; i < 8000; i++)
    {
      unsigned k = (seed = seed * 1664525 + 1013904223) >> 20;

      free (blocks[k]);
      blocks[k] = malloc (16 + (seed >> 4) % 3000);
    }
}

/* On the alternate stack. */
__attribute__ ((noinline)) void
handles (int number)
{
  (void)number;
  for (int i = 0; i < 3000000; i++)
    sink += i;
}

__attribute__ ((noinline)) void
raises (void)
{
  raise (SIGUSR1);
}

static void (*const parts[]) (void) = { copies, searches,  sorts,
                                        prints, allocates, raises };
static const char *const names[] = { "copies", "searches",  "sorts",
                                     "prints", "allocates", "handles" };
#define N (sizeof parts / sizeof *parts)

int
main (int argc, char **argv)
{
  long long spent[N] = { 0 }, before = now (), after,
            until = before + (long long)(atof (argv[argc - 1]) * 1e9);
  stack_t stack = { .ss_sp = malloc (STACK), .ss_size = STACK };
  struct sigaction action = { .sa_handler = handles, .sa_flags = SA_ONSTACK };

  if (sigaltstack (&stack, NULL) != 0 ||
      sigaction (SIGUSR1, &action, NULL) != 0)
    return 1;
  while (before < until)
    for (unsigned i = 0; i < N; i++, before = after)
      {
        parts[i]();
        after = now ();
        spent[i] += after - before;
      }
  for (unsigned i = 0; i < N; i++)
    printf ("%s %lld\n", names[i], spent[i]);
  return 0;
}
