/* SPDX-License-Identifier: GPL-3.0-or-later */

/* System calls of two threads and a child, for the tracers that print them. */
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static void
read_file (const char *name)
{
  char bytes[64];
  int file = open (name, O_RDONLY);

  if (file < 0)
    return;
  while (read (file, bytes, sizeof bytes) > 0)
    ;
  close (file);
}

static void
nap (long us)
{
  struct timespec time = { 0, us * 1000 };

  nanosleep (&time, NULL);
}

static void *
work (void *data)
{
  for (int i = 0; i < 3; i++)
    {
      nap (2000);
      read_file ("/proc/sys/kernel/ostype");
    }
  return data;
}

int
main (void)
{
  pthread_t thread;

  pthread_create (&thread, NULL, work, NULL);
  read_file ("/proc/sys/kernel/ostype");
  read_file ("/nonexistent");
  nap (5000);
  pthread_join (thread, NULL);
  if (fork () == 0)
    {
      read_file ("/proc/sys/kernel/ostype");
      _exit (3);
    }
  nap (1000);
  return 0;
}
