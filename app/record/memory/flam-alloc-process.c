/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-process.h"

#include "flam-alloc-cursor.h"
#include "flam-alloc-map.h"
#include "flam-alloc-runtimes.h"
#include "flam-core-profile.h"
#include "flam-python.h"
#include "flam-runtime-table.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define AHEAD 192 /* bytes: about eight events */

typedef struct
{
  FlamAllocCursor cursor;
  FlamAllocStream *stream; /* NULL until the first event, and between threads */
  FlamAllocLevel level;    /* the last one of the thread */
} Ring;

struct _FlamAllocProcess
{
  FlamAllocContext *context;
  char *path;
  FlamAllocMap *map;
  FlamAllocHeader *header;
  FlamAllocSpace *space;
  GArray *rings;       /* Ring */
  FlamColumn stacks;   /* FlamAllocStack per node; row 0 none */
  guint32 n_looked_at; /* modules */
  GHashTable *python;  /* number of a record -> FlamRuntimeFunction */
  guint64 python_read; /* total size of those records */
  pid_t pid;
  guint32 clock;
  guint64 start_ticks;
  gint64 start_ns;
  double ns_per_tick;
  guint64 tick_end; /* end of the ledger's tick, by the process's clock */
  gboolean
      implausible; /* it reported frees of blocks that it never allocated */
};

/* --- creation and release ------------------------------------------------ */

static FlamAllocMap *
map_file (const char *path)
{
  int fd = open (path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  FlamAllocMap *map;

  if (fd < 0)
    return NULL;
  map = flam_alloc_map_new (fd, FLAM_ALLOC_FILE_SIZE);
  close (fd);
  return map;
}

FlamAllocProcess *
flam_alloc_process_open (FlamAllocContext *context, const char *path)
{
  g_autoptr (FlamAllocMap) map = map_file (path);
  FlamAllocHeader *header = map != NULL ? flam_alloc_map_data (map) : NULL;
  FlamAllocStack none = { FLAM_NONE, FLAM_NONE };
  FlamAllocProcess *process;

  if (header == NULL || header->magic != FLAM_ALLOC_MAGIC ||
      header->version != FLAM_ALLOC_VERSION)
    return NULL;
  process = g_new0 (FlamAllocProcess, 1);
  process->context = context;
  process->path = g_strdup (path);
  process->map = g_steal_pointer (&map);
  process->header = header;
  process->space =
      flam_alloc_heaps_add_space (context->heaps, header->forked != 0);
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
  flam_alloc_heaps_end_space (process->context->heaps, process->space);
  flam_alloc_map_free (process->map);
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

gboolean
flam_alloc_process_is_bypassed (const FlamAllocProcess *process, char name[17])
{
  memcpy (name, process->header->name, 16);
  name[16] = '\0';
  return process->header->bypassed != 0;
}

static gboolean
is_damaged (const FlamAllocProcess *process)
{
  for (guint i = 0; i < process->rings->len; i++)
    if (g_array_index (process->rings, Ring, i).cursor.damaged)
      return TRUE;
  return process->implausible || flam_alloc_map_is_cut (process->map);
}

void
flam_alloc_process_add_stats (const FlamAllocProcess *process,
                              FlamAllocStats *stats)
{
  stats->lost += process->header->lost;
  stats->truncated += process->header->truncated;
  stats->full += process->header->full != 0;
  stats->damaged += is_damaged (process);
}

/* --- stacks -------------------------------------------------------------- */

/* A copy, as the target may change the text meanwhile. g_free. */
static char *
module_path (const FlamAllocHeader *header, guint32 at)
{
  const char *text = (const char *)header + FLAM_ALLOC_TEXT_AT;

  if (at == 0 || at >= FLAM_ALLOC_TEXT_SIZE)
    return g_strdup ("");
  return g_strndup (text + at, MIN (FLAM_ALLOC_TEXT_SIZE - at, PATH_MAX));
}

const char *
flam_alloc_process_unseen_heap (FlamAllocProcess *process)
{
  const FlamAllocModule *modules =
      (const FlamAllocModule *)(const void *)((const char *)process->header +
                                              FLAM_ALLOC_MODULES_AT);
  guint32 n = __atomic_load_n (&process->header->n_modules, __ATOMIC_ACQUIRE);

  for (n = MIN (n, FLAM_ALLOC_MAX_MODULES); process->n_looked_at < n;)
    {
      guint32 at = modules[process->n_looked_at++].path;
      g_autofree char *path = module_path (process->header, at);
      const FlamAllocRuntime *runtime =
          *path ? flam_alloc_runtime (path) : NULL;

      if (runtime != NULL)
        return runtime->sentence;
    }
  return NULL;
}

static FlamId
frame_of (FlamAllocProcess *process, guint64 location)
{
  const FlamAllocOwner *owner = &process->context->owner;
  const FlamAllocModule *modules =
      (const FlamAllocModule *)(const void *)((const char *)process->header +
                                              FLAM_ALLOC_MODULES_AT);
  guint32 id = FLAM_ALLOC_LOCATION_MODULE (location);
  guint64 offset = FLAM_ALLOC_LOCATION_OFFSET (location);
  FlamAllocModule module = { 0 };
  g_autofree char *path = NULL;

  if (id > 0 && id < FLAM_ALLOC_MAX_MODULES)
    module = modules[id];
  path = module_path (process->header, module.path);
  return owner->frame (owner->data,
                       process->pid,
                       path,
                       module.start,
                       module.end,
                       module.bias,
                       module.inode,
                       offset);
}

/* The record is the target's: NULL if it is invalid. */
static FlamRuntimeFunction *
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
  FlamRuntimeNamed named;

  used = MIN (used, FLAM_ALLOC_PYTHON_SIZE);
  if (number == 0 || at + sizeof record > used)
    return NULL;
  memcpy (&record, all + at, sizeof record);
  size = (guint64)record.n_name + record.n_file + record.n_lines;
  /* Both texts are NUL-terminated. Records that do not overlap fit into their
   * space. */
  if (record.n_name == 0 || record.n_file == 0 ||
      size > used - at - sizeof record ||
      size > FLAM_ALLOC_PYTHON_SIZE - process->python_read)
    return NULL;
  process->python_read += size;
  data = g_memdup2 (all + at + sizeof record, size);
  name = g_utf8_make_valid (data, record.n_name - 1);
  file = g_utf8_make_valid (data + record.n_name, record.n_file - 1);
  named = (FlamRuntimeNamed){ .function = name,
                              .type = "",
                              .file = file,
                              .first_line = record.first_line,
                              .hidden = flam_python_is_hidden (name, file) };
  return flam_runtime_functions_add (process->context->functions,
                                     &flam_runtime_python,
                                     &named,
                                     NULL,
                                     record.version,
                                     (const guint8 *)data + record.n_name +
                                         record.n_file,
                                     record.n_lines);
}

/* FLAM_NONE: the frame is hidden. */
static FlamId
python_frame_of (FlamAllocProcess *process, guint64 location)
{
  guint32 number = FLAM_ALLOC_PYTHON_NUMBER (location);
  FlamRuntimeFunction *function =
      g_hash_table_lookup (process->python, GUINT_TO_POINTER (number));
  gint64 unit = FLAM_ALLOC_PYTHON_UNIT (location);

  if (function == NULL)
    function = read_python (process, number);
  if (function == NULL)
    function = flam_runtime_functions_unreadable (process->context->functions,
                                                  &flam_runtime_python);
  g_hash_table_insert (process->python, GUINT_TO_POINTER (number), function);
  return function->hidden
             ? FLAM_NONE
             : flam_runtime_function_frame (function,
                                            process->context->builder,
                                            (guint64)(2 * unit - 2));
}

/* At least 0, less than 1. */
static float
next_random (FlamAllocContext *context)
{
  context->random ^= context->random << 13;
  context->random ^= context->random >> 17;
  context->random ^= context->random << 5;
  return (float)(context->random >> 8) * 0x1p-24f;
}

static void
add_stack (FlamAllocProcess *process, const FlamAllocNode *node)
{
  FlamAllocStack stack = { FLAM_NONE,
                           FLAM_NONE,
                           next_random (process->context) };
  FlamFrameId frame;

  if (node->parent < process->stacks.n)
    stack.id =
        flam_column_at (&process->stacks, FlamAllocStack, node->parent).id;
  frame = FLAM_ALLOC_LOCATION_MODULE (node->location) == FLAM_ALLOC_PYTHON
              ? python_frame_of (process, node->location)
              : frame_of (process, node->location);
  if (frame != FLAM_NONE)
    stack.id = flam_builder_stack (process->context->builder, stack.id, frame);
  flam_column_append (&process->stacks, FlamAllocStack, stack);
}

/* Parents come before their children; new nodes are read on demand. */
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
  return process->clock == FLAM_ALLOC_CLOCK_TSC ? flam_alloc_tsc ()
                                                : (guint64)now_ns ();
}

/* The counter's rate is measured from the beginning of the process, and becomes
 * more precise with time. */
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

/* Advances the ledger's clock, and computes the end of its tick. */
static void
begin_tick (FlamAllocProcess *process, guint64 ticks)
{
  const FlamAllocContext *context = process->context;
  double since = (double)(gint64)(ticks - process->start_ticks);
  double time = (double)(process->start_ns - context->start_ns) +
                since * process->ns_per_tick;
  double latest = (double)(now_ns () - context->start_ns);
  gint64 now = (gint64)CLAMP (time, 0, MAX (latest, 0));
  gint64 end = flam_alloc_heaps_advance (context->heaps, now);
  double left = (double)(end - now) / process->ns_per_tick;

  process->tick_end = ticks + 1 + (guint64)CLAMP (left, 0, 1e18);
}

/* --- events -------------------------------------------------------------- */

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

/* A sampled block represents 1 / (1 - exp (-size / every)) blocks like it. The
 * fraction is carried over to the stack's next block. The first carry is
 * random, so that sums stay unbiased. */
static guint32
stands_for (const FlamAllocContext *context,
            guint64 size,
            FlamAllocStack *stack)
{
  double every = (double)context->sample_bytes;
  double count = 1 / -expm1 (-(double)MAX (size, 1) / every);
  double whole;

  count = MIN (count, 1e9) + (double)stack->carry;
  whole = floor (count);
  stack->carry = (float)(count - whole);
  return (guint32)whole;
}

/* No address space is larger. */
static inline gboolean
is_plausible (guint64 size)
{
  return size <= G_GUINT64_CONSTANT (1) << 57;
}

static void
handle_level (FlamAllocProcess *process, Ring *ring, const guint8 *record)
{
  FlamAllocLevel old = ring->level;
  FlamAllocLevel level;
  FlamAllocCounts counts;
  guint64 asked, live;

  memcpy (&level, record, sizeof level);
  ring->level = level;
  asked = level.allocated - old.allocated;
  live = (guint64)level.live - (guint64)old.live;
  counts = (FlamAllocCounts){
    .live = (gint64)live,
    .high = level.high,
    .asked = (gint64)asked,
    .made = level.made - old.made,
    .gone = level.gone - old.gone,
    .high_blocks =
        (gint64)(level.high_made - old.made) - (level.high_gone - old.gone),
  };
  if (!is_plausible (asked) ||
      !is_plausible ((gint64)live < 0 ? 0 - live : live) ||
      !flam_alloc_heaps_level (
          process->context->heaps, process->space, &counts))
    process->implausible = TRUE;
}

static void
handle_block (FlamAllocProcess *process,
              FlamAllocStream *stream,
              unsigned op,
              const guint8 *record)
{
  const FlamAllocContext *context = process->context;
  FlamAllocStack *stack;
  FlamAllocBlock block;
  gboolean recorded;
  gboolean sampled = FALSE;
  guint32 each = 1;
  guint slack = 0;

  memcpy (&block, record, sizeof block);
  if (G_UNLIKELY (op == FLAM_ALLOC_OP_UNMAP))
    {
      flam_alloc_heaps_unmap (
          context->heaps, stream, block.address, block.size);
      return;
    }
  if (context->sample_bytes != 0)
    {
      flam_alloc_stream_set_made (stream, block.made - 1);
      sampled = op != FLAM_ALLOC_OP_MMAP && op != FLAM_ALLOC_OP_BREAK;
      if (sampled)
        {
          slack = FLAM_ALLOC_SLACK (block.address);
          block.address = FLAM_ALLOC_ADDRESS (block.address);
        }
    }
  stack = stack_of (process, block.node);
  if (sampled)
    each = stands_for (context, block.size, stack);
  if (op == FLAM_ALLOC_OP_BREAK)
    recorded =
        is_plausible ((gint64)block.size < 0 ? 0 - block.size : block.size) &&
        flam_alloc_heaps_break (
            context->heaps, stream, (gint64)block.size, stack);
  else
    recorded = is_plausible (block.size) && block.address != 0 &&
               block.address == FLAM_ALLOC_ADDRESS (block.address) &&
               flam_alloc_heaps_block (context->heaps,
                                       stream,
                                       block.address,
                                       (gint64)block.size,
                                       each,
                                       slack,
                                       stack,
                                       allocator_of (op));
  if (G_UNLIKELY (!recorded))
    process->implausible = TRUE;
}

/* Blocks that were not sampled are counted, too. */
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

  ring->level = (FlamAllocLevel){ 0 };
  memcpy (name, ring->cursor.ring->name, 16);
  ring->stream = flam_alloc_heaps_add_stream (
      context->heaps,
      process->space,
      context->owner.thread (
          context->owner.data, process->pid, ring->cursor.ring->tid, name));
}

static inline void
handle_event (FlamAllocProcess *process, Ring *ring)
{
  const FlamAllocContext *context = process->context;
  const guint8 *record = flam_alloc_cursor_record (&ring->cursor);
  FlamAllocFree freed;
  unsigned op;

  memcpy (&freed, record, sizeof freed);
  op = FLAM_ALLOC_STAMP_OP (freed.stamp);
  if (G_UNLIKELY (ring->stream == NULL))
    begin_stream (process, ring);
  if (op == FLAM_ALLOC_OP_LEVEL)
    handle_level (process, ring, record);
  else if (op != FLAM_ALLOC_OP_FREE)
    handle_block (process, ring->stream, op, record);
  else
    {
      if (context->sample_bytes != 0)
        catch_up (ring->stream, FLAM_ALLOC_MADE (freed.address));
      flam_alloc_heaps_free_block (
          context->heaps, ring->stream, FLAM_ALLOC_ADDRESS (freed.address));
    }
  flam_alloc_cursor_skip (&ring->cursor);
}

/* --- rings --------------------------------------------------------------- */

#define ring_of(process, i) (&g_array_index ((process)->rings, Ring, i))

/* A thread that ended releases its ring for another thread. */
static void
release_ring (FlamAllocProcess *process, Ring *ring)
{
  FlamAllocRing *shared = ring->cursor.ring;

  if (__atomic_load_n (&shared->state, __ATOMIC_ACQUIRE) !=
          FLAM_ALLOC_RING_DONE ||
      __atomic_load_n (&shared->head, __ATOMIC_ACQUIRE) != ring->cursor.at)
    return;
  if (ring->stream != NULL)
    flam_alloc_heaps_end_stream (process->context->heaps, ring->stream);
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
        .cursor.ring = (FlamAllocRing *)(void *)((char *)process->header +
                                                 FLAM_ALLOC_RINGS_AT +
                                                 (guint64)process->rings->len *
                                                     FLAM_ALLOC_RING_BYTES),
      };

      g_array_append_val (process->rings, ring);
    }
}

/* Reads how much each ring has published; TRUE if there is any. */
static gboolean
begin_round (FlamAllocProcess *process)
{
  gboolean any = FALSE;

  find_rings (process);
  for (guint i = 0; i < process->rings->len; i++)
    {
      Ring *ring = ring_of (process, i);

      flam_alloc_cursor_begin_round (&ring->cursor);
      any = any || ring->cursor.ticks != G_MAXUINT64;
    }
  return any;
}

/* The ring with the oldest next event, and the time up to which this holds. */
static Ring *
oldest_ring (FlamAllocProcess *process, guint64 limit, guint64 *until)
{
  Ring *oldest = NULL;

  *until = limit;
  for (guint i = 0; i < process->rings->len; i++)
    {
      Ring *ring = ring_of (process, i);

      if (ring->cursor.ticks > limit)
        continue;
      if (oldest == NULL || ring->cursor.ticks < oldest->cursor.ticks)
        {
          if (oldest != NULL)
            *until = MIN (*until, oldest->cursor.ticks);
          oldest = ring;
        }
      else
        *until = MIN (*until, ring->cursor.ticks);
    }
  return oldest;
}

/* Blocks are scattered over memory: prefetches the block of an event that
 * follows soon. (The address may be in the middle of a record; that does no
 * harm.) */
static inline void
expect_later (const FlamAllocProcess *process, const FlamAllocCursor *cursor)
{
  guint64 address;

  if (cursor->end - cursor->at < AHEAD + 16)
    return;
  memcpy (&address,
          cursor->ring->data + (cursor->at + AHEAD) % FLAM_ALLOC_RING_DATA + 8,
          sizeof address);
  flam_alloc_heaps_expect (process->space, address);
}

static guint64
drain_ring (FlamAllocProcess *process, Ring *ring, guint64 until)
{
  guint64 n = 0;

  while (ring->cursor.ticks <= until)
    {
      if (G_UNLIKELY (ring->cursor.ticks >= process->tick_end))
        begin_tick (process, ring->cursor.ticks);
      expect_later (process, &ring->cursor);
      handle_event (process, ring);
      flam_alloc_cursor_look_ahead (&ring->cursor);
      if (n++ % 1024 == 0)
        flam_alloc_cursor_say_read (&ring->cursor);
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
      flam_alloc_cursor_say_read (&ring->cursor);
      release_ring (process, ring);
    }
  return n;
}
