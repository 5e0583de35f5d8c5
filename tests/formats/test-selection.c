/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One selection, the same everywhere: identities that hold for every capture,
 * ours and those beside the repository. */

#include "flam-dump.h"
#include "flam-formats.h"
#include "flam-timeline.h"

#include <string.h>

#define PARTS_MAX 7

/* Of captures beside the repository: those that open at once. */
#define SIZE_MAX_TRIED (8 << 20)

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

  return flam_dump_folded (tree, FALSE);
}

/* All of the time is the whole, however it is said. */
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

/* The time in `n` parts, cut where something happens. */
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

/* What a part holds, the whole holds. */
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

/* The curve never rises above the peak that is marked on it, and reaches it
 * there. */
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
          flam_timeline_new (profile, selection, sizes[i], TRUE, NULL, NULL);
      guint bucket = (guint)MIN (
          flam_timeline_fraction_of (timeline, timeline->peak_time) *
              timeline->n,
          timeline->n - 1);

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

static gboolean
opens (const char *path)
{
  g_autoptr (FlamSource) source = NULL;

  if (g_str_has_suffix (path, ".expected") || g_str_has_suffix (path, ".error"))
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

      if (g_file_test (file, G_FILE_TEST_IS_DIR))
        add_folder (root, inner, label);
      else if (opens (file))
        add_case (file, test, "times", check_times);
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
  if (g_getenv ("FLAM_CAPTURES") != NULL)
    add_folder (g_getenv ("FLAM_CAPTURES"), "", "peers");
  return g_test_run ();
}
