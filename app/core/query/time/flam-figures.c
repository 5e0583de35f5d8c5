/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-figures.h"

#include "flam-functions.h"
#include "flam-rescale.h"

#include <string.h>

/* --- one measure ---------------------------------------------------------- */

static int
compare_functions (gconstpointer a, gconstpointer b)
{
  const FlamFiguresFunction *x = a, *y = b;

  return strcmp (x->name, y->name);
}

/* Rows with the same name are one function here, even from two modules. */
static guint
merge_names (FlamFiguresFunction *functions, guint n)
{
  guint kept = 0;

  qsort (functions, n, sizeof *functions, compare_functions);
  for (guint i = 0; i < n; i++)
    {
      FlamFiguresFunction *last = kept > 0 ? &functions[kept - 1] : NULL;

      if (last == NULL || strcmp (last->name, functions[i].name) != 0)
        functions[kept++] = functions[i];
      else
        {
          last->self += functions[i].self;
          last->total += functions[i].total;
          last->self_estimate = flam_estimate_of_sum (
              last->self_estimate, functions[i].self_estimate);
          last->total_estimate = flam_estimate_of_sum (
              last->total_estimate, functions[i].total_estimate);
          g_ref_string_release (functions[i].name);
        }
    }
  return kept;
}

static int
compare_selves (gconstpointer a, gconstpointer b, gpointer rows)
{
  const FlamFunctionRow *x = (FlamFunctionRow *)rows + *(const guint *)a;
  const FlamFunctionRow *y = (FlamFunctionRow *)rows + *(const guint *)b;

  if (x->self != y->self)
    return x->self > y->self ? -1 : 1;
  return *(const guint *)a < *(const guint *)b ? -1 : 1;
}

/* Marks the `most` largest by total, which is the rows' order, and by self;
 * returns the number of marked ones. */
static guint
mark_largest (FlamFiguresMeasure *measure,
              const FlamFunctionRow *rows,
              guint n,
              guint most,
              gboolean *marked)
{
  g_autofree guint *order = g_new (guint, n);
  guint count = 0;

  for (guint i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data (
      order, (int)n, sizeof *order, compare_selves, (gpointer)rows);
  for (guint i = 0; i < MIN (n, most); i++)
    marked[i] = marked[order[i]] = TRUE;
  if (n > most)
    {
      measure->least_total = rows[most].total;
      measure->least_self = rows[order[most]].self;
    }
  for (guint i = 0; i < n; i++)
    count += marked[i];
  return count;
}

static FlamEstimate
estimate_of (const FlamTree *tree, FlamFigure figure)
{
  const FlamMeasure measure = flam_tree_measure (tree);

  return flam_estimate_of_figure (&tree->profile->facts, &measure, figure);
}

static void
take_functions (FlamFiguresMeasure *measure, const FlamTree *tree, guint most)
{
  guint n, count, at = 0;
  g_autofree FlamFunctionRow *rows =
      flam_functions_new (tree, FLAM_SORT_TOTAL, &n);
  g_autofree gboolean *marked = g_new0 (gboolean, MAX (n, 1));

  count = mark_largest (measure, rows, n, most > 0 ? most : n, marked);
  measure->functions = g_new (FlamFiguresFunction, MAX (count, 1));
  for (guint i = 0; i < n; i++)
    if (marked[i])
      measure->functions[at++] = (FlamFiguresFunction){
        g_ref_string_new_intern (flam_tree_name (tree, rows[i].node)),
        rows[i].self,
        rows[i].total,
        estimate_of (tree, flam_functions_self (tree, &rows[i])),
        estimate_of (tree, flam_functions_total (tree, &rows[i])),
      };
  measure->n_functions = merge_names (measure->functions, at);
}

static gboolean
take_tree (FlamFiguresMeasure *measure,
           const FlamProfile *profile,
           const FlamSelection *selection,
           guint most,
           const FlamProgress *progress,
           GError **error)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, progress, error);
  g_autoptr (FlamTree) tree = NULL;
  FlamFunctionRow root;

  if (weights != NULL)
    tree =
        flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, progress, error);
  if (tree == NULL)
    return FALSE;
  measure->measure = flam_tree_measure (tree);
  measure->left = tree->total[0];
  root = flam_functions_row_of_node (tree, 0);
  measure->left_estimate =
      estimate_of (tree, flam_functions_total (tree, &root));
  take_functions (measure, tree, most);
  return TRUE;
}

/* Sampled memory alone has errors: what they depend on takes another pass. */
static gboolean
estimate_total (FlamFiguresMeasure *measure,
                const FlamProfile *profile,
                const FlamSelection *selection,
                const FlamProgress *progress,
                GError **error)
{
  g_autoptr (FlamWeights) weights = NULL;

  if (profile->facts.sample_bytes == 0 || measure->total == 0)
    return TRUE;
  weights = flam_weights_new (profile, selection, progress, error);
  if (weights == NULL)
    return FALSE;
  measure->total_estimate = measure->left_estimate = flam_estimate_of_figure (
      &profile->facts, &measure->measure, flam_weights_figure (weights));
  return TRUE;
}

static gboolean
take_measure (FlamFigures *figures,
              guint index,
              const FlamProfile *profile,
              const FlamSelection *selected,
              const FlamFiguresKeep *keep,
              const FlamProgress *progress,
              GError **error)
{
  const FlamMeasure *source = &profile->measures[index];
  FlamFiguresMeasure *measure = &figures->measures[index];
  g_autoptr (FlamSelection) selection = flam_selection_copy (selected);
  gboolean wanted = index == selected->measure ||
                    (keep->all_measures && index < FLAM_FIGURES_MEASURES);

  selection->measure = index;
  measure->id = g_strdup (flam_profile_string (profile, source->id));
  measure->name = g_strdup (flam_profile_string (profile, source->name));
  measure->measure = *source;
  measure->total = measure->left = flam_weights_total (profile, selection);
  if (!estimate_total (measure, profile, selection, progress, error))
    return FALSE;
  if (wanted &&
      !take_tree (
          measure, profile, selection, keep->functions, progress, error))
    return FALSE;
  measure->measure.id = measure->measure.name = FLAM_NONE;
  measure->measure.event = FLAM_NONE;
  measure->measure.weight = NULL;
  return TRUE;
}

/* --- the capture ---------------------------------------------------------- */

/* The peak of its allocations; without them, of the memory counters. */
static gint64
peak_of (const FlamProfile *profile, const FlamFigures *figures)
{
  int measure = flam_profile_find_source (profile, FLAM_FROM_PEAK);
  gint64 peak = -1;

  if (measure >= 0)
    return figures->measures[measure].total /
           figures->measures[measure].measure.denominator;
  for (guint i = 0; i < profile->n_counters; i++)
    if (profile->counters[i].unit == FLAM_UNIT_BYTES)
      for (guint32 k = 0; k < profile->counters[i].n; k++)
        peak = MAX (peak, profile->counters[i].value[k]);
  return peak;
}

/* The first word of the command is the program; if that is one of the modules,
 * its build id distinguishes builds. */
static char *
build_of (const FlamProfile *profile)
{
  const char *command = profile->facts.command;
  g_autofree char *program = g_strndup (command, strcspn (command, " "));
  g_autofree char *name = g_path_get_basename (program);

  for (FlamId i = 0; i < profile->modules.n && *program != '\0'; i++)
    {
      const char *id =
          flam_profile_string (profile, profile->modules.build_id[i]);

      if (*id != '\0' &&
          strcmp (flam_profile_string (profile, profile->modules.name[i]),
                  name) == 0)
        return g_strdup (id);
    }
  return g_strdup ("");
}

static char *
told (const FlamFacts *facts, const char *key)
{
  const char *value = flam_facts_other (facts, key);

  return g_strdup (value != NULL ? value : "");
}

static void
take_facts (FlamFigures *figures, const FlamProfile *profile)
{
  const FlamFacts *facts = &profile->facts;

  figures->format = g_strdup (facts->format);
  figures->command = g_strdup (facts->command);
  figures->host = told (facts, FLAM_FACT_HOST);
  figures->job = told (facts, FLAM_FACT_JOB);
  figures->commit = g_strdup ("");
  figures->build = build_of (profile);
  figures->start_unix_ns = MAX (facts->start_unix_ns, 0);
  figures->date = figures->start_unix_ns;
  figures->of_file = figures->date == 0;
  figures->duration_ns = MAX (facts->duration_ns, 0);
}

FlamFigures *
flam_figures_new (const char *path,
                  const FlamProfile *profile,
                  const FlamSelection *selection,
                  const FlamFiguresKeep *keep,
                  const FlamProgress *progress,
                  GError **error)
{
  g_autoptr (FlamFigures) figures = g_atomic_rc_box_new0 (FlamFigures);

  figures->path = g_strdup (path);
  figures->name = g_strdup (path);
  take_facts (figures, profile);
  figures->measure = selection->measure;
  figures->n_measures = profile->n_measures;
  figures->measures = g_new0 (FlamFiguresMeasure, MAX (profile->n_measures, 1));
  for (guint i = 0; i < profile->n_measures; i++)
    if (!take_measure (figures, i, profile, selection, keep, progress, error))
      return NULL;
  figures->peak_bytes = peak_of (profile, figures);
  return g_steal_pointer (&figures);
}

void
flam_figures_set_file (FlamFigures *figures,
                       const char *name,
                       gint64 modified,
                       gint64 size)
{
  g_free (figures->name);
  figures->name = g_strdup (name);
  figures->modified = modified;
  figures->size = size;
  if (figures->of_file)
    figures->date = modified;
}

void
flam_figures_set_labels (FlamFigures *figures,
                         const char *job,
                         const char *commit)
{
  if (job != NULL)
    {
      g_free (figures->job);
      figures->job = g_strdup (job);
    }
  if (commit != NULL)
    {
      g_free (figures->commit);
      figures->commit = g_strdup (commit);
    }
}

FlamFigures *
flam_figures_ref (const FlamFigures *figures)
{
  return g_atomic_rc_box_acquire ((gpointer)figures);
}

static void
clear (gpointer data)
{
  FlamFigures *figures = data;

  for (guint i = 0; figures->measures != NULL && i < figures->n_measures; i++)
    {
      FlamFiguresMeasure *measure = &figures->measures[i];

      for (guint k = 0; k < measure->n_functions; k++)
        g_ref_string_release (measure->functions[k].name);
      g_free (measure->functions);
      g_free (measure->id);
      g_free (measure->name);
    }
  g_free (figures->measures);
  g_free (figures->path);
  g_free (figures->name);
  g_free (figures->format);
  g_free (figures->command);
  g_free (figures->host);
  g_free (figures->job);
  g_free (figures->commit);
  g_free (figures->build);
}

void
flam_figures_unref (FlamFigures *figures)
{
  g_atomic_rc_box_release_full (figures, clear);
}

/* --- looking up ----------------------------------------------------------- */

const FlamFiguresMeasure *
flam_figures_selected (const FlamFigures *figures)
{
  return figures->measure < figures->n_measures
             ? &figures->measures[figures->measure]
             : NULL;
}

const FlamFiguresMeasure *
flam_figures_find (const FlamFigures *figures, const char *id)
{
  for (guint i = 0; i < figures->n_measures; i++)
    if (strcmp (figures->measures[i].id, id) == 0)
      return &figures->measures[i];
  return NULL;
}

const FlamFiguresFunction *
flam_figures_find_function (const FlamFiguresMeasure *measure, const char *name)
{
  FlamFiguresFunction key = { .name = (char *)name };

  return measure->functions != NULL ? bsearch (&key,
                                               measure->functions,
                                               measure->n_functions,
                                               sizeof key,
                                               compare_functions)
                                    : NULL;
}

/* --- changes -------------------------------------------------------------- */

static int
compare_moves (gconstpointer a, gconstpointer b)
{
  const FlamFiguresMove *x = a, *y = b;

  if (ABS (x->delta) != ABS (y->delta))
    return ABS (x->delta) > ABS (y->delta) ? -1 : 1;
  return strcmp (x->name, y->name);
}

/* Both lists are sorted by name: one walk over the two. */
static guint
add_moves (FlamFiguresMove *moves,
           const FlamFiguresMeasure *a,
           const FlamFiguresMeasure *b)
{
  gint64 before = a->measure.denominator, after = b->measure.denominator;
  gint64 to = flam_rescale_measure (&a->measure, &b->measure).denominator;
  guint n = 0, i = 0, k = 0;

  while (i < a->n_functions || k < b->n_functions)
    {
      int order = i == a->n_functions ? 1
                  : k == b->n_functions
                      ? -1
                      : compare_functions (&a->functions[i], &b->functions[k]);
      FlamFiguresMove move = { NULL, 0, { 0 } };

      if (order >= 0)
        {
          const FlamFiguresFunction *is = &b->functions[k++];

          move.name = is->name;
          move.delta = flam_rescale_weight (is->self, after, to);
          move.estimate = is->self_estimate;
        }
      if (order <= 0)
        {
          const FlamFiguresFunction *was = &a->functions[i++];

          move.name = was->name;
          move.delta -= flam_rescale_weight (was->self, before, to);
          move.estimate =
              flam_estimate_of_sum (move.estimate, was->self_estimate);
        }
      if (move.delta != 0)
        moves[n++] = move;
    }
  return n;
}

FlamFiguresMove *
flam_figures_moves (const FlamFigures *before,
                    const FlamFigures *after,
                    guint most,
                    guint *n)
{
  const FlamFiguresMeasure *a = flam_figures_selected (before);
  const FlamFiguresMeasure *b = flam_figures_selected (after);
  FlamFiguresMove *moves;

  *n = 0;
  if (a == NULL || b == NULL ||
      !flam_measure_is_like (&a->measure, &b->measure))
    return NULL;
  moves = g_new (FlamFiguresMove, a->n_functions + b->n_functions + 1);
  *n = add_moves (moves, a, b);
  qsort (moves, *n, sizeof *moves, compare_moves);
  *n = MIN (*n, most);
  return moves;
}
