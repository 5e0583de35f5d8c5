/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The content of Perfetto traces and Julia's data; and every exporter with very
 * deep and very wide captures. Formats that repeat each stack write gigabytes
 * for the deep one: no exporter needs more memory for that than for a small
 * document. */

#include "exporting.h"
#include "flam-core-picture.h"
#include "flam-part.h"

#include <fcntl.h>
#include <gio/gunixoutputstream.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <sys/resource.h>

#define FRAMES 16000 /* the deep one folded is 2 GB */
/* Limit for the capture and its documents. A sanitizer keeps freed memory and
 * pads allocations. A picture also needs its pixels. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_KIB (900 << 10)
#else
#define MEMORY_KIB (64 << 10)
#endif
#define PICTURE_KIB (400 << 10)

/* Each function calls the next one, or all are called by the first; each has
 * a sample of its own. */
static FlamProfile *
make_profile (gboolean deep, FlamUnit unit)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamThreadId thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  FlamStackId stack = FLAM_NONE;

  flam_builder_set_format (builder, "test");
  flam_builder_add_column (builder);
  flam_builder_add_measure (
      builder, "w", "W", unit, FLAM_MEASURE_CPU, 0, FLAM_NONE);
  for (guint i = 0; i < FRAMES; i++)
    {
      g_autofree char *name = g_strdup_printf ("a_function_%05u", i);
      FlamFunctionId function = flam_builder_function_named (
          builder, flam_builder_string (builder, name, -1), FLAM_KIND_NATIVE);
      FlamFrameId frame = flam_builder_frame (builder, function, 0, 0, 0);
      FlamId own = flam_builder_stack (builder, stack, frame);
      FlamSample sample = { thread, own };
      gint64 one = 1;

      flam_builder_add_sample (builder, &sample, &one);
      if (deep || i == 0)
        stack = own;
    }
  {
    g_autoptr (GError) error = NULL;
    FlamProfile *profile = flam_builder_finish (builder, &error);

    g_assert_no_error (error);
    return profile;
  }
}

static void
test_exporter (gconstpointer data)
{
  const FlamExporter *exporter = data;
  const FlamExportOptions options = { .look.title = "title" };
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  for (guint deep = 0; deep < 2; deep++)
    {
      g_autoptr (FlamProfile) profile =
          make_profile (deep,
                        strcmp (exporter->id, "jlprof") == 0 ? FLAM_UNIT_COUNT
                                                             : FLAM_UNIT_NS);
      g_autoptr (GOutputStream) stream =
          g_unix_output_stream_new (open ("/dev/null", O_WRONLY), TRUE);
      g_autoptr (FlamSink) sink = flam_sink_new (stream);
      g_autoptr (GError) error = NULL;
      struct rusage used;

      /* A document whose length depends on its counts has a limit. */
      if (!flam_exporter_save (
              exporter, profile, selection, &options, sink, &error) &&
          strcmp (exporter->id, "jlprof") == 0)
        g_assert_error (error, FLAM_ERROR, FLAM_ERROR_UNSUPPORTED);
      else
        g_assert_no_error (error);
      g_assert_true (flam_sink_finish (sink, NULL));
      getrusage (RUSAGE_SELF, &used);
      g_test_message ("%s: %ld KiB", deep ? "deep" : "wide", used.ru_maxrss);
      g_assert_cmpint (
          used.ru_maxrss,
          <,
          MEMORY_KIB +
              ((exporter->look & FLAM_PICTURE_STYLE_COLORS) ? PICTURE_KIB : 0));
    }
}

/* The profile that its document in this format opens as. */
static FlamProfile *
profile_again (const char *format,
               const FlamProfile *profile,
               const FlamSelection *selection)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) out =
      export_bytes (flam_exporter_find (format), profile, selection, &error);
  g_autoptr (FlamSource) source = NULL;
  FlamProfile *again;

  g_assert_no_error (error);
  source = export_source (out);
  again = flam_formats_load_source (source, NULL, &error);
  g_assert_no_error (error);
  return again;
}

/* The data beside calls comes back: threads with their totals, marks, and
 * counters, whose times are the capture's. */
static void
test_holds (gconstpointer data)
{
  g_auto (GStrv) words = g_strsplit (data, ":", 2); /* format, capture */
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "captures", words[1], NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamProfile) again = NULL;
  g_auto (FlamPart) part = { 0 };
  g_auto (FlamPart) part_again = { 0 };
  gint64 shift;

  g_assert_no_error (error);
  while (profile->measures[selection->measure].unit != FLAM_UNIT_NS)
    selection->measure++;
  again = profile_again (words[0], profile, selection);
  g_assert_true (flam_part_init (&part, profile, selection, NULL));
  g_assert_true (flam_part_init (&part_again, again, all, NULL));
  g_assert_cmpuint (profile->threads.n, ==, again->threads.n);
  for (guint32 i = 0; i < profile->threads.n; i++)
    {
      if (profile->threads.tid[i] >= 0)
        /* Lanes of one thread get numbers of their own. */
        g_assert_cmpint (flam_part_tid (&part, i), ==, again->threads.tid[i]);
      g_assert_cmpint (
          flam_part_total (&part, i), ==, flam_part_total (&part_again, i));
    }
  g_assert_cmpuint (profile->marks.n + profile->n_counters, >, 0);
  g_assert_cmpuint (profile->marks.n, ==, again->marks.n);
  g_assert_cmpuint (profile->n_counters, ==, again->n_counters);
  shift = profile->n_counters > 0
              ? again->counters[0].time[0] - profile->counters[0].time[0]
              : again->marks.time[0] - profile->marks.time[0];
  for (guint32 i = 0; i < profile->marks.n; i++)
    {
      g_assert_cmpstr (flam_profile_string (profile, profile->marks.name[i]),
                       ==,
                       flam_profile_string (again, again->marks.name[i]));
      g_assert_cmpint (
          profile->marks.duration[i], ==, again->marks.duration[i]);
      g_assert_cmpint (
          profile->marks.time[i] + shift, ==, again->marks.time[i]);
      g_assert_true ((profile->marks.thread[i] == FLAM_NONE) ==
                     (again->marks.thread[i] == FLAM_NONE));
    }
  for (guint c = 0; c < profile->n_counters; c++)
    {
      const FlamCounter *before = &profile->counters[c];
      const FlamCounter *after = &again->counters[c];
      g_assert_cmpint (before->unit, ==, after->unit);
      g_assert_cmpuint (before->n, ==, after->n);
      for (guint32 i = 0; i < before->n; i++)
        {
          g_assert_cmpint (before->value[i], ==, after->value[i]);
          g_assert_cmpint (before->time[i] + shift, ==, after->time[i]);
        }
    }
}

/* A V8 profile with a late first sample comes back unchanged: the time before
 * it belongs to nothing, and no pause appears between adjacent samples. */
static void
test_cpuprofile_is_identity (void)
{
  static const char text[] =
      "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},"
      "\"children\":[2,3]},{\"id\":2,\"callFrame\":{\"functionName\":\"a\"}},"
      "{\"id\":3,\"callFrame\":{\"functionName\":\"b\"}}],\"startTime\":500,"
      "\"endTime\":13700,\"samples\":[2,3,2,3,2,3],"
      "\"timeDeltas\":[3100,2300,2100,2100,900,1300]}";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));
  g_autoptr (FlamSource) source = export_source (bytes);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile =
      flam_formats_load_source (source, NULL, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) again = NULL;

  g_assert_no_error (error);
  again = profile_again ("cpuprofile", profile, selection);
  g_assert_cmpfloat (export_total (profile, 0), >, 0);
  g_assert_cmpfloat (export_total (again, 0), ==, export_total (profile, 0));
  for (guint32 i = 0; i < profile->samples.n; i++)
    g_assert_cmpint (profile->samples.time[i], ==, again->samples.time[i]);
}

/* Julia's data comes back unchanged: stacks, places, threads, sleeping
 * threads. */
static void
test_jlprof_is_identity (gconstpointer name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "captures", "jlprof", name, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) again = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  g_assert_no_error (error);
  again = profile_again ("jlprof", profile, selection);
  before = flam_dump_profile (profile);
  after = flam_dump_profile (again);
  g_assert_cmpstr (before, ==, after);
}

/* The status of frames from a page is in the written graph, and in our own
 * captures. */
static void
test_status (gconstpointer data)
{
  g_autofree char *path = g_test_build_filename (
      G_TEST_DIST, "captures", "profilecanvas", "status.html", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) again = NULL;
  guint n = 0;

  g_assert_no_error (error);
  again = profile_again (data, profile, selection);
  g_assert_cmphex (flam_profile_statuses (again), ==, FLAM_STATUS_ALL);
  for (FlamId i = 0; i < profile->frames.n; i++)
    for (FlamId k = 0; k < again->frames.n; k++)
      if (strcmp (
              flam_profile_function_name (profile, profile->frames.function[i]),
              flam_profile_function_name (again, again->frames.function[k])) ==
          0)
        {
          g_assert_cmphex (
              profile->frames.status[i], ==, again->frames.status[k]);
          n++;
        }
  g_assert_cmpuint (n, ==, profile->frames.n);
  g_assert_cmpfloat (export_total (again, 0), ==, export_total (profile, 0));
}

static gboolean
has_process (const FlamProfile *profile, const char *name)
{
  for (FlamId i = 0; i < profile->threads.n; i++)
    if (strcmp (
            flam_profile_string (
                profile, profile->processes.name[profile->threads.process[i]]),
            name) == 0)
      return TRUE;
  return FALSE;
}

/* Processes that only have a name get distinct numbers. */
static void
test_processes (gconstpointer data)
{
  g_autofree char *path = g_test_build_filename (
      G_TEST_DIST, "captures", "chrome-trace", "words.trace.json", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) again = NULL;

  g_assert_no_error (error);
  again = profile_again (data, profile, selection);
  g_assert_true (has_process (again, "build"));
  g_assert_true (has_process (again, "tests"));
}

/* speedscope ignores an end that does not have the name of the innermost
 * call. */
static void
test_ends_are_named (void)
{
  g_autofree char *path = g_test_build_filename (
      G_TEST_DIST, "captures", "flambeau", "family.flambeau", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GPtrArray) open = g_ptr_array_new ();
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autofree char *text = NULL;
  JsonArray *events;
  guint n = 0;

  g_assert_no_error (error);
  text = export_text (flam_exporter_find ("chrome-trace"), profile, selection);
  json_parser_load_from_data (parser, text, -1, &error);
  g_assert_no_error (error);
  events = json_object_get_array_member (
      json_node_get_object (json_parser_get_root (parser)), "traceEvents");
  for (guint i = 0; i < json_array_get_length (events); i++)
    {
      JsonObject *event = json_array_get_object_element (events, i);
      const char *phase = json_object_get_string_member (event, "ph");
      const char *name =
          json_object_get_string_member_with_default (event, "name", "");

      if (strcmp (phase, "B") == 0)
        g_ptr_array_add (open, (gpointer)name);
      if (strcmp (phase, "E") != 0)
        continue;
      g_assert_cmpstr (name, ==, g_ptr_array_index (open, open->len - 1));
      g_ptr_array_set_size (open, (gint)open->len - 1);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (open->len, ==, 0);
}

/* "name file:line module kind" of each frame; for spans, a function's first
 * frame applies to the whole span. */
static GHashTable *
places_of (const FlamProfile *profile, gboolean modules)
{
  GHashTable *places =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (FlamId i = 0; i < profile->frames.n; i++)
    {
      FlamFunctionId function = profile->frames.function[i];

      g_hash_table_add (
          places,
          g_strdup_printf (
              "%s %s:%u %s %s",
              flam_profile_function_name (profile, function),
              flam_profile_string (profile, profile->frames.file[i]),
              profile->frames.line[i],
              modules ? flam_profile_module_name (profile, function) : "",
              flam_function_kind_to_string (
                  profile->functions.kind[function])));
    }
  return places;
}

/* Calls come back with their source positions, modules and kinds. */
static void
test_places (gconstpointer data)
{
  const char *format = data;
  gboolean modules = strcmp (format, "chrome-trace") == 0;
  g_autofree char *path = g_test_build_filename (
      G_TEST_DIST, "captures", "flambeau", "family.flambeau", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) again = NULL;
  g_autoptr (GHashTable) before = NULL;
  g_autoptr (GHashTable) after = NULL;
  GHashTableIter iter;
  gpointer place;
  guint n = 0;

  g_assert_no_error (error);
  again = profile_again (format, profile, selection);
  before = places_of (profile, modules);
  after = places_of (again, modules);
  g_hash_table_iter_init (&iter, after);
  while (g_hash_table_iter_next (&iter, &place, NULL))
    if (!g_str_has_prefix (place, "[no stack]"))
      {
        if (!g_hash_table_contains (before, place))
          g_error ("%s", (const char *)place);
        n += strstr (place, ".c:") != NULL;
      }
  g_assert_cmpuint (n, >, 5);
}

/* In the page, blocks of sampled memory have the error of their bytes. */
static void
test_page_blocks (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  FlamAllocation allocation = {
    .time = 1,
    .freed_at = FLAM_NEVER,
    .thread = flam_builder_thread (
        builder, flam_builder_process (builder, 1, 0), 1, 0),
    .stack = FLAM_NONE,
    .size = 1 << 20,
    .count = 1,
    .at_peak = -1,
    .distance = G_MAXUINT16,
  };
  g_autofree char *text = NULL;

  flam_builder_add_allocation_measures (builder);
  flam_builder_add_allocation (builder, &allocation);
  flam_builder_facts (builder)->sample_bytes = 524288;
  profile = flam_builder_finish (builder, NULL);
  text = export_text (flam_exporter_find ("html"), profile, selection);
  g_assert_nonnull (strstr (text,
                            "[{\"name\":\"Peak memory\",\"unit\":\"bytes\","
                            "\"every\":524288,"));
  g_assert_nonnull (strstr (text,
                            "{\"name\":\"Blocks at the peak\",\"unit\":"
                            "\"count\",\"bytes\":0,\"whole\":0,\"spread\":"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* The maximum is that of the process, so pictures come last. */
  for (guint colored = 0; colored < 2; colored++)
    for (guint i = 0; flam_exporters[i] != NULL; i++)
      {
        g_autofree char *path =
            g_strconcat ("/exports/", flam_exporters[i]->id, NULL);

        if (((flam_exporters[i]->look & FLAM_PICTURE_STYLE_COLORS) != 0) ==
            (colored == 1))
          g_test_add_data_func (path, flam_exporters[i], test_exporter);
      }
  g_test_add_data_func (
      "/exports/jlprof-is/plain", "plain.jlprof", test_jlprof_is_identity);
  g_test_add_data_func (
      "/exports/jlprof-is/threads", "threads.jlprof", test_jlprof_is_identity);
  g_test_add_data_func (
      "/exports/jlprof-is/status", "status.jlprof", test_jlprof_is_identity);
  g_test_add_data_func ("/exports/jlprof-holds/status", "jlprof", test_status);
  g_test_add_data_func (
      "/exports/flambeau-holds/status", "flambeau", test_status);
  g_test_add_data_func (
      "/exports/chrome-trace-holds/processes", "chrome-trace", test_processes);
  g_test_add_data_func (
      "/exports/gecko-holds/processes", "gecko", test_processes);
  g_test_add_data_func (
      "/exports/perfetto-holds/processes", "perfetto", test_processes);
  g_test_add_func ("/exports/chrome-trace/ends-are-named", test_ends_are_named);
  g_test_add_func ("/exports/cpuprofile-is/late", test_cpuprofile_is_identity);
  g_test_add_func ("/exports/html/blocks", test_page_blocks);
  g_test_add_data_func ("/exports/perfetto-holds/counters",
                        "perfetto:flambeau/kitchen.flambeau",
                        test_holds);
  g_test_add_data_func ("/exports/perfetto-holds/marks",
                        "perfetto:jfr/two-chunks.jfr",
                        test_holds);
  g_test_add_data_func (
      "/exports/gecko-holds/counters", "gecko:jfr/two-chunks.jfr", test_holds);
  g_test_add_data_func ("/exports/chrome-trace-holds/fractions",
                        "chrome-trace:chrome-trace/counters.trace.json",
                        test_holds);
  g_test_add_data_func ("/exports/perfetto-holds/fractions",
                        "perfetto:chrome-trace/counters.trace.json",
                        test_holds);
  g_test_add_data_func ("/exports/gecko-holds/marks",
                        "gecko:chrome-trace/spans.trace.json",
                        test_holds);
  g_test_add_data_func ("/exports/chrome-trace-holds/own-marks",
                        "chrome-trace:chrome-trace/marks.trace.json",
                        test_holds);
  g_test_add_data_func ("/exports/chrome-trace-holds/marks",
                        "chrome-trace:jfr/two-chunks.jfr",
                        test_holds);
  g_test_add_data_func (
      "/exports/chrome-trace-holds/places", "chrome-trace", test_places);
  g_test_add_data_func (
      "/exports/perfetto-holds/places", "perfetto", test_places);
  return g_test_run ();
}
