/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Facts of a profile that is written to a .flambeau file and read again: each
 * row of the description, and facts unknown to this version. */

#include "exporting.h"
#include "flam-capture-writer.h"

static FlamProfile *
load (const void *data, gsize size)
{
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("test.flambeau", data, size);
  g_autoptr (GError) error = NULL;
  FlamProfile *profile = flam_formats_load_source (source, NULL, &error);

  g_assert_no_error (error);
  return profile;
}

/* A file with only these facts: key, value, ..., NULL. */
static FlamProfile *
profile_of (const char *const *facts)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  const guint8 *data;
  gsize size;

  for (; facts[0] != NULL; facts += 2)
    flam_builder_note_fact (builder, facts[0], facts[1]);
  g_assert_true (flam_capture_writer_end (writer, 0, NULL));
  data = flam_capture_writer_data (writer, &size);
  return load (data, size);
}

static FlamProfile *
export_and_load (const FlamProfile *profile)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GBytes) out =
      export_bytes (flam_exporter_find ("flambeau"), profile, selection, NULL);
  gsize size;
  gconstpointer data = g_bytes_get_data (out, &size);

  return load (data, size);
}

static void
test_every_row (void)
{
  g_autoptr (GPtrArray) facts = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (FlamProfile) before = NULL;
  g_autoptr (FlamProfile) after = NULL;
  guint n = 2;

  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->key != NULL)
      {
        g_ptr_array_add (facts, g_strdup (fact->key));
        g_ptr_array_add (facts,
                         fact->type == FLAM_FACT_FLAG
                             ? g_strdup ("1")
                             : g_strdup_printf ("%u", n++));
      }
  g_ptr_array_add (facts, NULL);
  before = profile_of ((const char *const *)facts->pdata);
  after = export_and_load (before);
  n = 0;
  for (const FlamFact *fact = flam_fact_rows; fact->member != NULL; fact++)
    if (fact->key != NULL)
      {
        g_autofree char *then = flam_fact_to_text (fact, &before->facts);
        g_autofree char *now = flam_fact_to_text (fact, &after->facts);

        g_assert_cmpstr (then, ==, facts->pdata[2 * n++ + 1]);
        g_assert_cmpstr (now, ==, then);
        g_assert_true (fact->type != FLAM_FACT_SHARE);
        g_assert_true (flam_fact_is_shown (fact, &after->facts));
      }
  g_assert_cmpfloat (after->facts.recorder_share, >, 0);
  g_assert_cmpfloat (
      after->facts.recorder_share, ==, before->facts.recorder_share);
}

static void
test_others (void)
{
  const char *const facts[] = {
    "of-a-newer-version",
    "1",
    "command",
    "first",
    "mode",
    "cpu",
    "measures-listed",
    "1",
    "command",
    "last",
    "of-a-newer-version",
    "\xc3\xa4 2",
    NULL,
  };
  g_autoptr (FlamProfile) before = profile_of (facts);
  g_autoptr (FlamProfile) after = export_and_load (before);
  g_autofree char *others = g_strjoinv ("|", (char **)after->facts.others);

  g_assert_cmpstr (after->facts.command, ==, "last");
  g_assert_cmpstr (others, ==, "mode|cpu|of-a-newer-version|\xc3\xa4 2");
}

/* A file that is meant to fill the memory with facts. */
static void
test_too_many (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamCaptureWriter) writer = flam_capture_writer_new (-1, builder);
  g_autofree char *long_one = g_strnfill (1 << 20, 'a');
  g_autoptr (FlamProfile) profile = NULL;
  const guint8 *data;
  gsize size;

  for (guint i = 0; i < 20000; i++)
    {
      g_autofree char *key = g_strdup_printf ("key-%u", i);

      flam_builder_note_fact (builder, key, i % 2 ? "1" : long_one);
    }
  flam_builder_note_fact (builder, "lost", "12345678901234567890123");
  flam_builder_note_fact (builder, "late", "-1");
  g_assert_true (flam_capture_writer_end (writer, 0, NULL));
  data = flam_capture_writer_data (writer, &size);
  profile = load (data, size);
  g_assert_cmpuint (profile->facts.lost, ==, G_MAXINT64);
  g_assert_cmpuint (profile->facts.late, ==, 0);
  g_assert_cmpuint (
      g_strv_length ((char **)profile->facts.others), ==, 2 * 100);
}

/* 29 and 30 of 3,000 ms: a part of less than 1 % is not shown. */
static void
test_unseen (void)
{
  const char *facts[] = {
    "charged-cpu-ns", "3000000000", "unseen-cpu-ns", "29000000", NULL
  };
  g_autoptr (FlamProfile) little = profile_of (facts);
  g_autoptr (FlamProfile) much = NULL;

  facts[3] = "30000000";
  much = profile_of (facts);
  g_assert_cmpfloat (flam_facts_unseen (&little->facts), ==, 0);
  g_assert_cmpfloat (flam_facts_unseen (&much->facts), ==, 0.01);
  g_assert_cmpfloat (flam_facts_unseen (&flam_facts_unknown), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/facts/every-row", test_every_row);
  g_test_add_func ("/facts/others", test_others);
  g_test_add_func ("/facts/too-many", test_too_many);
  g_test_add_func ("/facts/unseen", test_unseen);
  return g_test_run ();
}
