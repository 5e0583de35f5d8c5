/* SPDX-License-Identifier: GPL-3.0-or-later */

/* burst SECONDS: works for about 1 ms, three quarters of it in one function,
 * and sleeps for 5 ms. */

#include "truth.h"

enum
{
  HEAVY,
  LIGHT,
  REST,
  N_PARTS
};
static TruthPart parts[N_PARTS] = { { "heavy", 0 },
                                    { "light", 0 },
                                    { "rest", 0 } };

WORK (heavy)
WORK (light)

NOINLINE static void
rest (void)
{
  truth_sleep (5000);
  truth_sink++;
}

int
main (int argc, char **argv)
{
  TruthThread *self = truth_thread_begin ("burst");

  truth_begin (argc, argv);
  while (truth_goes_on ())
    {
      TIMED (parts[HEAVY], heavy (750));
      TIMED (parts[LIGHT], light (250));
      TIMED (parts[REST], rest ());
    }
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
