/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TREE_PRIVATE_H
#define FLAM_TREE_PRIVATE_H

/* Declarations that the tree's three parts share. Stacks become a tree in three
 * steps, each a loop:
 *
 *   stacks (trie of frames)         draft (trie of keys)       tree
 *   every stack with weight below ─▶ node per distinct path ─▶ preorder
 *
 * The draft merges what is the same in the selection (a function, a line, a
 * module) and leaves out what its transforms hide, so it is often much smaller
 * than the stacks. In it, parents come before their children. */

#include "flam-columns.h"
#include "flam-shown.h"
#include "flam-tree.h"

G_BEGIN_DECLS

/* The name of a node's key, as determined by `by` and `top`. */
const char *flam_tree_key_name (const FlamProfile *profile,
                                FlamBy by,
                                FlamTreeKey key,
                                gboolean top);
/* Fills `top_names`. */
void flam_tree_name_tops (FlamTree *tree);

typedef struct
{
  FlamId parent;
  FlamTreeKey key;
  FlamStringId file; /* FLAM_BY_LINE: of the line; 0 otherwise */
  guint32 line;
  guint64 address; /* FLAM_BY_ADDRESS; 0 otherwise */
  gboolean top;    /* the key is a thread or a string on top of the functions */
} FlamDraftKey;

typedef struct
{
  FlamColumn keys;        /* FlamDraftKey */
  FlamColumn self;        /* gint64 */
  FlamColumn frame;       /* FlamId */
  FlamColumn frame_total; /* gint64: what made `frame` the heaviest */
  FlamColumn status;      /* guint8 */
  FlamColumn split;       /* FlamStateSplit: self by state */
  gboolean is_split;      /* otherwise the column `split` is empty */
  FlamColumn first;       /* gint64: when it was first seen */
  gboolean is_timed;      /* otherwise the column `first` is empty */
  FlamInterner interner;
} FlamDraft;

#define flam_draft_key(draft, node)                                            \
  (&flam_column_at (&(draft)->keys, FlamDraftKey, (node)))

void flam_draft_init (FlamDraft *draft, gboolean is_split, gboolean is_timed);
void flam_draft_clear (FlamDraft *draft);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamDraft, flam_draft_clear)

/* The node of this key; it is added if it is new. */
FlamNodeId flam_draft_node (FlamDraft *draft, const FlamDraftKey *key);
/* Adds to a node's self; `split` may be NULL. */
void flam_draft_add (FlamDraft *draft,
                     FlamNodeId node,
                     gint64 weight,
                     const FlamStateSplit *split);
/* Adds one of the node's frames; the one with the greatest total is kept. */
void flam_draft_offer_frame (FlamDraft *draft,
                             FlamNodeId node,
                             FlamFrameId frame,
                             gint64 total);
/* Adds FlamStatus bits to the node's. */
void flam_draft_mark (FlamDraft *draft, FlamNodeId node, guint status);
/* Records that the node was seen at that time. */
void flam_draft_see (FlamDraft *draft, FlamNodeId node, gint64 time);
/* Inverts it into `inverted`, which has only a root so far. `end`, a value for
 * each node of `forward`: where its self is put, or FLAM_NONE for none. */
gboolean flam_draft_invert (const FlamDraft *forward,
                            FlamDraft *inverted,
                            FlamId *end,
                            const FlamProgress *progress,
                            GError **error);
/* Allocates the columns that all trees have. */
void flam_tree_allocate (FlamTree *tree, guint32 n);
/* The splits of all nodes' selves -> the splits of their totals. */
void flam_tree_sum_splits (FlamTree *tree);

/* Fills the tree's columns, in preorder. Returns the number of each node in it,
 * FLAM_NONE for nodes without weight; g_free. */
FlamId *
flam_draft_number (FlamTree *tree, const FlamDraft *draft, FlamTreeOrder order);

/* All three steps in one, for trees in which each stack has one node and the
 * order of time is not needed. `self` is the weight of each shown stack, and at
 * the end that of no stack. Returns the node of each shown stack, FLAM_NONE for
 * those without weight, 0 for the last one; NULL when cancelled; g_free. */
FlamId *flam_tree_merge (FlamTree *tree,
                         const FlamShown *shown,
                         const gint64 *self,
                         FlamTreeOrder order,
                         const FlamProgress *progress,
                         GError **error);
/* The same, with memory for every stack: in one piece; or in parts, for many
 * stacks and several cores. */
FlamId *flam_tree_merge_all (FlamTree *tree,
                             const FlamShown *shown,
                             const gint64 *self,
                             FlamTreeOrder order,
                             const FlamProgress *progress,
                             GError **error);
FlamId *flam_tree_merge_parts (FlamTree *tree,
                               const FlamShown *shown,
                               const gint64 *self,
                               FlamTreeOrder order,
                               const FlamProgress *progress,
                               GError **error);

G_END_DECLS

#endif
