/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The Firefox Profiler's processed profile, version 62 (firefox-devtools/
 * profiler, docs-developer/CHANGELOG-formats.md): tables as columns, shared by
 * all threads. Frames, stacks and threads correspond to the profile's, row by
 * row; a thread has its samples in order, and its marks. */

#include "flam-formats.h"

#include "flam-gecko-writer.h"

#define VERSION 62

/* One per FlamFunctionKind. */
static const struct
{
  const char *name;
  const char *color;
} categories[FLAM_N_KINDS] = {
  { "Native", "yellow" }, { "Unresolved", "grey" },  { "Kernel", "orange" },
  { "JIT", "green" },     { "Interpreted", "blue" }, { "Root", "grey" },
  { "Waker", "purple" },
};

/* --- threads ------------------------------------------------------------- */

/* Milliseconds, independent of the locale. */
static void
put_milliseconds (FlamGeckoWriter *writer, gint64 ns)
{
  flam_sink_printf (writer->out,
                    "%s%" G_GINT64_FORMAT ".%06" G_GINT64_FORMAT,
                    ns < 0 ? "-" : "",
                    ABS (ns) / 1000000,
                    ABS (ns) % 1000000);
}

static void
put_row_stack (FlamGeckoWriter *writer, const FlamPartRow *row)
{
  flam_gecko_put_id (writer, row->stack);
}

static gboolean
has_times (const FlamGeckoWriter *writer)
{
  return flam_part_measure (writer->part)->source != FLAM_FROM_SAMPLES ||
         writer->part->profile->samples.time != NULL;
}

/* Without times, samples are one millisecond apart. */
static void
put_row_time (FlamGeckoWriter *writer, const FlamPartRow *row)
{
  put_milliseconds (writer,
                    has_times (writer) ? row->time : row->time * 1000000);
}

static void
put_row_weight (FlamGeckoWriter *writer, const FlamPartRow *row)
{
  const FlamMeasure *measure = flam_part_measure (writer->part);

  if (measure->unit == FLAM_UNIT_NS)
    put_milliseconds (writer, flam_export_whole (measure, row->weight));
  else
    flam_export_json_weight (writer->out, measure, row->weight);
}

static guint
put_rows (FlamGeckoWriter *writer,
          guint32 lane,
          const char *name,
          void (*put) (FlamGeckoWriter *, const FlamPartRow *))
{
  g_auto (FlamPartRows) rows =
      flam_part_rows (writer->part, writer->part->measure, lane);
  FlamPartRow row;
  guint n = 0;

  flam_sink_printf (writer->out, ",\n\"%s\":[", name);
  for (; flam_part_rows_next (&rows, &row); n++)
    {
      if (n > 0)
        flam_sink_put_c (writer->out, ',');
      put (writer, &row);
    }
  flam_sink_put_c (writer->out, ']');
  return n;
}

static void
put_samples (FlamGeckoWriter *writer, guint32 lane)
{
  FlamUnit unit = flam_part_measure (writer->part)->unit;
  guint n;

  flam_sink_printf (writer->out,
                    "\"samples\":{\"weightType\":\"%s\"",
                    unit == FLAM_UNIT_NS      ? "tracing-ms"
                    : unit == FLAM_UNIT_BYTES ? "bytes"
                                              : "samples");
  put_rows (writer, lane, "stack", put_row_stack);
  put_rows (writer, lane, "time", put_row_time);
  n = put_rows (writer, lane, "weight", put_row_weight);
  flam_sink_printf (writer->out, ",\n\"length\":%u}", n);
}

/* Data of the whole capture is in the first thread. */
static gboolean
is_mark_of (const FlamGeckoWriter *writer, guint32 mark, guint32 lane)
{
  FlamId thread = writer->part->profile->marks.thread[mark];

  return thread == lane || (thread == FLAM_NONE && lane == 0);
}

static void
put_marks_column (FlamGeckoWriter *writer,
                  guint32 lane,
                  const char *name,
                  void (*put) (FlamGeckoWriter *, guint))
{
  const FlamMarks *marks = &writer->part->profile->marks;
  const char *separator = "";

  flam_sink_printf (writer->out, ",\"%s\":[", name);
  for (guint32 i = 0; i < marks->n; i++)
    if (is_mark_of (writer, i, lane))
      {
        flam_sink_put (writer->out, separator);
        put (writer, i);
        separator = ",";
      }
  flam_sink_put_c (writer->out, ']');
}

static void
put_mark_name (FlamGeckoWriter *writer, guint i)
{
  flam_gecko_put_index (
      writer,
      flam_gecko_intern_id (writer, writer->part->profile->marks.name[i]));
}

static void
put_mark_start (FlamGeckoWriter *writer, guint i)
{
  put_milliseconds (writer, writer->part->profile->marks.time[i]);
}

static void
put_mark_end (FlamGeckoWriter *writer, guint i)
{
  const FlamMarks *marks = &writer->part->profile->marks;

  if (marks->duration[i] > 0)
    put_milliseconds (writer, marks->time[i] + marks->duration[i]);
  else
    flam_gecko_put_null (writer, i);
}

/* 0: an instant; 1: an interval. */
static void
put_mark_phase (FlamGeckoWriter *writer, guint i)
{
  flam_gecko_put_index (writer, writer->part->profile->marks.duration[i] > 0);
}

static void
put_marks (FlamGeckoWriter *writer, guint32 lane)
{
  const FlamMarks *marks = &writer->part->profile->marks;
  guint n = 0;

  for (guint32 i = 0; i < marks->n; i++)
    n += is_mark_of (writer, i, lane);
  flam_gecko_put_table (writer, "markers", n);
  put_marks_column (writer, lane, "category", flam_gecko_put_zero);
  put_marks_column (writer, lane, "data", flam_gecko_put_null);
  put_marks_column (writer, lane, "name", put_mark_name);
  put_marks_column (writer, lane, "startTime", put_mark_start);
  put_marks_column (writer, lane, "endTime", put_mark_end);
  put_marks_column (writer, lane, "phase", put_mark_phase);
  flam_sink_put (writer->out, "},\n");
}

static void
put_thread (FlamGeckoWriter *writer, guint32 lane, const char *title)
{
  const FlamProfile *profile = writer->part->profile;
  FlamId thread = flam_part_thread (writer->part, lane);
  g_autofree char *name = flam_part_lane_name (writer->part, lane);
  const char *process = "";

  if (thread != FLAM_NONE)
    process = flam_profile_string (
        profile, profile->processes.name[profile->threads.process[thread]]);
  flam_export_json_member (
      writer->out, "{\"name\":", *name != '\0' ? name : title);
  flam_export_json_member (
      writer->out, ",\"processName\":", *process != '\0' ? process : title);
  flam_sink_printf (
      writer->out,
      ",\"processType\":\"default\",\"isMainThread\":%s,"
      "\"pid\":\"%" G_GINT64_FORMAT "\",\"tid\":%" G_GINT64_FORMAT
      ",\"processStartupTime\":0,\"processShutdownTime\":null,"
      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],"
      "\"showMarkersInTimeline\":true,\n",
      flam_part_pid (writer->part, lane) == flam_part_tid (writer->part, lane)
          ? "true"
          : "false",
      flam_part_pid (writer->part, lane),
      flam_part_tid (writer->part, lane));
  put_marks (writer, lane);
  put_samples (writer, lane);
  flam_sink_put_c (writer->out, '}');
}

static void
put_threads (FlamGeckoWriter *writer, const char *title)
{
  const char *separator = "";

  flam_sink_put (writer->out, "\"threads\":[");
  for (guint32 lane = 0; lane < writer->part->n_lanes; lane++)
    if (lane < writer->part->profile->threads.n ||
        !flam_part_is_empty (writer->part, lane))
      {
        flam_sink_put (writer->out, separator);
        put_thread (writer, lane, title);
        separator = ",\n";
      }
  flam_sink_put (writer->out, "],\n");
}

/* --- the document -------------------------------------------------------- */

/* The changes of a counter. */
static void
put_counter (FlamGeckoWriter *writer, const FlamCounter *counter)
{
  const char *name = flam_profile_string (writer->part->profile, counter->id);
  gboolean memory = counter->unit == FLAM_UNIT_BYTES;

  flam_export_json_member (writer->out, "{\"name\":", name);
  flam_export_json_member (writer->out, ",\"display\":{\"label\":", name);
  flam_sink_printf (writer->out,
                    ",\"graphType\":\"%s\",\"unit\":\"%s\",\"color\":\"%s\","
                    "\"markerSchemaLocation\":%s,\"sortWeight\":%u}",
                    memory ? "line-accumulated" : "line-rate",
                    memory ? "bytes" : "",
                    memory ? "orange" : "grey",
                    memory ? "\"timeline-memory\"" : "null",
                    memory ? 20 : 50);
  flam_sink_printf (writer->out,
                    ",\"category\":\"%s\",\"description\":\"\","
                    "\"pid\":\"%" G_GINT64_FORMAT "\",\"mainThreadIndex\":0,"
                    "\"samples\":{\"length\":%u,\"time\":[",
                    memory ? "Memory" : "Other",
                    flam_part_pid (writer->part, 0),
                    counter->n);
  for (guint32 i = 0; i < counter->n; i++)
    {
      flam_sink_put (writer->out, i > 0 ? "," : "");
      put_milliseconds (writer, counter->time[i]);
    }
  flam_sink_put (writer->out, "],\"count\":[");
  for (guint32 i = 0; i < counter->n; i++)
    {
      flam_sink_put (writer->out, i > 0 ? "," : "");
      flam_sink_put_int (
          writer->out, counter->value[i] - (i > 0 ? counter->value[i - 1] : 0));
    }
  flam_sink_put (writer->out, "]}}");
}

static void
put_counters (FlamGeckoWriter *writer)
{
  const FlamProfile *profile = writer->part->profile;

  flam_sink_put (writer->out, "\"counters\":[");
  for (guint i = 0; i < profile->n_counters; i++)
    {
      flam_sink_put (writer->out, i > 0 ? ",\n" : "");
      put_counter (writer, &profile->counters[i]);
    }
  flam_sink_put (writer->out, "],\n");
}

static void
put_libs (FlamGeckoWriter *writer)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamModules *modules = &profile->modules;

  flam_sink_put (writer->out, "\"libs\":[");
  for (FlamId i = 0; i < modules->n; i++)
    {
      const char *name = flam_profile_string (profile, modules->name[i]);
      const char *path = flam_profile_string (profile, modules->path[i]);
      const char *id = flam_profile_string (profile, modules->build_id[i]);
      const char *const words[] = { "name",       name, "path",      path,
                                    "debugName",  name, "debugPath", path,
                                    "breakpadId", "",   "codeId",    id };

      flam_sink_put (writer->out,
                     i > 0 ? ",\n{\"arch\":\"\"" : "{\"arch\":\"\"");
      for (guint k = 0; k < G_N_ELEMENTS (words); k += 2)
        {
          flam_sink_printf (writer->out, ",\"%s\":", words[k]);
          flam_export_json_string (writer->out, words[k + 1]);
        }
      flam_sink_put_c (writer->out, '}');
    }
  flam_sink_put (writer->out, "],\n");
}

/* Time of the last sample; -1: no samples. */
static gint64
last_time (const FlamGeckoWriter *writer)
{
  gint64 last = -1;

  for (guint32 lane = 0; lane < writer->part->n_lanes; lane++)
    {
      g_auto (FlamPartRows) rows =
          flam_part_rows (writer->part, writer->part->measure, lane);
      FlamPartRow row;

      while (flam_part_rows_next (&rows, &row))
        last = MAX (last, row.time);
    }
  return last;
}

/* When it recorded: without that, the Firefox Profiler begins at the first
 * sample and ends at the last one. It leaves out what is at the very end. */
static void
put_range (FlamGeckoWriter *writer, const FlamSelection *selection)
{
  const FlamProfile *profile = writer->part->profile;
  gint64 from, to;

  if (profile->facts.duration_ns <= 0 || !has_times (writer))
    return;
  flam_selection_get_range (selection, profile, &from, &to);
  flam_sink_put (writer->out, ",\"profilingStartTime\":");
  put_milliseconds (writer, MAX (from, 0));
  flam_sink_put (writer->out, ",\"profilingEndTime\":");
  put_milliseconds (
      writer,
      MAX (MIN (to, profile->facts.duration_ns), last_time (writer) + 1));
}

static void
put_meta (FlamGeckoWriter *writer, const FlamExport *export)
{
  const FlamFacts *facts = &writer->part->profile->facts;
  FlamSink *out = writer->out;

  flam_export_json_member (
      out,
      "{\"meta\":{\"importedFrom\":\"Flambeau\",\"product\":",
      export->options->look.title);
  flam_sink_put (out, ",\"startTime\":");
  put_milliseconds (writer, MAX (facts->start_unix_ns, 0));
  put_range (writer, export->selection);
  flam_sink_printf (
      out,
      ",\"interval\":1,\"processType\":0,\"version\":24,"
      "\"preprocessedProfileVersion\":%d,\"stackwalk\":1,\"debug\":false,"
      "\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
      "\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[],"
      "\"sampleUnits\":{\"time\":\"ms\","
      "\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
      "\"extensions\":{\"length\":0,\"id\":[],\"name\":[],\"baseURL\":[]},\n"
      "\"categories\":[",
      VERSION);
  for (guint i = 0; i < FLAM_N_KINDS; i++)
    flam_sink_printf (out,
                      "%s{\"name\":\"%s\",\"color\":\"%s\","
                      "\"subcategories\":[\"Other\"]}",
                      i > 0 ? "," : "",
                      categories[i].name,
                      categories[i].color);
  flam_sink_put (out, "]},\n");
}

static gboolean
save (FlamExport *export, GError **error)
{
  FlamGeckoWriter writer;

  flam_gecko_writer_init (&writer, export);
  put_meta (&writer, export);
  put_libs (&writer);
  flam_sink_put (export->out, "\"pages\":[],\"profilerOverhead\":[],\n");
  put_counters (&writer);
  put_threads (&writer, export->options->look.title);
  flam_gecko_put_shared (&writer);
  flam_sink_put (export->out, "}\n");
  return TRUE;
}

const FlamExporter flam_export_gecko = {
  .id = "gecko",
  .label = "Firefox Profiler",
  .suffix = "firefox.json",
  .mime_type = "application/json",
  .text = TRUE,
  .holds = FLAM_HOLDS_THREADS | FLAM_HOLDS_PROCESSES | FLAM_HOLDS_ORDER |
           FLAM_HOLDS_TIMES | FLAM_HOLDS_FILES | FLAM_HOLDS_LINES |
           FLAM_HOLDS_INLINES | FLAM_HOLDS_MODULES | FLAM_HOLDS_KINDS |
           FLAM_HOLDS_MARKS | FLAM_HOLDS_COUNTERS | FLAM_HOLDS_FRACTIONS,
  .puts = FLAM_PUTS_PART,
  .save = save,
};
