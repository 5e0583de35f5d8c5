/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The result of `new Profiler().stop()` for a page that profiles itself:
 *
 *    {"resources":["https://x/app.js"],
 *     "frames":[{"name":"draw","resourceId":0,"line":4,"column":9}],
 *     "stacks":[{"frameId":0,"parentId":1}],          the parent calls
 *     "samples":[{"timestamp":10.5,"stackId":0},      ms
 *                {"timestamp":20.5}]}                 nothing ran
 *
 * A sample lasts until the next one, the last one as long as the one before.
 * Source: the JS Self-Profiling API of the Web Incubator group. */

#include "flam-formats.h"
#include "flam-json.h"

#define MS 1000000

typedef struct
{
  gint64 resource, line; /* -1: none */
  FlamStringId name;
} Frame;

typedef struct
{
  gint64 frame, parent; /* -1: none */
} Stack;

typedef struct
{
  gint64 time, stack; /* ns; -1: nothing ran */
} Sample;

typedef struct
{
  FlamBuilder *builder;
  FlamJson *json;
  GArray *resources; /* FlamStringId */
  GArray *frames;    /* Frame */
  GArray *stacks;    /* Stack */
  GArray *samples;   /* Sample */
  GArray *ids;       /* FlamStackId of each stack; FLAM_NONE: not made yet */
  GArray *way;       /* guint32: stacks whose parents come first */
  guint64 bad;
} Reader;

static gint64
get_index (FlamJson *json)
{
  gint64 index =
      json->token == FLAM_JSON_NUMBER ? flam_json_get_int (json) : -1;

  return index >= 0 && index < G_MAXINT32 ? index : -1;
}

static void
read_resources (Reader *reader)
{
  flam_json_each (reader->json)
    {
      FlamStringId url = flam_json_intern (reader->json, reader->builder);

      g_array_append_val (reader->resources, url);
    }
}

static void
read_frames (Reader *reader)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    {
      Frame frame = { .resource = -1, .line = -1 };

      flam_json_each (json)
        if (flam_json_key_is (json, "name"))
          frame.name = flam_json_intern (json, reader->builder);
        else if (flam_json_key_is (json, "resourceId"))
          frame.resource = get_index (json);
        else if (flam_json_key_is (json, "line"))
          frame.line = get_index (json);
      g_array_append_val (reader->frames, frame);
    }
}

static void
read_stacks (Reader *reader)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    {
      Stack stack = { -1, -1 };

      flam_json_each (json)
        if (flam_json_key_is (json, "frameId"))
          stack.frame = get_index (json);
        else if (flam_json_key_is (json, "parentId"))
          stack.parent = get_index (json);
      g_array_append_val (reader->stacks, stack);
    }
}

static void
read_samples (Reader *reader)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    {
      Sample sample = { 0, -1 };

      flam_json_each (json)
        if (flam_json_key_is (json, "timestamp"))
          sample.time = flam_json_get_limited (
              json, reader->builder, MS, 0, G_MAXINT64 >> 2);
        else if (flam_json_key_is (json, "stackId"))
          sample.stack = get_index (json);
      g_array_append_val (reader->samples, sample);
    }
}

/* A frame without a name is code outside any function. */
static FlamFrameId
make_frame (Reader *reader, gint64 index)
{
  FlamFunction function = { .module = FLAM_NONE,
                            .kind = FLAM_KIND_INTERPRETED };
  const Frame *frame;

  if (index < 0 || index >= reader->frames->len)
    {
      reader->bad++;
      return flam_load_frame (reader->builder, "[unknown]", -1, FLAM_KIND_ROOT);
    }
  frame = &g_array_index (reader->frames, Frame, (guint)index);
  function.name = frame->name;
  if (function.name == 0)
    function.name = flam_builder_string (reader->builder, "(anonymous)", -1);
  if (frame->resource >= 0 && frame->resource < reader->resources->len)
    function.file =
        g_array_index (reader->resources, FlamStringId, (guint)frame->resource);
  return flam_builder_frame_of (reader->builder,
                                &function,
                                0,
                                function.file != 0 ? MAX (frame->line, 0) : 0,
                                0);
}

/* Parents may come later in the table, and a damaged one may have circles. */
static FlamStackId
find_stack (Reader *reader, gint64 index)
{
  FlamStackId *ids = (FlamStackId *)(gpointer)reader->ids->data;
  FlamStackId id = FLAM_NONE;

  g_array_set_size (reader->way, 0);
  while (index >= 0 && index < reader->stacks->len && ids[index] == FLAM_NONE &&
         reader->way->len <= reader->stacks->len)
    {
      guint32 row = (guint32)index;

      g_array_append_val (reader->way, row);
      index = g_array_index (reader->stacks, Stack, row).parent;
    }
  if (index >= 0 &&
      (index >= reader->stacks->len || reader->way->len > reader->stacks->len))
    reader->bad++;
  else if (index >= 0)
    id = ids[index];
  if (reader->way->len > reader->stacks->len) /* a circle */
    g_array_set_size (reader->way, 1);
  for (guint i = reader->way->len; i-- > 0;)
    {
      guint32 row = g_array_index (reader->way, guint32, i);

      id = flam_builder_stack (
          reader->builder,
          id,
          make_frame (reader,
                      g_array_index (reader->stacks, Stack, row).frame));
      ids[row] = id;
    }
  return id;
}

static void
add_samples (Reader *reader)
{
  const Sample *samples = (const Sample *)(gpointer)reader->samples->data;
  FlamSample sample = { .thread = flam_builder_lone_thread (reader->builder) };
  gint64 weight = 0;

  for (guint i = 0; i < reader->samples->len; i++)
    {
      if (i + 1 < reader->samples->len)
        weight = MAX (samples[i + 1].time - samples[i].time, 0);
      if (samples[i].stack < 0)
        continue;
      sample.stack = find_stack (reader, samples[i].stack);
      sample.time = samples[i].time;
      flam_builder_add_sample (reader->builder, &sample, &weight);
    }
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .builder = load->builder,
                    .json = flam_json_load (load, NULL),
                    .resources = flam_arena_array (load, FlamStringId),
                    .frames = flam_arena_array (load, Frame),
                    .stacks = flam_arena_array (load, Stack),
                    .samples = flam_arena_array (load, Sample),
                    .ids = flam_arena_array (load, FlamStackId),
                    .way = flam_arena_array (load, guint32) };
  FlamStackId none = FLAM_NONE;

  flam_json_each (reader.json)
    if (flam_json_key_is (reader.json, "resources"))
      read_resources (&reader);
    else if (flam_json_key_is (reader.json, "frames"))
      read_frames (&reader);
    else if (flam_json_key_is (reader.json, "stacks"))
      read_stacks (&reader);
    else if (flam_json_key_is (reader.json, "samples"))
      read_samples (&reader);
  if (!flam_json_end (reader.json, load, reader.samples->len > 0, error))
    return FALSE;
  for (guint i = 0; i < reader.stacks->len; i++)
    g_array_append_val (reader.ids, none);
  flam_builder_set_has_times (load->builder);
  flam_builder_set_spans (
      load->builder,
      flam_load_measures (load->builder, FLAM_STANDARD_WALL_TIME),
      FLAM_SPANS_SAMPLES);
  flam_builder_add_standard_measure (
      load->builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  add_samples (&reader);
  flam_builder_warn_count (
      load->builder,
      reader.bad,
      "%" PRIu64 " invalid number in the stacks was left out",
      "%" PRIu64 " invalid numbers in the stacks were left out");
  return TRUE;
}

const FlamImporter flam_import_js_self = {
  .id = "js-self",
  .label = "JS Self-Profiling",
  .written_by = "the Profiler of a web page, as JSON",
  .suffixes = FLAM_LIST (".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (
      85, "resources", "stacks[].frameId", "samples[].timestamp")),
  .load = load,
};
