/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Ruby's stackprof, as `stackprof --json` prints it:
 *
 *    {"version":1.2, "mode":"cpu", "interval":1000, "samples":40,
 *     "frames":{"140546":{"name":"Object#work","file":"/x.rb","line":2,
 *                         "samples":15, …}, …},
 *     "raw":[3, 140601, 140588, 140546, 2, …],      depth, root first, count
 *     "raw_lines":[…], "raw_timestamp_deltas":[…]}
 *
 * A number of "raw_lines" has the line in its upper bits. Without "raw" only
 * the self weight of each function is known. The mode decides the unit: a
 * sample of cpu and wall lasts the interval, in µs, one of objects stands for
 * that many. Source: stackprof's README. */

#include "flam-formats.h"

#include "flam-core-profile.h"
#include "flam-json.h"

#include <string.h>

typedef struct
{
  FlamFunction function;
  gint64 samples; /* its self weight */
} Frame;

typedef struct
{
  FlamBuilder *builder;
  FlamJson *json;
  GHashTable *numbers; /* a frame's number -> index + 1 */
  GArray *frames;      /* Frame */
  GArray *raw;         /* gint64 */
  GArray *lines;       /* gint64 */
  gint64 interval;
  gint64 samples; /* in all */
  gboolean objects, custom;
  FlamThreadId thread;
  guint64 bad;
} Reader;

static void
read_frame (Reader *reader)
{
  FlamJson *json = reader->json;
  Frame frame = { .function = { .module = FLAM_NONE,
                                .kind = FLAM_KIND_INTERPRETED } };
  gint64 *number = g_new (gint64, 1);

  *number = g_ascii_strtoll (flam_json_get_key (json, NULL), NULL, 10);
  flam_json_each (json)
    if (flam_json_key_is (json, "name"))
      frame.function.name = flam_json_intern (json, reader->builder);
    else if (flam_json_key_is (json, "file"))
      {
        if (flam_json_string_is (json, "<cfunc>"))
          frame.function.kind = FLAM_KIND_NATIVE;
        else
          frame.function.file = flam_json_intern (json, reader->builder);
      }
    else if (flam_json_key_is (json, "line"))
      frame.function.line = CLAMP (flam_json_get_int (json), 0, G_MAXINT32);
    else if (flam_json_key_is (json, "samples"))
      frame.samples = MAX (flam_json_get_int (json), 0);
  g_array_append_val (reader->frames, frame);
  g_hash_table_insert (
      reader->numbers, number, GUINT_TO_POINTER (reader->frames->len));
}

static void
read_document (Reader *reader)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    if (flam_json_key_is (json, "mode"))
      {
        reader->objects = flam_json_string_is (json, "object");
        reader->custom = flam_json_string_is (json, "custom");
      }
    else if (flam_json_key_is (json, "samples"))
      reader->samples = MAX (flam_json_get_int (json), 0);
    else if (flam_json_key_is (json, "interval"))
      reader->interval = CLAMP (flam_json_get_int (json), 0, G_MAXINT32);
    else if (flam_json_key_is (json, "frames"))
      {
        flam_json_each (json)
          if (json->token == FLAM_JSON_OBJECT)
            read_frame (reader);
      }
    else if (flam_json_key_is (json, "raw"))
      flam_json_get_ints (json, reader->raw);
    else if (flam_json_key_is (json, "raw_lines"))
      flam_json_get_ints (json, reader->lines);
}

static void
add_sample (Reader *reader, FlamStackId stack, gint64 count)
{
  FlamSample sample = { .thread = reader->thread, .stack = stack };
  gint64 weight;
  __int128 one = reader->custom || reader->interval <= 0 ? 1 : reader->interval;

  if (!reader->custom && !reader->objects && reader->interval > 0)
    one *= 1000;
  weight =
      flam_builder_limit (reader->builder, count * one, 0, G_MAXINT64, NULL);
  if (weight > 0)
    flam_builder_add_sample (reader->builder, &sample, &weight);
}

static FlamStackId
push_frame (Reader *reader, FlamStackId stack, guint index, guint32 line)
{
  const Frame *frame = &g_array_index (reader->frames, Frame, index);

  return flam_builder_stack (
      reader->builder,
      stack,
      flam_builder_frame_of (reader->builder,
                             &frame->function,
                             0,
                             frame->function.file != 0 ? line : 0,
                             0));
}

static void
add_raw (Reader *reader)
{
  const gint64 *raw = (const gint64 *)(gpointer)reader->raw->data;
  const gint64 *lines = reader->lines->len == reader->raw->len
                            ? (const gint64 *)(gpointer)reader->lines->data
                            : NULL;
  guint n = reader->raw->len;
  gint64 seen = 0;

  for (guint at = 0; at < n;)
    {
      gint64 depth = raw[at++];
      gint64 count;
      FlamStackId stack = FLAM_NONE;

      if (depth < 0 || depth >= n - at)
        {
          reader->bad++;
          return;
        }
      for (guint end = at + depth; at < end; at++)
        {
          guint index = GPOINTER_TO_UINT (
              g_hash_table_lookup (reader->numbers, &raw[at]));
          gint64 line = lines != NULL ? lines[at] >> 48 : 0;

          if (index == 0)
            reader->bad++;
          else
            stack = push_frame (
                reader, stack, index - 1, CLAMP (line, 0, G_MAXINT32));
        }
      count = MAX (raw[at], 0);
      at++;
      add_sample (reader, stack, count);
      if (__builtin_add_overflow (seen, count, &seen))
        seen = G_MAXINT64;
    }
  /* Some samples are counted without their stacks. */
  if (seen < reader->samples)
    add_sample (reader, FLAM_NONE, reader->samples - seen);
}

static void
add_flat (Reader *reader)
{
  for (guint i = 0; i < reader->frames->len; i++)
    add_sample (reader,
                push_frame (reader, FLAM_NONE, i, 0),
                g_array_index (reader->frames, Frame, i).samples);
  flam_builder_warn (
      reader->builder,
      N_ ("this was recorded without stacks (raw: true): callers are unknown"));
}

static void
add_measure (Reader *reader)
{
  gboolean time = !reader->objects && !reader->custom && reader->interval > 0;

  flam_load_measures (reader->builder,
                      reader->objects ? FLAM_STANDARD_ALLOCATIONS
                      : time          ? FLAM_STANDARD_TIME
                                      : FLAM_STANDARD_SAMPLES);
  reader->thread = flam_builder_lone_thread (reader->builder);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .builder = load->builder,
                    .json = flam_json_load (load, NULL),
                    .numbers = flam_arena_table (load, FLAM_KEY_NUMBER, NULL),
                    .frames = flam_arena_array (load, Frame),
                    .raw = flam_arena_array (load, gint64),
                    .lines = flam_arena_array (load, gint64) };

  read_document (&reader);
  if (!flam_json_end (reader.json, load, reader.frames->len > 0, error))
    return FALSE;
  add_measure (&reader);
  if (reader.raw->len > 0)
    add_raw (&reader);
  else
    add_flat (&reader);
  flam_builder_warn_count (
      load->builder,
      reader.bad,
      "%" PRIu64 " invalid number in the stacks was left out",
      "%" PRIu64 " invalid numbers in the stacks were left out");
  return TRUE;
}

const FlamImporter flam_import_stackprof = {
  .id = "stackprof",
  .label = "Ruby stackprof",
  .written_by = "stackprof --json",
  .suffixes = FLAM_LIST (".json"),
  .mime_types = FLAM_LIST ("application/json"),
  .signs = FLAM_SIGNS (FLAM_MEMBERS (90, "mode", "gc_samples", "frames")),
  .load = load,
};
