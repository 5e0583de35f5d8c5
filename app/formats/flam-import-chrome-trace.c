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
 * Spans of a thread nest; what a span lasts beyond those in it becomes samples
 * with the spans as their stack:
 *
 *    main   |-----------------------|      samples   main        0..4
 *    parse      |--------|                           main;parse  4..13
 *                                                    main        13..24
 *
 * Where the trace holds V8's CPU profiles, those are what is shown: spans of
 * the same time would count it twice. */

#include "flam-formats.h"

#include "flam-v8-profile.h"

#include <string.h>

typedef struct
{
  gint64 start, end; /* ns */
  FlamId thread;
  FlamId frame;
  guint32 number; /* order in the file */
} Span;

/* One event's members, whatever their order was. */
typedef struct
{
  char phase;
  FlamId name;
  gint64 pid, tid;
  FlamId tid_name;       /* a tid that is a text */
  gint64 time, duration; /* ns */
  FlamId id;
  FlamJsonText args;
} Event;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  const FlamProgress *progress;
  GError *cancelled;
  GArray *spans;
  GHashTable *begun;    /* thread + 1 -> GArray of Span: B without E yet */
  GHashTable *profiles; /* pid and id as text -> FlamV8Profile */
  GHashTable *named;    /* processes that have a name */
  guint64 events;
  guint64 others;
  guint64 bad;
} Trace;

/* --- CPU profiles -------------------------------------------------------- */

static FlamId
find_thread (Trace *trace, const Event *event)
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
  return thread;
}

static FlamV8Profile *
find_profile (Trace *trace, const Event *event)
{
  g_autofree char *key =
      g_strdup_printf ("%" G_GINT64_FORMAT ":%u", event->pid, event->id);
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

/* "Profile" has the start, "ProfileChunk" a piece, "CpuProfile" (older) all. */
static void
read_profile_event (Trace *trace, const Event *event)
{
  FlamV8Profile *profile = find_profile (trace, event);
  g_auto (FlamJson) json = { 0 };
  guint depth = flam_json_open (&json, event->args.text, event->args.length);
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
      }
}

/* --- spans --------------------------------------------------------------- */

static FlamId
frame_of (Trace *trace, FlamId name)
{
  return flam_builder_frame (
      trace->builder,
      flam_builder_function_named (trace->builder, name, FLAM_KIND_NATIVE),
      0,
      0,
      0);
}

static void
add_span (Trace *trace, FlamId thread, FlamId frame, gint64 start, gint64 end)
{
  Span span = { start, end, thread, frame, trace->spans->len };

  if (end < start)
    {
      trace->bad++;
      return;
    }
  g_array_append_val (trace->spans, span);
}

static void
begin_span (Trace *trace, const Event *event)
{
  FlamId thread = find_thread (trace, event);
  gpointer key = GSIZE_TO_POINTER ((gsize)thread + 1);
  GArray *open = g_hash_table_lookup (trace->begun, key);
  Span span = { .start = event->time, .thread = thread };

  if (open == NULL)
    {
      open = g_array_new (FALSE, FALSE, sizeof (Span));
      g_hash_table_insert (trace->begun, key, open);
    }
  span.frame = frame_of (trace, event->name);
  g_array_append_val (open, span);
}

static void
end_span (Trace *trace, const Event *event)
{
  FlamId thread = find_thread (trace, event);
  GArray *open =
      g_hash_table_lookup (trace->begun, GSIZE_TO_POINTER ((gsize)thread + 1));
  const Span *span;

  if (open == NULL || open->len == 0)
    {
      trace->bad++;
      return;
    }
  span = &g_array_index (open, Span, open->len - 1);
  add_span (trace, thread, span->frame, span->start, event->time);
  g_array_set_size (open, open->len - 1);
}

static int
compare_spans (gconstpointer a, gconstpointer b)
{
  const Span *x = a;
  const Span *y = b;

  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  if (x->end != y->end)
    return x->end > y->end ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

typedef struct
{
  gint64 end;
  FlamId stack;
} Open;

static void
add_piece (Trace *trace, FlamId thread, FlamId stack, gint64 from, gint64 to)
{
  FlamSample sample = { .thread = thread, .stack = stack, .time = from };
  gint64 weight = to - from;

  if (weight > 0)
    flam_builder_add_sample (trace->builder, &sample, &weight);
}

/* Closes what ends by `until`; the time before it belongs to the innermost. */
static gint64
close_spans (
    Trace *trace, FlamId thread, GArray *open, gint64 now, gint64 until)
{
  while (open->len > 0)
    {
      const Open *top = &g_array_index (open, Open, open->len - 1);
      gint64 to = MIN (top->end, until);
      add_piece (trace, thread, top->stack, now, to);
      now = MAX (now, to);
      if (top->end > until)
        return now;
      g_array_set_size (open, open->len - 1);
    }
  return until;
}

/* Spans in order of their start; one that outlasts the span around it is cut
 * there. */
static void
add_spans (Trace *trace)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (Open));
  FlamId thread = FLAM_NONE;
  gint64 now = 0;

  g_array_sort (trace->spans, compare_spans);
  for (guint i = 0; i < trace->spans->len; i++)
    {
      const Span *span = &g_array_index (trace->spans, Span, i);
      const Open *around;
      Open next = { span->end, FLAM_NONE };

      if (span->thread != thread)
        {
          close_spans (trace, thread, open, now, G_MAXINT64);
          thread = span->thread;
        }
      now = close_spans (trace, thread, open, now, span->start);
      around =
          open->len > 0 ? &g_array_index (open, Open, open->len - 1) : NULL;
      if (around != NULL)
        next.end = MIN (next.end, around->end);
      next.stack =
          flam_builder_stack (trace->builder,
                              around != NULL ? around->stack : FLAM_NONE,
                              span->frame);
      g_array_append_val (open, next);
      now = span->start;
    }
  close_spans (trace, thread, open, now, G_MAXINT64);
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
  gint64 end;

  trace->events++;
  switch (event->phase)
    {
    case 'X':
      if (event->duration <= 0 ||
          __builtin_add_overflow (event->time, event->duration, &end))
        break;
      add_span (trace,
                find_thread (trace, event),
                frame_of (trace, event->name),
                event->time,
                end);
      return;
    case 'B':
      begin_span (trace, event);
      return;
    case 'E':
      end_span (trace, event);
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
  gsize length;
  const char *text = flam_json_get_string (json, &length);

  return flam_builder_string (trace->builder, text, length);
}

static void
read_event (Trace *trace, FlamJson *json)
{
  guint depth = flam_json_enter (json);
  Event event = { .pid = -1, .tid = -1 };

  if (json->token != FLAM_JSON_OBJECT)
    return;
  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "ph"))
      event.phase = *flam_json_get_string (json, NULL);
    else if (flam_json_key_is (json, "name"))
      event.name = intern_value (trace, json);
    else if (flam_json_key_is (json, "ts"))
      event.time = flam_json_get_scaled (json, 1000);
    else if (flam_json_key_is (json, "dur"))
      event.duration = flam_json_get_scaled (json, 1000);
    else if (flam_json_key_is (json, "pid"))
      event.pid = flam_json_get_int (json);
    else if (flam_json_key_is (json, "tid") && json->token == FLAM_JSON_STRING)
      event.tid_name = intern_value (trace, json);
    else if (flam_json_key_is (json, "tid"))
      event.tid = flam_json_get_int (json);
    else if (flam_json_key_is (json, "id"))
      event.id = intern_value (trace, json);
    else if (flam_json_key_is (json, "args"))
      event.args = flam_json_take (json);
  if (json->token != FLAM_JSON_ERROR)
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

static void
read_document (Trace *trace, FlamJson *json)
{
  guint depth = flam_json_open (json, trace->source->data, trace->source->size);

  if (json->token == FLAM_JSON_ARRAY)
    read_events (trace, json);
  else
    while (flam_json_member (json, depth))
      if (flam_json_key_is (json, "traceEvents"))
        read_events (trace, json);
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
add_samples (Trace *trace)
{
  GHashTableIter iter;
  gpointer profile;

  if (!has_samples (trace))
    {
      add_spans (trace);
      return;
    }
  g_hash_table_iter_init (&iter, trace->profiles);
  while (g_hash_table_iter_next (&iter, NULL, &profile))
    {
      flam_v8_profile_link (profile);
      trace->bad += flam_v8_profile_add_samples (profile);
    }
  if (trace->spans->len > 0)
    flam_builder_warn (trace->builder,
                       "the trace holds CPU profiles: they are shown, and not "
                       "its %u spans",
                       trace->spans->len);
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
  if (trace->others > 0)
    flam_builder_warn (trace->builder,
                       "%" G_GUINT64_FORMAT
                       " events of kinds that are not shown (counters, "
                       "flows, asynchronous ones, spans without a duration)",
                       trace->others);
  if (trace->bad > 0)
    flam_builder_warn (trace->builder,
                       "%" G_GUINT64_FORMAT
                       " events make no sense where they stand",
                       trace->bad);
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
    .spans = g_array_new (FALSE, FALSE, sizeof (Span)),
  };
  g_auto (FlamJson) json = { 0 };
  gboolean ok;

  trace.begun =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
  trace.profiles = g_hash_table_new_full (
      g_str_hash, g_str_equal, g_free, (GDestroyNotify)flam_v8_profile_free);
  flam_builder_add_column (builder);
  flam_builder_add_measure (builder,
                            "wall-time",
                            "Wall time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
  flam_builder_set_has_times (builder);
  read_document (&trace, &json);
  ok = check_end (&trace, &json, error);
  if (ok)
    {
      add_samples (&trace);
      say_what_is_missing (&trace);
    }
  g_array_unref (trace.spans);
  g_hash_table_unref (trace.begun);
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

static const char *const suffixes[] = {
  ".trace", ".trace.json", ".json", NULL
};
static const char *const mime_types[] = { "application/json", NULL };

const FlamImporter flam_import_chrome_trace = {
  .id = "chrome-trace",
  .label = "Chrome trace events",
  .suffixes = suffixes,
  .mime_types = mime_types,
  .probe = probe,
  .load = load,
};
