/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Follows a program and all processes that it starts with ptrace, and does
 * nothing in their stops: what is left of the cost of a tracer if it has no
 * work of its own.
 *
 *   idle-tracer PROGRAM ARG...     prints the number of stops at the end */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                \
  (PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |            \
   PTRACE_O_TRACEEXEC)

static void
fail (const char *what)
{
  perror (what);
  exit (1);
}

static int
is_group_stop (int status)
{
  int sig = WSTOPSIG (status);

  return status >> 16 == PTRACE_EVENT_STOP &&
         (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);
}

/* The program waits for a byte, so that it is traced from its start. */
static pid_t
start (char **argv)
{
  int gate[2];
  char byte = 0;
  pid_t pid;

  if (pipe (gate) != 0)
    fail ("pipe");
  pid = fork ();
  if (pid == 0)
    {
      close (gate[1]);
      if (read (gate[0], &byte, 1) == 1)
        {
          close (gate[0]);
          execvp (argv[0], argv);
          perror (argv[0]);
        }
      _exit (127);
    }
  if (pid < 0 || ptrace (PTRACE_SEIZE, pid, NULL, (void *)OPTIONS) != 0)
    fail ("ptrace");
  close (gate[0]);
  if (write (gate[1], &byte, 1) != 1)
    fail ("write");
  close (gate[1]);
  return pid;
}

int
main (int argc, char **argv)
{
  unsigned long stops = 0;
  int status, result = 0;
  pid_t program, tid;

  if (argc < 2)
    {
      fprintf (stderr, "idle-tracer PROGRAM ARG...\n");
      return 2;
    }
  program = start (argv + 1);
  while ((tid = waitpid (-1, &status, __WALL)) > 0 || errno == EINTR)
    {
      if (tid > 0 && WIFSTOPPED (status))
        {
          int event = status >> 16;

          stops++;
          ptrace (is_group_stop (status) ? PTRACE_LISTEN : PTRACE_CONT,
                  tid,
                  NULL,
                  (void *)(long)(event == 0 ? WSTOPSIG (status) : 0));
        }
      else if (tid == program)
        result =
            WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
    }
  fprintf (stderr, "%lu stops\n", stops);
  return result;
}
