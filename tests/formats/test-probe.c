/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A format is recognized by the content of a document, wherever it is: writers
 * use any order, and some put megabytes of other data first. */

#include "flam-formats.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  const char *importer;
  const char *begin, *filler, *end;
} Row;

#define FRAME "{\"functionName\":\"f\"}"

static const Row rows[] = {
  /* Chrome's developer tools write metadata and source maps first. */
  { "chrome-trace",
    "{\"metadata\":{\"sourceMaps\":[",
    "{\"url\":\"a\\\"]}[{\",\"n\":[1,{}]},",
    "0]},\"traceEvents\":[]}" },
  { "chrome-trace",
    "[{\"args\":{\"a\":[",
    "{\"x\":\"}]\\\\\"},",
    "0]},\"ph\":\"X\",\"ts\":1,\"pid\":1}]" },
  { "cpuprofile",
    "{\"samples\":[",
    "2,",
    "2],\"timeDeltas\":[1],\"nodes\":[{\"id\":2,\"callFrame\":" FRAME "}]}" },
  { "heapprofile",
    "{\"samples\":[",
    "{\"size\":1,\"nodeId\":2},",
    "0],\"head\":{\"id\":2,\"selfSize\":1,\"callFrame\":" FRAME "}}" },
  { "gecko",
    "{\"threads\":[],\"libs\":[",
    "{\"name\":\"a\"},",
    "0],\"meta\":{\"interval\":1,\"processType\":0}}" },
  { "gecko",
    "{\"threads\":[],\"libs\":[",
    "{\"name\":\"a\"},",
    "0],\"meta\":{\"preprocessedProfileVersion\":50}}" },
  { "speedscope",
    "{\"profiles\":[",
    "{\"samples\":[[1]]},",
    "0],\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
    "\"shared\":{}}" },
  { "stackprof",
    "{\"raw\":[",
    "1,",
    "1],\"mode\":\"cpu\",\"gc_samples\":0,\"frames\":{}}" },
  { "pyroscope",
    "{\"metadata\":[",
    "1,",
    "1],\"flamebearer\":{\"levels\":[],\"names\":[]}}" },
  { "scalene",
    "{\"args\":[",
    "\"a\",",
    "\"\"],\"files\":{},\"elapsed_time_sec\":1}" },
  { "safari",
    "{\"overview\":[",
    "1,",
    "1],\"recording\":{\"sampleStackTraces\":[]}}" },
  { "otlp",
    "{\"resourceProfiles\":[{\"resource\":{\"attributes\":[",
    "{\"key\":\"a\"},",
    "{}]},\"scopeProfiles\":[]}]}" },
  { "dhat", "{\"cmd\":\"", "a", "\",\"dhatFileVersion\":2}" },
  { "d3",
    "{\"children\":[",
    "{\"name\":\"a\",\"value\":1},",
    "{}],\"name\":\"all\",\"value\":9}" },
  { "perf-script",
    "",
    "# node 0 meminfo : total = 1, free = 1\n",
    "a 1/2 [000] 3.5: 10 cycles: \n\t            1234 f+0x1 (/a)\n\n" },
  { "callgrind", "", "# a note\n", "events: Ir\nfl=a.c\nfn=main\n1 2\n" },
  { "folded", "", "# a note\n", "main;a 1\nmain;b 2\n" },
  { "pyinstrument",
    "<!DOCTYPE html><style>",
    "p { color: red }\n",
    "</style><div id=\"app\"></div><script>pyinstrumentHTMLRenderer" },
  { "massif",
    "desc:",
    " --threshold=0.1",
    "\ncmd: a\ntime_unit: i\n#-----------\nsnapshot=0\n" },
};

static const gsize sizes[] = { 10, 20 << 10, 700 << 10, 5 << 20 };

static GString *
document_of (const Row *row, gsize size)
{
  GString *text = g_string_new (row->begin);

  while (text->len < size)
    g_string_append (text, row->filler);
  g_string_append (text, row->end);
  return text;
}

static void
check_at (const Row *row, gsize size)
{
  g_autoptr (GString) text = document_of (row, size);
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("unknown", text->str, text->len);
  const FlamImporter *importer = flam_formats_probe (source);

  g_assert_nonnull (importer);
  g_assert_cmpstr (importer->id, ==, row->importer);
}

static void
test_late (gconstpointer data)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    check_at (data, sizes[i]);
}

/* JSON and comments are read to 64 MiB. */
static void
test_latest (void)
{
  static const char *const importers[] = {
    "cpuprofile", "gecko", "perf-script", "callgrind", "folded", NULL,
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_strv_contains (importers, rows[i].importer))
      check_at (&rows[i], 63 << 20);
}

static FlamProfile *
load_packed (const GString *text)
{
  g_autoptr (GZlibCompressor) gzip =
      g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 1);
  g_autoptr (GError) error = NULL;
  FlamProfile *profile;
  g_autofree char *packed = g_malloc (text->len);
  g_autofree char *path = NULL;
  gsize read, written;
  int fd = g_file_open_tmp ("flambeau-probe-XXXXXX", &path, &error);

  g_assert_no_error (error);
  g_close (fd, NULL);
  g_converter_convert (G_CONVERTER (gzip),
                       text->str,
                       text->len,
                       packed,
                       text->len,
                       G_CONVERTER_INPUT_AT_END,
                       &read,
                       &written,
                       &error);
  g_assert_no_error (error);
  g_assert_cmpuint (read, ==, text->len);
  g_file_set_contents (path, packed, (gssize)written, &error);
  g_assert_no_error (error);
  profile = flam_formats_load (path, NULL, &error);
  g_unlink (path);
  g_assert_no_error (error);
  return profile;
}

/* The first bytes of a packed file do not suffice, either. */
static void
test_packed (void)
{
  static const Row row = {
    "chrome-trace",
    "{\"metadata\":[",
    "\"a\",",
    "0],\"traceEvents\":[{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":1,"
    "\"ts\":0,\"dur\":5}]}"
  };
  g_autoptr (GString) text = document_of (&row, 3 << 20);
  g_autoptr (FlamProfile) profile = load_packed (text);

  g_assert_cmpstr (profile->facts.format, ==, "chrome-trace");
  g_assert_cmpint (profile->facts.duration_ns, ==, 5000);
}

/* Nor do they if they are blank. */
static void
test_packed_blanks (void)
{
  static const char *const blanks[] = { " ", "\n" };

  for (guint i = 0; i < G_N_ELEMENTS (blanks); i++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      g_autoptr (FlamProfile) profile = NULL;

      while (text->len < 3 << 20)
        g_string_append (text, blanks[i]);
      g_string_append (text, "\nmain;a 3\nmain;b 4\n");
      profile = load_packed (text);
      g_assert_cmpstr (profile->facts.format, ==, "folded");
    }
}

/* Thousands of members, each with another name, before those that identify the
 * document. */
static void
test_many (void)
{
  g_autoptr (GString) text = g_string_new ("{\"version\":1.2,\"frames\":{");
  g_autoptr (FlamSource) source = NULL;
  const FlamImporter *importer;

  for (guint i = 0; i < 20000; i++)
    g_string_append_printf (text, "\"%u\":{\"name\":\"f%u\"},", i, i);
  g_string_append (text, "\"0\":{}},\"mode\":\"cpu\",\"gc_samples\":0}");
  source = flam_source_new_from_data ("unknown", text->str, text->len);
  importer = flam_formats_probe (source);
  g_assert_nonnull (importer);
  g_assert_cmpstr (importer->id, ==, "stackprof");
}

/* Names inside a text or at deeper levels are not members. */
static void
test_within (void)
{
  static const char text[] =
      "{\"note\":\"\\\"traceEvents\\\":[]\",\"a\":{\"traceEvents\":[]}}";
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("unknown", text, strlen (text));

  g_assert_null (flam_formats_probe (source));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *name =
          g_strdup_printf ("/probe/%s/%u", rows[i].importer, i);

      g_test_add_data_func (name, &rows[i], test_late);
    }
  g_test_add_func ("/probe/latest", test_latest);
  g_test_add_func ("/probe/packed", test_packed);
  g_test_add_func ("/probe/packed-blanks", test_packed_blanks);
  g_test_add_func ("/probe/many", test_many);
  g_test_add_func ("/probe/within", test_within);
  return g_test_run ();
}
