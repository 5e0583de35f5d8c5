/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-path-weights.h"

#include "flam-columns.h"

static FlamWeights *
weights_like (const FlamWeights *weights)
{
  FlamWeights *path = g_new0 (FlamWeights, 1);

  path->profile = flam_profile_ref (weights->profile);
  path->weight = flam_new_cells0 (gint64, weights->profile->stacks.n + 1);
  return path;
}

/* The weights of the stacks whose node is in the subtree, or is that node. */
static FlamWeights *
weights_below (const FlamWeights *weights,
               const FlamTree *tree,
               FlamNodeId node,
               gboolean only)
{
  FlamWeights *path = weights_like (weights);
  guint32 n = weights->profile->stacks.n;

  if (node == 0 || tree->frame[node] == FLAM_NONE)
    path->total = path->no_stack = weights->no_stack;
  if (weights->other != NULL)
    path->other = g_new0 (gint64, n + 1);
  if (weights->spread != NULL)
    path->spread = g_new0 (FlamSpread, (gsize)n + 1);
  for (FlamStackId s = 0; s < n; s++)
    {
      FlamId of = tree->stack_node[s];

      if (of == FLAM_NONE || !flam_tree_is_ancestor (tree, node, of) ||
          (only && of != node))
        continue;
      path->weight[s] = weights->weight[s];
      path->total += weights->weight[s];
      if (path->other != NULL)
        {
          path->other[s] = weights->other[s];
          path->other_total += weights->other[s];
        }
      if (path->spread != NULL)
        path->spread[s] = weights->spread[s];
    }
  return path;
}

/* The weights of all stacks, of a top or, without one, of all tops. */
static FlamWeights *
weights_of_top (const FlamWeights *weights, const FlamTreeKey *top)
{
  FlamWeights *path = weights_like (weights);

  for (guint i = 0; i < weights->by_top->len; i++)
    {
      const FlamTopWeight *row =
          &g_array_index (weights->by_top, FlamTopWeight, i);

      if (top != NULL && row->top.row != top->row)
        continue;
      path->total += row->weight;
      if (row->stack == FLAM_NONE)
        path->no_stack += row->weight;
      else
        path->weight[row->stack] += row->weight;
    }
  return path;
}

/* In a tree of the same functions without tops, the node of the same path;
 * FLAM_NONE: there is none. */
static FlamNodeId
find_without_top (const FlamTree *tree, FlamNodeId node, const FlamTree *to)
{
  guint32 depth = tree->depth[node];
  g_autofree FlamNodeId *path = g_new (FlamNodeId, depth + 1);
  FlamNodeId found = 0;

  for (; node != 0; node = tree->parent[node])
    path[tree->depth[node]] = node;
  for (guint32 d = 1; d <= depth && found != FLAM_NONE; d++)
    {
      if (flam_tree_is_top (tree, path[d]))
        continue;
      found = flam_tree_first_child (to, found);
      while (found != FLAM_NONE && to->key[found].row != tree->key[path[d]].row)
        found = flam_tree_next_sibling (to, found);
    }
  return found;
}

/* In an inverted tree, a top is a last node: of the stacks that end there. */
static FlamWeights *
weights_with_tops (const FlamWeights *weights,
                   const FlamSelection *selection,
                   const FlamTree *tree,
                   FlamNodeId node)
{
  gboolean only = tree->inverted && flam_tree_is_top (tree, node);
  g_autoptr (FlamWeights) of_top = NULL;
  g_autoptr (FlamSelection) by_function = flam_selection_copy (selection);
  g_autoptr (FlamTree) functions = NULL;
  FlamNodeId top = node;

  while (top != 0 && !flam_tree_is_top (tree, top))
    top = tree->parent[top];
  of_top = weights_of_top (weights, top != 0 ? &tree->key[top] : NULL);
  by_function->by = FLAM_BY_FUNCTION;
  functions = flam_tree_new (of_top, by_function, FLAM_ORDER_TOTAL, NULL, NULL);
  node = find_without_top (tree, node, functions);
  return node != FLAM_NONE ? weights_below (of_top, functions, node, only)
                           : weights_like (weights);
}

FlamWeights *
flam_path_weights_new (const FlamWeights *weights,
                       const FlamSelection *selection,
                       const FlamTree *tree,
                       FlamNodeId node)
{
  return tree->stack_node != NULL
             ? weights_below (weights, tree, node, FALSE)
             : weights_with_tops (weights, selection, tree, node);
}
