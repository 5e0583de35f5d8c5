/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LAYOUT_PRIVATE_H
#define FLAM_LAYOUT_PRIVATE_H

/* Shared by flam-layout.c (a layout of any shape), flam-layout-rows.c, flam-
 * sunburst.c and flam-treemap.c. */

#include "flam-layout.h"

G_BEGIN_DECLS

/* First index of [first, end) with a total of at least `least`, or `end`. */
guint32 flam_rows_next_wide (const FlamRows *rows,
                             guint32 first,
                             guint32 end,
                             gint64 least);

gboolean flam_viewport_is_empty (const FlamRows *rows,
                                 const FlamViewport *viewport);
/* The row of a flame graph at a pixel. */
double flam_viewport_row_at (const FlamViewport *viewport, double y);

/* Only the viewport of `layout` is set. `before`: of the same range of x and
 * width, or NULL. */
void flam_layout_fill_rows (FlamLayout *layout,
                            const FlamRows *rows,
                            const FlamLayout *before);
void flam_sunburst_fill (FlamLayout *layout, const FlamRows *rows);
void flam_treemap_fill (FlamLayout *layout, const FlamRows *rows);

/* The box of a row at an x. */
const FlamBox *
flam_layout_hit_row (const FlamLayout *layout, double row, double x);
const FlamBox *flam_sunburst_hit (const FlamLayout *layout, double x, double y);
const FlamBox *flam_treemap_hit (const FlamLayout *layout, double x, double y);

gboolean flam_sunburst_find (const FlamRows *rows,
                             const FlamLayout *layout,
                             FlamNodeId node,
                             FlamBox *box);
FlamRect flam_sunburst_bounds (const FlamLayout *layout, const FlamBox *box);
gboolean
flam_treemap_find (const FlamLayout *layout, FlamNodeId node, FlamBox *box);

G_END_DECLS

#endif
