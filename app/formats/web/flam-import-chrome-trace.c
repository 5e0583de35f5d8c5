/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Chrome's trace events ("Trace Event Format", Nat Duca and Dan Sinclair), as
 * browsers, node, Android and many build tools write them:
 *
 *    {"traceEvents":[        or the array alone, whose end may be missing
 *      {"ph":"X","pid":1,"tid":2,"ts":µs,"dur":µs,"name":"parse",…},
 *      {"ph":"B",…"ts":µs,"name":"read"}, {"ph":"E",…"ts":µs},
 *      {"ph":"M",…"name":"thread_name","args":{"name":"worker"}},
 *      {"ph":"I",…"name":"a moment"},
 *      {"ph":"P","name":"ProfileChunk","id":"0x1","args":{"data":{
 *         "cpuProfile":{"nodes":[{"id":1,"parent":…,"callFrame":{…}}],
 *                       "samples":[1,…]},
 *         "timeDeltas":[µs,…]}}}]}
 *
 * Spans become samples (flam-trace-spans.h); "samples" and "stackFrames" beside
 * the events are samples already (flam-trace-samples.h).
 * Where the trace holds V8's CPU profiles, those are what is shown: spans of
 * the same time would count it twice. */

#include "flam-formats.h"

#include "flam-text.h"
#include "flam-trace-samples.h"
#include "flam-trace-spans.h"
#include "flam-v8-profile.h"

#include <string.h>

/* Times beyond this, 73 years in ns, are no times: sums of them never overflow.
 */
#define MAX_TIME (G_MAXINT64 / 4)

/* One event's members, whatever their order was. */
typedef struct
{
  char phase;
  FlamId name;
  gint64 pid, tid;
  FlamId tid_name; /* a tid that is a text */
  gint64 time;     /* ns */
  gint64 duration; /* ns, or -1 */
  FlamId id;
  FlamJsonText args;
} Event;

/* Each event names its thread: those that a number tells are found without the
 * builder's tables. */
typedef struct
{
  gint64 pid, tid;
  FlamId thread;
} KnownThread;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  const FlamProgress *progress;
  GError *cancelled;
  FlamTraceSpans spans;
  FlamTraceSamples samples;
  FlamColumn threads; /* KnownThread */
  FlamInterner thread_index;
  GHashTable *profiles; /* pid and id as text -> FlamV8Profile */
  guint64 events;
  guint64 others;
} Trace;

/* --- threads ------------------------------------------------------------- */

static FlamId
make_thread (Trace *trace, const Event *event)
{
  FlamId process = flam_builder_process (
      trace->builder, CLAMP (event->pid, -1, G_MAXINT32), 0);
  FlamId thread = flam_builder_thread (trace->builder,
                                       process,
                                       CLAMP (event->tid, -1, G_MAXINT32),
                                       event->tid_name);

  if (event->tid_name != 0)
    {
      g_autofree char *name =
          g_strdup (flam_builder_get_string (trace->builder, event->tid_name));
      flam_builder_set_thread_name (trace->builder, thread, name);
    }
  else
    flam_trace_samples_see_thread (&trace->samples, event->tid, thread);
  return thread;
}

static gboolean
thread_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const KnownThread *known = (const KnownThread *)table + row;
  const Event *event = key;

  return known->pid == event->pid && known->tid == event->tid;
}

static FlamId
find_thread (Trace *trace, const Event *event)
{
  guint32 hash = flam_hash_pair ((guint64)event->pid, (guint64)event->tid);
  KnownThread known = { event->pid, event->tid, FLAM_NONE };
  FlamSlot *slot;

  if (event->tid_name != 0)
    return make_thread (trace, event);
  slot = flam_interner_find (
      &trace->thread_index, hash, thread_equal, trace->threads.data, event);
  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, trace->threads.n };
      trace->thread_index.used++;
      known.thread = make_thread (trace, event);
      flam_column_append (&trace->threads, KnownThread, known);
    }
  return flam_column_at (&trace->threads, KnownThread, slot->id).thread;
}

/* --- CPU profiles -------------------------------------------------------- */

/* Pieces that other threads write are told together by their id; a profile in
 * one piece has none and is its own thread's. */
static FlamV8Profile *
find_profile (Trace *trace, const Event *event)
{
  g_autofree char *key =
      event->id != 0
          ? g_strdup_printf ("%" G_GINT64_FORMAT ":%u", event->pid, event->id)
          : g_strdup_printf ("thread %u", find_thread (trace, event));
  FlamV8Profile *profile = g_hash_table_lookup (trace->profiles, key);

  if (profile == NULL)
    {
      profile =
          flam_v8_profile_new (trace->builder, find_thread (trace, event));
      profile->start = event->time / 1000;
      g_hash_table_insert (trace->profiles, g_steal_pointer (&key), profile);
    }
  return profile;
}

/* The lines of a piece are those of its samples. */
static void
read_lines (FlamV8Profile *profile, FlamJsonText text, guint first)
{
  g_auto (FlamJson) json = { 0 };

  flam_json_open (&json, text.text, text.length);
  g_array_set_size (profile->lines, first);
  flam_json_get_ints (&json, profile->lines);
}

/* "Profile" has the start, "ProfileChunk" a piece, "CpuProfile" (older) all. */
static void
read_profile_event (Trace *trace, const Event *event)
{
  FlamV8Profile *profile = find_profile (trace, event);
  g_auto (FlamJson) json = { 0 };
  guint depth = flam_json_open (&json, event->args.text, event->args.length);
  guint first = profile->samples->len;
  FlamJsonText lines = { .text = "" };
  guint inner;

  while (flam_json_member (&json, depth))
    if (flam_json_key_is (&json, "data"))
      {
        inner = flam_json_enter (&json);
        while (flam_json_member (&json, inner))
          if (flam_json_key_is (&json, "startTime"))
            profile->start = flam_json_get_int (&json);
          else if (flam_json_key_is (&json, "cpuProfile"))
            flam_v8_profile_read (profile, &json);
          else if (flam_json_key_is (&json, "timeDeltas"))
            flam_json_get_ints (&json, profile->deltas);
          else if (flam_json_key_is (&json, "lines"))
            lines = flam_json_take (&json);
      }
  read_lines (profile, lines, first);
}

/* --- events -------------------------------------------------------------- */

static void
set_name (Trace *trace, const Event *event, gboolean of_process)
{
  g_auto (FlamJson) json = { 0 };
  guint depth = flam_json_open (&json, event->args.text, event->args.length);

  while (flam_json_member (&json, depth))
    if (!flam_json_key_is (&json, "name"))
      continue;
    else if (of_process)
      flam_builder_set_process_name (
          trace->builder,
          flam_builder_process (
              trace->builder, CLAMP (event->pid, -1, G_MAXINT32), 0),
          flam_json_get_string (&json, NULL));
    else
      flam_builder_set_thread_name (trace->builder,
                                    find_thread (trace, event),
                                    flam_json_get_string (&json, NULL));
}

static void
use_event (Trace *trace, const Event *event)
{
  const char *name = flam_builder_get_string (trace->builder, event->name);

  trace->events++;
  switch (event->phase)
    {
    case 'X':
      if (event->duration == 0)
        break;
      flam_trace_spans_add (&trace->spans,
                            find_thread (trace, event),
                            event->name,
                            event->time,
                            event->duration > 0 ? event->time + event->duration
                                                : G_MAXINT64);
      return;
    case 'B':
      flam_trace_spans_begin (
          &trace->spans, find_thread (trace, event), event->name, event->time);
      return;
    case 'E':
      flam_trace_spans_end (
          &trace->spans, find_thread (trace, event), event->name, event->time);
      return;
    case 'M':
      if (strcmp (name, "thread_name") == 0)
        set_name (trace, event, FALSE);
      else if (strcmp (name, "process_name") == 0)
        set_name (trace, event, TRUE);
      return;
    case 'P':
    case 'I':
    case 'i':
      if (strcmp (name, "Profile") == 0 || strcmp (name, "ProfileChunk") == 0 ||
          strcmp (name, "CpuProfile") == 0)
        read_profile_event (trace, event);
      else if (event->phase != 'P')
        {
          g_autofree char *text = g_strdup (name);
          flam_builder_add_mark (
              trace->builder, event->time, 0, find_thread (trace, event), text);
        }
      return;
    default:
      break;
    }
  trace->others++;
}

static FlamId
intern_value (Trace *trace, FlamJson *json)
{
  if (json->token == FLAM_JSON_NUMBER)
    return flam_builder_string (
        trace->builder, json->string.text, json->string.length);
  return flam_json_intern (json, trace->builder);
}

/* A text of digits is a number as well: Hermes'. */
static void
read_tid (Trace *trace, FlamJson *json, Event *event)
{
  gsize length;
  const char *p = flam_json_get_string (json, &length);
  const char *end = p + length;

  if (json->token != FLAM_JSON_STRING)
    event->tid = flam_json_get_int (json);
  else if (!flam_text_number (&p, end, &event->tid) || p != end)
    {
      event->tid = -1;
      event->tid_name = intern_value (trace, json);
    }
}

static char
first_char (FlamJson *json)
{
  gsize length;
  const char *text = flam_json_get_bytes (json, &length);

  return length > 0 ? *text : '\0';
}

static void
read_event (Trace *trace, FlamJson *json)
{
  guint depth = flam_json_enter (json);
  Event event = { .pid = -1, .tid = -1, .duration = -1 };
  gboolean timed = FALSE;

  if (json->token != FLAM_JSON_OBJECT)
    return;
  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "ph"))
      event.phase = first_char (json);
    else if (flam_json_key_is (json, "name"))
      event.name = intern_value (trace, json);
    else if (flam_json_key_is (json, "ts"))
      {
        event.time =
            CLAMP (flam_json_get_scaled (json, 1000), -MAX_TIME, MAX_TIME);
        timed = TRUE;
      }
    else if (flam_json_key_is (json, "dur"))
      event.duration = CLAMP (flam_json_get_scaled (json, 1000), 0, MAX_TIME);
    else if (flam_json_key_is (json, "pid"))
      event.pid = flam_json_get_int (json);
    else if (flam_json_key_is (json, "tid"))
      read_tid (trace, json, &event);
    else if (flam_json_key_is (json, "id"))
      event.id = intern_value (trace, json);
    else if (flam_json_key_is (json, "args"))
      event.args = flam_json_take (json);
  if (json->token == FLAM_JSON_ERROR)
    return;
  if (timed && event.phase != 'M')
    flam_trace_spans_see (&trace->spans, event.time);
  use_event (trace, &event);
}

static void
read_events (Trace *trace, FlamJson *json)
{
  guint depth = flam_json_enter (json);

  while (flam_json_element (json, depth))
    {
      read_event (trace, json);
      flam_json_step (json, trace->progress, &trace->cancelled);
    }
}

/* What the document holds beside its events. */
typedef struct
{
  FlamJsonText frames;
  FlamJsonText samples;
} Sampling;

static void
read_document (Trace *trace, FlamJson *json, Sampling *sampling)
{
  guint depth = flam_json_open (json, trace->source->data, trace->source->size);

  if (json->token == FLAM_JSON_ARRAY)
    read_events (trace, json);
  else
    while (flam_json_member (json, depth))
      if (flam_json_key_is (json, "traceEvents"))
        read_events (trace, json);
      else if (flam_json_key_is (json, "stackFrames"))
        sampling->frames = flam_json_take (json);
      else if (flam_json_key_is (json, "samples"))
        sampling->samples = flam_json_take (json);
}

/* --- the whole ----------------------------------------------------------- */

static gboolean
has_samples (const Trace *trace)
{
  GHashTableIter iter;
  gpointer profile;

  g_hash_table_iter_init (&iter, trace->profiles);
  while (g_hash_table_iter_next (&iter, NULL, &profile))
    if (((FlamV8Profile *)profile)->samples->len > 0)
      return TRUE;
  return FALSE;
}

static void
add_profiles (Trace *trace)
{
  GHashTableIter iter;
  gpointer profile;

  g_hash_table_iter_init (&iter, trace->profiles);
  while (g_hash_table_iter_next (&iter, NULL, &profile))
    {
      flam_v8_profile_link (profile);
      trace->spans.bad += flam_v8_profile_add_samples (profile);
    }
}

static guint
add_wall_time (Trace *trace)
{
  return flam_builder_add_standard_measure (
      trace->builder, FLAM_STANDARD_WALL_TIME, 0, 0);
}

static void
add_samples (Trace *trace, const Sampling *sampling)
{
  gboolean has_profiles = has_samples (trace);
  guint n_spans = flam_trace_spans_close (&trace->spans);
  gboolean timed = has_profiles || n_spans > 0;
  guint wall = timed ? add_wall_time (trace) : 0;

  if (n_spans > 0 && !has_profiles)
    flam_builder_set_spans (trace->builder, wall);
  flam_trace_samples_read (
      &trace->samples, sampling->frames, sampling->samples);
  if (!timed && trace->samples.n_events == 1) /* it has no samples either */
    add_wall_time (trace);
  if (has_profiles)
    add_profiles (trace);
  else
    flam_trace_spans_make_samples (&trace->spans);
  if (has_profiles && n_spans > 0)
    flam_builder_warn (trace->builder,
                       N_ ("the trace holds CPU profiles: they are shown, and "
                           "not its %u spans"),
                       n_spans);
  else if (trace->spans.open > 0)
    flam_builder_warn (
        trace->builder,
        FLAM_PLURAL (
            trace->spans.open,
            "%" PRIu64
            " span has no end: it is shown as going on to the end of the trace",
            "%" PRIu64 " spans have no end: they are shown as going on to the "
            "end of the trace"),
        trace->spans.open);
}

/* "The JSON Array Format … the ] at the end is optional": so the end of a
 * text whose last event is whole is no damage. */
static gboolean
ends_between_events (const Trace *trace, const FlamJson *json)
{
  const guint8 *p = json->end;

  while (p > json->start && g_ascii_isspace (p[-1]))
    p--;
  return json->truncated && p > json->start && (p[-1] == '}' || p[-1] == ',') &&
         flam_source_first_char (trace->source) == '[';
}

static gboolean
check_end (Trace *trace, FlamJson *json, GError **error)
{
  if (trace->cancelled != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&trace->cancelled));
      return FALSE;
    }
  return ends_between_events (trace, json) ||
         flam_json_finish_partly (json,
                                  trace->source,
                                  trace->events > 0 ? trace->builder : NULL,
                                  error);
}

static void
say_what_is_missing (Trace *trace)
{
  guint64 bad = trace->spans.bad + trace->samples.bad;

  if (trace->others > 0)
    flam_builder_warn (
        trace->builder,
        FLAM_PLURAL (
            trace->others,
            "%" PRIu64 " event of a kind that is not shown (counters, flows, "
            "asynchronous ones, spans without a duration)",
            "%" PRIu64 " events of kinds that are not shown (counters, flows, "
            "asynchronous ones, spans without a duration)"),
        trace->others);
  if (bad > 0)
    flam_builder_warn (
        trace->builder,
        FLAM_PLURAL (bad,
                     "%" PRIu64 " event makes no sense where it stands",
                     "%" PRIu64 " events make no sense where they stand"),
        bad);
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  Trace trace = {
    .source = source,
    .builder = builder,
    .progress = options->progress,
    .profiles = g_hash_table_new_full (
        g_str_hash, g_str_equal, g_free, (GDestroyNotify)flam_v8_profile_free),
  };
  g_auto (FlamJson) json = { 0 };
  Sampling sampling = { { .text = "" }, { .text = "" } };
  gboolean ok;

  flam_trace_spans_init (&trace.spans, builder);
  flam_trace_samples_init (&trace.samples, builder);
  flam_column_init (&trace.threads, sizeof (KnownThread));
  flam_interner_init (&trace.thread_index);
  flam_builder_add_column (builder);
  flam_builder_set_has_times (builder);
  read_document (&trace, &json, &sampling);
  ok = check_end (&trace, &json, error);
  if (ok)
    {
      flam_source_leave (source);
      add_samples (&trace, &sampling);
      say_what_is_missing (&trace);
    }
  flam_trace_spans_clear (&trace.spans);
  flam_trace_samples_clear (&trace.samples);
  flam_column_clear (&trace.threads);
  flam_interner_clear (&trace.thread_index);
  g_hash_table_unref (trace.profiles);
  return ok;
}

static gboolean
holds (const FlamSource *source, const char *word)
{
  return flam_source_head_has (source, 16384, word);
}

static guint
probe (const FlamSource *source)
{
  char first = flam_source_first_char (source);

  if (first != '{' && first != '[')
    return 0;
  if (first == '{' && holds (source, "\"traceEvents\""))
    return 90;
  return holds (source, "\"ph\"") &&
                 (holds (source, "\"ts\"") || holds (source, "\"pid\""))
             ? 80
             : 0;
}

const FlamImporter flam_import_chrome_trace = {
  .id = "chrome-trace",
  .label = N_ ("Chrome trace events"),
  .suffixes = FLAM_LIST (".trace", ".trace.json", ".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .probe = probe,
  .load = load,
};
