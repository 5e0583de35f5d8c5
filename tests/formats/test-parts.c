/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A text that is read in parts gives the same result as in one part: every
 * fixture of the formats that support this, and texts made here, on 1, 2, 3 and
 * 7 cores. */

#include "flam-core-picture.h"
#include "flam-formats.h"
#include "flam-json.h"

#include <string.h>

static const guint jobs[] = { 1, 2, 3, 7 };

/* The profile as text, or the error. */
static char *
load (const char *name, const char *data, gsize size, guint n)
{
  FlamLoadOptions options = { .jobs = n, .least_part = 1 };
  g_autoptr (FlamSource) source = flam_source_new_from_data (name, data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile =
      flam_formats_load_source (source, &options, &error);

  return profile != NULL ? flam_dump_profile (profile)
                         : g_strdup (error->message);
}

static void
check (const char *name, const char *data, gsize size)
{
  g_autofree char *whole = load (name, data, size, 1);

  for (guint i = 1; i < G_N_ELEMENTS (jobs); i++)
    {
      g_autofree char *parts = load (name, data, size, jobs[i]);

      if (strcmp (whole, parts) != 0)
        g_test_fail_printf (
            "%s on %u cores:\n%s\non one:\n%s", name, jobs[i], parts, whole);
    }
}

static void
test_fixtures (gconstpointer importer)
{
  g_autofree char *folder =
      g_test_build_filename (G_TEST_DIST, "captures", importer, NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autofree char *data = NULL;
      gsize size;

      if (g_str_has_suffix (name, ".expected") ||
          g_str_has_suffix (name, ".error"))
        continue;
      g_assert_true (g_file_get_contents (path, &data, &size, NULL));
      check (name, data, size);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
}

/* Stacks that repeat within a part and across parts, threads with and without a
 * number, names in another order in each part, fractions, and invalid lines. */
static void
test_folded (void)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < 4000; i++)
    {
      guint depth = 1 + (guint)g_test_rand_int_range (0, 12);

      if (g_test_rand_int_range (0, 4) == 0)
        g_string_append_printf (
            text, "[worker-%d tid=%d];", i % 7, g_test_rand_int_range (1, 5));
      if (g_test_rand_int_range (0, 200) == 0)
        g_string_append (text, "no weight at all\n");
      g_string_append (text, "main");
      for (guint k = 0; k < depth; k++)
        g_string_append_printf (text,
                                ";f%d%s",
                                g_test_rand_int_range (0, 2 + (int)k),
                                i % 5 == 0 ? "_[k]" : "");
      g_string_append_printf (text,
                              i == 3500 ? " %d.25\n" : " %d\n",
                              g_test_rand_int_range (1, 50));
    }
  check ("made.folded", text->str, text->len);
}

/* Different texts with the same stack and thread are the same sample. */
static void
test_joined (void)
{
  const char *text = "a;;b 1\na 4\na;[unknown];b 2\n[t tid=1];a 3\n";
  const char *same = "a;;b 3\na 4\n[t tid=1];a 3\n";
  g_autofree char *joined = load ("x.folded", text, strlen (text), 1);
  g_autofree char *expected = load ("x.folded", same, strlen (same), 1);

  g_assert_cmpstr (joined, ==, expected);
  check ("joined.folded", text, strlen (text));
}

/* Threads that change their names, events that a part has first, lone names
 * that are headers only until proven otherwise, chains of many lines, with
 * inlined and compiled frames, and a bad line in chains of all parts, which
 * counts once for each distinct chain. */
static void
test_script (void)
{
  static const char *const events[] = { "cycles:u", "cpu-clock", "faults" };
  g_autoptr (GString) text = g_string_new ("# cmdline : perf record -- ./x\n");

  for (guint i = 0; i < 1500; i++)
    {
      if (i % 97 == 5)
        g_string_append (text, "lonely\n");
      else
        g_string_append_printf (text,
                                "prog-%d  %d/%d  %u.%06u:  1001 %s:\n",
                                g_test_rand_int_range (0, 3),
                                100 + g_test_rand_int_range (0, 2),
                                100 + g_test_rand_int_range (0, 4),
                                i,
                                i,
                                events[g_test_rand_int_range (0, 3)]);
      for (int k = i % 40 == 9
                       ? -1
                       : g_test_rand_int_range (0, i % 60 == 0 ? 200 : 9);
           k >= 0;
           k--)
        g_string_append_printf (text,
                                k % 5 == 4 ? "\t%16x f%d+0x1f (inlined)\n"
                                : k % 7 == 6
                                    ? "\t%16x a->f%d (/tmp/perf-1.map)\n"
                                    : "\t%16x f%d+0x1f (/usr/bin/p)\n",
                                0x1000 + k / 2,
                                g_test_rand_int_range (0, 2 + k));
      if (i % 40 == 9)
        g_string_append (text, "\tno address\n\t1000 f0 (/usr/bin/p)\n");
      if (i % 301 == 7)
        g_string_append (text, "no header and no chain\n");
      g_string_append (text, i % 50 == 3 ? "\r\n" : "\n");
    }
  check ("made.script", text->str, text->len);
}

static void
add_event (GString *text, guint i)
{
  static const char *const names[] = { "a",       "b\\u0041", "caf\303\251",
                                       "},{\\\"", "",         "d" };
  const char *name = names[g_test_rand_int_range (0, G_N_ELEMENTS (names))];
  int pid = g_test_rand_int_range (1, 3), tid = g_test_rand_int_range (0, 5);
  int late = g_test_rand_int_range (0, 30) == 0 ? 700 : 0;

  g_string_append_printf (text,
                          "%s{\"pid\":%d,\"tid\":%s%d%s,\"ts\":%d.%03d,",
                          i == 0        ? "\n"
                          : i % 11 == 3 ? ","
                          : i % 7 == 2  ? " ,\n\n "
                                        : ",\n",
                          pid,
                          tid == 4 ? "\"t" : "",
                          tid,
                          tid == 4 ? "\"" : "",
                          1000 + (int)i * 3 - late,
                          (int)i % 1000);
  switch (g_test_rand_int_range (0, 14))
    {
    case 0:
      g_string_append_printf (text,
                              "\"ph\":\"M\",\"name\":\"%s_name\",\"args\":"
                              "{\"name\":\"n%u\"}}",
                              i % 2 == 0 ? "thread" : "process",
                              i);
      break;
    case 1:
      g_string_append_printf (
          text, "\"ph\":\"I\",\"name\":\"%s\",\"s\":\"t\"}", name);
      break;
    case 2:
      g_string_append_printf (
          text,
          "\"ph\":\"%s\",\"name\":\"%s\",\"args\":{\"l\":[1,"
          "{\"ph\":[]},\n{\"x\":\"]\"}]}}",
          i % 3 == 0 ? "X" : "C",
          name);
      break;
    case 3 ... 4:
      g_string_append_printf (text,
                              "\"name\":\"%s\",\"dur\":%d,\"ph\":\"X\"}",
                              name,
                              g_test_rand_int_range (0, 40));
      break;
    case 5 ... 9:
      g_string_append_printf (text, "\"name\":\"%s\",\"ph\":\"B\"}", name);
      break;
    default:
      g_string_append (text, "\"ph\":\"E\"}");
    }
}

/* Events of all kinds, in an object and alone, whole, truncated and with an
 * error: a part may contain all the valid data, or begin where no event
 * does. */
static void
test_trace (void)
{
  for (guint round = 0; round < 40; round++)
    {
      gboolean bare = round % 3 == 0;
      g_autoptr (GString) text =
          g_string_new (bare ? "[" : "{\"otherData\":{},\"traceEvents\":[");

      for (guint i = 0; i < 300; i++)
        add_event (text, i);
      if (round % 4 == 1)
        g_string_insert (text,
                         g_test_rand_int_range (100, (int)text->len),
                         round % 8 == 1 ? "}" : "\"");
      if (round % 4 == 2)
        g_string_truncate (text,
                           (gsize)g_test_rand_int_range (100, (int)text->len));
      else
        g_string_append (
            text, bare ? "]" : "],\"stackFrames\":{},\"traceEvents\":[]}");
      check ("made.trace.json", text->str, text->len);
    }
}

/* Objects that resemble events but are not: in the arguments of an event, and
 * in an array with another name after the events. */
static void
test_trace_inside (void)
{
  static const char event[] =
      ",\n{\"ph\":\"X\",\"ts\":1,\"dur\":5,\"name\":\"no\"}";
  static const char *const around[][2] = {
    { "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":0,\"dur\":9,\"name\":\"yes\","
      "\"args\":"
      "{\"all\":[0",
      "]}},{\"ph\":\"X\",\"ts\":3,\"dur\":2,\"name\":\"in\"}]}" },
    { "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":0,\"dur\":9,\"name\":\"yes\"}],"
      "\"more\":[0",
      "]}" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (around); i++)
    {
      g_autoptr (GString) text = g_string_new (around[i][0]);
      g_autofree char *dump = NULL;

      for (guint k = 0; k < 60; k++)
        g_string_append (text, event);
      g_string_append (text, around[i][1]);
      check ("made.trace.json", text->str, text->len);
      dump = load ("made.trace.json", text->str, text->len, 3);
      g_assert_nonnull (strstr (dump, "yes"));
      g_assert_null (strstr (dump, "\"no\""));
    }
}

/* Rows of numbers, of texts and of other values, short and long; with columns
 * instead of rows, and an error somewhere. */
static void
add_cells (GString *text, guint n, const char *separator)
{
  static const char *const odd[] = { "null",         "true",    "-3",
                                     "1e2",          "\"],[\"", "[7,[8]]",
                                     "0.125",        "12.5",    "{}",
                                     "999999999999", " 4 ",     "1.000001" };

  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append (text, separator);
      if (g_test_rand_int_range (0, 9) == 0)
        g_string_append (text,
                         odd[g_test_rand_int_range (0, G_N_ELEMENTS (odd))]);
      else
        g_string_append_printf (text, "%d", g_test_rand_int_range (0, 30));
    }
}

static void
add_rows (GString *text, guint n, const char *separator)
{
  for (guint i = 0; i < n; i++)
    {
      g_string_append (text, i > 0 ? separator : "");
      if (g_test_rand_int_range (0, 40) == 0)
        g_string_append (text, "17");
      else
        {
          g_string_append_c (text, '[');
          add_cells (text, (guint)g_test_rand_int_range (0, 5), ",");
          g_string_append_c (text, ']');
        }
    }
}

static void
test_gecko (void)
{
  static const char *const separators[] = { ",", ", ", " ,\n" };

  for (guint round = 0; round < 40; round++)
    {
      const char *separator = separators[round % 3];
      g_autoptr (GString) text = g_string_new (
          "{\"meta\":{\"version\":24,\"interval\":1,\"processType\":0},"
          "\"threads\":[{\"name\":\"a\",\"stringTable\":[\"f\",\"g\"],"
          "\"frameTable\":{\"schema\":{\"location\":0,\"line\":1},\"data\":[[0,"
          "1],[1,2],[0,3]]},\"stackTable\":");

      if (round % 2 == 0)
        {
          g_string_append (text,
                           "{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[");
          add_rows (text, 30, separator);
        }
      else
        {
          g_string_append (text, "{\"prefix\":[");
          add_cells (text, 40, separator);
          g_string_append (text, "],\"frame\":[");
          add_cells (text, 40, separator);
        }
      g_string_append (text,
                       "]},\"samples\":{\"schema\":{\"stack\":0,\"time\":1,"
                       "\"more\":2},\"data\":[");
      add_rows (text, 400, separator);
      if (round % 4 == 1)
        g_string_insert (text,
                         g_test_rand_int_range (400, (int)text->len),
                         round % 8 == 1 ? "]" : "\"");
      if (round % 4 == 2)
        g_string_truncate (text,
                           (gsize)g_test_rand_int_range (400, (int)text->len));
      else
        g_string_append (text, "]}}],\"processes\":[]}");
      check ("made.gecko.json", text->str, text->len);
    }
}

/* Columns of a thread's samples may end before the others: their memory, too,
 * is freed while the samples are made. */
static void
test_gecko_short (void)
{
  g_autoptr (GString) text = g_string_new (
      "{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":50},"
      "\"threads\":[{\"name\":\"a\",\"stringArray\":[\"f\"],"
      "\"funcTable\":{\"name\":[0]},\"frameTable\":{\"func\":[0]},"
      "\"stackTable\":{\"prefix\":[null],\"frame\":[0]},\"samples\":{"
      "\"weight\":[5,6,7],\"timeDeltas\":[1,2,-1,4],\"stack\":[0");

  for (guint i = 1; i < 70000; i++)
    g_string_append (text, i % 5000 == 0 ? ",1" : ",0");
  g_string_append (text, "]}}]}");
  check ("made.gecko.json", text->str, text->len);
}

/* The sum of each part fits into a number, but their total does not. */
static void
test_overflow (void)
{
  const char *text = "a;b 5000000000000000000\na;b 5000000000000000000\n"
                     "a;c 1\na;d 1\n";

  check ("overflow.folded", text, strlen (text));
}

static gboolean
count_down (gpointer left, double fraction)
{
  g_assert_cmpfloat (fraction, >=, 0);
  g_assert_cmpfloat (fraction, <=, 1);
  return --*(int *)left > 0;
}

static void
test_cancel (void)
{
  g_autofree char *text = g_strnfill (8 << 20, 'x');
  g_autoptr (FlamSource) source = NULL;

  for (gsize i = 0; i + 10 < 8 << 20; i += 10)
    memcpy (text + i, "main;f 12\n", 10);
  source = flam_source_new_from_data ("big.folded", text, 8 << 20);
  for (int left = 1; left < 4; left++)
    {
      int counter = left;
      FlamProgress progress = { count_down, &counter };
      FlamLoadOptions options = { .jobs = 3, .progress = &progress };
      g_autoptr (GError) error = NULL;
      g_autoptr (FlamProfile) profile = NULL;

      options.least_part = 1 << 20;
      profile = flam_formats_load_source (source, &options, &error);
      g_assert_null (profile);
      g_assert_error (error, FLAM_ERROR, FLAM_ERROR_CANCELLED);
    }
}

/* Numbers read at once equal numbers read one by one, up to the first that is
 * not plain, and so does the reader's position. */
static void
test_take_numbers (void)
{
  static const char *const pieces[] = {
    "0",
    "7",
    "-12",
    "123456789",
    "4294967296",
    "1.5",
    "-0.000001",
    "null",
    "999999999999999999",
    "12.3456789",
    "0.5e3",
    "01",
    "true",
    "1.",
    "-",
    " 5",
    "[1]",
    "nul",
    "9999999999999999999999",
  };
  static const guint32 scales[] = { 1, 1000, 1000000, 1, 7 };

  for (guint round = 0; round < 4000; round++)
    {
      g_autoptr (GString) text = g_string_new ("[");
      g_auto (FlamJson) one = { 0 };
      g_auto (FlamJson) all = { 0 };
      gint64 values[G_N_ELEMENTS (scales)];
      guint depth, n;

      for (int i = g_test_rand_int_range (0, 7); i >= 0; i--)
        g_string_append_printf (
            text,
            "%s%s",
            pieces[g_test_rand_int_range (
                0, g_test_rand_int_range (1, G_N_ELEMENTS (pieces) + 1))],
            i == 0       ? "]"
            : i % 3 == 0 ? ", "
                         : ",");
      depth = flam_json_open (&one, text->str, text->len);
      g_assert_cmpuint (flam_json_open (&all, text->str, text->len), ==, depth);
      n = flam_json_take_numbers (
          &all, scales, G_N_ELEMENTS (scales), NULL, -77, values);
      for (guint i = 0; i < n; i++)
        {
          g_assert_true (flam_json_element (&one, depth));
          g_assert_cmpint (values[i],
                           ==,
                           one.token == FLAM_JSON_NULL
                               ? -77
                               : flam_json_get_scaled (&one, scales[i]));
        }
      while (flam_json_element (&one, depth))
        {
          g_assert_true (flam_json_element (&all, depth));
          g_assert_cmpint (all.token, ==, one.token);
        }
      g_assert_false (flam_json_element (&all, depth));
      g_assert_cmpstr (all.problem, ==, one.problem);
      g_assert_cmpuint (all.problem_at, ==, one.problem_at);
      g_assert_true (all.at == one.at);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/parts/fixtures/folded", "folded", test_fixtures);
  g_test_add_data_func (
      "/parts/fixtures/perf-script", "perf-script", test_fixtures);
  g_test_add_data_func (
      "/parts/fixtures/chrome-trace", "chrome-trace", test_fixtures);
  g_test_add_data_func ("/parts/fixtures/gecko", "gecko", test_fixtures);
  g_test_add_func ("/parts/folded", test_folded);
  g_test_add_func ("/parts/joined", test_joined);
  g_test_add_func ("/parts/script", test_script);
  g_test_add_func ("/parts/gecko", test_gecko);
  g_test_add_func ("/parts/gecko/short", test_gecko_short);
  g_test_add_func ("/parts/trace", test_trace);
  g_test_add_func ("/parts/trace/inside", test_trace_inside);
  g_test_add_func ("/parts/overflow", test_overflow);
  g_test_add_func ("/parts/cancel", test_cancel);
  g_test_add_func ("/parts/numbers", test_take_numbers);
  return g_test_run ();
}
