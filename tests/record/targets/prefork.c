/* SPDX-License-Identifier: GPL-3.0-or-later */

/* prefork NAME: a server of this name with two workers, which work until they
 * get SIGTERM, and end with the statuses 10 and 11. The server passes SIGTERM
 * on and ends with the sum of the statuses, or with 1 if there was another one.
 */

#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_WORKERS 2

static volatile sig_atomic_t ends;
static volatile uint64_t sink;

static void
on_term (int sig)
{
  ends = 1;
}

__attribute__ ((noinline)) static int
serve (int status)
{
  while (!ends)
    for (int i = 0; i < 100000; i++)
      sink = sink * 6364136223846793005ull + 1;
  return status;
}

int
main (int argc, char **argv)
{
  struct sigaction action = { .sa_handler = on_term };
  pid_t workers[N_WORKERS];
  int sum = 0, status;

  if (argc > 1)
    prctl (PR_SET_NAME, argv[1]);
  sigaction (SIGTERM, &action, NULL);
  for (int i = 0; i < N_WORKERS; i++)
    if ((workers[i] = fork ()) == 0)
      {
        prctl (PR_SET_PDEATHSIG, SIGKILL);
        return serve (10 + i);
      }
  while (!ends)
    usleep (10000);
  for (int i = 0; i < N_WORKERS; i++)
    kill (workers[i], SIGTERM);
  for (int i = 0; i < N_WORKERS; i++)
    {
      if (waitpid (workers[i], &status, 0) != workers[i] || !WIFEXITED (status))
        return 1;
      sum += WEXITSTATUS (status);
    }
  return sum;
}
