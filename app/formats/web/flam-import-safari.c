/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Timeline recordings of Safari's (WebKit's) Web Inspector, as its Export
 * writes them:
 *
 *    {"version":1,
 *     "recording":{
 *       "displayName":"Timeline Recording 1", "startTime":4.16, "endTime":6.69,
 *       "instrumentTypes":["timeline-record-type-script", …],
 *       "records":[{"type":"timeline-record-type-script",
 *                   "eventType":"script-evaluated", "details":"",
 *                   "startTime":4.51, "endTime":4.54},
 *                  {"type":"timeline-record-type-memory", "timestamp":4.6,
 *                   "categories":[{"type":"javascript","size":1048576}, …]},
 * …], "markers":[{"time":4.54, "type":"load-event"}, …], "sampleStackTraces":[
 *         {"timestamp":4.514,
 *          "stackFrames":[                                      leaf first
 *            {"sourceID":"8", "name":"gamma", "url":"file:///a.js",
 *             "line":20, "column":15,                 where the function is
 *             "expressionLocation":{"line":22,"column":19}}, …]}, …],
 *       "sampleDurations":[0.0015, …]},    one per sample: see below
 *     "overview":{…}}
 *
 * Times are seconds. A sample has the mean duration of those in the same run of
 * scripts, and 1 ms outside of one: it lies neither before the sample nor after
 * it, and their sum is the time of the runs. Records with a duration become
 * marks, categories of memory counters; requests of the network, which have
 * another clock, and shares of the CPU are not read. Source: recordings, the
 * fields that speedscope's documentation of its import mentions, and WebKit's
 * TimelineManager.js. */

#include "flam-formats.h"

#include "flam-core-profile.h"
#include "flam-json.h"

#include <string.h>

#define SECOND 1000000000
#define RECORD "timeline-record-type-"
#define MAX_COUNTERS 64

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  FlamJson *json;
  GArray *frames; /* FlamId: of one sample, leaf first */
  GArray *stacks; /* FlamId */
  GArray *times;  /* gint64 */
  GArray *durations;
  GHashTable *counters; /* name -> counter + 1 */
  FlamThreadId thread;
  guint64 bad; /* durations */
} Reader;

static gint64
get_time (FlamJson *json)
{
  return flam_json_get_scaled (json, SECOND);
}

static guint32
get_line (FlamJson *json)
{
  return CLAMP (flam_json_get_int (json), 0, G_MAXINT32);
}

/* --- samples ------------------------------------------------------------- */

static void
read_frame (Reader *reader)
{
  FlamJson *json = reader->json;
  FlamFunction function = { .module = FLAM_NONE,
                            .kind = FLAM_KIND_INTERPRETED };
  guint32 line = 0;
  FlamFrameId frame;

  flam_json_each (json)
    if (flam_json_key_is (json, "name") || flam_json_key_is (json, "url"))
      {
        gboolean is_name = flam_json_key_is (json, "name");
        FlamStringId string = flam_json_intern (json, reader->builder);

        *(is_name ? &function.name : &function.file) = string;
        /* Code of the inspector itself. */
        if (!is_name &&
            g_str_has_prefix (flam_builder_get_string (reader->builder, string),
                              "__InjectedScript"))
          function.flags |= FLAM_FUNCTION_IRRELEVANT;
      }
    else if (flam_json_key_is (json, "line"))
      function.line = get_line (json);
    else if (flam_json_key_is (json, "expressionLocation"))
      flam_json_each (json)
        if (flam_json_key_is (json, "line"))
          line = get_line (json);
  if (function.name == 0)
    function.name = flam_builder_string (reader->builder, "(anonymous)", -1);
  if (function.file == 0 && function.line == 0)
    function.kind = FLAM_KIND_NATIVE;
  frame = flam_builder_frame_of (
      reader->builder, &function, 0, line != 0 ? line : function.line, 0);
  g_array_append_val (reader->frames, frame);
}

static void
read_sample (Reader *reader)
{
  FlamJson *json = reader->json;
  FlamStackId stack;
  gint64 time = 0;

  g_array_set_size (reader->frames, 0);
  flam_json_each (json)
    if (flam_json_key_is (json, "timestamp"))
      time = get_time (json);
    else if (flam_json_key_is (json, "stackFrames"))
      flam_json_each (json)
        read_frame (reader);
  stack = flam_load_stack (reader->builder, reader->frames);
  g_array_append_val (reader->stacks, stack);
  g_array_append_val (reader->times, time);
}

static void
read_durations (Reader *reader)
{
  flam_json_each (reader->json)
    {
      gint64 duration = get_time (reader->json);
      g_array_append_val (reader->durations, duration);
    }
}

static void
add_samples (Reader *reader)
{
  guint n = reader->durations->len;

  reader->bad += n > reader->stacks->len ? n - reader->stacks->len : 0;
  for (guint i = 0; i < reader->stacks->len; i++)
    {
      FlamSample sample = { .thread = reader->thread,
                            .stack = g_array_index (reader->stacks, FlamId, i),
                            .time = g_array_index (reader->times, gint64, i) };
      gint64 duration =
          i < n ? g_array_index (reader->durations, gint64, i) : 0;

      reader->bad += duration < 0 || i >= n;
      duration = MAX (duration, 0);
      flam_builder_add_sample (reader->builder, &sample, &duration);
    }
}

/* --- records and markers ------------------------------------------------- */

static void
add_size (Reader *reader, const char *name, gint64 time, gint64 size)
{
  guint counter =
      GPOINTER_TO_UINT (g_hash_table_lookup (reader->counters, name));

  if (counter == 0)
    {
      if (g_hash_table_size (reader->counters) == MAX_COUNTERS)
        return;
      counter =
          1 + flam_builder_add_counter (reader->builder, name, FLAM_UNIT_BYTES);
      g_hash_table_insert (
          reader->counters, g_strdup (name), GUINT_TO_POINTER (counter));
    }
  flam_builder_add_counter_value (reader->builder, counter - 1, time, size);
}

/* For memory. */
typedef struct
{
  char *name;
  gint64 size;
} Category;

static void
category_clear (gpointer category)
{
  g_free (((Category *)category)->name);
}

/* The members of a record or a marker, in any order. */
typedef struct
{
  GString *type, *event, *details;
  GArray *categories; /* Category */
  gint64 start, end;
} Record;

static void
record_init (Record *record, FlamLoad *load)
{
  record->type = flam_arena_string (load);
  record->event = flam_arena_string (load);
  record->details = flam_arena_string (load);
  record->categories = flam_arena_array (load, Category);
  g_array_set_clear_func (record->categories, category_clear);
}

/* {"type":"javascript","size":1048576} */
static void
read_category (const Reader *reader, FlamJson *json, GArray *into)
{
  Category category = { NULL, 0 };

  flam_json_each (json)
    if (flam_json_key_is (json, "type"))
      {
        g_free (category.name);
        category.name = g_strdup (flam_json_get_string (json, NULL));
      }
    else if (flam_json_key_is (json, "size"))
      category.size =
          flam_json_get_limited (json, reader->builder, 1, 0, G_MAXINT64);
  g_array_append_val (into, category);
}

static void
take_text (GString *into, FlamJson *json)
{
  g_string_assign (into, flam_json_get_string (json, NULL));
}

static void
read_record (Reader *reader, Record *record)
{
  FlamJson *json = reader->json;

  g_string_truncate (record->type, 0);
  g_string_truncate (record->event, 0);
  g_string_truncate (record->details, 0);
  g_array_set_size (record->categories, 0);
  record->start = record->end = -1;
  flam_json_each (json)
    if (flam_json_key_is (json, "type"))
      take_text (record->type, json);
    else if (flam_json_key_is (json, "eventType"))
      take_text (record->event, json);
    else if (flam_json_key_is (json, "details"))
      take_text (record->details, json);
    else if (flam_json_key_is (json, "startTime") ||
             flam_json_key_is (json, "timestamp") ||
             flam_json_key_is (json, "time"))
      record->start = get_time (json);
    else if (flam_json_key_is (json, "endTime"))
      record->end = get_time (json);
    else if (flam_json_key_is (json, "categories"))
      flam_json_each (json)
        read_category (reader, json, record->categories);
}

static void
add_sizes (Reader *reader, const Record *record)
{
  for (guint i = 0; i < record->categories->len; i++)
    {
      const Category *category =
          &g_array_index (record->categories, Category, i);

      if (category->name != NULL && *category->name != '\0' &&
          category->size >= 0 && record->start >= 0)
        add_size (reader, category->name, record->start, category->size);
    }
}

static void
add_mark (Reader *reader, const Record *record, gint64 end)
{
  const char *type = record->type->str;
  g_autofree char *name = NULL;

  if (g_str_has_prefix (type, RECORD))
    type += strlen (RECORD);
  name = g_strdup_printf ("%s%s%s",
                          record->event->len > 0 ? record->event->str : type,
                          record->details->len > 0 ? " " : "",
                          record->details->str);
  if (record->start >= 0 && end >= record->start && *name != '\0')
    flam_builder_add_mark (reader->builder,
                           record->start,
                           end - record->start,
                           reader->thread,
                           name);
}

/* Records with a duration; a marker is a moment. */
static void
read_records (Reader *reader, gboolean markers)
{
  Record record;

  record_init (&record, reader->load);
  flam_json_each (reader->json)
    {
      read_record (reader, &record);
      add_mark (reader, &record, markers ? record.start : record.end);
      add_sizes (reader, &record);
    }
}

/* --- the whole ----------------------------------------------------------- */

static void
read_recording (Reader *reader)
{
  FlamJson *json = reader->json;
  gint64 start = 0, end = 0;

  flam_json_each (json)
    if (flam_json_key_is (json, "startTime"))
      start = get_time (json);
    else if (flam_json_key_is (json, "endTime"))
      end = get_time (json);
    else if (flam_json_key_is (json, "records"))
      read_records (reader, FALSE);
    else if (flam_json_key_is (json, "markers"))
      read_records (reader, TRUE);
    else if (flam_json_key_is (json, "sampleStackTraces"))
      flam_json_each (json)
        read_sample (reader);
    else if (flam_json_key_is (json, "sampleDurations"))
      read_durations (reader);
  if (start <= 0 || end < start)
    return;
  flam_builder_set_origin (reader->builder, start);
  flam_builder_facts (reader->builder)->duration_ns = end - start;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = {
    .load = load,
    .builder = load->builder,
    .json = flam_json_load (load, NULL),
    .frames = flam_arena_array (load, FlamId),
    .stacks = flam_arena_array (load, FlamId),
    .times = flam_arena_array (load, gint64),
    .durations = flam_arena_array (load, gint64),
    .counters = flam_arena_table (load, FLAM_KEY_TEXT, NULL),
    .thread = flam_builder_lone_thread (load->builder),
  };

  flam_load_measures (load->builder, FLAM_STANDARD_WALL_TIME);
  flam_builder_add_standard_measure (
      load->builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  flam_builder_set_has_times (load->builder);
  flam_json_each (reader.json)
    if (flam_json_key_is (reader.json, "recording"))
      read_recording (&reader);
  if (!flam_json_end (reader.json, load, reader.stacks->len > 0, error))
    return FALSE;
  add_samples (&reader);
  flam_builder_warn_count (
      load->builder,
      reader.bad,
      "%" PRIu64 " sample has no duration and weighs nothing",
      "%" PRIu64 " samples have no duration and weigh nothing");
  return TRUE;
}

const FlamImporter flam_import_safari = {
  .id = "safari",
  .label = N_ ("Safari timeline"),
  .written_by = "Safari's Web Inspector, Timelines",
  .suffixes = FLAM_LIST (".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (95, "recording.sampleStackTraces"),
                       FLAM_MEMBERS (95, "recording.records[].type=" RECORD)),
  .load = load,
};
