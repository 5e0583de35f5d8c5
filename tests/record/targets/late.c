/* SPDX-License-Identifier: GPL-3.0-or-later */

/* late LIBPYTHON: loads Python and unloads it, twice, while an unrelated thread
 * allocates. Each time in_python() makes 20 blocks of 100 kB, and in_c() makes
 * 20 after it was unloaded. Status 77: it was not unloaded. */

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__ ((noinline))

static volatile int done;
static void *volatile kept;

static void *
base_lines (void *unused)
{
  while (!done)
    {
      kept = malloc (100);
      free (kept);
    }
  return unused;
}

NOINLINE static void
in_c (void)
{
  for (int i = 0; i < 20; i++)
    kept = malloc (100000);
}

/* Without modules that would load libraries that need this one. */
static int
run_python (const char *path)
{
  void *library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  void (*begin) (int);
  int (*run) (const char *);
  int (*end) (void);

  if (library == NULL)
    {
      fprintf (stderr, "%s\n", dlerror ());
      return 1;
    }
  *(void **)&begin = dlsym (library, "Py_InitializeEx");
  *(void **)&run = dlsym (library, "PyRun_SimpleString");
  *(void **)&end = dlsym (library, "Py_FinalizeEx");
  begin (0);
  run ("def in_python():\n"
       "  for i in range(20): kept.append(bytearray(100000))\n"
       "kept = []\n"
       "in_python()\n");
  end ();
  dlclose (library);
  return 0;
}

int
main (int argc, char **argv)
{
  pthread_t thread;

  if (argc < 2 || pthread_create (&thread, NULL, base_lines, NULL) != 0)
    return 1;
  for (int i = 0; i < 2; i++)
    {
      if (run_python (argv[1]) != 0)
        return 1;
      in_c ();
    }
  done = 1;
  pthread_join (thread, NULL);
  return dlopen (argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL ? 77 : 0;
}
