/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-process.h"

#include "flam-alloc-shared.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define AHEAD 192 /* bytes: about eight events */

typedef struct
{
  FlamAllocRing *ring;
  FlamAllocStream *stream; /* NULL until the first event, and between users */
  guint64 at;              /* bytes read */
  guint64 end;             /* bytes published, of this round */
  guint64 ticks;           /* of the next event; G_MAXUINT64 none */
} Ring;

struct _FlamAllocProcess
{
  FlamAllocContext *context;
  char *path;
  FlamAllocHeader *header;
  FlamAllocSpace *space;
  GArray *rings;       /* Ring */
  FlamColumn stacks;   /* FlamAllocStack per node; row 0 none */
  GHashTable *python;  /* number of a record -> FlamPythonCode */
  guint64 python_read; /* bytes of those records */
  pid_t pid;
  guint32 clock;
  guint64 start_ticks;
  gint64 start_ns;
  double ns_per_tick;
  guint64 tick_end; /* when the ledger's tick ends, by the process's clock */
};

/* --- life ---------------------------------------------------------------- */

static FlamAllocHeader *
map_file (const char *path)
{
  int fd = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  void *mapped = MAP_FAILED;
  struct stat st;

  if (fd >= 0 && fstat (fd, &st) == 0 && S_ISREG (st.st_mode) &&
      (guint64)st.st_size == FLAM_ALLOC_FILE_SIZE)
    mapped = mmap (
        NULL, FLAM_ALLOC_FILE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0)
    close (fd);
  return mapped == MAP_FAILED ? NULL : mapped;
}

FlamAllocProcess *
flam_alloc_process_open (FlamAllocContext *context, const char *path)
{
  FlamAllocHeader *header = map_file (path);
  FlamAllocStack none = { FLAM_NONE, FLAM_NONE };
  FlamAllocProcess *process;

  if (header == NULL)
    return NULL;
  if (header->magic != FLAM_ALLOC_MAGIC ||
      header->version != FLAM_ALLOC_VERSION)
    {
      munmap (header, FLAM_ALLOC_FILE_SIZE);
      return NULL;
    }
  process = g_new0 (FlamAllocProcess, 1);
  process->context = context;
  process->path = g_strdup (path);
  process->header = header;
  process->space = flam_alloc_ledger_add_space (context->ledger);
  process->rings = g_array_new (FALSE, TRUE, sizeof (Ring));
  flam_column_init (&process->stacks, sizeof (FlamAllocStack));
  flam_column_append (&process->stacks, FlamAllocStack, none);
  process->python = g_hash_table_new (NULL, NULL);
  process->pid = header->pid;
  process->clock = header->clock;
  process->start_ticks = header->start_ticks;
  process->start_ns = (gint64)header->start_ns;
  return process;
}

void
flam_alloc_process_free (FlamAllocProcess *process)
{
  flam_alloc_ledger_end_space (process->context->ledger, process->space);
  munmap (process->header, FLAM_ALLOC_FILE_SIZE);
  g_array_unref (process->rings);
  flam_column_clear (&process->stacks);
  g_hash_table_unref (process->python);
  g_free (process->path);
  g_free (process);
}

const char *
flam_alloc_process_path (const FlamAllocProcess *process)
{
  return process->path;
}

pid_t
flam_alloc_process_pid (const FlamAllocProcess *process)
{
  return process->pid;
}

void
flam_alloc_process_add_stats (const FlamAllocProcess *process,
                              FlamAllocStats *stats)
{
  stats->lost += process->header->lost;
  stats->truncated += process->header->truncated;
  stats->bypassed = stats->bypassed || process->header->bypassed != 0;
  stats->n_processes++;
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
frame_of (FlamAllocProcess *process, guint64 place)
{
  const FlamAllocOwner *owner = &process->context->owner;
  const FlamAllocModule *modules =
      (const FlamAllocModule *)(const void *)((const char *)process->header +
                                              FLAM_ALLOC_MODULES_AT);
  guint32 id = FLAM_ALLOC_PLACE_MODULE (place);
  guint64 offset = FLAM_ALLOC_PLACE_OFFSET (place);
  FlamAllocModule module = { 0 };

  if (id > 0 && id < FLAM_ALLOC_MAX_MODULES)
    module = modules[id];
  return owner->frame (owner->data,
                       process->pid,
                       module_path (process->header, module.path),
                       module.start,
                       module.end,
                       module.bias,
                       module.inode,
                       offset);
}

/* The record is the target's: NULL when it is bad. */
static FlamPythonCode *
read_python (FlamAllocProcess *process, guint32 number)
{
  const char *all = (const char *)process->header + FLAM_ALLOC_PYTHON_AT;
  guint64 used =
      __atomic_load_n (&process->header->python_used, __ATOMIC_ACQUIRE);
  guint64 at = number * G_GUINT64_CONSTANT (16), size;
  g_autofree char *data = NULL;
  g_autofree char *name = NULL;
  g_autofree char *file = NULL;
  FlamAllocPython record;

  used = MIN (used, FLAM_ALLOC_PYTHON_SIZE);
  if (number == 0 || at + sizeof record > used)
    return NULL;
  memcpy (&record, all + at, sizeof record);
  size = (guint64)record.n_name + record.n_file + record.n_lines;
  /* Records that lie side by side are no more than the space for them. */
  if (size > used - at - sizeof record ||
      size > FLAM_ALLOC_PYTHON_SIZE - process->python_read)
    return NULL;
  process->python_read += size;
  data = g_memdup2 (all + at + sizeof record, size);
  name = g_utf8_make_valid (data, record.n_name > 0 ? record.n_name - 1 : 0);
  file = g_utf8_make_valid (data + record.n_name,
                            record.n_file > 0 ? record.n_file - 1 : 0);
  return flam_python_codes_get (process->context->python,
                                record.version,
                                name,
                                file,
                                record.first_line,
                                (const guint8 *)data + record.n_name +
                                    record.n_file,
                                record.n_lines);
}

/* FLAM_NONE: it is not to be seen. */
static FlamId
python_frame_of (FlamAllocProcess *process, guint64 place)
{
  guint32 number = FLAM_ALLOC_PYTHON_NUMBER (place);
  FlamPythonCode *code =
      g_hash_table_lookup (process->python, GUINT_TO_POINTER (number));
  gint64 unit = FLAM_ALLOC_PYTHON_UNIT (place);

  if (code == NULL)
    code = read_python (process, number);
  if (code == NULL)
    code = flam_python_codes_get (
        process->context->python, 0, "(unreadable)", "", 0, NULL, 0);
  g_hash_table_insert (process->python, GUINT_TO_POINTER (number), code);
  return code->hidden ? FLAM_NONE
                      : flam_python_code_frame (
                            code, process->context->writer, 2 * unit - 2);
}

static void
add_stack (FlamAllocProcess *process, const FlamAllocNode *node)
{
  FlamAllocStack stack = { FLAM_NONE, FLAM_NONE };
  FlamId frame;

  if (node->parent < process->stacks.n)
    stack.id =
        flam_column_at (&process->stacks, FlamAllocStack, node->parent).id;
  frame = FLAM_ALLOC_PLACE_MODULE (node->place) == FLAM_ALLOC_PYTHON
              ? python_frame_of (process, node->place)
              : frame_of (process, node->place);
  if (frame != FLAM_NONE)
    stack.id =
        flam_capture_writer_stack (process->context->writer, stack.id, frame);
  flam_column_append (&process->stacks, FlamAllocStack, stack);
}

/* Nodes come parents first; new ones are read as far as they are needed. */
static FlamAllocStack *
stack_of (FlamAllocProcess *process, guint32 node)
{
  const FlamAllocNode *nodes =
      (const FlamAllocNode *)(const void *)((const char *)process->header +
                                            FLAM_ALLOC_NODES_AT);
  guint32 published;

  if (G_UNLIKELY (node >= process->stacks.n))
    {
      published = __atomic_load_n (&process->header->n_nodes, __ATOMIC_ACQUIRE);
      if (node >= MIN (published, FLAM_ALLOC_MAX_NODES))
        node = 0;
      while (process->stacks.n <= node)
        {
          FlamAllocNode copy = nodes[process->stacks.n];

          add_stack (process, &copy);
        }
    }
  return &flam_column_at (&process->stacks, FlamAllocStack, node);
}

/* --- times --------------------------------------------------------------- */

static gint64
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * G_GINT64_CONSTANT (1000000000) + now.tv_nsec;
}

static guint64
now_ticks (const FlamAllocProcess *process)
{
  return process->clock == FLAM_ALLOC_CLOCK_TSC ? __rdtsc ()
                                                : (guint64)now_ns ();
}

/* The counter's rate is measured from the process's own beginning on, and gets
 * better as time goes by. */
static void
measure_clock (FlamAllocProcess *process, guint64 ticks)
{
  gint64 ns = now_ns ();

  process->ns_per_tick = 1;
  if (process->clock == FLAM_ALLOC_CLOCK_TSC && ticks > process->start_ticks &&
      ns > process->start_ns)
    process->ns_per_tick = (double)(ns - process->start_ns) /
                           (double)(ticks - process->start_ticks);
}

/* The ledger's clock, and how long it may stand still. */
static void
begin_tick (FlamAllocProcess *process, guint64 ticks)
{
  const FlamAllocContext *context = process->context;
  double since = (double)(gint64)(ticks - process->start_ticks);
  double time = (double)(process->start_ns - context->start_ns) +
                since * process->ns_per_tick;
  gint64 now = (gint64)CLAMP (time, 0, 1e18);
  gint64 end = flam_alloc_ledger_advance (context->ledger, now);
  double left = (double)(end - now) / process->ns_per_tick;

  process->tick_end = ticks + 1 + (guint64)CLAMP (left, 0, 1e18);
}

/* --- events -------------------------------------------------------------- */

static inline const guint8 *
record_at (const Ring *ring)
{
  return ring->ring->data + ring->at % FLAM_ALLOC_RING_DATA;
}

static inline guint
record_size (unsigned op, guint64 at)
{
  if (op == FLAM_ALLOC_OP_PAD)
    return FLAM_ALLOC_RING_DATA - at % FLAM_ALLOC_RING_DATA;
  return op == FLAM_ALLOC_OP_FREE ? sizeof (FlamAllocFree)
                                  : sizeof (FlamAllocBlock);
}

/* Skips what is no event, and notes when the next one was. */
static inline void
look_ahead (Ring *ring)
{
  ring->ticks = G_MAXUINT64;
  while (ring->at + sizeof (FlamAllocFree) <= ring->end)
    {
      guint64 stamp;
      unsigned op;

      memcpy (&stamp, record_at (ring), sizeof stamp);
      op = FLAM_ALLOC_STAMP_OP (stamp);
      if (G_LIKELY (op != FLAM_ALLOC_OP_PAD))
        {
          if (ring->at + record_size (op, ring->at) > ring->end)
            break;
          ring->ticks = FLAM_ALLOC_STAMP_TICKS (stamp);
          return;
        }
      ring->at += record_size (FLAM_ALLOC_OP_PAD, ring->at);
    }
  if (ring->at < ring->end)
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
stands_for (FlamAllocContext *context, guint64 size)
{
  double every = (double)context->sample_bytes;
  double count = 1 / -expm1 (-(double)MAX (size, 1) / every);

  context->random ^= context->random << 13;
  context->random ^= context->random >> 17;
  context->random ^= context->random << 5;
  return (guint32)MIN (count + context->random * 0x1p-32, 1e9);
}

static void
handle_block (FlamAllocProcess *process,
              FlamAllocStream *stream,
              unsigned op,
              const guint8 *record)
{
  FlamAllocContext *context = process->context;
  FlamAllocStack *stack;
  FlamAllocBlock block;
  guint32 each = 1;

  memcpy (&block, record, sizeof block);
  if (G_UNLIKELY (op == FLAM_ALLOC_OP_UNMAP))
    {
      flam_alloc_ledger_unmap (
          context->ledger, stream, block.address, block.size);
      return;
    }
  if (context->sample_bytes != 0)
    {
      flam_alloc_stream_set_made (stream, block.made - 1);
      if (op != FLAM_ALLOC_OP_MMAP)
        each = stands_for (context, block.size);
    }
  stack = stack_of (process, block.node);
  if (op == FLAM_ALLOC_OP_BREAK)
    flam_alloc_ledger_break (
        context->ledger, stream, (gint64)block.size, stack);
  else if (block.size <= G_MAXINT64 >> 8 && block.address != 0 &&
           block.address == FLAM_ALLOC_ADDRESS (block.address))
    flam_alloc_ledger_block (context->ledger,
                             stream,
                             block.address,
                             (gint64)block.size,
                             each,
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
begin_stream (FlamAllocProcess *process, Ring *ring)
{
  FlamAllocContext *context = process->context;
  char name[17] = "";

  memcpy (name, ring->ring->name, 16);
  ring->stream = flam_alloc_ledger_add_stream (
      context->ledger,
      process->space,
      context->owner.thread (
          context->owner.data, process->pid, ring->ring->tid, name));
}

static inline void
handle_event (FlamAllocProcess *process, Ring *ring)
{
  const FlamAllocContext *context = process->context;
  const guint8 *record = record_at (ring);
  FlamAllocFree freed;
  unsigned op;

  memcpy (&freed, record, sizeof freed);
  op = FLAM_ALLOC_STAMP_OP (freed.stamp);
  if (G_UNLIKELY (ring->stream == NULL))
    begin_stream (process, ring);
  if (op != FLAM_ALLOC_OP_FREE)
    handle_block (process, ring->stream, op, record);
  else
    {
      if (context->sample_bytes != 0)
        catch_up (ring->stream, FLAM_ALLOC_MADE (freed.address));
      flam_alloc_ledger_free_block (
          context->ledger, ring->stream, FLAM_ALLOC_ADDRESS (freed.address));
    }
  ring->at += record_size (op, ring->at);
}

/* --- rings --------------------------------------------------------------- */

#define ring_of(process, i) (&g_array_index ((process)->rings, Ring, i))

/* A thread that ended left its ring for another. */
static void
release_ring (FlamAllocProcess *process, Ring *ring)
{
  FlamAllocRing *shared = ring->ring;

  if (__atomic_load_n (&shared->state, __ATOMIC_ACQUIRE) !=
          FLAM_ALLOC_RING_DONE ||
      __atomic_load_n (&shared->head, __ATOMIC_ACQUIRE) != ring->at)
    return;
  if (ring->stream != NULL)
    flam_alloc_ledger_end_stream (process->context->ledger, ring->stream);
  ring->stream = NULL;
  __atomic_store_n (&shared->state, FLAM_ALLOC_RING_FREE, __ATOMIC_RELEASE);
}

static void
find_rings (FlamAllocProcess *process)
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

/* What every ring has published; TRUE when there is anything. */
static gboolean
begin_round (FlamAllocProcess *process)
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
oldest_ring (FlamAllocProcess *process, guint64 limit, guint64 *until)
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
expect_later (const FlamAllocProcess *process, const Ring *ring)
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
drain_ring (FlamAllocProcess *process, Ring *ring, guint64 until)
{
  guint64 n = 0;

  while (ring->ticks <= until)
    {
      if (G_UNLIKELY (ring->ticks >= process->tick_end))
        begin_tick (process, ring->ticks);
      expect_later (process, ring);
      handle_event (process, ring);
      look_ahead (ring);
      /* The writer may be waiting for room. */
      if (n++ % 1024 == 0)
        __atomic_store_n (&ring->ring->tail, ring->at, __ATOMIC_RELEASE);
    }
  return n;
}

guint64
flam_alloc_process_drain (FlamAllocProcess *process)
{
  guint64 limit = now_ticks (process);
  guint64 n = 0;
  guint64 until;
  Ring *ring;

  if (!begin_round (process))
    limit = 0;
  measure_clock (process, limit);
  process->tick_end = 0;
  while (limit > 0 && (ring = oldest_ring (process, limit, &until)) != NULL)
    n += drain_ring (process, ring, until);
  for (guint i = 0; i < process->rings->len; i++)
    {
      ring = ring_of (process, i);
      __atomic_store_n (&ring->ring->tail, ring->at, __ATOMIC_RELEASE);
      release_ring (process, ring);
    }
  return n;
}
