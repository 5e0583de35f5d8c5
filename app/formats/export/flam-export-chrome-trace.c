/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Chrome's trace events, for Perfetto, chrome://tracing and speedscope; the
 * fields are drawn in flam-import-chrome-trace.c. Calls are begin and end
 * events (B, E), each thread in order; marks are instants (i) or spans beside
 * the threads (b, e), counters are C. Times are µs. */

#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-spans.h"

typedef struct
{
  const FlamPart *part;
  FlamSink *out;
  guint32 lane;
  gboolean any; /* an event was written */
} Writer;

static void
put_time (FlamSink *out, gint64 ns)
{
  flam_sink_printf (
      out, "%" G_GINT64_FORMAT ".%03d", ns / 1000, (int)(ns % 1000));
}

/* {"ph":"B","pid":1,"tid":2 */
static void
begin_event (Writer *writer, const char *phase, guint32 lane)
{
  flam_sink_put (writer->out, writer->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
  writer->any = TRUE;
  flam_sink_put (writer->out, phase);
  flam_sink_put (writer->out, "\",\"pid\":");
  flam_sink_put_int (writer->out, flam_part_pid (writer->part, lane));
  flam_sink_put (writer->out, ",\"tid\":");
  flam_sink_put_int (writer->out, flam_part_tid (writer->part, lane));
}

static void
put_ts (Writer *writer, gint64 ns)
{
  flam_sink_put (writer->out, ",\"ts\":");
  put_time (writer->out, ns);
}

static void
put_name (Writer *writer, const char *name)
{
  flam_export_json_member (writer->out, ",\"name\":", name);
}

static void
put_argument (FlamSink *out, const char *key, const char *text, gboolean *any)
{
  if (*text == '\0')
    return;
  flam_sink_printf (out, "%s\"%s\":", *any ? "," : ",\"args\":{", key);
  flam_export_json_string (out, text);
  *any = TRUE;
}

static void
put_call (Writer *writer, const char *phase, FlamFrameId frame, gint64 time)
{
  const FlamProfile *profile = writer->part->profile;
  const char *name = "[no stack]";

  if (frame != FLAM_NONE)
    name =
        flam_profile_function_name (profile, profile->frames.function[frame]);
  begin_event (writer, phase, writer->lane);
  put_ts (writer, time);
  put_name (writer, name);
}

static void
put_begin (gpointer data, FlamFrameId frame, gint64 time)
{
  Writer *writer = data;
  const FlamProfile *profile = writer->part->profile;
  gboolean any = FALSE;
  FlamFunctionId function;

  put_call (writer, "B", frame, time);
  if (frame == FLAM_NONE)
    {
      flam_sink_put_c (writer->out, '}');
      return;
    }
  function = profile->frames.function[frame];
  flam_sink_printf (
      writer->out,
      ",\"cat\":\"%s\"",
      flam_function_kind_to_string (profile->functions.kind[function]));
  put_argument (writer->out,
                "file",
                flam_profile_string (profile, profile->frames.file[frame]),
                &any);
  put_argument (writer->out,
                "module",
                flam_profile_module_name (profile, function),
                &any);
  if (profile->frames.line[frame] != 0)
    flam_sink_printf (writer->out,
                      "%s\"line\":%u",
                      any ? "," : ",\"args\":{",
                      profile->frames.line[frame]);
  if (any || profile->frames.line[frame] != 0)
    flam_sink_put_c (writer->out, '}');
  flam_sink_put_c (writer->out, '}');
}

/* speedscope ends nothing without the name. If an end and a beginning have the
 * same time, it takes the end first, unless name and args of both are the
 * same. */
static void
put_end (gpointer data, FlamFrameId frame, gint64 time)
{
  Writer *writer = data;

  put_call (writer, "E", frame, time);
  flam_sink_put (writer->out, ",\"args\":{}}");
}

static void
put_label (Writer *writer, guint32 lane, const char *what, const char *name)
{
  if (*name == '\0')
    return;
  begin_event (writer, "M", lane);
  flam_sink_printf (writer->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
  flam_export_json_string (writer->out, name);
  flam_sink_put (writer->out, "}}");
}

static void
put_names (Writer *writer, guint32 lane)
{
  const FlamProfile *profile = writer->part->profile;
  g_autofree char *name = flam_part_lane_name (writer->part, lane);
  FlamProcessId process = profile->threads.process[lane];

  put_label (writer, lane, "thread_name", name);
  put_label (writer,
             lane,
             "process_name",
             flam_profile_string (profile, profile->processes.name[process]));
}

static void
put_marks (Writer *writer)
{
  const FlamMarks *marks = &writer->part->profile->marks;

  for (guint32 i = 0; i < marks->n; i++)
    {
      const char *name =
          flam_profile_string (writer->part->profile, marks->name[i]);
      gboolean whole = marks->thread[i] == FLAM_NONE;
      guint32 lane = whole ? 0 : marks->thread[i];
      guint lasts = marks->duration[i] > 0;

      for (guint k = 0; k <= lasts; k++)
        {
          begin_event (writer, !lasts ? "i" : k == 0 ? "b" : "e", lane);
          put_ts (writer, marks->time[i] + (k > 0 ? marks->duration[i] : 0));
          put_name (writer, name);
          if (lasts)
            flam_sink_printf (
                writer->out, ",\"cat\":\"mark\",\"id\":\"0x%x\"", i + 1);
          flam_sink_printf (writer->out, ",\"s\":\"%s\"}", whole ? "g" : "t");
        }
    }
}

/* A counter's only number is called after its unit, which the format lacks. */
static void
put_counters (Writer *writer)
{
  static const char *const series[] = {
    [FLAM_UNIT_COUNT] = "value",
    [FLAM_UNIT_NS] = "ns",
    [FLAM_UNIT_BYTES] = "bytes",
    [FLAM_UNIT_THOUSANDTHS] = "value",
  };
  const FlamProfile *profile = writer->part->profile;

  for (guint c = 0; c < profile->n_counters; c++)
    for (guint32 i = 0; i < profile->counters[c].n; i++)
      {
        begin_event (writer, "C", 0);
        put_ts (writer, profile->counters[c].time[i]);
        put_name (writer,
                  flam_profile_string (profile, profile->counters[c].id));
        flam_sink_printf (writer->out,
                          ",\"args\":{\"%s\":",
                          series[profile->counters[c].unit]);
        flam_export_json_count (writer->out,
                                profile->counters[c].unit,
                                profile->counters[c].value[i]);
        flam_sink_put (writer->out, "}}");
      }
}

static gboolean
save (FlamExport *export, GError **error)
{
  Writer writer = { .part = export->part, .out = export->out };
  const FlamSpanCalls calls = {
    put_begin, put_end, &writer, export->selection->by
  };

  flam_export_json_member (
      export->out,
      "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"title\":",
      export->options->look.title);
  flam_sink_put (export->out, "},\n\"traceEvents\":[");
  for (guint32 lane = 0; lane < export->part->profile->threads.n; lane++)
    {
      writer.lane = lane;
      put_names (&writer, lane);
      flam_spans_walk (export->part, lane, &calls);
    }
  put_marks (&writer);
  put_counters (&writer);
  flam_sink_put (export->out, "]}\n");
  return TRUE;
}

const FlamExporter flam_export_chrome_trace = {
  .id = "chrome-trace",
  .label = "Chrome trace events",
  .suffix = "trace.json",
  .mime_type = "application/json",
  .text = TRUE,
  .holds = FLAM_HOLDS_THREADS | FLAM_HOLDS_PROCESSES | FLAM_HOLDS_ORDER |
           FLAM_HOLDS_TIMES | FLAM_HOLDS_FILES | FLAM_HOLDS_LINES |
           FLAM_HOLDS_MODULES | FLAM_HOLDS_KINDS | FLAM_HOLDS_MARKS |
           FLAM_HOLDS_COUNTERS | FLAM_HOLDS_FRACTIONS,
  .lacks = flam_export_lacks_first_lines,
  .puts = FLAM_PUTS_SPANS,
  .save = save,
};
