/* SPDX-License-Identifier: GPL-3.0-or-later */

/* ticks SECONDS: a timer's tick every ms, 0.1 ms of work at each, 0.4 ms more
 * at every fourth. */

#include <sys/timerfd.h>

#include "truth.h"

enum
{
  STEP,
  REDRAW,
  AWAIT_TICK,
  N_PARTS
};
static TruthPart parts[N_PARTS] = { { "step", 0 },
                                    { "redraw", 0 },
                                    { "await_tick", 0 } };

WORK (step)
WORK (redraw)

NOINLINE static void
await_tick (int timer)
{
  uint64_t n;

  if (read (timer, &n, sizeof n) != sizeof n)
    _exit (1);
  truth_sink++;
}

int
main (int argc, char **argv)
{
  TruthThread *self = truth_thread_begin ("ticks");
  struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
  int timer = timerfd_create (CLOCK_MONOTONIC, TFD_CLOEXEC);

  truth_begin (argc, argv);
  if (timer < 0 || timerfd_settime (timer, 0, &every, NULL) != 0)
    return 1;
  for (int i = 0; truth_goes_on (); i++)
    {
      TIMED (parts[AWAIT_TICK], await_tick (timer));
      TIMED (parts[STEP], step (100));
      if (i % 4 == 0)
        TIMED (parts[REDRAW], redraw (400));
    }
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
