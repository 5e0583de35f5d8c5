/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Rows of lists over the immutable tables: a thin pair of an excerpt and a
 * number, made when a list asks for it and dropped when it scrolls away. */

#include "flam-excerpt.h"

#include <gio/gio.h>

G_BEGIN_DECLS

#define FLAM_TYPE_TREE_ROW (flam_tree_row_get_type ())
G_DECLARE_FINAL_TYPE (FlamTreeRow, flam_tree_row, FLAM, TREE_ROW, GObject)

FlamTreeRow *flam_tree_row_new (FlamExcerpt *excerpt, FlamId node);
/* With figures that are not the node's own: a function's. */
FlamTreeRow *flam_tree_row_new_with (FlamExcerpt *excerpt,
                                     FlamId node,
                                     gint64 self_weight,
                                     gint64 total_weight,
                                     gint64 other_total);
FlamExcerpt *flam_tree_row_get_excerpt (FlamTreeRow *row);
FlamId flam_tree_row_get_node (FlamTreeRow *row);
gint64 flam_tree_row_get_self (FlamTreeRow *row);
gint64 flam_tree_row_get_total (FlamTreeRow *row);
/* Blocks beside bytes, bytes beside blocks; 0 of samples. */
gint64 flam_tree_row_get_other (FlamTreeRow *row);
const char *flam_tree_row_get_name (FlamTreeRow *row);

/* The children of a node as a list of rows, NULL when it has none. */
GListModel *flam_tree_row_children (FlamExcerpt *excerpt, FlamId node);

G_END_DECLS
