/* SPDX-License-Identifier: GPL-3.0-or-later */

/* given arguments ARG...: 0 if they are those that test-target.c passes. given
 * rights: 0 if it runs with its caller's rights, 3 with its owner's. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const expected[] = {
  "two words", "two\nlines",   "",         "\xff\xfe not UTF-8",
  "$HOME",     "`id` ; 'a\"b", "--output", "*",
};

#define N (int)(sizeof expected / sizeof *expected)

int
main (int argc, char **argv)
{
  if (argc == 2 && strcmp (argv[1], "rights") == 0)
    return geteuid () == getuid () ? 0 : 3;
  if (argc != 2 + N)
    return fprintf (stderr, "%d arguments\n", argc - 2), 1;
  for (int i = 0; i < N; i++)
    if (strcmp (argv[2 + i], expected[i]) != 0)
      return fprintf (stderr, "argument %d: %s\n", i, argv[2 + i]), 1;
  return 0;
}
