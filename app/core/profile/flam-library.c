/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-library.h"

#include "flam-config.h"
#include "flam-installed.h"

#include <dlfcn.h>

static char *
find_library (const FlamLibrary *library)
{
  g_autofree char *installed =
      g_build_filename (FLAM_LIBDIR, library->file, NULL);
  g_autofree char *built =
      g_build_filename (library->room, library->file, NULL);

  return flam_installed_or_built (installed, built);
}

gconstpointer
flam_library_open (const FlamLibrary *library, GError **error)
{
  g_autofree char *path = find_library (library);
  void *handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  gconstpointer functions =
      handle != NULL ? dlsym (handle, library->symbol) : NULL;

  if (functions == NULL)
    return flam_error_null (error,
                            FLAM_ERROR_SYSTEM,
                            N_ ("this needs one of Flambeau's libraries, which "
                                "is not installed: %s"),
                            dlerror ());
  return functions;
}
