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

#include "flam-columns.h"
#include "flam-json.h"

#include <string.h>

#define PROGRESS_BYTES (1 << 20)

typedef struct
{
  gint64 start, end; /* ns */
  FlamId thread;
  FlamId frame;
  guint32 number; /* order in the file */
} Span;

typedef struct
{
  gint64 id;
  gint64 parent; /* an id; -1 none */
  FlamId frame;  /* FLAM_NONE: the root */
  FlamId stack;
  gboolean idle;
  gboolean seen; /* its stack is made, or being made */
} Node;

/* A CPU profile, put together of its chunks. */
typedef struct
{
  FlamId thread;
  gint64 now;        /* µs */
  GArray *nodes;     /* Node */
  GHashTable *by_id; /* gint64* -> index + 1 */
  GArray *samples;   /* gint64 ids */
  GArray *deltas;    /* gint64 µs */
} Profile;

/* One event's members, whatever their order was. */
typedef struct
{
  char phase;
  FlamId name;
  gint64 pid, tid;
  FlamId tid_name;       /* a tid that is a text */
  gint64 time, duration; /* ns */
  FlamId id;
  const char *args; /* raw */
  gsize args_length;
} Event;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  const FlamProgress *progress;
  const guint8 *next_step;
  GError *cancelled;
  GArray *spans;
  GHashTable *begun;    /* thread + 1 -> GArray of Span: B without E yet */
  GHashTable *profiles; /* pid and id as text -> Profile */
  GHashTable *named;    /* processes that have a name */
  guint64 events;
  guint64 others;
  guint64 bad;
} Trace;

/* --- CPU profiles -------------------------------------------------------- */

static void
profile_free (gpointer data)
{
  Profile *profile = data;

  g_array_unref (profile->nodes);
  g_hash_table_unref (profile->by_id);
  g_array_unref (profile->samples);
  g_array_unref (profile->deltas);
  g_free (profile);
}

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

static Profile *
find_profile (Trace *trace, const Event *event)
{
  g_autofree char *key =
      g_strdup_printf ("%" G_GINT64_FORMAT ":%u", event->pid, event->id);
  Profile *profile = g_hash_table_lookup (trace->profiles, key);

  if (profile == NULL)
    {
      profile = g_new0 (Profile, 1);
      profile->thread = find_thread (trace, event);
      profile->now = event->time / 1000;
      profile->nodes = g_array_new (FALSE, FALSE, sizeof (Node));
      profile->by_id =
          g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
      profile->samples = g_array_new (FALSE, FALSE, sizeof (gint64));
      profile->deltas = g_array_new (FALSE, FALSE, sizeof (gint64));
      g_hash_table_insert (trace->profiles, g_steal_pointer (&key), profile);
    }
  return profile;
}

static void
read_call_frame (Trace *trace, FlamJson *json, Node *node)
{
  guint depth = flam_json_enter (json);
  FlamFunction function = { .module = FLAM_NONE,
                            .kind = FLAM_KIND_INTERPRETED };
  gint64 line = -1;
  const char *name;

  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "functionName") ||
        flam_json_key_is (json, "url"))
      {
        gboolean is_name = flam_json_key_is (json, "functionName");
        gsize length;
        const char *text = flam_json_get_string (json, &length);
        FlamId string = flam_builder_string (trace->builder, text, length);
        *(is_name ? &function.name : &function.file) = string;
      }
    else if (flam_json_key_is (json, "lineNumber"))
      line = flam_json_get_int (json);
  if (function.name == 0)
    function.name = flam_builder_string (trace->builder, "(anonymous)", -1);
  name = flam_builder_get_string (trace->builder, function.name);
  node->idle = strcmp (name, "(idle)") == 0;
  if (strcmp (name, "(root)") == 0)
    return;
  if (name[0] == '(' && strcmp (name, "(anonymous)") != 0)
    function.kind = FLAM_KIND_ROOT;
  function.line = line >= 0 && line < G_MAXINT32 ? line + 1 : 0;
  node->frame =
      flam_builder_frame (trace->builder,
                          flam_builder_function (trace->builder, &function),
                          0,
                          function.line,
                          0);
}

static Node *
get_node (const Profile *profile, gint64 id)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (profile->by_id, &id));

  return index > 0 ? &g_array_index (profile->nodes, Node, index - 1) : NULL;
}

static void
read_node (Trace *trace, FlamJson *json, Profile *profile, GArray *links)
{
  guint depth = flam_json_enter (json);
  Node node = { .id = -1, .parent = -1, .frame = FLAM_NONE };
  guint first = links->len;

  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "id"))
      node.id = flam_json_get_int (json);
    else if (flam_json_key_is (json, "parent"))
      node.parent = flam_json_get_int (json);
    else if (flam_json_key_is (json, "callFrame"))
      read_call_frame (trace, json, &node);
    else if (flam_json_key_is (json, "children"))
      {
        guint inner = flam_json_enter (json);
        while (flam_json_element (json, inner))
          {
            Node link = { .id = flam_json_get_int (json) };
            g_array_append_val (links, link);
          }
      }
  for (guint i = first; i < links->len; i++)
    g_array_index (links, Node, i).parent = node.id;
  if (get_node (profile, node.id) != NULL)
    return;
  g_array_append_val (profile->nodes, node);
  g_hash_table_insert (profile->by_id,
                       g_memdup2 (&node.id, sizeof node.id),
                       GUINT_TO_POINTER (profile->nodes->len));
}

static void
read_nodes (Trace *trace, FlamJson *json, Profile *profile)
{
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (Node));
  guint depth = flam_json_enter (json);

  while (flam_json_element (json, depth))
    read_node (trace, json, profile, links);
  for (guint i = 0; i < links->len; i++)
    {
      const Node *link = &g_array_index (links, Node, i);
      Node *child = get_node (profile, link->id);
      if (child != NULL && child->parent < 0)
        child->parent = link->parent;
    }
}

static void
read_numbers (FlamJson *json, GArray *into)
{
  guint depth = flam_json_enter (json);

  while (flam_json_element (json, depth))
    {
      gint64 value = flam_json_get_int (json);
      g_array_append_val (into, value);
    }
}

static void
read_cpu_profile (Trace *trace, FlamJson *json, Profile *profile)
{
  guint depth = flam_json_enter (json);

  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "nodes"))
      read_nodes (trace, json, profile);
    else if (flam_json_key_is (json, "samples"))
      read_numbers (json, profile->samples);
    else if (flam_json_key_is (json, "timeDeltas"))
      read_numbers (json, profile->deltas);
    else if (flam_json_key_is (json, "startTime"))
      profile->now = flam_json_get_int (json);
}

/* "Profile" has the start, "ProfileChunk" a piece, "CpuProfile" (older) all. */
static void
read_profile_event (Trace *trace, const Event *event)
{
  Profile *profile = find_profile (trace, event);
  g_auto (FlamJson) json = { 0 };
  guint depth, inner;

  flam_json_init (&json, event->args, event->args_length);
  flam_json_next (&json);
  depth = flam_json_enter (&json);
  while (flam_json_member (&json, depth))
    if (flam_json_key_is (&json, "data"))
      {
        inner = flam_json_enter (&json);
        while (flam_json_member (&json, inner))
          if (flam_json_key_is (&json, "startTime"))
            profile->now = flam_json_get_int (&json);
          else if (flam_json_key_is (&json, "cpuProfile"))
            read_cpu_profile (trace, &json, profile);
          else if (flam_json_key_is (&json, "timeDeltas"))
            read_numbers (&json, profile->deltas);
      }
}

/* Up to the root or to a stack made before, then down again. A loop of
 * parents, which no V8 writes, ends where it would begin again. */
static FlamId
node_stack (Trace *trace, const Profile *profile, Node *node, GPtrArray *path)
{
  FlamId stack = FLAM_NONE;

  for (; node != NULL && !node->seen; node = get_node (profile, node->parent))
    {
      node->seen = TRUE;
      node->stack = FLAM_NONE;
      g_ptr_array_add (path, node);
    }
  if (node != NULL)
    stack = node->stack;
  while (path->len > 0)
    {
      Node *next = g_ptr_array_steal_index (path, path->len - 1);
      if (next->frame != FLAM_NONE)
        stack = flam_builder_stack (trace->builder, stack, next->frame);
      next->stack = stack;
    }
  return stack;
}

static void
add_profile (Trace *trace, const Profile *profile)
{
  g_autoptr (GPtrArray) path = g_ptr_array_new ();
  gint64 now = profile->now;
  guint n = MIN (profile->samples->len, profile->deltas->len);
  const gint64 limit = G_MAXINT64 / 1000 / 4;

  for (guint i = 0; i < n; i++)
    {
      Node *node =
          get_node (profile, g_array_index (profile->samples, gint64, i));
      gint64 next =
          i + 1 < n ? g_array_index (profile->deltas, gint64, i + 1) : 0;
      gint64 weight = CLAMP (next, 0, limit / MAX (n, 1)) * 1000;
      FlamSample sample = { .thread = profile->thread };

      now = CLAMP (now, 0, limit) +
            CLAMP (g_array_index (profile->deltas, gint64, i), -limit, limit);
      if (node == NULL)
        {
          trace->bad++;
          continue;
        }
      sample.stack = node_stack (trace, profile, node, path);
      sample.time = now * 1000;
      sample.state = node->idle ? FLAM_STATE_SLEEP : FLAM_STATE_RUNNING;
      flam_builder_add_sample (trace->builder, &sample, &weight);
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
  guint depth;

  flam_json_init (&json, event->args, event->args_length);
  flam_json_next (&json);
  depth = flam_json_enter (&json);
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
    else if (flam_json_key_is (json, "args") && json->token == FLAM_JSON_OBJECT)
      {
        event.args = (const char *)json->at - 1;
        flam_json_skip (json);
        event.args_length = (const char *)json->at - event.args;
      }
  if (json->token != FLAM_JSON_ERROR)
    use_event (trace, &event);
}

/* When cancelled, the rest is as good as cut off, which ends all loops. */
static void
step (Trace *trace, FlamJson *json)
{
  if (json->at < trace->next_step || trace->cancelled != NULL)
    return;
  trace->next_step = json->at + PROGRESS_BYTES;
  if (!flam_progress_step (trace->progress,
                           (double)(json->at - json->start) /
                               (json->end - json->start),
                           &trace->cancelled))
    json->at = json->end;
}

static void
read_events (Trace *trace, FlamJson *json)
{
  guint depth = flam_json_enter (json);

  for (; flam_json_element (json, depth); step (trace, json))
    read_event (trace, json);
}

static void
read_document (Trace *trace, FlamJson *json)
{
  guint depth;

  if (flam_json_next (json) == FLAM_JSON_ARRAY)
    {
      read_events (trace, json);
      return;
    }
  depth = flam_json_enter (json);
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
    if (((Profile *)profile)->samples->len > 0)
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
    add_profile (trace, profile);
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
         trace->source->data[strspn ((const char *)trace->source->data,
                                     " \t\r\n")] == '[';
}

static gboolean
check_end (Trace *trace, FlamJson *json, GError **error)
{
  g_autoptr (GError) bad = NULL;

  if (trace->cancelled != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&trace->cancelled));
      return FALSE;
    }
  if (flam_json_finish (json, trace->source, &bad) ||
      ends_between_events (trace, json))
    return TRUE;
  if (trace->events == 0)
    {
      g_propagate_error (error, g_steal_pointer (&bad));
      return FALSE;
    }
  flam_builder_set_partial (
      trace->builder, (double)json->problem_at / MAX (trace->source->size, 1));
  flam_builder_warn (trace->builder,
                     "the rest of the file was left out: %s",
                     bad->message + strlen (trace->source->path) + 2);
  return TRUE;
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
    .next_step = source->data,
    .spans = g_array_new (FALSE, FALSE, sizeof (Span)),
  };
  g_auto (FlamJson) json = { 0 };
  gboolean ok;

  trace.begun =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
  trace.profiles =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, profile_free);
  flam_builder_add_column (builder);
  flam_builder_add_measure (builder,
                            "wall-time",
                            "Wall time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
  flam_builder_set_has_times (builder);
  flam_json_init (&json, source->data, source->size);
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
  return memmem (
             source->data, MIN (source->size, 16384), word, strlen (word)) !=
         NULL;
}

static guint
probe (const FlamSource *source)
{
  gsize start = 0;

  while (start < MIN (source->size, 4096) &&
         g_ascii_isspace (source->data[start]))
    start++;
  if (source->data[start] != '{' && source->data[start] != '[')
    return 0;
  if (source->data[start] == '{' && holds (source, "\"traceEvents\""))
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
