/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A library with one function, whose internal name is NAME. */

#include <stdint.h>

void work (long n);

static volatile uint64_t sink;

__attribute__ ((noinline)) static void
NAME (long n)
{
  uint64_t a = 1;

  for (long i = 0; i < n; i++)
    {
      a = a * 6364136223846793005ull + (uint64_t)i;
      __asm__ volatile("" : "+r"(a)); /* step by step, with every compiler */
    }
  sink = a;
}

void
work (long n)
{
  NAME (n);
  sink++;
}
