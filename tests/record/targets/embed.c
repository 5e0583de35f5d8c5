/* SPDX-License-Identifier: GPL-3.0-or-later */

/* embed LIBPYTHON ARGUMENTS: a program that loads Python late. $EMBED_WORK: its
 * own work before it starts Python, in ms of CPU time. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void
work (long ms)
{
  while (clock () < ms * (CLOCKS_PER_SEC / 1000))
    ;
}

int
main (int argc, char **argv)
{
  void *library = dlopen (argv[1], RTLD_NOW | RTLD_GLOBAL);
  int (*run) (int, char **);

  if (library == NULL)
    {
      fprintf (stderr, "%s\n", dlerror ());
      return 77;
    }
  if (getenv ("EMBED_WORK") != NULL)
    work (atol (getenv ("EMBED_WORK")));
  run = (int (*) (int, char **))dlsym (library, "Py_BytesMain");
  return run (argc - 1, argv + 1);
}
