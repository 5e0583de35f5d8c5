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

/* Frames that match "drop" are left out with what they call, but for those that
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
                  "[a.out] :0+1008 = 20000000\n"
                  "[a.out] :0+1020 = 0\n"
                  "[a.out] :0+1008 < [a.out] :0+1020 = 0\n"
                  "[a.out] :0+1010 < [a.out] :0+1020 = 25000000\n"
                  "[a.out] :0+1010 = 5000000\n"
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
                  "in :0+0 < out :0+0 = 2000\n"
                  "out :0+0 = 3000\n"
                  "next :0+0 = 1000\n"
                  "open :0+0 = 2000\n");
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
  return g_test_run ();
}
