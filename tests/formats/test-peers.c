/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures made by real tools, against the figures of those tools: the files
 * X.expect.txt beside them. */
#include "flam-core-query.h"
#include "flam-formats.h"

#include "peer-captures.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

typedef struct
{
  FlamProfile *profile;
  char *expect; /* the peer's output */
} Capture;

static void
capture_clear (Capture *capture)
{
  g_clear_pointer (&capture->profile, flam_profile_unref);
  g_clear_pointer (&capture->expect, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Capture, capture_clear)

/* FALSE if it belongs to another project and is not on this machine. */
static gboolean
open_capture (const char *name, const char *expect_name, Capture *capture)
{
  g_autofree char *path = peer_capture_path (name);
  g_autofree char *expect_path = NULL;
  g_autoptr (GError) error = NULL;

  *capture = (Capture){ 0 };
  if (peer_capture_is_absent (name))
    {
      g_test_message ("no capture %s here", name);
      return FALSE;
    }
  capture->profile = flam_formats_load (path, NULL, &error);
  g_assert_no_error (error);
  if (expect_name == NULL)
    return TRUE;
  expect_path = peer_capture_path (expect_name);
  g_file_get_contents (expect_path, &capture->expect, NULL, &error);
  g_assert_no_error (error);
  return TRUE;
}

static FlamTree *
tree_of (const FlamProfile *profile, const char *measure)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  int index = flam_profile_find_measure (profile, measure);

  if (index < 0)
    g_error ("no measure %s", measure);
  selection->measure = index;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

static gint64
total_of (const FlamProfile *profile, const char *measure)
{
  g_autoptr (FlamTree) tree = tree_of (profile, measure);

  return tree->total[0];
}

/* Without the text between < and >, which heaptrack_print leaves out. */
static char *
without_templates (const char *name)
{
  GString *out = g_string_new (NULL);
  int depth = 0;

  for (; *name != '\0'; name++)
    {
      if (*name == '>')
        depth--;
      if (depth <= 0)
        g_string_append_c (out, *name);
      if (*name == '<')
        depth++;
    }
  return g_string_free (out, FALSE);
}

/* Self weight (or total) of all functions with that name; -1: none. */
static gint64
weight_of (const FlamTree *tree, const char *name, gboolean self)
{
  guint n;
  g_autofree FlamFunctionRow *rows =
      flam_functions_new (tree, FLAM_SORT_SELF, &n);
  gint64 sum = -1;

  for (guint i = 0; i < n; i++)
    {
      const char *row = flam_tree_name (tree, rows[i].node);
      g_autofree char *plain = without_templates (row);
      if (strcmp (row, name) == 0 || strcmp (plain, name) == 0)
        sum = MAX (sum, 0) + (self ? rows[i].self : rows[i].total);
    }
  return sum;
}

/* A peer may distinguish functions with the same name in two files. */
static gboolean
has_row (const FlamTree *tree, const char *name, gint64 self)
{
  guint n;
  g_autofree FlamFunctionRow *rows =
      flam_functions_new (tree, FLAM_SORT_SELF, &n);

  for (guint i = 0; i < n; i++)
    if (rows[i].self == self &&
        strcmp (flam_tree_name (tree, rows[i].node), name) == 0)
      return TRUE;
  return FALSE;
}

/* The number that `pattern` captures in the peer's output. */
static gint64
expect_number (const Capture *capture, const char *pattern)
{
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autofree char *number = NULL;

  if (!g_regex_match (regex, capture->expect, 0, &match))
    g_error ("no %s in the peer's words", pattern);
  number = g_match_info_fetch (match, 1);
  return g_ascii_strtoll (number, NULL, 10);
}

/* "33.55M", decimal, two places: equal if ours rounds to it. */
static void
assert_bytes_like (gint64 ours, const char *theirs)
{
  char *unit;
  double value = g_ascii_strtod (theirs, &unit);
  double scale = *unit == 'K'   ? 1e3
                 : *unit == 'M' ? 1e6
                 : *unit == 'G' ? 1e9
                                : 1;

  g_assert_cmpfloat (fabs (value * scale - ours), <=, 0.00501 * scale);
}

/* For each match of `pattern` (a number, a function): our self weight. */
static guint
check_sites (const Capture *capture, const char *measure, const char *pattern)
{
  g_autoptr (FlamTree) tree = tree_of (capture->profile, measure);
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  guint checked = 0;

  for (g_regex_match (regex, capture->expect, 0, &match);
       g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *number = g_match_info_fetch (match, 1);
      g_autofree char *name = g_match_info_fetch (match, 2);
      gint64 ours = weight_of (tree, name, TRUE);
      /* to heaptrack a site is a line, to us a function with any line */
      if (strstr (name, "allocate(") != NULL || name[0] == '0')
        continue;
      g_test_message ("%s: %s of %s", measure, number, name);
      if (g_ascii_isalpha (number[strlen (number) - 1]))
        assert_bytes_like (ours, number);
      else
        g_assert_cmpint (ours, ==, g_ascii_strtoll (number, NULL, 10));
      checked++;
    }
  return checked;
}

static void
test_heaptrack (gconstpointer name)
{
  g_autofree char *expect = g_strconcat (name, ".expect.txt", NULL);
  g_auto (Capture) capture;

  if (!open_capture (name, expect, &capture))
    return;
  g_assert_cmpint (
      total_of (capture.profile, "allocations"),
      ==,
      expect_number (&capture, "^calls to allocation functions: (\\d+)"));
  g_assert_cmpint (
      total_of (capture.profile, "temporary"),
      ==,
      expect_number (&capture, "^temporary memory allocations: (\\d+)"));
  assert_bytes_like (total_of (capture.profile, "peak"), "33.66M");
  assert_bytes_like (total_of (capture.profile, "leaked"), "189.12K");
  g_assert_cmpuint (
      check_sites (
          &capture,
          "allocations",
          "^(\\d+) calls to allocation functions with .* from\\n(.*)$"),
      >=,
      5);
  g_assert_cmpuint (
      check_sites (&capture,
                   "temporary",
                   "^(\\d+) temporary allocations of .* from\\n(.*)$"),
      >=,
      2);
  g_assert_cmpuint (
      check_sites (
          &capture,
          "peak",
          "^([\\d.]+[BKMG]) peak memory consumed over .* from\\n(.*)$"),
      >=,
      2);
}

/* heaptrack_interpret's output for the same bytes. */
static void
test_heaptrack_raw (void)
{
  g_auto (Capture) capture;

  if (!open_capture ("heaptrack/alloc-raw.raw.zst", NULL, &capture))
    return;
  g_assert_cmpint (total_of (capture.profile, "allocations"), ==, 47639);
  g_assert_cmpint (total_of (capture.profile, "temporary"), ==, 40533);
  g_assert_cmpint (total_of (capture.profile, "leaked-blocks"), ==, 1044);
  assert_bytes_like (total_of (capture.profile, "peak"), "33.66M");
  assert_bytes_like (total_of (capture.profile, "leaked"), "189.12K");
}

/* "20,000,010" */
static gint64
grouped_number (const GMatchInfo *match, int group)
{
  g_autofree char *text = g_match_info_fetch (match, group);
  g_auto (GStrv) groups = g_strsplit (text, ",", -1);
  g_autofree char *digits = g_strjoinv ("", groups);

  return g_ascii_strtoll (digits, NULL, 10);
}

/* ms_print shows the peak's tree with its bytes; thousands have commas. */
static void
test_massif (void)
{
  g_autoptr (GRegex) regex = g_regex_new (
      "^[\\d.]+% \\(([\\d,]+)B\\) \\(heap", G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_auto (Capture) capture;
  gint64 peak = 0;

  if (!open_capture ("valgrind/massif.alloc.out",
                     "valgrind/massif.alloc.out.expect.txt",
                     &capture))
    return;
  for (g_regex_match (regex, capture.expect, 0, &match);
       g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      peak = MAX (peak, grouped_number (match, 1));
    }
  tree = tree_of (capture.profile, "peak-useful");
  g_assert_cmpint (tree->total[0], ==, peak);
  g_assert_cmpint (weight_of (tree, "hold_peak()", TRUE), ==, 33554432);
  /* ms_print's column "total(B)" of that snapshot. */
  g_assert_nonnull (strstr (capture.expect, " 33,675,344 "));
  g_assert_cmpint (total_of (capture.profile, "peak"), ==, 33675344);
}

static void
test_dhat (gconstpointer name)
{
  static const struct
  {
    const char *measure, *pattern;
  } rows[] = {
    { "allocated", "^total bytes (\\d+)" },
    { "allocations", "^total bytes \\d+ total blocks (\\d+)" },
    { "peak", "^at t-gmax bytes (\\d+)" },
    { "peak-blocks", "^at t-gmax bytes \\d+ blocks (\\d+)" },
    { "leaked", "^at t-end bytes (\\d+)" },
    { "leaked-blocks", "^at t-end bytes \\d+ blocks (\\d+)" },
  };
  g_autoptr (FlamTree) tree = NULL;
  g_auto (Capture) capture;

  if (!open_capture (name, "valgrind/dhat.alloc.json.expect.txt", &capture))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (total_of (capture.profile, rows[i].measure),
                     ==,
                     expect_number (&capture, rows[i].pattern));
  tree = tree_of (capture.profile, "allocated");
  g_assert_cmpint (weight_of (tree, "leak_thread()", FALSE),
                   ==,
                   expect_number (&capture, "^(\\d+) 40 maxb .*leak_thread"));
}

/* The line of expect-speedscope.txt, "self top5: sortStuff=51926 | …", of the
 * capture whose heading is `name`. */
static void
check_speedscope (const Capture *capture,
                  const char *name,
                  const char *measure,
                  gint64 scale)
{
  g_autofree char *heading = g_strconcat ("== ", name, " (", NULL);
  const char *at = strstr (capture->expect, heading);
  g_autoptr (FlamTree) tree = tree_of (capture->profile, measure);
  g_autofree char *line = NULL;
  g_auto (GStrv) words = NULL;
  guint checked = 0;

  g_assert_nonnull (at);
  at = strstr (at, "self top5: ") + strlen ("self top5: ");
  line = g_strndup (at, strcspn (at, "\n"));
  words = g_strsplit (line, " | ", -1);
  for (guint i = 0; words[i] != NULL; i++)
    {
      char *equals = strrchr (words[i], '=');
      *equals = '\0';
      if (g_str_has_prefix (words[i], "(anonymous"))
        continue;
      g_test_message ("%s: %s", words[i], equals + 1);
      g_assert_true (has_row (
          tree, words[i], g_ascii_strtoll (equals + 1, NULL, 10) * scale));
      checked++;
    }
  g_assert_cmpuint (checked, >=, 3);
}

/* The number of samples of the profile that ended in this line. */
static gint64
samples_at (const FlamProfile *profile, const char *file, gint64 line)
{
  gint64 n = 0;

  for (guint32 i = 0; i < profile->samples.n; i++)
    {
      FlamStackId stack = profile->samples.stack[i];
      FlamFrameId frame = stack != FLAM_NONE ? profile->stacks.frame[stack] : 0;
      FlamFunctionId function = profile->frames.function[frame];

      n += stack != FLAM_NONE && profile->frames.line[frame] == line &&
           strcmp (
               flam_profile_string (profile, profile->functions.file[function]),
               file) == 0;
    }
  return n;
}

/* V8's own counts of the lines. */
static void
test_v8_lines (void)
{
  g_auto (Capture) capture;
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonArray *nodes;
  gint64 all = 0;

  if (!open_capture ("js/node.cpuprofile", "js/node.cpuprofile", &capture))
    return;
  g_assert_true (json_parser_load_from_data (parser, capture.expect, -1, NULL));
  nodes = json_object_get_array_member (
      json_node_get_object (json_parser_get_root (parser)), "nodes");
  for (guint i = 0; i < json_array_get_length (nodes); i++)
    {
      JsonObject *node = json_array_get_object_element (nodes, i);
      const char *url = json_object_get_string_member (
          json_object_get_object_member (node, "callFrame"), "url");
      const char *file = g_str_has_prefix (url, "file://") ? url + 7 : url;
      JsonArray *ticks =
          json_object_has_member (node, "positionTicks")
              ? json_object_get_array_member (node, "positionTicks")
              : NULL;

      for (guint t = 0; ticks != NULL && t < json_array_get_length (ticks); t++)
        {
          JsonObject *tick = json_array_get_object_element (ticks, t);
          gint64 n = json_object_get_int_member (tick, "ticks");

          g_assert_cmpint (
              samples_at (capture.profile,
                          file,
                          json_object_get_int_member (tick, "line")),
              >=,
              n);
          all += n;
        }
    }
  g_assert_cmpint (all, ==, 69);
}

static void
test_v8 (void)
{
  static const struct
  {
    const char *name, *measure;
    gint64 scale;
  } rows[] = {
    { "js/node.cpuprofile", "wall-time", 1000 },
    { "js/node.heapprofile", "live", 1 },
    { "public/firefox/hello.cjs-20231120T211435.cpuprofile",
      "wall-time",
      1000 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (Capture) capture;
      if (!open_capture (rows[i].name, "expect-speedscope.txt", &capture))
        continue;
      check_speedscope (&capture, rows[i].name, rows[i].measure, rows[i].scale);
    }
}

/* go tool pprof -top: "570ms 19.66% 19.66% 740ms 25.52% sort.partition"; its
 * times are exact where they are whole milliseconds. */
static void
test_go_cpu (void)
{
  g_autoptr (GRegex) regex = g_regex_new (
      "^ +(\\d+)ms +[\\d.]+% +[\\d.]+% +(\\d+)ms +[\\d.]+%  (\\S+)$",
      G_REGEX_MULTILINE,
      0,
      NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_auto (Capture) capture;
  guint checked = 0;

  if (!open_capture (
          "pprof/go-cpu.pb.gz", "pprof/go-cpu.pb.gz.expect.txt", &capture))
    return;
  tree = tree_of (capture.profile, "cpu");
  g_assert_cmpint (tree->total[0],
                   ==,
                   expect_number (&capture, "Total samples = (\\d+)ms") *
                       1000000);
  for (g_regex_match (regex, capture.expect, 0, &match);
       g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *self = g_match_info_fetch (match, 1);
      g_autofree char *total = g_match_info_fetch (match, 2);
      g_autofree char *name = g_match_info_fetch (match, 3);
      g_test_message ("%s", name);
      g_assert_cmpint (weight_of (tree, name, TRUE),
                       ==,
                       g_ascii_strtoll (self, NULL, 10) * 1000000);
      g_assert_cmpint (weight_of (tree, name, FALSE),
                       ==,
                       g_ascii_strtoll (total, NULL, 10) * 1000000);
      checked++;
    }
  g_assert_cmpuint (checked, >=, 8);
}

static void
test_go_heap (void)
{
  g_auto (Capture) capture;

  if (!open_capture ("pprof/go-heap.pb.gz", "expect-speedscope.txt", &capture))
    return;
  g_assert_cmpint (total_of (capture.profile, "inuse_space"), ==, 47864929);
  check_speedscope (&capture, "pprof/go-heap.pb.gz", "inuse_space", 1);
}

/* Totals that go tool pprof gives; "MB" are of 1048576 bytes. */
static void
test_gperftools (void)
{
  static const struct
  {
    const char *name, *measure;
    gint64 from, to;
  } rows[] = {
    { "pprof/gperf-heap.0007.heap", "inuse_space", 189120, 189120 },
    { "pprof/gperf-heap.0007.heap", "inuse_objects", 1044, 1044 },
    { "pprof/gperf-heap.0007.heap", "alloc_space", 136069270, 136069270 },
    { "pprof/gperf-heap.0007.heap", "alloc_objects", 921662, 921662 },
    { "pprof/gperf-cpu.prof", "samples", 205, 205 },
    { "pprof/gperf-cpu.prof.sym", "samples", 205, 205 },
    { "public/pprof/cppbench.cpu", "cpu", 7120000000, 7120000000 },
    { "public/pprof/gobench.cpu", "cpu", 3050000000, 3050000000 },
    { "public/pprof/go.crc32.cpu", "cpu", 2110000000, 2110000000 },
    { "public/pprof/cppbench.contention", "delay", 690505000, 690515000 },
    { "public/pprof/cppbench.heap", "inuse_space", 80934337, 80944823 },
    { "public/pprof/cppbench.growth", "inuse_space", 178257920, 178257920 },
    { "public/pprof/gobench.heap", "inuse_space", 7712276, 7722762 },
    { "public/pprof/go.godoc.thread", "threadcreate", 7, 7 },
    { "public/pprof/java.cpu", "cpu", 70000000, 70000000 },
    { "public/pprof/java.contention", "delay", 1900000, 1900000 },
    { "public/pprof/java.heap", "inuse_space", 9961472, 9971958 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (Capture) capture;
      gint64 total;
      if (!open_capture (rows[i].name, NULL, &capture))
        continue;
      total = total_of (capture.profile, rows[i].measure);
      g_test_message ("%s: %" G_GINT64_FORMAT, rows[i].name, total);
      g_assert_cmpint (total, >=, rows[i].from);
      g_assert_cmpint (total, <=, rows[i].to);
    }
}

/* callgrind_annotate and cg_annotate: "20,000,010 (49.84%)  nest.c:spin_heavy
 * [bin/nest]"; the rows of one function in several files add up. */
static void
test_callgrind (gconstpointer name)
{
  g_autofree char *expect = g_strconcat (name, ".expect.txt", NULL);
  g_autoptr (GRegex) rows = g_regex_new (
      "^ *([\\d,]+) \\([\\d. ]+%\\).* [^ ]+:((?:spin|leaf|parse)\\w*)",
      G_REGEX_MULTILINE,
      0,
      NULL);
  g_autoptr (GRegex) totals =
      g_regex_new ("^ *([\\d,]+) \\([\\d. ]+%\\).*PROGRAM TOTALS",
                   G_REGEX_MULTILINE,
                   0,
                   NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (GMatchInfo) total = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_auto (Capture) capture;
  guint checked = 0;

  if (!open_capture (name, expect, &capture))
    return;
  tree = tree_of (capture.profile, "Ir");
  g_assert_true (g_regex_match (totals, capture.expect, 0, &total));
  g_assert_cmpint (tree->total[0], ==, grouped_number (total, 1));
  for (g_regex_match (rows, capture.expect, 0, &match);
       g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *function = g_match_info_fetch (match, 2);
      g_assert_cmpint (
          weight_of (tree, function, TRUE), ==, grouped_number (match, 1));
      checked++;
    }
  g_assert_cmpuint (checked, >=, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func (
      "/peers/heaptrack/zst", "heaptrack/alloc.zst", test_heaptrack);
  g_test_add_data_func (
      "/peers/heaptrack/gz", "heaptrack/alloc.gz", test_heaptrack);
  g_test_add_func ("/peers/heaptrack/raw", test_heaptrack_raw);
  g_test_add_func ("/peers/massif", test_massif);
  g_test_add_data_func (
      "/peers/dhat/json", "valgrind/dhat.alloc.json", test_dhat);
  g_test_add_data_func (
      "/peers/dhat/gz", "valgrind/dhat.alloc.json.gz", test_dhat);
  g_test_add_func ("/peers/v8", test_v8);
  g_test_add_func ("/peers/v8-lines", test_v8_lines);
  g_test_add_func ("/peers/pprof/go-cpu", test_go_cpu);
  g_test_add_func ("/peers/pprof/go-heap", test_go_heap);
  g_test_add_func ("/peers/gperftools", test_gperftools);
  g_test_add_data_func (
      "/peers/callgrind/lines", "valgrind/callgrind.nest.out", test_callgrind);
  g_test_add_data_func ("/peers/callgrind/instructions",
                        "valgrind/callgrind.nestinstr.out",
                        test_callgrind);
  g_test_add_data_func (
      "/peers/cachegrind", "valgrind/cachegrind.nest.out", test_callgrind);
  return g_test_run ();
}
