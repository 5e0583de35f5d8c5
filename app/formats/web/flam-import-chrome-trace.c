/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Chrome's trace events ("Trace Event Format", Nat Duca and Dan Sinclair), as
 * browsers, node, Android and many build tools write them:
 *
 *    {"traceEvents":[        or the array alone, whose end may be missing
 *      {"ph":"X","pid":1,"tid":2,"ts":µs,"dur":µs,"name":"parse",…},
 *      {"ph":"B",…"ts":µs,"name":"read"}, {"ph":"E",…"ts":µs},
 *      {"ph":"B",…"name":"read","cat":"jit",                Flambeau's own
 *         "args":{"file":"a.c","module":"libc.so","line":7}},
 *      {"ph":"M",…"name":"thread_name","args":{"name":"worker"}},
 *      {"ph":"I",…"name":"a moment"},                  flam-trace-counters.h
 *      {"ph":"C",…"name":"a counter",…},
 *      {"ph":"P","name":"ProfileChunk","id":"0x1","args":{"data":{
 *         "cpuProfile":{"nodes":[{"id":1,"parent":…,"callFrame":{…}}],
 *                       "samples":[1,…]},
 *         "timeDeltas":[µs,…]}}}]}
 *
 * The events are read by several cores, each from where one begins to where the
 * next part does (flam-trace-events.h). If the reader before does not reach
 * such a place between two events, no event begins there: that reader goes on
 * past it, and the part that was read from there is dropped.
 *
 * Spans become samples (flam-trace-spans.h); "samples" and "stackFrames" beside
 * the events are samples already (flam-trace-samples.h). If the trace contains
 * V8's CPU profiles, those are shown: spans of the same time would count it
 * twice. */

#include "flam-formats.h"

#include "flam-parts.h"
#include "flam-trace-events.h"
#include "flam-trace-samples.h"
#include "flam-trace-threads.h"
#include "flam-v8-profile.h"

#include <string.h>

/* The names, frames and tasks of a part, as ids in the profile. */
typedef struct
{
  FlamTraceEvents events;
  FlamStringId *names;
  FlamFrameId *frames; /* of the places */
  FlamThreadId *threads;
  FlamV8Profile **profiles;
} Part;

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  GError *failure;  /* it was cancelled */
  GPtrArray *parts; /* Part: in the order of the document */
  FlamTraceSpans spans;
  FlamTraceSamples samples;
  FlamTraceCounters counters;
  FlamTraceMarks marks;
  FlamTraceThreads threads;
  GPtrArray *profiles; /* FlamV8Profile: in order of their first piece */
  GHashTable *by_key;  /* process and id, or thread, as text -> one of them */
  guint64 events;
  guint64 others;
} Trace;

static void
free_part (gpointer data)
{
  Part *part = data;

  flam_trace_events_clear (&part->events);
  g_free (part->names);
  g_free (part->frames);
  g_free (part->threads);
  g_free (part);
}

static void
take_limited (Trace *trace, const FlamLimited *more)
{
  FlamLimited *all = flam_builder_limited (trace->builder);

  if (all->n == 0)
    all->first = more->first;
  all->n += more->n;
}

/* --- threads ------------------------------------------------------------- */

/* In the part, the texts are names of its own. */
static FlamTraceWho
who_is (const Part *part, const FlamTraceWho *who)
{
  return (FlamTraceWho){
    who->pid, who->tid, part->names[who->pid_name], part->names[who->tid_name]
  };
}

static FlamProcessId
find_process (Trace *trace, const Part *part, const FlamTraceWho *in_part)
{
  FlamTraceWho who = who_is (part, in_part);

  return flam_trace_threads_process (&trace->threads, &who);
}

static FlamThreadId
find_thread (Trace *trace, const Part *part, const FlamTraceWho *in_part)
{
  FlamTraceWho who = who_is (part, in_part);

  return flam_trace_threads_find (&trace->threads, &who);
}

/* --- CPU profiles -------------------------------------------------------- */

/* Pieces that other threads write are grouped by their id, and the first one
 * names the thread; a profile in one piece has none and belongs to its event's
 * thread. */
static FlamV8Profile *
find_profile (Trace *trace, const Part *part, const FlamTracePiece *piece)
{
  FlamId id =
      flam_column_at (&part->events.tasks, FlamTraceTask, piece->task).id;
  g_autofree char *key =
      id != 0 ? g_strdup_printf ("%u:%u",
                                 find_process (trace, part, &piece->who),
                                 part->names[id])
              : g_strdup_printf ("thread %u",
                                 find_thread (trace, part, &piece->who));
  FlamV8Profile *profile = g_hash_table_lookup (trace->by_key, key);

  if (profile == NULL)
    {
      profile = flam_v8_profile_new (trace->load,
                                     find_thread (trace, part, &piece->who));
      profile->start = piece->time / 1000;
      g_ptr_array_add (trace->profiles, profile);
      g_hash_table_insert (trace->by_key, g_steal_pointer (&key), profile);
    }
  return profile;
}

/* --- parts --------------------------------------------------------------- */

typedef struct
{
  Part **part;
  guint n;
  guint depth;
} Reading;

static void
add_part (Reading *reading, FlamJson *json)
{
  Part *part = g_new0 (Part, 1);

  flam_trace_events_init (&part->events, json);
  reading->part[reading->n++] = part;
}

/* The first part continues with the document's own reader. */
static void
cut (Trace *trace, FlamJson *json, Reading *reading)
{
  gsize left = json->end - json->at;
  guint wanted =
      flam_parts_count (trace->load->source, left, trace->load->options);
  const guint8 *first = json->at, *last = first, *end = json->end;
  FlamJson *start = json;

  for (guint i = 1; i < wanted; i++)
    {
      const guint8 *at = first + left / wanted * i;
      FlamJson inside;

      if (at <= last || (at = flam_trace_events_find (at, end)) == end)
        continue;
      flam_json_init_inside (&inside, start, at);
      if (start == json)
        add_part (reading, json);
      start = &reading->part[0]->events.json;
      reading->part[reading->n - 1]->events.until = last = at;
      add_part (reading, &inside);
    }
  if (start == json)
    add_part (reading, json);
}

/* The progress of the first part, which is reported on the thread that waits
 * for all. */
typedef struct
{
  const FlamProgress *progress;
  guint n;
} Share;

static gboolean
report (gpointer data, double fraction)
{
  const Share *share = data;

  return flam_progress_step (
      share->progress, MIN (fraction * share->n, 1), NULL);
}

static gboolean
read_part (gpointer data, guint i, const FlamProgress *progress, GError **error)
{
  Reading *reading = data;
  Share share = { progress, reading->n };
  FlamProgress part = { report, &share };

  return flam_trace_events_read (
      &reading->part[i]->events, reading->depth, &part, error);
}

/* With the array's "[" as the current token. Afterwards `json` is after its
 * end, or at the error. */
static void
read_events (Trace *trace, FlamJson *json)
{
  Part *parts[FLAM_PARTS_MAX];
  Reading reading = { parts, 0, flam_json_enter (json) };
  guint good = 1;

  if (reading.depth == 0)
    return;
  cut (trace, json, &reading);
  if (trace->failure == NULL)
    flam_parts_read (reading.n,
                     read_part,
                     &reading,
                     trace->load->options->progress,
                     &trace->failure);
  while (parts[good - 1]->events.arrived)
    good++;
  *json = parts[good - 1]->events.json;
  parts[good - 1]->events.json = (FlamJson){ 0 };
  for (guint i = 0; i < reading.n; i++)
    if (i < good)
      g_ptr_array_add (trace->parts, parts[i]);
    else
      free_part (parts[i]);
}

/* --- from the parts to the profile ------------------------------------------
 */

static void
take_names (Trace *trace, Part *part)
{
  const FlamStrings *names = &part->events.names;

  part->names = g_new (FlamId, names->offsets.n);
  for (FlamId i = 0; i < names->offsets.n; i++)
    part->names[i] =
        flam_builder_string (trace->builder, flam_strings_get (names, i), -1);
}

static void
take_places (Trace *trace, Part *part)
{
  gsize n = part->events.places.n;

  part->frames = g_new (FlamId, n);
  for (gsize i = 0; i < n; i++)
    {
      const FlamTracePlace *place =
          &flam_column_at (&part->events.places, FlamTracePlace, i);
      FlamFunction function = { .name = part->names[place->name],
                                .file = part->names[place->file],
                                .module = FLAM_NONE,
                                .kind = place->kind };

      if (place->module != 0)
        function.module = flam_builder_module (
            trace->builder,
            flam_strings_get (&part->events.names, place->module),
            "",
            FLAM_ADDRESS_VADDR);
      part->frames[i] =
          flam_builder_frame_of (trace->builder, &function, 0, place->line, 0);
    }
}

static void
take_tasks (Trace *trace, Part *part)
{
  gsize n = part->events.tasks.n;

  part->threads = g_new0 (FlamId, n);
  for (gsize i = 0; i < n; i++)
    {
      FlamTraceTask *task =
          &flam_column_at (&part->events.tasks, FlamTraceTask, i);

      if (task->kind == FLAM_TRACE_PROCESS)
        find_process (trace, part, &task->who);
      else if (task->kind == FLAM_TRACE_THREAD)
        {
          part->threads[i] = find_thread (trace, part, &task->who);
          flam_trace_spans_add_moments (&trace->spans,
                                        part->threads[i],
                                        &task->moments,
                                        part->names,
                                        part->frames);
        }
    }
}

static void
take_namings (Trace *trace, const Part *part)
{
  for (gsize i = 0; i < part->events.namings.n; i++)
    {
      const FlamTraceNaming *naming =
          &flam_column_at (&part->events.namings, FlamTraceNaming, i);
      const FlamTraceTask *task =
          &flam_column_at (&part->events.tasks, FlamTraceTask, naming->task);
      const char *name = flam_strings_get (&part->events.names, naming->name);

      if (task->kind == FLAM_TRACE_PROCESS)
        flam_builder_set_process_name (
            trace->builder, find_process (trace, part, &task->who), name);
      else
        flam_builder_set_thread_name (
            trace->builder, part->threads[naming->task], name);
    }
}

typedef struct
{
  const Part *part;
  const FlamTracePiece *piece;
  guint number; /* in the document */
} Numbered;

static int
compare_pieces (gconstpointer a, gconstpointer b)
{
  const Numbered *x = a;
  const Numbered *y = b;

  if (x->piece->time != y->piece->time)
    return x->piece->time < y->piece->time ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* Events may have any order, and the samples of a piece follow in time those of
 * the piece before it. */
static void
take_profiles (Trace *trace)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Numbered));

  for (guint i = 0; i < trace->parts->len; i++)
    {
      const Part *part = g_ptr_array_index (trace->parts, i);

      for (gsize k = 0; k < part->events.pieces.n; k++)
        {
          Numbered one = {
            part,
            &flam_column_at (&part->events.pieces, FlamTracePiece, k),
            all->len,
          };

          g_array_append_val (all, one);
        }
    }
  g_array_sort (all, compare_pieces);
  for (guint i = 0; i < all->len; i++)
    {
      const Numbered *one = &g_array_index (all, Numbered, i);

      flam_v8_profile_read_piece (find_profile (trace, one->part, one->piece),
                                  one->piece->args);
    }
}

/* Gives the same result as a single reader: names and tasks are numbered in the
 * order of their first use in the document. */
static void
take_parts (Trace *trace)
{
  for (guint i = 0; i < trace->parts->len; i++)
    {
      Part *part = g_ptr_array_index (trace->parts, i);

      trace->events += part->events.n;
      trace->others += part->events.others;
      take_limited (trace, &part->events.limited);
      flam_trace_spans_see (&trace->spans, part->events.end);
      take_names (trace, part);
      take_places (trace, part);
      take_tasks (trace, part);
    }
  for (guint i = 0; i < trace->parts->len; i++)
    {
      const Part *part = g_ptr_array_index (trace->parts, i);

      take_namings (trace, part);
      flam_trace_marks_add (&trace->marks,
                            &part->events.marks,
                            &part->events.names,
                            part->names,
                            part->threads);
      flam_trace_counters_add (
          &trace->counters, &part->events.counts, &part->events.names);
    }
  take_profiles (trace);
  flam_trace_marks_finish (&trace->marks, trace->builder);
}

/* --- the document -------------------------------------------------------- */

/* Reads the document's members beside its events. */
typedef struct
{
  FlamJsonText frames;
  FlamJsonText samples;
} Sampling;

static void
read_document (Trace *trace, FlamJson *json, Sampling *sampling)
{
  const FlamSource *source = trace->load->source;

  flam_json_open (json, source->data, source->size);
  if (json->token == FLAM_JSON_ARRAY)
    read_events (trace, json);
  else
    flam_json_each (json)
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
  for (guint i = 0; i < trace->profiles->len; i++)
    {
      const FlamV8Profile *profile = g_ptr_array_index (trace->profiles, i);

      if (profile->samples->len > 0)
        return TRUE;
    }
  return FALSE;
}

static void
add_profiles (Trace *trace)
{
  for (guint i = 0; i < trace->profiles->len; i++)
    {
      FlamV8Profile *profile = g_ptr_array_index (trace->profiles, i);

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
  gboolean calls =
      !has_profiles && n_spans > 0 && sampling->samples.length == 0;
  guint wall = timed ? add_wall_time (trace) : 0;

  if (calls)
    flam_builder_add_standard_measure (
        trace->builder,
        FLAM_STANDARD_CALLS,
        (int)flam_builder_add_column (trace->builder),
        0);
  if (timed)
    flam_builder_set_spans (trace->builder,
                            wall,
                            has_profiles ? FLAM_SPANS_SAMPLES
                                         : FLAM_SPANS_CALLS);
  flam_trace_samples_read (
      &trace->samples, sampling->frames, sampling->samples);
  if (!timed && trace->samples.n_events == 1) /* it has no samples either */
    add_wall_time (trace);
  if (has_profiles)
    {
      add_profiles (trace);
      flam_trace_spans_check (&trace->spans);
    }
  else
    flam_trace_spans_make_samples (&trace->spans, calls);
  if (has_profiles && n_spans > 0)
    flam_builder_warn (trace->builder,
                       N_ ("the trace contains CPU profiles: they are shown "
                           "instead of its %u spans"),
                       n_spans);
  else
    flam_builder_warn_count (
        trace->builder,
        trace->spans.open,
        "%" PRIu64 " span has no end: it is shown until the end of the trace",
        "%" PRIu64
        " spans have no end: they are shown until the end of the trace");
}

/* "The JSON Array Format … the ] at the end is optional": so a text that ends
 * after a complete event is not damaged. */
static gboolean
ends_between_events (const Trace *trace, const FlamJson *json)
{
  const guint8 *p = json->end;

  while (p > json->start && g_ascii_isspace (p[-1]))
    p--;
  return json->truncated && p > json->start && (p[-1] == '}' || p[-1] == ',') &&
         flam_source_first_char (trace->load->source) == '[';
}

static gboolean
check_end (Trace *trace, FlamJson *json, GError **error)
{
  if (trace->failure != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&trace->failure));
      return FALSE;
    }
  return ends_between_events (trace, json) ||
         flam_json_end (json, trace->load, trace->events > 0, error);
}

static void
say_what_is_missing (Trace *trace)
{
  guint64 bad = trace->spans.bad + trace->samples.bad + trace->marks.bad;

  flam_builder_warn_count (
      trace->builder,
      trace->others,
      "%" PRIu64 " event of a kind that is not shown (flows, asynchronous "
      "events, spans without a duration)",
      "%" PRIu64 " events of kinds that are not shown (flows, asynchronous "
      "events, spans without a duration)");
  flam_builder_warn_count (trace->builder,
                           bad,
                           "%" PRIu64 " event is invalid at its position",
                           "%" PRIu64 " events are invalid at their positions");
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Trace *trace = flam_arena_new (load, Trace);
  FlamJson *json = flam_arena_new (load, FlamJson);
  Sampling sampling = { { .text = "" }, { .text = "" } };

  trace->load = load;
  trace->builder = builder;
  trace->profiles = flam_arena_pointers (load, NULL);
  trace->by_key = flam_arena_table (load, FLAM_KEY_TEXT, NULL);
  flam_trace_spans_init (&trace->spans, load);
  flam_trace_samples_init (&trace->samples, load);
  flam_trace_counters_init (&trace->counters, load);
  flam_trace_marks_init (&trace->marks, load);
  flam_trace_threads_init (&trace->threads, load, &trace->samples);
  trace->parts = flam_arena_pointers (load, free_part);
  flam_arena_keep (load, json, flam_json_clear);
  flam_builder_add_column (builder);
  flam_builder_set_has_times (builder);
  read_document (trace, json, &sampling);
  take_parts (trace);
  if (!check_end (trace, json, error))
    return FALSE;
  flam_source_leave (load->source);
  add_samples (trace, &sampling);
  flam_trace_counters_finish (&trace->counters, builder);
  say_what_is_missing (trace);
  return TRUE;
}

const FlamImporter flam_import_chrome_trace = {
  .id = "chrome-trace",
  .label = N_ ("Chrome trace events"),
  .written_by = "Chrome DevTools, Node.js, PyTorch, many tracers",
  .suffixes = FLAM_LIST (".trace", ".trace.json", ".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (90, "traceEvents"),
                       FLAM_MEMBERS (80, "ph", "ts"),
                       FLAM_MEMBERS (80, "ph", "pid"),
                       FLAM_MEMBERS (80, "[].ph", "[].ts"),
                       FLAM_MEMBERS (80, "[].ph", "[].pid")),
  .load = load,
  .grows = TRUE,
};
