/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-session.h"

#include "flam-alloc-ledger.h"
#include "flam-alloc-shared.h"
#include "flam-config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define LIBRARY "libflambeau-alloc.so"
#define SCAN_NS 20000000
#define AHEAD 192 /* bytes: about eight events */

typedef struct
{
  FlamAllocRing *ring;
  FlamAllocStream *stream; /* NULL until the first event, and between users */
  guint64 at;              /* bytes read */
  guint64 end;             /* bytes published, of this round */
  guint64 ticks;           /* of the next event; G_MAXUINT64 none */
  gint32 tid;
} Ring;

typedef struct
{
  char *name;
  pid_t pid;
  gsize mapped;
  FlamAllocHeader *header;
  FlamAllocSpace *space;
  GArray *rings;     /* Ring */
  FlamColumn stacks; /* FlamId per node; row 0 none */
  guint32 n_modules;
  double ns_per_tick;
  gboolean done;
} Process;

struct _FlamAllocSession
{
  FlamCaptureWriter *writer;
  FlamAllocOwner owner;
  FlamAllocLedger *ledger;
  FlamAllocControl *control;
  char *directory;
  char *library;
  gint64 start_ns;
  guint64 start_ticks;
  gint64 scanned_at;
  GPtrArray *processes;
  GHashTable *known;   /* file names */
  FlamAllocStats past; /* of processes that have ended */
  FlamId heap;         /* counter */
  gint64 heap_put_at;
  guint32 heard; /* the doorbell, before what is there was handled */
  guint32 random;
};

static gint64
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

static void
process_free (gpointer data)
{
  Process *process = data;

  munmap (process->header, process->mapped);
  g_array_unref (process->rings);
  flam_column_clear (&process->stacks);
  g_free (process->name);
  g_free (process);
}

/* --- beginning ----------------------------------------------------------- */

static gboolean
fail (GError **error, const char *what, const char *path)
{
  g_set_error (error,
               FLAM_ERROR,
               FLAM_ERROR_SYSTEM,
               "%s: %s: %s",
               path,
               what,
               g_strerror (errno));
  return FALSE;
}

/* Memory, not a disk, and not where others may write. */
static gboolean
make_directory (FlamAllocSession *session, GError **error)
{
  const char *places[] = { "/dev/shm", g_get_user_runtime_dir (), "/tmp" };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *path =
          g_build_filename (places[i], "flambeau-XXXXXX", NULL);

      if (g_mkdtemp_full (path, 0700) == NULL)
        continue;
      session->directory = g_steal_pointer (&path);
      return TRUE;
    }
  return fail (error, "no folder for allocation events", "/dev/shm");
}

static gboolean
make_control (FlamAllocSession *session,
              guint64 sample_bytes,
              gboolean follow,
              GError **error)
{
  g_autofree char *path =
      g_build_filename (session->directory, "control", NULL);
  int fd = open (path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  void *mapped = MAP_FAILED;

  if (fd >= 0 && ftruncate (fd, 4096) == 0)
    mapped = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0)
    close (fd);
  if (mapped == MAP_FAILED)
    return fail (error, "cannot be made", path);
  session->control = mapped;
  session->control->version = FLAM_ALLOC_VERSION;
  session->control->follow = follow;
  session->control->sample_bytes = sample_bytes;
  session->control->magic = FLAM_ALLOC_MAGIC;
  return TRUE;
}

static gboolean
find_library (FlamAllocSession *session, GError **error)
{
  const char *given = g_getenv ("FLAMBEAU_ALLOC_LIB");

  session->library = given && *given
                         ? g_canonicalize_filename (given, NULL)
                         : g_build_filename (FLAM_LIBDIR, LIBRARY, NULL);
  if (access (session->library, R_OK) == 0)
    return TRUE;
  return fail (
      error, "the allocation library cannot be read", session->library);
}

FlamAllocSession *
flam_alloc_session_new (FlamCaptureWriter *writer,
                        const FlamAllocOwner *owner,
                        guint64 sample_bytes,
                        gboolean follow,
                        gint64 start_ns,
                        GError **error)
{
  g_autoptr (FlamAllocSession) session = g_new0 (FlamAllocSession, 1);

  session->writer = writer;
  session->owner = *owner;
  session->ledger = flam_alloc_ledger_new (writer);
  session->processes = g_ptr_array_new_with_free_func (process_free);
  session->known =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  session->start_ns = start_ns;
  session->random = 88172645;
  if (!find_library (session, error) || !make_directory (session, error) ||
      !make_control (session, sample_bytes, follow, error))
    return NULL;
  session->heap = flam_capture_writer_counter (writer, "heap", FLAM_UNIT_BYTES);
  return g_steal_pointer (&session);
}

static void
remove_files (const char *directory)
{
  GDir *dir = g_dir_open (directory, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (directory, name, NULL);

      unlink (path);
    }
  g_clear_pointer (&dir, g_dir_close);
  rmdir (directory);
}

void
flam_alloc_session_free (FlamAllocSession *session)
{
  if (session->control != NULL)
    {
      session->control->stopped = 1;
      munmap (session->control, 4096);
    }
  if (session->directory != NULL)
    remove_files (session->directory);
  g_clear_pointer (&session->processes, g_ptr_array_unref);
  g_clear_pointer (&session->known, g_hash_table_unref);
  g_clear_pointer (&session->ledger, flam_alloc_ledger_free);
  g_free (session->directory);
  g_free (session->library);
  g_free (session);
}

char **
flam_alloc_session_environment (const FlamAllocSession *session,
                                const char *inherited)
{
  char **environment = g_new0 (char *, 3);

  environment[0] =
      inherited && *inherited
          ? g_strdup_printf ("LD_PRELOAD=%s:%s", session->library, inherited)
          : g_strdup_printf ("LD_PRELOAD=%s", session->library);
  environment[1] =
      g_strdup_printf (FLAM_ALLOC_ENV_DIR "=%s", session->directory);
  return environment;
}

/* --- processes that come ------------------------------------------------- */

static Process *
map_process (const char *path, const char *name)
{
  int fd = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  void *mapped = MAP_FAILED;
  Process *process;
  struct stat st;

  if (fd >= 0 && fstat (fd, &st) == 0 && S_ISREG (st.st_mode) &&
      (guint64)st.st_size == FLAM_ALLOC_FILE_SIZE)
    mapped = mmap (
        NULL, FLAM_ALLOC_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0)
    close (fd);
  if (mapped == MAP_FAILED)
    return NULL;
  process = g_new0 (Process, 1);
  process->name = g_strdup (name);
  process->header = mapped;
  process->mapped = FLAM_ALLOC_FILE_SIZE;
  process->rings = g_array_new (FALSE, TRUE, sizeof (Ring));
  flam_column_init (&process->stacks, sizeof (FlamId));
  return process;
}

static gboolean
is_ready (const Process *process)
{
  const FlamAllocHeader *header = process->header;

  return header->magic == FLAM_ALLOC_MAGIC &&
         header->version == FLAM_ALLOC_VERSION;
}

static void
add_process (FlamAllocSession *session, const char *name)
{
  g_autofree char *path = g_build_filename (session->directory, name, NULL);
  Process *process = map_process (path, name);

  if (process == NULL)
    return;
  if (!is_ready (process))
    {
      process_free (process);
      return;
    }
  process->pid = process->header->pid;
  process->space = flam_alloc_ledger_add_space (session->ledger);
  g_hash_table_add (session->known, g_strdup (name));
  g_ptr_array_add (session->processes, process);
}

static void
scan (FlamAllocSession *session)
{
  GDir *dir = g_dir_open (session->directory, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (strcmp (name, "control") != 0 &&
        !g_hash_table_contains (session->known, name))
      add_process (session, name);
  g_clear_pointer (&dir, g_dir_close);
  session->scanned_at = now_ns ();
}

/* --- stacks -------------------------------------------------------------- */

static const char *
module_path (const FlamAllocHeader *header, guint32 at)
{
  const char *text = (const char *)header + FLAM_ALLOC_TEXT_AT;

  if (at == 0 || at >= FLAM_ALLOC_TEXT_SIZE ||
      memchr (text + at, 0, FLAM_ALLOC_TEXT_SIZE - at) == NULL)
    return "";
  return text + at;
}

static FlamId
frame_of (FlamAllocSession *session, Process *process, guint64 place)
{
  const FlamAllocModule *modules =
      (const FlamAllocModule *)(const void *)((const char *)process->header +
                                              FLAM_ALLOC_MODULES_AT);
  guint32 id = FLAM_ALLOC_PLACE_MODULE (place);
  guint64 offset = FLAM_ALLOC_PLACE_OFFSET (place);
  FlamAllocModule module = { 0 };

  if (id > 0 && id < FLAM_ALLOC_MAX_MODULES)
    module = modules[id];
  return session->owner.frame (session->owner.data,
                               process->header->pid,
                               module_path (process->header, module.path),
                               module.start,
                               module.end,
                               module.bias,
                               module.inode,
                               offset);
}

/* Nodes come parents first; new ones are read as far as they are needed. */
static FlamId
stack_of (FlamAllocSession *session, Process *process, guint32 node)
{
  const FlamAllocNode *nodes =
      (const FlamAllocNode *)(const void *)((const char *)process->header +
                                            FLAM_ALLOC_NODES_AT);
  guint32 published =
      __atomic_load_n (&process->header->n_nodes, __ATOMIC_ACQUIRE);

  if (node == 0 || node >= MIN (published, FLAM_ALLOC_MAX_NODES))
    return FLAM_NONE;
  if (process->stacks.n == 0)
    flam_column_append (&process->stacks, FlamId, FLAM_NONE);
  while (process->stacks.n <= node)
    {
      FlamAllocNode row = nodes[process->stacks.n];
      FlamId parent = FLAM_NONE;

      if (row.parent < process->stacks.n)
        parent = flam_column_at (&process->stacks, FlamId, row.parent);
      flam_column_append (
          &process->stacks,
          FlamId,
          flam_capture_writer_stack (
              session->writer, parent, frame_of (session, process, row.place)));
    }
  return flam_column_at (&process->stacks, FlamId, node);
}

/* --- times --------------------------------------------------------------- */

/* The counter's rate is measured from the process's own beginning on, and gets
 * better as time goes by. */
static void
measure_clock (Process *process)
{
  const FlamAllocHeader *header = process->header;
  guint64 ticks = __rdtsc ();
  gint64 ns = now_ns ();

  process->ns_per_tick = 1;
  if (header->clock == FLAM_ALLOC_CLOCK_TSC && ticks > header->start_ticks)
    process->ns_per_tick = (double)(ns - (gint64)header->start_ns) /
                           (double)(ticks - header->start_ticks);
}

static gint64
time_of (const FlamAllocSession *session, const Process *process, guint64 ticks)
{
  gint64 since = (gint64)(ticks - process->header->start_ticks);

  return (gint64)process->header->start_ns - session->start_ns +
         (gint64)(since * process->ns_per_tick);
}

/* --- events -------------------------------------------------------------- */

static const guint8 *
record_at (const Ring *ring)
{
  return ring->ring->data + ring->at % FLAM_ALLOC_RING_DATA;
}

static guint
record_size (unsigned op, guint64 at)
{
  if (op == FLAM_ALLOC_OP_PAD)
    return FLAM_ALLOC_RING_DATA - at % FLAM_ALLOC_RING_DATA;
  return op == FLAM_ALLOC_OP_FREE ? sizeof (FlamAllocFree)
                                  : sizeof (FlamAllocBlock);
}

/* Skips what is no event, and notes when the next one was. */
static void
look_ahead (Ring *ring)
{
  ring->ticks = G_MAXUINT64;
  while (ring->at + sizeof (FlamAllocFree) <= ring->end)
    {
      guint64 stamp;

      memcpy (&stamp, record_at (ring), sizeof stamp);
      if (FLAM_ALLOC_STAMP_OP (stamp) != FLAM_ALLOC_OP_PAD)
        {
          if (ring->at + record_size (FLAM_ALLOC_STAMP_OP (stamp), ring->at) >
              ring->end)
            break;
          ring->ticks = FLAM_ALLOC_STAMP_TICKS (stamp);
          return;
        }
      ring->at += record_size (FLAM_ALLOC_OP_PAD, ring->at);
    }
  if (ring->at < ring->end && ring->ticks == G_MAXUINT64)
    ring->at = ring->end;
}

static FlamAllocator
allocator_of (unsigned op)
{
  static const guint8 allocators[16] = {
    [FLAM_ALLOC_OP_MALLOC] = FLAM_ALLOCATOR_MALLOC,
    [FLAM_ALLOC_OP_CALLOC] = FLAM_ALLOCATOR_CALLOC,
    [FLAM_ALLOC_OP_REALLOC] = FLAM_ALLOCATOR_REALLOC,
    [FLAM_ALLOC_OP_ALIGNED] = FLAM_ALLOCATOR_ALIGNED,
    [FLAM_ALLOC_OP_MMAP] = FLAM_ALLOCATOR_MMAP,
  };

  return allocators[op & 15];
}

/* A sampled block stands for 1 / (1 - exp (-size / every)) like it; the part
 * after the point decides by chance, so that sums stay unbiased. */
static guint32
stands_for (FlamAllocSession *session, guint64 size)
{
  double every = (double)session->control->sample_bytes;
  double count;

  if (every == 0)
    return 1;
  count = 1 / -expm1 (-(double)MAX (size, 1) / every);
  session->random ^= session->random << 13;
  session->random ^= session->random >> 17;
  session->random ^= session->random << 5;
  return (guint32)MIN (count + session->random * 0x1p-32, 1e9);
}

static void
handle_block (FlamAllocSession *session,
              Process *process,
              Ring *ring,
              unsigned op,
              gint64 time)
{
  FlamAllocBlock block;
  FlamId stack;

  memcpy (&block, record_at (ring), sizeof block);
  if (op == FLAM_ALLOC_OP_UNMAP)
    {
      flam_alloc_ledger_unmap (
          session->ledger, ring->stream, time, block.address, block.size);
      return;
    }
  if (session->control->sample_bytes != 0)
    flam_alloc_stream_set_made (ring->stream, block.made - 1);
  stack = stack_of (session, process, block.node);
  if (op == FLAM_ALLOC_OP_BREAK)
    flam_alloc_ledger_break (
        session->ledger, ring->stream, time, (gint64)block.size, stack);
  else if (block.size <= G_MAXINT64 >> 8 && block.address != 0 &&
           block.address == FLAM_ALLOC_ADDRESS (block.address))
    flam_alloc_ledger_block (
        session->ledger,
        ring->stream,
        time,
        block.address,
        (gint64)block.size,
        op == FLAM_ALLOC_OP_MMAP ? 1 : stands_for (session, block.size),
        stack,
        allocator_of (op));
}

/* Blocks that were not sampled count, too. */
static void
catch_up (FlamAllocStream *stream, guint16 made)
{
  guint32 before = flam_alloc_stream_get_made (stream);

  flam_alloc_stream_set_made (stream,
                              before + (guint16)(made - (guint16)before));
}

static void
handle_event (FlamAllocSession *session, Process *process, Ring *ring)
{
  gint64 time = time_of (session, process, ring->ticks);
  guint64 stamp;
  unsigned op;

  memcpy (&stamp, record_at (ring), sizeof stamp);
  op = FLAM_ALLOC_STAMP_OP (stamp);
  if (ring->stream == NULL)
    {
      char name[17] = "";

      memcpy (name, ring->ring->name, 16);
      ring->tid = ring->ring->tid;
      ring->stream = flam_alloc_ledger_add_stream (
          session->ledger,
          process->space,
          session->owner.thread (
              session->owner.data, process->header->pid, ring->tid, name));
    }
  if (op == FLAM_ALLOC_OP_FREE)
    {
      FlamAllocFree record;

      memcpy (&record, record_at (ring), sizeof record);
      if (session->control->sample_bytes != 0)
        catch_up (ring->stream, FLAM_ALLOC_MADE (record.address));
      flam_alloc_ledger_free_block (session->ledger,
                                    ring->stream,
                                    time,
                                    FLAM_ALLOC_ADDRESS (record.address));
    }
  else
    handle_block (session, process, ring, op, time);
  ring->at += record_size (op, ring->at);
}

/* A thread that ended left its ring for another. */
static void
release_ring (FlamAllocSession *session, Ring *ring)
{
  FlamAllocRing *shared = ring->ring;

  if (__atomic_load_n (&shared->state, __ATOMIC_ACQUIRE) !=
          FLAM_ALLOC_RING_DONE ||
      __atomic_load_n (&shared->head, __ATOMIC_ACQUIRE) != ring->at)
    return;
  if (ring->stream != NULL)
    flam_alloc_ledger_end_stream (session->ledger, ring->stream);
  ring->stream = NULL;
  __atomic_store_n (&shared->state, FLAM_ALLOC_RING_FREE, __ATOMIC_RELEASE);
}

static void
find_rings (Process *process)
{
  guint32 n = __atomic_load_n (&process->header->n_rings, __ATOMIC_ACQUIRE);

  n = MIN (n, FLAM_ALLOC_MAX_RINGS);
  while (process->rings->len < n)
    {
      Ring ring = {
        .ring = (FlamAllocRing *)(void *)((char *)process->header +
                                          FLAM_ALLOC_RINGS_AT +
                                          (guint64)process->rings->len *
                                              FLAM_ALLOC_RING_BYTES),
      };

      g_array_append_val (process->rings, ring);
    }
}

#define ring_of(process, i) (&g_array_index ((process)->rings, Ring, i))

/* What every ring has published; TRUE when there is anything. */
static gboolean
begin_round (Process *process)
{
  gboolean any = FALSE;

  find_rings (process);
  for (guint i = 0; i < process->rings->len; i++)
    {
      Ring *ring = ring_of (process, i);

      ring->end = __atomic_load_n (&ring->ring->head, __ATOMIC_ACQUIRE);
      if (ring->end - ring->at > FLAM_ALLOC_RING_DATA)
        ring->at = ring->end;
      look_ahead (ring);
      any = any || ring->ticks != G_MAXUINT64;
    }
  return any;
}

/* The ring whose next event is the oldest, and the time up to which it stays
 * so. */
static Ring *
oldest_ring (Process *process, guint64 limit, guint64 *until)
{
  Ring *oldest = NULL;

  *until = limit;
  for (guint i = 0; i < process->rings->len; i++)
    {
      Ring *ring = ring_of (process, i);

      if (ring->ticks > limit)
        continue;
      if (oldest == NULL || ring->ticks < oldest->ticks)
        {
          if (oldest != NULL)
            *until = MIN (*until, oldest->ticks);
          oldest = ring;
        }
      else
        *until = MIN (*until, ring->ticks);
    }
  return oldest;
}

/* Blocks lie all over memory: have the one of some events later fetched. (It
 * may be the middle of a record that is looked at; that costs nothing.) */
static inline void
expect_later (const Process *process, const Ring *ring)
{
  guint64 address;

  if (ring->at + AHEAD + 16 > ring->end)
    return;
  memcpy (&address,
          ring->ring->data + (ring->at + AHEAD) % FLAM_ALLOC_RING_DATA + 8,
          sizeof address);
  flam_alloc_ledger_expect (process->space, address);
}

static guint64
drain_process (FlamAllocSession *session, Process *process)
{
  guint64 limit = process->header->clock == FLAM_ALLOC_CLOCK_TSC
                      ? __rdtsc ()
                      : (guint64)now_ns ();
  guint64 n = 0;
  guint64 until;
  Ring *ring;

  if (!begin_round (process))
    limit = 0;
  else
    measure_clock (process);
  while (limit > 0 && (ring = oldest_ring (process, limit, &until)) != NULL)
    while (ring->ticks <= until)
      {
        expect_later (process, ring);
        handle_event (session, process, ring);
        look_ahead (ring);
        /* The writer may be waiting for room. */
        if (n++ % 1024 == 0)
          __atomic_store_n (&ring->ring->tail, ring->at, __ATOMIC_RELEASE);
      }
  for (guint i = 0; i < process->rings->len; i++)
    {
      ring = ring_of (process, i);
      __atomic_store_n (&ring->ring->tail, ring->at, __ATOMIC_RELEASE);
      release_ring (session, ring);
    }
  return n;
}

static void
put_heap (FlamAllocSession *session, gint64 now)
{
  if (now - session->heap_put_at < SCAN_NS / 2)
    return;
  session->heap_put_at = now;
  flam_capture_writer_counter_value (session->writer,
                                     session->heap,
                                     MAX (now - session->start_ns, 0),
                                     flam_alloc_ledger_live (session->ledger));
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
    n += drain_process (session, session->processes->pdata[i]);
  flam_alloc_ledger_flush (session->ledger, MAX (now - session->start_ns, 0));
  put_heap (session, now);
  return n;
}

/* The process is gone, and all it said is written down. */
static void
end_process (FlamAllocSession *session, Process *process)
{
  g_autofree char *path =
      g_build_filename (session->directory, process->name, NULL);

  session->past.lost += process->header->lost;
  session->past.truncated += process->header->truncated;
  session->past.bypassed |= process->header->bypassed != 0;
  session->past.n_processes++;
  flam_alloc_ledger_end_space (session->ledger, process->space);
  unlink (path);
  g_ptr_array_remove (session->processes, process);
}

static gboolean
knows (const FlamAllocSession *session, pid_t pid)
{
  for (guint i = 0; i < session->processes->len; i++)
    {
      const Process *process = session->processes->pdata[i];

      if (process->pid == pid)
        return TRUE;
    }
  return FALSE;
}

void
flam_alloc_session_drain_process (FlamAllocSession *session,
                                  pid_t pid,
                                  gboolean ends)
{
  if (ends || !knows (session, pid))
    scan (session);
  for (guint i = session->processes->len; i-- > 0;)
    {
      Process *process = session->processes->pdata[i];

      if (process->pid != pid)
        continue;
      while (drain_process (session, process) > 0)
        continue;
      if (ends)
        end_process (session, process);
    }
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
  while (flam_alloc_session_drain (session) > 0)
    continue;
  flam_alloc_ledger_finish (session->ledger, now);
}

void
flam_alloc_session_stats (const FlamAllocSession *session,
                          FlamAllocStats *stats)
{
  *stats = session->past;
  stats->n_processes += session->processes->len;
  for (guint i = 0; i < session->processes->len; i++)
    {
      const Process *process = session->processes->pdata[i];

      stats->lost += process->header->lost;
      stats->truncated += process->header->truncated;
      stats->bypassed = stats->bypassed || process->header->bypassed;
    }
}

/* --- obstacles ----------------------------------------------------------- */

static gboolean
has_interpreter (int fd, const Elf64_Ehdr *header)
{
  for (guint i = 0; i < header->e_phnum; i++)
    {
      Elf64_Phdr segment;

      if (pread (fd,
                 &segment,
                 sizeof segment,
                 (off_t)(header->e_phoff + i * sizeof segment)) !=
          (ssize_t)sizeof segment)
        return TRUE;
      if (segment.p_type == PT_INTERP)
        return TRUE;
    }
  return FALSE;
}

char *
flam_alloc_obstacle (const char *program)
{
  int fd = open (program, O_RDONLY | O_CLOEXEC);
  char *why = NULL;
  Elf64_Ehdr header;
  struct stat st;

  if (fd < 0)
    return NULL;
  if (fstat (fd, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)) &&
      geteuid () != 0)
    why = g_strdup_printf ("%s: runs with privileges, so that no library can "
                           "be loaded into it to see its allocations",
                           program);
  else if (pread (fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
           memcmp (header.e_ident, ELFMAG, SELFMAG) == 0 &&
           !has_interpreter (fd, &header))
    why = g_strdup_printf ("%s: is statically linked, so that no library can "
                           "be loaded into it to see its allocations",
                           program);
  close (fd);
  return why;
}
