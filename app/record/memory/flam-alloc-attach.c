/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-attach.h"

#include "flam-alloc-shared.h"
#include "flam-core-profile.h"
#include "flam-launch.h"
#include "flam-mapping.h"
#include "flam-proc.h"
#include "flam-safe-point.h"
#include "flam-stops.h"
#include "flam-symbol-table.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STOP_TIME (100 * 1000000ll) /* ns */
#define PROBE_TIME (200 * 1000000ll)
#define CALL_TIME (20 * 1000000000ll)
#define ROUND_PAUSE (2 * 1000000ll)
/* How long a thread at a safe point is searched for. */
#define SEARCH_TIME (4 * 1000000000ll)
#define LAST_SEARCH_TIME (1 * 1000000000ll)
/* Of __libc_dlopen_mode(): as if dlopen() had been called. */
#define RTLD_DLOPEN 0x80000000u

struct _FlamAllocAttached
{
  pid_t pid;
  guint64 detach; /* address of the function */
};

/* --- a thread at a safe point -------------------------------------------- */

static GArray *
list_threads (pid_t pid)
{
  GArray *tids = g_array_new (FALSE, FALSE, sizeof (pid_t));
  g_autofree char *path = g_strdup_printf ("/proc/%d/task", (int)pid);
  GDir *dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      pid_t tid = atoi (name);

      g_array_append_val (tids, tid);
    }
  g_clear_pointer (&dir, g_dir_close);
  return tids;
}

static guint64
find_dlopen (const FlamSafePoint *safe, guint64 *more)
{
  guint64 function = flam_safe_point_function (safe, "dlopen");

  *more = function != 0 ? 0 : RTLD_DLOPEN;
  return function != 0 ? function
                       : flam_safe_point_function (safe, "__libc_dlopen_mode");
}

/* Opening the program itself only takes the loader's lock, which shows whether
 * another thread holds it for long. */
static gboolean
probe_loader (const FlamSafePoint *safe, FlamRemote *remote)
{
  guint64 more, function = find_dlopen (safe, &more);
  guint64 arguments[3] = { 0, RTLD_LAZY | RTLD_NOLOAD | more };
  guint64 result;

  return function == 0 ||
         flam_remote_call (remote, function, arguments, PROBE_TIME, &result);
}

static FlamRemote *
use_thread (const FlamTracing *tracing,
            FlamSafePoint *safe,
            pid_t pid,
            pid_t tid)
{
  FlamRemote *remote = NULL;

  if (!flam_remote_stop (tracing, tid, STOP_TIME))
    return NULL;
  if (flam_safe_point_allows (safe, tid))
    remote = flam_remote_begin (tracing,
                                pid,
                                tid,
                                flam_safe_point_gate (safe),
                                flam_safe_point_leave (safe));
  if (remote != NULL && probe_loader (safe, remote))
    return remote;
  if (remote != NULL)
    flam_remote_end (remote);
  ptrace (PTRACE_CONT, tid, NULL, NULL);
  return NULL;
}

static FlamRemote *
find_thread (const FlamTracing *tracing,
             FlamSafePoint *safe,
             pid_t pid,
             gint64 time,
             pid_t *used)
{
  struct timespec pause = { 0, ROUND_PAUSE };
  gint64 until = g_get_monotonic_time () + time / 1000;

  while (g_get_monotonic_time () < until)
    {
      g_autoptr (GArray) tids = list_threads (pid);

      for (guint j = 0; j < tids->len && g_get_monotonic_time () < until; j++)
        {
          FlamRemote *remote;

          *used = g_array_index (tids, pid_t, j);
          remote = use_thread (tracing, safe, pid, *used);
          if (remote != NULL)
            return remote;
        }
      if (tids->len == 0)
        return NULL;
      nanosleep (&pause, NULL);
    }
  return NULL;
}

static void
leave_thread (FlamRemote *remote, pid_t tid)
{
  flam_remote_end (remote);
  ptrace (PTRACE_CONT, tid, NULL, NULL);
}

/* --- the library --------------------------------------------------------- */

static guint64
put_text (FlamRemote *remote, const char *text)
{
  return flam_remote_put (remote, text, strlen (text) + 1);
}

static char *
read_error (const FlamSafePoint *safe, FlamRemote *remote, pid_t pid)
{
  guint64 function = flam_safe_point_function (safe, "dlerror");
  guint64 nothing[3] = { 0 }, at = 0;
  char text[512] = "";

  if (function != 0 &&
      flam_remote_call (remote, function, nothing, CALL_TIME, &at) && at != 0)
    flam_read_memory (pid, at, text, sizeof text - 1);
  return g_strdup_printf (N_ ("cannot load the library that records them: %s"),
                          text[0] != '\0' ? text : "dlopen");
}

/* The reason why it is not loaded, or NULL. */
static char *
load_library (const FlamSafePoint *safe,
              FlamRemote *remote,
              pid_t pid,
              const char *library)
{
  guint64 more, handle, function = find_dlopen (safe, &more);
  guint64 arguments[3] = { 0, RTLD_NOW | RTLD_NODELETE | more };

  if (function == 0)
    return g_strdup (N_ ("has a C library without dlopen()"));
  arguments[0] = put_text (remote, library);
  if (arguments[0] == 0 ||
      !flam_remote_call (remote, function, arguments, CALL_TIME, &handle))
    return g_strdup (N_ ("did not finish loading the library that records "
                         "them"));
  return handle == 0 ? read_error (safe, remote, pid) : NULL;
}

/* Where the library is in the process. */
static guint64
find_base (pid_t pid, const char *library)
{
  g_autofree char *text = flam_proc_text (pid, pid, "maps");
  const char *at = text, *end = text != NULL ? text + strlen (text) : NULL;
  FlamMapping mapping;
  struct stat st;

  if (stat (library, &st) != 0)
    return 0;
  while (text != NULL && flam_mapping_next (&at, end, &mapping))
    if (mapping.inode == st.st_ino && mapping.offset == 0)
      return mapping.start;
  return 0;
}

static guint64
find_in_library (const FlamElf *elf, guint64 base, const char *name)
{
  guint64 at, size;

  return elf != NULL && base != 0 &&
                 flam_elf_find_symbol (elf, name, &at, &size)
             ? base + at
             : 0;
}

static char *
refusal (guint64 code)
{
  switch (code)
    {
    case FLAM_ALLOC_REFUSED_MALLOC:
      return g_strdup (N_ ("has no malloc()"));
    case FLAM_ALLOC_REFUSED_OWN_MALLOC:
      return g_strdup (N_ ("has its own malloc linked into it"));
    default:
      return g_strdup (N_ ("cannot use the files of the recording"));
    }
}

static FlamAllocAttached *
begin_recording (const FlamInjection *injection,
                 FlamRemote *remote,
                 pid_t pid,
                 char **why)
{
  g_autoptr (FlamElf) elf = flam_elf_open (injection->library, NULL);
  guint64 base = find_base (pid, injection->library);
  guint64 attach = find_in_library (elf, base, FLAM_ALLOC_ATTACH);
  guint64 detach = find_in_library (elf, base, FLAM_ALLOC_DETACH);
  guint64 arguments[3] = { put_text (remote, injection->directory) };
  guint64 result = FLAM_ALLOC_REFUSED_FILES;
  FlamAllocAttached *attached;

  if (attach == 0 || detach == 0 ||
      !flam_remote_call (remote, attach, arguments, CALL_TIME, &result) ||
      (guint32)result != FLAM_ALLOC_ATTACHED)
    {
      *why = refusal ((guint32)result);
      return NULL;
    }
  attached = g_new0 (FlamAllocAttached, 1);
  attached->pid = pid;
  attached->detach = detach;
  return attached;
}

/* --- conditions ---------------------------------------------------------- */

/* A filter may end the process at a call that it would not make itself. */
static gboolean
is_filtered (pid_t pid)
{
  gint64 n = flam_proc_status (pid, "Seccomp_filters");

  return flam_proc_status (pid, "Seccomp") > 0 &&
         (n < 0 ||
          n > MAX (flam_proc_status (getpid (), "Seccomp_filters"), 0));
}

static gboolean
is_stopped (pid_t pid)
{
  g_autofree char *text = flam_proc_text (pid, pid, "stat");
  const char *at = text != NULL ? strrchr (text, ')') : NULL;

  return at != NULL && at[1] == ' ' && at[2] == 'T';
}

const char *
flam_alloc_attach_obstacle (const FlamInjection *injection, pid_t pid)
{
  const char *why = flam_inject_check_process (injection, pid);

  if (why == NULL && is_filtered (pid))
    why = N_ ("is in a sandbox (seccomp), which may end it for loading a "
              "library");
  if (why == NULL && is_stopped (pid))
    why = N_ ("is stopped: continue it first");
  return why;
}

/* --- the whole ----------------------------------------------------------- */

FlamAllocAttached *
flam_alloc_attach (const FlamInjection *injection,
                   const FlamTracing *tracing,
                   pid_t pid,
                   char **why)
{
  const char *obstacle = flam_alloc_attach_obstacle (injection, pid);
  g_autoptr (FlamSafePoint) safe =
      obstacle == NULL ? flam_safe_point_new (pid, &obstacle) : NULL;
  FlamAllocAttached *attached = NULL;
  FlamRemote *remote;
  pid_t tid;

  *why = NULL;
  if (safe == NULL)
    {
      *why = g_strdup (obstacle);
      return NULL;
    }
  remote = find_thread (tracing, safe, pid, SEARCH_TIME, &tid);
  if (remote == NULL)
    {
      *why = g_strdup (N_ ("never had a thread outside its allocator and "
                           "loader during the attempts"));
      return NULL;
    }
  *why = load_library (safe, remote, pid, injection->library);
  if (*why == NULL)
    attached = begin_recording (injection, remote, pid, why);
  leave_thread (remote, tid);
  return attached;
}

FlamAllocAttached *
flam_alloc_attached_copy (const FlamAllocAttached *parent, pid_t pid)
{
  FlamAllocAttached *attached = g_memdup2 (parent, sizeof *parent);

  attached->pid = pid;
  return attached;
}

gboolean
flam_alloc_detach (FlamAllocAttached *attached, const FlamTracing *tracing)
{
  const char *why;
  g_autoptr (FlamSafePoint) safe =
      !is_stopped (attached->pid) ? flam_safe_point_new (attached->pid, &why)
                                  : NULL;
  guint64 nothing[3] = { 0 }, result;
  FlamRemote *remote = NULL;
  gboolean done = FALSE;
  pid_t tid;

  if (safe != NULL)
    remote = find_thread (tracing, safe, attached->pid, LAST_SEARCH_TIME, &tid);
  if (remote != NULL)
    {
      done = flam_remote_call (
          remote, attached->detach, nothing, CALL_TIME, &result);
      leave_thread (remote, tid);
    }
  flam_alloc_attached_free (attached);
  return done;
}

void
flam_alloc_attached_free (FlamAllocAttached *attached)
{
  g_free (attached);
}
