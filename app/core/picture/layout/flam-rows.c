/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-layout-private.h"

#include "flam-columns.h"

#define BLOCK 64

/* The position in a row while the tree is read in preorder: a row's next node
 * directly follows its last one. */
typedef struct
{
  guint32 index; /* of the next */
  gint64 x, end; /* where the next node begins, and where its parent ends */
  gint64 sum;    /* total of the row's nodes so far */
} RowEnd;

static RowEnd *
count_rows (FlamRows *rows)
{
  const FlamTree *tree = rows->tree;
  RowEnd *ends = g_new0 (RowEnd, (gsize)tree->max_depth + 2);

  rows->n_rows = rows->n > 0 ? tree->max_depth + 1 : 0;
  rows->row = g_new0 (guint32, rows->n_rows + 1);
  for (guint32 i = 0; i < rows->n; i++)
    rows->row[tree->depth[i] + 1]++;
  for (guint32 d = 0; d < rows->n_rows; d++)
    {
      rows->row[d + 1] += rows->row[d];
      ends[d].index = rows->row[d];
    }
  ends[rows->n_rows].index = rows->n;
  return ends;
}

/* Children are kept within their parent, whatever the weights are, so that x
 * ascends in every row and bisection is safe. */
static void
put_node (FlamRows *rows, RowEnd *row, FlamNodeId node)
{
  gint64 total = rows->tree->total[node];
  guint32 index = row->index++;

  total = CLAMP (total, 0, row->end - row->x);
  rows->at[index] =
      (FlamRowCell){ row->x, total, row->sum, node, row[1].index };
  rows->index[node] = index;
  rows->peak[index / BLOCK] = MAX (rows->peak[index / BLOCK], total);
  row->sum += total;
  row[1].x = row->x;
  row->x = row[1].end = row->x + total;
}

static void
put_nodes (FlamRows *rows)
{
  g_autofree RowEnd *ends = count_rows (rows);

  ends[0].end = G_MAXINT64;
  for (FlamId i = 0; i < rows->n; i++)
    put_node (rows, &ends[rows->tree->depth[i]], i);
  rows->at[rows->n] = (FlamRowCell){ .child = rows->n };
}

FlamRows *
flam_rows_new (FlamTree *tree)
{
  FlamRows *rows = g_atomic_rc_box_new0 (FlamRows);

  rows->tree = flam_tree_ref (tree);
  rows->n = tree->n;
  rows->at = flam_new_cells (FlamRowCell, (gsize)rows->n + 1);
  rows->index = flam_new_cells (guint32, rows->n);
  rows->peak = flam_new_cells0 (gint64, rows->n / BLOCK + 1);
  put_nodes (rows);
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
