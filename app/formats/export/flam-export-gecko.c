/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Firefox Profiler's processed profile, version 62 (firefox-devtools/
 * profiler, docs-developer/CHANGELOG-formats.md): tables as columns, shared by
 * all threads. Frames, stacks and threads correspond to the profile's, row by
 * row; a thread has its samples in order, and its marks. */
#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-part.h"
#include "flam-spans.h"

typedef struct
{
  const FlamPart *part;
  FlamSink *out;
  GHashTable *index; /* text -> index */
  GPtrArray *texts;
  guint32 *code;     /* one per frame: a row of `codes` */
  GArray *codes;     /* FlamId: frames, one for each function and file */
  gboolean at_times; /* the samples that are written begin at their times */
  gint64 end;        /* of the last one of them */
} Writer;

/* The index of a text, which must outlive the writer. */
static guint
intern (Writer *writer, const char *text)
{
  gpointer index;

  if (!g_hash_table_lookup_extended (writer->index, text, NULL, &index))
    {
      index = GUINT_TO_POINTER (writer->texts->len);
      g_ptr_array_add (writer->texts, (gpointer)text);
      g_hash_table_insert (writer->index, (gpointer)text, index);
    }
  return GPOINTER_TO_UINT (index);
}

static guint
intern_id (Writer *writer, FlamStringId string)
{
  return intern (writer, flam_profile_string (writer->part->profile, string));
}

static void
put_null (Writer *writer, guint i)
{
  flam_sink_put (writer->out, "null");
}

static void
put_zero (Writer *writer, guint i)
{
  flam_sink_put_c (writer->out, '0');
}

static void
put_index (Writer *writer, guint i)
{
  flam_sink_put_int (writer->out, i);
}

static void
put_id (Writer *writer, FlamId id)
{
  if (id == FLAM_NONE)
    put_null (writer, id);
  else
    put_index (writer, id);
}

static void
put_table (Writer *writer, const char *name, guint length)
{
  flam_sink_printf (writer->out, "\"%s\":{\"length\":%u", name, length);
}

/* A line's file is its function's in this format: a line in another file
 * becomes a separate function. */
static FlamId
file_of (const FlamProfile *profile, FlamFrameId frame)
{
  FlamStringId file = profile->frames.file[frame];

  return file != 0 ? file
                   : profile->functions.file[profile->frames.function[frame]];
}

static void
find_functions (Writer *writer, FlamExport *export)
{
  const FlamProfile *profile = writer->part->profile;
  GHashTable *rows = flam_arena_table (export, FLAM_KEY_NUMBER, NULL);

  writer->code = flam_arena_vector (export, guint32, profile->frames.n + 1);
  writer->codes = flam_arena_array (export, FlamId);
  for (FlamId i = 0; i < profile->frames.n; i++)
    {
      guint64 key =
          (guint64)profile->frames.function[i] << 32 | file_of (profile, i);
      gpointer row;

      if (!g_hash_table_lookup_extended (rows, &key, NULL, &row))
        {
          row = GUINT_TO_POINTER (writer->codes->len);
          g_hash_table_insert (rows, g_memdup2 (&key, sizeof key), row);
          g_array_append_val (writer->codes, i);
        }
      writer->code[i] = GPOINTER_TO_UINT (row);
    }
}

static void
writer_init (Writer *writer, FlamExport *export)
{
  writer->part = export->part;
  writer->out = export->out;
  writer->index = flam_arena_table (export, FLAM_KEY_LENT, NULL);
  writer->texts = flam_arena_pointers (export, NULL);
  find_functions (writer, export);
}

/* --- columns ------------------------------------------------------------- */

/* "name":[v,v,…], with each value written by `put`. */
static void
put_column (Writer *writer,
            const char *name,
            guint n,
            void (*put) (Writer *, guint))
{
  flam_sink_printf (writer->out, ",\n\"%s\":[", name);
  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        flam_sink_put_c (writer->out, ',');
      put (writer, i);
    }
  flam_sink_put_c (writer->out, ']');
}

static void
put_false (Writer *writer, guint i)
{
  flam_sink_put (writer->out, "false");
}

static void
put_one (Writer *writer, guint i)
{
  flam_sink_put_c (writer->out, '1');
}

static void
put_number (Writer *writer, guint n)
{
  if (n == 0)
    put_null (writer, n);
  else
    put_index (writer, n);
}

static void
put_minus_one (Writer *writer, guint i)
{
  flam_sink_put (writer->out, "-1");
}

static const FlamFrames *
frames_of (const Writer *writer)
{
  return &writer->part->profile->frames;
}

static FlamId
function_of (const Writer *writer, guint frame)
{
  return frames_of (writer)->function[frame];
}

/* --- frames -------------------------------------------------------------- */

static void
put_address (Writer *writer, guint i)
{
  guint64 address = frames_of (writer)->address[i];

  if (address == 0 || address > G_MAXINT64 >> 10)
    put_minus_one (writer, i);
  else
    flam_sink_put_int (writer->out, (gint64)address);
}

static void
put_depth (Writer *writer, guint i)
{
  put_index (writer, frames_of (writer)->inline_depth[i]);
}

static void
put_category (Writer *writer, guint i)
{
  put_index (writer,
             writer->part->profile->functions.kind[function_of (writer, i)]);
}

static void
put_function (Writer *writer, guint i)
{
  put_index (writer, writer->code[i]);
}

static void
put_line (Writer *writer, guint i)
{
  put_number (writer, frames_of (writer)->line[i]);
}

/* --- functions ----------------------------------------------------------- */

static FlamFrameId
code_frame (const Writer *writer, guint i)
{
  return g_array_index (writer->codes, FlamId, i);
}

static FlamFunctionId
code_function (const Writer *writer, guint i)
{
  return function_of (writer, code_frame (writer, i));
}

static void
put_function_name (Writer *writer, guint i)
{
  const FlamProfile *profile = writer->part->profile;

  put_index (
      writer,
      intern_id (writer, profile->functions.name[code_function (writer, i)]));
}

static void
put_js (Writer *writer, guint i)
{
  const FlamProfile *profile = writer->part->profile;

  flam_sink_put (writer->out,
                 profile->functions.kind[code_function (writer, i)] ==
                         FLAM_KIND_INTERPRETED
                     ? "true"
                     : "false");
}

static void
put_module (Writer *writer, guint i)
{
  FlamModuleId module =
      writer->part->profile->functions.module[code_function (writer, i)];

  if (module == FLAM_NONE)
    put_minus_one (writer, i);
  else
    put_index (writer, module);
}

static void
put_function_line (Writer *writer, guint i)
{
  put_number (writer,
              writer->part->profile->functions.line[code_function (writer, i)]);
}

/* Sources are numbered like the functions: one each, "" if unknown. */
static void
put_file_name (Writer *writer, guint i)
{
  put_index (
      writer,
      intern_id (writer,
                 file_of (writer->part->profile, code_frame (writer, i))));
}

static void
put_module_name (Writer *writer, guint i)
{
  put_index (writer,
             intern_id (writer, writer->part->profile->modules.name[i]));
}

/* --- stacks -------------------------------------------------------------- */

static void
put_prefix (Writer *writer, guint i)
{
  put_id (writer, writer->part->profile->stacks.prefix[i]);
}

static void
put_stack_frame (Writer *writer, guint i)
{
  put_index (writer, writer->part->profile->stacks.frame[i]);
}

static void
put_strings (Writer *writer)
{
  flam_sink_put (writer->out, "\"stringArray\":[");
  for (guint i = 0; i < writer->texts->len; i++)
    {
      flam_export_json_member (
          writer->out, i > 0 ? ",\n" : "\n", writer->texts->pdata[i]);
    }
  flam_sink_put (writer->out, "]}");
}

static void
put_shared (Writer *writer)
{
  const FlamProfile *profile = writer->part->profile;
  FlamSink *out = writer->out;
  guint n = profile->frames.n;

  flam_sink_put (out, "\"shared\":{");
  put_table (writer, "frameTable", n);
  put_column (writer, "address", n, put_address);
  put_column (writer, "inlineDepth", n, put_depth);
  put_column (writer, "category", n, put_category);
  put_column (writer, "subcategory", n, put_zero);
  put_column (writer, "func", n, put_function);
  put_column (writer, "nativeSymbol", n, put_null);
  put_column (writer, "innerWindowID", n, put_zero);
  put_column (writer, "line", n, put_line);
  put_column (writer, "column", n, put_null);
  flam_sink_put (out, "},\n");
  n = writer->codes->len;
  put_table (writer, "funcTable", n);
  put_column (writer, "name", n, put_function_name);
  put_column (writer, "isJS", n, put_js);
  put_column (writer, "relevantForJS", n, put_false);
  put_column (writer, "resource", n, put_module);
  put_column (writer, "source", n, put_index);
  put_column (writer, "lineNumber", n, put_function_line);
  put_column (writer, "columnNumber", n, put_null);
  flam_sink_put (out, "},\n");
  put_table (writer, "sources", n);
  put_column (writer, "id", n, put_null);
  put_column (writer, "filename", n, put_file_name);
  put_column (writer, "startLine", n, put_one);
  put_column (writer, "startColumn", n, put_one);
  put_column (writer, "sourceMapURL", n, put_null);
  flam_sink_put (out, "},\n");
  n = profile->stacks.n;
  put_table (writer, "stackTable", n);
  put_column (writer, "prefix", n, put_prefix);
  put_column (writer, "frame", n, put_stack_frame);
  flam_sink_put (out, "},\n");
  n = profile->modules.n;
  put_table (writer, "resourceTable", n);
  put_column (writer, "lib", n, put_index);
  put_column (writer, "name", n, put_module_name);
  put_column (writer, "host", n, put_null);
  put_column (writer, "type", n, put_one); /* a library */
  flam_sink_put (out,
                 "},\n\"nativeSymbols\":{\"length\":0,\"libIndex\":[],"
                 "\"address\":[],\"name\":[],\"functionSize\":[]},\n");
  put_strings (writer);
}

/* --- threads ------------------------------------------------------------- */

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
put_milliseconds (Writer *writer, gint64 ns)
{
  flam_sink_printf (writer->out,
                    "%s%" G_GINT64_FORMAT ".%06" G_GINT64_FORMAT,
                    ns < 0 ? "-" : "",
                    ABS (ns) / 1000000,
                    ABS (ns) % 1000000);
}

static void
put_row_stack (Writer *writer, const FlamPartRow *row)
{
  put_id (writer, row->stack);
}

static gboolean
has_times (const Writer *writer)
{
  return flam_part_measure (writer->part)->source != FLAM_FROM_SAMPLES ||
         writer->part->profile->samples.time != NULL;
}

/* A sample lasts its weight, if that is time. Others are one millisecond apart
 * if they have no times. */
static void
put_row_time (Writer *writer, const FlamPartRow *row)
{
  gint64 time = has_times (writer) ? row->time : row->time * 1000000;

  if (flam_part_measure (writer->part)->unit == FLAM_UNIT_NS)
    {
      time =
          flam_spans_start (writer->at_times, writer->part, row, writer->end);
      writer->end = time + row->weight;
    }
  put_milliseconds (writer, time);
}

static void
put_row_weight (Writer *writer, const FlamPartRow *row)
{
  const FlamMeasure *measure = flam_part_measure (writer->part);

  if (measure->unit == FLAM_UNIT_NS)
    put_milliseconds (writer, flam_export_whole (measure, row->weight));
  else
    flam_export_json_weight (writer->out, measure, row->weight);
}

static guint
put_rows (Writer *writer,
          guint32 lane,
          const char *name,
          void (*put) (Writer *, const FlamPartRow *))
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
put_samples (Writer *writer, guint32 lane)
{
  FlamUnit unit = flam_part_measure (writer->part)->unit;
  guint n;

  flam_sink_printf (writer->out,
                    "\"samples\":{\"weightType\":\"%s\"",
                    unit == FLAM_UNIT_NS      ? "tracing-ms"
                    : unit == FLAM_UNIT_BYTES ? "bytes"
                                              : "samples");
  put_rows (writer, lane, "stack", put_row_stack);
  writer->at_times = flam_spans_begin_at_times (writer->part, lane);
  writer->end = 0;
  put_rows (writer, lane, "time", put_row_time);
  n = put_rows (writer, lane, "weight", put_row_weight);
  flam_sink_printf (writer->out, ",\n\"length\":%u}", n);
}

/* Data of the whole capture is in the first thread. */
static gboolean
is_mark_of (const Writer *writer, guint32 mark, guint32 lane)
{
  FlamThreadId thread = writer->part->profile->marks.thread[mark];

  return thread == lane || (thread == FLAM_NONE && lane == 0);
}

static void
put_marks_column (Writer *writer,
                  guint32 lane,
                  const char *name,
                  void (*put) (Writer *, guint))
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
put_mark_name (Writer *writer, guint i)
{
  put_index (writer, intern_id (writer, writer->part->profile->marks.name[i]));
}

static void
put_mark_start (Writer *writer, guint i)
{
  put_milliseconds (writer, writer->part->profile->marks.time[i]);
}

static void
put_mark_end (Writer *writer, guint i)
{
  const FlamMarks *marks = &writer->part->profile->marks;

  if (marks->duration[i] > 0)
    put_milliseconds (writer, marks->time[i] + marks->duration[i]);
  else
    put_null (writer, i);
}

/* 0: an instant; 1: an interval. */
static void
put_mark_phase (Writer *writer, guint i)
{
  put_index (writer, writer->part->profile->marks.duration[i] > 0);
}

static void
put_marks (Writer *writer, guint32 lane)
{
  const FlamMarks *marks = &writer->part->profile->marks;
  guint n = 0;

  for (guint32 i = 0; i < marks->n; i++)
    n += is_mark_of (writer, i, lane);
  put_table (writer, "markers", n);
  put_marks_column (writer, lane, "category", put_zero);
  put_marks_column (writer, lane, "data", put_null);
  put_marks_column (writer, lane, "name", put_mark_name);
  put_marks_column (writer, lane, "startTime", put_mark_start);
  put_marks_column (writer, lane, "endTime", put_mark_end);
  put_marks_column (writer, lane, "phase", put_mark_phase);
  flam_sink_put (writer->out, "},\n");
}

static void
put_thread (Writer *writer, guint32 lane, const char *title)
{
  const FlamProfile *profile = writer->part->profile;
  FlamThreadId thread = flam_part_thread (writer->part, lane);
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
put_threads (Writer *writer, const char *title)
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

/* The changes of a counter. The profiler takes the first one as 0, so that one
 * with that value comes before it, at the same time. */
static void
put_counter (Writer *writer, const FlamCounter *counter)
{
  const char *name = flam_profile_string (writer->part->profile, counter->id);
  gboolean memory = counter->unit == FLAM_UNIT_BYTES;

  flam_export_json_member (writer->out, "{\"name\":", name);
  flam_export_json_member (writer->out, ",\"display\":{\"label\":", name);
  flam_sink_printf (writer->out,
                    ",\"graphType\":\"line-accumulated\",\"unit\":\"%s\","
                    "\"color\":\"%s\","
                    "\"markerSchemaLocation\":%s,\"sortWeight\":%u}",
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
                    counter->n + 1);
  put_milliseconds (writer, counter->time[0]);
  for (guint32 i = 0; i < counter->n; i++)
    {
      flam_sink_put (writer->out, ",");
      put_milliseconds (writer, counter->time[i]);
    }
  flam_sink_put (writer->out, "],\"count\":[0");
  for (guint32 i = 0; i < counter->n; i++)
    {
      flam_sink_put (writer->out, ",");
      flam_export_json_count (writer->out,
                              counter->unit,
                              counter->value[i] -
                                  (i > 0 ? counter->value[i - 1] : 0));
    }
  flam_sink_put (writer->out, "]}}");
}

static void
put_counters (Writer *writer)
{
  const FlamProfile *profile = writer->part->profile;
  guint written = 0;

  flam_sink_put (writer->out, "\"counters\":[");
  for (guint i = 0; i < profile->n_counters; i++)
    if (profile->counters[i].n > 0)
      {
        flam_sink_put (writer->out, written++ > 0 ? ",\n" : "");
        put_counter (writer, &profile->counters[i]);
      }
  flam_sink_put (writer->out, "],\n");
}

static void
put_libs (Writer *writer)
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
last_time (const Writer *writer)
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

/* The range of the recording: without it, the Firefox Profiler begins at the
 * first sample, ends at the last one, and leaves out what is at the very
 * end. */
static void
put_range (Writer *writer, const FlamSelection *selection)
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
put_meta (Writer *writer, const FlamExport *export)
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
  Writer writer;

  writer_init (&writer, export);
  put_meta (&writer, export);
  put_libs (&writer);
  flam_sink_put (export->out, "\"pages\":[],\"profilerOverhead\":[],\n");
  put_counters (&writer);
  put_threads (&writer, export->options->look.title);
  put_shared (&writer);
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
