/* SPDX-License-Identifier: GPL-3.0-or-later */

/* shares ROUNDS: known structure, with self times in units of one loop.
 *
 *   main ─┬─ parse                        20 %
 *         ├─ compute ─┬─ spin_heavy       50 %
 *         │           └─ spin_light       10 %
 *         └─ recurse, 31 deep ── leaf     20 %
 *
 * The loop's body is inner(), inlined into outer(), inlined into all four. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __clang__
#define NOINLINE __attribute__ ((noinline))
#else
#define NOINLINE __attribute__ ((noinline, noclone))
#endif
#define INLINE static inline __attribute__ ((always_inline))

static volatile uint64_t sink;

INLINE uint64_t
inner (uint64_t x)
{
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  return x ^ (x >> 29);
}

INLINE uint64_t
outer (uint64_t x)
{
  return inner (x) + inner (x ^ 0x9e3779b97f4a7c15ull);
}

#define SPIN(name, seed)                                                       \
  NOINLINE uint64_t name (long n);                                             \
  NOINLINE uint64_t name (long n)                                              \
  {                                                                            \
    uint64_t a = seed;                                                         \
    for (long i = 0; i < n; i++)                                               \
      a = outer (a + (uint64_t)i);                                             \
    sink = a;                                                                  \
    return a;                                                                  \
  }
SPIN (spin_heavy, 1)
SPIN (spin_light, 2)
SPIN (leaf, 3)
SPIN (parse, 4)

NOINLINE uint64_t recurse (int depth, long n);
NOINLINE uint64_t
recurse (int depth, long n)
{
  uint64_t r = depth > 0 ? recurse (depth - 1, n) : leaf (n);

  sink += r;
  return r + (uint64_t)depth;
}

NOINLINE uint64_t compute (long unit);
NOINLINE uint64_t
compute (long unit)
{
  uint64_t r = spin_heavy (50 * unit);

  r += spin_light (10 * unit);
  sink = r;
  return r;
}

int
main (int argc, char **argv)
{
  long rounds = argc > 1 ? atol (argv[1]) : 100;

  for (long i = 0; i < rounds; i++)
    {
      parse (20 * 20000);
      compute (20000);
      recurse (30, 20 * 20000);
    }
  printf ("%llu\n", (unsigned long long)sink);
  return 0;
}
