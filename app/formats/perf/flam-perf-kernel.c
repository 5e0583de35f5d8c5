/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-kernel.h"
#include "flam-kallsyms.h"

#include <string.h>
#include <sys/utsname.h>

struct _FlamPerfKernel
{
  FlamKallsyms *names;
  guint64 start;
  guint64 size;
  guint64 moved; /* recorded address - address in `names` */
};

/* "ffffffff81000000 T _text": the address of a symbol in a copy of kallsyms. */
static gboolean
find_address (const char *path, const char *symbol, guint64 *address)
{
  g_autofree char *text = NULL;
  g_autofree char *wanted = g_strdup_printf (" %s\n", symbol);
  const char *found;
  gsize size;

  if (!g_file_get_contents (path, &text, &size, NULL))
    return FALSE;
  found = strstr (text, wanted);
  if (!found)
    return FALSE;
  while (found > text && found[-1] != '\n')
    found--;
  *address = g_ascii_strtoull (found, NULL, 16);
  return *address != 0;
}

static FlamPerfKernel *
open_names (const char *path, const char *symbol, guint64 address)
{
  FlamPerfKernel *kernel;
  FlamKallsyms *names;
  guint64 here;

  if (!find_address (path, symbol, &here))
    return NULL;
  names = flam_kallsyms_open (path, NULL);
  if (!names)
    return NULL;
  kernel = g_new0 (FlamPerfKernel, 1);
  kernel->names = names;
  kernel->moved = address - here;
  return kernel;
}

static gboolean
runs (const char *release)
{
  struct utsname here;

  return release != NULL && uname (&here) == 0 &&
         g_str_equal (here.release, release);
}

FlamPerfKernel *
flam_perf_kernel_open (const char *build_id,
                       const char *release,
                       const char *symbol,
                       guint64 address,
                       guint64 start,
                       guint64 size,
                       char **why)
{
  g_autofree char *own = flam_kernel_build_id ();
  g_autofree char *path = g_build_filename (g_get_home_dir (),
                                            ".debug",
                                            "[kernel.kallsyms]",
                                            build_id,
                                            "kallsyms",
                                            NULL);
  FlamPerfKernel *kernel = NULL;

  *why = NULL;
  if (*build_id && !strchr (build_id, '/'))
    kernel = open_names (path, symbol, address);
  if (!kernel && (*build_id ? g_str_equal (own, build_id) : runs (release)))
    {
      kernel = open_names ("/proc/kallsyms", symbol, address);
      if (kernel && kernel->moved != 0)
        g_clear_pointer (&kernel, flam_perf_kernel_free);
    }
  if (!kernel)
    *why = g_strdup (
        *build_id || release != NULL
            ? N_ ("the symbols of the recorded kernel are not available")
            : N_ ("the file does not state which kernel was recorded"));
  else
    {
      kernel->start = start;
      kernel->size = size;
    }
  return kernel;
}

void
flam_perf_kernel_free (FlamPerfKernel *kernel)
{
  flam_kallsyms_free (kernel->names);
  g_free (kernel);
}

/* Modules of the kernel are not moved with it. */
const char *
flam_perf_kernel_find (const FlamPerfKernel *kernel, guint64 address)
{
  if (address - kernel->start >= kernel->size && kernel->moved != 0)
    return NULL;
  return flam_kallsyms_find (kernel->names, address - kernel->moved);
}
