/* SPDX-License-Identifier: GPL-3.0-or-later */

/* forking SECONDS: a server that has a child process for each request. One
 * after another, they work for 2, 5 and 20 ms in three functions, and end. */

#include <sys/mman.h>
#include <sys/wait.h>

#include "truth.h"

enum
{
  PARSE,
  COMPUTE,
  ANSWER,
  N_PARTS
};

WORK (parse)
WORK (compute)
WORK (answer)

int
main (int argc, char **argv)
{
  static const int lengths[] = { 2000, 5000, 20000 };
  TruthThread *self = truth_thread_begin ("forking");
  TruthPart *parts = mmap (NULL,
                           N_PARTS * sizeof *parts,
                           PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS,
                           -1,
                           0);

  if (parts == MAP_FAILED)
    return 1;
  parts[PARSE].name = "parse";
  parts[COMPUTE].name = "compute";
  parts[ANSWER].name = "answer";
  truth_begin (argc, argv);
  for (unsigned n = 0; truth_goes_on (); n++)
    {
      int length = lengths[n % 3];

      if (fork () == 0)
        {
          TIMED (parts[PARSE], parse (length / 4));
          TIMED (parts[COMPUTE], compute (length / 2));
          TIMED (parts[ANSWER], answer (length / 4));
          _exit (0);
        }
      wait (NULL);
    }
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
