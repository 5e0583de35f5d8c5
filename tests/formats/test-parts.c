/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A text that is read in parts gives what it gives in one: every fixture of the
 * formats that are, and texts made here, on 1, 2, 3 and 7 cores. */

#include "flam-dump.h"
#include "flam-formats.h"

#include <string.h>

static const guint jobs[] = { 1, 2, 3, 7 };

/* The profile as text, or why there is none. */
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

/* Stacks that repeat within a part and across them, of threads with and without
 * a number, names in another order in each part, fractions, and bad lines. */
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

/* Threads that change their names, events that a part has first, and lone names
 * that are headers only as long as nobody knows better. */
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
      for (int k = g_test_rand_int_range (0, 9); k >= 0; k--)
        g_string_append_printf (text,
                                "\t%16x f%d+0x1f (/usr/bin/p%d)\n",
                                0x1000 + k,
                                g_test_rand_int_range (0, 2 + k),
                                k % 2);
      if (i % 301 == 7)
        g_string_append (text, "no header and no chain\n");
      g_string_append (text, i % 50 == 3 ? "\r\n" : "\n");
    }
  check ("made.script", text->str, text->len);
}

/* Each part holds what a number holds, but not all of them. */
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/parts/fixtures/folded", "folded", test_fixtures);
  g_test_add_data_func (
      "/parts/fixtures/perf-script", "perf-script", test_fixtures);
  g_test_add_func ("/parts/folded", test_folded);
  g_test_add_func ("/parts/script", test_script);
  g_test_add_func ("/parts/overflow", test_overflow);
  g_test_add_func ("/parts/cancel", test_cancel);
  return g_test_run ();
}
