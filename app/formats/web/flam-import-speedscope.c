/* SPDX-License-Identifier: GPL-3.0-or-later */

/* speedscope's own files (speedscope.app/file-format-schema.json):
 *
 *    {"$schema":"https://www.speedscope.app/file-format-schema.json",
 *     "shared":{"frames":[{"name":"main","file":"a.c","line":12},…]},
 *     "profiles":[
 *       {"type":"sampled","name":"main thread","unit":"milliseconds",
 *        "startValue":0,"endValue":10,
 *        "samples":[[0,1,5],…],              frames, root first
 *        "weights":[1.5,…]},                 one per sample
 *       {"type":"evented","name":…,"unit":…,
 *        "events":[{"type":"O","frame":0,"at":0},   opened
 *                  {"type":"C","frame":0,"at":7.5}, closed
 *                  …]}]}
 *
 * A sample begins where the weights before it end, and lasts its own weight.
 *
 * Members may have any order, so a first pass reads the frames and the
 * profiles' units. A profile becomes a thread; each unit of time becomes ns,
 * each unit a measure. Between two events the open frames are the stack.
 * Flambeau's own files have further members, which speedscope does not read:
 *
 *        "measure":{"id":"cpu-time","name":"CPU time","kind":"cpu"},
 *        "thread":{"index":0,"name":"main"}
 *
 * Profiles of one thread that follow one another with the same stacks are one
 * list of samples with several weights each. */

#include "flam-formats.h"

#include "flam-speedscope.h"

#include <string.h>

/* --- second pass --------------------------------------------------------- */

static gint64
get_weight (const FlamSpeedscope *reader,
            FlamJson *json,
            FlamSpeedscopeUnit unit)
{
  if (unit.is != FLAM_UNIT_NS)
    unit.scale = reader->fractions ? FLAM_SPEEDSCOPE_FRACTION : 1;
  return flam_json_get_limited (
      json, reader->builder, unit.scale, G_MININT64, G_MAXINT64);
}

static FlamStackId
push_frame (FlamSpeedscope *reader, FlamStackId stack, gint64 index)
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

#define NO_TIME (G_MININT64 / 4)

static void
add_sample (FlamSpeedscope *reader,
            guint measure,
            FlamStackId stack,
            gint64 time,
            gint64 weight)
{
  FlamSample sample = { .thread = reader->thread,
                        .stack = stack,
                        .time = time };
  gint64 weights[FLAM_SPEEDSCOPE_MAX_MEASURES] = { 0 };

  if (weight <= 0)
    {
      reader->bad += weight < 0;
      return;
    }
  weights[measure] = weight;
  flam_builder_add_sample (reader->builder, &sample, weights);
  reader->samples++;
}

static void
flush_rows (FlamSpeedscope *reader)
{
  FlamSpeedscopeRows *rows = &reader->rows;
  guint n = reader->measures->len;

  for (guint i = 0; rows->thread != FLAM_NONE && i < rows->stacks->len; i++)
    {
      FlamSample sample = { .thread = rows->thread,
                            .stack = g_array_index (rows->stacks, FlamId, i),
                            .time = g_array_index (rows->times, gint64, i) };
      const gint64 *weights = &g_array_index (rows->weights, gint64, i * n);
      gboolean any = FALSE;

      for (guint m = 0; m < n; m++)
        any |= weights[m] > 0;
      if (!any)
        continue;
      flam_builder_add_sample (reader->builder, &sample, weights);
      reader->samples++;
    }
  rows->thread = FLAM_NONE;
}

static gboolean
is_of_rows (const FlamSpeedscope *reader, guint measure)
{
  const FlamSpeedscopeRows *rows = &reader->rows;

  return rows->thread == reader->thread && !rows->has[measure] &&
         rows->stacks->len == reader->stacks->len &&
         memcmp (rows->stacks->data,
                 reader->stacks->data,
                 reader->stacks->len * sizeof (FlamId)) == 0;
}

static void
begin_rows (FlamSpeedscope *reader)
{
  FlamSpeedscopeRows *rows = &reader->rows;
  guint n = reader->stacks->len;

  flush_rows (reader);
  rows->thread = reader->thread;
  rows->timed = FALSE;
  memset (rows->has, 0, sizeof rows->has);
  g_array_set_size (rows->stacks, 0);
  g_array_append_vals (rows->stacks, reader->stacks->data, n);
  g_array_set_size (rows->times, 0);
  g_array_set_size (rows->times, n);
  g_array_set_size (rows->weights, 0);
  g_array_set_size (rows->weights, n * reader->measures->len);
}

/* Consecutive samples begin with the same frames: that part is not looked up
 * again. */
static FlamStackId
read_stack (FlamSpeedscope *reader, FlamJson *json)
{
  GArray *last = reader->last;
  FlamStackId stack = FLAM_NONE;
  guint n = 0;

  flam_json_each (json)
    {
      FlamSpeedscopeStep now = { flam_json_get_int (json), FLAM_NONE };

      if (n < last->len &&
          g_array_index (last, FlamSpeedscopeStep, n).frame == now.frame)
        {
          stack = g_array_index (last, FlamSpeedscopeStep, n++).stack;
          continue;
        }
      g_array_set_size (last, n++);
      now.stack = stack = push_frame (reader, stack, now.frame);
      g_array_append_val (last, now);
    }
  g_array_set_size (last, n);
  return stack;
}

static void
read_samples (FlamSpeedscope *reader, FlamJson *json)
{
  flam_json_each (json)
    {
      FlamStackId stack = read_stack (reader, json);
      g_array_append_val (reader->stacks, stack);
    }
}

static void
read_weights (FlamSpeedscope *reader, FlamJson *json, FlamSpeedscopeUnit unit)
{
  flam_json_each (json)
    {
      gboolean number = json->token == FLAM_JSON_NUMBER;
      gint64 weight = get_weight (reader, json, unit);

      weight = number ? weight : -1; /* counted as invalid */
      g_array_append_val (reader->weights, weight);
    }
}

/* An event closes the innermost frame, whatever frame it names: speedscope's
 * own reader refuses other files. */
static void
read_event (FlamSpeedscope *reader,
            FlamJson *json,
            const FlamSpeedscopeProfile *profile,
            gint64 *last)
{
  GArray *open = reader->open;
  FlamId top =
      open->len > 0 ? g_array_index (open, FlamId, open->len - 1) : FLAM_NONE;
  gint64 frame = -1, at = *last, weight;
  gboolean opens = FALSE;

  flam_json_each (json)
    if (flam_json_key_is (json, "type"))
      opens = flam_json_string_is (json, "O");
    else if (flam_json_key_is (json, "frame"))
      frame = flam_json_get_int (json);
    else if (flam_json_key_is (json, "at"))
      at = get_weight (reader, json, profile->unit);
  if (__builtin_sub_overflow (at, *last, &weight))
    weight = -1;
  if (top != FLAM_NONE)
    add_sample (reader, profile->measure, top, *last, weight);
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

/* Returns the time of the last one. */
static gint64
read_events (FlamSpeedscope *reader,
             FlamJson *json,
             const FlamSpeedscopeProfile *profile)
{
  gint64 last = NO_TIME;

  g_array_set_size (reader->open, 0);
  flam_json_each (json)
    read_event (reader, json, profile, &last);
  return last;
}

/* Frames that no event closes last to the end of the profile. */
static void
close_open (FlamSpeedscope *reader,
            const FlamSpeedscopeProfile *profile,
            gint64 last,
            gint64 end)
{
  GArray *open = reader->open;

  if (open->len == 0)
    return;
  if (end > last)
    add_sample (reader,
                profile->measure,
                g_array_index (open, FlamId, open->len - 1),
                last,
                end - last);
  reader->unclosed += open->len;
  g_array_set_size (open, 0);
}

static void
add_sampled (FlamSpeedscope *reader,
             const FlamSpeedscopeProfile *profile,
             gint64 start)
{
  FlamSpeedscopeRows *rows = &reader->rows;
  guint n = reader->measures->len;
  gint64 now = start;
  gboolean times;

  if (reader->weights->len > reader->stacks->len)
    reader->surplus += reader->weights->len - reader->stacks->len;
  if (reader->stacks->len == 0)
    return;
  if (!is_of_rows (reader, profile->measure))
    begin_rows (reader);
  times = profile->unit.is == FLAM_UNIT_NS && !rows->timed;
  rows->timed |= times;
  rows->has[profile->measure] = TRUE;
  for (guint i = 0; i < reader->stacks->len; i++)
    {
      gint64 weight = i < reader->weights->len
                          ? g_array_index (reader->weights, gint64, i)
                          : 0;

      reader->unweighted += i >= reader->weights->len;
      reader->bad += weight < 0;
      weight = MAX (weight, 0);
      g_array_index (rows->weights, gint64, i * n + profile->measure) = weight;
      if (times)
        g_array_index (rows->times, gint64, i) = now;
      now = flam_builder_limit (reader->builder,
                                (__int128)now + weight,
                                G_MININT64,
                                G_MAXINT64,
                                NULL);
    }
}

static void
read_profile (FlamSpeedscope *reader, FlamJson *json, guint index)
{
  const FlamSpeedscopeProfile *profile =
      &g_array_index (reader->profiles, FlamSpeedscopeProfile, index);
  gint64 start = 0, last = NO_TIME, end = NO_TIME;

  if (profile->measure == FLAM_NONE)
    {
      reader->left_out = TRUE;
      flam_json_skip (json);
      return;
    }
  g_array_set_size (reader->stacks, 0);
  g_array_set_size (reader->weights, 0);
  g_array_set_size (reader->open, 0);
  reader->thread =
      flam_builder_thread (reader->builder,
                           flam_builder_process (reader->builder, -1, 0),
                           -1,
                           profile->thread >= 0 ? (guint)profile->thread
                                                : reader->first_own + index);
  if (profile->name != 0)
    flam_builder_set_thread_name (
        reader->builder,
        reader->thread,
        flam_builder_get_string (reader->builder, profile->name));
  flam_json_each (json)
    if (flam_json_key_is (json, "name") && profile->thread < 0)
      flam_builder_set_thread_name (
          reader->builder, reader->thread, flam_json_get_string (json, NULL));
    else if (flam_json_key_is (json, "startValue"))
      start = get_weight (reader, json, profile->unit);
    else if (flam_json_key_is (json, "endValue"))
      end = get_weight (reader, json, profile->unit);
    else if (flam_json_key_is (json, "weights"))
      read_weights (reader, json, profile->unit);
    else if (flam_json_key_is (json, "samples"))
      read_samples (reader, json);
    else if (flam_json_key_is (json, "events"))
      last = read_events (reader, json, profile);
  if (json->token != FLAM_JSON_ERROR)
    close_open (reader, profile, last, end);
  add_sampled (reader, profile, start);
}

static void
second_pass (FlamSpeedscope *reader, FlamJson *json)
{
  guint index = 0;

  flam_json_each (json)
    if (flam_json_key_is (json, "profiles"))
      flam_json_each (json)
        if (index < reader->profiles->len)
          read_profile (reader, json, index++);
  flush_rows (reader);
}

/* --- the whole ----------------------------------------------------------- */

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamSpeedscope reader = {
    .load = load,
    .builder = load->builder,
    .frames = flam_arena_array (load, FlamId),
    .profiles = flam_arena_array (load, FlamSpeedscopeProfile),
    .measures = flam_arena_array (load, FlamSpeedscopeMeasure),
    .rows = { .thread = FLAM_NONE,
              .stacks = flam_arena_array (load, FlamId),
              .times = flam_arena_zeroed (load, gint64),
              .weights = flam_arena_zeroed (load, gint64) },
    .open = flam_arena_array (load, FlamId),
    .stacks = flam_arena_array (load, FlamId),
    .last = flam_arena_array (load, FlamSpeedscopeStep),
    .weights = flam_arena_array (load, gint64),
  };
  FlamJson *json;

  if (!flam_speedscope_begin (&reader, error))
    return FALSE;
  json = flam_json_load (load, NULL);
  second_pass (&reader, json);
  if (!flam_json_end (json, load, reader.samples > 0, error))
    return FALSE;
  if (reader.profiles->len == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this speedscope file has no profiles"));
  if (reader.left_out)
    flam_builder_warn (load->builder,
                       N_ ("more than %d measures: profiles with further "
                           "measures were left out"),
                       FLAM_SPEEDSCOPE_MAX_MEASURES);
  flam_builder_warn_count (
      load->builder,
      reader.unclosed,
      "%" PRIu64 " span has no end: it is shown until the end of the trace",
      "%" PRIu64
      " spans have no end: they are shown until the end of the trace");
  flam_builder_warn_count (load->builder,
                           reader.unweighted,
                           "%" PRIu64 " sample has no weight and was left out",
                           "%" PRIu64
                           " samples have no weight and were left out");
  flam_builder_warn_count (load->builder,
                           reader.surplus,
                           "%" PRIu64 " weight has no sample and was left out",
                           "%" PRIu64
                           " weights have no sample and were left out");
  flam_builder_warn_count (load->builder,
                           reader.bad,
                           "%" PRIu64 " frame, event or weight is invalid",
                           "%" PRIu64 " frames, events or weights are invalid");
  return TRUE;
}

const FlamImporter flam_import_speedscope = {
  .id = "speedscope",
  .label = "speedscope",
  .written_by = "speedscope, py-spy, many profilers",
  .suffixes = FLAM_LIST (".speedscope.json", ".speedscope"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (
      FLAM_MEMBERS (100, "$schema=https://www.speedscope.app/file-format"),
      FLAM_MEMBERS (90, "shared.frames", "profiles[].unit")),
  .load = load,
};
