/* SPDX-License-Identifier: GPL-3.0-or-later */

/* rbspy's raw recordings: a line with the version, a line about the recording,
 * then a JSON object per line (the file is packed with gzip):
 *
 *    rbspy02
 *    {"sample_rate":100, …}
 *    {"trace":[{"name":"work","relative_path":"x.rb","absolute_path":"/x.rb",
 *     "lineno":3}, …],"pid":4711,"thread_id":4712,"time":…}       leaf first
 *
 * Source: rbspy's documentation of its formats. */

#include "flam-formats.h"

#include "flam-json.h"
#include "flam-stack-text.h"

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  GArray *stack; /* FlamId */
  guint64 samples;
  FlamText lines;
} Recording;

static FlamFrameId
read_frame (Recording *recording, FlamJson *json)
{
  FlamFunction function = { .module = FLAM_NONE,
                            .kind = FLAM_KIND_INTERPRETED };
  gint64 line = 0;

  flam_json_each (json)
    if (flam_json_key_is (json, "name"))
      function.name = flam_json_intern (json, recording->builder);
    else if (flam_json_key_is (json, "absolute_path") ||
             (flam_json_key_is (json, "relative_path") && function.file == 0))
      {
        FlamId path = flam_json_intern (json, recording->builder);
        function.file = path != 0 ? path : function.file;
      }
    else if (flam_json_key_is (json, "lineno"))
      line = flam_json_get_int (json);
  return flam_builder_frame_of (
      recording->builder, &function, 0, CLAMP (line, 0, G_MAXINT32), 0);
}

static gint32
read_id (FlamJson *json)
{
  gint64 id = flam_json_get_int (json);

  return json->token == FLAM_JSON_NUMBER && id >= 0 && id <= G_MAXINT32
             ? (gint32)id
             : -1;
}

static gboolean
read_line (gpointer data, FlamSlice line)
{
  Recording *recording = data;
  FlamSample sample = { 0 };
  gint32 pid = -1, tid = -1;
  gboolean trace = FALSE;
  FlamJson json;

  if (recording->lines.line <= 2 || line.length == 0)
    return TRUE;
  g_array_set_size (recording->stack, 0);
  flam_json_open (&json, line.text, line.length);
  flam_json_each (&json)
    if (flam_json_key_is (&json, "trace"))
      {
        trace = TRUE;
        flam_json_each (&json)
          {
            FlamFrameId frame = read_frame (recording, &json);
            g_array_append_val (recording->stack, frame);
          }
      }
    else if (flam_json_key_is (&json, "pid"))
      pid = read_id (&json);
    else if (flam_json_key_is (&json, "thread_id"))
      tid = read_id (&json);
  trace = trace && flam_json_finish (&json, recording->source, NULL);
  flam_json_clear (&json);
  if (!trace)
    return FALSE;
  sample.stack = flam_load_stack (recording->builder, recording->stack);
  sample.thread =
      flam_builder_thread (recording->builder,
                           flam_builder_process (recording->builder, pid, 0),
                           tid,
                           0);
  flam_builder_add_sample (recording->builder, &sample, NULL);
  recording->samples++;
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Recording recording = { .source = load->source,
                          .builder = load->builder,
                          .stack = flam_arena_array (load, FlamId) };

  flam_builder_add_standard_measure (
      load->builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  if (!flam_text_read (
          &recording.lines, load, read_line, &recording, "rbspy's", error))
    return FALSE;
  return recording.samples > 0 ||
         flam_source_invalid (
             load->source, error, N_ ("this rbspy recording has no samples"));
}

const FlamImporter flam_import_rbspy = {
  .id = "rbspy",
  .label = "rbspy raw",
  .written_by = "rbspy record",
  .suffixes = FLAM_LIST (".raw", ".raw.gz"),
  .mime_types = FLAM_LIST ("application/gzip"),
  .signs = FLAM_SIGNS ({ FLAM_MAGIC ("rbspy0"), .least = 9, .score = 95 }),
  .load = load,
  .streams = TRUE,
};
