/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cores.h"
#include "flam-tree-piece.h"

/* A large tree, merged on several cores. The nodes on top are merged as in one
 * piece, until each node that is left has few stacks at and below it. Such
 * nodes are independent of one another: nothing below one merges with anything
 * below another. Each part is a number of them, with copies of all their stacks
 * side by side, so that it fits into a cache; and the subtree of each is one
 * run of the tree.
 *
 *    stacks                   top          parts           tree
 *    0 main                   main         1  draw ──▶     main
 *    1 ├─ draw        ──▶     ├─ draw ┄┄┄┄┄┄┄ └─ box       ├─ draw
 *    2 │  └─ box              └─ read ┄┄┄┄ 2  read         │  └─ box
 *    3 └─ read                                └─ parse     └─ read
 *    4    └─ parse                                            └─ parse
 *
 * The result is the same as in one piece, whatever the number of cores. */

#define PARTS_PER_CORE 8 /* parts differ in size: a core takes the next one */
#define MAX_PARTS 200
#define NODES_OF_A_PART 2 /* at least, if none is too large for it */
#define FEW_NODES 4       /* on top: at most one node for this many stacks */
#define TOP 0
#define AHEAD 16

typedef struct
{
  guint32 first;    /* of all parts' stacks */
  guint32 n, room;  /* of these */
  FlamColumn roots; /* FlamNodeId: of the top */
  FlamTreePiece piece;
  FlamPiecePlace *places;
  guint32 max_depth;
} Part;

typedef struct
{
  FlamTree *tree;
  const FlamShown *shown;
  guint n_cores;
  FlamTreeKeys keys;
  FlamTreePiece top;
  guint32 *count;    /* per stack: those at and below it that have weight */
  FlamColumn counts; /* guint32, per node of the top: the same */
  guint32 n;         /* stacks with weight */
  guint8 *part_of;   /* per node of the top: TOP or a part */
  guint32 *rank;  /* per node of the top: its number among the part's roots */
  FlamId *place;  /* per node of the top: in the tree */
  guint32 *size;  /* per node of the top: of its subtree */
  guint8 *owner;  /* per stack: the part that has it; TOP: none */
  guint32 *local; /* per stack: its number in the part */
  FlamTreePiece all; /* the memory of all parts: kept for a next tree */
  FlamFrameId *all_frame;
  Part parts[MAX_PARTS];
  guint n_parts; /* with the unused first one */
} Parts;

static void
parts_free (Parts *parts)
{
  for (guint i = 0; i < parts->n_parts; i++)
    {
      Part *part = &parts->parts[i];

      flam_column_clear (&part->roots);
      flam_column_clear (&part->piece.family);
      g_free (part->piece.latest);
    }
  flam_tree_piece_clear (&parts->all);
  flam_cells_drop (parts->all_frame);
  flam_tree_piece_clear (&parts->top);
  flam_tree_keys_clear (&parts->keys);
  flam_column_clear (&parts->counts);
  flam_cells_drop (parts->count);
  flam_cells_drop (parts->owner);
  flam_cells_drop (parts->local);
  g_free (parts->part_of);
  g_free (parts->rank);
  g_free (parts->place);
  g_free (parts->size);
  g_free (parts);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Parts, parts_free)

/* --- the top -------------------------------------------------------------- */

static void
count_of_nodes (Parts *parts)
{
  const FlamTreePiece *top = &parts->top;

  for (FlamNodeId node = parts->counts.n; node < top->n; node++)
    {
      guint32 count = 0;

      for (guint32 list = top->nodes[node].at + 1; list != 0;
           list = top->stacks[list - 1].next)
        count += parts->count[list - 1];
      flam_column_append (&parts->counts, guint32, count);
    }
}

/* FALSE: nearly all of the tree is on top. */
static gboolean
merge_top (Parts *parts, guint32 roots, guint32 most)
{
  FlamTreePiece *top = &parts->top;

  flam_column_append (&parts->counts, guint32, parts->n);
  flam_tree_piece_add_list (top, roots, 0);
  count_of_nodes (parts);
  for (FlamNodeId node = 1; node < top->n; node++)
    if (flam_column_at (&parts->counts, guint32, node) > most)
      {
        flam_tree_piece_add_children (top, node);
        count_of_nodes (parts);
      }
  return top->n <= parts->n / FEW_NODES + 1;
}

/* --- the parts ------------------------------------------------------------ */

static Part *
add_part (Parts *parts)
{
  Part *part = &parts->parts[parts->n_parts++];

  flam_column_init (&part->roots, sizeof (FlamNodeId));
  return part;
}

/* Fills the parts with the nodes that were not merged further. */
static void
assign_nodes (Parts *parts, guint32 most, guint32 size)
{
  guint32 n = parts->top.n;
  Part *part = add_part (parts);

  parts->part_of = g_new0 (guint8, n);
  parts->rank = g_new (guint32, n);
  part = add_part (parts);
  for (FlamNodeId node = 1; node < n; node++)
    {
      guint32 count = flam_column_at (&parts->counts, guint32, node);

      if (count > most)
        continue;
      if (part->room >= size && parts->n_parts < MAX_PARTS)
        part = add_part (parts);
      part->room += count;
      parts->part_of[node] = (guint8)(parts->n_parts - 1);
      parts->rank[node] = (guint32)part->roots.n;
      flam_column_append (&part->roots, FlamNodeId, node);
    }
}

static void
allocate_parts (Parts *parts)
{
  FlamTreePiece *all = &parts->all;
  guint32 n = 0;

  for (guint i = 1; i < parts->n_parts; i++)
    {
      parts->parts[i].first = n;
      n += parts->parts[i].room;
    }
  flam_tree_piece_reserve (all, n + 1);
  all->stacks = flam_new_cells (FlamPieceStack, n + 1);
  all->node = flam_new_cells (FlamId, n + 1);
  parts->all_frame = flam_new_cells (FlamFrameId, n + 1);
}

/* A stack belongs to the part of its node, or else of its caller. */
static void
assign_stacks (Parts *parts)
{
  const FlamShown *shown = parts->shown;
  const FlamNodeId *node = parts->top.node;

  parts->owner = flam_new_cells (guint8, shown->n + 1);
  parts->local = flam_new_cells (guint32, shown->n + 1);
  for (FlamId s = 0; s < shown->n; s++)
    {
      FlamStackId prefix = shown->prefix[s];
      guint owner = TOP;

      if (node[s] != FLAM_NONE)
        owner = parts->part_of[node[s]];
      else if (prefix != FLAM_NONE && parts->count[s] != 0)
        owner = parts->owner[prefix];
      parts->owner[s] = (guint8)owner;
      if (owner != TOP)
        parts->local[s] = parts->parts[owner].n++;
    }
}

/* Copies the stacks of every so many parts. The stacks are read from one end to
 * the other, and each part is written so: if each part looked for its own, all
 * of them would read most of the memory. Until the lists are made, `next` is
 * the caller's number in the part, or that of the root + the number of stacks.
 */
static void
copy_share (gpointer data, guint core)
{
  const Parts *parts = data;
  const FlamShown *shown = parts->shown;
  const FlamPieceStack *from = parts->top.stacks;
  const FlamNodeId *node = parts->top.node;

  for (FlamId s = 0; s < shown->n; s++)
    {
      guint owner = parts->owner[s];
      const Part *part = &parts->parts[owner];
      guint32 at;

      if (owner == TOP || owner % parts->n_cores != core)
        continue;
      at = part->first + parts->local[s];
      parts->all_frame[at] = shown->frame[s];
      parts->all.stacks[at] =
          (FlamPieceStack){ from[s].total,
                            0,
                            node[s] != FLAM_NONE
                                ? part->n + parts->rank[node[s]]
                                : parts->local[shown->prefix[s]] };
    }
}

/* --- a part --------------------------------------------------------------- */

static void
list_stacks (FlamTreePiece *piece, guint32 n_roots)
{
  FlamPieceStack *stacks = piece->stacks;

  for (guint32 i = piece->n_stacks; i-- > 0;)
    {
      guint32 above = stacks[i].next;
      guint32 *list;

      piece->node[i] =
          above >= piece->n_stacks ? above - piece->n_stacks : FLAM_NONE;
      list = above >= piece->n_stacks ? &piece->nodes[piece->node[i]].at
                                      : &stacks[above].child;
      stacks[i].next = *list;
      *list = i + 1;
    }
  for (guint32 k = 0; k < n_roots; k++)
    piece->nodes[k].at--;
}

static void
merge_part (gpointer data, guint i)
{
  Parts *parts = data;
  Part *part = &parts->parts[i + 1];
  FlamTreePiece *piece = &part->piece;
  const FlamTreePiece *all = &parts->all;
  guint32 *size;

  flam_tree_piece_init (piece, &parts->keys, part->n);
  piece->frame = parts->all_frame + part->first;
  piece->stacks = all->stacks + part->first;
  piece->node = all->node + part->first;
  piece->nodes = all->nodes + part->first;
  piece->parent = all->parent + part->first;
  piece->room = part->room;
  for (guint32 k = 0; k < part->roots.n; k++)
    {
      FlamNodeId node = flam_column_at (&part->roots, FlamNodeId, k);

      piece->nodes[k] = parts->top.nodes[node];
      piece->nodes[k].at = 0;
    }
  piece->n = (guint32)part->roots.n;
  list_stacks (piece, (guint32)part->roots.n);
  flam_tree_piece_merge (piece, NULL, NULL);
  size = (guint32 *)(void *)piece->stacks;
  part->places = (FlamPiecePlace *)(void *)(size + piece->n);
  flam_tree_piece_number (piece, (guint32)part->roots.n, size, part->places);
  for (guint32 k = 0; k < part->roots.n; k++)
    parts->size[flam_column_at (&part->roots, FlamNodeId, k)] = size[k];
}

/* Puts the subtree of a root, which begins at `from` in the part. */
static void
put_subtree (const Parts *parts, Part *part, FlamNodeId root, guint32 from)
{
  FlamTreePiece *piece = &part->piece;
  const FlamPiecePlace *places = part->places;
  FlamTree *tree = parts->tree;
  FlamId to = parts->place[root];
  guint32 end = from + parts->size[root];
  FlamId shift = to - from; /* wraps around */

  for (guint32 i = from; i < end; i++)
    {
      FlamNodeId node = places[i].node;
      FlamId parent = i > from ? places[i].parent + shift
                               : parts->place[parts->top.parent[root]];

      __builtin_prefetch (&piece->nodes[places[MIN (i + AHEAD, end - 1)].node]);
      flam_tree_put_node (tree,
                          &piece->nodes[node],
                          parent,
                          i + shift,
                          piece->nodes[node].at + shift);
      if (i > from)
        tree->self[parent] -= piece->nodes[node].total;
      part->max_depth = MAX (part->max_depth, tree->depth[i + shift]);
      piece->parent[node] = i + shift;
    }
}

static void
put_part (gpointer data, guint i)
{
  Parts *parts = data;
  Part *part = &parts->parts[i + 1];
  guint32 from = 0;

  for (guint32 k = 0; k < part->roots.n; k++)
    {
      FlamNodeId root = flam_column_at (&part->roots, FlamNodeId, k);

      put_subtree (parts, part, root, from);
      from += parts->size[root];
    }
}

/* The places of a range of stacks. */
static void
map_share (gpointer data, guint core)
{
  const Parts *parts = data;
  guint32 n = parts->shown->n;
  FlamId from = (FlamId)((guint64)n * core / parts->n_cores);
  FlamId to = (FlamId)((guint64)n * (core + 1) / parts->n_cores);

  for (FlamId s = from; s < to; s++)
    {
      const FlamTreePiece *piece = &parts->parts[parts->owner[s]].piece;
      FlamNodeId node;

      if (parts->owner[s] == TOP)
        continue;
      node = piece->node[parts->local[s]];
      parts->top.node[s] = node != FLAM_NONE ? piece->parent[node] : FLAM_NONE;
    }
}

/* --- the whole ------------------------------------------------------------ */

/* The sizes of the parts' subtrees are known: all of the top has its place. */
static void
number_top (Parts *parts)
{
  FlamTreePiece *top = &parts->top;
  g_autofree FlamId *next = g_new (FlamId, top->n);

  for (FlamNodeId i = top->n; i-- > 1;)
    {
      if (parts->part_of[i] == TOP)
        parts->size[i]++;
      parts->size[top->parent[i]] += parts->size[i];
    }
  parts->size[0]++;
  parts->place[0] = 0;
  next[0] = 1;
  for (FlamNodeId i = 1; i < top->n; i++)
    {
      FlamId *at = &next[top->parent[i]];

      parts->place[i] = *at;
      next[i] = *at + 1;
      *at += parts->size[i];
    }
}

static void
put_top (Parts *parts)
{
  FlamTreePiece *top = &parts->top;
  FlamTree *tree = parts->tree;

  flam_tree_allocate (tree, parts->size[0]);
  flam_tree_put_root (tree, top->nodes[0].total);
  for (FlamNodeId i = 1; i < top->n; i++)
    {
      FlamId to = parts->place[i];
      FlamId parent = parts->place[top->parent[i]];

      tree->self[parent] -= top->nodes[i].total;
      if (parts->part_of[i] != TOP)
        continue;
      flam_tree_put_node (
          tree, &top->nodes[i], parent, to, to + parts->size[i]);
      tree->max_depth = MAX (tree->max_depth, tree->depth[to]);
      for (guint32 list = top->nodes[i].at + 1; list != 0;
           list = top->stacks[list - 1].next)
        top->node[list - 1] = to;
    }
}

static gboolean
merge_parts (Parts *parts, const FlamProgress *progress, GError **error)
{
  guint n = parts->n_parts - 1;

  parts->size = g_new0 (guint32, parts->top.n);
  parts->place = g_new (FlamId, parts->top.n);
  if (!flam_progress_step (progress, 0.6, error))
    return FALSE;
  flam_cores_run (parts->n_cores, copy_share, parts);
  flam_cores_run (n, merge_part, parts);
  if (!flam_progress_step (progress, 0.8, error))
    return FALSE;
  number_top (parts);
  put_top (parts);
  flam_cores_run (n, put_part, parts);
  flam_cores_run (parts->n_cores, map_share, parts);
  for (guint i = 1; i <= n; i++)
    parts->tree->max_depth =
        MAX (parts->tree->max_depth, parts->parts[i].max_depth);
  return TRUE;
}

FlamId *
flam_tree_merge_parts (FlamTree *tree,
                       const FlamShown *shown,
                       const gint64 *self,
                       FlamTreeOrder order,
                       const FlamProgress *progress,
                       GError **error)
{
  g_autoptr (Parts) parts = g_new0 (Parts, 1);
  FlamTreePiece *top = &parts->top;
  FlamPieceStack *stacks = flam_new_cells (FlamPieceStack, shown->n + 1);
  gint64 total = self[shown->n];
  guint32 roots = 0, size;

  parts->tree = tree;
  parts->shown = shown;
  parts->n_cores = flam_cores_for (shown->n);
  flam_column_init (&parts->counts, sizeof (guint32));
  flam_tree_keys_init (&parts->keys, tree, order);
  parts->count = flam_new_cells (guint32, shown->n + 1);
  parts->n = flam_tree_list_children (
      stacks, parts->count, shown, self, &roots, &total);
  size = parts->n / MIN (parts->n_cores * PARTS_PER_CORE, MAX_PARTS / 2) + 1;
  flam_tree_piece_init (top, &parts->keys, shown->n);
  flam_tree_piece_reserve (top, size);
  top->stacks = stacks;
  top->frame = shown->frame;
  top->node = flam_new_cells (FlamId, shown->n + 1);
  memset (top->node, 0xff, shown->n * sizeof *top->node);
  top->node[shown->n] = 0;
  top->nodes[0] = (FlamPieceNode){ total, FLAM_NONE, FLAM_NONE };
  top->n = 1;
  if (!merge_top (parts, roots, size / NODES_OF_A_PART))
    return flam_tree_merge_all (tree, shown, self, order, progress, error);
  assign_nodes (parts, size / NODES_OF_A_PART, size);
  allocate_parts (parts);
  assign_stacks (parts);
  if (!merge_parts (parts, progress, error))
    return NULL;
  return g_steal_pointer (&top->node);
}
