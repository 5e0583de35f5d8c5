/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* The library's interface, elfutils/debuginfod.h; stable since 0.178. */
typedef struct debuginfod_client Client;
typedef int (*ProgressFunc) (Client *client, long done, long total);
typedef int (*FindFunc) (Client *client,
                         const unsigned char *build_id,
                         int build_id_length,
                         char **path);

struct _FlamDebuginfod
{
  void *library;
  Client *client;
  void (*end) (Client *client);
  FindFunc find_debuginfo;
  FindFunc find_executable;
  const FlamProgress *progress;
  gboolean cancelled;
};

/* The library passes only the client to the callback; a thread uses one client
 * at a time. */
static _Thread_local FlamDebuginfod *current;

static int
report (Client *client, long done, long total)
{
  double fraction = total > 0 ? CLAMP ((double)done / total, 0, 1) : 0;

  if (current && !flam_progress_step (current->progress, fraction, NULL))
    current->cancelled = TRUE;
  return current && current->cancelled;
}

static void *
open_library (void)
{
  return dlopen ("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static const char *
servers (void)
{
  const char *urls = g_getenv ("DEBUGINFOD_URLS");

  return urls != NULL && *urls != '\0' ? urls : NULL;
}

gboolean
flam_debuginfod_is_configured (void)
{
  void *library = servers () != NULL ? open_library () : NULL;

  if (library != NULL)
    dlclose (library);
  return library != NULL;
}

static gboolean
load (FlamDebuginfod *debuginfod)
{
  Client *(*begin) (void);
  void (*set_progress) (Client * client, ProgressFunc func);
  void *library = open_library ();

  debuginfod->library = library;
  if (!library)
    return FALSE;
  *(void **)&begin = dlsym (library, "debuginfod_begin");
  *(void **)&debuginfod->end = dlsym (library, "debuginfod_end");
  *(void **)&set_progress = dlsym (library, "debuginfod_set_progressfn");
  *(void **)&debuginfod->find_debuginfo =
      dlsym (library, "debuginfod_find_debuginfo");
  *(void **)&debuginfod->find_executable =
      dlsym (library, "debuginfod_find_executable");
  if (!begin || !debuginfod->end || !set_progress ||
      !debuginfod->find_debuginfo || !debuginfod->find_executable)
    return FALSE;
  debuginfod->client = begin ();
  if (debuginfod->client)
    set_progress (debuginfod->client, report);
  return debuginfod->client != NULL;
}

FlamDebuginfod *
flam_debuginfod_new (GError **error)
{
  g_autoptr (FlamDebuginfod) debuginfod = g_new0 (FlamDebuginfod, 1);

  if (servers () == NULL)
    return flam_error_null (
        error,
        FLAM_ERROR_UNSUPPORTED,
        N_ ("debuginfod: DEBUGINFOD_URLS lists no servers"));
  if (!load (debuginfod))
    return flam_error_null (
        error,
        FLAM_ERROR_UNSUPPORTED,
        N_ ("debuginfod: libdebuginfod.so.1 is not installed"));
  return g_steal_pointer (&debuginfod);
}

void
flam_debuginfod_free (FlamDebuginfod *debuginfod)
{
  if (!debuginfod)
    return;
  if (debuginfod->client)
    debuginfod->end (debuginfod->client);
  if (debuginfod->library)
    dlclose (debuginfod->library);
  g_free (debuginfod);
}

static char *
find (FlamDebuginfod *debuginfod,
      FindFunc func,
      const char *build_id,
      const FlamProgress *progress,
      GError **error)
{
  char *path = NULL;
  g_autofree char *result = NULL;
  int fd;

  debuginfod->progress = progress;
  debuginfod->cancelled = FALSE;
  current = debuginfod;
  /* Length 0: the id is passed in hex. */
  fd = func (debuginfod->client, (const unsigned char *)build_id, 0, &path);
  current = NULL;
  result = g_strdup (path);
  free (path);
  if (debuginfod->cancelled)
    {
      if (fd >= 0)
        close (fd);
      return flam_error_null (error, FLAM_ERROR_CANCELLED, N_ ("Cancelled"));
    }
  if (fd < 0)
    return flam_error_null (error,
                            FLAM_ERROR_SYSTEM,
                            N_ ("debuginfod: build ID %s: %s"),
                            build_id,
                            g_strerror (-fd));
  close (fd);
  return g_steal_pointer (&result);
}

char *
flam_debuginfod_find_debuginfo (FlamDebuginfod *debuginfod,
                                const char *build_id,
                                const FlamProgress *progress,
                                GError **error)
{
  return find (
      debuginfod, debuginfod->find_debuginfo, build_id, progress, error);
}

char *
flam_debuginfod_find_executable (FlamDebuginfod *debuginfod,
                                 const char *build_id,
                                 const FlamProgress *progress,
                                 GError **error)
{
  return find (
      debuginfod, debuginfod->find_executable, build_id, progress, error);
}
