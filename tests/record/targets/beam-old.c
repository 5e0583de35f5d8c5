/* SPDX-License-Identifier: GPL-3.0-or-later */

/* beam.smp SECONDS: by its name and its exports, an Erlang of a release that
 * cannot be read. Uses so many seconds of CPU time, and ends with status 7 if
 * it has flags. */

#include <stdlib.h>
#include <time.h>

extern const char etp_otp_release[];
const char etp_otp_release[] = "26";

int
main (int argc, char **argv)
{
  const char *flags = getenv ("ERL_FLAGS");
  clock_t end = (argc > 1 ? atoi (argv[1]) : 1) * CLOCKS_PER_SEC;

  while (clock () < end)
    ;
  return flags != NULL ? 7 : 0;
}
