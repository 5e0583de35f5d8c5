/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <time.h>
static volatile double sink;
__attribute__ ((noinline)) void
leaf_a (int n)
{
  for (int i = 0; i < n; i++)
    sink += i * 1.5;
}
__attribute__ ((noinline)) void
leaf_b (int n)
{
  for (int i = 0; i < n; i++)
    sink -= i * 0.5;
}
__attribute__ ((noinline)) void
middle (int n)
{
  leaf_a (n);
  leaf_b (n / 2);
  sink += 1;
}
int
main (void)
{
  for (int i = 0; i < 120; i++)
    {
      middle (4000000);
      leaf_b (1000000);
    }
  printf ("%f\n", sink);
  return 0;
}
