/* SPDX-License-Identifier: GPL-3.0-or-later */

/* hostile WAY: allocates 100 kB in before(), waits until that was read, and
 * then damages the files that it shares with its recorder. Status 7. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "flam-alloc-shared.h"

static void *volatile kept;
static char path[4096];
static char *file;
static FlamAllocRing *ring;

__attribute__ ((noinline)) static void
before (void)
{
  for (int i = 0; i < 100; i++)
    kept = malloc (1000);
}

/* The library's mapping: of a file in a folder flambeau-XXXXXX, except its
 * control file. */
static int
find_file (void)
{
  static char line[8192];
  FILE *maps = fopen ("/proc/self/maps", "re");
  unsigned long start;
  int at;

  while (maps != NULL && fgets (line, sizeof line, maps) != NULL)
    if (strstr (line, "/flambeau-") && !strstr (line, "/control") &&
        sscanf (line, "%lx-%*x %*s %*x %*s %*u %n", &start, &at) == 1)
      {
        line[strcspn (line, "\n")] = 0;
        strcpy (path, line + at);
        file = (char *)start;
        ring = (FlamAllocRing *)(void *)(file + FLAM_ALLOC_RINGS_AT);
        return 1;
      }
  return 0;
}

static void
scribble (void)
{
  uint64_t x = 88172645463325252ull;

  for (int i = 0; i < 30000000; i++)
    {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      ring->data[x % FLAM_ALLOC_RING_DATA] = x >> 32;
      if (i % 1000 == 0)
        ring->head = x >> 56 == 0 ? x : ring->head + x % 4096;
      if (i % 100000 == 0)
        ((FlamAllocHeader *)(void *)file)->n_rings = x >> 40;
    }
}

/* Records without end, from a child that does not stop on request. */
static void
chatter (void)
{
  if (fork () != 0)
    return;
  setsid ();
  for (int i = 0; i < 100000000; i++)
    ring->head += 16;
  _exit (0);
}

int
main (int argc, char **argv)
{
  const char *way = argc > 1 ? argv[1] : "";

  before ();
  if (!find_file ())
    return 1;
  usleep (300000);
  if (strcmp (way, "head") == 0)
    ring->head = UINT64_MAX;
  else if (strcmp (way, "garbage") == 0)
    scribble ();
  else if (strcmp (way, "cut") == 0)
    {
      /* It maps a page that the recorder has not read yet. */
      if (truncate (path, FLAM_ALLOC_RINGS_AT) != 0)
        _exit (2);
    }
  else if (strcmp (way, "control") == 0)
    {
      strcpy (strrchr (path, '/'), "/control");
      if (truncate (path, 0) != 0)
        _exit (2);
    }
  else
    chatter ();
  usleep (300000);
  _exit (7);
}
