/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-layout-private.h"

#include "flam-columns.h"
#include "flam-cores.h"

#define BLOCK 64

/* The position in a row while the tree is read in preorder: a row's next node
 * directly follows its last one. */
typedef struct
{
  guint32 index; /* of the next */
  gint64 x, end; /* where the next node begins, and where its parent ends */
  gint64 sum;    /* total of the row's nodes so far */
} RowEnd;

/* A range of nodes, which a core reads. It begins where the ranges before it
 * leave each row: their nodes of the row are counted, and the left edge follows
 * from the callers of its first node.
 *
 *    nodes    0 A  1 B  2 C | 3 D  4 E        row 1   [ 1 B  ][ 3 D ]
 *    depth      0    1    2 |   1    2        row 2   [ 2 C  ][ 4 E ] */
typedef struct
{
  FlamNodeId from, to;
  RowEnd *ends; /* n_rows + 1 */
  gboolean cut; /* a node was wider than its parent leaves room for */
} Range;

typedef struct
{
  FlamRows *rows;
  Range ranges[FLAM_CORES_MAX];
  guint n;
} Filling;

/* Where children were cut, later ranges begin at places that are not in the
 * picture, and that may be anywhere. */
static inline gint64
plus (gint64 a, gint64 b)
{
  return (gint64)((guint64)a + (guint64)b);
}

/* --- where a range begins in each row ------------------------------------- */

static void
count_range (gpointer data, guint i)
{
  const Filling *filling = data;
  const FlamTree *tree = filling->rows->tree;
  const Range *range = &filling->ranges[i];

  for (FlamNodeId node = range->from; node < range->to; node++)
    {
      RowEnd *end = &range->ends[tree->depth[node]];

      end->index++;
      end->sum = plus (end->sum, tree->total[node]);
    }
}

/* Counts -> the first index of each row, and of each range in it. */
static void
number_rows (Filling *filling)
{
  FlamRows *rows = filling->rows;
  guint32 index = 0;

  for (guint32 d = 0; d < rows->n_rows; d++)
    {
      gint64 sum = 0;

      rows->row[d] = index;
      for (guint i = 0; i < filling->n; i++)
        {
          RowEnd *end = &filling->ranges[i].ends[d];
          RowEnd own = *end;

          *end = (RowEnd){ .index = index, .sum = sum };
          index += own.index;
          sum = plus (sum, own.sum);
        }
    }
  rows->row[rows->n_rows] = index;
  for (guint i = 0; i < filling->n; i++)
    filling->ranges[i].ends[rows->n_rows].index = index;
}

static void
put_edges (const FlamTree *tree, const Range *range)
{
  guint32 depth = tree->depth[range->from];
  g_autofree FlamNodeId *path = g_new (FlamNodeId, depth + 1);
  gint64 x = 0;

  for (FlamNodeId node = range->from, d = depth + 1; d-- > 0;)
    {
      path[d] = node;
      node = tree->parent[node];
    }
  range->ends[0].end = G_MAXINT64;
  for (guint32 d = 0; d < depth; d++)
    {
      gint64 end = plus (x, tree->total[path[d]]);

      range->ends[d].x = end;
      for (FlamNodeId child = path[d] + 1; child != path[d + 1];
           child = tree->subtree_end[child])
        x = plus (x, tree->total[child]);
      range->ends[d + 1].x = x;
      range->ends[d + 1].end = end;
    }
}

/* --- the nodes ------------------------------------------------------------ */

/* Children are kept within their parent, whatever the weights are, so that x
 * ascends in every row and bisection is safe. */
static gboolean
put_node (FlamRows *rows, RowEnd *row, FlamNodeId node)
{
  gint64 weight = rows->tree->total[node];
  gint64 room = (gint64)((guint64)row->end - (guint64)row->x);
  gint64 total = CLAMP (weight, 0, room);
  guint32 index = row->index++;

  rows->at[index] =
      (FlamRowCell){ row->x, total, row->sum, node, row[1].index };
  rows->index[node] = index;
  row->sum = plus (row->sum, total);
  row[1].x = row->x;
  row->x = row[1].end = plus (row->x, total);
  return total == weight;
}

static void
put_range (gpointer data, guint i)
{
  Filling *filling = data;
  FlamRows *rows = filling->rows;
  Range *range = &filling->ranges[i];

  for (FlamNodeId node = range->from; node < range->to; node++)
    if (!put_node (rows, &range->ends[rows->tree->depth[node]], node))
      range->cut = TRUE;
}

static void
find_peaks (gpointer data, guint i)
{
  const Filling *filling = data;
  FlamRows *rows = filling->rows;
  guint32 blocks = rows->n / BLOCK + 1;
  guint32 from = (guint32)((guint64)blocks * i / filling->n) * BLOCK;
  guint32 to = (guint32)((guint64)blocks * (i + 1) / filling->n) * BLOCK;

  for (guint32 index = from; index < MIN (to, rows->n); index++)
    rows->peak[index / BLOCK] =
        MAX (rows->peak[index / BLOCK], rows->at[index].total);
}

/* FALSE: children were cut, so that later ranges did not begin at their
 * place. */
static gboolean
fill (FlamRows *rows, guint n)
{
  Filling filling = { rows, .n = n };
  gboolean cut = FALSE;

  for (guint i = 0; i < n; i++)
    {
      Range *range = &filling.ranges[i];

      range->from = (FlamNodeId)((guint64)rows->n * i / n);
      range->to = (FlamNodeId)((guint64)rows->n * (i + 1) / n);
      range->ends = g_new0 (RowEnd, (gsize)rows->n_rows + 1);
    }
  flam_cores_run (n, count_range, &filling);
  number_rows (&filling);
  for (guint i = 0; i < n && rows->n > 0; i++)
    put_edges (rows->tree, &filling.ranges[i]);
  flam_cores_run (n, put_range, &filling);
  rows->at[rows->n] = (FlamRowCell){ .child = rows->n };
  flam_cores_run (n, find_peaks, &filling);
  for (guint i = 0; i < n; i++)
    {
      cut = cut || filling.ranges[i].cut;
      g_free (filling.ranges[i].ends);
    }
  return !cut || n == 1;
}

FlamRows *
flam_rows_new (FlamTree *tree)
{
  FlamRows *rows = g_atomic_rc_box_new0 (FlamRows);

  rows->tree = flam_tree_ref (tree);
  rows->n = tree->n;
  rows->n_rows = rows->n > 0 ? tree->max_depth + 1 : 0;
  rows->row = g_new0 (guint32, rows->n_rows + 1);
  rows->at = flam_new_cells (FlamRowCell, (gsize)rows->n + 1);
  rows->index = flam_new_cells (guint32, rows->n);
  rows->peak = flam_new_cells0 (gint64, rows->n / BLOCK + 1);
  if (!fill (rows, flam_cores_for (rows->n)))
    {
      memset (rows->peak, 0, (rows->n / BLOCK + 1) * sizeof *rows->peak);
      fill (rows, 1);
    }
  return rows;
}

FlamRows *
flam_rows_ref (FlamRows *rows)
{
  return g_atomic_rc_box_acquire (rows);
}

static void
rows_clear (gpointer data)
{
  FlamRows *rows = data;

  g_free (rows->row);
  flam_cells_drop (rows->at);
  flam_cells_drop (rows->index);
  flam_cells_drop (rows->peak);
  flam_tree_unref (rows->tree);
}

void
flam_rows_unref (FlamRows *rows)
{
  g_atomic_rc_box_release_full (rows, rows_clear);
}

guint32
flam_rows_next_wide (const FlamRows *rows,
                     guint32 first,
                     guint32 end,
                     gint64 least)
{
  while (first < end)
    {
      if (first % BLOCK == 0 && rows->peak[first / BLOCK] < least)
        first += BLOCK;
      else if (rows->at[first].total < least)
        first++;
      else
        return first;
    }
  return end;
}
