/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pull reader against inputs that JSON allows (y), forbids (n) and leaves
 * open (i), in the scheme of JSONTestSuite; the cases are our own. */
#include "flam-core-query.h"
#include "flam-formats.h"
#include "flam-json-run.h"
#include "flam-json.h"

#include <string.h>

typedef struct
{
  const char *text;
  gsize size; /* 0: strlen */
} Case;

static const Case accepted[] = {
  { "null", 0 },
  { " \t\r\n true \n", 0 },
  { "false", 0 },
  { "0", 0 },
  { "-0", 0 },
  { "-0.0e-0", 0 },
  { "12345678901234567890123456789012345678901234567890", 0 },
  { "1.5", 0 },
  { "1e5", 0 },
  { "1E+5", 0 },
  { "20e-1", 0 },
  { "0e1", 0 },
  { "0.00000000000000000000000000000000000000000000000000000001", 0 },
  { "\"\"", 0 },
  { "\"a\"", 0 },
  { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"", 0 },
  { "\"\\uD834\\uDd1e\"", 0 },
  { "\"\x7f\"", 0 },
  { "\"\xc2\x80 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\"", 0 },
  { "\"\xef\xbf\xbf\"", 0 },
  { "\"\xee\x80\x80 \xed\x9f\xbf\"", 0 },
  { "[]", 0 },
  { "[ ]", 0 },
  { "{}", 0 },
  { "{ }", 0 },
  { "[[]]", 0 },
  { "[{}]", 0 },
  { "[1,2 , 3]", 0 },
  { "{\"\":0}", 0 },
  { "{\"a\":{},\"b\":[]}", 0 },
  { "{\"a\":1,\"a\":2}", 0 },
  { "{\"a\\u0000\":null}", 0 },
  { "[null,true,false,1,\"x\",{\"y\":[]}]", 0 },
  { "[\"12345678\",\"1234567\",\"123456789\\n\"]", 0 },
};

static const Case refused[] = {
  { "", 0 },
  { " ", 0 },
  { "\0", 1 },
  { "[1,]", 0 },
  { "[,1]", 0 },
  { "[1,,2]", 0 },
  { "[,]", 0 },
  { "[1 2]", 0 },
  { "[1:2]", 0 },
  { "[", 0 },
  { "[1", 0 },
  { "[1,", 0 },
  { "]", 0 },
  { "[]]", 0 },
  { "[1}", 0 },
  { "[\"a\"", 0 },
  { "[\"a\",\n4\n,1,", 0 },
  { "{", 0 },
  { "}", 0 },
  { "{]", 0 },
  { "{\"a\"", 0 },
  { "{\"a\":", 0 },
  { "{\"a\":1", 0 },
  { "{\"a\":1,", 0 },
  { "{\"a\":1,}", 0 },
  { "{,\"a\":1}", 0 },
  { "{\"a\" 1}", 0 },
  { "{\"a\"::1}", 0 },
  { "{\"a\":1,,\"b\":2}", 0 },
  { "{\"a\":1 \"b\":2}", 0 },
  { "{a:1}", 0 },
  { "{'a':1}", 0 },
  { "{1:1}", 0 },
  { "{\"a\"}", 0 },
  { "{\"a\":1}#", 0 },
  { "{\"a\":1}{}", 0 },
  { "{\"a\":/*c*/1}", 0 },
  { "[1]//", 0 },
  { "nul", 0 },
  { "nulll", 0 },
  { "True", 0 },
  { "tru", 0 },
  { "NaN", 0 },
  { "-NaN", 0 },
  { "Infinity", 0 },
  { "-Infinity", 0 },
  { "+1", 0 },
  { "-", 0 },
  { "- 1", 0 },
  { "--1", 0 },
  { "01", 0 },
  { "[01]", 0 },
  { "[-01,1]", 0 },
  { "[00.5]", 0 },
  { "-01", 0 },
  { "00", 0 },
  { ".5", 0 },
  { "-.5", 0 },
  { "1.", 0 },
  { "1.e1", 0 },
  { "1e", 0 },
  { "1e+", 0 },
  { "1eE2", 0 },
  { "1.5.2", 0 },
  { "0x1", 0 },
  { "1a", 0 },
  { "1 000", 0 },
  { "\xef\xbc\x91", 0 },
  { "\"", 0 },
  { "\"a", 0 },
  { "'a'", 0 },
  { "\"a\x01\"", 0 },
  { "\"a\nb\"", 0 },
  { "\"a\tb\"", 0 },
  { "\"a\0b\"", 5 },
  { "\"12345678\x1f\"", 0 },
  { "\"\\", 0 },
  { "\"\\\"", 0 },
  { "\"\\x41\"", 0 },
  { "\"\\a\"", 0 },
  { "\"\\\0\"", 4 },
  { "\"\\u\"", 0 },
  { "\"\\u12\"", 0 },
  { "\"\\u123g\"", 0 },
  { "\"\\u123", 0 },
  { "\"\\U0041\"", 0 },
  { "\"\x80\"", 0 },
  { "\"\xff\"", 0 },
  { "\"\xc0\xaf\"", 0 },
  { "\"\xc1\xbf\"", 0 },
  { "\"\xe0\x80\xaf\"", 0 },
  { "\"\xed\xa0\x80\"", 0 },
  { "\"\xf0\x80\x80\x80\"", 0 },
  { "\"\xf4\x90\x80\x80\"", 0 },
  { "\"\xf5\x80\x80\x80\"", 0 },
  { "\"\xe2\x82\"", 0 },
  { "\"\xe2\x82", 0 },
  { "\"12345678\xc3\"", 0 },
  { "\xff\xfe[\0]\0", 6 },
  { "[\xef\xbb\xbf]", 0 },
  { "[\xc2\xa0]", 0 },
  { "[\x0c]", 0 },
  { "<null>", 0 },
  { "a", 0 },
  { "[\"a\":1]", 0 },
};

static FlamJsonToken
read_all (const void *data, gsize size, gboolean *truncated)
{
  g_auto (FlamJson) json;
  FlamJsonToken token;

  flam_json_init (&json, data, size);
  do
    {
      token = flam_json_next (&json);
      flam_json_get_key (&json, NULL);
      flam_json_get_string (&json, NULL);
      flam_json_get_int (&json);
      flam_json_get_scaled (&json, 1000);
    }
  while (token != FLAM_JSON_ERROR && token != FLAM_JSON_END);
  if (truncated != NULL)
    *truncated = json.truncated;
  return token;
}

/* From a copy of the exact size, so that a sanitizer notices a byte too
 * many. */
static void
check_cases (const Case *cases, guint n, FlamJsonToken wanted)
{
  for (guint i = 0; i < n; i++)
    {
      gsize size = cases[i].size > 0 ? cases[i].size : strlen (cases[i].text);
      g_autofree void *copy = g_memdup2 (cases[i].text, size);
      FlamJsonToken got = read_all (copy, size, NULL);
      if (got != wanted)
        g_error ("case %u: %s", i, cases[i].text);
    }
}

static void
test_accepted (void)
{
  check_cases (accepted, G_N_ELEMENTS (accepted), FLAM_JSON_END);
}

static void
test_refused (void)
{
  check_cases (refused, G_N_ELEMENTS (refused), FLAM_JSON_ERROR);
}

/* No prefix of a document is a document, and each is reported as incomplete. */
static void
test_cut (void)
{
  static const char text[] =
      "{\"key\":[1.5e3,\"a\\u00e4\xc3\xa4\",true,null,{\"x\":{}}],\"y\":-0}";

  for (gsize size = 0; size < strlen (text); size++)
    {
      g_autofree void *copy = g_memdup2 (text, size);
      gboolean truncated;
      g_assert_cmpint (read_all (copy, size, &truncated), ==, FLAM_JSON_ERROR);
      /* between the two bytes of a character, it is also invalid UTF-8 */
      if (memchr (text + size - (size > 0), 0xc3, 1) == NULL)
        g_assert_true (truncated);
    }
}

static void
test_deep (void)
{
  for (guint depth = 1000; depth <= FLAM_JSON_MAX_DEPTH + 1; depth *= 2)
    {
      guint n = MIN (depth, FLAM_JSON_MAX_DEPTH);
      g_autofree char *text = g_malloc (2 * (gsize)n);
      memset (text, '[', n);
      memset (text + n, ']', n);
      g_assert_cmpint (read_all (text, 2 * (gsize)n, NULL), ==, FLAM_JSON_END);
      g_assert_cmpint (
          read_all (text, 2 * (gsize)n - 1, NULL), ==, FLAM_JSON_ERROR);
    }
  {
    gsize n = FLAM_JSON_MAX_DEPTH + 1;
    g_autofree char *text = g_malloc (2 * n);
    memset (text, '[', n);
    memset (text + n, ']', n);
    g_assert_cmpint (read_all (text, 2 * n, NULL), ==, FLAM_JSON_ERROR);
  }
}

static void
open_text (FlamJson *json, const char *text)
{
  flam_json_init (json, text, strlen (text));
  flam_json_next (json);
}

static void
test_strings (void)
{
  static const struct
  {
    const char *json, *plain;
    gsize length;
  } rows[] = {
    { "\"abc\"", "abc", 3 },
    { "\"a\\n\\\"\\/\\\\b\"", "a\n\"/\\b", 6 },
    { "\"\\u20AC\\u00e4\"", "\xe2\x82\xac\xc3\xa4", 5 },
    { "\"\\ud83d\\ude00!\"", "\xf0\x9f\x98\x80!", 5 },
    { "\"\\ud83d\"", "\xef\xbf\xbd", 3 },
    { "\"\\ude00x\"", "\xef\xbf\xbdx", 4 },
    { "\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80", 7 },
    { "\"\\ud83d\\n\"", "\xef\xbf\xbd\n", 4 },
    { "\"a\\u0000b\"", "a\0b", 3 },
    { "12", "", 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (FlamJson) json;
      gsize length;
      const char *text;
      open_text (&json, rows[i].json);
      text = flam_json_get_string (&json, &length);
      g_assert_cmpmem (text, length, rows[i].plain, rows[i].length);
    }
}

static void
test_numbers (void)
{
  static const struct
  {
    const char *json;
    gint64 integer, milli;
  } rows[] = {
    { "0", 0, 0 },
    { "-7", -7, -7000 },
    { "1.2345", 1, 1235 },
    { "-1.2345", -1, -1235 },
    { "1234567890123.456", 1234567890123, 1234567890123456 },
    { "12e3", 12000, 12000000 },
    { "12.5e-1", 1, 1250 },
    { "9007199254740993", 9007199254740993, 9007199254740993000 },
    { "9223372036854775807", G_MAXINT64, G_MAXINT64 },
    { "123456789012345678901234567890", G_MAXINT64, G_MAXINT64 },
    { "0.30000000000000000000000000000004", 0, 300 },
    { "1e-400", 0, 0 },
    { "1e999999999999", G_MAXINT64, G_MAXINT64 },
    { "-1e999999999999", -G_MAXINT64, -G_MAXINT64 },
    { "0e999999999999", 0, 0 },
    { "1e-999999999999", 0, 0 },
    { "true", 1, 1000 },
    { "\"5\"", 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_auto (FlamJson) json;
      open_text (&json, rows[i].json);
      g_assert_cmpint (flam_json_get_int (&json), ==, rows[i].integer);
      g_assert_cmpint (flam_json_get_scaled (&json, 1000), ==, rows[i].milli);
    }
}

/* strtod() is exact up to 2^53, and so is a number without its point. */
static void
test_decimals (void)
{
  guint32 scale = 10;

  for (guint places = 1; places < 10; places++, scale *= 10)
    for (guint i = 0; i < 500; i++)
      {
        gint64 digits =
            (gint64)((guint64)g_random_int () << 20 | g_random_int () >> 12) >>
            g_random_int_range (0, 50);
        int power = g_random_int_range (-3, 1);
        g_autofree char *text =
            g_strdup_printf ("%s%" G_GINT64_FORMAT ".%0*" G_GINT64_FORMAT "e%d",
                             i % 2 != 0 ? "-" : "",
                             digits / scale,
                             (int)places,
                             digits % scale,
                             power);
        gint64 sign = i % 2 != 0 ? -1 : 1;
        g_auto (FlamJson) json;

        open_text (&json, text);
        g_assert_cmpint (
            flam_json_get_int (&json), ==, (gint64)g_ascii_strtod (text, NULL));
        *strchr (text, 'e') = '\0';
        open_text (&json, text);
        g_assert_cmpint (
            flam_json_get_scaled (&json, scale), ==, sign * digits);
      }
}

/* Examined one by one. */
static const guint8 *
run_end (const guint8 *p, const guint8 *end)
{
  while (p < end && *p >= ' ' && *p < 0x80 && strchr ("\"\\", *p) == NULL)
    p++;
  return p;
}

/* From copies of the exact size, with few and with many bytes that end a run,
 * and with each byte in each position. */
static void
test_run (void)
{
  for (guint i = 0; i < 40000; i++)
    {
      gsize size = i % 80;
      guint rare = 1 << i % 7;
      g_autofree guint8 *bytes = g_malloc (size + (size == 0));
      const guint8 *end = bytes + size;

      for (gsize k = 0; k < size; k++)
        bytes[k] = g_random_int () % rare == 0 ? (guint8)g_random_int () : 'a';
      if (size > 0)
        bytes[i / 80 % size] = (guint8)(i >> 4);
      for (const guint8 *p = bytes; p <= end; p += 1 + (end - p) / 4)
        {
          g_assert_true (flam_json_run (p, end) == run_end (p, end));
          g_assert_true (flam_json_run_plain (p, end) == run_end (p, end));
        }
    }
}

/* --- spans of a trace -------------------------------------------------- */

#define N_NAMES 6
#define N_STEPS 300

/* One thread's spans, nested, and the self time of each name, counted here in
 * order of time. */
static void
make_spans (GPtrArray *events, guint tid, guint64 *self)
{
  guint names[N_STEPS], starts[N_STEPS], depth = 0;
  gboolean whole[N_STEPS];

  for (guint step = 0, t = 0; step < N_STEPS || depth > 0; step++)
    {
      guint later = t + (guint)g_random_int_range (1, 9);

      if (depth > 0)
        self[names[depth - 1]] += later - t;
      t = later;
      if (step < N_STEPS && (depth == 0 || g_random_boolean ()))
        {
          names[depth] = (guint)g_random_int_range (0, N_NAMES);
          starts[depth] = t;
          whole[depth] = g_random_boolean ();
          if (!whole[depth])
            g_ptr_array_add (
                events,
                g_strdup_printf ("{\"ph\":\"B\",\"pid\":1,\"tid\":%u,"
                                 "\"ts\":%u,\"name\":\"f%u\"}",
                                 tid,
                                 t,
                                 names[depth]));
          depth++;
          continue;
        }
      depth--;
      g_ptr_array_add (
          events,
          whole[depth]
              ? g_strdup_printf ("{\"ph\":\"X\",\"pid\":1,\"tid\":%u,"
                                 "\"ts\":%u,\"dur\":%u,\"name\":\"f%u\"}",
                                 tid,
                                 starts[depth],
                                 t - starts[depth],
                                 names[depth])
              : g_strdup_printf (
                    "{\"ph\":\"E\",\"pid\":1,\"tid\":%u,\"ts\":%u}", tid, t));
    }
}

static void
shuffle (GPtrArray *events)
{
  for (guint i = events->len - 1; i > 0; i--)
    {
      guint other = (guint)g_random_int_range (0, (gint32)i + 1);
      gpointer event = events->pdata[i];

      events->pdata[i] = events->pdata[other];
      events->pdata[other] = event;
    }
}

static void
check_spans (GPtrArray *events, const guint64 *self)
{
  g_autofree char *list = NULL;
  g_autofree char *text = NULL;
  g_autoptr (FlamSource) source = NULL;
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_autofree FlamFunctionRow *rows = NULL;
  guint n;

  g_ptr_array_add (events, NULL);
  list = g_strjoinv (",\n", (char **)events->pdata);
  g_ptr_array_remove_index (events, events->len - 1);
  text = g_strdup_printf ("[%s]", list);
  source = flam_source_new_from_data ("x.json", text, strlen (text));
  profile = flam_formats_load_with (
      flam_importer_find ("chrome-trace"), source, NULL, NULL);
  g_assert_cmpuint (profile->facts.warnings[0] == NULL, ==, TRUE);
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  rows = flam_functions_new (tree, FLAM_SORT_SELF, &n);
  g_assert_cmpuint (n, ==, N_NAMES);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (rows[i].self,
                     ==,
                     self[flam_tree_name (tree, rows[i].node)[1] - '0'] * 1000);
}

/* Complete spans are listed where they end; then the events in any order. */
static void
test_spans (void)
{
  g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func (g_free);
  guint64 self[N_NAMES] = { 0 };

  for (guint tid = 1; tid < 4; tid++)
    make_spans (events, tid, self);
  check_spans (events, self);
  for (guint i = 0; i < 10; i++)
    {
      shuffle (events);
      check_spans (events, self);
    }
}

/* Values that the bodies of the loops do not read are skipped. */
static void
test_loops (void)
{
  static const char text[] =
      "{\"skip\":{\"deep\":[1,[2,{\"n\":3}]]},\"n\":4,"
      "\"list\":[1,[9],2,{\"n\":8},3],\"k\\u0065y\":\"v\",\"last\":[[7]]}";
  g_auto (FlamJson) json;
  guint depth;
  gint64 sum = 0;
  guint members = 0, n = 0;

  open_text (&json, text);
  depth = flam_json_enter (&json);
  while (flam_json_element (&json, depth))
    {
      members++;
      if (flam_json_key_is (&json, "n"))
        n = flam_json_get_int (&json);
      else if (flam_json_key_is (&json, "list"))
        {
          guint inner = flam_json_enter (&json);
          while (flam_json_element (&json, inner))
            sum += flam_json_get_int (&json);
        }
      else if (flam_json_key_is (&json, "key"))
        g_assert_true (flam_json_string_is (&json, "v"));
      else if (flam_json_key_is (&json, "last"))
        flam_json_skip (&json);
    }
  g_assert_cmpuint (members, ==, 5);
  g_assert_cmpuint (n, ==, 4);
  g_assert_cmpint (sum, ==, 6);
  g_assert_cmpint (flam_json_next (&json), ==, FLAM_JSON_END);
}

static void
test_leave_early (void)
{
  g_auto (FlamJson) json;
  guint depth, inner;

  open_text (&json, "[[1,2,[3]],5]");
  depth = flam_json_enter (&json);
  g_assert_true (flam_json_element (&json, depth));
  inner = flam_json_enter (&json);
  g_assert_true (flam_json_element (&json, inner));
  g_assert_true (flam_json_element (&json, depth));
  g_assert_cmpint (flam_json_get_int (&json), ==, 5);
  g_assert_false (flam_json_element (&json, depth));
}

static void
test_error (void)
{
  static const char text[] = "{\"a\":[1,2,}";
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("x.json", text, strlen (text));
  g_autoptr (GError) error = NULL;
  g_auto (FlamJson) json;

  flam_json_init (&json, source->data, source->size);
  flam_json_next (&json);
  flam_json_skip (&json);
  g_assert_false (flam_json_finish (&json, source, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
  g_assert_cmpstr (error->message, ==, "x.json: not a value (at byte 10)");
  g_assert_cmpint (flam_json_next (&json), ==, FLAM_JSON_ERROR);
  g_assert_false (flam_json_element (&json, 1));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json/accepted", test_accepted);
  g_test_add_func ("/json/refused", test_refused);
  g_test_add_func ("/json/cut", test_cut);
  g_test_add_func ("/json/deep", test_deep);
  g_test_add_func ("/json/strings", test_strings);
  g_test_add_func ("/json/numbers", test_numbers);
  g_test_add_func ("/json/decimals", test_decimals);
  g_test_add_func ("/json/run", test_run);
  g_test_add_func ("/json/spans", test_spans);
  g_test_add_func ("/json/loops", test_loops);
  g_test_add_func ("/json/leave-early", test_leave_early);
  g_test_add_func ("/json/error", test_error);
  return g_test_run ();
}
