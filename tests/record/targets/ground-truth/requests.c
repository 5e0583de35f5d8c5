/* SPDX-License-Identifier: GPL-3.0-or-later */

/* requests SECONDS: a server that has a child process for each request, up to
 * four at once. A child parses its request, works for it in the function of its
 * kind, for 2 to 20 ms in all, and ends. */

#include <sys/mman.h>
#include <sys/wait.h>

#include "truth.h"

#define MOST_AT_ONCE 4

enum
{
  PARSE,
  FIND,
  RENDER,
  REPORT,
  N_PARTS
};

WORK (parse)
WORK (find)
WORK (render)
WORK (report)

/* µs; n: a number at random. */
static void
serve (TruthPart *parts, unsigned n)
{
  TIMED (parts[PARSE], parse (700));
  switch (n % 3)
    {
    case 0:
      TIMED (parts[FIND], find (1300 + n % 2000));
      break;
    case 1:
      TIMED (parts[RENDER], render (3000 + n % 4000));
      break;
    default:
      TIMED (parts[REPORT], report (6000 + n % 13300));
      break;
    }
}

int
main (int argc, char **argv)
{
  TruthThread *self = truth_thread_begin ("requests");
  TruthPart *parts = mmap (NULL,
                           N_PARTS * sizeof *parts,
                           PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS,
                           -1,
                           0);
  unsigned n = 1, running = 0;

  if (parts == MAP_FAILED)
    return 1;
  parts[PARSE].name = "parse";
  parts[FIND].name = "find";
  parts[RENDER].name = "render";
  parts[REPORT].name = "report";
  truth_begin (argc, argv);
  while (truth_goes_on ())
    {
      n = n * 1103515245 + 12345;
      if (running == MOST_AT_ONCE && wait (NULL) > 0)
        running--;
      if (fork () == 0)
        {
          serve (parts, n >> 8);
          _exit (0);
        }
      running++;
    }
  while (wait (NULL) > 0)
    ;
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
