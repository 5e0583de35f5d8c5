/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a few bytes, made here, and their profiles: each has one border
 * case. */
#include "flam-amount.h"
#include "flam-core-picture.h"
#include "flam-formats.h"
#include "flam-proto-write.h"

#include <string.h>

/* --- printed amounts --------------------------------------------------------
 */

/* A fraction of a unit is rounded to the nearest ns or byte. */
static void
test_amounts (void)
{
  static const struct
  {
    const char *text;
    gint64 value;
    FlamUnit unit;
    const char *rest;
  } cases[] = {
    { "1KiB", 1024, FLAM_UNIT_BYTES, "" },
    { "1MiB", 1048576, FLAM_UNIT_BYTES, "" },
    { "1GiB", 1073741824, FLAM_UNIT_BYTES, "" },
    { "1kB", 1000, FLAM_UNIT_BYTES, "" },
    { "1MB", 1000000, FLAM_UNIT_BYTES, "" },
    { "1GB", 1000000000, FLAM_UNIT_BYTES, "" },
    { "1.7 KiB", 1741, FLAM_UNIT_BYTES, "" },    /* 1,740.8 */
    { "1.3 KiB", 1331, FLAM_UNIT_BYTES, "" },    /* 1,331.2 */
    { "0.3 MiB", 314573, FLAM_UNIT_BYTES, "" },  /* 314,572.8 */
    { "1.1 MiB", 1153434, FLAM_UNIT_BYTES, "" }, /* 1,153,433.6 */
    { "1.25 MiB", 1310720, FLAM_UNIT_BYTES, "" },
    { "0.5 ns", 1, FLAM_UNIT_NS, "" },
    { "0.4999 ns", 0, FLAM_UNIT_NS, "" },
    { "1.0006 us", 1001, FLAM_UNIT_NS, "" },
    { "1,234.5 ms", 1234500000, FLAM_UNIT_NS, "" },
    { ".5 h", G_GINT64_CONSTANT (1800000000000), FLAM_UNIT_NS, "" },
    { "2.5 samples", 3, FLAM_UNIT_COUNT, " samples" },
    { "2.4 samples", 2, FLAM_UNIT_COUNT, " samples" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *p = cases[i].text;
      FlamPrintedAmount amount;

      g_test_message ("%s", p);
      g_assert_true (flam_amount_parse (&p, p + strlen (p), &amount));
      g_assert_cmpint (amount.value, ==, cases[i].value);
      g_assert_cmpint (amount.unit, ==, cases[i].unit);
      g_assert_cmpint (amount.has_unit, ==, cases[i].unit != FLAM_UNIT_COUNT);
      g_assert_cmpstr (p, ==, cases[i].rest);
    }
}

/* --- the samples of a profile -----------------------------------------------
 */

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

/* "inner in.h:3 < outer out.c:7 = 5", one line per sample. */
static char *
samples_text (const FlamProfile *profile, guint measure)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const gint64 *weight = profile->measures[measure].weight;

  for (guint32 i = 0; i < profile->samples.n; i++)
    {
      for (FlamStackId stack = profile->samples.stack[i]; stack != FLAM_NONE;
           stack = profile->stacks.prefix[stack])
        {
          FlamFrameId frame = profile->stacks.frame[stack];
          FlamFunctionId function = profile->frames.function[frame];

          g_string_append_printf (
              text,
              "%s %s:%u+%" G_GINT64_MODIFIER "x %s",
              flam_profile_function_name (profile, function),
              flam_profile_string (profile, profile->functions.file[function]),
              profile->frames.line[frame],
              profile->frames.address[frame],
              profile->stacks.prefix[stack] != FLAM_NONE ? "< " : "");
        }
      g_string_append_printf (
          text, "= %" G_GINT64_FORMAT "\n", weight != NULL ? weight[i] : 1);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
assert_samples (const FlamProfile *profile, guint measure, const char *wanted)
{
  g_autofree char *text = samples_text (profile, measure);

  g_assert_cmpstr (text, ==, wanted);
}

/* --- pprof ------------------------------------------------------------------
 */

static void
put_message (GString *out, guint number, GString *message)
{
  flam_proto_put_bytes (out, number, message->str, message->len);
  g_string_set_size (message, 0);
}

static void
put_function (GString *out, guint id, guint name, guint file, guint line)
{
  g_autoptr (GString) function = g_string_new (NULL);

  flam_proto_put_number (function, 1, id);
  flam_proto_put_number (function, 2, name);
  flam_proto_put_number (function, 4, file);
  flam_proto_put_number (function, 5, line);
  put_message (out, 5, function);
}

static void
put_sample (GString *out, gint64 value)
{
  g_autoptr (GString) sample = g_string_new (NULL);

  flam_proto_put_number (sample, 1, 1);
  flam_proto_put_number (sample, 2, (guint64)value);
  put_message (out, 2, sample);
}

/* A location with two lines: a function that was inlined into another one. */
static GString *
make_pprof (gboolean rules)
{
  static const char *const strings[] = { "",      "cpu",        "nanoseconds",
                                         "inner", "in.h",       "outer",
                                         "out.c", "in.*|out.*", "outer" };
  GString *out = g_string_new (NULL);
  g_autoptr (GString) message = g_string_new (NULL);
  g_autoptr (GString) location = g_string_new (NULL);

  flam_proto_put_number (message, 1, 1);
  flam_proto_put_number (message, 2, 2);
  put_message (out, 1, message);
  put_sample (out, 5);
  put_sample (out, -3);
  flam_proto_put_number (location, 1, 1);
  for (guint i = 0; i < 2; i++)
    {
      flam_proto_put_number (message, 1, i + 1);
      flam_proto_put_number (message, 2, i == 0 ? 3 : 7);
      put_message (location, 4, message);
    }
  put_message (out, 4, location);
  put_function (out, 1, 3, 4, 2);
  put_function (out, 2, 5, 6, 6);
  for (guint i = 0; i < G_N_ELEMENTS (strings); i++)
    flam_proto_put_bytes (out, 6, strings[i], strlen (strings[i]));
  if (rules)
    {
      flam_proto_put_number (out, 7, 7);
      flam_proto_put_number (out, 8, 8);
    }
  return out;
}

/* Frames that match "drop" are left out with their callees, except those that
 * match "keep". */
static void
test_pprof_rules (void)
{
  g_autoptr (GString) bytes = make_pprof (TRUE);
  g_autoptr (FlamProfile) profile = load ("x.pb", bytes);

  assert_samples (profile, 0, "outer out.c:7+0 = 5\nouter out.c:7+0 = 0\n");
}

static void
test_pprof (void)
{
  g_autoptr (GString) bytes = make_pprof (FALSE);
  g_autoptr (FlamProfile) profile = load ("x.pb", bytes);

  g_assert_cmpuint (profile->n_measures, ==, 2);
  assert_samples (profile,
                  0,
                  "inner in.h:3+0 < outer out.c:7+0 = 5\n"
                  "inner in.h:3+0 < outer out.c:7+0 = 0\n");
  assert_samples (profile,
                  1,
                  "inner in.h:3+0 < outer out.c:7+0 = 0\n"
                  "inner in.h:3+0 < outer out.c:7+0 = 3\n");
}

/* --- gmon.out ---------------------------------------------------------------
 */

static void
put (GString *out, guint64 value, guint size)
{
  for (guint i = 0; i < size; i++)
    g_string_append_c (out, (char)(value >> 8 * i));
}

static void
put_arc (GString *out, guint64 from, guint64 to, guint32 count)
{
  put (out, 1, 1);
  put (out, from, 8);
  put (out, to, 8);
  put (out, count, 4);
}

/* Four counters of 16 bytes over [0x1000, 0x1040), 100 a second; functions
 * begin at 0x1008 and 0x1020. The first one's 50 ms are those of two calls: one
 * from the second function, one from 0x1040, which is beyond the counted code.
 */
static void
test_gmon (void)
{
  static const guint16 counts[] = { 2, 3, 0, 1 };
  g_autoptr (GString) bytes = g_string_new ("gmon");
  g_autoptr (FlamProfile) profile = NULL;

  put (bytes, 1, 4);
  put (bytes, 0, 8);
  put (bytes, 0, 4);
  put (bytes, 0, 1);
  put (bytes, 0x1000, 8);
  put (bytes, 0x1040, 8);
  put (bytes, 4, 4);
  put (bytes, 100, 4);
  g_string_append_len (bytes, "seconds\0\0\0\0\0\0\0\0s", 16);
  for (guint i = 0; i < 4; i++)
    put (bytes, counts[i], 2);
  put_arc (bytes, 0x1040, 0x1008, 1);
  put_arc (bytes, 0x103f, 0x1008, 1);
  put_arc (bytes, 0x1040, 0x1020, 1);
  profile = load ("gmon.out", bytes);
  assert_samples (profile,
                  0,
                  "[a.out] :0+1020 = 0\n"
                  "[a.out] :0+1010 < [a.out] :0+1020 = 25000000\n"
                  "[a.out] :0+1010 = 5000000\n"
                  "[a.out] :0+1008 = 20000000\n"
                  "[a.out] :0+1008 < [a.out] :0+1020 = 0\n"
                  "[a.out] :0+1030 = 10000000\n");
}

/* --- traces -----------------------------------------------------------------
 */

/* One span within another that begins at the same time and is listed after it;
 * and one that ends as the next begins. */
static void
test_trace (void)
{
  static const char text[] =
      "[{\"ph\":\"X\",\"name\":\"in\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":2},"
      "{\"ph\":\"X\",\"name\":\"out\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5},"
      "{\"ph\":\"X\",\"name\":\"next\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1},"
      "{\"ph\":\"B\",\"name\":\"open\",\"pid\":1,\"tid\":2,\"ts\":4}]";
  g_autoptr (GString) bytes = g_string_new (text);
  g_autoptr (FlamProfile) profile = load ("x.json", bytes);

  assert_samples (profile,
                  0,
                  "out :0+0 = 0\n" /* its call */
                  "in :0+0 < out :0+0 = 2000\n"
                  "out :0+0 = 3000\n"
                  "next :0+0 = 1000\n"
                  "open :0+0 = 2000\n");
}

/* --- the others -------------------------------------------------------------
 */

static FlamProfile *
load_text (const char *name, const char *text)
{
  g_autoptr (GString) bytes = g_string_new (text);

  return load (name, bytes);
}

/* The letter of a symbol's type is followed by a space. */
static void
test_v8_log (void)
{
  g_autoptr (FlamProfile) profile = load_text (
      "x.v8log.json",
      "{\"code\":[{\"name\":\"write\",\"type\":\"CPP\"},"
      "{\"name\":\"T read\",\"type\":\"CPP\"}],\"functions\":[],"
      "\"ticks\":[{\"tm\":1000,\"vm\":0,\"s\":[0,1,1,1]}],\"scripts\":[]}");

  assert_samples (profile, 0, "write :0+0 < read :0+0 = 1\n");
}

/* A node that is listed among its own children keeps its caller. */
static void
test_v8_profile (void)
{
  g_autoptr (FlamProfile) profile = load_text (
      "x.cpuprofile",
      "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"main\","
      "\"scriptId\":\"1\",\"url\":\"\",\"lineNumber\":-1,\"columnNumber\":-1},"
      "\"hitCount\":0,\"children\":[2]},"
      "{\"id\":2,\"callFrame\":{\"functionName\":\"work\","
      "\"scriptId\":\"1\",\"url\":\"\",\"lineNumber\":-1,\"columnNumber\":-1},"
      "\"hitCount\":1,\"children\":[2]}],"
      "\"startTime\":0,\"endTime\":100,\"samples\":[2],\"timeDeltas\":[0]}");
  FlamId stack = profile->samples.stack[0];
  FlamId caller = profile->stacks.prefix[stack];

  g_assert_cmpuint (caller, !=, FLAM_NONE);
  g_assert_cmpuint (profile->stacks.prefix[caller], ==, FLAM_NONE);
}

/* A value of 0 below one of 0 does not turn the values into those of the
 * functions themselves. */
static void
test_d3 (void)
{
  g_autoptr (FlamProfile) profile =
      load_text ("x.json",
                 "{\"name\":\"root\",\"value\":10,\"children\":["
                 "{\"name\":\"a\",\"value\":0,\"children\":["
                 "{\"name\":\"b\",\"value\":0,\"children\":[]}]},"
                 "{\"name\":\"c\",\"value\":4,\"children\":[]}]}");
  gint64 total = 0;

  for (guint32 i = 0; i < profile->samples.n; i++)
    total += profile->measures[0].weight[i];
  g_assert_cmpint (total, ==, 10);
}

/* A weight that is followed by something else is not one: that of the title is
 * used. */
static void
test_svg_weight (void)
{
  static const char *const weights[] = { "7x", "7", "" };
  static const char *const samples[] = { "main :0+0 = 4\n",
                                         "main :0+0 = 7\n",
                                         "main :0+0 = 4\n" };

  for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
    {
      g_autofree char *text = g_strdup_printf (
          "<?xml version=\"1.0\"?><svg width=\"1200\" height=\"102\" "
          "onload=\"init(evt)\" "
          "xmlns=\"http://www.w3.org/2000/svg\"><svg id=\"frames\" "
          "total_samples=\"8\"><g><title>main (4 samples, 100%%)</title>"
          "<rect x=\"0.0000%%\" y=\"53\" width=\"100.0000%%\" height=\"15\" "
          "fill=\"rgb(227,0,7)\" fg:x=\"0\" fg:w=\"%s\"/>"
          "<text x=\"0.25%%\" y=\"63.50\"></text></g></svg></svg>",
          weights[i]);
      g_autoptr (FlamProfile) profile = load_text ("x.svg", text);

      assert_samples (profile, 0, samples[i]);
    }
}

/* The fifth word of a gperftools profile is 0. */
static void
test_gperftools (void)
{
  static const guint64 words[] = { 0, 3, 0, 10000, 0, 3, 1, 0x1000, 0, 1, 0 };

  for (guint wrong = 0; wrong < 2; wrong++)
    {
      g_autoptr (GString) bytes = g_string_new (NULL);
      g_autoptr (FlamSource) source = NULL;
      g_autoptr (FlamProfile) profile = NULL;
      g_autoptr (GError) error = NULL;

      for (guint i = 0; i < G_N_ELEMENTS (words); i++)
        put (bytes, i == 4 ? wrong : words[i], 8);
      source = flam_source_new_from_data ("x.prof", bytes->str, bytes->len);
      profile = flam_formats_load_source (source, NULL, &error);
      if (wrong)
        g_assert_error (error, FLAM_ERROR, FLAM_ERROR_UNKNOWN_FORMAT);
      else
        assert_samples (profile, 0, "[unknown] :0+1000 = 30000000\n");
    }
}

/* A stack of two locations, of which the second is just beyond the table. */
static void
test_otlp (void)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GString) part = g_string_new (NULL);
  g_autoptr (GString) whole = g_string_new (NULL);
  g_autoptr (GString) dictionary = g_string_new (NULL);
  g_autoptr (FlamProfile) profile = NULL;
  g_autofree char *warnings = NULL;

  flam_proto_put_number (part, 1, 1);
  flam_proto_put_bytes (part, 4, "\1", 1);
  flam_proto_put_bytes (whole, 1, "", 0);
  put_message (whole, 2, part);
  put_message (part, 2, whole);
  put_message (whole, 2, part);
  put_message (out, 1, whole);
  flam_proto_put_bytes (dictionary, 2, "", 0);
  flam_proto_put_bytes (part, 3, "", 0);
  put_message (dictionary, 2, part);
  flam_proto_put_bytes (dictionary, 7, "", 0);
  flam_proto_put_bytes (part, 1, "\1\2", 2);
  put_message (dictionary, 7, part);
  put_message (out, 2, dictionary);
  profile = load ("x.otlp", out);
  g_assert_cmpuint (profile->samples.n, ==, 1);
  g_assert_cmpuint (profile->stacks.n, ==, 1);
  warnings = g_strjoinv ("|", (char **)profile->facts.warnings);
  g_assert_nonnull (strstr (warnings, "not in the file"));
}

/* Before version 3, a path ends at the first space. */
static void
test_heaptrack (void)
{
  g_autoptr (FlamProfile) profile = load_text ("x.heaptrack",
                                               "v 10300 2\nX ./demo\n"
                                               "I 1000 100\n"
                                               "m /bin/demo 400000 0 1000\n"
                                               "t 400100 0\n"
                                               "+ 18 1 5000\n"
                                               "c 2\n");

  g_assert_cmpuint (profile->modules.n, ==, 1);
  g_assert_cmpstr (
      flam_profile_string (profile, profile->modules.path[0]), ==, "/bin/demo");
}

/* --- perfparser -------------------------------------------------------------
 */

static void
put_be (GString *out, guint64 value, guint size)
{
  for (guint i = size; i-- > 0;)
    g_string_append_c (out, (char)(value >> 8 * i));
}

static void
put_event (GString *out, guint kind, GString *body)
{
  put (out, body->len + 1, 4);
  put (out, kind, 1);
  g_string_append_len (out, body->str, (gssize)body->len);
  g_string_set_size (body, 0);
}

static void
put_costs (GString *out, guint declared, guint n)
{
  g_autoptr (GString) body = g_string_new (NULL);

  put_be (body, 7, 4);
  put_be (body, 7, 4);
  put_be (body, 100, 8);
  put_be (body, 0, 4);
  put_be (body, 0, 4); /* no frames */
  put_be (body, 0, 1);
  put_be (body, declared, 4);
  for (guint i = 0; i < n; i++)
    {
      put_be (body, 0, 4);
      put_be (body, 5, 8);
    }
  put_event (out, 13, body);
}

/* A sample with more costs than there are bytes for is left out. */
static void
test_perfparser (void)
{
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GString) body = g_string_new (NULL);
  g_autoptr (FlamProfile) profile = NULL;

  g_string_append_len (out, "QPERFSTREAM", 12);
  put (out, 19, 4);
  put_be (body, 0, 4);
  put_be (body, 6, 4);
  g_string_append (body, "cycles");
  put_event (out, 5, body);
  put_be (body, 0, 4);
  put_be (body, 0, 4);
  put_be (body, 0, 8);
  put_be (body, 0, 4);
  put_be (body, 1, 1);
  put_be (body, 1000, 8);
  put_event (out, 11, body);
  put_costs (out, 2, 2);
  put_costs (out, 3, 2);
  put_costs (out, 12, 1);
  profile = load ("x.perfparser", out);
  g_assert_cmpuint (profile->samples.n, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/borders/amounts", test_amounts);
  g_test_add_func ("/borders/pprof", test_pprof);
  g_test_add_func ("/borders/pprof-rules", test_pprof_rules);
  g_test_add_func ("/borders/gmon", test_gmon);
  g_test_add_func ("/borders/trace", test_trace);
  g_test_add_func ("/borders/v8-log", test_v8_log);
  g_test_add_func ("/borders/v8-profile", test_v8_profile);
  g_test_add_func ("/borders/d3", test_d3);
  g_test_add_func ("/borders/svg", test_svg_weight);
  g_test_add_func ("/borders/gperftools", test_gperftools);
  g_test_add_func ("/borders/otlp", test_otlp);
  g_test_add_func ("/borders/heaptrack", test_heaptrack);
  g_test_add_func ("/borders/perfparser", test_perfparser);
  return g_test_run ();
}
