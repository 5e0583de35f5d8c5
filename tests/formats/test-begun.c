/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The beginnings of a large file, shown while the rest is read: each is what an
 * ordinary load of the file's first bytes gives, no stack is cut in two, and
 * they are a small part of the file. */

#include "flam-formats.h"

#include <string.h>

static void
take (FlamProfile *profile, gpointer data)
{
  g_ptr_array_add (data, profile);
}

/* The beginnings, and the whole at the end. */
static GPtrArray *
load (const char *name, const char *data, gsize size, gsize first)
{
  GPtrArray *all =
      g_ptr_array_new_with_free_func ((GDestroyNotify)flam_profile_unref);
  FlamLoadOptions options = { .take_begun = take,
                              .begun_data = all,
                              .before_begun = first / 4 };
  g_autoptr (FlamSource) source = flam_source_new_from_data (name, data, size);
  const FlamImporter *importer = flam_formats_probe (source);
  g_autoptr (GError) error = NULL;
  FlamProfile *whole;

  g_assert_nonnull (importer);
  flam_formats_load_begun (importer, source, &options);
  whole = flam_formats_load_with (importer, source, &options, &error);
  g_assert_no_error (error);
  g_ptr_array_add (all, whole);
  return all;
}

static gint64
sum_of (const FlamProfile *profile)
{
  gint64 sum = 0;

  for (FlamId i = 0; i < profile->samples.n; i++)
    sum += profile->measures[0].weight[i];
  return sum;
}

/* 4096 lines of 17 bytes: 58 of them fit into 1000 bytes, 235 into 4000; 16000
 * bytes are more than an eighth. */
static void
test_lines (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GPtrArray) all = NULL;
  static const gint64 expected[] = { 58, 235, 4096 };

  for (guint i = 0; i < 4096; i++)
    g_string_append_printf (text, "main;work;%04u 1\n", i);
  all = load ("x.folded", text->str, text->len, 1000);
  g_assert_cmpuint (all->len, ==, 3);
  for (guint i = 0; i < 3; i++)
    {
      const FlamProfile *profile = all->pdata[i];

      g_assert_cmpint (sum_of (profile), ==, expected[i]);
      g_assert_cmpint (profile->facts.complete, ==, i == 2);
      g_assert_cmpfloat_with_epsilon (
          profile->facts.read_fraction, (double)expected[i] / 4096, 1e-9);
    }
  g_assert_cmpstr (((FlamProfile *)all->pdata[0])->facts.warnings[0],
                   ==,
                   "the rest of the file was not read");
}

/* All stacks of every beginning reach their root. */
static void
test_paragraphs (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GPtrArray) all = NULL;

  for (guint i = 0; i < 2000; i++)
    g_string_append_printf (text,
                            "x 7 %u.000000: 1 cycles:\n"
                            "\t1 leaf%u (/x)\n\t2 work (/x)\n\t3 main (/x)\n\n",
                            1000 + i,
                            i % 9);
  for (gsize first = 1000; first < 1060; first += 8)
    {
      g_clear_pointer (&all, g_ptr_array_unref);
      all = load ("x.txt", text->str, text->len, first);
      g_assert_cmpuint (all->len, ==, 4);
      for (guint i = 0; i < all->len; i++)
        {
          const FlamProfile *profile = all->pdata[i];

          for (FlamId s = 0; s < profile->stacks.n; s++)
            if (profile->stacks.prefix[s] == FLAM_NONE)
              g_assert_cmpstr (
                  flam_profile_function_name (
                      profile,
                      profile->frames.function[profile->stacks.frame[s]]),
                  ==,
                  "main");
        }
    }
}

/* Too short for a beginning of the usual size. */
static void
test_short (void)
{
  g_autoptr (GPtrArray) all =
      load ("x.folded", "a;b 1\na;c 2\n", strlen ("a;b 1\na;c 2\n"), 0);

  g_assert_cmpuint (all->len, ==, 1);
}

/* A request to stop ends the beginnings, too. */
static gboolean
stop (gpointer data, double fraction)
{
  return FALSE;
}

static void
test_cancel (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GPtrArray) all =
      g_ptr_array_new_with_free_func ((GDestroyNotify)flam_profile_unref);
  FlamProgress progress = { stop, NULL };
  FlamLoadOptions options = { .take_begun = take,
                              .begun_data = all,
                              .before_begun = 250,
                              .progress = &progress };
  g_autoptr (FlamSource) source = NULL;

  for (guint i = 0; i < 4096; i++)
    g_string_append_printf (text, "main;work;%04u 1\n", i);
  source = flam_source_new_from_data ("x.folded", text->str, text->len);
  flam_formats_load_begun (flam_importer_find ("folded"), source, &options);
  g_assert_cmpuint (all->len, ==, 0);
}

/* Of every capture here whose format grows: cut anywhere, a beginning is a
 * valid profile or none. Sums never exceed those of the whole. */
static void
check_fixture (const FlamImporter *importer, const char *path)
{
  g_autofree char *data = NULL;
  gsize size;
  g_autoptr (FlamSource) source = NULL;

  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  source = flam_source_new_from_data (path, data, size);
  if (flam_formats_probe (source) != importer)
    return;
  for (gsize first = 64; first <= size / 8; first = first * 3 / 2)
    {
      g_autoptr (GPtrArray) all =
          g_ptr_array_new_with_free_func ((GDestroyNotify)flam_profile_unref);
      FlamLoadOptions options = { .take_begun = take,
                                  .begun_data = all,
                                  .before_begun = first / 4 };

      flam_formats_load_begun (importer, source, &options);
      for (guint i = 0; i < all->len; i++)
        {
          const FlamProfile *profile = all->pdata[i];

          g_assert_false (profile->facts.complete);
          g_assert_cmpfloat (profile->facts.read_fraction, <=, 0.125);
        }
    }
}

static void
test_fixtures (gconstpointer data)
{
  const FlamImporter *importer = data;
  g_autofree char *folder =
      g_test_build_filename (G_TEST_DIST, "captures", importer->id, NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (!g_str_has_suffix (name, ".expected") &&
          !g_str_has_suffix (name, ".error") &&
          g_file_test (path, G_FILE_TEST_IS_REGULAR))
        check_fixture (importer, path);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/begun/lines", test_lines);
  g_test_add_func ("/begun/paragraphs", test_paragraphs);
  g_test_add_func ("/begun/short", test_short);
  g_test_add_func ("/begun/cancel", test_cancel);
  for (guint i = 0; flam_importers[i] != NULL; i++)
    if (flam_importers[i]->streams || flam_importers[i]->grows)
      {
        g_autofree char *path =
            g_strconcat ("/begun/", flam_importers[i]->id, NULL);

        g_test_add_data_func (path, flam_importers[i], test_fixtures);
      }
  return g_test_run ();
}
