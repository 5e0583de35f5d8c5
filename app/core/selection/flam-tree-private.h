/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the tree's three parts share. From stacks to tree in three steps, each
 * a loop:
 *
 *   stacks (trie of frames)         draft (trie of keys)       tree
 *   every stack with weight below ─▶ node per distinct path ─▶ preorder
 *
 * The draft merges what the selection calls the same (a function, a line, a
 * module) and leaves out what its transforms hide, so it is often much smaller
 * than the stacks. Its nodes come parents first. */

#include "flam-columns.h"
#include "flam-shown.h"
#include "flam-tree.h"

G_BEGIN_DECLS

/* The name of a node's key, as `by` and `top` say what it is. */
const char *flam_tree_key_name (const FlamProfile *profile,
                                FlamBy by,
                                FlamId key,
                                gboolean top);

typedef struct
{
  FlamId parent;
  FlamId function; /* or module, file, thread, value: the key */
  FlamId file;     /* FLAM_BY_LINE: of the line; 0 otherwise */
  guint32 line;
  guint64 address; /* FLAM_BY_ADDRESS; 0 otherwise */
  gboolean top;    /* the key is what stands on top: a thread, a string */
} FlamDraftKey;

typedef struct
{
  FlamColumn keys;        /* FlamDraftKey */
  FlamColumn self;        /* gint64 */
  FlamColumn frame;       /* FlamId */
  FlamColumn frame_total; /* gint64: what made `frame` the heaviest */
  FlamColumn split;       /* FlamStateSplit: self by state */
  gboolean is_split;      /* else that column is empty */
  FlamColumn first;       /* gint64: when it was first seen */
  gboolean is_timed;      /* else that column is empty */
  FlamInterner interner;
} FlamDraft;

#define flam_draft_key(draft, node)                                            \
  (&flam_column_at (&(draft)->keys, FlamDraftKey, (node)))

void flam_draft_init (FlamDraft *draft, gboolean is_split, gboolean is_timed);
void flam_draft_clear (FlamDraft *draft);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamDraft, flam_draft_clear)

/* The node of this key, made when it is new. */
FlamId flam_draft_node (FlamDraft *draft, const FlamDraftKey *key);
/* Adds to a node's self; `split` may be NULL. */
void flam_draft_add (FlamDraft *draft,
                     FlamId node,
                     gint64 weight,
                     const FlamStateSplit *split);
/* One of the node's frames; the one with the greatest total stays. */
void flam_draft_offer_frame (FlamDraft *draft,
                             FlamId node,
                             FlamId frame,
                             gint64 total);
/* It was seen at that time. */
void flam_draft_see (FlamDraft *draft, FlamId node, gint64 time);
/* Upside down into `inverted`, which holds a root alone. `end`, a value a node
 * of `forward`: where its self went, or FLAM_NONE for none. */
gboolean flam_draft_invert (const FlamDraft *forward,
                            FlamDraft *inverted,
                            FlamId *end,
                            const FlamProgress *progress,
                            GError **error);
/* Room for the columns that all trees have. */
void flam_tree_allocate (FlamTree *tree, guint32 n);
/* The splits of all nodes' selves -> those of their totals. */
void flam_tree_sum_splits (FlamTree *tree);

/* The tree's columns, in preorder. Returns the number of each node in it,
 * FLAM_NONE for those without weight; g_free. */
FlamId *
flam_draft_number (FlamTree *tree, const FlamDraft *draft, FlamTreeOrder order);

/* All three steps in one, where each stack has one node, and the order of time
 * is not asked for. `self` is the weight of each shown stack, and a last one of
 * what has none. Returns the node of each shown stack, FLAM_NONE for those
 * without weight, 0 of the last one; NULL when cancelled; g_free. */
FlamId *flam_tree_merge (FlamTree *tree,
                         const FlamShown *shown,
                         const gint64 *self,
                         FlamTreeOrder order,
                         const FlamProgress *progress,
                         GError **error);

G_END_DECLS
