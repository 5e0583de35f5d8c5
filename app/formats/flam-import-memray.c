/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-ledger.h"
#include "flam-python.h"

#include <string.h>

/* Memray's .bin, versions 12 and 13 (Memray 1.19 and 1.20). Little-endian;
 * often in an LZ4 frame, which FlamSource took off. varint is LEB128; svarint
 * a zigzag one; "d" a svarint that is added to the last value of its kind.
 *
 *    0   "memray\0"                 49  command, NUL
 *    7   i32 version                    i32 pid
 *    11  i32 PY_VERSION_HEX             u64 main thread
 *    15  u8 native traces               u64 frames to skip on it
 *    16  u8 0 all, 1 aggregated         u8 allocator, u8, u8
 *    17  u64 allocations           13:  text, texts and "", texts and ""
 *    25  u64 frames
 *    33  i64 start, 41 i64 end (ms since 1970)
 *
 * All allocations; a byte, in whose upper bits the kind stands:
 *
 *    1ppppaaa  block: p 15: d(address >> 3), else one of the last 15; a 0: u8
 *              allocator; native and no release: d native; no release: varint
 *              size. An address that is not in the list goes to its front.
 *    01xxxxxe  call: varint code, svarint instruction; e: from C
 *    001ppppc  object, p as above; native and c: d native
 *    0001nnnn  n + 1 returns
 *    1 end     2 varint rss, varint ms     5 d ip, d native parent
 *    6 maps    7 text, varint n, u64       8 u64, varint
 *    10 text: the thread's name            12 u64: now this thread
 *    14 varint code, text function, text file, d line, varint n, n bytes
 *
 * Aggregated, where not as above:
 *
 *    1 u64 ms, u64 rss, u64 heap           3 varint frame, varint parent
 *    2 u64 thread, u8 allocator, 7 of padding, u64 native, u64 trace,
 *      u64 generation, u64 blocks and u64 leaked blocks (at the peak; at the
 *      end), u64 bytes, u64 leaked bytes
 *    4 varint id, varint code, svarint instruction, u8
 *    13 varint address >> 3 [, varint native]        15 end
 *
 * No capture by Memray itself could be made where this was written: it follows
 * Memray 1.20's sources (record_reader.cpp, records.h, snapshot.cpp). Native
 * frames are not shown: without symbols nothing tells where among Python's
 * they belong. What is unmapped in part counts anew with what is left. */

#define HEADER_SIZE 49
#define CACHE 15

typedef struct
{
  FlamId function;
  gint64 line;
  const guint8 *table;
  gsize length;
} Code;

typedef struct
{
  guint64 tid;
  FlamId thread;
  gboolean named;
  GArray *stacks; /* FlamId, outermost call first */
} Thread;

typedef struct
{
  guint64 code;
  gint64 instruction;
  FlamId frame;
} Place;

typedef struct
{
  guint64 start, end;
  guint32 site;
} Range;

typedef struct
{
  guint64 frame;
  guint64 parent;
} Trace;

typedef struct
{
  guint64 thread, trace;
  gint64 weights[4];
} Aggregate;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  FlamLedger *ledger;
  const guint8 *at, *end;
  gboolean short_read;

  guint version, python;
  gboolean native, aggregated;
  gint64 start_ms;
  guint64 main_thread, skipped;

  guint64 addresses[CACHE];
  guint64 last_address, last_native, last_ip;
  gint64 last_line;

  GHashTable *codes;   /* guint64 -> Code */
  GHashTable *threads; /* guint64 -> Thread */
  Thread *thread;
  FlamId process;
  FlamColumn places; /* Place */
  FlamInterner place_index;
  GTree *ranges;      /* start -> Range, disjoint */
  GArray *traces;     /* Trace */
  GArray *frames;     /* Place: of aggregated files */
  GArray *aggregates; /* Aggregate */
  guint heap, rss;
  gint64 now;
  gboolean ended;
} Reader;

/* --- bytes --------------------------------------------------------------- */

static guint64
read_fixed (Reader *reader, guint size)
{
  guint64 value = 0;

  if ((gsize)(reader->end - reader->at) < size)
    {
      reader->short_read = TRUE;
      reader->at = reader->end;
      return 0;
    }
  for (guint i = 0; i < size; i++)
    value |= (guint64)reader->at[i] << 8 * i;
  reader->at += size;
  return value;
}

static guint64
read_varint (Reader *reader)
{
  guint64 value = 0;

  for (guint shift = 0; shift < 64; shift += 7)
    {
      guint64 byte = read_fixed (reader, 1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
  reader->short_read = TRUE;
  return 0;
}

static gint64
read_signed (Reader *reader)
{
  guint64 value = read_varint (reader);

  return (gint64)(value >> 1 ^ (~(value & 1) + 1));
}

static guint64
read_delta (Reader *reader, guint64 *last)
{
  return *last += (guint64)read_signed (reader);
}

static const char *
read_text (Reader *reader)
{
  const char *text = (const char *)reader->at;
  const guint8 *nul = memchr (reader->at, 0, reader->end - reader->at);

  if (nul == NULL)
    {
      reader->short_read = TRUE;
      reader->at = reader->end;
      return "";
    }
  reader->at = nul + 1;
  return text;
}

static void
skip_bytes (Reader *reader, guint64 n)
{
  if (n > (gsize)(reader->end - reader->at))
    {
      reader->short_read = TRUE;
      n = reader->end - reader->at;
    }
  reader->at += n;
}

/* --- the header ---------------------------------------------------------- */

static gboolean
refuse_version (Reader *reader, GError **error)
{
  static const char *const writers[] = {
    [10] = "1.7 to 1.10",
    [11] = "1.11 to 1.18",
  };
  const char *writer = reader->version < G_N_ELEMENTS (writers)
                           ? writers[reader->version]
                           : NULL;

  if (writer != NULL)
    flam_source_error (reader->source,
                       error,
                       FLAM_ERROR_UNSUPPORTED,
                       FLAM_NO_OFFSET,
                       "written by Memray %s (version %u of its format; 12 and "
                       "13 are known here): open what that Memray makes of it "
                       "with \"memray flamegraph\" or \"memray transform "
                       "speedscope\"",
                       writer,
                       reader->version);
  else
    flam_source_error (reader->source,
                       error,
                       FLAM_ERROR_UNSUPPORTED,
                       FLAM_NO_OFFSET,
                       "version %u of Memray's format; 12 and 13 are known "
                       "here: open what its own Memray makes of it with "
                       "\"memray flamegraph\"",
                       reader->version);
  return FALSE;
}

static void
skip_texts (Reader *reader)
{
  while (*read_text (reader) != '\0')
    ;
}

static gboolean
read_header (Reader *reader, GError **error)
{
  skip_bytes (reader, 7);
  reader->version = read_fixed (reader, 4);
  if (!reader->short_read && reader->version != 12 && reader->version != 13)
    return refuse_version (reader, error);
  reader->python = read_fixed (reader, 4);
  reader->native = read_fixed (reader, 1);
  reader->aggregated = read_fixed (reader, 1) == 1;
  skip_bytes (reader, 16);
  reader->start_ms = read_fixed (reader, 8);
  skip_bytes (reader, 8);
  flam_builder_set_command (reader->builder, read_text (reader));
  reader->process =
      flam_builder_process (reader->builder, (gint32)read_fixed (reader, 4), 0);
  reader->main_thread = read_fixed (reader, 8);
  reader->skipped = read_fixed (reader, 8);
  skip_bytes (reader, 3);
  if (reader->version >= 13)
    {
      read_text (reader);
      skip_texts (reader);
      skip_texts (reader);
    }
  if (reader->start_ms > 0 && reader->start_ms < G_MAXINT64 / 1000000)
    flam_builder_set_start (reader->builder, reader->start_ms * 1000000);
  if (!reader->short_read)
    return TRUE;
  flam_source_error (reader->source,
                     error,
                     FLAM_ERROR_TRUNCATED,
                     reader->source->size,
                     "the file ends within its header");
  return FALSE;
}

/* --- code ---------------------------------------------------------------- */

static void
read_code (Reader *reader)
{
  guint64 id = read_varint (reader);
  const char *name = read_text (reader);
  const char *file = read_text (reader);
  FlamFunction function = { .module = FLAM_NONE,
                            .kind = FLAM_KIND_INTERPRETED,
                            .flags = flam_python_flags (file) };
  Code *code = g_new0 (Code, 1);
  guint64 line = reader->last_line;

  reader->last_line = (gint32)read_delta (reader, &line);
  code->length = read_varint (reader);
  code->table = reader->at;
  skip_bytes (reader, code->length);
  code->length = reader->at - code->table;
  code->line = reader->last_line;
  function.name = flam_builder_string (reader->builder, name, -1);
  function.file = flam_builder_string (reader->builder, file, -1);
  function.line = CLAMP (code->line, 0, G_MAXINT32);
  code->function = flam_builder_function (reader->builder, &function);
  g_hash_table_insert (reader->codes, g_memdup2 (&id, sizeof id), code);
}

static gboolean
place_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamColumn *places = table;
  const Place *a = &flam_column_at (places, Place, row);
  const Place *b = key;

  return a->code == b->code && a->instruction == b->instruction;
}

static FlamId
make_frame (Reader *reader, const Place *place)
{
  const Code *code = g_hash_table_lookup (reader->codes, &place->code);

  if (code == NULL)
    return flam_builder_frame (
        reader->builder,
        flam_builder_function_unresolved (reader->builder, FLAM_NONE),
        0,
        0,
        0);
  return flam_builder_frame (reader->builder,
                             code->function,
                             0,
                             flam_python_line (reader->python,
                                               code->table,
                                               code->length,
                                               place->instruction,
                                               code->line),
                             0);
}

static FlamId
find_frame (Reader *reader, guint64 code, gint64 instruction)
{
  Place place = { code, instruction, FLAM_NONE };
  guint32 hash = flam_hash_pair (code, instruction);
  FlamSlot *slot = flam_interner_find (
      &reader->place_index, hash, place_equal, &reader->places, &place);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, reader->places.n };
      reader->place_index.used++;
      place.frame = make_frame (reader, &place);
      flam_column_append (&reader->places, Place, place);
    }
  return flam_column_at (&reader->places, Place, slot->id).frame;
}

/* --- threads and calls --------------------------------------------------- */

static void
thread_free (gpointer data)
{
  Thread *thread = data;

  g_array_unref (thread->stacks);
  g_free (thread);
}

static Thread *
find_thread (Reader *reader, guint64 tid)
{
  Thread *thread = g_hash_table_lookup (reader->threads, &tid);
  g_autofree char *name = NULL;

  if (thread != NULL)
    return thread;
  thread = g_new0 (Thread, 1);
  thread->tid = tid;
  thread->stacks = g_array_new (FALSE, FALSE, sizeof (FlamId));
  thread->thread = flam_builder_thread (reader->builder,
                                        reader->process,
                                        -1,
                                        g_hash_table_size (reader->threads));
  name = g_strdup_printf ("%#" G_GINT64_MODIFIER "x", tid);
  flam_builder_set_thread_name (reader->builder, thread->thread, name);
  g_hash_table_insert (reader->threads, g_memdup2 (&tid, sizeof tid), thread);
  return thread;
}

static void
name_thread (Reader *reader, const char *text)
{
  g_autofree char *name = NULL;

  if (reader->thread == NULL)
    return;
  name = g_strdup_printf (
      "%#" G_GINT64_MODIFIER "x (%s)", reader->thread->tid, text);
  flam_builder_set_thread_name (reader->builder, reader->thread->thread, name);
}

static FlamId
current_stack (const Thread *thread)
{
  return thread->stacks->len > 0
             ? g_array_index (thread->stacks, FlamId, thread->stacks->len - 1)
             : FLAM_NONE;
}

static gboolean
push_frame (Reader *reader)
{
  guint64 code = read_varint (reader);
  gint64 instruction = read_signed (reader);
  Thread *thread = reader->thread;
  FlamId stack;

  if (thread == NULL)
    return FALSE;
  stack = current_stack (thread);
  if (thread->tid != reader->main_thread ||
      thread->stacks->len >= reader->skipped)
    stack = flam_builder_stack (
        reader->builder, stack, find_frame (reader, code, instruction));
  g_array_append_val (thread->stacks, stack);
  return TRUE;
}

static gboolean
pop_frames (Reader *reader, guint n)
{
  if (reader->thread == NULL || reader->thread->stacks->len < n)
    return FALSE;
  g_array_set_size (reader->thread->stacks, reader->thread->stacks->len - n);
  return TRUE;
}

/* --- blocks -------------------------------------------------------------- */

enum
{
  PYMALLOC_FREE = 1,
  PYMALLOC_REALLOC = 4,
  FREE = 5,
  MALLOC = 6,
  REALLOC = 7,
  CALLOC = 8,
  PVALLOC = 13,
  MMAP = 14,
  MUNMAP = 15,
};

static FlamAllocator
allocator_of (guint allocator)
{
  if (allocator <= PYMALLOC_REALLOC)
    return FLAM_ALLOCATOR_PYMALLOC;
  if (allocator == MALLOC)
    return FLAM_ALLOCATOR_MALLOC;
  if (allocator == REALLOC)
    return FLAM_ALLOCATOR_REALLOC;
  if (allocator == CALLOC)
    return FLAM_ALLOCATOR_CALLOC;
  return allocator == MMAP ? FLAM_ALLOCATOR_MMAP : FLAM_ALLOCATOR_ALIGNED;
}

static guint64
read_address (Reader *reader, guint cached)
{
  if (cached < CACHE)
    return reader->addresses[cached];
  memmove (reader->addresses + 1,
           reader->addresses,
           (CACHE - 1) * sizeof *reader->addresses);
  return reader->addresses[0] = read_delta (reader, &reader->last_address) << 3;
}

/* Temporary is only what its own thread releases, and whole. */
static void
release (Reader *reader, guint64 key, gboolean whole)
{
  guint32 site = flam_ledger_site_at (reader->ledger, key);
  gboolean own = whole && site != FLAM_NONE &&
                 flam_ledger_get_site (reader->ledger, site)->thread ==
                     reader->thread->thread;

  flam_ledger_release_at (reader->ledger, key, own ? -1 : G_MAXUINT16);
}

static int
compare_starts (gconstpointer a, gconstpointer b, gpointer data)
{
  guint64 x = *(const guint64 *)a;
  guint64 y = *(const guint64 *)b;

  return (x > y) - (x < y);
}

/* Addresses of blocks are multiples of 8, so an odd one is a mapping's. */
static void
add_range (Reader *reader, guint64 start, guint64 end, guint32 like)
{
  FlamSite site = *flam_ledger_get_site (reader->ledger, like);
  Range range = { start, end, FLAM_NONE };

  if (start >= end)
    return;
  range.site = flam_ledger_site (
      reader->ledger, end - start, site.stack, site.thread, site.allocator);
  flam_ledger_allocate_at (reader->ledger, range.site, start | 1);
  g_tree_insert (reader->ranges,
                 g_memdup2 (&start, sizeof start),
                 g_memdup2 (&range, sizeof range));
}

/* The first mapping that reaches beyond `start`: the one before it, if it does
 * so, or the next. */
static const Range *
first_range (Reader *reader, guint64 start)
{
  GTreeNode *node = g_tree_lower_bound (reader->ranges, &start);
  GTreeNode *before = node != NULL ? g_tree_node_previous (node)
                                   : g_tree_node_last (reader->ranges);
  const Range *range = before != NULL ? g_tree_node_value (before) : NULL;

  if (range != NULL && range->end > start)
    return range;
  return node != NULL ? g_tree_node_value (node) : NULL;
}

static void
unmap (Reader *reader, guint64 start, guint64 end)
{
  const Range *found;

  while ((found = first_range (reader, start)) != NULL && found->start < end)
    {
      Range range = *found;

      release (
          reader, range.start | 1, range.start == start && range.end == end);
      g_tree_remove (reader->ranges, &range.start);
      add_range (reader, range.start, start, range.site);
      add_range (reader, end, range.end, range.site);
    }
}

static gboolean
read_block (Reader *reader, guint flags)
{
  guint64 address = read_address (reader, flags >> 3 & 15);
  guint allocator = flags & 7;
  guint64 size = 0;
  FlamId stack;
  guint32 site;

  if (allocator == 0)
    allocator = read_fixed (reader, 1);
  if (allocator == 0 || allocator > MUNMAP || reader->thread == NULL)
    return FALSE;
  if (allocator == FREE || allocator == PYMALLOC_FREE)
    {
      if (!reader->short_read)
        release (reader, address, TRUE);
      return TRUE;
    }
  if (reader->native)
    read_delta (reader, &reader->last_native);
  size = read_varint (reader);
  if (reader->short_read || size > G_MAXINT64 / 1024 ||
      address > G_MAXUINT64 - size)
    return FALSE;
  if (allocator == MUNMAP)
    {
      unmap (reader, address, address + size);
      return TRUE;
    }
  stack = current_stack (reader->thread);
  site = flam_ledger_site (reader->ledger,
                           size,
                           stack,
                           reader->thread->thread,
                           allocator_of (allocator));
  if (allocator == MMAP)
    {
      unmap (reader, address, address + size);
      add_range (reader, address, address + size, site);
    }
  else
    flam_ledger_allocate_at (reader->ledger, site, address);
  return TRUE;
}

/* --- records ------------------------------------------------------------- */

static void
add_times (Reader *reader, gint64 ms, gint64 rss, gint64 heap)
{
  gint64 ns = CLAMP (ms, 0, G_MAXINT64 / 2000000) * 1000000;

  reader->now = MAX (reader->now, ns);
  flam_builder_add_counter_value (
      reader->builder, reader->rss, ns, MAX (rss, 0));
  flam_builder_add_counter_value (
      reader->builder, reader->heap, ns, MAX (heap, 0));
}

static void
read_memory (Reader *reader)
{
  guint64 rss = read_varint (reader);
  guint64 ms = read_varint (reader);

  if (reader->short_read)
    return;
  add_times (reader, ms, rss, reader->ledger->tick_peak);
  flam_ledger_set_time (reader->ledger, reader->now);
}

static void
read_snapshot (Reader *reader)
{
  guint64 ms = read_fixed (reader, 8);
  guint64 rss = read_fixed (reader, 8);
  guint64 heap = read_fixed (reader, 8);

  if (!reader->short_read)
    add_times (reader, ms - reader->start_ms, rss, heap);
}

static void
read_aggregate (Reader *reader)
{
  Aggregate row = { 0 };

  row.thread = read_fixed (reader, 8);
  skip_bytes (reader, 8 + 8);
  row.trace = read_fixed (reader, 8);
  skip_bytes (reader, 8);
  row.weights[2] = read_fixed (reader, 8);
  row.weights[3] = read_fixed (reader, 8);
  row.weights[0] = read_fixed (reader, 8);
  row.weights[1] = read_fixed (reader, 8);
  if (!reader->short_read)
    g_array_append_val (reader->aggregates, row);
}

static void
read_trace (Reader *reader)
{
  Trace trace = { 0 };

  trace.frame = read_varint (reader);
  trace.parent = read_varint (reader);
  g_array_append_val (reader->traces, trace);
}

/* Numbered from 0, in order. */
static gboolean
read_frame (Reader *reader)
{
  guint64 id = read_varint (reader);
  Place place = { 0 };

  place.code = read_varint (reader);
  place.instruction = read_signed (reader);
  read_fixed (reader, 1);
  g_array_append_val (reader->frames, place);
  return id + 1 == reader->frames->len;
}

static void
read_maps (Reader *reader)
{
  read_text (reader);
  read_varint (reader);
  read_fixed (reader, 8);
}

/* Records that both forms have; FALSE: no such record. */
static gboolean
read_common (Reader *reader, guint kind)
{
  switch (kind)
    {
    case 5:
      read_delta (reader, &reader->last_ip);
      read_delta (reader, &reader->last_native);
      return TRUE;
    case 6:
      return TRUE;
    case 7:
      read_maps (reader);
      return TRUE;
    case 8:
      read_fixed (reader, 8);
      read_varint (reader);
      return TRUE;
    case 10:
      name_thread (reader, read_text (reader));
      return TRUE;
    case 12:
      reader->thread = find_thread (reader, read_fixed (reader, 8));
      return TRUE;
    case 14:
      read_code (reader);
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
read_record (Reader *reader)
{
  guint byte = read_fixed (reader, 1);

  if (byte & 0x80)
    return read_block (reader, byte & 0x7f);
  if (byte & 0x40)
    return push_frame (reader);
  if (byte & 0x20)
    {
      read_address (reader, byte >> 1 & 15);
      if (reader->native && byte & 1)
        read_delta (reader, &reader->last_native);
      return TRUE;
    }
  if (byte & 0x10)
    return pop_frames (reader, (byte & 15) + 1);
  if (byte == 1)
    return reader->ended = TRUE;
  if (byte == 2)
    read_memory (reader);
  return byte == 0 || byte == 2 || read_common (reader, byte);
}

static gboolean
read_aggregated_record (Reader *reader)
{
  guint kind = read_fixed (reader, 1);

  switch (kind)
    {
    case 0:
      return TRUE;
    case 1:
      read_snapshot (reader);
      return TRUE;
    case 2:
      read_aggregate (reader);
      return TRUE;
    case 3:
      read_trace (reader);
      return TRUE;
    case 4:
      return read_frame (reader);
    case 13:
      read_varint (reader);
      if (reader->native)
        read_varint (reader);
      return TRUE;
    case 15:
      return reader->ended = TRUE;
    default:
      return read_common (reader, kind);
    }
}

static gboolean
read_records (Reader *reader, const FlamProgress *progress, GError **error)
{
  const guint8 *record = reader->at;
  gboolean good = TRUE;
  guint n = 0;

  while (good && !reader->ended && !reader->short_read &&
         reader->at < reader->end)
    {
      record = reader->at;
      good = reader->aggregated ? read_aggregated_record (reader)
                                : read_record (reader);
      if (++n % 65536 == 0 &&
          !flam_progress_step (progress,
                               (double)(reader->at - reader->source->data) /
                                   reader->source->size,
                               error))
        return FALSE;
    }
  if (good && reader->ended)
    return TRUE;
  flam_builder_set_partial (reader->builder,
                            (double)(record - reader->source->data) /
                                reader->source->size);
  flam_builder_warn (reader->builder,
                     good ? "the capture has no end: the program was killed, "
                            "or the file is cut off at byte %" G_GSIZE_FORMAT
                          : "the records make no sense after byte "
                            "%" G_GSIZE_FORMAT,
                     (gsize)(record - reader->source->data));
  return TRUE;
}

/* --- aggregated files ---------------------------------------------------- */

static FlamId *
make_stacks (Reader *reader)
{
  FlamId *stacks = g_new (FlamId, reader->traces->len + 1);

  stacks[0] = FLAM_NONE;
  for (guint i = 0; i < reader->traces->len; i++)
    {
      const Trace *trace = &g_array_index (reader->traces, Trace, i);
      FlamId prefix = trace->parent <= i ? stacks[trace->parent] : FLAM_NONE;

      stacks[i + 1] = prefix;
      if (trace->frame < reader->frames->len)
        {
          const Place *place =
              &g_array_index (reader->frames, Place, trace->frame);
          stacks[i + 1] = flam_builder_stack (
              reader->builder,
              prefix,
              find_frame (reader, place->code, place->instruction));
        }
    }
  return stacks;
}

static void
add_aggregates (Reader *reader)
{
  g_autofree FlamId *stacks = make_stacks (reader);

  for (guint i = 0; i < reader->aggregates->len; i++)
    {
      Aggregate *row = &g_array_index (reader->aggregates, Aggregate, i);
      FlamSample sample = {
        .thread = find_thread (reader, row->thread)->thread,
        .stack =
            row->trace <= reader->traces->len ? stacks[row->trace] : FLAM_NONE,
      };
      flam_builder_add_sample (reader->builder, &sample, row->weights);
    }
}

static void
add_aggregate_measures (Reader *reader)
{
  static const struct
  {
    const char *id, *name;
    FlamUnit unit;
  } measures[] = {
    { "peak", "Peak memory", FLAM_UNIT_BYTES },
    { "leaked", "Leaked memory", FLAM_UNIT_BYTES },
    { "peak-blocks", "Blocks at the peak", FLAM_UNIT_COUNT },
    { "leaked-blocks", "Leaked blocks", FLAM_UNIT_COUNT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (measures); i++)
    flam_builder_add_column (reader->builder);
  for (guint i = 0; i < G_N_ELEMENTS (measures); i++)
    flam_builder_add_measure (reader->builder,
                              measures[i].id,
                              measures[i].name,
                              measures[i].unit,
                              FLAM_MEASURE_ALLOC,
                              i,
                              FLAM_NONE);
}

/* --- the importer -------------------------------------------------------- */

static void
reader_init (Reader *reader)
{
  reader->codes =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  reader->threads =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, thread_free);
  flam_column_init (&reader->places, sizeof (Place));
  flam_interner_init (&reader->place_index);
  reader->ranges = g_tree_new_full (compare_starts, NULL, g_free, g_free);
  reader->traces = g_array_new (FALSE, FALSE, sizeof (Trace));
  reader->frames = g_array_new (FALSE, FALSE, sizeof (Place));
  reader->aggregates = g_array_new (FALSE, FALSE, sizeof (Aggregate));
  reader->ledger->last_peak = TRUE;
}

static void
reader_clear (Reader *reader)
{
  g_hash_table_unref (reader->codes);
  g_hash_table_unref (reader->threads);
  flam_column_clear (&reader->places);
  flam_interner_clear (&reader->place_index);
  g_tree_unref (reader->ranges);
  g_array_unref (reader->traces);
  g_array_unref (reader->frames);
  g_array_unref (reader->aggregates);
}

static gboolean
read_body (Reader *reader, const FlamProgress *progress, GError **error)
{
  flam_builder_set_has_times (reader->builder);
  flam_builder_set_origin (reader->builder, 0);
  reader->heap =
      flam_builder_add_counter (reader->builder, "heap", FLAM_UNIT_BYTES);
  reader->rss =
      flam_builder_add_counter (reader->builder, "rss", FLAM_UNIT_BYTES);
  if (reader->aggregated)
    add_aggregate_measures (reader);
  else
    flam_builder_add_allocation_measures (reader->builder);
  if (reader->native)
    flam_builder_warn (reader->builder,
                       "the native frames of this capture are not shown");
  if (!read_records (reader, progress, error))
    return FALSE;
  flam_builder_set_duration (reader->builder, reader->now);
  if (reader->aggregated)
    {
      add_aggregates (reader);
      return TRUE;
    }
  return flam_ledger_finish (
      reader->ledger, reader->builder, reader->now, error);
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  g_autoptr (FlamLedger) ledger = flam_ledger_new ();
  Reader reader = { .source = source,
                    .builder = builder,
                    .ledger = ledger,
                    .at = source->data,
                    .end = source->data + source->size };
  gboolean good;

  reader_init (&reader);
  good = read_header (&reader, error) &&
         read_body (&reader, options->progress, error);
  reader_clear (&reader);
  return good;
}

static guint
probe (const FlamSource *source)
{
  return source->size >= HEADER_SIZE && memcmp (source->data, "memray", 7) == 0
             ? 100
             : 0;
}

static const char *const suffixes[] = { ".bin", ".memray", NULL };
static const char *const mime_types[] = { "application/x-memray", NULL };

const FlamImporter flam_import_memray = {
  .id = "memray",
  .label = "Memray",
  .suffixes = suffixes,
  .mime_types = mime_types,
  .probe = probe,
  .load = load,
};
