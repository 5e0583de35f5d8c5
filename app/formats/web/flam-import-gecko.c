/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The Firefox Profiler's files, of Firefox, samply, and other tools. There are
 * two formats with many versions (firefox-devtools/profiler,
 * docs-developer/CHANGELOG-formats.md); all are tables of numbers.
 *
 *    samples  stack ──▶ stackTable  prefix, frame ──▶ frameTable  func, line
 *             time                                        │
 *             weight            funcTable  name, isJS, file ◀┘
 *                                          └──▶ stringArray
 *
 * Processed: since version 56 the strings, since 58 the sources and since 60
 * all tables but the samples are in "shared" and not in the thread; since 66 a
 * stack has the number of rows back to its prefix; since 70 a frame and not its
 * function's resource has the library, a row of "libs". Raw (as Firefox itself
 * dumps): a frame has a "location" in place of a func: "name (file:line)",
 * since version 32 with the row of its file in "sources"; other processes are
 * whole profiles in "processes". What the performance panel of Firefox's tools
 * saved until version 90 is a raw profile as member "profile".
 *
 * Members may have any order: a thread's columns are read first, and become
 * samples at the profile's end, when all tables that they refer to are read.
 * For small pieces, and other processes, only their places are kept. */

#include "flam-formats.h"

#include "flam-gecko-counters.h"
#include "flam-gecko-samples.h"

#include <string.h>

/* The newest versions whose changes are supported here. */
#define PROCESSED_VERSION 70
#define RAW_VERSION 36
/* Limit of a thread's open markers; the others are treated as moments. */
#define MAX_OPEN_MARKS 1000

/* A thread that was read, while tables that it refers to may still follow. */
typedef struct
{
  FlamGeckoTables *tables;
  char *name;
  char *process_name;
  gint64 pid, tid;
  FlamGeckoMeasure measure;
} Thread;

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  GError *cancelled;
  GArray *profiles;     /* FlamJsonText: processes found in the document */
  GPtrArray *texts;     /* of processes that were texts, unescaped */
  GArray *threads;      /* Thread: of the profile that is being read */
  GHashTable *counters; /* names of existing threads */
  FlamGeckoProcess process;
  gint64 start; /* unix ns of the first profile */
  gint64 offset;
  int event[FLAM_GECKO_N_MEASURES]; /* -1: not seen yet */
  guint measure[FLAM_GECKO_N_MEASURES];
  guint n_events;
  guint n_threads;
  guint64 samples;
  guint64 bad_values;  /* of counters */
  guint64 allocations; /* that are not read */
  gint64 newer;        /* a version above the newest supported one, or 0 */
  int newest;
} Gecko;

/* --- threads ------------------------------------------------------------- */

static guint
find_event (Gecko *gecko, FlamGeckoMeasure measure)
{
  static const FlamMeasureRow measures[FLAM_GECKO_N_MEASURES] = {
    { "samples", N_ ("Samples"), FLAM_OF_COUNT },
    { "wall-time", N_ ("Wall time"), FLAM_OF_TIME },
    { "allocated", N_ ("Allocated"), FLAM_OF_BYTES },
  };

  if (gecko->event[measure] < 0)
    {
      gecko->event[measure] = gecko->n_events++;
      gecko->measure[measure] = flam_load_measure (
          gecko->builder, &measures[measure], 0, gecko->event[measure]);
      if (measure == FLAM_GECKO_IS_TIME)
        /* A sample lasts its weight. */
        flam_builder_set_spans (
            gecko->builder, gecko->measure[measure], FLAM_SPANS_SAMPLES);
      else
        flam_builder_set_denominator (
            gecko->builder, gecko->measure[measure], FLAM_GECKO_MICRO);
    }
  return gecko->event[measure];
}

static gint64
add_time (const Gecko *gecko, gint64 time, gint64 more)
{
  return flam_builder_limit (gecko->builder,
                             (__int128)time + more,
                             -FLAM_GECKO_LATEST,
                             FLAM_GECKO_LATEST,
                             NULL);
}

static void
add_samples (Gecko *gecko,
             FlamGeckoTables *tables,
             FlamGeckoMeasure measure,
             FlamThreadId thread)
{
  g_auto (FlamGeckoSamples) samples = { 0 };

  flam_gecko_samples_init (&samples, &gecko->process, tables, gecko->offset);
  gecko->samples += samples.good;
  gecko->process.bad += samples.bad;
  if (samples.good > 0)
    flam_gecko_samples_put (
        &samples, gecko->builder, thread, find_event (gecko, measure));
}

/* A marker that has begun and not yet ended. */
typedef struct
{
  gint64 name, start;
} OpenMark;

typedef struct
{
  Gecko *gecko;
  FlamThreadId thread;
  const GArray *strings;
  GArray *open; /* OpenMark */
} Marks;

static void
put_mark (const Marks *marks, gint64 name, gint64 start, gint64 end)
{
  Gecko *gecko = marks->gecko;
  gint64 duration;

  if (start == FLAM_GECKO_NOTHING || name < 0 || name >= marks->strings->len)
    {
      gecko->process.bad++;
      return;
    }
  duration = end == FLAM_GECKO_NOTHING ? 0 : add_time (gecko, end, -start);
  duration = MAX (duration, 0);
  start = add_time (gecko, start, gecko->offset);
  flam_builder_add_mark (
      gecko->builder,
      start,
      duration,
      marks->thread,
      flam_builder_get_string (
          gecko->builder, g_array_index (marks->strings, FlamId, (guint)name)));
}

/* The start of the innermost open marker with that name, which it closes. */
static gint64
end_mark (const Marks *marks, gint64 name)
{
  for (guint i = marks->open->len; i-- > 0;)
    {
      OpenMark mark = g_array_index (marks->open, OpenMark, i);

      if (mark.name != name)
        continue;
      g_array_remove_index (marks->open, i);
      return mark.start;
    }
  return FLAM_GECKO_NOTHING;
}

/* A marker has start and end in one row, or starts in one (phase 2) and ends
 * in another (phase 3); those with the same name are nested. A marker without
 * an end lasts until the thread's last marker; an end without a start is a
 * moment. */
static void
add_marks (Gecko *gecko, FlamGeckoTables *tables, FlamThreadId thread)
{
  const FlamGeckoProcess *process = &gecko->process;
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (OpenMark));
  Marks marks = { gecko,
                  thread,
                  tables->strings->len > 0 ? tables->strings
                                           : process->shared->strings,
                  open };
  gint64 last = FLAM_GECKO_NOTHING;

  for (gsize i = 0; i < tables->column[FLAM_GECKO_MARK_NAME].n; i++)
    {
      gint64 name = flam_gecko_get (process, tables, FLAM_GECKO_MARK_NAME, i);
      gint64 start = flam_gecko_get (process, tables, FLAM_GECKO_MARK_START, i);
      gint64 end = flam_gecko_get (process, tables, FLAM_GECKO_MARK_END, i);
      gint64 time = flam_gecko_get (process, tables, FLAM_GECKO_MARK_TIME, i);
      gint64 phase = flam_gecko_get (process, tables, FLAM_GECKO_MARK_PHASE, i);

      if (start == FLAM_GECKO_NOTHING && phase != FLAM_GECKO_MARK_ENDS)
        start = time != FLAM_GECKO_NOTHING ? time : end;
      if (end == FLAM_GECKO_NOTHING && phase == FLAM_GECKO_MARK_ENDS)
        end = time;
      last = MAX (last, MAX (start, end));
      if (phase == FLAM_GECKO_MARK_BEGINS && open->len < MAX_OPEN_MARKS)
        {
          OpenMark mark = { name, start };

          g_array_append_val (open, mark);
          continue;
        }
      if (phase == FLAM_GECKO_MARK_ENDS)
        start = end_mark (&marks, name);
      put_mark (&marks, name, start == FLAM_GECKO_NOTHING ? end : start, end);
    }
  for (guint i = 0; i < open->len; i++)
    put_mark (&marks,
              g_array_index (open, OpenMark, i).name,
              g_array_index (open, OpenMark, i).start,
              last);
}

static void
clear_thread (gpointer data)
{
  Thread *thread = data;

  flam_gecko_tables_free (g_steal_pointer (&thread->tables));
  g_clear_pointer (&thread->name, g_free);
  g_clear_pointer (&thread->process_name, g_free);
}

/* "jsAllocations" and "nativeAllocations": tables with stacks of their own. */
static guint64
count_rows (FlamJson *json)
{
  gint64 n = 0;

  flam_json_each (json)
    if (flam_json_key_is (json, "length"))
      n = flam_json_get_int (json);
  return MAX (n, 0);
}

static void
read_thread (Gecko *gecko, FlamJson *json)
{
  Thread thread = {
    flam_gecko_tables_new (gecko->load), NULL, NULL, -1, -1, FLAM_GECKO_IS_COUNT
  };

  flam_json_each (json)
    if (flam_gecko_tables_read (
            thread.tables, json, gecko->builder, &thread.measure))
      continue;
    else if (flam_json_key_is (json, "pid"))
      thread.pid = flam_gecko_get_id (json);
    else if (flam_json_key_is (json, "tid"))
      thread.tid = flam_gecko_get_id (json);
    else if (flam_json_key_is (json, "jsAllocations") ||
             flam_json_key_is (json, "nativeAllocations"))
      gecko->allocations += count_rows (json);
    else if (flam_json_key_is (json, "name") && thread.name == NULL)
      thread.name = g_strdup (flam_json_get_string (json, NULL));
    else if (flam_json_key_is (json, "processName") &&
             thread.process_name == NULL)
      thread.process_name = g_strdup (flam_json_get_string (json, NULL));
  g_array_append_val (gecko->threads, thread);
}

static void
add_thread (Gecko *gecko, const Thread *read)
{
  FlamProcessId process = flam_builder_process (gecko->builder, read->pid, 0);
  /* Threads without a number, and parts of one, get distinct numbers. */
  FlamThreadId thread = flam_builder_thread (
      gecko->builder, process, read->tid, gecko->n_threads++);

  flam_builder_set_thread_name (
      gecko->builder, thread, read->name != NULL ? read->name : "");
  if (read->process_name != NULL)
    flam_builder_set_process_name (gecko->builder, process, read->process_name);
  add_samples (gecko, read->tables, read->measure, thread);
  add_marks (gecko, read->tables, thread);
}

/* A thread's columns are freed when its samples are made. */
static void
add_threads (Gecko *gecko)
{
  gsize n = 0;

  for (guint i = 0; i < gecko->threads->len; i++)
    n += g_array_index (gecko->threads, Thread, i)
             .tables->column[FLAM_GECKO_SAMPLE_STACK]
             .n;
  flam_source_leave (gecko->load->source);
  flam_builder_reserve_samples (gecko->builder, n);
  for (guint i = 0; i < gecko->threads->len; i++)
    {
      Thread *thread = &g_array_index (gecko->threads, Thread, i);

      add_thread (gecko, thread);
      clear_thread (thread);
    }
  g_array_set_size (gecko->threads, 0);
}

/* --- profiles ------------------------------------------------------------ */

static FlamFunctionKind
category_kind (FlamJson *json)
{
  static const struct
  {
    const char *name;
    FlamFunctionKind kind;
  } kinds[] = {
    { "Kernel", FLAM_KIND_KERNEL },
    { "JIT", FLAM_KIND_JIT },
    { "JavaScript", FLAM_KIND_INTERPRETED },
    { "Interpreted", FLAM_KIND_INTERPRETED },
    { "Interpreter", FLAM_KIND_INTERPRETED },
    { "Unresolved", FLAM_KIND_UNRESOLVED },
    { "Root", FLAM_KIND_ROOT },
    { "Waker", FLAM_KIND_WAKER },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (flam_json_string_is (json, kinds[i].name))
      return kinds[i].kind;
  return FLAM_KIND_NATIVE;
}

static void
read_categories (Gecko *gecko, FlamJson *json)
{
  guint depth = flam_json_enter (json);

  gecko->process.n_categories = 0;
  while (flam_json_element (json, depth) &&
         gecko->process.n_categories < FLAM_GECKO_MAX_CATEGORIES)
    {
      FlamFunctionKind kind = FLAM_KIND_NATIVE;

      flam_json_each (json)
        if (flam_json_key_is (json, "name"))
          kind = category_kind (json);
      gecko->process.category[gecko->process.n_categories++] = kind;
    }
}

static void
read_libs (Gecko *gecko, FlamJson *json)
{
  flam_json_each (json)
    {
      FlamStringId name = 0;

      flam_json_each (json)
        if (flam_json_key_is (json, "name"))
          name = flam_json_intern (json, gecko->builder);
      g_array_append_val (gecko->process.libs, name);
    }
}

/* The recording's time range on the clock of the samples, from the first
 * process that contains it. */
static void
read_range (Gecko *gecko, gint64 from, gint64 to)
{
  FlamFacts *facts = flam_builder_facts (gecko->builder);

  if (from < 0 || from > FLAM_GECKO_LATEST || to <= from ||
      to > FLAM_GECKO_LATEST || facts->duration_ns > 0)
    return;
  flam_builder_set_origin (gecko->builder, from + gecko->offset);
  facts->duration_ns = to - from;
  if (facts->start_unix_ns > 0)
    facts->start_unix_ns += from + gecko->offset;
}

static void
read_meta (Gecko *gecko, FlamJsonText piece)
{
  g_auto (FlamJson) json = { 0 };
  gint64 start = 0, processed = 0, raw = 0;
  gint64 from = -1, to = -1;

  gecko->process.ours = FALSE;
  flam_json_open (&json, piece.text, piece.length);
  flam_json_each (&json)
    if (flam_json_key_is (&json, "startTime"))
      start = flam_json_get_limited (&json,
                                     gecko->builder,
                                     FLAM_GECKO_MICRO,
                                     -FLAM_GECKO_LATEST,
                                     FLAM_GECKO_LATEST);
    else if (flam_json_key_is (&json, "profilingStartTime"))
      from = flam_json_get_scaled (&json, FLAM_GECKO_MICRO);
    else if (flam_json_key_is (&json, "profilingEndTime"))
      to = flam_json_get_scaled (&json, FLAM_GECKO_MICRO);
    else if (flam_json_key_is (&json, "preprocessedProfileVersion"))
      processed = flam_json_get_int (&json);
    else if (flam_json_key_is (&json, "version"))
      raw = flam_json_get_int (&json);
    else if (flam_json_key_is (&json, "categories"))
      read_categories (gecko, &json);
    else if (flam_json_key_is (&json, "importedFrom"))
      gecko->process.ours = flam_json_string_is (&json, "Flambeau");
    else if (flam_json_key_is (&json, "product"))
      flam_builder_set_command (gecko->builder,
                                flam_json_get_string (&json, NULL));
  if (gecko->start == 0 && start > 0)
    {
      gecko->start = start;
      flam_builder_facts (gecko->builder)->start_unix_ns = start;
    }
  gecko->offset = start > 0 && gecko->start > 0 ? start - gecko->start : 0;
  read_range (gecko, from, to);
  /* A processed profile keeps the version of its raw profile. */
  gecko->newest = processed != 0 ? PROCESSED_VERSION : RAW_VERSION;
  if ((processed != 0 ? processed : raw) > gecko->newest)
    gecko->newer = processed != 0 ? processed : raw;
}

/* Old Firefox: another process's profile, as text among the threads. */
static void
add_text_profile (Gecko *gecko, FlamJson *json)
{
  gsize length;
  const char *text = flam_json_get_string (json, &length);
  FlamJsonText piece = { g_memdup2 (text, length), length };

  if (piece.text == NULL)
    return;
  g_ptr_array_add (gecko->texts, (gpointer)piece.text);
  g_array_append_val (gecko->profiles, piece);
}

static void
read_threads (Gecko *gecko, FlamJson *json)
{
  guint depth = flam_json_enter (json);

  while (gecko->cancelled == NULL && flam_json_element (json, depth))
    {
      if (json->token == FLAM_JSON_STRING)
        add_text_profile (gecko, json);
      else if (json->token == FLAM_JSON_OBJECT)
        read_thread (gecko, json);
      flam_load_step (gecko->load, json->at, &gecko->cancelled);
    }
}

static void
find_processes (Gecko *gecko, FlamJsonText piece)
{
  g_auto (FlamJson) json = { 0 };

  flam_json_open (&json, piece.text, piece.length);
  flam_json_each (&json)
    {
      FlamJsonText process = flam_json_take (&json);
      if (process.length > 0)
        g_array_append_val (gecko->profiles, process);
    }
}

static void
read_profile (Gecko *gecko, FlamJson *json, FlamJsonText piece)
{
  FlamJsonText meta = { .text = "" }, processes = meta, counters = meta;
  guint depth = flam_json_open (json, piece.text, piece.length);

  g_clear_pointer (&gecko->process.shared, flam_gecko_tables_free);
  gecko->process.shared = flam_gecko_tables_new (gecko->load);
  g_array_set_size (gecko->process.libs, 0);
  while (gecko->cancelled == NULL && flam_json_element (json, depth))
    if (flam_json_key_is (json, "meta"))
      meta = flam_json_take (json);
    else if (flam_json_key_is (json, "shared"))
      flam_json_each (json)
        flam_gecko_tables_read (
            gecko->process.shared, json, gecko->builder, NULL);
    else if (flam_json_key_is (json, "libs"))
      read_libs (gecko, json);
    else if (flam_json_key_is (json, "sources"))
      flam_gecko_tables_read (
          gecko->process.shared, json, gecko->builder, NULL);
    else if (flam_json_key_is (json, "threads"))
      read_threads (gecko, json);
    else if (flam_json_key_is (json, "processes"))
      processes = flam_json_take (json);
    else if (flam_json_key_is (json, "counters"))
      counters = flam_json_take (json);
    else if (flam_json_key_is (json, "profile") &&
             json->token == FLAM_JSON_OBJECT)
      {
        FlamJsonText recorded = flam_json_take (json);
        g_array_append_val (gecko->profiles, recorded);
      }
  read_meta (gecko, meta);
  add_threads (gecko);
  gecko->bad_values += flam_gecko_counters_read (
      gecko->load, counters, gecko->offset, gecko->counters);
  find_processes (gecko, processes);
}

static gboolean
check (Gecko *gecko, FlamJson *document, GError **error)
{
  if (gecko->cancelled != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&gecko->cancelled));
      return FALSE;
    }
  if (!flam_json_end (document, gecko->load, gecko->samples > 0, error))
    return FALSE;
  if (gecko->n_events == 0)
    find_event (gecko, FLAM_GECKO_IS_COUNT);
  for (guint i = 0; i < FLAM_GECKO_N_MEASURES; i++)
    if (gecko->event[i] >= 0 && i != FLAM_GECKO_IS_TIME)
      flam_builder_reduce (gecko->builder, gecko->measure[i]);
  if (gecko->newer > 0)
    flam_builder_warn (gecko->builder,
                       N_ ("written in version %" PRId64
                           " of the format; the newest supported one is %d"),
                       gecko->newer,
                       gecko->newest);
  flam_builder_warn_count (gecko->builder,
                           gecko->process.bad,
                           "%" PRIu64 " stack or sample is invalid",
                           "%" PRIu64 " stacks or samples are invalid");
  flam_builder_warn_count (gecko->builder,
                           gecko->bad_values,
                           "%" PRIu64 " value of a counter was left out",
                           "%" PRIu64 " values of counters were left out");
  flam_builder_warn_count (gecko->builder,
                           gecko->allocations,
                           "%" PRIu64 " recorded allocation was left out",
                           "%" PRIu64 " recorded allocations were left out");
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Gecko gecko = {
    .load = load,
    .builder = builder,
    .profiles = flam_arena_array (load, FlamJsonText),
    .texts = flam_arena_pointers (load, g_free),
    .threads = flam_arena_array (load, Thread),
    .counters = flam_arena_table (load, FLAM_KEY_TEXT, NULL),
    .event = { -1, -1, -1 },
    .process = { .builder = builder, .libs = flam_arena_array (load, FlamId) },
  };
  FlamJsonText whole = { (const char *)load->source->data, load->source->size };
  g_auto (FlamJson) document = { 0 };
  gboolean ok;

  flam_builder_add_column (builder);
  flam_builder_set_has_times (builder);
  read_profile (&gecko, &document, whole);
  for (guint i = 0; i < gecko.profiles->len && gecko.cancelled == NULL; i++)
    {
      g_auto (FlamJson) process = { 0 };
      read_profile (
          &gecko, &process, g_array_index (gecko.profiles, FlamJsonText, i));
    }
  ok = check (&gecko, &document, error);
  flam_gecko_tables_free (gecko.process.shared);
  return ok;
}

const FlamImporter flam_import_gecko = {
  .id = "gecko",
  .label = "Firefox Profiler",
  .written_by = "Firefox Profiler, samply",
  .suffixes = FLAM_LIST (".firefox.json", ".gecko.json", ".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (95, "meta.preprocessedProfileVersion"),
                       FLAM_MEMBERS (85, "meta.processType", "meta.interval"),
                       FLAM_MEMBERS (85, "profile.meta", "profile.threads")),
  .load = load,
};
