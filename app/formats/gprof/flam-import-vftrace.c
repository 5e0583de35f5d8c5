/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The output of Vftrace for a program built with -finstrument-functions: a file
 * per process (an MPI rank), little-endian, without padding.
 *
 *    i32 version (3)   i32 length, its text with a 0: "Vftrace 2.0.0"
 *    i32 length, and twice as much: the dates of begin and end
 *    i64 interval, ns   i32 processes   i32 this one   i32 threads
 *    f64 runtime, s   u32 calls and returns   u32 messages   u32 stacks
 *    u32 hardware counters   u32 formulas of them
 *    i64 where in the file these are: events, stacks, threads, counters
 *
 *    event 0 call, 1 return   i32 stack   i64 time, ns   i64 a counter each
 *    event 2 message          i32 0 sent, 1 received; i32 other rank, type,
 *                             count, size of one, tag; i64 begin, end, ns;
 *                             i32 stack, thread
 *    stack    i32 caller's stack, -1 for none   i32 length   function with a 0,
 *             and "*" before it where each of its calls is recorded
 *    counter  i32 length   name   i32 length   symbol
 *
 * Not every call is recorded: after a recorded one, those of the next
 * `interval` are not. So the stack that an event leaves has existed since then:
 *
 *    recorded return of a          return of c      at the caller of a until
 *                 |··interval·|---------|           some time within the
 *    stack     a  |  ?     ?  |    c    |           interval, and then in c
 *
 * The time between two events is attributed to the stack that the second one
 * leaves, with an error of at most one interval. Source of facts: Vftrace
 * 2.0.0, src/vfdfiles.c and src/sampling.c. */

#include "flam-formats.h"

#include "flam-bytes.h"

#include <math.h>
#include <string.h>

#define VERSION 3
#define COUNTERS_MAX 15 /* and the time: as many as exporters support */
#define MESSAGE 48      /* bytes after its kind */

typedef enum
{
  CALL,
  RETURN,
  SENT_OR_RECEIVED,
} Event;

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  const guint8 *at, *end;

  gint32 rank, n_ranks, n_threads;
  gint64 runtime; /* ns */
  gint64 interval;
  guint32 n_events, n_messages, n_stacks, n_counters;
  guint64 events, stacks, counters; /* offsets */

  FlamId *caller; /* a stack of the file: its caller's, FLAM_NONE for none */
  FlamId *made;   /* a stack of the file: the builder's */
  FlamThreadId thread; /* the builder's */
  gint64 *counts;      /* a counter: at the last event */
  gint64 *weights;     /* of a sample: ns, and the counters' */
  gint64 last;         /* ns: of the last event */
  FlamId now;          /* the stack of the file after it */
} Trace;

static guint
probe (const FlamSource *source)
{
  return source->size > 16 && flam_bytes_get (source->data, 4) <= 0xff &&
                 memcmp (source->data + 8, "Vftrace ", 8) == 0
             ? 95
             : 0;
}

static gboolean
ends_here (const Trace *trace, GError **error)
{
  return flam_source_error (trace->load->source,
                            error,
                            FLAM_ERROR_TRUNCATED,
                            trace->at - trace->load->source->data,
                            N_ ("the file ends here"));
}

static gboolean
makes_no_sense (const Trace *trace, GError **error)
{
  return flam_source_error (trace->load->source,
                            error,
                            FLAM_ERROR_INVALID,
                            trace->at - trace->load->source->data,
                            N_ ("the header of the Vftrace log is damaged"));
}

/* --- numbers and texts ---------------------------------------------------- */

static gboolean
has (const Trace *trace, guint64 n)
{
  return (guint64)(trace->end - trace->at) >= n;
}

static guint64
take (Trace *trace, guint size)
{
  guint64 value = flam_bytes_get (trace->at, size);

  trace->at += size;
  return value;
}

static gint32
take_int (Trace *trace)
{
  return (gint32)(guint32)take (trace, 4);
}

/* A length and that many bytes with a 0 among them; NULL: fewer are left. */
static const char *
take_text (Trace *trace, gsize *length)
{
  const char *text = (const char *)trace->at + 4;
  gint32 n;

  if (!has (trace, 4))
    return NULL;
  n = take_int (trace);
  if (n < 0 || !has (trace, (guint64)n))
    return NULL;
  trace->at += n;
  *length = strnlen (text, (gsize)n);
  return text;
}

static gboolean
go_to (Trace *trace, guint64 offset)
{
  if (offset > trace->load->source->size)
    return FALSE;
  trace->at = trace->load->source->data + offset;
  return TRUE;
}

/* --- the header ----------------------------------------------------------- */

static gint64
nanoseconds (guint64 bits)
{
  double seconds;

  memcpy (&seconds, &bits, sizeof seconds);
  return isfinite (seconds) && seconds > 0 && seconds < 9e9
             ? (gint64)(seconds * 1e9)
             : 0;
}

static gboolean
read_header (Trace *trace, GError **error)
{
  gint32 version, length;
  gsize n;

  if (!has (trace, 4))
    return ends_here (trace, error);
  version = take_int (trace);
  if (version != VERSION)
    return flam_source_error (
        trace->load->source,
        error,
        FLAM_ERROR_UNSUPPORTED,
        0,
        N_ ("this is version %d of Vftrace's log, and only version 3 is "
            "supported; print it with the vftrace_vfd_dump of the Vftrace that "
            "wrote it"),
        version);
  if (take_text (trace, &n) == NULL || !has (trace, 4))
    return ends_here (trace, error);
  length = take_int (trace);
  if (length < 0 || !has (trace, 2 * (guint64)length + 80))
    return ends_here (trace, error);
  trace->at += 2 * (gsize)length;
  trace->interval = (gint64)take (trace, 8);
  trace->n_ranks = take_int (trace);
  trace->rank = take_int (trace);
  trace->n_threads = take_int (trace);
  trace->runtime = nanoseconds (take (trace, 8));
  trace->n_events = (guint32)take (trace, 4);
  trace->n_messages = (guint32)take (trace, 4);
  trace->n_stacks = (guint32)take (trace, 4);
  trace->n_counters = (guint32)take (trace, 4);
  take (trace, 4);
  trace->events = take (trace, 8);
  trace->stacks = take (trace, 8);
  take (trace, 8);
  trace->counters = take (trace, 8);
  if (trace->stacks == 0)
    return flam_source_error (trace->load->source,
                              error,
                              FLAM_ERROR_TRUNCATED,
                              trace->at - trace->load->source->data,
                              N_ ("the program did not end normally: Vftrace "
                                  "writes the names of functions at the end"));
  /* A stack has at least 8 bytes, and so has a counter. */
  if (trace->n_stacks > trace->load->source->size / 8 ||
      trace->n_counters > trace->load->source->size / 8)
    return makes_no_sense (trace, error);
  return TRUE;
}

/* --- stacks --------------------------------------------------------------- */

static FlamStackId
put_stack (Trace *trace, FlamStackId prefix, const char *name, gsize length)
{
  FlamBuilder *builder = trace->builder;
  return flam_builder_stack (
      builder,
      prefix,
      flam_load_frame (builder, name, (gssize)length, FLAM_KIND_NATIVE));
}

static gboolean
read_stacks (Trace *trace, GError **error)
{
  if (!go_to (trace, trace->stacks))
    return ends_here (trace, error);
  trace->caller = flam_arena_vector (trace->load, FlamId, trace->n_stacks + 1);
  trace->made = flam_arena_vector (trace->load, FlamId, trace->n_stacks + 1);
  for (FlamId i = 0; i < trace->n_stacks; i++)
    {
      const guint8 *at = trace->at;
      gint32 caller = has (trace, 4) ? take_int (trace) : -1;
      gsize length;
      const char *name = take_text (trace, &length);

      if (name == NULL)
        return ends_here (trace, error);
      if (caller < -1 || (caller >= 0 && (FlamId)caller >= i))
        return flam_source_error (trace->load->source,
                                  error,
                                  FLAM_ERROR_INVALID,
                                  at - trace->load->source->data,
                                  N_ ("a stack's caller comes after it"));
      if (length > 0 && name[length - 1] == '*')
        length--;
      trace->caller[i] = caller < 0 ? FLAM_NONE : (FlamId)caller;
      trace->made[i] = put_stack (
          trace, caller < 0 ? FLAM_NONE : trace->made[caller], name, length);
    }
  return TRUE;
}

/* --- measures ------------------------------------------------------------- */

static void
add_measures (Trace *trace, guint n, char **names)
{
  FlamBuilder *builder = trace->builder;

  flam_builder_set_spans (
      builder,
      flam_builder_add_standard_measure (builder,
                                         FLAM_STANDARD_WALL_TIME,
                                         (int)flam_builder_add_column (builder),
                                         FLAM_NONE),
      FLAM_SPANS_CALLS);
  for (guint i = 0; i < n; i++)
    flam_builder_add_event_measure (builder,
                                    names[i],
                                    FLAM_UNIT_COUNT,
                                    (int)flam_builder_add_column (builder),
                                    FLAM_NONE);
}

static gboolean
read_counters (Trace *trace, GError **error)
{
  guint n = MIN (trace->n_counters, COUNTERS_MAX);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  gsize length;

  if (n > 0 && !go_to (trace, trace->counters))
    return ends_here (trace, error);
  for (guint i = 0; i < n; i++)
    {
      const char *name = take_text (trace, &length);

      if (name != NULL)
        g_ptr_array_add (names, g_strndup (name, length));
      if (name == NULL || take_text (trace, &length) == NULL)
        return ends_here (trace, error);
    }
  if (n < trace->n_counters)
    flam_builder_warn (
        trace->builder,
        N_ ("of %u hardware counters, only the first %u are shown"),
        trace->n_counters,
        n);
  add_measures (trace, n, (char **)names->pdata);
  trace->counts = flam_arena_vector (trace->load, gint64, n + 1);
  trace->weights = flam_arena_vector (trace->load, gint64, n + 1);
  return TRUE;
}

/* --- events --------------------------------------------------------------- */

static void
put_span (Trace *trace, FlamStackId stack, gint64 end)
{
  FlamSample sample = { .thread = trace->thread,
                        .time = trace->last,
                        .stack = stack };

  trace->weights[0] = end - trace->last;
  if (end > trace->last && stack != FLAM_NONE)
    {
      sample.stack = trace->made[stack];
      flam_builder_add_sample (trace->builder, &sample, trace->weights);
    }
}

static gboolean
read_call (Trace *trace, Event event, GError **error)
{
  const guint8 *at = trace->at;
  guint n = MIN (trace->n_counters, COUNTERS_MAX);
  guint32 stack;
  gint64 time;

  if (!has (trace, 12 + 8 * (guint64)trace->n_counters))
    return ends_here (trace, error);
  stack = (guint32)take (trace, 4);
  time = (gint64)take (trace, 8);
  time = MAX (time, trace->last);
  if (stack >= trace->n_stacks)
    return flam_source_error (trace->load->source,
                              error,
                              FLAM_ERROR_INVALID,
                              at - trace->load->source->data,
                              N_ ("there is no stack %u in this file"),
                              stack);
  for (guint i = 0; i < n; i++)
    {
      gint64 count = (gint64)flam_bytes_get (trace->at + 8 * i, 8);

      trace->weights[1 + i] = count > trace->counts[i] && trace->counts[i] >= 0
                                  ? count - trace->counts[i]
                                  : 0;
      trace->counts[i] = count;
    }
  trace->at += 8 * (gsize)trace->n_counters;
  put_span (trace, event == CALL ? trace->caller[stack] : stack, time);
  trace->now = event == CALL ? stack : trace->caller[stack];
  trace->last = time;
  return TRUE;
}

static gboolean
read_message (Trace *trace, GError **error)
{
  g_autofree char *name = NULL;
  gint32 received, other, count, size, tag;
  gint64 begin, end;

  if (!has (trace, MESSAGE))
    return ends_here (trace, error);
  received = take_int (trace);
  other = take_int (trace);
  take_int (trace);
  count = take_int (trace);
  size = take_int (trace);
  tag = take_int (trace);
  begin = (gint64)take (trace, 8);
  end = (gint64)take (trace, 8);
  trace->at += 8;
  begin = MAX (begin, 0);
  end = MAX (begin, end);
  name = g_strdup_printf ("%s %d, tag %d: %d x %d B",
                          received ? "from rank" : "to rank",
                          other,
                          tag,
                          count,
                          size);
  flam_builder_add_mark (
      trace->builder, begin, end - begin, trace->thread, name);
  return TRUE;
}

static gboolean
read_events (Trace *trace, GError **error)
{
  guint64 n = (guint64)trace->n_events + trace->n_messages;

  if (!go_to (trace, trace->events))
    return ends_here (trace, error);
  trace->now = FLAM_NONE;
  for (guint64 i = 0; i < n; i++)
    {
      const guint8 *at = trace->at;
      guint32 event = has (trace, 4) ? (guint32)take (trace, 4) : G_MAXUINT32;

      if (i % (1 << 16) == 0 && !flam_load_step (trace->load, at, error))
        return FALSE;
      if (event > SENT_OR_RECEIVED)
        {
          trace->at = at;
          return has (trace, 4) ? flam_source_error (
                                      trace->load->source,
                                      error,
                                      FLAM_ERROR_INVALID,
                                      (gsize)(at - trace->load->source->data),
                                      N_ ("events of type %u are unknown"),
                                      event)
                                : ends_here (trace, error);
        }
      if (event == SENT_OR_RECEIVED ? !read_message (trace, error)
                                    : !read_call (trace, event, error))
        return FALSE;
    }
  memset (trace->weights,
          0,
          (MIN (trace->n_counters, COUNTERS_MAX) + 1) * sizeof (gint64));
  put_span (trace, trace->now, trace->runtime);
  return TRUE;
}

/* --- the importer --------------------------------------------------------- */

static void
put_thread (Trace *trace)
{
  gboolean many = trace->n_ranks > 1;
  FlamProcessId process =
      flam_builder_process (trace->builder, many ? trace->rank : -1, 0);
  g_autofree char *name = g_strdup_printf ("rank %d", trace->rank);

  if (many)
    flam_builder_set_process_name (trace->builder, process, name);
  trace->thread = flam_builder_thread (trace->builder, process, -1, 0);
}

static void
warn (const Trace *trace)
{
  char interval[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (
      interval, sizeof interval, "%g", (double)trace->interval / 1e6);
  if (trace->interval > 0)
    flam_builder_warn (
        trace->builder,
        N_ ("Vftrace recorded a call or a return at most every %s ms: times "
            "may be wrong by as much, and calls cannot be counted"),
        interval);
  if (trace->n_threads > 1)
    flam_builder_warn (trace->builder,
                       N_ ("Vftrace does not record which of the %d threads "
                           "made a call: they are shown as one"),
                       trace->n_threads);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Trace trace = { .load = load,
                  .builder = load->builder,
                  .at = load->source->data,
                  .end = load->source->data + load->source->size };

  if (!read_header (&trace, error) || !read_stacks (&trace, error) ||
      !read_counters (&trace, error))
    return FALSE;
  flam_builder_set_has_times (load->builder);
  put_thread (&trace);
  warn (&trace);
  return read_events (&trace, error);
}

const FlamImporter flam_import_vftrace = {
  .id = "vftrace",
  .label = N_ ("Vftrace log"),
  .written_by = "programs linked with Vftrace",
  .suffixes = FLAM_LIST (".vfd"),
  .mime = { .type = "application/x-vftrace",
            .name = "Vftrace log",
            .globs = FLAM_LIST ("*.vfd"),
            .magics = FLAM_MAGICS (FLAM_BYTES (8, "Vftrace ")) },
  .probe = probe,
  .load = load,
};
