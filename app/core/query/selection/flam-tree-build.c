/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sample-filter.h"
#include "flam-shown.h"
#include "flam-tree-private.h"

/* Steps one and three: the stacks are walked, and the tree is assembled
 * (flam-tree-private.h). */

#define STEP_ROWS (1 << 14)

/* --- step 1: shown stacks -> draft ---------------------------------------- */

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  FlamShown shown;
  FlamDraft *draft;
  const gint64 *self;          /* per shown stack, and a last one: no stack */
  const FlamStateSplit *split; /* the same by state; NULL: all was running */
  guint8 *status;              /* per shown stack; NULL: the capture has none */
  gint64 *own_self;            /* it holds the sums; NULL: the weights do */
  FlamStateSplit *own_split;
  gint64 *first; /* per shown stack: when it was first seen; NULL: not needed */
  FlamNodeId *node; /* per shown stack: of the draft */
  gint64 *total;    /* per shown stack: weight at and below */
} Walk;

static FlamDraftKey
frame_key (const Walk *walk, FlamFrameId frame)
{
  FlamShownKey shown =
      flam_shown_key (walk->profile, walk->selection->by, frame);

  return (FlamDraftKey){ .key.row = shown.thing,
                         .line = shown.line,
                         .address = shown.address,
                         .file = shown.file };
}

/* The shown stack's node, below `root` if it has no caller. */
static void
walk_stack (const Walk *walk, FlamStackId stack, FlamId root)
{
  FlamStackId prefix = walk->shown.prefix[stack];
  FlamFrameId frame = walk->shown.frame[stack];
  FlamDraftKey key = frame_key (walk, frame);

  key.parent = prefix != FLAM_NONE ? walk->node[prefix] : root;
  walk->node[stack] = flam_draft_node (walk->draft, &key);
  flam_draft_offer_frame (
      walk->draft, walk->node[stack], frame, walk->total[stack]);
  if (walk->status != NULL)
    flam_draft_mark (walk->draft, walk->node[stack], walk->status[stack]);
  if (walk->first != NULL)
    flam_draft_see (walk->draft, walk->node[stack], walk->first[stack]);
}

typedef struct
{
  gint64 from, to;
  gint64 *first; /* of shown stacks */
} Seen;

static void
see (const Walk *walk,
     Seen *seen,
     FlamStackId stack,
     const gint64 *times,
     guint32 i)
{
  FlamId shown =
      stack != FLAM_NONE ? flam_shown_of (&walk->shown, stack) : FLAM_NONE;
  gint64 time = times != NULL ? times[i] : i;

  if (shown < walk->shown.n &&
      (times == NULL || (time >= seen->from && time < seen->to)))
    seen->first[shown] = MIN (seen->first[shown], time);
}

static void
see_samples (const Walk *walk, Seen *seen)
{
  const FlamSamples *samples = &walk->profile->samples;
  const FlamThreads *threads = &walk->profile->threads;
  const FlamMeasure *measure =
      &walk->profile->measures[walk->selection->measure];
  g_auto (FlamSampleFilter) filter = { NULL };

  flam_sample_filter_init (
      &filter, walk->profile, walk->selection, measure->event);
  for (FlamId t = 0; t < threads->n; t++)
    for (guint32 k = 0; k < threads->n_samples[t]; k++)
      {
        guint32 i = threads->first_sample[t] + k;

        if (!flam_selection_has_thread (walk->selection, t))
          break;
        if (flam_sample_filter_has (&filter, i))
          see (walk, seen, samples->stack[i], samples->time, i);
      }
}

static void
see_blocks (const Walk *walk, Seen *seen)
{
  const FlamAllocations *blocks = &walk->profile->allocations;
  guint32 n = walk->profile->threads.n;
  g_autofree gboolean *chosen = g_new (gboolean, n + 1);

  for (FlamId t = 0; t <= n; t++)
    chosen[t] =
        flam_selection_has_thread (walk->selection, t < n ? t : FLAM_NONE);
  for (guint32 i = 0; i < blocks->n; i++)
    if (chosen[MIN (blocks->thread[i], n)])
      see (walk, seen, blocks->stack[i], blocks->time, i);
}

/* For each shown stack and the stacks below it: when it was first seen in the
 * selection. */
static gint64 *
find_first (const Walk *walk)
{
  const FlamMeasure *measure =
      &walk->profile->measures[walk->selection->measure];
  gint64 *first = g_new (gint64, walk->shown.n + 1);
  Seen seen = { .first = first };

  flam_selection_get_range (
      walk->selection, walk->profile, &seen.from, &seen.to);
  for (FlamId s = 0; s <= walk->shown.n; s++)
    first[s] = G_MAXINT64;
  if (measure->source == FLAM_FROM_SAMPLES)
    see_samples (walk, &seen);
  else
    see_blocks (walk, &seen);
  for (FlamId s = walk->shown.n; s-- > 0;)
    if (walk->shown.prefix[s] != FLAM_NONE)
      first[walk->shown.prefix[s]] =
          MIN (first[walk->shown.prefix[s]], first[s]);
  return first;
}

/* A split for each shown stack, and at the end for no stack. */
static FlamStateSplit *
sum_splits (const Walk *walk, const FlamWeights *weights)
{
  guint32 n = weights->profile->stacks.n;
  FlamStateSplit *sum = g_new0 (FlamStateSplit, walk->shown.n + 1);

  for (FlamId s = 0; s <= n; s++)
    {
      FlamId to = flam_shown_of (&walk->shown, s < n ? s : FLAM_NONE);

      for (guint i = 0; to != FLAM_NONE && i < FLAM_N_STATES; i++)
        sum[to].weight[i] += weights->split[s].weight[i];
    }
  return sum;
}

/* Weights of the profile's stacks -> weights of the shown ones. */
static void
sum_selves (Walk *walk, const FlamWeights *weights)
{
  const FlamShown *shown = &walk->shown;

  walk->self = weights->weight;
  walk->split = weights->split;
  if (shown->of == NULL && weights->no_stack == 0)
    return; /* the last of the weights is 0 */
  walk->self = walk->own_self =
      flam_shown_sum (shown, walk->profile->stacks.n, weights->weight);
  if (shown->no_stack != FLAM_NONE)
    walk->own_self[shown->n] += weights->no_stack;
  if (weights->split != NULL && shown->of != NULL)
    walk->split = walk->own_split = sum_splits (walk, weights);
}

static void
sum_totals (Walk *walk)
{
  const FlamShown *shown = &walk->shown;

  memcpy (walk->total, walk->self, shown->n * sizeof *walk->self);
  for (FlamId s = shown->n; s-- > 0;)
    if (shown->prefix[s] != FLAM_NONE)
      walk->total[shown->prefix[s]] += walk->total[s];
}

static gboolean
walk_all (Walk *walk, const FlamProgress *progress, GError **error)
{
  guint32 n = walk->shown.n;

  sum_totals (walk);
  for (FlamId s = 0; s <= n; s++)
    {
      if (s % STEP_ROWS == 0 &&
          !flam_progress_step (progress, 0.5 + 0.2 * s / (n + 1.0), error))
        return FALSE;
      if (s < n && walk->total[s] != 0)
        walk_stack (walk, s, 0);
      if (walk->self[s] != 0)
        flam_draft_add (walk->draft,
                        s < n ? walk->node[s] : 0,
                        walk->self[s],
                        walk->split != NULL ? &walk->split[s] : NULL);
    }
  return TRUE;
}

/* The rows of one top: its stacks and all their prefixes, ascending, so that
 * callers come first. `stamp` is the last top for which a stack was met. */
static void
collect_stacks (const FlamShown *shown,
                const FlamTopWeight *rows,
                guint n,
                FlamId *stamp,
                GArray *list)
{
  g_array_set_size (list, 0);
  for (guint i = 0; i < n; i++)
    for (FlamId s = flam_shown_of (shown, rows[i].stack); s < shown->n;
         s = shown->prefix[s])
      {
        if (stamp[s] == rows[i].top.row + 1)
          break;
        stamp[s] = rows[i].top.row + 1;
        g_array_append_val (list, s);
      }
}

static int
compare_ids (gconstpointer a, gconstpointer b)
{
  FlamId x = *(const FlamId *)a;
  FlamId y = *(const FlamId *)b;

  return (x > y) - (x < y);
}

static void
walk_top (Walk *walk, const FlamTopWeight *rows, guint n, GArray *list)
{
  const FlamShown *shown = &walk->shown;
  FlamDraftKey key = { .key = rows[0].top, .top = TRUE };
  FlamId root = flam_draft_node (walk->draft, &key);

  for (guint i = 0; i < list->len && walk->first != NULL; i++)
    flam_draft_see (
        walk->draft, root, walk->first[g_array_index (list, FlamId, i)]);
  for (guint i = 0; i < list->len; i++)
    walk->total[g_array_index (list, FlamId, i)] = 0;
  for (guint i = 0; i < n; i++)
    {
      FlamId s = flam_shown_of (shown, rows[i].stack);

      if (s < shown->n)
        walk->total[s] += rows[i].weight;
    }
  for (guint i = list->len; i-- > 0;)
    {
      FlamId s = g_array_index (list, FlamId, i);

      if (shown->prefix[s] != FLAM_NONE)
        walk->total[shown->prefix[s]] += walk->total[s];
    }
  for (guint i = 0; i < list->len; i++)
    walk_stack (walk, g_array_index (list, FlamId, i), root);
  for (guint i = 0; i < n; i++)
    {
      FlamId s = flam_shown_of (shown, rows[i].stack);
      FlamStateSplit split = { { 0 } };

      split.weight[rows[i].state] = rows[i].weight;
      if (s != FLAM_NONE)
        flam_draft_add (walk->draft,
                        s < shown->n ? walk->node[s] : root,
                        rows[i].weight,
                        &split);
    }
}

static gboolean
walk_by_top (Walk *walk,
             const FlamWeights *weights,
             const FlamProgress *progress,
             GError **error)
{
  const FlamTopWeight *rows =
      (const FlamTopWeight *)(const void *)weights->by_top->data;
  guint n_rows = weights->by_top->len;
  g_autofree FlamId *stamp = g_new0 (FlamId, walk->shown.n + 1);
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (FlamId));

  memset (stamp, 0xff, (gsize)walk->shown.n * sizeof *stamp);
  for (guint i = 0, end; i < n_rows; i = end)
    {
      for (end = i + 1; end < n_rows && rows[end].top.row == rows[i].top.row;)
        end++;
      if (!flam_progress_step (progress, 0.7 * i / n_rows, error))
        return FALSE;
      collect_stacks (&walk->shown, rows + i, end - i, stamp, list);
      g_array_sort (list, compare_ids);
      walk_top (walk, rows + i, end - i, list);
    }
  return TRUE;
}

/* --- other columns ------------------------------------------------------- */

/* stack ──of──▶ shown ──node──▶ tree. Takes ownership of `of_shown`. */
static void
map_stacks (FlamTree *tree, const FlamShown *shown, FlamId *of_shown)
{
  guint32 n = tree->profile->stacks.n;

  tree->stack_node = of_shown;
  if (shown->of == NULL)
    return;
  tree->stack_node = flam_new_cells (FlamId, n + 1);
  for (FlamId s = 0; s < n; s++)
    {
      FlamId to = flam_shown_of (shown, s);

      tree->stack_node[s] = to != FLAM_NONE ? of_shown[to] : FLAM_NONE;
    }
  flam_cells_drop (of_shown);
}

static void
add_other (FlamTree *tree, const FlamWeights *weights)
{
  tree->other_self = g_new (gint64, tree->n);
  tree->other_total = g_new (gint64, tree->n);
  flam_tree_sum (tree, weights->other, tree->other_self, tree->other_total);
}

static void
add_spread (FlamTree *tree, const FlamWeights *weights)
{
  tree->spread_self = g_new (FlamSpread, tree->n);
  tree->spread_total = g_new (FlamSpread, tree->n);
  flam_tree_sum_spread (
      tree, weights->spread, tree->spread_self, tree->spread_total);
}

/* `of_shown`: the node of each shown stack, and of no stack. */
static void
add_splits (FlamTree *tree, const Walk *walk, const FlamId *of_shown)
{
  tree->split = g_new0 (FlamStateSplit, tree->n);
  for (FlamId s = 0; s <= walk->shown.n; s++)
    for (guint i = 0; of_shown[s] != FLAM_NONE && i < FLAM_N_STATES; i++)
      tree->split[of_shown[s]].weight[i] += walk->split[s].weight[i];
  flam_tree_sum_splits (tree);
}

static void
add_status (FlamTree *tree, const Walk *walk, const FlamId *of_shown)
{
  tree->status = g_new0 (guint8, tree->n);
  for (FlamId s = 0; s < walk->shown.n; s++)
    if (of_shown[s] != FLAM_NONE)
      tree->status[of_shown[s]] |= walk->status[s];
}

/* --- both directions ------------------------------------------------------ */

static void
walk_clear (Walk *walk)
{
  flam_cells_drop (walk->own_self);
  g_free (walk->own_split);
  g_free (walk->status);
  g_free (walk->first);
  g_free (walk->node);
  g_free (walk->total);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Walk, walk_clear)

static gboolean
fill_draft (Walk *walk,
            const FlamWeights *weights,
            const FlamProgress *progress,
            GError **error)
{
  walk->node = g_new (FlamId, walk->shown.n + 1);
  walk->total = g_new0 (gint64, walk->shown.n + 1);
  if (walk->draft->is_timed)
    walk->first = find_first (walk);
  return weights->by_top != NULL ? walk_by_top (walk, weights, progress, error)
                                 : walk_all (walk, progress, error);
}

/* The node of each shown stack: shown ──node──▶ draft [──end──▶ inverted]
 * ──number──▶ tree. */
static FlamId *
map_shown (const Walk *walk, const FlamId *end, const FlamId *number)
{
  guint32 n = walk->shown.n;
  FlamId *of_shown = g_new (FlamId, n + 1);

  for (FlamId s = 0; s < n; s++)
    {
      FlamNodeId node = walk->total[s] != 0 ? walk->node[s] : FLAM_NONE;

      if (node != FLAM_NONE && end != NULL)
        node = end[node];
      of_shown[s] = node != FLAM_NONE ? number[node] : FLAM_NONE;
    }
  of_shown[n] = 0;
  return of_shown;
}

/* Builds by a draft: paths from anywhere find their node by its key. FALSE when
 * cancelled. */
static gboolean
build_by_draft (FlamTree *tree,
                Walk *walk,
                const FlamWeights *weights,
                FlamTreeOrder order,
                const FlamProgress *progress,
                GError **error)
{
  static const FlamDraftKey root = { FLAM_NONE, { FLAM_NONE } };
  gboolean is_split = weights->split != NULL;
  g_auto (FlamDraft) draft = { 0 };
  g_auto (FlamDraft) inverted = { 0 };
  g_autofree FlamId *end = NULL;
  g_autofree FlamId *number = NULL;

  flam_draft_init (&draft, is_split, order == FLAM_ORDER_TIME);
  flam_draft_init (&inverted, is_split, order == FLAM_ORDER_TIME);
  flam_draft_node (&draft, &root);
  flam_draft_node (&inverted, &root);
  walk->draft = &draft;
  if (!fill_draft (walk, weights, progress, error))
    return FALSE;
  if (tree->inverted)
    end = g_new (FlamId, draft.keys.n);
  if (end != NULL &&
      !flam_draft_invert (&draft, &inverted, end, progress, error))
    return FALSE;
  number = flam_draft_number (tree, end != NULL ? &inverted : &draft, order);
  if (weights->by_top == NULL)
    map_stacks (tree, &walk->shown, map_shown (walk, end, number));
  return TRUE;
}

static gboolean
build_by_merge (FlamTree *tree,
                Walk *walk,
                FlamTreeOrder order,
                const FlamProgress *progress,
                GError **error)
{
  FlamId *of_shown =
      flam_tree_merge (tree, &walk->shown, walk->self, order, progress, error);

  if (of_shown == NULL)
    return FALSE;
  if (walk->split != NULL)
    add_splits (tree, walk, of_shown);
  if (walk->status != NULL)
    add_status (tree, walk, of_shown);
  map_stacks (tree, &walk->shown, of_shown);
  return TRUE;
}

FlamTree *
flam_tree_new_shown (const FlamWeights *weights,
                     const FlamSelection *selection,
                     const FlamShown *shown,
                     FlamTreeOrder order,
                     const FlamProgress *progress,
                     GError **error)
{
  gboolean merges =
      weights->by_top == NULL && !selection->invert && order != FLAM_ORDER_TIME;
  g_auto (Walk) walk = { weights->profile, selection, .shown = *shown };
  g_autoptr (FlamTree) tree = g_atomic_rc_box_new0 (FlamTree);

  tree->profile = flam_profile_ref (weights->profile);
  tree->by = selection->by;
  tree->inverted = selection->invert;
  tree->measure = selection->measure;
  tree->counted =
      selection->count &&
      weights->profile->measures[tree->measure].source == FLAM_FROM_SAMPLES;
  sum_selves (&walk, weights);
  walk.status = flam_shown_status (shown, weights->profile, weights);
  if (merges ? !build_by_merge (tree, &walk, order, progress, error)
             : !build_by_draft (tree, &walk, weights, order, progress, error))
    return NULL;
  flam_tree_name_tops (tree);
  if (tree->stack_node != NULL && weights->other != NULL)
    add_other (tree, weights);
  if (tree->stack_node != NULL && weights->spread != NULL)
    add_spread (tree, weights);
  if (!flam_progress_step (progress, 1, error))
    return NULL;
  return g_steal_pointer (&tree);
}

FlamTree *
flam_tree_new (const FlamWeights *weights,
               const FlamSelection *selection,
               FlamTreeOrder order,
               const FlamProgress *progress,
               GError **error)
{
  g_auto (FlamShown) shown = { 0 };

  if (!flam_shown_init (&shown, weights->profile, selection, progress, error))
    return NULL;
  return flam_tree_new_shown (
      weights, selection, &shown, order, progress, error);
}
