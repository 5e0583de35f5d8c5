/* SPDX-License-Identifier: GPL-3.0-or-later */

/* embed LIBPYTHON ARGUMENTS: a program that brings Python in late. */
#include <dlfcn.h>
#include <stdio.h>

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
  run = (int (*) (int, char **))dlsym (library, "Py_BytesMain");
  return run (argc - 1, argv + 1);
}
