/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The output of Pyroscope's "Export to JSON" and of its older servers' render
 * API:
 *
 *    {"version":1,
 *     "flamebearer":{"names":["total","main","work"],
 *                    "levels":[[0,30,0,0], [0,30,2,1], [2,28,28,2]], …},
 *     "metadata":{"format":"single","sampleRate":100,"units":"samples",…},
 *     "timeline":{"startTime":1638220800,…}}
 *
 * A level is a row of the flame graph; a bar is four numbers: the gap to the
 * bar before it, its total and self values, its name. It was called by the bar
 * above it. In a comparison ("double") it is seven, of the left side, of the
 * right one, and the name. Source: the comments of Pyroscope's
 * structs/flamebearer. */

#include "flam-formats.h"
#include "flam-json.h"

typedef struct
{
  gint64 start, end;
  FlamStackId stack;
} Bar;

typedef struct
{
  FlamLoad *load;
  GArray *names;  /* FlamId: frames */
  GArray *bars;   /* Bar: of the level that is being read */
  GArray *before; /* of the one above it */
  GArray *values; /* gint64 */
  FlamThreadId thread;
  gboolean is_double;
  gboolean first; /* it is the sum, and not a function */
  gint64 scale;
  guint64 samples, bad;
} Reader;

enum
{
  GAP,
  TOTAL,
  SELF,
  N_OF_SIDE
};

/* --- measures ------------------------------------------------------------ */

typedef struct
{
  FlamMeasureRow row;
  gint64 scale;
} Units;

/* Samples at a known rate are time. */
static void
find_units (const char *name, gint64 rate, Units *units)
{
  static const struct
  {
    const char *name;
    Units units;
  } known[] = {
    { "objects", { { "objects", N_ ("Objects"), FLAM_OF_BLOCKS }, 1 } },
    { "bytes", { { "bytes", N_ ("Memory"), FLAM_OF_BYTES }, 1 } },
    { "goroutines", { { "goroutines", N_ ("Goroutines"), FLAM_OF_COUNT }, 1 } },
    { "lock_nanoseconds",
      { { "lock-time", N_ ("Waiting for locks"), FLAM_OF_TIME }, 1 } },
  };

  *units = (Units){ { "samples", N_ ("Samples"), FLAM_OF_COUNT }, 1 };
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_strcmp0 (name, known[i].name) == 0)
      *units = known[i].units;
  if (g_strcmp0 (name, "samples") == 0 && rate > 0 &&
      G_GINT64_CONSTANT (1000000000) % rate == 0)
    *units = (Units){ { "time", N_ ("Time"), FLAM_OF_TIME },
                      G_GINT64_CONSTANT (1000000000) / rate };
}

static void
add_measures (Reader *reader, const Units *units)
{
  FlamBuilder *builder = reader->load->builder;
  FlamMeasureRow before = units->row;
  int left = 0;
  int right;

  if (reader->is_double)
    left = (int)flam_builder_add_column (builder);
  right = (int)flam_builder_add_column (builder);
  reader->scale = units->scale;
  flam_load_measure (builder, &units->row, right, FLAM_NONE);
  before.id = "base";
  before.name = N_ ("Before");
  if (reader->is_double)
    flam_load_measure (builder, &before, left, FLAM_NONE);
}

/* --- bars ---------------------------------------------------------------- */

static gboolean
read_bar (Reader *reader, const gint64 *value, gint64 *at, guint *above)
{
  FlamBuilder *builder = reader->load->builder;
  guint sides = reader->is_double ? 2 : 1;
  gint64 name = value[sides * N_OF_SIDE];
  FlamSample sample = { .thread = reader->thread };
  Bar bar = { .stack = FLAM_NONE };
  gint64 weights[2] = { 0 };
  gint64 width = 0, sum = 0;

  for (guint i = 0; i < sides; i++)
    {
      const gint64 *side = value + i * N_OF_SIDE;
      if (side[GAP] < 0 || side[TOTAL] < 0 || side[SELF] < 0 ||
          side[SELF] > side[TOTAL] ||
          __builtin_add_overflow (*at, side[GAP], at) ||
          __builtin_add_overflow (width, side[TOTAL], &width) ||
          __builtin_mul_overflow (side[SELF], reader->scale, &weights[i]))
        return FALSE;
      sum |= weights[i];
    }
  bar.start = *at;
  if (__builtin_add_overflow (*at, width, &bar.end) || name < 0 ||
      name >= reader->names->len)
    return FALSE;
  *at = bar.end;
  if (!reader->first)
    {
      const Bar *caller;
      while (*above < reader->before->len &&
             g_array_index (reader->before, Bar, *above).end <= bar.start)
        (*above)++;
      if (*above >= reader->before->len)
        return FALSE;
      caller = &g_array_index (reader->before, Bar, *above);
      if (caller->start > bar.start || caller->end < bar.end)
        return FALSE;
      bar.stack = flam_builder_stack (
          builder, caller->stack, g_array_index (reader->names, FlamId, name));
    }
  g_array_append_val (reader->bars, bar);
  sample.stack = bar.stack;
  if (sum != 0)
    flam_builder_add_sample (builder, &sample, weights);
  reader->samples += sum != 0;
  return TRUE;
}

static void
read_level (Reader *reader, FlamJson *json)
{
  guint size = reader->is_double ? 2 * N_OF_SIDE + 1 : N_OF_SIDE + 1;
  GArray *above = reader->bars;
  gint64 at = 0;
  guint caller = 0;

  reader->bars = reader->before;
  reader->before = above;
  g_array_set_size (reader->bars, 0);
  g_array_set_size (reader->values, 0);
  flam_json_get_ints (json, reader->values);
  for (guint i = 0; i + size <= reader->values->len; i += size)
    reader->bad += !read_bar (
        reader, &g_array_index (reader->values, gint64, i), &at, &caller);
  reader->first = FALSE;
}

static void
read_names (Reader *reader, FlamJson *json)
{
  flam_json_each (json)
    {
      gsize length;
      const char *name = flam_json_get_string (json, &length);
      FlamFrameId frame = flam_load_frame (
          reader->load->builder, name, (gssize)length, FLAM_KIND_NATIVE);
      g_array_append_val (reader->names, frame);
    }
}

static void
read_levels (Reader *reader, FlamJsonText piece)
{
  g_auto (FlamJson) json = { 0 };

  flam_json_open (&json, piece.text, piece.length);
  flam_json_report (&json, reader->load->options->progress);
  flam_json_each (&json)
    read_level (reader, &json);
}

/* The names may follow the levels, which need them. */
static void
read_flamebearer (Reader *reader, FlamJsonText piece)
{
  g_auto (FlamJson) json = { 0 };
  FlamJsonText levels = { .text = "" };

  flam_json_open (&json, piece.text, piece.length);
  flam_json_each (&json)
    if (flam_json_key_is (&json, "names"))
      read_names (reader, &json);
    else if (flam_json_key_is (&json, "levels"))
      levels = flam_json_take (&json);
  read_levels (reader, levels);
}

/* --- the document -------------------------------------------------------- */

static void
read_metadata (Reader *reader, FlamJson *json, Units *units)
{
  g_autofree char *name = NULL;
  gint64 rate = 0;

  flam_json_each (json)
    if (flam_json_key_is (json, "format"))
      reader->is_double = flam_json_string_is (json, "double");
    else if (flam_json_key_is (json, "sampleRate"))
      rate = flam_json_get_int (json);
    else if (flam_json_key_is (json, "units") && name == NULL)
      name = g_strdup (flam_json_get_string (json, NULL));
    else if (flam_json_key_is (json, "name"))
      flam_builder_set_command (reader->load->builder,
                                flam_json_get_string (json, NULL));
  find_units (name, rate, units);
}

static void
read_timeline (Reader *reader, FlamJson *json)
{
  flam_json_each (json)
    if (flam_json_key_is (json, "startTime"))
      flam_builder_facts (reader->load->builder)->start_unix_ns =
          MAX (flam_json_get_scaled (json, 1000000000), 0);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .load = load,
                    .names = flam_arena_array (load, FlamId),
                    .bars = flam_arena_array (load, Bar),
                    .before = flam_arena_array (load, Bar),
                    .values = flam_arena_array (load, gint64),
                    .thread = flam_builder_lone_thread (load->builder),
                    .first = TRUE };
  FlamJson *json = flam_json_load (load, NULL);
  FlamJsonText flamebearer = { .text = "" };
  Units units;

  find_units (NULL, 0, &units);
  flam_json_each (json)
    if (flam_json_key_is (json, "flamebearer"))
      flamebearer = flam_json_take (json);
    else if (flam_json_key_is (json, "metadata"))
      read_metadata (&reader, json, &units);
    else if (flam_json_key_is (json, "timeline"))
      read_timeline (&reader, json);
  add_measures (&reader, &units);
  read_flamebearer (&reader, flamebearer);
  flam_builder_warn_count (load->builder,
                           reader.bad,
                           "%" PRIu64 " damaged record was left out",
                           "%" PRIu64 " damaged records were left out");
  return flam_json_end (json, load, reader.samples > 0, error);
}

const FlamImporter flam_import_pyroscope = {
  .id = "pyroscope",
  .label = "Pyroscope",
  .written_by = "Pyroscope, Export to JSON",
  .suffixes = FLAM_LIST (".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (85, "flamebearer.names")),
  .load = load,
};
