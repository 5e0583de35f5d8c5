/* SPDX-License-Identifier: GPL-3.0-or-later */

/* workers UNITS: four named threads, worker-0 to worker-3, whose work is in the
 * ratio 1:2:3:4. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;
static long units;

__attribute__ ((noinline)) static void
burn (long n)
{
  uint64_t a = 1;

  for (long i = 0; i < n; i++)
    {
      a = a * 6364136223846793005ull + (uint64_t)i;
      __asm__ volatile("" : "+r"(a)); /* step by step, with every compiler */
    }
  sink = a;
}

static void *
body (void *data)
{
  long which = (long)data;
  char name[16];

  snprintf (name, sizeof name, "worker-%ld", which);
  pthread_setname_np (pthread_self (), name);
  for (long i = 0; i < units * (which + 1); i++)
    burn (2000000);
  return NULL;
}

int
main (int argc, char **argv)
{
  pthread_t threads[4];

  units = argc > 1 ? atol (argv[1]) : 30;
  for (long i = 0; i < 4; i++)
    pthread_create (&threads[i], NULL, body, (void *)i);
  for (int i = 0; i < 4; i++)
    pthread_join (threads[i], NULL);
  return 0;
}
