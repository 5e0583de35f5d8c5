/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Traces of .NET's EventPipe (.nettrace, version 4), little-endian:
 *
 *    "Nettrace"  u32 20  "!FastSerialization.1"      then objects, each
 *    5 5 1  i32 version, i32 least reader  u32 n, n bytes of name  6  …  6
 *
 * The first is "Trace": 16 bytes of date, i64 ticks then, i64 ticks a second,
 * i32 size of pointers, i32 process, i32 processors, i32 sampling rate. The
 * others are blocks: u32 size, zeros up to a multiple of 4, and so many bytes:
 *
 *    StackBlock      i32 first id, i32 n, n times: i32 size, the addresses,
 *                    leaf first
 *    EventBlock      i16 size of its head, i16 flags (1: short heads), ...,
 *                    events
 *    MetadataBlock   the same; an event describes others: i32 id, provider,
 *                    i32 event, name, ..., texts being UTF-16 up to a zero
 *    SPBlock         ids of stacks mean others from here on
 *
 * An event's head is, in full: i32 size, i32 metadata, i32 number, i64 thread,
 * i64 writing thread, i32 processor, i32 stack, i64 ticks, two ids of 16 bytes,
 * i32 size of its payload. A short one has a byte of flags for those that are
 * present, as varints; the others are as in the event before.
 *
 * Samples are the sampler's events, of all threads, running or waiting: their
 * weight is wall time, and each is a moment. The methods at addresses are in
 * MethodLoad events and, at the end, in the rundown. Source of facts: the
 * format's description in microsoft/perfview (EventPipeFormat.md), .NET's
 * documentation of its method events. */

#include "flam-formats.h"
#include "flam-nettrace.h"

#include "flam-core-profile.h"
#include "flam-ranges.h"

#include <string.h>

#define MAGIC "Nettrace"
#define HEADER 32

typedef enum
{
  OTHER,
  SAMPLE,
  METHOD,
} What;

/* Kept until all methods are known. */
typedef struct
{
  gint64 time;
  guint32 stack; /* of `stacks` */
  guint32 thread;
} Sample;

typedef struct
{
  guint32 first, n; /* of `addresses` */
} Stack;

typedef struct
{
  const FlamLoad *load;
  FlamBuilder *builder;
  const guint8 *at, *end;
  gint64 ticks, ticks_per_second;
  guint pointer;
  gint32 pid;
  GHashTable *kinds;   /* metadata -> What */
  GHashTable *by_id;   /* a stack's id -> its row + 1, until the id is reused */
  GArray *stacks;      /* Stack */
  GArray *addresses;   /* guint64 */
  GArray *samples;     /* Sample */
  FlamRanges *methods; /* value: function */
  GHashTable *frames;  /* address -> frame + 1 */
  guint64 bad, unknown; /* blocks; frames */
} Trace;

/* --- stacks -------------------------------------------------------------- */

static gboolean
read_stacks (Trace *trace, const guint8 *at, const guint8 *end)
{
  guint32 id = (guint32)flam_nettrace_take (&at, end, 4);
  guint32 n = (guint32)flam_nettrace_take (&at, end, 4);

  for (; n > 0; n--, id++)
    {
      Stack stack = { .first = trace->addresses->len };
      gsize size;

      if (end - at < 4)
        return FALSE;
      size = flam_nettrace_take (&at, end, 4);
      if (size > (gsize)(end - at) || trace->addresses->len > G_MAXUINT32 / 2)
        return FALSE;
      for (gsize left = size; left >= trace->pointer; left -= trace->pointer)
        {
          guint64 address = flam_nettrace_take (&at, end, trace->pointer);
          g_array_append_val (trace->addresses, address);
        }
      at += size % trace->pointer;
      stack.n = trace->addresses->len - stack.first;
      g_array_append_val (trace->stacks, stack);
      g_hash_table_insert (trace->by_id,
                           GUINT_TO_POINTER (id),
                           GUINT_TO_POINTER (trace->stacks->len));
    }
  return TRUE;
}

/* --- events -------------------------------------------------------------- */

/* MethodLoad, MethodDCStart and MethodDCEnd, each in two variants: those with
 * names (Verbose) are used. */
static What
kind_of (const char *provider, guint32 event)
{
  if (strcmp (provider, "Microsoft-DotNETCore-SampleProfiler") == 0)
    return event == 0 ? SAMPLE : OTHER;
  if (strcmp (provider, "Microsoft-Windows-DotNETRuntime") == 0)
    return event == 143 ? METHOD : OTHER;
  if (strcmp (provider, "Microsoft-Windows-DotNETRuntimeRundown") == 0)
    return event == 143 || event == 144 ? METHOD : OTHER;
  return OTHER;
}

static void
add_metadata (Trace *trace, const FlamNettraceEvent *event)
{
  const guint8 *at = event->payload;
  const guint8 *end = at + event->size;
  guint32 id = (guint32)flam_nettrace_take (&at, end, 4);
  g_autofree char *provider = flam_nettrace_text (&at, end);
  What what = kind_of (provider, (guint32)flam_nettrace_take (&at, end, 4));

  g_hash_table_insert (
      trace->kinds, GUINT_TO_POINTER (id), GUINT_TO_POINTER (what));
}

/* u64 method, u64 module, u64 its start, u32 size, u32 token, u32 flags, its
 * namespace with the class, its name, its signature. */
static void
add_method (Trace *trace, const FlamNettraceEvent *event)
{
  const guint8 *at = event->payload + MIN (16, event->size);
  const guint8 *end = event->payload + event->size;
  guint64 start = flam_nettrace_take (&at, end, 8);
  guint32 size = (guint32)flam_nettrace_take (&at, end, 4);
  FlamRange range = { start, start + size };
  g_autofree char *class = NULL;
  g_autofree char *method = NULL;
  g_autofree char *name = NULL;

  at += MIN (8, end - at);
  class = flam_nettrace_text (&at, end);
  method = flam_nettrace_text (&at, end);
  if (size == 0 || range.end < start || *method == '\0')
    return;
  name = g_strconcat (class, *class != '\0' ? "." : "", method, NULL);
  range.value = flam_builder_function_named (
      trace->builder,
      flam_builder_string (trace->builder, name, -1),
      FLAM_KIND_JIT);
  flam_ranges_add (trace->methods, &range);
}

static void
add_sample (Trace *trace, const FlamNettraceEvent *event)
{
  Sample sample = { .thread = (guint32)event->thread };
  __int128 ticks = (__int128)(gint64)event->time - trace->ticks;
  __int128 ns = ticks * 1000000000 / trace->ticks_per_second;

  sample.time =
      flam_builder_limit (trace->builder, ns, 0, G_MAXINT64 / 4, NULL);
  sample.stack = GPOINTER_TO_UINT (g_hash_table_lookup (
                     trace->by_id, GUINT_TO_POINTER (event->stack))) -
                 1;
  g_array_append_val (trace->samples, sample);
}

static gboolean
read_events (Trace *trace,
             const guint8 *at,
             const guint8 *end,
             gboolean metadata)
{
  const guint8 *start = at;
  guint head = (guint)flam_nettrace_take (&at, end, 2);
  gboolean brief = flam_nettrace_take (&at, end, 2) & 1;
  FlamNettraceEvent event = { 0 };

  if (head < 4 || head > end - start)
    return FALSE;
  for (at = start + head; at < end;)
    {
      if (!(brief ? flam_nettrace_read_short_head (&at, end, &event)
                  : flam_nettrace_read_head (&at, end, &event)))
        return FALSE;
      if (metadata)
        {
          add_metadata (trace, &event);
          continue;
        }
      switch ((What)GPOINTER_TO_UINT (g_hash_table_lookup (
          trace->kinds, GUINT_TO_POINTER (event.metadata))))
        {
        case SAMPLE:
          add_sample (trace, &event);
          break;
        case METHOD:
          add_method (trace, &event);
          break;
        case OTHER:
          break;
        }
    }
  return TRUE;
}

/* --- objects ------------------------------------------------------------- */

/* 0: not a time that fits into 64 bits of ns. */
static gint64
unix_time (const guint8 *at)
{
  guint field[8];
  g_autoptr (GDateTime) time = NULL;

  for (guint i = 0; i < 8; i++)
    field[i] = at[2 * i] | at[2 * i + 1] << 8;
  if (field[0] < 1970 || field[0] > 2200)
    return 0;
  time = g_date_time_new_utc (
      field[0], field[1], field[3], field[4], field[5], field[6]);
  return time != NULL ? (g_date_time_to_unix (time) * 1000 + field[7]) * 1000000
                      : 0;
}

static gboolean
read_trace (Trace *trace, GError **error)
{
  const guint8 *at = trace->at;

  trace->at = MIN (at + 48, trace->end);
  if (trace->end - at >= 48)
    {
      flam_builder_facts (trace->builder)->start_unix_ns =
          MAX (unix_time (at), 0);
      at += 16;
      trace->ticks = (gint64)flam_nettrace_take (&at, trace->end, 8);
      trace->ticks_per_second = (gint64)flam_nettrace_take (&at, trace->end, 8);
      trace->pointer = (guint)flam_nettrace_take (&at, trace->end, 4);
      trace->pid = (gint32)flam_nettrace_take (&at, trace->end, 4);
    }
  if (trace->ticks_per_second > 0 &&
      (trace->pointer == 4 || trace->pointer == 8))
    return TRUE;
  return flam_source_error (trace->load->source,
                            error,
                            FLAM_ERROR_INVALID,
                            at - trace->load->source->data,
                            N_ ("the beginning of the .NET trace is damaged"));
}

static gboolean
is_name (const guint8 *name, guint64 length, const char *text)
{
  return length == strlen (text) && memcmp (name, text, length) == 0;
}

/* The block's bytes; FALSE: the file ends in them. */
static gboolean
take_block (Trace *trace, const guint8 **block, guint64 *size)
{
  gsize offset;

  *size = flam_nettrace_take (&trace->at, trace->end, 4);
  offset = trace->at - trace->load->source->data;
  trace->at += MIN (-offset & 3, (gsize)(trace->end - trace->at));
  *block = trace->at;
  if (*size > (guint64)(trace->end - trace->at))
    return FALSE;
  trace->at += *size;
  return TRUE;
}

/* Reads the object whose tag was read. FALSE: the file ends in it, or it is
 * invalid. */
static gboolean
read_object (Trace *trace, GError **error)
{
  const guint8 *name, *block;
  guint64 length, size;
  gboolean good = TRUE;

  if (trace->end - trace->at < 14 || memcmp (trace->at, "\5\1", 2) != 0)
    return FALSE;
  trace->at += 10;
  length = flam_nettrace_take (&trace->at, trace->end, 4);
  name = trace->at;
  if (length + 1 > (guint64)(trace->end - trace->at))
    return FALSE;
  trace->at += length + 1;
  if (is_name (name, length, "Trace"))
    {
      if (!read_trace (trace, error))
        return FALSE;
      return flam_nettrace_take (&trace->at, trace->end, 1) == 6;
    }
  if (trace->ticks_per_second == 0 || !take_block (trace, &block, &size))
    return FALSE;
  if (is_name (name, length, "StackBlock"))
    good = read_stacks (trace, block, block + size);
  else if (is_name (name, length, "EventBlock"))
    good = read_events (trace, block, block + size, FALSE);
  else if (is_name (name, length, "MetadataBlock"))
    good = read_events (trace, block, block + size, TRUE);
  else if (is_name (name, length, "SPBlock"))
    g_hash_table_remove_all (trace->by_id);
  trace->bad += !good;
  return flam_nettrace_take (&trace->at, trace->end, 1) == 6;
}

/* Later versions are other formats with the same magic. */
static gboolean
check_version (Trace *trace, GError **error)
{
  static const char library[] = "\x14\0\0\0!FastSerialization.1";

  if (trace->load->source->size < HEADER ||
      memcmp (trace->load->source->data + 8, library, HEADER - 8) == 0)
    return TRUE;
  return flam_source_error (
      trace->load->source,
      error,
      FLAM_ERROR_UNSUPPORTED,
      8,
      N_ ("this is a .NET trace of a version later than 4; convert it with "
          "“dotnet-trace convert --format speedscope FILE” and open the JSON"));
}

static gboolean
read_objects (Trace *trace, GError **error)
{
  GError *bad = NULL;
  const guint8 *last = trace->at;

  while (trace->at < trace->end)
    {
      guint tag = (guint)flam_nettrace_take (&trace->at, trace->end, 1);

      if (tag == 1)
        return TRUE;
      if (!flam_load_step (trace->load, last, error))
        return FALSE;
      if (tag != 5 || !read_object (trace, &bad))
        break;
      last = trace->at;
    }
  if (bad != NULL)
    {
      g_propagate_error (error, bad);
      return FALSE;
    }
  flam_load_partial (
      trace->load,
      last,
      N_ ("the .NET trace ends early: it is shown up to byte %zu"),
      (gsize)(last - trace->load->source->data));
  return TRUE;
}

/* --- into the builder ---------------------------------------------------- */

/* Addresses except the leaf's are return addresses. */
static FlamFrameId
find_frame (Trace *trace, guint64 address)
{
  FlamFrameId frame =
      GPOINTER_TO_UINT (g_hash_table_lookup (trace->frames, &address)) - 1;
  const FlamRange *method;
  FlamFunctionId function;

  if (frame != FLAM_NONE)
    return frame;
  method = flam_ranges_find (trace->methods, address);
  function = method != NULL
                 ? method->value
                 : flam_builder_function_unresolved (trace->builder, FLAM_NONE);
  trace->unknown += method == NULL;
  frame = flam_builder_frame (
      trace->builder, function, method != NULL ? 0 : address, 0, 0);
  g_hash_table_insert (trace->frames,
                       g_memdup2 (&address, sizeof address),
                       GUINT_TO_POINTER (frame + 1));
  return frame;
}

static FlamStackId
make_stack (Trace *trace, const Stack *stack)
{
  FlamId made = FLAM_NONE;

  for (guint32 i = stack->n; i > 0; i--)
    {
      guint64 address =
          g_array_index (trace->addresses, guint64, stack->first + i - 1);

      made = flam_builder_stack (
          trace->builder, made, find_frame (trace, address - (i > 1)));
    }
  return made;
}

static void
add_samples (Trace *trace)
{
  FlamBuilder *builder = trace->builder;
  g_autofree FlamId *made = g_new (FlamId, trace->stacks->len + 1);
  FlamProcessId process = flam_builder_process (builder, trace->pid, 0);

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i < trace->stacks->len; i++)
    made[i] = make_stack (trace, &g_array_index (trace->stacks, Stack, i));
  for (guint i = 0; i < trace->samples->len; i++)
    {
      const Sample *row = &g_array_index (trace->samples, Sample, i);
      FlamSample sample = {
        .thread =
            flam_builder_thread (builder, process, (gint32)row->thread, 0),
        .time = row->time,
        .stack = row->stack < trace->stacks->len ? made[row->stack] : FLAM_NONE,
      };
      flam_builder_add_sample (builder, &sample, NULL);
    }
}

static gboolean
finish (Trace *trace, GError **error)
{
  if (trace->samples->len == 0)
    return flam_source_invalid (
        trace->load->source,
        error,
        N_ ("this .NET trace has no samples; record with “dotnet-trace collect "
            "--profile cpu-sampling”"));
  add_samples (trace);
  flam_builder_warn_count (
      trace->builder,
      trace->unknown,
      "%" PRIu64 " address belongs to no method in the trace",
      "%" PRIu64 " addresses belong to no method in the trace");
  flam_builder_warn_count (trace->builder,
                           trace->bad,
                           "%" PRIu64 " damaged block was left out in part",
                           "%" PRIu64 " damaged blocks were left out in part");
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  const FlamSource *source = load->source;
  Trace trace = {
    .load = load,
    .builder = load->builder,
    .at = source->data + MIN (source->size, (gsize)HEADER),
    .end = source->data + source->size,
    .pid = -1,
    .kinds = flam_arena_table (load, FLAM_KEY_DIRECT, NULL),
    .by_id = flam_arena_table (load, FLAM_KEY_DIRECT, NULL),
    .frames = flam_arena_table (load, FLAM_KEY_NUMBER, NULL),
    .stacks = flam_arena_array (load, Stack),
    .addresses = flam_arena_array (load, guint64),
    .samples = flam_arena_array (load, Sample),
    .methods = flam_arena_keep (load, flam_ranges_new (), flam_ranges_free),
  };

  flam_builder_set_has_times (load->builder);
  flam_builder_set_origin (load->builder, 0);
  return check_version (&trace, error) && read_objects (&trace, error) &&
         finish (&trace, error);
}

const FlamImporter flam_import_nettrace = {
  .id = "nettrace",
  .label = N_ (".NET trace (EventPipe)"),
  .written_by = "dotnet-trace collect",
  .suffixes = FLAM_LIST (".nettrace"),
  .mime = { .type = "application/x-nettrace",
            .name = ".NET trace",
            .globs = FLAM_LIST ("*.nettrace") },
  .signs = FLAM_SIGNS ({ FLAM_MAGIC (MAGIC), .least = HEADER, .score = 100 }),
  .load = load,
};
