/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cores.h"
#include "flam-tree-private.h"

/* If few of many stacks have weight (blocks at the peak, a short range, one
 * thread of many), only these and their callers are merged, as stacks of a
 * separate trie. It keeps their order, so the tree is the same. If nearly all
 * of the others are callers, as in a text of deep stacks, the copy would only
 * cost time, so all are merged.
 *
 *    stacks       self            number         kept        their nodes
 *    0 a           -                0            0 a              1
 *    1 ├─ b        -                -            1 └─ c           2
 *    2 │  └─ d     -                -
 *    3 └─ c        5                1      node of stack 3: that of kept 1 */

#define FEW 8   /* at least one in this many */
#define WORTH 2 /* copied if at most one in this many is needed */

typedef struct
{
  FlamShown shown;
  FlamStackId *prefix;
  FlamFrameId *frame;
  gint64 *self;
} Kept;

static void
kept_clear (Kept *kept)
{
  flam_cells_drop (kept->prefix);
  flam_cells_drop (kept->frame);
  flam_cells_drop (kept->self);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Kept, kept_clear)

static gboolean
have_few_weight (const gint64 *self, guint32 n)
{
  guint32 left = n / FEW;

  for (guint32 s = 0; s < n; s++)
    if (self[s] != 0 && left-- == 0)
      return FALSE;
  return TRUE;
}

/* Marks the stacks with weight and their callers with 0, the others with
 * FLAM_NONE. Returns the number of marked stacks. */
static guint32
mark_callers (const FlamShown *shown, const gint64 *self, FlamId *number)
{
  guint32 n = 0;

  memset (number, 0xff, shown->n * sizeof *number);
  for (FlamId s = shown->n; s-- > 0;)
    {
      FlamStackId prefix = shown->prefix[s];

      if (self[s] == 0 && number[s] == FLAM_NONE)
        continue;
      number[s] = 0;
      if (prefix != FLAM_NONE)
        number[prefix] = 0;
      n++;
    }
  return n;
}

/* Copies the marked stacks, and numbers them. */
static void
copy_marked (Kept *kept,
             const FlamShown *shown,
             const gint64 *self,
             guint32 n,
             FlamId *number)
{
  guint32 to = 0;

  kept->prefix = flam_new_cells (FlamId, n + 1);
  kept->frame = flam_new_cells (FlamId, n + 1);
  kept->self = flam_new_cells (gint64, n + 1);
  for (FlamId s = 0; s < shown->n; s++)
    {
      FlamStackId prefix = shown->prefix[s];

      if (number[s] == FLAM_NONE)
        continue;
      kept->prefix[to] = prefix != FLAM_NONE ? number[prefix] : FLAM_NONE;
      kept->frame[to] = shown->frame[s];
      kept->self[to] = self[s];
      number[s] = to++;
    }
  kept->self[n] = self[shown->n];
  kept->shown =
      (FlamShown){ .n = n, .prefix = kept->prefix, .frame = kept->frame };
}

static FlamId *
merge_many (FlamTree *tree,
            const FlamShown *shown,
            const gint64 *self,
            FlamTreeOrder order,
            const FlamProgress *progress,
            GError **error)
{
  return (flam_cores_for (shown->n) > 1 ? flam_tree_merge_parts
                                        : flam_tree_merge_all) (
      tree, shown, self, order, progress, error);
}

static FlamId *
merge_few (FlamTree *tree,
           const FlamShown *shown,
           const gint64 *self,
           FlamTreeOrder order,
           const FlamProgress *progress,
           GError **error)
{
  g_auto (Kept) kept = { { 0 } };
  g_autofree FlamId *number = flam_new_cells (FlamId, shown->n + 1);
  g_autofree FlamNodeId *node = NULL;
  guint32 n = mark_callers (shown, self, number);

  if (n > shown->n / WORTH)
    {
      g_clear_pointer (&number, g_free);
      return merge_many (tree, shown, self, order, progress, error);
    }
  copy_marked (&kept, shown, self, n, number);
  node = merge_many (tree, &kept.shown, kept.self, order, progress, error);
  if (node == NULL)
    return NULL;
  for (FlamId s = 0; s < shown->n; s++)
    if (number[s] != FLAM_NONE)
      number[s] = node[number[s]];
  number[shown->n] = node[n];
  return g_steal_pointer (&number);
}

FlamId *
flam_tree_merge (FlamTree *tree,
                 const FlamShown *shown,
                 const gint64 *self,
                 FlamTreeOrder order,
                 const FlamProgress *progress,
                 GError **error)
{
  return (have_few_weight (self, shown->n) ? merge_few : merge_many) (
      tree, shown, self, order, progress, error);
}
