/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DIFFERENCE_TABLE_H
#define FLAM_DIFFERENCE_TABLE_H

/* The functions or lines of a comparison as rows of a table: change, before,
 * now. */

#include "flam-comparison.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_DIFFERENCE_ROW (flam_difference_row_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamDifferenceRow, flam_difference_row, FLAM, DIFFERENCE_ROW, GObject)

FlamDifferenceRow *flam_difference_row_new (FlamComparison *comparison,
                                            guint row);
/* The text of a FlamDifferenceRow for a table page. */
const char *flam_difference_row_get_name (gpointer row);

/* The callbacks of a table page; a line has the name of its file. */
gboolean
flam_difference_row_is_of (gpointer row, const FlamTree *tree, FlamNodeId node);
FlamId flam_difference_row_find (gpointer row, const FlamTree *tree);
guint32 flam_difference_row_get_place (gpointer row, const char **file);

/* The columns; the largest change comes first. */
void flam_difference_table_prepare (GtkColumnView *view);

G_END_DECLS

#endif
