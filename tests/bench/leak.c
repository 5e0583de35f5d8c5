/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Leaks blocks: `leak BLOCKS [MOST]`. Of 24 bytes, or of random sizes up to
 * MOST. */

#include <stdint.h>
#include <stdlib.h>

static void *volatile sink;

__attribute__ ((noinline)) static void
leak (size_t size)
{
  sink = malloc (size);
}

int
main (int argc, char **argv)
{
  long n = argc > 1 ? atol (argv[1]) : 1000000;
  uint32_t most = argc > 2 ? (uint32_t)atol (argv[2]) : 0;
  uint32_t seed = 1;

  for (long i = 0; i < n; i++)
    {
      seed = seed * 1664525 + 1013904223;
      leak (most > 0 ? 1 + (seed >> 8) % most : 24);
    }
  return 0;
}
