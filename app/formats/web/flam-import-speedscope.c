/* SPDX-License-Identifier: GPL-3.0-or-later */

/* speedscope's own files (speedscope.app/file-format-schema.json):
 *
 *    {"$schema":"https://www.speedscope.app/file-format-schema.json",
 *     "shared":{"frames":[{"name":"main","file":"a.c","line":12},…]},
 *     "profiles":[
 *       {"type":"sampled","name":"main thread","unit":"milliseconds",
 *        "startValue":0,"endValue":10,
 *        "samples":[[0,1,5],…],              frames, root first
 *        "weights":[1.5,…]},                 one a sample
 *       {"type":"evented","name":…,"unit":…,
 *        "events":[{"type":"O","frame":0,"at":0},   opened
 *                  {"type":"C","frame":0,"at":7.5}, closed
 *                  …]}]}
 *
 * Members may come in any order, so a first pass reads the frames and the
 * profiles' units. A profile becomes a thread; each unit of time becomes ns,
 * each unit a measure. Between two events the open frames are the stack. */

#include "flam-formats.h"

#include "flam-json.h"

#include <string.h>

#define FRACTION 1000000
typedef enum
{
  IS_TIME,
  IS_COUNT,
  IS_SIZE,
  N_MEASURES
} Measure;

typedef struct
{
  Measure measure;
  guint32 scale; /* of time: to ns */
} Unit;

typedef struct
{
  gint64 frame;
  FlamId stack;
} Step;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  const FlamProgress *progress;
  GArray *frames;  /* FlamId */
  GArray *units;   /* Unit, one a profile */
  GArray *open;    /* FlamId: stacks, of an evented profile */
  GArray *stacks;  /* FlamId: of a sampled profile */
  GArray *last;    /* Step: of the last sample */
  GArray *weights; /* gint64 */
  gboolean fractions;
  gboolean used[N_MEASURES];
  guint event[N_MEASURES];
  GError *cancelled;
  FlamId thread;
  guint64 samples;
  guint64 bad;
} Reader;

/* --- first pass ---------------------------------------------------------- */

static Unit
parse_unit (FlamJson *json)
{
  static const struct
  {
    const char *word;
    Unit unit;
  } units[] = {
    { "nanoseconds", { IS_TIME, 1 } },
    { "microseconds", { IS_TIME, 1000 } },
    { "milliseconds", { IS_TIME, 1000000 } },
    { "seconds", { IS_TIME, 1000000000 } },
    { "bytes", { IS_SIZE, 1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (flam_json_string_is (json, units[i].word))
      return units[i].unit;
  return (Unit){ IS_COUNT, 1 };
}

static FlamFunctionKind
kind_of (const char *name, const char *file)
{
  static const char *const sources[] = { ".py", ".rb",  ".js", ".mjs",
                                         ".ts", ".php", ".lua" };

  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    if (g_str_has_suffix (file, sources[i]))
      return FLAM_KIND_INTERPRETED;
  return strcmp (name, "[unknown]") == 0 ? FLAM_KIND_UNRESOLVED
                                         : FLAM_KIND_NATIVE;
}

static void
read_frame (Reader *reader, FlamJson *json)
{
  guint depth = flam_json_enter (json);
  FlamFunction function = { .module = FLAM_NONE };
  gint64 line = 0;
  FlamId id;

  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "name") || flam_json_key_is (json, "file"))
      {
        gboolean is_name = flam_json_key_is (json, "name");
        gsize length;
        const char *text = flam_json_get_string (json, &length);
        FlamId string = flam_builder_string (reader->builder, text, length);
        *(is_name ? &function.name : &function.file) = string;
      }
    else if (flam_json_key_is (json, "line"))
      line = flam_json_get_int (json);
  if (function.name == 0)
    function.name = flam_builder_string (reader->builder, "[unknown]", -1);
  function.kind =
      kind_of (flam_builder_get_string (reader->builder, function.name),
               flam_builder_get_string (reader->builder, function.file));
  id = flam_builder_frame (reader->builder,
                           flam_builder_function (reader->builder, &function),
                           0,
                           line > 0 && line <= G_MAXINT32 ? line : 0,
                           0);
  g_array_append_val (reader->frames, id);
}

static void
read_frames (Reader *reader, FlamJson *json)
{
  guint depth = flam_json_enter (json);

  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "frames"))
      {
        guint inner = flam_json_enter (json);
        for (; flam_json_element (json, inner);
             flam_json_step (json, reader->progress, &reader->cancelled))
          read_frame (reader, json);
      }
}

static void
note_fraction (Reader *reader, const FlamJson *json)
{
  if (json->token == FLAM_JSON_NUMBER && json->exponent < 0 &&
      json->mantissa != 0)
    reader->fractions = TRUE;
}

static void
note_fractions (Reader *reader, FlamJson *json)
{
  guint depth = flam_json_enter (json);

  for (; flam_json_element (json, depth);
       flam_json_step (json, reader->progress, &reader->cancelled))
    if (json->token == FLAM_JSON_OBJECT)
      {
        guint inner = flam_json_enter (json);
        while (flam_json_member (json, inner))
          if (flam_json_key_is (json, "at"))
            note_fraction (reader, json);
      }
    else
      note_fraction (reader, json);
}

static void
note_profile (Reader *reader, FlamJson *json)
{
  guint depth = flam_json_enter (json);
  Unit unit = { IS_COUNT, 1 };

  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "unit"))
      unit = parse_unit (json);
    else if (flam_json_key_is (json, "weights") ||
             flam_json_key_is (json, "events"))
      note_fractions (reader, json);
  g_array_append_val (reader->units, unit);
  reader->used[unit.measure] = TRUE;
}

static void
first_pass (Reader *reader)
{
  g_auto (FlamJson) json = { 0 };
  guint depth, inner;

  depth = flam_json_open (&json, reader->source->data, reader->source->size);
  while (flam_json_member (&json, depth))
    if (flam_json_key_is (&json, "shared"))
      read_frames (reader, &json);
    else if (flam_json_key_is (&json, "profiles"))
      {
        inner = flam_json_enter (&json);
        while (flam_json_element (&json, inner))
          note_profile (reader, &json);
      }
}

/* --- second pass --------------------------------------------------------- */

static gint64
get_weight (const Reader *reader, FlamJson *json, Unit unit)
{
  if (unit.measure != IS_TIME)
    return flam_json_get_scaled (json, reader->fractions ? FRACTION : 1);
  return flam_json_get_scaled (json, unit.scale);
}

static FlamId
push_frame (Reader *reader, FlamId stack, gint64 index)
{
  if (index < 0 || index >= reader->frames->len)
    {
      reader->bad++;
      return stack;
    }
  return flam_builder_stack (
      reader->builder,
      stack,
      g_array_index (reader->frames, FlamId, (guint)index));
}

static void
add_sample (Reader *reader, Unit unit, FlamId stack, gint64 time, gint64 weight)
{
  FlamSample sample = {
    .thread = reader->thread,
    .stack = stack,
    .time = time,
    .event = reader->event[unit.measure],
  };

  if (weight <= 0)
    {
      reader->bad += weight < 0;
      return;
    }
  flam_builder_add_sample (reader->builder, &sample, &weight);
  reader->samples++;
}

/* Samples that follow one another begin alike: what they share is not looked
 * up again. */
static FlamId
read_stack (Reader *reader, FlamJson *json)
{
  guint depth = flam_json_enter (json);
  GArray *last = reader->last;
  FlamId stack = FLAM_NONE;
  guint n = 0;

  for (; flam_json_element (json, depth); n++)
    {
      Step now = { flam_json_get_int (json), FLAM_NONE };

      if (n < last->len && g_array_index (last, Step, n).frame == now.frame)
        {
          stack = g_array_index (last, Step, n).stack;
          continue;
        }
      g_array_set_size (last, n);
      now.stack = stack = push_frame (reader, stack, now.frame);
      g_array_append_val (last, now);
    }
  g_array_set_size (last, n);
  return stack;
}

static void
read_samples (Reader *reader, FlamJson *json)
{
  guint depth = flam_json_enter (json);

  for (; flam_json_element (json, depth);
       flam_json_step (json, reader->progress, &reader->cancelled))
    {
      FlamId stack = read_stack (reader, json);
      g_array_append_val (reader->stacks, stack);
    }
}

static void
read_weights (Reader *reader, FlamJson *json, Unit unit)
{
  guint depth = flam_json_enter (json);

  while (flam_json_element (json, depth))
    {
      gint64 weight = get_weight (reader, json, unit);
      g_array_append_val (reader->weights, weight);
    }
}

/* An event closes what is on top, whatever frame it names: speedscope's own
 * reader refuses other files. */
static void
read_event (Reader *reader, FlamJson *json, Unit unit, gint64 *last)
{
  guint depth = flam_json_enter (json);
  GArray *open = reader->open;
  FlamId top =
      open->len > 0 ? g_array_index (open, FlamId, open->len - 1) : FLAM_NONE;
  gint64 frame = -1, at = *last, weight;
  gboolean opens = FALSE;

  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "type"))
      opens = flam_json_string_is (json, "O");
    else if (flam_json_key_is (json, "frame"))
      frame = flam_json_get_int (json);
    else if (flam_json_key_is (json, "at"))
      at = get_weight (reader, json, unit);
  if (__builtin_sub_overflow (at, *last, &weight))
    weight = -1;
  if (top != FLAM_NONE)
    add_sample (reader, unit, top, *last, weight);
  *last = MAX (at, *last);
  if (opens)
    {
      top = push_frame (reader, top, frame);
      g_array_append_val (open, top);
    }
  else if (open->len > 0)
    g_array_set_size (open, open->len - 1);
  else
    reader->bad++;
}

static void
read_events (Reader *reader, FlamJson *json, Unit unit)
{
  guint depth = flam_json_enter (json);
  gint64 last = G_MININT64 / 4;

  g_array_set_size (reader->open, 0);
  for (; flam_json_element (json, depth);
       flam_json_step (json, reader->progress, &reader->cancelled))
    read_event (reader, json, unit, &last);
}

static void
add_sampled (Reader *reader, Unit unit, gint64 start)
{
  gint64 now = start;

  for (guint i = 0; i < reader->stacks->len; i++)
    {
      gint64 weight = i < reader->weights->len
                          ? g_array_index (reader->weights, gint64, i)
                          : 1;
      add_sample (
          reader, unit, g_array_index (reader->stacks, FlamId, i), now, weight);
      if (__builtin_add_overflow (now, MAX (weight, 0), &now))
        now = G_MAXINT64;
    }
}

static void
read_profile (Reader *reader, FlamJson *json, guint index)
{
  guint depth = flam_json_enter (json);
  Unit unit = g_array_index (reader->units, Unit, index);
  gint64 start = 0;

  g_array_set_size (reader->stacks, 0);
  g_array_set_size (reader->weights, 0);
  reader->thread =
      flam_builder_thread (reader->builder,
                           flam_builder_process (reader->builder, -1, 0),
                           -1,
                           index);
  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "name"))
      flam_builder_set_thread_name (
          reader->builder, reader->thread, flam_json_get_string (json, NULL));
    else if (flam_json_key_is (json, "startValue"))
      start = get_weight (reader, json, unit);
    else if (flam_json_key_is (json, "weights"))
      read_weights (reader, json, unit);
    else if (flam_json_key_is (json, "samples"))
      read_samples (reader, json);
    else if (flam_json_key_is (json, "events"))
      read_events (reader, json, unit);
  add_sampled (reader, unit, start);
}

static void
second_pass (Reader *reader, FlamJson *json)
{
  guint depth, inner;

  flam_json_next (json);
  depth = flam_json_enter (json);
  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "profiles"))
      {
        guint index = 0;
        inner = flam_json_enter (json);
        while (flam_json_element (json, inner) && index < reader->units->len)
          read_profile (reader, json, index++);
      }
}

/* --- the whole ----------------------------------------------------------- */

static void
add_measures (Reader *reader)
{
  static const struct
  {
    const char *id, *name;
    FlamUnit unit;
    FlamMeasureKind kind;
  } measures[N_MEASURES] = {
    { "wall-time", N_ ("Wall time"), FLAM_UNIT_NS, FLAM_MEASURE_CPU },
    { "samples", N_ ("Samples"), FLAM_UNIT_COUNT, FLAM_MEASURE_CPU },
    { "allocated", N_ ("Allocated"), FLAM_UNIT_BYTES, FLAM_MEASURE_ALLOC },
  };
  guint n = 0;

  flam_builder_add_column (reader->builder);
  for (guint i = 0; i < N_MEASURES; i++)
    if (reader->used[i])
      {
        guint measure = flam_builder_add_measure (reader->builder,
                                                  measures[i].id,
                                                  measures[i].name,
                                                  measures[i].unit,
                                                  measures[i].kind,
                                                  0,
                                                  n);
        reader->event[i] = n++;
        if (i == IS_TIME)
          flam_builder_set_spans (reader->builder, measure);
        if (reader->fractions && i != IS_TIME)
          flam_builder_set_denominator (reader->builder, measure, FRACTION);
      }
  if (n == 1 && reader->used[IS_TIME])
    flam_builder_set_has_times (reader->builder);
}

static gboolean
read_file (Reader *reader, GError **error)
{
  g_auto (FlamJson) json = { 0 };

  flam_json_init (&json, reader->source->data, reader->source->size);
  first_pass (reader);
  add_measures (reader);
  if (reader->cancelled != NULL)
    json.at = json.end;
  second_pass (reader, &json);
  if (reader->cancelled != NULL)
    {
      g_propagate_error (error, reader->cancelled);
      return FALSE;
    }
  if (!flam_json_finish_partly (&json,
                                reader->source,
                                reader->samples > 0 ? reader->builder : NULL,
                                error))
    return FALSE;
  if (reader->units->len == 0)
    return flam_source_invalid (
        reader->source, error, N_ ("a speedscope file without profiles"));
  if (reader->bad > 0)
    flam_builder_warn (
        reader->builder,
        FLAM_PLURAL (reader->bad,
                     "%" PRIu64 " frame, event or weight makes no sense",
                     "%" PRIu64 " frames, events or weights make no sense"),
        reader->bad);
  return TRUE;
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  Reader reader = {
    .source = source,
    .builder = builder,
    .progress = options->progress,
    .frames = g_array_new (FALSE, FALSE, sizeof (FlamId)),
    .units = g_array_new (FALSE, FALSE, sizeof (Unit)),
    .open = g_array_new (FALSE, FALSE, sizeof (FlamId)),
    .stacks = g_array_new (FALSE, FALSE, sizeof (FlamId)),
    .last = g_array_new (FALSE, FALSE, sizeof (Step)),
    .weights = g_array_new (FALSE, FALSE, sizeof (gint64)),
  };
  gboolean ok = read_file (&reader, error);

  g_array_unref (reader.frames);
  g_array_unref (reader.units);
  g_array_unref (reader.open);
  g_array_unref (reader.stacks);
  g_array_unref (reader.last);
  g_array_unref (reader.weights);
  return ok;
}

/* The schema's address stands at either end; else the members' names do. */
static guint
probe (const FlamSource *source)
{
  static const char schema[] = "speedscope.app/file-format-schema";
  const guint8 *tail = source->data + source->size - MIN (source->size, 512);

  if (flam_source_first_char (source) != '{')
    return 0;
  if (flam_source_head_has (source, 16384, schema) ||
      memmem (
          tail, source->data + source->size - tail, schema, strlen (schema)) !=
          NULL)
    return 100;
  return 0;
}

const FlamImporter flam_import_speedscope = {
  .id = "speedscope",
  .label = "speedscope",
  .suffixes = FLAM_LIST (".speedscope.json", ".speedscope"),
  .mime_types = FLAM_LIST ("application/json"),
  .probe = probe,
  .load = load,
};
