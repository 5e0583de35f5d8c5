/* SPDX-License-Identifier: GPL-3.0-or-later */

/* nested.vfd is what this program wrote with Vftrace 2.0.0:
 *
 *    gcc -O0 -finstrument-functions nested.c -lvftrace
 *    {"sampling": {"active": true, "sample_interval": 0.0005}} in VFTR_CONFIG
 *
 * Its own log of the same run, in s without the called ones: leaf below right
 * 0.120, left 0.111, leaf below left 0.024, right 0.007. */

#include <time.h>

#define QUIET __attribute__ ((no_instrument_function))

static volatile double sink;

static double QUIET
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void QUIET
spin (double seconds)
{
  double end = now () + seconds;

  while (now () < end)
    sink += 1;
}

void
leaf (void)
{
  spin (0.002);
}

void
left (void)
{
  spin (0.003);
  leaf ();
}

void
right (void)
{
  for (int i = 0; i < 3; i++)
    leaf ();
  spin (0.001);
}

int
main (void)
{
  for (int i = 0; i < 4; i++)
    {
      left ();
      right ();
    }
  return 0;
}
