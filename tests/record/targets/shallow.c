/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Calls that leave the stack unaligned: gcc omits the alignment to 16 if it
 * knows that the callee does not need it (-fipa-stack-alignment). So main may
 * not call anything else. */

#include <stdint.h>

#ifdef __clang__
#define NOINLINE __attribute__ ((noinline))
#else
#define NOINLINE __attribute__ ((noinline, noclone))
#endif

static volatile uint64_t sink;

static NOINLINE uint64_t
spin (uint64_t n)
{
  uint64_t x = n;

  for (uint64_t i = 0; i < n; i++)
    x = x * 6364136223846793005ull + (x >> 7);
  return x;
}

static NOINLINE uint64_t
middle (uint64_t n)
{
  return spin (n) + spin (n / 7);
}

int
main (int argc, char **argv)
{
  sink = middle (8000000ull * (uint64_t)argc);
  return 0;
}
