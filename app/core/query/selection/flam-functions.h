/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FUNCTIONS_H
#define FLAM_FUNCTIONS_H

/* Tree -> flat list: the result of "top". One row for each thing that a node
 * can represent (tree->by). A row's total counts every stack once, however
 * often the thing is on it, so that no total exceeds the tree's. */

#include "flam-estimate.h"
#include "flam-tree.h"

G_BEGIN_DECLS

typedef struct
{
  FlamNodeId node; /* a node that represents this thing, for its name */
  gint64 self;
  gint64 total;
  FlamStateSplit split; /* the total by state; 0 where the tree has none */
  gint64 other_self;    /* 0 where the tree has no such columns */
  gint64 other_total;
  FlamSpread spread_self;
  FlamSpread spread_total;
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

/* Also has a row of node 0 if the root has a cost of its own: samples without a
 * stack, or without a shown frame. So the sum of the rows is the total. */
FlamFunctionRow *
flam_functions_new_whole (const FlamTree *tree, FlamSort sort, guint *n);

/* The row of the function of one node; works for any tree. Of the root: the
 * weight without a stack. */
FlamFunctionRow flam_functions_row_of (const FlamTree *tree, FlamNodeId node);
/* Only the node's own figures. In an inverted tree, the functions with a cost
 * are below the root, and all of what is there is their self; their callers
 * have none. */
FlamFunctionRow flam_functions_row_of_node (const FlamTree *tree,
                                            FlamNodeId node);
/* Whether the node has a self: not a caller in an inverted tree, and no node of
 * a tree of callers. */
gboolean flam_functions_has_self (const FlamTree *tree, FlamNodeId node);
FlamFigure flam_functions_self (const FlamTree *tree,
                                const FlamFunctionRow *row);
FlamFigure flam_functions_total (const FlamTree *tree,
                                 const FlamFunctionRow *row);

/* A figure's counterpart, blocks for bytes and bytes for blocks, with the error
 * of that. */
FlamEstimate flam_functions_estimate_other (const FlamTree *tree,
                                            FlamFigure figure);

/* A row's name: "[no stack]" for that one. */
const char *flam_functions_name (const FlamTree *tree, FlamNodeId node);

/* The row of each node of the tree (FLAM_NONE: not listed); g_free. */
FlamId *flam_functions_index (const FlamTree *tree,
                              const FlamFunctionRow *rows,
                              guint n);

/* For each row of one tree, the row of the same thing in the list of another
 * tree of the same profile (FLAM_NONE: it has none); g_free. No two of `others`
 * represent the same thing. */
FlamId *flam_functions_match (const FlamTree *tree,
                              const FlamFunctionRow *rows,
                              guint n,
                              const FlamTree *other,
                              const FlamFunctionRow *others,
                              guint n_others);

/* Other columns of the tree's nodes (flam_tree_sum), summed like self and total
 * of the rows: `row_self` and `row_total` have a value for each row. */
void flam_functions_sum (const FlamTree *tree,
                         const FlamId *index,
                         guint n_rows,
                         const gint64 *self,
                         const gint64 *total,
                         gint64 *row_self,
                         gint64 *row_total);
/* The same for flam_tree_sum_spread(). */
void flam_functions_sum_spread (const FlamTree *tree,
                                const FlamId *index,
                                guint n_rows,
                                const FlamSpread *self,
                                const FlamSpread *total,
                                FlamSpread *row_self,
                                FlamSpread *row_total);

G_END_DECLS

#endif
