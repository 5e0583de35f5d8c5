/* SPDX-License-Identifier: GPL-3.0-or-later */

/* `spent FILE PROGRAM...`: runs the program, and writes the CPU time that it
 * took, in µs. A recording of the program includes neither this file nor the
 * recorder's own time. */

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long
microseconds (struct timeval time)
{
  return time.tv_sec * 1000000 + time.tv_usec;
}

int
main (int argc, char **argv)
{
  struct rusage usage;
  FILE *file;
  pid_t pid;
  int status;

  if (argc < 3)
    return 2;
  pid = fork ();
  if (pid == 0)
    {
      execvp (argv[2], argv + 2);
      _exit (127);
    }
  if (pid < 0 || wait4 (pid, &status, 0, &usage) != pid)
    return 2;
  file = fopen (argv[1], "w");
  if (file == NULL)
    return 2;
  fprintf (file,
           "%ld\n",
           microseconds (usage.ru_utime) + microseconds (usage.ru_stime));
  fclose (file);
  return WIFEXITED (status) ? WEXITSTATUS (status) : 1;
}
