/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A call of a library that calls back, and calls another one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
compare (const void *a, const void *b)
{
  return strcmp (*(char *const *)a, *(char *const *)b);
}

int
main (void)
{
  const char *words[] = { "c", "a", "b" };
  char *copy;

  qsort (words, 3, sizeof *words, compare);
  puts (words[0]);
  copy = strdup (words[1]);
  free (copy);
  return 0;
}
