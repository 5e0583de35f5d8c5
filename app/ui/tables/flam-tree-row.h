/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TREE_ROW_H
#define FLAM_TREE_ROW_H

/* Rows of lists over the immutable tables: a small pair of view data and a
 * number, created when a list requests it and freed when it scrolls away. */

#include "flam-core-query.h"
#include "flam-function-figures.h"
#include "flam-view-data.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define FLAM_TYPE_TREE_ROW (flam_tree_row_get_type ())
G_DECLARE_FINAL_TYPE (FlamTreeRow, flam_tree_row, FLAM, TREE_ROW, GObject)

/* With figures that differ from the node's. */
FlamTreeRow *flam_tree_row_new_function (FlamViewData *view_data,
                                         const FlamFunctionRow *row);
/* A row of a list, the `index`-th with figures of its own. */
FlamTreeRow *flam_tree_row_new_listed (FlamViewData *view_data,
                                       const FlamFunctionRow *row,
                                       FlamFunctionFigures *figures,
                                       guint index);
FlamViewData *flam_tree_row_get_view_data (FlamTreeRow *row);
FlamNodeId flam_tree_row_get_node (FlamTreeRow *row);
gint64 flam_tree_row_get_self (FlamTreeRow *row);
gint64 flam_tree_row_get_total (FlamTreeRow *row);
/* Blocks beside bytes, bytes beside blocks; 0 for samples. */
gint64 flam_tree_row_get_other (FlamTreeRow *row);
/* These figures, and the values on which their errors depend. */
const FlamFunctionRow *flam_tree_row_get_row (FlamTreeRow *row);
/* NULL: only the ones above. */
const FlamFunctionFigures *flam_tree_row_get_figures (FlamTreeRow *row,
                                                      guint *index);
const char *flam_tree_row_get_name (FlamTreeRow *row);

/* The children of a node as a list of rows, NULL if it has none. */
GListModel *flam_tree_row_children (FlamViewData *view_data, FlamNodeId node);

G_END_DECLS

#endif
