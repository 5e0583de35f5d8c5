/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tree-piece.h"

#define STEP_STACKS (1 << 14)
#define FEW 16

/* A node while its siblings are collected. */
typedef struct
{
  gint64 total;
  gint64 heaviest; /* the total of its best stack */
  FlamId best;     /* the heaviest of its stacks: its frame is the node's */
  FlamId first;    /* of its stacks: the head of their list */
} Sibling;

/* --- equality ------------------------------------------------------------- */

static gboolean
frame_equal (gconstpointer table, FlamFrameId frame, gconstpointer key)
{
  const FlamTree *tree = table;
  FlamShownKey own = flam_shown_key (tree->profile, tree->by, frame);

  return flam_shown_key_equal (&own, key);
}

void
flam_tree_keys_init (FlamTreeKeys *keys,
                     const FlamTree *tree,
                     FlamTreeOrder order)
{
  const FlamFrames *frames = &tree->profile->frames;
  FlamInterner interner;

  *keys = (FlamTreeKeys){
    tree, order, .key = frames->function, .n_keys = tree->profile->functions.n
  };
  if (tree->by == FLAM_BY_FUNCTION)
    return;
  flam_interner_init (&interner);
  keys->own_key = g_new (FlamId, frames->n + 1);
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
      keys->own_key[f] = slot->id;
    }
  flam_interner_clear (&interner);
  keys->key = keys->own_key;
  keys->n_keys = frames->n;
}

void
flam_tree_keys_clear (FlamTreeKeys *keys)
{
  g_clear_pointer (&keys->own_key, g_free);
}

void
flam_tree_piece_init (FlamTreePiece *piece,
                      const FlamTreeKeys *keys,
                      guint32 n_stacks)
{
  *piece = (FlamTreePiece){ keys, n_stacks };
  flam_column_init (&piece->family, sizeof (Sibling));
  piece->latest = g_new0 (FlamId, keys->n_keys + 1);
}

void
flam_tree_piece_reserve (FlamTreePiece *piece, guint32 room)
{
  piece->nodes = flam_new_cells (FlamPieceNode, room);
  piece->parent = flam_new_cells (FlamId, room);
  piece->room = room;
}

void
flam_tree_piece_clear (FlamTreePiece *piece)
{
  flam_cells_drop (piece->stacks);
  flam_cells_drop (piece->node);
  flam_cells_drop (piece->nodes);
  flam_cells_drop (piece->parent);
  g_free (piece->latest);
  flam_column_clear (&piece->family);
  memset (piece, 0, sizeof *piece);
}

/* --- siblings ------------------------------------------------------------- */

static int
compare_names (const FlamTreePiece *piece, const Sibling *a, const Sibling *b)
{
  const FlamTree *tree = piece->keys->tree;
  FlamShownKey x =
      flam_shown_key (tree->profile, tree->by, piece->frame[a->best]);
  FlamShownKey y =
      flam_shown_key (tree->profile, tree->by, piece->frame[b->best]);
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
  const FlamTreePiece *piece = data;
  const Sibling *x = a;
  const Sibling *y = b;

  if (piece->keys->order == FLAM_ORDER_TOTAL && x->total != y->total)
    return x->total > y->total ? -1 : 1;
  return compare_names (piece, x, y);
}

/* Most families are small. */
static void
sort_siblings (const FlamTreePiece *piece, Sibling *siblings, guint n)
{
  if (n > FEW)
    {
      g_qsort_with_data (siblings,
                         (int)n,
                         sizeof *siblings,
                         compare_siblings,
                         (gpointer)piece);
      return;
    }
  for (guint i = 1; i < n; i++)
    {
      Sibling sibling = siblings[i];
      guint to = i;

      for (; to > 0 && compare_siblings (
                           &siblings[to - 1], &sibling, (gpointer)piece) > 0;
           to--)
        siblings[to] = siblings[to - 1];
      siblings[to] = sibling;
    }
}

static void
add_stack (FlamTreePiece *piece, Sibling *sibling, FlamStackId stack)
{
  FlamPieceStack *own = &piece->stacks[stack];

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
      own->next = piece->stacks[sibling->first].next;
      piece->stacks[sibling->first].next = stack + 1;
    }
}

static void
add_sibling (FlamTreePiece *piece, FlamStackId stack)
{
  FlamPieceStack *own = &piece->stacks[stack];

  own->next = 0;
  flam_column_append (&piece->family,
                      Sibling,
                      ((Sibling){ own->total, own->total, stack, stack }));
}

/* Distributes a list of stacks over the siblings of the family. */
static void
add_stacks (FlamTreePiece *piece, guint32 list)
{
  const FlamFrameId *frames = piece->frame;
  const FlamId *key = piece->keys->key;

  while (list != 0)
    {
      FlamStackId stack = list - 1;
      FlamId *latest = &piece->latest[key[frames[stack]]];

      list = piece->stacks[stack].next;
      if (*latest > piece->met)
        {
          add_stack (piece,
                     &flam_column_at (
                         &piece->family, Sibling, *latest - piece->met - 1),
                     stack);
          continue;
        }
      add_sibling (piece, stack);
      *latest = piece->met + piece->family.n;
    }
}

/* --- nodes ---------------------------------------------------------------- */

static void
grow (FlamTreePiece *piece)
{
  piece->room += piece->room / 2 + 1;
  piece->nodes = g_renew (FlamPieceNode, piece->nodes, piece->room);
  piece->parent = g_renew (FlamId, piece->parent, piece->room);
}

static void
add_node (FlamTreePiece *piece, const Sibling *sibling, FlamId parent)
{
  FlamNodeId node = piece->n++;

  if (G_UNLIKELY (node == piece->room))
    grow (piece);
  piece->nodes[node] = (FlamPieceNode){ sibling->total,
                                        piece->frame[sibling->best],
                                        sibling->first };
  piece->parent[node] = parent;
  for (guint32 list = sibling->first + 1; list != 0;
       list = piece->stacks[list - 1].next)
    piece->node[list - 1] = node;
}

/* Siblings whose positive and negative weights add up to 0 are dropped. */
static void
add_family (FlamTreePiece *piece, FlamId parent)
{
  Sibling *siblings = piece->family.data;
  guint n = 0;

  for (guint i = 0; i < piece->family.n; i++)
    if (siblings[i].total != 0)
      siblings[n++] = siblings[i];
  sort_siblings (piece, siblings, n);
  for (guint i = 0; i < n; i++)
    add_node (piece, &siblings[i], parent);
  piece->met += piece->family.n;
  piece->family.n = 0;
}

void
flam_tree_piece_add_list (FlamTreePiece *piece, guint32 list, FlamNodeId node)
{
  add_stacks (piece, list);
  add_family (piece, node);
}

void
flam_tree_piece_add_children (FlamTreePiece *piece, FlamNodeId node)
{
  const FlamPieceStack *stacks = piece->stacks;
  FlamStackId first = piece->nodes[node].at;

  if (stacks[first].next == 0 && stacks[first].child == 0)
    return;
  if (stacks[first].next == 0 && stacks[stacks[first].child - 1].next == 0)
    add_sibling (piece, stacks[first].child - 1);
  else
    for (guint32 list = first + 1; list != 0; list = stacks[list - 1].next)
      add_stacks (piece, stacks[list - 1].child);
  add_family (piece, node);
}

gboolean
flam_tree_piece_merge (FlamTreePiece *piece,
                       const FlamProgress *progress,
                       GError **error)
{
  const FlamPieceStack *stacks = piece->stacks;

  for (FlamId s = 0; s < piece->n_stacks; s++)
    {
      FlamNodeId node = piece->node[s];

      if (s % STEP_STACKS == 0 &&
          !flam_progress_step (
              progress, 0.5 + 0.4 * s / (piece->n_stacks + 1.0), error))
        return FALSE;
      if ((stacks[s].child != 0 || stacks[s].next != 0) && node != FLAM_NONE &&
          piece->nodes[node].at == s)
        flam_tree_piece_add_children (piece, node);
    }
  return TRUE;
}

/* --- preorder ------------------------------------------------------------- */

void
flam_tree_piece_number (FlamTreePiece *piece,
                        guint32 n_roots,
                        guint32 *size,
                        FlamPiecePlace *places)
{
  FlamPieceNode *nodes = piece->nodes;
  FlamId *parent = piece->parent;
  FlamId next = 0;

  memset (size, 0, piece->n * sizeof *size);
  for (FlamId i = piece->n; i-- > n_roots;)
    size[parent[i]] += ++size[i];
  for (FlamId i = 0; i < n_roots; i++)
    {
      nodes[i].at = next + 1;
      parent[i] = next;
      places[next] = (FlamPiecePlace){ i, next };
      next += ++size[i];
    }
  for (FlamId i = n_roots; i < piece->n; i++)
    {
      FlamId caller = parent[i];
      FlamId at = nodes[caller].at;

      nodes[caller].at += size[i];
      nodes[i].at = at + 1;
      parent[i] = at;
      places[at] = (FlamPiecePlace){ i, parent[caller] };
    }
}
