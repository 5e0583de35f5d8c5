/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tree-private.h"

/* Shown stacks -> tree, without a look-up. Each node has the list of the stacks
 * that are merged in it, and its children are made all at once, from the
 * children of these stacks: so that one number a key says which of them it is.
 * Siblings stand together, and are sorted when they are all there: the nodes
 * come row by row, and in a row from left to right.
 *
 *    stacks             nodes                       preorder
 *    0 a                0 all                       all
 *    1 ├─ b        ──▶  1 a     stacks 0, 3    ──▶  ├─ a
 *    2 │  └─ c          2 b            1, 4         │  └─ b
 *    3 a                3 c            2            │     └─ c
 *    4 └─ b
 *
 * Preorder takes the next node of one row or of another: every row is read once
 * from left to right. */

#define STEP_NODES (1 << 14)
#define FEW 16
#define AHEAD 16 /* nodes: their memory is asked for before it is needed */

/* Lists hold a stack's number + 1, 0 is their end. */
typedef struct
{
  gint64 total;
  guint32 child; /* the first of its children that have weight */
  guint32 next;  /* of its siblings; then of the stacks of its node */
} Stack;

typedef struct
{
  gint64 self, total;
  FlamId best;    /* of its stacks the heaviest: has the frame */
  FlamId first;   /* the first of them; of sorted ones the frame */
  guint32 stacks; /* list */
  FlamId child;   /* its first one */
} Node;

typedef struct
{
  const FlamShown *shown;
  const gint64 *self; /* per shown stack */
  FlamTree *tree;
  FlamTreeOrder order;
  Stack *stacks;
  guint32 roots;     /* list: stacks without a caller */
  const FlamId *key; /* per frame: a number for each thing */
  FlamId *own_key;
  FlamId n_keys;
  Node *nodes;
  guint32 n;
  FlamId *node; /* per shown stack, and of none */
  GArray *row;  /* FlamId: the first node of each */
} Merge;

static void
merge_clear (Merge *merge)
{
  g_free (merge->stacks);
  g_free (merge->own_key);
  g_free (merge->nodes);
  g_free (merge->node);
  g_clear_pointer (&merge->row, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Merge, merge_clear)

/* --- what is the same ----------------------------------------------------- */

static gboolean
frame_equal (gconstpointer table, FlamId frame, gconstpointer key)
{
  const FlamTree *tree = table;
  FlamShownKey own = flam_shown_key (tree->profile, tree->by, frame);

  return flam_shown_key_equal (&own, key);
}

static void
number_keys (Merge *merge)
{
  const FlamTree *tree = merge->tree;
  const FlamFrames *frames = &tree->profile->frames;
  FlamInterner interner;

  if (tree->by == FLAM_BY_FUNCTION)
    {
      merge->key = frames->function;
      merge->n_keys = tree->profile->functions.n;
      return;
    }
  flam_interner_init (&interner);
  merge->own_key = g_new (FlamId, frames->n + 1);
  for (FlamId f = 0; f < frames->n; f++)
    {
      FlamShownKey key = flam_shown_key (tree->profile, tree->by, f);
      guint32 hash = flam_hash_pair ((guint64)key.thing << 32 | key.line,
                                     ((guint64)key.file << 32) + key.address);
      FlamSlot *slot =
          flam_interner_find (&interner, hash, frame_equal, tree, &key);

      if (slot->id == FLAM_NONE)
        {
          *slot = (FlamSlot){ hash, f };
          interner.used++;
        }
      merge->own_key[f] = slot->id;
    }
  flam_interner_clear (&interner);
  merge->key = merge->own_key;
  merge->n_keys = frames->n;
}

/* --- stacks -------------------------------------------------------------- */

/* Of each what is at and below it, and the list of its children, in their
 * order. Returns how many have weight. */
static guint32
list_children (Merge *merge, gint64 *total)
{
  const FlamShown *shown = merge->shown;
  Stack *stacks = flam_new_cells0 (Stack, shown->n + 1);
  guint32 n = 0;

  merge->stacks = stacks;
  for (FlamId s = shown->n; s-- > 0;)
    {
      FlamId prefix = shown->prefix[s];
      gint64 weight = stacks[s].total += merge->self[s];
      guint32 *list =
          prefix != FLAM_NONE ? &stacks[prefix].child : &merge->roots;

      if (weight == 0)
        continue;
      *(prefix != FLAM_NONE ? &stacks[prefix].total : total) += weight;
      stacks[s].next = *list;
      *list = s + 1;
      n++;
    }
  return n;
}

/* --- nodes --------------------------------------------------------------- */

static int
compare_names (const Merge *merge, const Node *a, const Node *b)
{
  const FlamTree *tree = merge->tree;
  FlamShownKey x =
      flam_shown_key (tree->profile, tree->by, merge->shown->frame[a->best]);
  FlamShownKey y =
      flam_shown_key (tree->profile, tree->by, merge->shown->frame[b->best]);
  int order =
      strcmp (flam_tree_key_name (tree->profile, tree->by, x.thing, FALSE),
              flam_tree_key_name (tree->profile, tree->by, y.thing, FALSE));

  if (order == 0)
    order = (x.line > y.line) - (x.line < y.line);
  if (order == 0)
    order = (x.address > y.address) - (x.address < y.address);
  return order != 0 ? order : (a->first > b->first) - (a->first < b->first);
}

static int
compare_nodes (gconstpointer a, gconstpointer b, gpointer data)
{
  const Merge *merge = data;
  const Node *x = a;
  const Node *y = b;

  if (merge->order == FLAM_ORDER_TOTAL && x->total != y->total)
    return x->total > y->total ? -1 : 1;
  return compare_names (merge, x, y);
}

/* Most families are small. */
static void
sort_siblings (const Merge *merge, Node *nodes, guint n)
{
  if (n > FEW)
    {
      g_qsort_with_data (
          nodes, (int)n, sizeof *nodes, compare_nodes, (gpointer)merge);
      return;
    }
  for (guint i = 1; i < n; i++)
    {
      Node node = nodes[i];
      guint to = i;

      for (;
           to > 0 && compare_nodes (&nodes[to - 1], &node, (gpointer)merge) > 0;
           to--)
        nodes[to] = nodes[to - 1];
      nodes[to] = node;
    }
}

/* Siblings whose weights took one another away are none. */
static guint
keep_heavy (Node *nodes, guint n)
{
  guint kept = 0;

  for (guint i = 0; i < n; i++)
    if (nodes[i].total != 0)
      nodes[kept++] = nodes[i];
  return kept;
}

/* While they are at hand: preorder is another order than theirs. */
static void
find_frames (const Merge *merge, Node *nodes, guint n)
{
  for (guint i = 0; i < n; i++)
    nodes[i].first = merge->shown->frame[nodes[i].best];
}

static void
add_stack (Merge *merge, Node *node, FlamId stack)
{
  Stack *own = &merge->stacks[stack];
  gint64 best = merge->stacks[node->best].total;

  node->self += merge->self[stack];
  node->total += own->total;
  if (own->total > best || (own->total == best && stack < node->best))
    node->best = stack;
  node->first = MIN (node->first, stack);
  own->next = node->stacks;
  node->stacks = stack + 1;
}

/* Sorts a list of stacks into the nodes from `first` on. `latest`, per key: the
 * node that was made for it last. */
static void
add_stacks (Merge *merge, guint32 list, guint32 first, FlamId *latest)
{
  const FlamId *frames = merge->shown->frame;

  while (list != 0)
    {
      FlamId stack = list - 1;
      FlamId *node = &latest[merge->key[frames[stack]]];

      list = merge->stacks[stack].next;
      if (*node >= first)
        {
          add_stack (merge, &merge->nodes[*node], stack);
          continue;
        }
      *node = merge->n++;
      merge->nodes[*node] = (Node){ merge->self[stack],
                                    merge->stacks[stack].total,
                                    stack,
                                    stack,
                                    stack + 1,
                                    0 };
      merge->stacks[stack].next = 0;
    }
}

/* The nodes after this one have their stacks anywhere: they are asked for, and
 * then the first of these stacks' children. */
static void
look_ahead (const Merge *merge, FlamId node)
{
  const Stack *stacks = merge->stacks;
  guint32 child;

  if (node + 2 * AHEAD < merge->n)
    __builtin_prefetch (&stacks[merge->nodes[node + 2 * AHEAD].stacks - 1]);
  if (node == 0 || node + AHEAD >= merge->n)
    return;
  child = stacks[merge->nodes[node + AHEAD].stacks - 1].child;
  if (child == 0)
    return;
  __builtin_prefetch (&stacks[child - 1], 1);
  __builtin_prefetch (&merge->self[child - 1]);
  __builtin_prefetch (&merge->shown->frame[child - 1]);
}

static gboolean
merge_all (Merge *merge, const FlamProgress *progress, GError **error)
{
  g_autofree FlamId *latest = g_new0 (FlamId, merge->n_keys + 1);
  guint32 row_end = 1;
  FlamId root = 0;

  g_array_append_val (merge->row, root);
  for (FlamId i = 0; i < merge->n; i++)
    {
      guint32 first = merge->n;
      guint32 list = merge->nodes[i].stacks;

      if (i % STEP_NODES == 0 &&
          !flam_progress_step (
              progress, 0.5 + 0.4 * i / (merge->shown->n + 1.0), error))
        return FALSE;
      if (i == row_end)
        {
          g_array_append_val (merge->row, i);
          row_end = merge->n;
        }
      look_ahead (merge, i);
      if (i == 0)
        add_stacks (merge, merge->roots, first, latest);
      for (; list != 0; list = merge->stacks[list - 1].next)
        {
          merge->node[list - 1] = i;
          add_stacks (merge, merge->stacks[list - 1].child, first, latest);
        }
      merge->n = first + keep_heavy (&merge->nodes[first], merge->n - first);
      sort_siblings (merge, &merge->nodes[first], merge->n - first);
      find_frames (merge, &merge->nodes[first], merge->n - first);
      merge->nodes[i].child = first;
    }
  merge->nodes[merge->n].child = merge->n;
  return TRUE;
}

/* --- preorder ------------------------------------------------------------- */

/* What the nodes of a row are taken by. */
typedef struct
{
  FlamId next; /* to be taken */
  FlamId path; /* the node of the tree that was taken last */
  guint left;  /* of its siblings, itself too */
} Row;

static void
put_node (const Merge *merge, const Node *node, FlamId to)
{
  FlamTree *tree = merge->tree;
  FlamId frame = node->first;
  FlamShownKey key = flam_shown_key (tree->profile, tree->by, frame);

  tree->function[to] = key.thing;
  tree->line[to] = key.line;
  tree->frame[to] = frame;
  tree->self[to] = node->self;
  tree->total[to] = node->total;
}

static void
put_root (const Merge *merge)
{
  FlamTree *tree = merge->tree;

  tree->function[0] = FLAM_NONE;
  tree->line[0] = 0;
  tree->frame[0] = FLAM_NONE;
  tree->self[0] = merge->nodes[0].self;
  tree->total[0] = merge->nodes[0].total;
}

static void
put_in_preorder (Merge *merge)
{
  FlamTree *tree = merge->tree;
  guint32 n_rows = merge->row->len;
  g_autofree FlamId *number = flam_new_cells (FlamId, merge->n);
  g_autofree Row *rows = g_new (Row, n_rows + 1);
  guint32 depth = 0;

  for (guint32 d = 0; d < n_rows; d++)
    rows[d].next = g_array_index (merge->row, FlamId, d);
  rows[0].left = 1;
  for (FlamId i = 0; i < merge->n; i++)
    {
      Row *row = &rows[depth];
      const Node *node = &merge->nodes[row->next];

      __builtin_prefetch (node + 4);
      number[row->next++] = i;
      tree->depth[i] = depth;
      tree->parent[i] = depth > 0 ? row[-1].path : FLAM_NONE;
      if (i == 0)
        put_root (merge);
      else
        put_node (merge, node, i);
      row->path = i;
      if (node[1].child > node->child)
        {
          rows[++depth].left = node[1].child - node->child;
          continue;
        }
      tree->subtree_end[i] = i + 1;
      for (; --rows[depth].left == 0 && depth > 0; depth--)
        tree->subtree_end[rows[depth - 1].path] = i + 1;
    }
  tree->max_depth = n_rows - 1;
  for (FlamId s = 0; s < merge->shown->n; s++)
    if (merge->node[s] != FLAM_NONE)
      merge->node[s] = number[merge->node[s]];
}

/* --- the front door ------------------------------------------------------- */

FlamId *
flam_tree_merge (FlamTree *tree,
                 const FlamShown *shown,
                 const gint64 *self,
                 FlamTreeOrder order,
                 const FlamProgress *progress,
                 GError **error)
{
  g_auto (Merge) merge = { shown, self, tree, order };
  gint64 total = self[shown->n];

  merge.row = g_array_new (FALSE, FALSE, sizeof (FlamId));
  number_keys (&merge);
  merge.nodes =
      flam_new_cells (Node, (gsize)list_children (&merge, &total) + 2);
  merge.nodes[0] = (Node){ self[shown->n], total, FLAM_NONE, FLAM_NONE, 0, 0 };
  merge.n = 1;
  merge.node = flam_new_cells (FlamId, shown->n + 1);
  memset (merge.node, 0xff, shown->n * sizeof *merge.node);
  merge.node[shown->n] = 0;
  if (!merge_all (&merge, progress, error))
    return NULL;
  flam_tree_allocate (tree, merge.n);
  put_in_preorder (&merge);
  return g_steal_pointer (&merge.node);
}
