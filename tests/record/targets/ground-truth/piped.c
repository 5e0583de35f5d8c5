/* SPDX-License-Identifier: GPL-3.0-or-later */

/* piped SECONDS: a thread with 60 µs of work for each byte that it reads from a
 * pipe; another one writes a byte every 2 ms. */

#include "truth.h"

enum
{
  DIGEST,
  TALLY,
  FETCH,
  FEED,
  N_PARTS
};
static TruthPart parts[N_PARTS] = {
  { "digest", 0 }, { "tally", 0 }, { "fetch", 0 }, { "feed", 0 }
};
static int ends[2];

WORK (digest)
WORK (tally)

NOINLINE static int
fetch (void)
{
  char byte = 0;
  int got = read (ends[0], &byte, 1) == 1;

  truth_sink++;
  return got;
}

NOINLINE static void
feed (void)
{
  truth_sleep (2000);
  if (write (ends[1], "", 1) != 1)
    _exit (1);
  truth_sink++;
}

static void *
reader (void *unused)
{
  TruthThread *self = truth_thread_begin ("reader");
  int got = 1;

  while (got)
    {
      TIMED (parts[FETCH], got = fetch ());
      TIMED (parts[DIGEST], digest (45));
      TIMED (parts[TALLY], tally (15));
    }
  truth_thread_end (self);
  return NULL;
}

int
main (int argc, char **argv)
{
  TruthThread *self = truth_thread_begin ("writer");
  pthread_t thread;

  if (pipe (ends) != 0 || pthread_create (&thread, NULL, reader, NULL) != 0)
    return 1;
  truth_begin (argc, argv);
  while (truth_goes_on ())
    TIMED (parts[FEED], feed ());
  close (ends[1]);
  pthread_join (thread, NULL);
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
