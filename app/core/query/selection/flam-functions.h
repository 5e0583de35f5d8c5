/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Tree -> flat list: what "top" shows. One row for each thing a node can stand
 * for (tree->by); a row's total counts every stack once, however often the
 * thing is on it, so that no total exceeds the tree's. */

#include "flam-tree.h"

G_BEGIN_DECLS

typedef struct
{
  FlamId node; /* a node of the tree that stands for this thing: for its name */
  gint64 self;
  gint64 total;
  FlamStateSplit split; /* the total by state; 0 where the tree has none */
  gint64 other_self;    /* 0 where the tree has no such columns */
  gint64 other_total;
} FlamFunctionRow;

typedef enum
{
  FLAM_SORT_SELF,
  FLAM_SORT_TOTAL,
} FlamSort;

/* Sorted, heaviest first, ties by name; `n` rows, g_free. Every node but the
 * root has a row. The tree must not be inverted. */
FlamFunctionRow *
flam_functions_new (const FlamTree *tree, FlamSort sort, guint *n);

/* And a row of node 0 where the root has a cost of its own: samples without a
 * stack, or with no frame that is shown. So the rows sum to the total. */
FlamFunctionRow *
flam_functions_new_whole (const FlamTree *tree, FlamSort sort, guint *n);

/* What a row is called: "[no stack]" for that one. */
const char *flam_functions_name (const FlamTree *tree, FlamId node);

/* The row of each node of the tree (FLAM_NONE: not listed); g_free. */
FlamId *flam_functions_index (const FlamTree *tree,
                              const FlamFunctionRow *rows,
                              guint n);

/* Other columns of the tree's nodes (flam_tree_sum), summed as self and total
 * of the rows are: `row_self` and `row_total` have a value for each row. */
void flam_functions_sum (const FlamTree *tree,
                         const FlamId *index,
                         guint n_rows,
                         const gint64 *self,
                         const gint64 *total,
                         gint64 *row_self,
                         gint64 *row_total);

G_END_DECLS
