/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tree-private.h"

/* Shown stacks -> tree, without a hash. Each node has the list of the stacks
 * that are merged in it, and its children are made all at once, from the
 * children of these stacks: so one number for each key is enough to find a
 * child. Siblings are stored together, and sorted once they are complete.
 *
 *    stacks             nodes                       preorder
 *    0 a                0 all                       all
 *    1 ├─ b        ──▶  1 a     stacks 0, 3    ──▶  ├─ a
 *    2 │  └─ c          2 b            1, 4         │  └─ b
 *    3 a                3 c            2            │     └─ c
 *    4 └─ b
 *
 * The families come in the order of their parents' first stacks. A stack's
 * number is greater than its caller's, and mostly not by much, so every loop
 * goes through memory from one end to the other. Only the preorder is a
 * different order: each node's number is written to its place there, and each
 * node is read once in random order. */

#define STEP_STACKS (1 << 14)
#define ZEROED 4096 /* stacks: zeroed at once, while they are in the cache */
#define FEW 16
#define AHEAD 16 /* nodes: their memory is prefetched this far ahead */

/* Lists hold a stack's number + 1; 0 is the end of a list. */
typedef struct
{
  gint64 total;
  guint32 child; /* the first of its children that have weight */
  guint32 next;  /* next of its siblings; then of the stacks of its node */
} Stack;

/* A node while its siblings are collected. */
typedef struct
{
  gint64 total;
  gint64 heaviest; /* the total of its best stack */
  FlamId best;     /* the heaviest of its stacks: its frame is the node's */
  FlamId first;    /* of its stacks: the head of their list */
} Sibling;

typedef struct
{
  gint64 total;
  FlamFrameId frame;
  guint32 at; /* the first of its stacks; then the place of its next child in
                 the tree; finally its subtree_end */
} Node;

/* The data of a place in the tree. */
typedef struct
{
  FlamNodeId node;
  FlamId parent; /* the place of its parent */
} Place;

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
  Node *nodes;    /* parents first, siblings in their order */
  FlamId *parent; /* of each node; finally its place in the tree */
  guint32 n;
  FlamNodeId *node;  /* per shown stack, and for no stack */
  FlamColumn family; /* Sibling: the siblings that are being collected */
  guint32 met;       /* siblings of all families before this one */
  FlamId *latest;    /* per key: the last sibling made for it, numbered
                        consecutively through all families */
} Merge;

static void
merge_clear (Merge *merge)
{
  flam_cells_drop (merge->stacks);
  g_free (merge->own_key);
  flam_cells_drop (merge->nodes);
  flam_cells_drop (merge->parent);
  flam_cells_drop (merge->node);
  g_free (merge->latest);
  flam_column_clear (&merge->family);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Merge, merge_clear)

/* --- equality ------------------------------------------------------------- */

static gboolean
frame_equal (gconstpointer table, FlamFrameId frame, gconstpointer key)
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

/* Zeroes stacks from `least` up to `zeroed`, and some before them. Returns the
 * first zeroed one. */
static FlamStackId
zero_stacks (Stack *stacks, FlamId least, FlamId zeroed)
{
  FlamId first = least - MIN (least, ZEROED);

  memset (&stacks[first], 0, (zeroed - first) * sizeof *stacks);
  return first;
}

/* For each stack the weight at and below it, and the list of its children, in
 * their order. Returns how many have weight. */
static guint32
list_children (Merge *merge, gint64 *total)
{
  const FlamShown *shown = merge->shown;
  Stack *stacks = flam_new_cells (Stack, shown->n + 1);
  FlamId zeroed = shown->n + 1;
  guint32 n = 0;

  merge->stacks = stacks;
  for (FlamId s = shown->n; s-- > 0;)
    {
      FlamStackId prefix = shown->prefix[s];
      FlamId least = MIN (s, prefix);
      gint64 weight;
      guint32 *list;

      if (least < zeroed)
        zeroed = zero_stacks (stacks, least, zeroed);
      weight = stacks[s].total += merge->self[s];
      if (weight == 0)
        continue;
      list = prefix != FLAM_NONE ? &stacks[prefix].child : &merge->roots;
      *(prefix != FLAM_NONE ? &stacks[prefix].total : total) += weight;
      stacks[s].next = *list;
      *list = s + 1;
      n++;
    }
  return n;
}

/* --- siblings ------------------------------------------------------------- */

static int
compare_names (const Merge *merge, const Sibling *a, const Sibling *b)
{
  const FlamTree *tree = merge->tree;
  FlamShownKey x =
      flam_shown_key (tree->profile, tree->by, merge->shown->frame[a->best]);
  FlamShownKey y =
      flam_shown_key (tree->profile, tree->by, merge->shown->frame[b->best]);
  int order =
      strcmp (flam_tree_key_name (
                  tree->profile, tree->by, (FlamTreeKey){ x.thing }, FALSE),
              flam_tree_key_name (
                  tree->profile, tree->by, (FlamTreeKey){ y.thing }, FALSE));

  if (order == 0)
    order = (x.line > y.line) - (x.line < y.line);
  if (order == 0)
    order = (x.address > y.address) - (x.address < y.address);
  return order != 0 ? order : (a->first > b->first) - (a->first < b->first);
}

static int
compare_siblings (gconstpointer a, gconstpointer b, gpointer data)
{
  const Merge *merge = data;
  const Sibling *x = a;
  const Sibling *y = b;

  if (merge->order == FLAM_ORDER_TOTAL && x->total != y->total)
    return x->total > y->total ? -1 : 1;
  return compare_names (merge, x, y);
}

/* Most families are small. */
static void
sort_siblings (const Merge *merge, Sibling *siblings, guint n)
{
  if (n > FEW)
    {
      g_qsort_with_data (siblings,
                         (int)n,
                         sizeof *siblings,
                         compare_siblings,
                         (gpointer)merge);
      return;
    }
  for (guint i = 1; i < n; i++)
    {
      Sibling sibling = siblings[i];
      guint to = i;

      for (; to > 0 && compare_siblings (
                           &siblings[to - 1], &sibling, (gpointer)merge) > 0;
           to--)
        siblings[to] = siblings[to - 1];
      siblings[to] = sibling;
    }
}

static void
add_stack (Merge *merge, Sibling *sibling, FlamStackId stack)
{
  Stack *own = &merge->stacks[stack];

  sibling->total += own->total;
  if (own->total > sibling->heaviest ||
      (own->total == sibling->heaviest && stack < sibling->best))
    {
      sibling->heaviest = own->total;
      sibling->best = stack;
    }
  if (stack < sibling->first)
    {
      own->next = sibling->first + 1;
      sibling->first = stack;
    }
  else
    {
      own->next = merge->stacks[sibling->first].next;
      merge->stacks[sibling->first].next = stack + 1;
    }
}

static void
add_sibling (Merge *merge, FlamStackId stack)
{
  Stack *own = &merge->stacks[stack];

  own->next = 0;
  flam_column_append (&merge->family,
                      Sibling,
                      ((Sibling){ own->total, own->total, stack, stack }));
}

/* Distributes a list of stacks over the siblings of the family. */
static void
add_stacks (Merge *merge, guint32 list)
{
  const FlamFrameId *frames = merge->shown->frame;

  while (list != 0)
    {
      FlamStackId stack = list - 1;
      FlamId *latest = &merge->latest[merge->key[frames[stack]]];

      list = merge->stacks[stack].next;
      if (*latest > merge->met)
        {
          add_stack (merge,
                     &flam_column_at (
                         &merge->family, Sibling, *latest - merge->met - 1),
                     stack);
          continue;
        }
      add_sibling (merge, stack);
      *latest = merge->met + merge->family.n;
    }
}

/* --- nodes ---------------------------------------------------------------- */

static void
add_node (Merge *merge, const Sibling *sibling, FlamId parent)
{
  FlamNodeId node = merge->n++;

  merge->nodes[node] = (Node){ sibling->total,
                               merge->shown->frame[sibling->best],
                               sibling->first };
  merge->parent[node] = parent;
  for (guint32 list = sibling->first + 1; list != 0;
       list = merge->stacks[list - 1].next)
    merge->node[list - 1] = node;
}

/* Siblings whose positive and negative weights add up to 0 are dropped. */
static void
add_family (Merge *merge, FlamId parent)
{
  Sibling *siblings = merge->family.data;
  guint n = 0;

  for (guint i = 0; i < merge->family.n; i++)
    if (siblings[i].total != 0)
      siblings[n++] = siblings[i];
  sort_siblings (merge, siblings, n);
  for (guint i = 0; i < n; i++)
    add_node (merge, &siblings[i], parent);
  merge->met += merge->family.n;
  merge->family.n = 0;
}

static gboolean
merge_all (Merge *merge, const FlamProgress *progress, GError **error)
{
  const Stack *stacks = merge->stacks;

  add_stacks (merge, merge->roots);
  add_family (merge, 0);
  for (FlamId s = 0; s < merge->shown->n; s++)
    {
      FlamNodeId node = merge->node[s];

      if (s % STEP_STACKS == 0 &&
          !flam_progress_step (
              progress, 0.5 + 0.4 * s / (merge->shown->n + 1.0), error))
        return FALSE;
      if ((stacks[s].child == 0 && stacks[s].next == 0) || node == FLAM_NONE ||
          merge->nodes[node].at != s)
        continue;
      if (stacks[s].next == 0 && stacks[stacks[s].child - 1].next == 0)
        add_sibling (merge, stacks[s].child - 1);
      else
        for (guint32 list = s + 1; list != 0; list = stacks[list - 1].next)
          add_stacks (merge, stacks[list - 1].child);
      add_family (merge, node);
    }
  return TRUE;
}

/* --- preorder ------------------------------------------------------------- */

/* The first child comes right after its parent, the next after the first's
 * subtree. `parent` becomes the place of each node; until then `size` is the
 * size of each subtree. */
static void
number_nodes (Merge *merge, guint32 *size, Place *places)
{
  Node *nodes = merge->nodes;
  FlamId *parent = merge->parent;

  memset (size, 0, merge->n * sizeof *size);
  for (FlamId i = merge->n; i-- > 1;)
    size[parent[i]] += ++size[i];
  nodes[0].at = 1;
  parent[0] = 0;
  for (FlamId i = 1; i < merge->n; i++)
    {
      FlamId caller = parent[i];
      FlamId at = nodes[caller].at;

      nodes[caller].at += size[i];
      nodes[i].at = at + 1;
      parent[i] = at;
      places[at] = (Place){ i, parent[caller] };
    }
}

static void
put_root (const Merge *merge)
{
  FlamTree *tree = merge->tree;

  tree->parent[0] = FLAM_NONE;
  tree->subtree_end[0] = merge->n;
  tree->depth[0] = 0;
  tree->key[0].row = FLAM_NONE;
  if (tree->by == FLAM_BY_LINE)
    tree->line[0] = 0;
  tree->frame[0] = FLAM_NONE;
  tree->self[0] = tree->total[0] = merge->nodes[0].total;
}

/* A node's self is the part of its total that its children do not have. */
static void
put_node (FlamTree *tree, const Node *node, FlamId parent, FlamId to)
{
  FlamShownKey key = flam_shown_key (tree->profile, tree->by, node->frame);

  tree->parent[to] = parent;
  tree->subtree_end[to] = node->at;
  tree->depth[to] = tree->depth[parent] + 1;
  tree->max_depth = MAX (tree->max_depth, tree->depth[to]);
  tree->key[to].row = key.thing;
  if (tree->by == FLAM_BY_LINE)
    tree->line[to] = key.line;
  tree->frame[to] = node->frame;
  tree->self[to] = tree->total[to] = node->total;
  tree->self[parent] -= node->total;
}

/* The stacks are no longer needed: their memory is reused for the order of the
 * nodes. */
static void
put_in_preorder (Merge *merge)
{
  guint32 n = merge->n;
  guint32 *size = (guint32 *)(void *)merge->stacks;
  Place *places = (Place *)(void *)(size + n);

  number_nodes (merge, size, places);
  flam_tree_allocate (merge->tree, n);
  put_root (merge);
  for (FlamId i = 1; i < n; i++)
    {
      __builtin_prefetch (&merge->nodes[places[MIN (i + AHEAD, n - 1)].node]);
      put_node (
          merge->tree, &merge->nodes[places[i].node], places[i].parent, i);
    }
  for (FlamId s = 0; s < merge->shown->n; s++)
    if (merge->node[s] != FLAM_NONE)
      merge->node[s] = merge->parent[merge->node[s]];
}

/* --- public functions ----------------------------------------------------- */

FlamId *
flam_tree_merge_all (FlamTree *tree,
                     const FlamShown *shown,
                     const gint64 *self,
                     FlamTreeOrder order,
                     const FlamProgress *progress,
                     GError **error)
{
  g_auto (Merge) merge = { shown, self, tree, order };
  gint64 total = self[shown->n];
  guint32 most;

  flam_column_init (&merge.family, sizeof (Sibling));
  number_keys (&merge);
  most = list_children (&merge, &total) + 1;
  merge.nodes = flam_new_cells (Node, most);
  merge.parent = flam_new_cells (FlamId, most);
  merge.nodes[0] = (Node){ total, FLAM_NONE, FLAM_NONE };
  merge.n = 1;
  merge.latest = g_new0 (FlamId, merge.n_keys + 1);
  merge.node = flam_new_cells (FlamId, shown->n + 1);
  memset (merge.node, 0xff, shown->n * sizeof *merge.node);
  merge.node[shown->n] = 0;
  if (!merge_all (&merge, progress, error))
    return NULL;
  put_in_preorder (&merge);
  return g_steal_pointer (&merge.node);
}
