/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-speedscope.h"

#include <string.h>

static FlamSpeedscopeUnit
parse_unit (FlamJson *json)
{
  static const struct
  {
    const char *word;
    FlamSpeedscopeUnit unit;
  } units[] = {
    { "nanoseconds", { FLAM_UNIT_NS, 1 } },
    { "microseconds", { FLAM_UNIT_NS, 1000 } },
    { "milliseconds", { FLAM_UNIT_NS, 1000000 } },
    { "seconds", { FLAM_UNIT_NS, 1000000000 } },
    { "bytes", { FLAM_UNIT_BYTES, 1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (flam_json_string_is (json, units[i].word))
      return units[i].unit;
  return (FlamSpeedscopeUnit){ FLAM_UNIT_COUNT, 1 };
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
read_frame (FlamSpeedscope *reader, FlamJson *json)
{
  FlamFunction function = { .module = FLAM_NONE };
  gint64 line = 0;
  FlamId id;

  flam_json_each (json)
    if (flam_json_key_is (json, "name") || flam_json_key_is (json, "file"))
      {
        gboolean is_name = flam_json_key_is (json, "name");
        gsize length;
        const char *text = flam_json_get_string (json, &length);
        FlamStringId string =
            flam_builder_string (reader->builder, text, length);
        *(is_name ? &function.name : &function.file) = string;
      }
    else if (flam_json_key_is (json, "line"))
      line = flam_json_get_int (json);
  if (function.name == 0)
    function.name = flam_builder_string (reader->builder, "[unknown]", -1);
  function.kind =
      kind_of (flam_builder_get_string (reader->builder, function.name),
               flam_builder_get_string (reader->builder, function.file));
  id = flam_builder_frame_of (reader->builder,
                              &function,
                              0,
                              line > 0 && line <= G_MAXINT32 ? line : 0,
                              0);
  g_array_append_val (reader->frames, id);
}

static void
read_frames (FlamSpeedscope *reader, FlamJson *json)
{
  flam_json_each (json)
    if (flam_json_key_is (json, "frames"))
      flam_json_each (json)
        read_frame (reader, json);
}

static void
note_fraction (FlamSpeedscope *reader, const FlamJson *json)
{
  if (json->token == FLAM_JSON_NUMBER && json->exponent < 0 &&
      json->mantissa != 0)
    reader->fractions = TRUE;
}

static void
note_fractions (FlamSpeedscope *reader, FlamJson *json)
{
  flam_json_each (json)
    if (json->token != FLAM_JSON_OBJECT)
      note_fraction (reader, json);
    else
      flam_json_each (json)
        if (flam_json_key_is (json, "at"))
          note_fraction (reader, json);
}

/* The measure of a profile's unit, if no other is given. */
static FlamSpeedscopeMeasure
plain_measure (FlamSpeedscope *reader, FlamUnit unit)
{
  static const struct
  {
    const char *id, *name;
    FlamMeasureKind kind;
  } measures[] = {
    [FLAM_UNIT_NS] = { "wall-time", N_ ("Wall time"), FLAM_MEASURE_CPU },
    [FLAM_UNIT_COUNT] = { "samples", N_ ("Samples"), FLAM_MEASURE_CPU },
    [FLAM_UNIT_BYTES] = { "allocated", N_ ("Allocated"), FLAM_MEASURE_ALLOC },
  };

  return (FlamSpeedscopeMeasure){
    flam_builder_string (reader->builder, measures[unit].id, -1),
    flam_builder_string (reader->builder, measures[unit].name, -1),
    unit,
    measures[unit].kind,
    FALSE,
  };
}

static void
read_measure (FlamSpeedscope *reader,
              FlamJson *json,
              FlamSpeedscopeMeasure *measure)
{
  flam_json_each (json)
    if (flam_json_key_is (json, "id"))
      measure->id = flam_json_intern (json, reader->builder);
    else if (flam_json_key_is (json, "name"))
      measure->name = flam_json_intern (json, reader->builder);
    else if (flam_json_key_is (json, "kind"))
      measure->kind = flam_json_string_is (json, "alloc") ? FLAM_MEASURE_ALLOC
                                                          : FLAM_MEASURE_CPU;
}

static void
read_thread (FlamSpeedscope *reader,
             FlamJson *json,
             FlamSpeedscopeProfile *profile)
{
  flam_json_each (json)
    if (flam_json_key_is (json, "index"))
      profile->thread = CLAMP (flam_json_get_int (json), -1, G_MAXINT32);
    else if (flam_json_key_is (json, "name"))
      profile->name = flam_json_intern (json, reader->builder);
}

/* FLAM_NONE: the limit is reached. */
static guint
find_measure (FlamSpeedscope *reader, const FlamSpeedscopeMeasure *wanted)
{
  GArray *measures = reader->measures;

  for (guint i = 0; i < measures->len; i++)
    {
      FlamSpeedscopeMeasure *measure =
          &g_array_index (measures, FlamSpeedscopeMeasure, i);
      if (measure->id != wanted->id || measure->unit != wanted->unit)
        continue;
      measure->evented |= wanted->evented;
      return i;
    }
  if (measures->len >= FLAM_SPEEDSCOPE_MAX_MEASURES)
    return FLAM_NONE;
  g_array_append_val (measures, *wanted);
  return measures->len - 1;
}

static void
note_profile (FlamSpeedscope *reader, FlamJson *json)
{
  FlamSpeedscopeProfile profile = { { FLAM_UNIT_COUNT, 1 }, 0, -1, 0 };
  FlamSpeedscopeMeasure said = { .unit = FLAM_UNIT_COUNT };
  FlamSpeedscopeMeasure measure;
  gboolean evented = FALSE;

  flam_json_each (json)
    if (flam_json_key_is (json, "unit"))
      profile.unit = parse_unit (json);
    else if (flam_json_key_is (json, "measure"))
      read_measure (reader, json, &said);
    else if (flam_json_key_is (json, "thread"))
      read_thread (reader, json, &profile);
    else if (flam_json_key_is (json, "weights") ||
             flam_json_key_is (json, "events"))
      {
        evented |= flam_json_key_is (json, "events");
        note_fractions (reader, json);
      }
  measure = plain_measure (reader, profile.unit.is);
  if (said.id != 0)
    measure = (FlamSpeedscopeMeasure){ said.id,
                                       said.name != 0 ? said.name : said.id,
                                       profile.unit.is,
                                       said.kind,
                                       FALSE };
  measure.evented = evented;
  profile.measure = find_measure (reader, &measure);
  g_array_append_val (reader->profiles, profile);
}

static void
first_pass (FlamSpeedscope *reader, FlamJson *json)
{
  flam_json_each (json)
    if (flam_json_key_is (json, "shared"))
      read_frames (reader, json);
    else if (flam_json_key_is (json, "activeProfileIndex"))
      reader->active = flam_json_get_int (json);
    else if (flam_json_key_is (json, "profiles"))
      flam_json_each (json)
        note_profile (reader, json);
}

/* Whether each thread has a measure of time, which gives the samples' times. */
static gboolean
has_times (const FlamSpeedscope *reader)
{
  const FlamSpeedscopeProfile *profiles =
      (const FlamSpeedscopeProfile *)(gpointer)reader->profiles->data;
  g_autoptr (GHashTable) timed = g_hash_table_new (NULL, NULL);
  guint n = reader->profiles->len;

  for (guint i = 0; i < n; i++)
    if (profiles[i].unit.is == FLAM_UNIT_NS)
      g_hash_table_add (timed, GINT_TO_POINTER ((gint)profiles[i].thread));
  for (guint i = 0; i < n; i++)
    if (profiles[i].unit.is != FLAM_UNIT_NS &&
        (profiles[i].thread < 0 ||
         !g_hash_table_contains (timed,
                                 GINT_TO_POINTER ((gint)profiles[i].thread))))
      return FALSE;
  return n > 0;
}

static void
add_measure (FlamSpeedscope *reader, guint index)
{
  const FlamSpeedscopeMeasure *said =
      &g_array_index (reader->measures, FlamSpeedscopeMeasure, index);
  g_autofree char *id =
      g_strdup (flam_builder_get_string (reader->builder, said->id));
  g_autofree char *name =
      g_strdup (flam_builder_get_string (reader->builder, said->name));
  guint measure = flam_builder_add_measure (
      reader->builder, id, name, said->unit, said->kind, index, FLAM_NONE);

  if (said->unit == FLAM_UNIT_NS)
    flam_builder_set_spans (reader->builder,
                            measure,
                            said->evented ? FLAM_SPANS_CALLS
                                          : FLAM_SPANS_SAMPLES);
  else if (reader->fractions)
    flam_builder_set_denominator (
        reader->builder, measure, FLAM_SPEEDSCOPE_FRACTION);
}

/* The default measure comes first. */
static void
add_measures (FlamSpeedscope *reader)
{
  guint n = reader->measures->len;
  guint first = reader->active >= 0 && reader->active < reader->profiles->len
                    ? g_array_index (reader->profiles,
                                     FlamSpeedscopeProfile,
                                     (guint)reader->active)
                          .measure
                    : 0;

  if (first == FLAM_NONE)
    first = 0;
  for (guint i = 0; i < n; i++)
    flam_builder_add_column (reader->builder);
  for (guint i = 0; i < n; i++)
    add_measure (reader, (first + i) % n);
  if (has_times (reader))
    flam_builder_set_has_times (reader->builder);
  for (guint i = 0; i < reader->profiles->len; i++)
    reader->first_own =
        MAX (reader->first_own,
             (guint)(g_array_index (reader->profiles, FlamSpeedscopeProfile, i)
                         .thread +
                     1));
}

gboolean
flam_speedscope_begin (FlamSpeedscope *reader, GError **error)
{
  FlamJson *json = flam_json_load (reader->load, NULL);

  first_pass (reader, json);
  add_measures (reader);
  return json->cancelled == NULL ||
         flam_json_finish (json, reader->load->source, error);
}
