/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tree-piece.h"

/* Shown stacks -> tree, all in one piece (flam-tree-piece.h):
 *
 *    stacks             nodes                  preorder
 *    0 a                0 all                  all
 *    1 ├─ b        ──▶  1 a               ──▶  ├─ a
 *    2 │  └─ c          2 b                    │  └─ b
 *    3 a                3 c                    │     └─ c
 *    4 └─ b
 *
 * Only the preorder is not the order of memory: each node's number is written
 * to its place there, and each node is read once in random order. */

#define ZEROED 4096 /* stacks: zeroed at once, while they are in the cache */
#define AHEAD 16    /* nodes: their memory is prefetched this far ahead */

/* Zeroes stacks from `least` up to `zeroed`, and some before them. Returns the
 * first zeroed one. */
static FlamStackId
zero_stacks (FlamPieceStack *stacks,
             guint32 *count,
             FlamId least,
             FlamId zeroed)
{
  FlamId first = least - MIN (least, ZEROED);

  memset (&stacks[first], 0, (zeroed - first) * sizeof *stacks);
  if (count != NULL)
    memset (&count[first], 0, (zeroed - first) * sizeof *count);
  return first;
}

static inline guint32
list_children (FlamPieceStack *stacks,
               guint32 *count,
               const FlamShown *shown,
               const gint64 *self,
               guint32 *roots,
               gint64 *total)
{
  FlamId zeroed = shown->n + 1;
  guint32 n = 0;

  for (FlamId s = shown->n; s-- > 0;)
    {
      FlamStackId prefix = shown->prefix[s];
      FlamId least = MIN (s, prefix);
      gint64 weight;
      guint32 *list;

      if (least < zeroed)
        zeroed = zero_stacks (stacks, count, least, zeroed);
      weight = stacks[s].total += self[s];
      if (weight == 0)
        {
          if (count != NULL)
            count[s] = 0;
          continue;
        }
      if (count != NULL)
        count[s]++;
      if (count != NULL && prefix != FLAM_NONE)
        count[prefix] += count[s];
      list = prefix != FLAM_NONE ? &stacks[prefix].child : roots;
      *(prefix != FLAM_NONE ? &stacks[prefix].total : total) += weight;
      stacks[s].next = *list;
      *list = s + 1;
      n++;
    }
  return n;
}

guint32
flam_tree_list_children (FlamPieceStack *stacks,
                         guint32 *count,
                         const FlamShown *shown,
                         const gint64 *self,
                         guint32 *roots,
                         gint64 *total)
{
  return count != NULL
             ? list_children (stacks, count, shown, self, roots, total)
             : list_children (stacks, NULL, shown, self, roots, total);
}

/* The stacks are no longer needed: their memory is reused for the order of the
 * nodes. */
static void
put_in_preorder (FlamTreePiece *piece, FlamTree *tree)
{
  guint32 n = piece->n;
  guint32 *size = (guint32 *)(void *)piece->stacks;
  FlamPiecePlace *places = (FlamPiecePlace *)(void *)(size + n);

  flam_tree_piece_number (piece, 1, size, places);
  flam_tree_allocate (tree, n);
  flam_tree_put_root (tree, piece->nodes[0].total);
  for (FlamId i = 1; i < n; i++)
    {
      const FlamPieceNode *node = &piece->nodes[places[i].node];
      FlamId parent = places[i].parent;

      __builtin_prefetch (&piece->nodes[places[MIN (i + AHEAD, n - 1)].node]);
      flam_tree_put_node (tree, node, parent, i, node->at);
      tree->self[parent] -= node->total;
      tree->max_depth = MAX (tree->max_depth, tree->depth[i]);
    }
  for (FlamId s = 0; s < piece->n_stacks; s++)
    if (piece->node[s] != FLAM_NONE)
      piece->node[s] = piece->parent[piece->node[s]];
}

FlamId *
flam_tree_merge_all (FlamTree *tree,
                     const FlamShown *shown,
                     const gint64 *self,
                     FlamTreeOrder order,
                     const FlamProgress *progress,
                     GError **error)
{
  g_auto (FlamTreeKeys) keys = { 0 };
  g_auto (FlamTreePiece) piece = { 0 };
  FlamPieceStack *stacks = flam_new_cells (FlamPieceStack, shown->n + 1);
  gint64 total = self[shown->n];
  guint32 roots = 0, most;

  flam_tree_keys_init (&keys, tree, order);
  most =
      flam_tree_list_children (stacks, NULL, shown, self, &roots, &total) + 1;
  flam_tree_piece_init (&piece, &keys, shown->n);
  flam_tree_piece_reserve (&piece, most);
  piece.frame = shown->frame;
  piece.stacks = stacks;
  piece.node = flam_new_cells (FlamId, shown->n + 1);
  memset (piece.node, 0xff, shown->n * sizeof *piece.node);
  piece.node[shown->n] = 0;
  piece.nodes[0] = (FlamPieceNode){ total, FLAM_NONE, FLAM_NONE };
  piece.n = 1;
  flam_tree_piece_add_list (&piece, roots, 0);
  if (!flam_tree_piece_merge (&piece, progress, error))
    return NULL;
  put_in_preorder (&piece, tree);
  return g_steal_pointer (&piece.node);
}
