/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-diff-private.h"

static void *
copy_column (const void *column, gsize n, gsize size)
{
  return column != NULL ? g_memdup2 (column, n * size) : NULL;
}

static FlamTree *
copy_tree (const FlamTree *tree)
{
  FlamTree *copy = g_atomic_rc_box_new (FlamTree);

#define COPY(column)                                                           \
  copy->column = copy_column (tree->column, tree->n, sizeof *tree->column)
  *copy = *tree;
  flam_profile_ref (tree->profile);
  COPY (parent);
  COPY (subtree_end);
  COPY (depth);
  COPY (key);
  COPY (line);
  COPY (frame);
  COPY (self);
  COPY (total);
  COPY (split);
  COPY (status);
  COPY (other_self);
  COPY (other_total);
  COPY (spread_self);
  COPY (spread_total);
#undef COPY
  copy->stack_node = copy_column (
      tree->stack_node, tree->profile->stacks.n, sizeof *tree->stack_node);
  if (tree->top_names != NULL)
    copy->top_names = g_ptr_array_ref (tree->top_names);
  copy->change = NULL;
  return copy;
}

/* Weight of the topmost nodes of the other tree whose paths this one lacks. */
static FlamFigure
weigh_missing (const FlamDiffPaths *paths, guint here)
{
  const FlamTree *other = paths->tree[!here];
  FlamFigure missing = { 0, other->other_total != NULL ? 0 : -1, { 0 } };

  for (FlamId i = 0; i < other->n;)
    if (paths->total[here][paths->path[!here][i]] == 0)
      {
        missing.weight += other->total[i];
        if (other->other_total != NULL)
          missing.other += other->other_total[i];
        if (other->spread_total != NULL)
          flam_spread_add (&missing.spread, &other->spread_total[i]);
        i = other->subtree_end[i];
      }
    else
      i++;
  return missing;
}

/* Siblings of one name divide the other tree's value by their own weights. */
static gint64
share_of (gint64 others, gint64 value, gint64 sum)
{
  return sum > 0 ? (gint64)((__int128_t)others * value / sum) : others;
}

static FlamTree *
one_side (FlamDiffPaths *paths, guint here, gboolean self, FlamDiffScale scale)
{
  FlamTree *tree = copy_tree (paths->tree[here]);
  FlamTreeChange *change = flam_diff_change_new (tree->n);
  const gint64 *value = self ? tree->self : tree->total;
  const FlamId *path = paths->path[here];
  const gint64 *sum = self ? paths->self[here] : paths->total[here];
  const gint64 *others = self ? paths->self[!here] : paths->total[!here];
  FlamFigure missing = weigh_missing (paths, here);

  tree->change = change;
  change->self = self;
  change->missing = missing.weight;
  change->missing_estimate = flam_diff_estimate (paths->tree[!here], missing);
  if (flam_diff_paths_add_errors (paths, self))
    change->estimate = g_new (FlamChangeEstimate, tree->n);
  for (FlamId i = 0; i < tree->n; i++)
    {
      gint64 there = share_of (others[path[i]], value[i], sum[path[i]]);
      gint64 was = here == FLAM_DIFF_SIDE_BASE ? value[i] : there;
      gint64 is = here == FLAM_DIFF_SIDE_BASE ? there : value[i];
      FlamEstimate own, its;

      flam_diff_change_set (change,
                            i,
                            flam_diff_paths_kind (paths, path[i]),
                            flam_diff_scaled (was, scale),
                            is);
      if (change->estimate == NULL)
        continue;
      own = flam_diff_paths_estimate (
          paths, here, path[i], value[i], sum[path[i]], scale);
      its = flam_diff_paths_estimate (
          paths, !here, path[i], there, others[path[i]], scale);
      change->estimate[i] = here == FLAM_DIFF_SIDE_BASE
                                ? flam_estimate_of_change (own, its)
                                : flam_estimate_of_change (its, own);
    }
  return tree;
}

FlamTree *
flam_diff_tree (const FlamTree *base,
                const FlamTree *fresh,
                FlamDiffShape shape,
                gboolean self,
                FlamDiffScale scale)
{
  g_auto (FlamDiffPaths) paths = { 0 };

  flam_diff_paths_init (&paths, base, fresh);
  if (shape == FLAM_DIFF_BOTH || shape == FLAM_DIFF_CHANGED)
    return flam_diff_both (&paths, shape == FLAM_DIFF_CHANGED, self, scale);
  return one_side (&paths,
                   shape == FLAM_DIFF_FRESH ? FLAM_DIFF_SIDE_FRESH
                                            : FLAM_DIFF_SIDE_BASE,
                   self,
                   scale);
}
