/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-memray.h"
#include "flam-python.h"

typedef struct
{
  FlamFunctionId function;
  gint64 line;
  const guint8 *table;
  gsize length;
} Code;

/* --- code ---------------------------------------------------------------- */

static void
read_code (FlamMemray *reader)
{
  guint64 id = flam_memray_varint (reader);
  const char *name = flam_memray_text (reader);
  const char *file = flam_memray_text (reader);
  FlamFunction function = { .module = FLAM_NONE,
                            .kind = FLAM_KIND_INTERPRETED,
                            .flags = flam_python_flags (file) };
  Code *code = g_new0 (Code, 1);
  guint64 line = reader->last_line;

  reader->last_line = (gint32)flam_memray_delta (reader, &line);
  code->length = flam_memray_varint (reader);
  code->table = reader->at;
  flam_memray_skip (reader, code->length);
  code->length = reader->at - code->table;
  code->line = reader->last_line;
  function.name = flam_builder_string (reader->builder, name, -1);
  function.file = flam_builder_string (reader->builder, file, -1);
  function.line = CLAMP (code->line, 0, G_MAXINT32);
  code->function = flam_builder_function (reader->builder, &function);
  g_hash_table_insert (reader->codes, g_memdup2 (&id, sizeof id), code);
}

static gboolean
location_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamColumn *locations = table;
  const FlamMemrayLocation *a =
      &flam_column_at (locations, FlamMemrayLocation, row);
  const FlamMemrayLocation *b = key;

  return a->code == b->code && a->instruction == b->instruction;
}

static FlamFrameId
make_frame (FlamMemray *reader, const FlamMemrayLocation *location)
{
  const Code *code = g_hash_table_lookup (reader->codes, &location->code);

  if (code == NULL)
    return flam_builder_frame_of (
        reader->builder, &(FlamFunction){ .module = FLAM_NONE }, 0, 0, 0);
  return flam_builder_frame (reader->builder,
                             code->function,
                             0,
                             flam_python_line (reader->python,
                                               code->table,
                                               code->length,
                                               location->instruction,
                                               code->line),
                             0);
}

FlamFrameId
flam_memray_frame (FlamMemray *reader, guint64 code, gint64 instruction)
{
  FlamMemrayLocation location = { code, instruction, FLAM_NONE };
  guint32 hash = flam_hash_pair (code, instruction);
  FlamSlot *slot = flam_interner_find (&reader->location_index,
                                       hash,
                                       location_equal,
                                       &reader->locations,
                                       &location);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, reader->locations.n };
      reader->location_index.used++;
      location.frame = make_frame (reader, &location);
      flam_column_append (&reader->locations, FlamMemrayLocation, location);
    }
  return flam_column_at (&reader->locations, FlamMemrayLocation, slot->id)
      .frame;
}

/* --- threads and calls --------------------------------------------------- */

static void
thread_free (gpointer data)
{
  FlamMemrayThread *thread = data;

  g_array_unref (thread->stacks);
  g_free (thread);
}

FlamMemrayThread *
flam_memray_thread (FlamMemray *reader, guint64 tid)
{
  FlamMemrayThread *thread = g_hash_table_lookup (reader->threads, &tid);
  g_autofree char *name = NULL;

  if (thread != NULL)
    return thread;
  thread = g_new0 (FlamMemrayThread, 1);
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
name_thread (FlamMemray *reader, const char *text)
{
  g_autofree char *name = NULL;

  if (reader->thread == NULL)
    return;
  name = g_strdup_printf (
      "%#" G_GINT64_MODIFIER "x (%s)", reader->thread->tid, text);
  flam_builder_set_thread_name (reader->builder, reader->thread->thread, name);
}

static gboolean
push_frame (FlamMemray *reader)
{
  guint64 code = flam_memray_varint (reader);
  gint64 instruction = flam_memray_signed (reader);
  FlamMemrayThread *thread = reader->thread;
  FlamStackId stack;

  if (thread == NULL)
    return FALSE;
  stack = flam_memray_stack (thread);
  if (thread->tid != reader->main_thread ||
      thread->stacks->len >= reader->skipped)
    stack = flam_builder_stack (
        reader->builder, stack, flam_memray_frame (reader, code, instruction));
  g_array_append_val (thread->stacks, stack);
  return TRUE;
}

static gboolean
pop_frames (FlamMemray *reader, guint n)
{
  if (reader->thread == NULL || reader->thread->stacks->len < n)
    return FALSE;
  g_array_set_size (reader->thread->stacks, reader->thread->stacks->len - n);
  return TRUE;
}

/* --- records ------------------------------------------------------------- */

static void
add_times (FlamMemray *reader, gint64 ms, gint64 rss, gint64 heap)
{
  gint64 ns =
      flam_builder_limit (reader->builder, ms, 0, G_MAXINT64 / 2000000, NULL) *
      1000000;

  reader->now = MAX (reader->now, ns);
  flam_builder_add_counter_value (
      reader->builder, reader->rss, ns, MAX (rss, 0));
  flam_builder_add_counter_value (
      reader->builder, reader->heap, ns, MAX (heap, 0));
}

static void
read_memory (FlamMemray *reader)
{
  guint64 rss = flam_memray_varint (reader);
  guint64 ms = flam_memray_varint (reader);

  if (reader->short_read)
    return;
  add_times (reader, ms, rss, reader->ledger->tick_peak);
  flam_ledger_set_time (reader->ledger, reader->now);
}

static void
read_snapshot (FlamMemray *reader)
{
  guint64 ms = flam_memray_fixed (reader, 8);
  guint64 rss = flam_memray_fixed (reader, 8);
  guint64 heap = flam_memray_fixed (reader, 8);

  if (!reader->short_read)
    add_times (reader, ms - reader->start_ms, rss, heap);
}

static void
read_aggregate (FlamMemray *reader)
{
  FlamMemrayAggregate row = { 0 };

  row.thread = flam_memray_fixed (reader, 8);
  flam_memray_skip (reader, 8 + 8);
  row.trace = flam_memray_fixed (reader, 8);
  flam_memray_skip (reader, 8);
  row.weights[2] = flam_memray_fixed (reader, 8);
  row.weights[3] = flam_memray_fixed (reader, 8);
  row.weights[0] = flam_memray_fixed (reader, 8);
  row.weights[1] = flam_memray_fixed (reader, 8);
  if (!reader->short_read)
    g_array_append_val (reader->aggregates, row);
}

static void
read_trace (FlamMemray *reader)
{
  FlamMemrayTrace trace = { 0 };

  trace.frame = flam_memray_varint (reader);
  trace.parent = flam_memray_varint (reader);
  g_array_append_val (reader->traces, trace);
}

/* Numbered from 0, in order. */
static gboolean
read_frame (FlamMemray *reader)
{
  guint64 id = flam_memray_varint (reader);
  FlamMemrayLocation location = { 0 };

  location.code = flam_memray_varint (reader);
  location.instruction = flam_memray_signed (reader);
  flam_memray_fixed (reader, 1);
  g_array_append_val (reader->frames, location);
  return id + 1 == reader->frames->len;
}

static void
read_map (FlamMemray *reader)
{
  const char *file = flam_memray_text (reader);
  guint64 address;

  flam_memray_varint (reader);
  address = flam_memray_fixed (reader, 8);
  if (reader->calls != NULL && !reader->short_read)
    flam_memray_native_map (reader->calls, file, address);
}

static void
read_segment (FlamMemray *reader)
{
  guint64 address = flam_memray_fixed (reader, 8);
  guint64 size = flam_memray_varint (reader);

  if (reader->calls != NULL && !reader->short_read)
    flam_memray_native_segment (reader->calls, address, size);
}

static void
read_native (FlamMemray *reader)
{
  guint64 ip = flam_memray_delta (reader, &reader->last_ip);
  guint64 caller = flam_memray_delta (reader, &reader->last_native);

  if (reader->calls != NULL && !reader->short_read)
    flam_memray_native_call (reader->calls, ip, caller);
}

/* Reads the records that both forms have; FALSE: another type. */
static gboolean
read_common (FlamMemray *reader, guint kind)
{
  switch (kind)
    {
    case 5:
      read_native (reader);
      return TRUE;
    case 6:
      if (reader->calls != NULL)
        flam_memray_native_begin_maps (reader->calls);
      return TRUE;
    case 7:
      read_map (reader);
      return TRUE;
    case 8:
      read_segment (reader);
      return TRUE;
    case 10:
      name_thread (reader, flam_memray_text (reader));
      return TRUE;
    case 12:
      reader->thread =
          flam_memray_thread (reader, flam_memray_fixed (reader, 8));
      return TRUE;
    case 14:
      read_code (reader);
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
read_record (FlamMemray *reader)
{
  guint byte = flam_memray_fixed (reader, 1);

  if (byte & 0x80)
    return flam_memray_block (reader, byte & 0x7f);
  if (byte & 0x40)
    return push_frame (reader);
  if (byte & 0x20)
    {
      flam_memray_address (reader, byte >> 1 & 15);
      if (reader->native && byte & 1)
        flam_memray_delta (reader, &reader->last_native);
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
read_aggregated_record (FlamMemray *reader)
{
  guint kind = flam_memray_fixed (reader, 1);

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
      flam_memray_varint (reader);
      if (reader->native)
        flam_memray_varint (reader);
      return TRUE;
    case 15:
      return reader->ended = TRUE;
    default:
      return read_common (reader, kind);
    }
}

gboolean
flam_memray_read_records (FlamMemray *reader, GError **error)
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
      if (++n % 65536 == 0 && !flam_load_step (reader->load, reader->at, error))
        return FALSE;
    }
  if (good && reader->ended)
    return TRUE;
  flam_load_partial (reader->load,
                     record,
                     good ? N_ ("the program was killed, or the file was cut "
                                "off at byte %zu")
                          : N_ ("the records are damaged after byte %zu"),
                     (gsize)(record - reader->load->source->data));
  return TRUE;
}

void
flam_memray_init (FlamMemray *reader)
{
  FlamLoad *load = reader->load;

  reader->codes = flam_arena_table (load, FLAM_KEY_NUMBER, g_free);
  reader->threads = flam_arena_table (load, FLAM_KEY_NUMBER, thread_free);
  flam_arena_column (load, &reader->locations, FlamMemrayLocation);
  flam_arena_interner (load, &reader->location_index);
  reader->mapped = flam_arena_keep (load, flam_ranges_new (), flam_ranges_free);
  reader->traces = flam_arena_array (load, FlamMemrayTrace);
  reader->frames = flam_arena_array (load, FlamMemrayLocation);
  reader->aggregates = flam_arena_array (load, FlamMemrayAggregate);
  reader->ledger->heap.last = TRUE;
}
