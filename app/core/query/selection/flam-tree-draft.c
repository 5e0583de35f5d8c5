/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tree-private.h"

/* The draft of a tree (flam-tree-private.h): how it is filled, inverted, and
 * put in order. */

void
flam_draft_init (FlamDraft *draft, gboolean is_split, gboolean is_timed)
{
  draft->is_split = is_split;
  draft->is_timed = is_timed;
  flam_column_init (&draft->first, sizeof (gint64));
  flam_column_init (&draft->split, sizeof (FlamStateSplit));
  flam_column_init (&draft->status, sizeof (guint8));
  flam_column_init (&draft->keys, sizeof (FlamDraftKey));
  flam_column_init (&draft->self, sizeof (gint64));
  flam_column_init (&draft->frame, sizeof (FlamId));
  flam_column_init (&draft->frame_total, sizeof (gint64));
  flam_interner_init (&draft->interner);
}

void
flam_draft_clear (FlamDraft *draft)
{
  flam_column_clear (&draft->keys);
  flam_column_clear (&draft->self);
  flam_column_clear (&draft->frame);
  flam_column_clear (&draft->frame_total);
  flam_column_clear (&draft->status);
  flam_column_clear (&draft->split);
  flam_column_clear (&draft->first);
  flam_interner_clear (&draft->interner);
}

static gboolean
draft_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamDraftKey *a = flam_draft_key ((const FlamDraft *)table, row);
  const FlamDraftKey *b = key;

  return a->parent == b->parent && a->key.row == b->key.row &&
         a->file == b->file && a->line == b->line && a->address == b->address &&
         a->top == b->top;
}

FlamNodeId
flam_draft_node (FlamDraft *draft, const FlamDraftKey *key)
{
  guint32 hash = flam_hash_pair (
      (guint64)key->parent << 32 | key->key.row,
      ((guint64)key->file << 32 ^ (guint64)key->line << 1 ^ key->top) +
          key->address);
  FlamSlot *slot =
      flam_interner_find (&draft->interner, hash, draft_equal, draft, key);

  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, draft->keys.n };
  draft->interner.used++;
  flam_column_append (&draft->keys, FlamDraftKey, *key);
  flam_column_append (&draft->self, gint64, 0);
  flam_column_append (&draft->frame, FlamId, FLAM_NONE);
  flam_column_append (&draft->frame_total, gint64, -1);
  flam_column_append (&draft->status, guint8, 0);
  if (draft->is_split)
    flam_column_append (&draft->split, FlamStateSplit, (FlamStateSplit){ 0 });
  if (draft->is_timed)
    flam_column_append (&draft->first, gint64, G_MAXINT64);
  return slot->id;
}

/* `split` may be NULL. */
void
flam_draft_add (FlamDraft *draft,
                FlamNodeId node,
                gint64 weight,
                const FlamStateSplit *split)
{
  FlamStateSplit *own;

  flam_column_at (&draft->self, gint64, node) += weight;
  if (!draft->is_split || split == NULL)
    return;
  own = &flam_column_at (&draft->split, FlamStateSplit, node);
  for (guint i = 0; i < FLAM_N_STATES; i++)
    own->weight[i] += split->weight[i];
}

void
flam_draft_offer_frame (FlamDraft *draft,
                        FlamNodeId node,
                        FlamFrameId frame,
                        gint64 total)
{
  if (total <= flam_column_at (&draft->frame_total, gint64, node))
    return;
  flam_column_at (&draft->frame_total, gint64, node) = total;
  flam_column_at (&draft->frame, FlamId, node) = frame;
}

void
flam_draft_mark (FlamDraft *draft, FlamNodeId node, guint status)
{
  flam_column_at (&draft->status, guint8, node) |= (guint8)status;
}

void
flam_draft_see (FlamDraft *draft, FlamNodeId node, gint64 time)
{
  gint64 *first = &flam_column_at (&draft->first, gint64, node);

  *first = MIN (*first, time);
}

static const FlamStateSplit *
split_of (const FlamDraft *draft, FlamNodeId node)
{
  return draft->is_split ? &flam_column_at (&draft->split, FlamStateSplit, node)
                         : NULL;
}

/* --- upside down ------------------------------------------------ */

/* Puts every path with weight, walked from its leaf to its root, into a new
 * draft. The weight is stored at the path's last node, where the stack
 * began. */
gboolean
flam_draft_invert (const FlamDraft *forward,
                   FlamDraft *inverted,
                   FlamId *end,
                   const FlamProgress *progress,
                   GError **error)
{
  flam_draft_add (inverted,
                  0,
                  flam_column_at (&forward->self, gint64, 0),
                  split_of (forward, 0));
  end[0] = 0;
  for (FlamId leaf = 1; leaf < forward->keys.n; leaf++)
    {
      gint64 self = flam_column_at (&forward->self, gint64, leaf);
      FlamId to = 0;

      if (leaf % 1024 == 0 &&
          !flam_progress_step (
              progress, 0.7 + 0.1 * leaf / forward->keys.n, error))
        return FALSE;
      for (FlamId from = leaf; self != 0 && from != 0;
           from = flam_draft_key (forward, from)->parent)
        {
          FlamDraftKey key = *flam_draft_key (forward, from);

          key.parent = to;
          to = flam_draft_node (inverted, &key);
          flam_draft_offer_frame (
              inverted,
              to,
              flam_column_at (&forward->frame, FlamId, from),
              self);
          flam_draft_mark (
              inverted, to, flam_column_at (&forward->status, guint8, from));
          if (forward->is_timed)
            flam_draft_see (
                inverted, to, flam_column_at (&forward->first, gint64, leaf));
        }
      if (self != 0)
        flam_draft_add (inverted, to, self, split_of (forward, leaf));
      end[leaf] = self != 0 ? to : FLAM_NONE;
    }
  return TRUE;
}

/* --- draft -> preorder ------------------------------------------- */

typedef struct
{
  const FlamDraft *draft;
  const FlamProfile *profile;
  FlamBy by;
  FlamTreeOrder order;
  gint64 *total;
} Siblings;

static int
compare_siblings (gconstpointer a, gconstpointer b, gpointer data)
{
  const Siblings *s = data;
  FlamId x = *(const FlamId *)a;
  FlamId y = *(const FlamId *)b;
  const FlamDraftKey *key_x = flam_draft_key (s->draft, x);
  const FlamDraftKey *key_y = flam_draft_key (s->draft, y);
  int order;

  if (s->draft->is_timed)
    {
      gint64 first_x = flam_column_at (&s->draft->first, gint64, x);
      gint64 first_y = flam_column_at (&s->draft->first, gint64, y);

      if (first_x != first_y)
        return first_x < first_y ? -1 : 1;
    }
  if (s->order == FLAM_ORDER_TOTAL && s->total[x] != s->total[y])
    return s->total[x] > s->total[y] ? -1 : 1;
  order =
      strcmp (flam_tree_key_name (s->profile, s->by, key_x->key, key_x->top),
              flam_tree_key_name (s->profile, s->by, key_y->key, key_y->top));
  if (order == 0)
    order = (key_x->line > key_y->line) - (key_x->line < key_y->line);
  if (order == 0)
    order =
        (key_x->address > key_y->address) - (key_x->address < key_y->address);
  return order != 0 ? order : (x > y) - (x < y);
}

/* The children of all nodes in one array, sorted: those of node i are
 * children[first[i]] .. children[first[i + 1]]. */
static FlamId *
sort_children (const Siblings *siblings, guint32 *first)
{
  const FlamDraft *draft = siblings->draft;
  guint32 n = draft->keys.n;
  FlamNodeId *children = g_new (FlamNodeId, n + 1);
  g_autofree guint32 *fill = g_new0 (guint32, n + 1);

  for (FlamId i = 1; i < n; i++)
    if (siblings->total[i] != 0)
      first[flam_draft_key (draft, i)->parent + 1]++;
  for (FlamId i = 0; i < n; i++)
    first[i + 1] += first[i];
  for (FlamId i = 1; i < n; i++)
    {
      FlamId parent = flam_draft_key (draft, i)->parent;

      if (siblings->total[i] != 0)
        children[first[parent] + fill[parent]++] = i;
    }
  for (FlamId i = 0; i < n; i++)
    if (first[i + 1] - first[i] > 1)
      g_qsort_with_data (children + first[i],
                         first[i + 1] - first[i],
                         sizeof *children,
                         compare_siblings,
                         (gpointer)siblings);
  return children;
}

static gint64 *
sum_totals (const FlamDraft *draft, guint32 *sizes)
{
  guint32 n = draft->keys.n;
  gint64 *total = g_new (gint64, n);

  memcpy (total, draft->self.data, n * sizeof *total);
  for (FlamId i = n; i-- > 1;)
    {
      FlamId parent = flam_draft_key (draft, i)->parent;

      total[parent] += total[i];
      if (total[i] == 0)
        continue;
      sizes[i]++;
      sizes[parent] += sizes[i];
    }
  sizes[0]++;
  return total;
}

void
flam_tree_allocate (FlamTree *tree, guint32 n)
{
  tree->n = n;
  tree->parent = flam_new_cells (FlamId, n);
  tree->subtree_end = flam_new_cells (FlamId, n);
  tree->depth = flam_new_cells (guint32, n);
  tree->key = flam_new_cells (FlamTreeKey, n);
  tree->line = tree->by == FLAM_BY_LINE ? flam_new_cells (guint32, n) : NULL;
  tree->frame = flam_new_cells (FlamId, n);
  tree->self = flam_new_cells (gint64, n);
  tree->total = flam_new_cells (gint64, n);
}

static void
add_node (FlamTree *tree,
          const FlamDraft *draft,
          FlamId from,
          FlamId to,
          FlamId parent,
          guint32 size,
          gint64 total)
{
  const FlamDraftKey *key = flam_draft_key (draft, from);

  tree->parent[to] = parent;
  tree->subtree_end[to] = to + size;
  tree->depth[to] = parent == FLAM_NONE ? 0 : tree->depth[parent] + 1;
  tree->key[to] = key->key;
  if (tree->line != NULL)
    tree->line[to] = key->line;
  tree->frame[to] = flam_column_at (&draft->frame, FlamId, from);
  tree->self[to] = flam_column_at (&draft->self, gint64, from);
  tree->total[to] = total;
  tree->max_depth = MAX (tree->max_depth, tree->depth[to]);
  if (tree->split != NULL)
    tree->split[to] = *split_of (draft, from);
  if (tree->status != NULL)
    tree->status[to] = flam_column_at (&draft->status, guint8, from);
}

void
flam_tree_sum_splits (FlamTree *tree)
{
  for (FlamId i = tree->n; i-- > 1;)
    for (guint s = 0; s < FLAM_N_STATES; s++)
      tree->split[tree->parent[i]].weight[s] += tree->split[i].weight[s];
}

/* In FlamDraft parents come before their children, so each node numbers its
 * children: the first comes right after it, the next after the first's
 * subtree. */
FlamId *
flam_draft_number (FlamTree *tree, const FlamDraft *draft, FlamTreeOrder order)
{
  guint32 n = draft->keys.n;
  g_autofree guint32 *sizes = g_new0 (guint32, n + 1);
  g_autofree guint32 *first = g_new0 (guint32, n + 2);
  FlamId *number = g_new (FlamId, n);
  g_autofree gint64 *total = sum_totals (draft, sizes);
  Siblings siblings = { draft, tree->profile, tree->by, order, total };
  g_autofree FlamNodeId *children = sort_children (&siblings, first);

  flam_tree_allocate (tree, sizes[0]);
  if (draft->is_split)
    tree->split = g_new (FlamStateSplit, tree->n);
  if (flam_profile_statuses (tree->profile) != 0)
    tree->status = g_new0 (guint8, tree->n);
  memset (number, 0xff, n * sizeof *number);
  number[0] = 0;
  add_node (tree, draft, 0, 0, FLAM_NONE, sizes[0], total[0]);
  for (FlamId i = 0; i < n; i++)
    {
      FlamId next = number[i] + 1;

      if (i > 0 && total[i] == 0)
        continue;
      for (guint32 c = first[i]; c < first[i + 1]; c++)
        {
          FlamNodeId child = children[c];

          number[child] = next;
          add_node (
              tree, draft, child, next, number[i], sizes[child], total[child]);
          next += sizes[child];
        }
    }
  if (tree->split != NULL)
    flam_tree_sum_splits (tree);
  return number;
}
