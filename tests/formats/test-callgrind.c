/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Exports to callgrind's format, read by valgrind's own callgrind_annotate: the
 * costs of all functions add up to the tree's total. Skipped if valgrind is not
 * installed. */

#include "exporting.h"

#include <glib/gstdio.h>
#include <string.h>

static gint64
grouped_number (const GMatchInfo *match, int which)
{
  g_autofree char *text = g_match_info_fetch (match, which);
  gint64 value = 0;

  for (const char *p = text; *p != '\0'; p++)
    if (g_ascii_isdigit (*p))
      value = value * 10 + (*p - '0');
  return value;
}

static char *
annotate (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autofree char *out =
      export_text (flam_exporter_find ("callgrind"), profile, selection);
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  char *text = NULL;
  int status, fd = g_file_open_tmp ("flambeau-XXXXXX", &path, &error);

  g_assert_no_error (error);
  g_close (fd, NULL);
  g_file_set_contents (path, out, -1, &error);
  g_assert_no_error (error);
  const char *argv[] = {
    "callgrind_annotate", "--threshold=100", "--auto=no", path, NULL
  };
  g_spawn_sync (NULL,
                (char **)argv,
                NULL,
                G_SPAWN_SEARCH_PATH,
                NULL,
                NULL,
                &text,
                NULL,
                &status,
                &error);
  g_unlink (path);
  g_assert_no_error (error);
  g_assert_true (g_spawn_check_wait_status (status, &error));
  return text;
}

static void
test_annotate (gconstpointer name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "captures", name, NULL);
  g_autofree char *program = g_find_program_in_path ("callgrind_annotate");
  g_autoptr (GRegex) row = g_regex_new (
      "^ *([\\d,]+) \\([\\d. ]+%\\)  (.*)$", G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (GMatchInfo) match = NULL;
  g_autofree char *text = NULL;
  gint64 total = -1, sum = 0;

  if (program == NULL)
    {
      g_test_skip ("valgrind is not installed");
      return;
    }
  profile = flam_formats_load (path, NULL, &error);
  g_assert_no_error (error);
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
  text = annotate (profile, selection);
  for (g_regex_match (row, text, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *what = g_match_info_fetch (match, 2);
      if (strstr (what, "PROGRAM TOTALS") != NULL)
        total = grouped_number (match, 1);
      else
        sum += grouped_number (match, 1);
    }
  g_assert_cmpint (total, ==, tree->total[0]);
  g_assert_cmpint (sum, ==, total);
}

static FlamProfile *
load_text (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamSource) source =
      flam_source_new_from_data ("out.callgrind", text, strlen (text));
  FlamProfile *profile = flam_formats_load_source (source, NULL, &error);

  g_assert_no_error (error);
  return profile;
}

/* "function file:line" -> its own cost. */
static GHashTable *
costs_of_lines (const FlamProfile *profile)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;
  GHashTable *costs =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  selection->by = FLAM_BY_LINE;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
  for (FlamId i = 1; i < tree->n; i++)
    {
      const char *file;
      guint32 line = flam_tree_source_line (tree, i, &file);
      g_autofree char *at =
          g_strdup_printf ("%s %s:%u", flam_tree_name (tree, i), file, line);
      gint64 *cost = g_hash_table_lookup (costs, at);

      if (tree->self[i] == 0)
        continue;
      if (cost == NULL)
        {
          cost = g_new0 (gint64, 1);
          g_hash_table_insert (costs, g_steal_pointer (&at), cost);
        }
      *cost += tree->self[i];
    }
  return costs;
}

/* Each line keeps its own cost, including lines of included files. */
static void
test_lines (void)
{
  static const char text[] = "# callgrind format\nevents: Ir\n"
                             "fl=a.c\nfn=main\n1 10\n3 20\n"
                             "fi=b.h\n7 5\nfe=a.c\n4 1\n"
                             "cfn=work\ncalls=2 30\n3 40\n"
                             "fn=work\n30 33\n31 7\n";
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamProfile) again = NULL;
  g_autoptr (GHashTable) before = NULL;
  g_autoptr (GHashTable) after = NULL;
  g_autofree char *out = NULL;
  GHashTableIter iter;
  gpointer key, cost;

  profile = load_text (text);
  before = costs_of_lines (profile);
  g_assert_cmpuint (g_hash_table_size (before), ==, 6);
  out = export_text (flam_exporter_find ("callgrind"), profile, selection);
  again = load_text (out);
  after = costs_of_lines (again);
  g_assert_cmpuint (g_hash_table_size (after), ==, 6);
  g_hash_table_iter_init (&iter, before);
  while (g_hash_table_iter_next (&iter, &key, &cost))
    {
      const gint64 *kept = g_hash_table_lookup (after, key);

      g_assert_nonnull (kept);
      g_assert_cmpint (*kept, ==, *(const gint64 *)cost);
    }
}

static gint64
total_of_thread (const FlamProfile *profile, gint32 tid, const char *function)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;
  gint64 sum = 0;

  selection->by = FLAM_BY_THREAD;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
  for (FlamId i = 1; i < tree->n; i++)
    {
      FlamId top = i;

      while (tree->parent[top] != 0)
        top = tree->parent[top];
      if (profile->threads.tid[flam_tree_thread (tree, top)] == tid &&
          (function == NULL ||
           strcmp (flam_tree_name (tree, i), function) == 0))
        sum += tree->self[i];
    }
  return sum;
}

/* valgrind --separate-threads=yes --combine-dumps=yes --dump-after=leaf: five
 * parts in one file. The costs of each thread are the sums of its parts'
 * "totals:" lines (4 + 3015 + 9011, 3004 + 604 + 0), those of the functions are
 * callgrind_annotate's for leaf and worker_work; those of run are sums of the
 * file's lines: callgrind_annotate counts what follows calls=0 as self. */
static void
test_parts (void)
{
  static const struct
  {
    gint32 tid;
    const char *function;
    gint64 cost;
  } rows[] = {
    { 1, NULL, 3608 }, { 2, NULL, 12030 },      { 1, "leaf", 3608 },
    { 2, "leaf", 0 },  { 1, "worker_work", 0 }, { 2, "worker_work", 12024 },
    { 2, "run", 6 },
  };
  g_autofree char *path = g_test_build_filename (
      G_TEST_DIST, "captures", "callgrind/parts.callgrind", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile = flam_formats_load (path, NULL, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (total_of_thread (profile, rows[i].tid, rows[i].function),
                     ==,
                     rows[i].cost);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = {
    "callgrind/small.callgrind",
    "callgrind/jumps.callgrind",
    "perf-data/shapes@little-endian.perf.data",
    "perf-script/shapes.script",
    "folded/rough.folded"
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *test = g_strconcat ("/callgrind/", names[i], NULL);
      g_test_add_data_func (test, names[i], test_annotate);
    }
  g_test_add_func ("/callgrind/lines", test_lines);
  g_test_add_func ("/callgrind/parts", test_parts);
  return g_test_run ();
}
