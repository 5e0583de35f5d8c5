/* SPDX-License-Identifier: GPL-3.0-or-later */

/* By its name and its exports, an interpreter that is too old. */

#include <time.h>

void PyEval_EvalFrameEx (void);

static volatile unsigned x;

__attribute__ ((noinline)) void
PyEval_EvalFrameEx (void)
{
  for (unsigned i = 0; i < 1000000; i++)
    x += i;
}

int
main (void)
{
  for (clock_t end = clock () + CLOCKS_PER_SEC / 5; clock () < end;)
    PyEval_EvalFrameEx ();
  return 0;
}
