/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One selection with the same meaning everywhere: identities that hold for
 * every capture, both in the repository and beside it. */

#include "flam-core-picture.h"
#include "selection-exports.h"

#include <string.h>

#define PARTS_MAX 7

/* Captures beside the repository that open quickly. */
#define SIZE_MAX_TRIED (8 << 20)
#define LARGE 2000 /* stacks */

static gint64
total_of (const FlamProfile *profile, const FlamSelection *selection)
{
  return flam_weights_total (profile, selection);
}

static const char *
measure_id (const FlamProfile *profile, guint measure)
{
  return flam_profile_string (profile, profile->measures[measure].id);
}

/* --- time ---------------------------------------------------------------- */

static char *
folded_of (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  g_autoptr (FlamTree) tree =
      flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);

  return flam_dump_folded_diff (tree, tree, FLAM_DIFF_UNSCALED, FALSE);
}

/* The whole time equals no time range, however it is given. */
static void
check_whole (const FlamProfile *profile, guint measure)
{
  const gint64 end = profile->facts.duration_ns;
  const struct
  {
    gint64 from, to;
  } wholes[] = { { 0, end }, { G_MININT64, end }, { 0, G_MAXINT64 } };
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autofree char *text = NULL;

  selection->measure = measure;
  text = folded_of (profile, selection);
  for (guint i = 0; i < G_N_ELEMENTS (wholes); i++)
    {
      g_autofree char *again = NULL;

      selection->from = wholes[i].from;
      selection->to = wholes[i].to;
      again = folded_of (profile, selection);
      g_assert_cmpstr (again, ==, text);
    }
}

typedef struct
{
  gint64 sum;
  gint64 most;
} Parts;

/* The time in `n` parts, divided where events are. */
static Parts
cut (const FlamProfile *profile, guint measure, guint n)
{
  const FlamAllocations *rows = &profile->allocations;
  gboolean memory = profile->measures[measure].source != FLAM_FROM_SAMPLES;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  Parts parts = { 0, G_MININT64 };
  gint64 at = 0;

  selection->measure = measure;
  for (guint i = 1; i <= n; i++)
    {
      gint64 next = profile->facts.duration_ns / n * i;
      gint64 total;

      if (memory && rows->n >= n)
        next = rows->time[(guint64)(rows->n - 1) * i / n];
      next = CLAMP (next, at, profile->facts.duration_ns - 1);
      selection->from = i == 1 ? G_MININT64 : at;
      selection->to = i == n ? G_MAXINT64 : next;
      at = next;
      total = total_of (profile, selection);
      parts.sum += total;
      parts.most = MAX (parts.most, total);
    }
  return parts;
}

static gboolean
is_additive (FlamMeasureSource source)
{
  return source == FLAM_FROM_SAMPLES || source == FLAM_FROM_ALLOCATED ||
         source == FLAM_FROM_ALLOCATIONS || source == FLAM_FROM_TEMPORARY ||
         source == FLAM_FROM_TEMPORARY_BYTES;
}

/* A part never contains more than the whole. */
static void
check_parts (const FlamProfile *profile, guint measure)
{
  FlamMeasureSource source = profile->measures[measure].source;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  gint64 whole;

  selection->measure = measure;
  whole = total_of (profile, selection);
  for (guint n = 1; n <= PARTS_MAX; n++)
    {
      Parts parts = cut (profile, measure, n);

      g_test_message ("%s in %u", measure_id (profile, measure), n);
      if (is_additive (source) &&
          (source != FLAM_FROM_SAMPLES || profile->samples.time != NULL))
        g_assert_cmpint (parts.sum, ==, whole);
      if (source == FLAM_FROM_PEAK)
        g_assert_cmpint (parts.most, ==, whole);
    }
}

/* --- memory -------------------------------------------------------------- */

/* The curve never rises above its marked peak, and reaches it there. */
static void
check_curve (const FlamProfile *profile, guint measure, guint kinds)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  const guint sizes[] = { 1, 7, 100, 1000 };

  selection->measure = measure;
  selection->allocators = kinds;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (FlamTimeline) timeline =
          flam_timeline_new (profile,
                             selection,
                             NULL,
                             sizes[i],
                             FLAM_TIMELINE_THREADS,
                             NULL,
                             NULL);
      guint bucket = flam_timeline_bucket_of (timeline, timeline->peak_time);

      g_assert_cmpint (timeline->peak, ==, total_of (profile, selection));
      g_assert_cmpint (timeline->top[0], ==, timeline->peak);
      g_assert_cmpint (
          flam_timeline_row (timeline, 0)[bucket], ==, timeline->peak);
    }
}

/* --- all captures -------------------------------------------------------- */

static void
check_times (const FlamProfile *profile)
{
  for (guint m = 0; m < profile->n_measures; m++)
    {
      check_whole (profile, m);
      if (profile->facts.duration_ns > 0)
        check_parts (profile, m);
      if (profile->measures[m].source != FLAM_FROM_PEAK ||
          profile->allocations.n == 0)
        continue;
      check_curve (profile, m, 0);
      check_curve (profile, m, G_MAXUINT);
    }
}

/* --- every way of selecting ----------------------------------------------- */

static void
transform (FlamSelection *selection,
           FlamTransformKind kind,
           const FlamProfile *profile,
           FlamFunctionId function)
{
  const char *name = flam_profile_function_name (profile, function);
  g_autofree char *escaped = g_regex_escape_string (name, -1);
  g_autofree char *regex = g_strdup_printf ("^%s$", escaped);
  gboolean added = flam_selection_add_transform (
      selection, kind, kind >= FLAM_TRANSFORM_STOP_AT ? name : regex, NULL);

  g_assert_true (added);
}

static void
select_range (FlamSelection *selection, const FlamProfile *profile)
{
  selection->from = profile->facts.duration_ns / 4;
  selection->to = profile->facts.duration_ns / 4 * 3 + 1;
}

/* Ways of selecting: by thread, by time, by consecutive transforms, by
 * switches. */
static const struct
{
  gboolean thread, time;
  FlamRecursion recursion;
  int first, second; /* FlamTransformKind + 1; 0: none */
  gboolean no_native, no_frames, invert;
} ways[] = {
  { FALSE },
  { .thread = TRUE },
  { .time = TRUE },
  { .thread = TRUE, .time = TRUE },
  { .recursion = FLAM_RECURSION_FLAT },
  { .recursion = FLAM_RECURSION_COLLAPSE },
  { .first = 1 + FLAM_TRANSFORM_FOCUS },
  { .first = 1 + FLAM_TRANSFORM_IGNORE },
  { .second = 1 + FLAM_TRANSFORM_FILTER },
  { .first = 1 + FLAM_TRANSFORM_HIDE, .second = 1 + FLAM_TRANSFORM_HIDE },
  { .first = 1 + FLAM_TRANSFORM_STOP_AT, .second = 1 + FLAM_TRANSFORM_FILTER },
  { .first = 1 + FLAM_TRANSFORM_FILTER, .second = 1 + FLAM_TRANSFORM_PRUNE },
  { .first = 1 + FLAM_TRANSFORM_COLLAPSE,
    .second = 1 + FLAM_TRANSFORM_IGNORE,
    .time = TRUE },
  { .no_native = TRUE },
  { .no_frames = TRUE },
  { .invert = TRUE },
};

/* NULL: nothing can be selected in this way. */
static FlamSelection *
selection_of (const FlamProfile *profile, guint measure, guint way)
{
  g_autoptr (FlamSelection) s = flam_selection_new ();
  guint32 n = profile->functions.n;

  if ((ways[way].thread && profile->threads.n < 2) ||
      (ways[way].time && profile->facts.duration_ns < 8) || n == 0)
    return NULL;
  s->measure = measure;
  if (ways[way].thread)
    flam_selection_add_thread (s, profile->threads.n / 2);
  if (ways[way].time)
    select_range (s, profile);
  s->recursion = ways[way].recursion;
  if (ways[way].first)
    transform (s, ways[way].first - 1, profile, n / 3);
  if (ways[way].second)
    transform (s, ways[way].second - 1, profile, n * 2 / 3);
  s->no_native = ways[way].no_native;
  s->no_inlines = s->hide_irrelevant = s->hide_imports = ways[way].no_frames;
  s->invert = ways[way].invert;
  return g_steal_pointer (&s);
}

static FlamTree *
tree_of (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
}

/* The threads add up to the whole, except for blocks of unknown threads. */
static void
check_totals (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autofree gint64 *by_thread = flam_weights_by_thread (profile, selection);
  g_autoptr (FlamSelection) by = flam_selection_copy (selection);
  gint64 total = total_of (profile, selection);
  gint64 threads = 0;

  for (FlamId t = 0; t < profile->threads.n; t++)
    if (flam_selection_has_thread (selection, t))
      threads += by_thread[t];
  if (profile->measures[selection->measure].source == FLAM_FROM_SAMPLES)
    g_assert_cmpint (threads, ==, total);
  for (by->by = FLAM_BY_FUNCTION; by->by <= FLAM_BY_THREAD; by->by++)
    {
      g_autoptr (FlamTree) tree = tree_of (profile, by);

      g_assert_cmpint (tree->total[0], ==, total);
    }
}

/* Every line's self cost is that of a node in the tree of lines. */
static void
check_lines (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamSelection) by = flam_selection_copy (selection);
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_autofree FlamFileRow *files = NULL;
  gint64 lines = 0, nodes = 0;
  guint n_files, n;

  by->by = FLAM_BY_LINE;
  by->invert = FALSE;
  weights = flam_weights_new (profile, by, NULL, NULL);
  tree = flam_tree_new (weights, by, FLAM_ORDER_NAME, NULL, NULL);
  for (FlamId i = 1; i < tree->n; i++)
    {
      const char *file;

      flam_tree_source_line (tree, i, &file);
      if (flam_tree_line (tree, i) != 0 && *file != 0)
        nodes += tree->self[i];
    }
  files = flam_lines_files (weights, by, &n_files);
  for (guint f = 0; f < n_files; f++)
    {
      const char *file = flam_profile_string (profile, files[f].file);
      g_autofree FlamLineRow *rows =
          flam_lines_new (weights, by, file, FLAM_NONE, &n);

      for (guint i = 0; i < n; i++)
        {
          g_assert_cmpint (rows[i].self, <=, rows[i].total);
          g_assert_cmpint (rows[i].total, <=, tree->total[0]);
          lines += rows[i].self;
        }
    }
  g_assert_cmpint (lines, ==, nodes);
}

/* A part that was cut out shows without a selection what the whole shows with
 * this selection. */
static void
check_cut (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) part = flam_cut_new (profile, selection, &error);
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autofree char *first = NULL;
  g_autofree char *second = NULL;

  if (selection->invert)
    {
      g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
      return;
    }
  g_assert_no_error (error);
  all->measure = flam_weights_default_measure (part);
  first = folded_of (profile, selection);
  second = folded_of (part, all);
  if (total_of (profile, selection) != 0)
    g_assert_cmpstr (second, ==, first);
}

static void
check_ways (const FlamProfile *profile)
{
  gboolean all = g_getenv ("FLAM_TEST_ALL") != NULL;

  for (guint m = 0; m < profile->n_measures; m++)
    for (guint way = 0; way < G_N_ELEMENTS (ways); way++)
      {
        g_autoptr (FlamSelection) selection = selection_of (profile, m, way);

        if (selection == NULL)
          continue;
        g_test_message ("%s, way %u", measure_id (profile, m), way);
        check_totals (profile, selection);
        check_lines (profile, selection);
        check_cut (profile, selection);
        /* Every third exporter in each way: each of them in some. Every one
         * with FLAM_TEST_ALL, unless the capture is large. */
        for (guint i = 0; flam_exporters[i] != NULL; i++)
          if ((all && profile->stacks.n < LARGE) || (i + way + m) % 3 == 0)
            check_exporter (profile, selection, flam_exporters[i]);
      }
}

typedef void (*Check) (const FlamProfile *profile);

typedef struct
{
  char *path;
  Check check;
} Case;

static void
case_free (gpointer data)
{
  Case *c = data;

  g_free (c->path);
  g_free (c);
}

static void
test_capture (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (FlamProfile) profile = flam_formats_load (c->path, NULL, NULL);

  if (profile == NULL)
    g_test_skip ("it does not open");
  else
    c->check (profile);
}

static void
add_case (const char *path, const char *name, const char *what, Check check)
{
  g_autofree char *test = g_strdup_printf ("/selection/%s/%s", what, name);
  Case *c = g_new (Case, 1);

  *c = (Case){ g_strdup (path), check };
  g_test_add_data_func_full (test, c, test_capture, case_free);
}

/* A capture that is a folder can be refused, too. */
static gboolean
is_refused (const char *path)
{
  g_autofree char *refusal = g_strconcat (path, ".error", NULL);

  return g_file_test (refusal, G_FILE_TEST_EXISTS);
}

static gboolean
opens (const char *path)
{
  g_autoptr (FlamSource) source = NULL;

  if (g_str_has_suffix (path, ".expected") ||
      g_str_has_suffix (path, ".error") || g_str_has_suffix (path, ".md"))
    return FALSE;
  source = flam_source_open (path, NULL, NULL);
  return source != NULL && source->size <= SIZE_MAX_TRIED &&
         flam_formats_probe (source) != NULL;
}

static void
add_folder (const char *root, const char *below, const char *label)
{
  g_autofree char *path = g_build_filename (root, below, NULL);
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inner = g_build_filename (below, name, NULL);
      g_autofree char *file = g_build_filename (root, inner, NULL);
      g_autofree char *test = g_build_filename (label, inner, NULL);

      if (is_refused (file))
        continue;
      if (g_file_test (file, G_FILE_TEST_IS_DIR))
        add_folder (root, inner, label);
      else if (opens (file))
        {
          add_case (file, test, "times", check_times);
          add_case (file, test, "ways", check_ways);
        }
    }
}

int
main (int argc, char **argv)
{
  g_autofree char *captures = NULL;

  g_test_init (&argc, &argv, NULL);
  g_test_set_nonfatal_assertions ();
  captures = g_test_build_filename (G_TEST_DIST, "captures", NULL);
  add_folder (captures, "", "ours");
  /* -m slow: not under sanitizers, which would take minutes. */
  if (g_test_slow () && g_getenv ("FLAM_PUBLIC_CAPTURES") != NULL)
    add_folder (g_getenv ("FLAM_PUBLIC_CAPTURES"), "", "public");
  return g_test_run ();
}
