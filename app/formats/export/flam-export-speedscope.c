/* SPDX-License-Identifier: GPL-3.0-or-later */

/* speedscope's own format (speedscope.app/file-format-schema.json): a table of
 * frames, and a profile for each measure of a thread. Samples are in order, as
 * stacks of indices into the table, root first, with a weight each; spans are
 * events with times. The measure and the thread of a profile are in additional
 * members (flam-import-speedscope.c). speedscope treats each row of the table
 * as a separate function, so a function is one row or, with --by line, a line
 * is. */

#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-spans.h"

typedef struct
{
  const FlamPart *part;
  FlamSink *out;
  FlamBy by;
  guint32 *row; /* one per frame */
  gboolean any;
} Writer;

/* Frames with the same key are one row. */
static guint64
frame_key (const Writer *writer, FlamFrameId frame)
{
  const FlamFrames *frames = &writer->part->profile->frames;
  guint64 line = writer->by == FLAM_BY_LINE ? frames->line[frame] : 0;

  return (guint64)frames->function[frame] << 32 | line;
}

static const char *
file_of (const Writer *writer, FlamFrameId frame, guint32 *line)
{
  const FlamProfile *profile = writer->part->profile;
  FlamFunctionId function = profile->frames.function[frame];

  *line = profile->functions.line[function];
  if (writer->by != FLAM_BY_LINE)
    return flam_profile_string (profile, profile->functions.file[function]);
  *line = profile->frames.line[frame];
  return flam_profile_string (profile, profile->frames.file[frame]);
}

static void
put_frame (Writer *writer, FlamFrameId frame)
{
  const FlamProfile *profile = writer->part->profile;
  guint32 line;
  const char *file = file_of (writer, frame, &line);

  flam_sink_put (writer->out, writer->any ? ",\n{\"name\":" : "\n{\"name\":");
  writer->any = TRUE;
  flam_export_json_string (
      writer->out,
      flam_profile_function_name (profile, profile->frames.function[frame]));
  if (*file != '\0')
    {
      flam_export_json_member (writer->out, ",\"file\":", file);
    }
  if (line != 0)
    flam_sink_printf (writer->out, ",\"line\":%u", line);
  flam_sink_put_c (writer->out, '}');
}

static void
put_frames (Writer *writer)
{
  const FlamProfile *profile = writer->part->profile;
  g_autoptr (GHashTable) rows =
      g_hash_table_new_full (flam_hash_int64, g_int64_equal, g_free, NULL);

  writer->row = g_new (guint32, profile->frames.n + 1);
  for (FlamId i = 0; i < profile->frames.n; i++)
    {
      guint64 key = frame_key (writer, i);
      gpointer row;

      if (!g_hash_table_lookup_extended (rows, &key, NULL, &row))
        {
          row = GUINT_TO_POINTER (g_hash_table_size (rows));
          g_hash_table_insert (rows, g_memdup2 (&key, sizeof key), row);
          put_frame (writer, i);
        }
      writer->row[i] = GPOINTER_TO_UINT (row);
    }
}

/* --- events -------------------------------------------------------------- */

static void
put_event (Writer *writer, const char *type, FlamFrameId frame, gint64 time)
{
  flam_sink_put (writer->out, writer->any ? ",\n{\"type\":\"" : "{\"type\":\"");
  writer->any = TRUE;
  flam_sink_put (writer->out, type);
  flam_sink_put (writer->out, "\",\"frame\":");
  flam_sink_put_int (writer->out, writer->row[frame]);
  flam_sink_put (writer->out, ",\"at\":");
  flam_sink_put_int (writer->out, time);
  flam_sink_put_c (writer->out, '}');
}

static void
put_open (gpointer data, FlamFrameId frame, gint64 time)
{
  put_event (data, "O", frame, time);
}

static void
put_close (gpointer data, FlamFrameId frame, gint64 time)
{
  put_event (data, "C", frame, time);
}

static void
put_events (Writer *writer, guint32 lane)
{
  const FlamSpanCalls calls = { put_open, put_close, writer, writer->by };

  flam_sink_put (writer->out, "\"events\":[");
  writer->any = FALSE;
  flam_spans_walk (writer->part, lane, &calls);
}

/* --- samples ------------------------------------------------------------- */

static void
put_stacks (Writer *writer, guint32 lane)
{
  g_autoptr (GArray) path = g_array_new (FALSE, FALSE, sizeof (FlamId));
  g_auto (FlamPartRows) rows =
      flam_part_rows (writer->part, writer->part->measure, lane);
  FlamPartRow row;
  const char *separator = "[";

  flam_sink_put (writer->out, "\"samples\":[");
  while (flam_part_rows_next (&rows, &row) &&
         !flam_sink_is_broken (writer->out))
    {
      flam_sink_put (writer->out, separator);
      flam_part_path (writer->part, row.stack, path);
      for (guint k = 0; k < path->len; k++)
        {
          if (k > 0)
            flam_sink_put_c (writer->out, ',');
          flam_sink_put_int (writer->out,
                             writer->row[g_array_index (path, FlamId, k)]);
        }
      flam_sink_put_c (writer->out, ']');
      separator = ",\n[";
    }
}

static void
put_weights (Writer *writer, guint32 lane)
{
  const FlamMeasure *measure = flam_part_measure (writer->part);
  g_auto (FlamPartRows) rows =
      flam_part_rows (writer->part, writer->part->measure, lane);
  FlamPartRow row;
  const char *separator = "";

  flam_sink_put (writer->out, "],\n\"weights\":[");
  while (flam_part_rows_next (&rows, &row))
    {
      flam_sink_put (writer->out, separator);
      flam_export_json_weight (writer->out, measure, row.weight);
      separator = ",";
    }
}

/* --- threads ------------------------------------------------------------- */

/* Spans can be events; but an event needs a frame, so samples without a stack
 * cannot. */
static gboolean
is_evented (const FlamPart *part, guint32 lane)
{
  g_auto (FlamPartRows) rows = flam_part_rows (part, part->measure, lane);
  FlamPartRow row;

  if (!flam_part_measure (part)->spans || part->profile->samples.time == NULL)
    return FALSE;
  while (flam_part_rows_next (&rows, &row))
    if (row.stack == FLAM_NONE)
      return FALSE;
  return TRUE;
}

static gint64
end_of (const FlamPart *part, guint32 lane)
{
  g_auto (FlamPartRows) rows = flam_part_rows (part, part->measure, lane);
  FlamPartRow row;
  gint64 end = 0;

  while (flam_part_rows_next (&rows, &row))
    end = MAX (row.time, end) + row.weight;
  return end;
}

/* The name that speedscope shows: the thread, and the measure if there are
 * several. */
static void
put_title (Writer *writer, const char *name)
{
  const FlamProfile *profile = writer->part->profile;
  const char *measure =
      flam_profile_string (profile, flam_part_measure (writer->part)->name);
  g_autofree char *both = g_strdup_printf ("%s (%s)", name, measure);

  flam_export_json_string (writer->out, profile->n_measures > 1 ? both : name);
}

/* The measure and the thread, for reading the file again. */
static void
put_origin (Writer *writer, guint32 lane, const char *name)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamMeasure *measure = flam_part_measure (writer->part);

  flam_export_json_member (writer->out,
                           ",\"measure\":{\"id\":",
                           flam_profile_string (profile, measure->id));
  flam_export_json_member (
      writer->out, ",\"name\":", flam_profile_string (profile, measure->name));
  flam_sink_printf (writer->out,
                    ",\"kind\":\"%s\"},\"thread\":{\"index\":%u,\"name\":",
                    flam_measure_kind_to_string (measure->kind),
                    lane);
  flam_export_json_string (writer->out, name);
  flam_sink_put_c (writer->out, '}');
}

static void
put_profile (Writer *writer, guint32 lane, const char *title)
{
  const FlamPart *part = writer->part;
  const FlamMeasure *measure = flam_part_measure (part);
  g_autofree char *name = flam_part_lane_name (part, lane);
  gboolean events = is_evented (part, lane);

  flam_sink_printf (writer->out,
                    "{\"type\":\"%s\",\"name\":",
                    events ? "evented" : "sampled");
  put_title (writer, *name != '\0' ? name : title);
  put_origin (writer, lane, name);
  flam_sink_printf (writer->out,
                    ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":",
                    measure->unit == FLAM_UNIT_NS      ? "nanoseconds"
                    : measure->unit == FLAM_UNIT_BYTES ? "bytes"
                                                       : "none");
  flam_export_json_weight (writer->out,
                           measure,
                           events ? end_of (part, lane)
                                  : flam_part_total (part, lane));
  flam_sink_put (writer->out, ",\n");
  if (events)
    put_events (writer, lane);
  else
    {
      put_stacks (writer, lane);
      put_weights (writer, lane);
    }
  flam_sink_put (writer->out, "]}");
}

static gboolean
save (FlamExport *export, GError **error)
{
  Writer writer = { .part = export->part,
                    .out = export->out,
                    .by = export->selection->by };
  const char *separator = "";
  guint selected, n;
  /* The selected measure of the heaviest thread is shown first. */
  guint n_profiles = 0, active = FLAM_NONE;
  gint64 heaviest = 0;

  selected = export->part->measure;
  n = export->part->profile->n_measures;
  flam_export_json_member (
      export->out,
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
      "\"exporter\":\"flambeau\",\"name\":",
      export->options->look.title);
  flam_sink_put (export->out, ",\"shared\":{\"frames\":[");
  put_frames (&writer);
  flam_sink_put (export->out, "]},\n\"profiles\":[");
  for (guint32 lane = 0; lane < export->part->n_lanes; lane++)
    for (guint i = 0; i < n; i++)
      {
        export->part->measure = (selected + i) % n;
        if (flam_part_is_empty (export->part, lane))
          continue;
        flam_sink_put (export->out, separator);
        put_profile (&writer, lane, export->options->look.title);
        separator = ",\n";
        if (i == 0 && flam_part_total (export->part, lane) > heaviest)
          {
            heaviest = flam_part_total (export->part, lane);
            active = n_profiles;
          }
        n_profiles++;
      }
  flam_sink_put_c (export->out, ']');
  if (active != FLAM_NONE)
    flam_sink_printf (export->out, ",\n\"activeProfileIndex\":%u", active);
  flam_sink_put (export->out, "}\n");
  g_free (writer.row);
  return TRUE;
}

const FlamExporter flam_export_speedscope = {
  .id = "speedscope",
  .label = "speedscope",
  .suffix = "speedscope.json",
  .mime_type = "application/json",
  .text = TRUE,
  .holds = FLAM_HOLDS_THREADS | FLAM_HOLDS_ORDER | FLAM_HOLDS_MEASURES |
           FLAM_HOLDS_FILES | FLAM_HOLDS_FRACTIONS,
  .puts = FLAM_PUTS_PART,
  .save = save,
};
