/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Small files that would become large profiles, whose goldens would be too
 * large; large files that must not stay in memory; and members that the Firefox
 * Profiler requires. */

#include "exporting.h"
#include "flam-proto-write.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINES 2000
#define TIMES 2000

static void
put_message (GString *out, guint number, const GString *message)
{
  flam_proto_put_bytes (out, number, message->str, message->len);
}

/* Empty messages. */
static void
put_lines (GString *out, guint number)
{
  for (guint i = 0; i < LINES; i++)
    flam_proto_put_bytes (out, number, "", 0);
}

static void
put_list (GString *out, guint number)
{
  g_autofree char *list = g_malloc (TIMES);

  memset (list, 1, TIMES);
  flam_proto_put_bytes (out, number, list, TIMES);
}

static FlamProfile *
load (const char *name, const GString *bytes)
{
  g_autoptr (FlamSource) source =
      flam_source_new_from_data (name, bytes->str, bytes->len);
  g_autoptr (GError) error = NULL;
  FlamProfile *profile = flam_formats_load_source (source, NULL, &error);

  g_assert_no_error (error);
  return profile;
}

static void
check_bound (const char *name, const GString *bytes)
{
  g_autoptr (FlamProfile) profile = load (name, bytes);

  g_assert_cmpuint (profile->stacks.n, >, LINES);
  g_assert_cmpuint (profile->stacks.n, <=, MAX (16 * bytes->len, 65536));
  g_assert_nonnull (strstr (profile->facts.warnings[0], "so often"));
}

/* A location of 2,000 lines, 2,000 times on a stack: 4 million frames. */
static void
test_pprof (void)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GString) type = g_string_new (NULL);
  g_autoptr (GString) sample = g_string_new (NULL);
  g_autoptr (GString) location = g_string_new (NULL);

  flam_proto_put_number (type, 1, 1);
  put_message (out, 1, type);
  put_list (sample, 1);
  flam_proto_put_number (sample, 2, 1);
  put_message (out, 2, sample);
  flam_proto_put_number (location, 1, 1);
  put_lines (location, 4);
  put_message (out, 4, location);
  flam_proto_put_bytes (out, 6, "", 0);
  flam_proto_put_bytes (out, 6, "samples", 7);
  check_bound ("repeat.pb", out);
}

static void
test_otlp (void)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GString) dictionary = g_string_new (NULL);
  g_autoptr (GString) location = g_string_new (NULL);
  g_autoptr (GString) stack = g_string_new (NULL);
  g_autoptr (GString) sample = g_string_new (NULL);
  g_autoptr (GString) profile = g_string_new (NULL);
  g_autoptr (GString) scope = g_string_new (NULL);
  g_autoptr (GString) resource = g_string_new (NULL);

  flam_proto_put_number (sample, 1, 1);
  flam_proto_put_bytes (sample, 4, "\1", 1);
  flam_proto_put_bytes (profile, 1, "", 0);
  put_message (profile, 2, sample);
  put_message (scope, 2, profile);
  put_message (resource, 2, scope);
  put_message (out, 1, resource);
  put_lines (location, 3);
  flam_proto_put_bytes (dictionary, 2, "", 0);
  put_message (dictionary, 2, location);
  flam_proto_put_bytes (dictionary, 7, "", 0);
  put_list (stack, 1);
  put_message (dictionary, 7, stack);
  put_message (out, 2, dictionary);
  check_bound ("repeat.otlp", out);
}

/* Version 62 has a display for each counter, and the range of the recording. */
static void
test_gecko (void)
{
  g_autofree char *path = g_test_build_filename (
      G_TEST_DIST, "captures", "gecko", "counters.gecko.json", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);
  g_autoptr (FlamProfile) again = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_no_error (error);
  bytes = export_bytes (flam_exporter_find ("gecko"), profile, selection, NULL);
  g_string_append_len (
      text, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  g_assert_nonnull (strstr (text->str, "\"preprocessedProfileVersion\":62"));
  g_assert_nonnull (strstr (text->str, "\"display\":{\"label\":\"malloc\","));
  g_assert_nonnull (strstr (text->str, "\"graphType\":\"line-accumulated\""));
  g_assert_nonnull (strstr (text->str, "\"profilingStartTime\":0.0"));
  again = load ("again.json", text);
  g_assert_cmpint (again->facts.duration_ns, ==, profile->facts.duration_ns);
}

#define LARGE (48 << 20)

/* The most of the mapped files that was in memory at any time, in bytes. */
static gboolean
see_mapped (gpointer most, double fraction)
{
  g_autofree char *text = NULL;
  gulong size = 0, resident = 0, shared = 0;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  g_assert_cmpint (
      sscanf (text, "%lu %lu %lu", &size, &resident, &shared), ==, 3);
  *(gsize *)most = MAX (*(gsize *)most, shared * (gsize)sysconf (_SC_PAGESIZE));
  return TRUE;
}

/* The capture with its data again and again, and without what follows it. */
static char *
write_large_perf_data (void)
{
  g_autofree char *path = g_test_build_filename (
      G_TEST_DIST, "captures", "peers", "perf", "nest-dwarf.perf.data", NULL);
  g_autofree char *bytes = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  char *large = NULL;
  guint64 offset, size, all;
  int fd;

  g_assert_true (g_file_get_contents (path, &bytes, NULL, NULL));
  memcpy (&offset, bytes + 40, sizeof offset);
  memcpy (&size, bytes + 48, sizeof size);
  memset (bytes + 72, 0, 32);
  g_string_append_len (out, bytes, (gssize)offset);
  while (out->len < LARGE)
    g_string_append_len (out, bytes + offset, (gssize)size);
  all = out->len - offset;
  memcpy (out->str + 48, &all, sizeof all);
  fd = g_file_open_tmp ("flam-XXXXXX.data", &large, NULL);
  g_assert_cmpint (write (fd, out->str, out->len), ==, (gssize)out->len);
  close (fd);
  return large;
}

static void
test_perf_data (void)
{
  g_autofree char *path = write_large_perf_data ();
  gsize before = 0, most = 0;
  FlamProgress progress = { see_mapped, &most };
  FlamLoadOptions options = { .progress = &progress };
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamSource) source = flam_source_open (path, NULL, &error);
  g_autoptr (FlamProfile) profile = NULL;

  g_assert_no_error (error);
  see_mapped (&before, 0);
  profile = flam_formats_load_source (source, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (profile->samples.n, >, 1000);
  g_assert_cmpuint (most, >, 0);
  g_assert_cmpuint (most, <, before + LARGE / 2);
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bounds/pprof", test_pprof);
  g_test_add_func ("/bounds/otlp", test_otlp);
  g_test_add_func ("/bounds/gecko", test_gecko);
  g_test_add_func ("/bounds/perf-data", test_perf_data);
  return g_test_run ();
}
