/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TREE_PIECE_H
#define FLAM_TREE_PIECE_H

/* A trie of stacks, merged into nodes without a hash. Each node has the list of
 * the stacks that are merged in it, and its children are made all at once, from
 * the children of these stacks: so one number for each key is enough to find a
 * child. Siblings are stored together, and sorted once they are complete.
 *
 *    stacks             nodes
 *    0 a                0 all
 *    1 ├─ b        ──▶  1 a     stacks 0, 3
 *    2 │  └─ c          2 b            1, 4
 *    3 a                3 c            2
 *    4 └─ b
 *
 * The families come in the order of their parents' first stacks. A stack's
 * number is greater than its caller's, and mostly not by much, so every loop
 * goes through memory from one end to the other. */

#include "flam-tree-private.h"

G_BEGIN_DECLS

/* What makes siblings equal, and their order: the same for all pieces of a
 * tree. */
typedef struct
{
  const FlamTree *tree; /* its profile, and what its nodes represent */
  FlamTreeOrder order;
  const FlamId *key; /* per frame: a number for each thing */
  FlamId *own_key;
  FlamId n_keys;
} FlamTreeKeys;

void flam_tree_keys_init (FlamTreeKeys *keys,
                          const FlamTree *tree,
                          FlamTreeOrder order);
void flam_tree_keys_clear (FlamTreeKeys *keys);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamTreeKeys, flam_tree_keys_clear)

/* Lists hold a stack's number + 1; 0 is the end of a list. */
typedef struct
{
  gint64 total;
  guint32 child; /* the first of its children that have weight */
  guint32 next;  /* next of its siblings; then of the stacks of its node */
} FlamPieceStack;

typedef struct
{
  gint64 total;
  FlamFrameId frame;
  guint32 at; /* the first of its stacks; then the place of its next child in
                 the tree; finally its subtree_end */
} FlamPieceNode;

typedef struct
{
  const FlamTreeKeys *keys;
  guint32 n_stacks;
  const FlamFrameId *frame; /* per stack */
  FlamPieceStack *stacks;
  FlamNodeId *node;     /* per stack: its node, or FLAM_NONE */
  FlamPieceNode *nodes; /* parents first, siblings in their order */
  FlamId *parent;       /* of each node */
  guint32 n, room;      /* nodes */
  FlamColumn family;    /* the siblings that are being collected */
  guint32 met;          /* siblings of all families before this one */
  FlamId *latest;       /* per key: the last sibling made for it, numbered
                           consecutively through all families */
} FlamTreePiece;

/* For each stack the weight at and below it, and the list of its children, in
 * their order; `stacks` need not be set before. Adds those without a caller to
 * the list `roots`, and their weight to `total`. Returns how many have weight.
 * `count`, or NULL: for each stack, those at and below it that have. It need
 * not be set before, either. */
guint32 flam_tree_list_children (FlamPieceStack *stacks,
                                 guint32 *count,
                                 const FlamShown *shown,
                                 const gint64 *self,
                                 guint32 *roots,
                                 gint64 *total);

/* The stacks, their frames and their nodes, and the memory for nodes, are the
 * caller's to set. */
void flam_tree_piece_init (FlamTreePiece *piece,
                           const FlamTreeKeys *keys,
                           guint32 n_stacks);
/* Allocates memory for so many nodes, which may grow. */
void flam_tree_piece_reserve (FlamTreePiece *piece, guint32 room);
/* Frees all but the frames. */
void flam_tree_piece_clear (FlamTreePiece *piece);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamTreePiece, flam_tree_piece_clear)

/* The children of a node, from the children of its stacks. */
void flam_tree_piece_add_children (FlamTreePiece *piece, FlamNodeId node);
/* The same of a node without stacks, from this list. */
void
flam_tree_piece_add_list (FlamTreePiece *piece, guint32 list, FlamNodeId node);
/* The same of all nodes, and of those that it adds. FALSE: cancelled. */
gboolean flam_tree_piece_merge (FlamTreePiece *piece,
                                const FlamProgress *progress,
                                GError **error);

/* --- the tree's columns --------------------------------------------------- */

static inline void
flam_tree_put_root (FlamTree *tree, gint64 total)
{
  tree->parent[0] = FLAM_NONE;
  tree->subtree_end[0] = tree->n;
  tree->depth[0] = 0;
  tree->key[0].row = FLAM_NONE;
  if (tree->by == FLAM_BY_LINE)
    tree->line[0] = 0;
  tree->frame[0] = FLAM_NONE;
  tree->self[0] = tree->total[0] = total;
}

/* A node's self is the part of its total that its children do not have: they
 * take it away when they are put. */
static inline void
flam_tree_put_node (FlamTree *tree,
                    const FlamPieceNode *node,
                    FlamId parent,
                    FlamId to,
                    FlamId subtree_end)
{
  FlamShownKey key = flam_shown_key (tree->profile, tree->by, node->frame);

  tree->parent[to] = parent;
  tree->subtree_end[to] = subtree_end;
  tree->depth[to] = tree->depth[parent] + 1;
  tree->key[to].row = key.thing;
  if (tree->by == FLAM_BY_LINE)
    tree->line[to] = key.line;
  tree->frame[to] = node->frame;
  tree->self[to] = tree->total[to] = node->total;
}

/* The data of a place in the tree. */
typedef struct
{
  FlamNodeId node;
  FlamId parent; /* the place of its parent */
} FlamPiecePlace;

/* The order of a piece's nodes: the first child comes right after its parent,
 * the next after the first's subtree. The first `n_roots` nodes are its roots,
 * each right after the subtree of the one before. `parent` becomes the place of
 * each node; until then `size` is the size of each subtree. */
void flam_tree_piece_number (FlamTreePiece *piece,
                             guint32 n_roots,
                             guint32 *size,
                             FlamPiecePlace *places);

G_END_DECLS

#endif
