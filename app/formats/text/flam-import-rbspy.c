/* SPDX-License-Identifier: GPL-3.0-or-later */

/* rbspy's raw recordings: a line that says the version, a line about the
 * recording, then a JSON object a line (the file is packed with gzip):
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

static FlamId
read_frame (Recording *recording, FlamJson *json)
{
  FlamFunction function = { .module = FLAM_NONE,
                            .kind = FLAM_KIND_INTERPRETED };
  gint64 line = 0;
  guint depth = flam_json_enter (json);

  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "name"))
      function.name = flam_builder_string (
          recording->builder, flam_json_get_string (json, NULL), -1);
    else if (flam_json_key_is (json, "absolute_path") ||
             (flam_json_key_is (json, "relative_path") && function.file == 0))
      {
        gsize length;
        const char *path = flam_json_get_string (json, &length);
        if (length > 0)
          function.file =
              flam_builder_string (recording->builder, path, length);
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
read_trace (Recording *recording, FlamSlice line)
{
  FlamSample sample = { .stack = FLAM_NONE };
  gint32 pid = -1, tid = -1;
  gboolean trace = FALSE;
  FlamJson json;
  guint depth = flam_json_open (&json, line.text, line.length);

  g_array_set_size (recording->stack, 0);
  while (flam_json_member (&json, depth))
    if (flam_json_key_is (&json, "trace"))
      {
        guint inner = flam_json_enter (&json);
        trace = TRUE;
        while (flam_json_element (&json, inner))
          {
            FlamId frame = read_frame (recording, &json);
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
  for (guint i = recording->stack->len; i > 0; i--)
    sample.stack =
        flam_builder_stack (recording->builder,
                            sample.stack,
                            g_array_index (recording->stack, FlamId, i - 1));
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
read_lines (Recording *recording, const FlamProgress *progress, GError **error)
{
  FlamText *lines = &recording->lines;
  FlamSlice line;

  flam_text_open (lines, recording->source, progress);
  while (flam_text_next (lines, &line.text, &line.length))
    if (lines->line > 2 && line.length > 0 && !read_trace (recording, line))
      flam_text_bad (lines);
  return flam_text_close (lines, error);
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (FlamId));
  Recording recording = { .source = source,
                          .builder = builder,
                          .stack = stack };

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  if (!read_lines (&recording, options->progress, error))
    return FALSE;
  if (recording.samples == 0)
    return flam_source_invalid (
        source, error, N_ ("there are no samples in this recording of rbspy"));
  flam_text_warn_bad (&recording.lines, builder, "rbspy's");
  return TRUE;
}

const FlamImporter flam_import_rbspy = {
  .id = "rbspy",
  .label = "rbspy raw",
  .suffixes = FLAM_LIST (".raw", ".raw.gz"),
  .mime_types = FLAM_LIST ("application/gzip"),
  .signs = FLAM_SIGNS ({ FLAM_MAGIC ("rbspy0"), .least = 9, .score = 95 }),
  .load = load,
  .streams = TRUE,
};
