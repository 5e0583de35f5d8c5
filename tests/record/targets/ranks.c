/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A rank of a job: it computes for the given number of milliseconds of CPU
 * time, and then waits in a call named as one of MPI's, which polls as MPI
 * does; then both once more. At the end it prints the CPU time of each in ns,
 * "compute 201 wait 99", so that a recording can be compared. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sum;

static long
cpu_now (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000l + now.tv_nsec;
}

__attribute__ ((noinline)) static void
spin_until (long end)
{
  while (cpu_now () < end)
    for (int i = 0; i < 20000; i++)
      sum += (unsigned long)i * sum;
}

__attribute__ ((noinline)) static void
compute (long end)
{
  spin_until (end);
  sum++;
}

__attribute__ ((noinline)) int MPI_Allreduce (long end);

int
MPI_Allreduce (long end)
{
  spin_until (end);
  sum++;
  return 0;
}

int
main (int argc, char **argv)
{
  long work = atol (argv[1]) * 500000, wait = atol (argv[2]) * 500000;
  long computed = 0, waited = 0;

  for (int round = 0; round < 2; round++)
    {
      long start = cpu_now ();

      compute (start + work);
      computed += cpu_now () - start;
      start = cpu_now ();
      MPI_Allreduce (start + wait);
      waited += cpu_now () - start;
    }
  printf ("compute %ld wait %ld\n", computed, waited);
  return 0;
}
