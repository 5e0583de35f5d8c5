/* SPDX-License-Identifier: GPL-3.0-or-later */

/* remap SECONDS: maps some memory, touches each page, protects one page after
 * another, and unmaps it. Nothing waits: all calls are work in the kernel. */

#include <sys/mman.h>

#include "truth.h"

#define N_PAGES 64
#define PAGE 4096

enum
{
  MAP,
  TOUCH,
  PROTECT,
  UNMAP,
  COMPUTE,
  N_PARTS
};
static TruthPart parts[N_PARTS] = { { "map_pages", 0 },
                                    { "touch_pages", 0 },
                                    { "protect_pages", 0 },
                                    { "unmap_pages", 0 },
                                    { "compute", 0 } };

WORK (compute)

NOINLINE static char *
map_pages (void)
{
  char *pages = mmap (NULL,
                      N_PAGES * PAGE,
                      PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS,
                      -1,
                      0);

  if (pages == MAP_FAILED)
    _exit (1);
  truth_sink++;
  return pages;
}

NOINLINE static void
touch_pages (volatile char *pages)
{
  for (int i = 0; i < N_PAGES; i++)
    pages[i * PAGE] = 1;
  truth_sink++;
}

NOINLINE static void
protect_pages (char *pages)
{
  for (int i = 0; i < N_PAGES; i += 2)
    if (mprotect (pages + i * PAGE, PAGE, PROT_READ) != 0)
      _exit (1);
  truth_sink++;
}

NOINLINE static void
unmap_pages (char *pages)
{
  if (munmap (pages, N_PAGES * PAGE) != 0)
    _exit (1);
  truth_sink++;
}

int
main (int argc, char **argv)
{
  TruthThread *self = truth_thread_begin ("remap");

  truth_begin (argc, argv);
  while (truth_goes_on ())
    {
      char *pages;

      TIMED (parts[MAP], pages = map_pages ());
      TIMED (parts[TOUCH], touch_pages (pages));
      TIMED (parts[PROTECT], protect_pages (pages));
      TIMED (parts[UNMAP], unmap_pages (pages));
      TIMED (parts[COMPUTE], compute (25));
    }
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
