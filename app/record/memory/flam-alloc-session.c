/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-session.h"

#include "flam-alloc-folder.h"
#include "flam-alloc-map.h"
#include "flam-alloc-missed.h"
#include "flam-alloc-process.h"
#include "flam-alloc-shared.h"
#include "flam-config.h"
#include "flam-core-profile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libflambeau-alloc.so"
#define SCAN_NS 20000000
/* One round takes all events that were published before it. Events with a time
 * after its beginning, from a clock that is slightly ahead, remain for another
 * round; a target that does not stop may publish further ones without end. */
#define LAST_ROUNDS 2
/* The tables of live blocks use this much ordinary memory. The rest is in a
 * file, of which as much again is resident. */
#define RESIDENT (16u << 20)

struct _FlamAllocSession
{
  FlamAllocContext context;
  FlamAllocMap *control_map;
  FlamAllocControl *control;
  FlamAllocFolder folder;
  char *library;
  gint64 scanned_at;
  GPtrArray *processes; /* FlamAllocProcess */
  GHashTable *known;    /* file names */
  FlamAllocStats past;  /* of processes that have ended */
  FlamAllocMissed *missed;
  const char *unseen_heap; /* the message already written; NULL: none */
  guint32 heard;           /* the doorbell's value before the last round */
};

static gint64
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

/* --- beginning ----------------------------------------------------------- */

static gboolean
fail (GError **error, const char *what, const char *path)
{
  return flam_error_set (
      error, FLAM_ERROR_SYSTEM, "%s: %s: %s", path, what, g_strerror (errno));
}

/* The library makes a file in the target, which inherits the limit; beyond it
 * the kernel would send a fatal signal. */
static gboolean
check_limit (GError **error)
{
  struct rlimit limit;

  if (getrlimit (RLIMIT_FSIZE, &limit) != 0 ||
      limit.rlim_cur >= FLAM_ALLOC_FILE_SIZE)
    return TRUE;
  return flam_error_set (
      error,
      FLAM_ERROR_SYSTEM,
      "%s",
      N_ ("allocations are recorded through a larger file than the limit on "
          "file sizes allows: raise it (ulimit -f unlimited)"));
}

static gboolean
make_control (FlamAllocSession *session,
              guint64 sample_bytes,
              gboolean follow,
              gboolean python,
              GError **error)
{
  g_autofree char *path =
      g_build_filename (session->folder.path, "control", NULL);
  const char *seed = g_getenv ("FLAMBEAU_ALLOC_SEED"); /* for tests */
  int fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

  if (fd >= 0 && ftruncate (fd, 4096) == 0)
    session->control_map = flam_alloc_map_new (fd, 4096);
  if (fd >= 0)
    close (fd);
  if (session->control_map == NULL)
    return fail (error, N_ ("cannot be made"), path);
  session->control = flam_alloc_map_data (session->control_map);
  session->control->version = FLAM_ALLOC_VERSION;
  session->control->follow = follow;
  session->control->python = (guint32)python;
  session->control->sample_bytes = sample_bytes;
  if (seed != NULL)
    {
      session->control->seed = g_ascii_strtoull (seed, NULL, 10);
      session->context.random = g_str_hash (seed) * 0x9e3779b1u | 1;
    }
  session->control->magic = FLAM_ALLOC_MAGIC;
  return TRUE;
}

char *
flam_alloc_session_library (GError **error)
{
  const char *given = g_getenv ("FLAMBEAU_ALLOC_LIB");
  g_autofree char *library =
      given && *given ? g_canonicalize_filename (given, NULL)
                      : flam_installed_or_built (FLAM_LIBDIR "/" LIBRARY,
                                                 "app/record/preload/" LIBRARY);

  if (access (library, R_OK) == 0)
    return g_steal_pointer (&library);
  fail (error, N_ ("the allocation library cannot be read"), library);
  return NULL;
}

static gboolean
find_library (FlamAllocSession *session, GError **error)
{
  session->library = flam_alloc_session_library (error);
  if (session->library == NULL)
    return FALSE;
  /* The loader takes a list. */
  if (strpbrk (session->library, ": ") != NULL)
    {
      errno = EINVAL;
      return fail (error,
                   N_ ("the path of the allocation library must not contain a "
                       "space or a colon"),
                   session->library);
    }
  return TRUE;
}

FlamAllocSession *
flam_alloc_session_new (FlamBuilder *builder,
                        const FlamAllocOwner *owner,
                        guint64 sample_bytes,
                        gboolean follow,
                        gboolean python,
                        gboolean attached,
                        gint64 start_ns,
                        int spill,
                        GError **error)
{
  g_autoptr (FlamAllocSession) session = g_new0 (FlamAllocSession, 1);

  session->context = (FlamAllocContext){
    .builder = builder,
    .owner = *owner,
    .heaps = flam_alloc_heaps_new (
        builder, sample_bytes != 0, attached, flam_spill_new (spill, RESIDENT)),
    .functions = flam_runtime_functions_new (),
    .start_ns = start_ns,
    .sample_bytes = sample_bytes,
    .random = g_random_int () | 1,
  };
  session->missed = flam_alloc_missed_new (builder);
  session->processes =
      g_ptr_array_new_with_free_func ((GDestroyNotify)flam_alloc_process_free);
  session->known =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (!check_limit (error) || !find_library (session, error) ||
      !flam_alloc_folder_make (&session->folder, error) ||
      !make_control (session, sample_bytes, follow, python, error))
    return NULL;
  return g_steal_pointer (&session);
}

void
flam_alloc_session_free (FlamAllocSession *session)
{
  if (session->control != NULL)
    session->control->stopped = 1;
  g_clear_pointer (&session->control_map, flam_alloc_map_free);
  flam_alloc_folder_remove (&session->folder);
  g_clear_pointer (&session->processes, g_ptr_array_unref);
  g_clear_pointer (&session->known, g_hash_table_unref);
  g_clear_pointer (&session->missed, flam_alloc_missed_free);
  g_clear_pointer (&session->context.heaps, flam_alloc_heaps_free);
  g_clear_pointer (&session->context.functions, flam_runtime_functions_free);
  g_free (session->library);
  g_free (session);
}

void
flam_alloc_session_set_start (FlamAllocSession *session, gint64 start_ns)
{
  session->context.start_ns = start_ns;
}

FlamInjection
flam_alloc_session_injection (const FlamAllocSession *session)
{
  return (FlamInjection){ session->library, session->folder.path };
}

/* --- new processes ------------------------------------------------------- */

static void
add_process (FlamAllocSession *session, const char *name)
{
  g_autofree char *path = g_build_filename (session->folder.path, name, NULL);
  FlamAllocProcess *process = flam_alloc_process_open (&session->context, path);

  if (process == NULL)
    return;
  g_hash_table_add (session->known, g_strdup (name));
  g_ptr_array_add (session->processes, process);
}

static void
scan (FlamAllocSession *session)
{
  GDir *dir = g_dir_open (session->folder.path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (strcmp (name, "control") != 0 &&
        !g_hash_table_contains (session->known, name))
      add_process (session, name);
  g_clear_pointer (&dir, g_dir_close);
  session->scanned_at = now_ns ();
}

/* --- events -------------------------------------------------------------- */

/* Reported once, as soon as the runtime is loaded. */
static void
look_for_heap (FlamAllocSession *session, FlamAllocProcess *process)
{
  const char *sentence = flam_alloc_process_unseen_heap (process);
  FlamFacts facts = flam_facts_unknown;

  if (sentence == NULL || session->unseen_heap != NULL)
    return;
  session->unseen_heap = sentence;
  facts.unseen_heap = sentence;
  flam_builder_note_facts (session->context.builder, &facts);
  flam_builder_note_warning (session->context.builder, "%s", sentence);
}

guint64
flam_alloc_session_drain (FlamAllocSession *session)
{
  gint64 now = now_ns ();
  guint64 n = 0;

  session->heard =
      __atomic_load_n (&session->control->doorbell, __ATOMIC_ACQUIRE);
  __atomic_add_fetch (&session->control->heartbeat, 1, __ATOMIC_RELAXED);
  if (now - session->scanned_at > SCAN_NS)
    scan (session);
  for (guint i = 0; i < session->processes->len; i++)
    {
      n += flam_alloc_process_drain (session->processes->pdata[i]);
      look_for_heap (session, session->processes->pdata[i]);
    }
  flam_alloc_heaps_advance (session->context.heaps,
                            MAX (now - session->context.start_ns, 0));
  return n;
}

void
flam_alloc_session_miss (FlamAllocSession *session,
                         pid_t pid,
                         const char *name,
                         const char *why)
{
  flam_alloc_missed_add (session->missed, pid, name, why);
}

/* A program with a malloc of its own does not call the library's. */
static void
look_for_bypass (FlamAllocSession *session, const FlamAllocProcess *process)
{
  char name[17];

  if (flam_alloc_process_is_bypassed (process, name))
    flam_alloc_session_miss (session,
                             flam_alloc_process_pid (process),
                             name,
                             N_ ("has its own malloc linked into it"));
}

/* The process has ended, and all its events are written. */
static void
end_process (FlamAllocSession *session, FlamAllocProcess *process)
{
  look_for_bypass (session, process);
  look_for_heap (session, process);
  flam_alloc_process_add_stats (process, &session->past);
  unlink (flam_alloc_process_path (process));
  g_ptr_array_remove (session->processes, process);
}

static gboolean
knows (const FlamAllocSession *session, pid_t pid)
{
  for (guint i = 0; i < session->processes->len; i++)
    if (flam_alloc_process_pid (session->processes->pdata[i]) == pid)
      return TRUE;
  return FALSE;
}

gboolean
flam_alloc_session_drain_process (FlamAllocSession *session,
                                  pid_t pid,
                                  gboolean ends)
{
  gboolean found = FALSE;

  if (ends || !knows (session, pid))
    scan (session);
  for (guint i = session->processes->len; i-- > 0;)
    {
      FlamAllocProcess *process = session->processes->pdata[i];

      if (flam_alloc_process_pid (process) != pid)
        continue;
      found = TRUE;
      for (guint round = 0; round < LAST_ROUNDS; round++)
        flam_alloc_process_drain (process);
      if (ends)
        end_process (session, process);
    }
  return found;
}

void
flam_alloc_session_wait (FlamAllocSession *session, gint64 timeout)
{
  struct timespec pause = { timeout / 1000000, timeout % 1000000 * 1000 };

  syscall (SYS_futex,
           &session->control->doorbell,
           FUTEX_WAIT,
           session->heard,
           &pause,
           NULL,
           0);
}

void
flam_alloc_session_finish (FlamAllocSession *session, gint64 now)
{
  session->control->stopped = 1;
  scan (session);
  for (guint round = 0; round < LAST_ROUNDS; round++)
    flam_alloc_session_drain (session);
  for (guint i = 0; i < session->processes->len; i++)
    look_for_bypass (session, session->processes->pdata[i]);
  flam_alloc_missed_finish (session->missed);
  flam_alloc_heaps_finish (session->context.heaps, now);
}

void
flam_alloc_session_stats (const FlamAllocSession *session,
                          FlamAllocStats *stats)
{
  *stats = session->past;
  for (guint i = 0; i < session->processes->len; i++)
    flam_alloc_process_add_stats (session->processes->pdata[i], stats);
}
