/* SPDX-License-Identifier: GPL-3.0-or-later */

/* shell SECONDS: shells that start ten programs each, which end at once. */

#include "truth.h"

int
main (int argc, char **argv)
{
  TruthThread *self = truth_thread_begin ("shell");

  truth_begin (argc, argv);
  while (truth_goes_on ())
    if (system ("for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done") != 0)
      return 1;
  truth_thread_end (self);
  return truth_end (NULL, 0);
}
