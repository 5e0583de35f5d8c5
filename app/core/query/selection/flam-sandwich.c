/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sandwich.h"

#include "flam-columns.h"
#include "flam-tree-private.h"

#define STEP_NODES 1024

typedef struct
{
  const FlamTree *tree;
  FlamDraft draft;
  FlamId *end; /* per node of `tree`: the one that has its self, or FLAM_NONE */
  FlamStateSplit *split; /* per node: that of its self; NULL: all was running */
} Sandwich;

static void
sandwich_clear (Sandwich *sandwich)
{
  flam_draft_clear (&sandwich->draft);
  g_free (sandwich->end);
  g_free (sandwich->split);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sandwich, sandwich_clear)

static gboolean
is_same (const FlamTree *from,
         FlamNodeId node,
         const FlamTree *to,
         FlamId other)
{
  return other != 0 && flam_tree_is_same (from, node, to, other);
}

static FlamDraftKey
key_of (const FlamTree *tree, FlamNodeId node, FlamId parent)
{
  FlamDraftKey key = { .parent = parent,
                       .key = tree->key[node],
                       .line = flam_tree_line (tree, node),
                       .address = flam_tree_address (tree, node),
                       .top = flam_tree_is_top (tree, node) };

  if (tree->by == FLAM_BY_LINE && tree->frame[node] != FLAM_NONE)
    key.file = tree->profile->frames.file[tree->frame[node]];
  return key;
}

static FlamStateSplit *
self_splits (const FlamTree *tree)
{
  FlamStateSplit *split;

  if (tree->split == NULL)
    return NULL;
  split = g_memdup2 (tree->split, tree->n * sizeof *split);
  for (FlamId i = 1; i < tree->n; i++)
    for (guint s = 0; s < FLAM_N_STATES; s++)
      split[tree->parent[i]].weight[s] -= tree->split[i].weight[s];
  return split;
}

static void
sandwich_init (Sandwich *sandwich, const FlamTree *tree, FlamNodeId node)
{
  FlamDraftKey root = key_of (tree, node, FLAM_NONE);

  g_assert (!tree->inverted);
  sandwich->tree = tree;
  flam_draft_init (&sandwich->draft, tree->split != NULL, FALSE);
  flam_draft_node (&sandwich->draft, &root);
  sandwich->end = g_new (FlamId, tree->n);
  memset (sandwich->end, 0xff, tree->n * sizeof *sandwich->end);
}

/* The node of each stack. */
static void
map_stacks (const Sandwich *sandwich, FlamTree *result)
{
  const FlamTree *tree = sandwich->tree;
  guint32 n = tree->profile->stacks.n;

  if (tree->stack_node == NULL)
    return;
  result->stack_node = flam_new_cells (FlamId, n + 1);
  for (FlamStackId s = 0; s < n; s++)
    result->stack_node[s] = tree->stack_node[s] != FLAM_NONE
                                ? sandwich->end[tree->stack_node[s]]
                                : FLAM_NONE;
}

/* The counterparts and the errors. */
static void
sum_columns (const Sandwich *sandwich, FlamTree *result)
{
  const FlamTree *tree = sandwich->tree;

  if (tree->other_self != NULL)
    {
      result->other_self = g_new0 (gint64, result->n);
      result->other_total = g_new0 (gint64, result->n);
    }
  if (tree->spread_self != NULL)
    {
      result->spread_self = g_new0 (FlamSpread, result->n);
      result->spread_total = g_new0 (FlamSpread, result->n);
    }
  for (FlamNodeId i = 1; i < tree->n; i++)
    {
      FlamId to = sandwich->end[i];

      if (to != FLAM_NONE && tree->other_self != NULL)
        result->other_self[to] += tree->other_self[i];
      if (to != FLAM_NONE && tree->spread_self != NULL)
        flam_spread_add (&result->spread_self[to], &tree->spread_self[i]);
    }
  for (FlamNodeId i = result->n; i-- > 0;)
    {
      FlamId parent = i != 0 ? result->parent[i] : FLAM_NONE;

      if (tree->other_self != NULL)
        result->other_total[i] += result->other_self[i];
      if (tree->other_self != NULL && parent != FLAM_NONE)
        result->other_total[parent] += result->other_total[i];
      if (tree->spread_self != NULL)
        flam_spread_add (&result->spread_total[i], &result->spread_self[i]);
      if (tree->spread_self != NULL && parent != FLAM_NONE)
        flam_spread_add (&result->spread_total[parent],
                         &result->spread_total[i]);
    }
}

static FlamTree *
sandwich_finish (Sandwich *sandwich, gboolean inverted)
{
  const FlamTree *tree = sandwich->tree;
  FlamTree *result = g_atomic_rc_box_new0 (FlamTree);
  g_autofree FlamId *number = NULL;

  result->profile = flam_profile_ref (tree->profile);
  result->by = tree->by;
  result->rooted = TRUE;
  result->inverted = inverted;
  result->measure = tree->measure;
  result->counted = tree->counted;
  if (tree->top_names != NULL)
    result->top_names = g_ptr_array_ref (tree->top_names);
  number = flam_draft_number (result, &sandwich->draft, FLAM_ORDER_TOTAL);
  for (FlamNodeId i = 0; i < tree->n; i++)
    if (sandwich->end[i] != FLAM_NONE)
      sandwich->end[i] = number[sandwich->end[i]];
  map_stacks (sandwich, result);
  sum_columns (sandwich, result);
  return result;
}

/* --- callers -------------------------------------------------------------- */

static void
add_callers (Sandwich *sandwich, FlamId call)
{
  const FlamTree *tree = sandwich->tree;
  gint64 total = tree->total[call];
  FlamId to = 0;

  flam_draft_offer_frame (&sandwich->draft, 0, tree->frame[call], total);
  flam_draft_mark (&sandwich->draft, 0, flam_tree_status (tree, call));
  for (FlamId from = tree->parent[call]; from != 0; from = tree->parent[from])
    {
      FlamDraftKey key = key_of (tree, from, to);

      to = flam_draft_node (&sandwich->draft, &key);
      flam_draft_offer_frame (&sandwich->draft, to, tree->frame[from], total);
      flam_draft_mark (&sandwich->draft, to, flam_tree_status (tree, from));
    }
  flam_draft_add (&sandwich->draft,
                  to,
                  total,
                  tree->split != NULL ? &tree->split[call] : NULL);
  for (FlamNodeId i = call; i < tree->subtree_end[call]; i++)
    sandwich->end[i] = to;
}

FlamTree *
flam_sandwich_callers (const FlamTree *tree,
                       FlamNodeId node,
                       const FlamProgress *progress,
                       GError **error)
{
  g_auto (Sandwich) sandwich = { 0 };

  sandwich_init (&sandwich, tree, node);
  for (FlamId i = 1, step = 0; i < tree->n; step++)
    {
      if (step % STEP_NODES == 0 &&
          !flam_progress_step (progress, (double)i / tree->n, error))
        return NULL;
      if (!is_same (tree, node, tree, i))
        i++;
      else
        {
          add_callers (&sandwich, i);
          i = tree->subtree_end[i];
        }
    }
  return sandwich_finish (&sandwich, TRUE);
}

/* --- callees -------------------------------------------------------------- */

static void
add_callees (Sandwich *sandwich, FlamId call)
{
  const FlamTree *tree = sandwich->tree;

  for (FlamId i = call; i < tree->subtree_end[call]; i++)
    {
      FlamId to = 0;

      if (i != call)
        {
          FlamDraftKey key = key_of (tree, i, sandwich->end[tree->parent[i]]);

          to = flam_draft_node (&sandwich->draft, &key);
        }
      sandwich->end[i] = to;
      flam_draft_offer_frame (
          &sandwich->draft, to, tree->frame[i], tree->total[i]);
      flam_draft_mark (&sandwich->draft, to, flam_tree_status (tree, i));
      flam_draft_add (&sandwich->draft,
                      to,
                      tree->self[i],
                      sandwich->split != NULL ? &sandwich->split[i] : NULL);
    }
}

FlamTree *
flam_sandwich_callees (const FlamTree *tree,
                       FlamNodeId node,
                       const FlamProgress *progress,
                       GError **error)
{
  g_auto (Sandwich) sandwich = { 0 };

  sandwich_init (&sandwich, tree, node);
  sandwich.split = self_splits (tree);
  for (FlamId i = 1, step = 0; i < tree->n; step++)
    {
      if (step % STEP_NODES == 0 &&
          !flam_progress_step (progress, (double)i / tree->n, error))
        return NULL;
      if (!is_same (tree, node, tree, i))
        i++;
      else
        {
          add_callees (&sandwich, i);
          i = tree->subtree_end[i];
        }
    }
  return sandwich_finish (&sandwich, FALSE);
}

FlamId
flam_sandwich_find (const FlamTree *from, FlamNodeId node, const FlamTree *to)
{
  FlamId best = FLAM_NONE;

  for (FlamId i = 1; i < to->n; i++)
    if (is_same (from, node, to, i) &&
        (best == FLAM_NONE || to->total[i] > to->total[best]))
      best = i;
  return best;
}

FlamId
flam_sandwich_find_call (const FlamTree *side,
                         FlamNodeId node,
                         const FlamTree *to)
{
  guint32 n = side->depth[node] + 1;
  g_autofree FlamShownKey *keys = g_new (FlamShownKey, n);
  FlamId of = node;
  FlamId found;

  for (guint32 i = 0; i < n; i++, node = side->parent[node])
    keys[side->inverted ? i : n - 1 - i] = flam_tree_key (side, node);
  found = flam_tree_find_calls (to, keys, n, !side->inverted);
  return found != 0 ? found : flam_sandwich_find (side, of, to);
}
