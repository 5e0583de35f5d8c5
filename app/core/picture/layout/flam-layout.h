/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LAYOUT_H
#define FLAM_LAYOUT_H

/* Tree + viewport -> boxes; only nodes that are visible are visited.
 *
 * FlamRows is the tree in breadth-first order, made once per tree:
 *
 *    node  tree                 row 0   [ 0                   ]
 *    0     A ─┬─ B ── C         row 1   [ 1 B       ][ 3 D    ]
 *    1        │                 row 2   [ 2 C   ]
 *    3        └─ D
 *
 *    index    0  1  2  3        children of an index are neighbours
 *    node     0  1  3  2        [child[p], child[p + 1]), and x ascends in a
 *    x        0  0  5  0        row: so both edges of the view are found by
 *    total    8  5  2  5        bisection
 *    child    1  3  4  4  4
 *    sum      totals before it in its row, for runs of indices
 *    peak     greatest total of each 64 indices: runs of boxes too narrow to
 *             draw are skipped 64 at a time, in whatever order they come
 *
 * x is in weight units; zooming only changes the range of x. A run of boxes
 * too narrow to draw is a strip, and what they call together is a strip above
 * it, as wide as the sum of that: the silhouette is true, however thin its
 * parts.
 *
 * A sunburst is the same boxes around a circle. A treemap is made from the
 * same rows.
 *
 * Cost: O(rows down to the view's last * log n + boxes + indices / 64 of
 * crowded families). */

#include "flam-tree.h"

G_BEGIN_DECLS

/* All data of an index as one struct: all rows are filled at the same time, and
 * separate columns would mean five times as many places in memory that are
 * written in turns. */
typedef struct
{
  gint64 x;     /* left edge */
  gint64 total; /* never negative */
  gint64 sum;
  FlamNodeId node; /* the tree's */
  guint32 child;
} FlamRowCell;

typedef struct
{
  FlamTree *tree; /* a reference */
  guint32 n;
  guint32 n_rows;
  guint32 *row;    /* n_rows + 1: first index of each row */
  FlamRowCell *at; /* n + 1: in the last, only `child` is set */
  guint32 *index;  /* index of a node */
  gint64 *peak;    /* (n + 63) / 64 */
} FlamRows;

FlamRows *flam_rows_new (FlamTree *tree);
FlamRows *flam_rows_ref (FlamRows *rows);
void flam_rows_unref (FlamRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamRows, flam_rows_unref)

static inline gint64
flam_rows_x (const FlamRows *rows, FlamNodeId node)
{
  return rows->at[rows->index[node]].x;
}

/* The callees of a node, heaviest first, whatever the order of the tree: a
 * treemap needs this order. */
typedef struct
{
  guint32 n;
  guint32 *index; /* of the rows */
  gint64 *x;      /* n + 1: where each begins; the first at the node's own x */
} FlamFamily;

FlamFamily *flam_family_new (const FlamRows *rows, FlamNodeId node);
void flam_family_free (FlamFamily *family);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFamily, flam_family_free)
/* The first that begins at or after `x`; n: none does. */
guint32 flam_family_rank_at (const FlamFamily *family, double x);
/* n: the node does not call it. */
guint32 flam_family_rank_of (const FlamFamily *family,
                             const FlamRows *rows,
                             FlamId callee);

typedef enum
{
  FLAM_DIRECTION_AUTO,   /* an icicle where the tree is inverted */
  FLAM_DIRECTION_FLAME,  /* root at the bottom */
  FLAM_DIRECTION_ICICLE, /* root at the top */
} FlamDirection;

static inline FlamDirection
flam_direction_of (const FlamTree *tree, FlamDirection wanted)
{
  if (wanted != FLAM_DIRECTION_AUTO)
    return wanted;
  return tree->inverted ? FLAM_DIRECTION_ICICLE : FLAM_DIRECTION_FLAME;
}

typedef enum
{
  FLAM_SHAPE_FLAME,    /* rows of boxes */
  FLAM_SHAPE_SUNBURST, /* rings around the zoomed node: flam-sunburst.h */
  FLAM_SHAPE_TREEMAP,  /* boxes within the zoomed node's: flam-treemap.c */
  FLAM_N_SHAPES
} FlamShape;

/* "flame", "sunburst", "treemap" */
const char *flam_shape_to_string (FlamShape shape);
gboolean flam_shape_from_string (const char *word, FlamShape *shape);

/* A treemap shows the zoomed node. If the range of x is only a part of the
 * node's, it shows a page of its callees, in FlamFamily's order, and the rest
 * as a strip at the bottom. It does not scroll. A sunburst's `scroll` is the
 * row of its centre times the row height, which is the minimum thickness of its
 * rings. */
typedef struct
{
  FlamShape shape;
  double width, height; /* pixels */
  double row_height;
  double scroll;    /* pixels from the picture's top to the view's top */
  double from, to;  /* the range of x across the width */
  double min_width; /* pixels; narrower boxes become strips: 0.5 */
  FlamNodeId zoom;  /* its ancestors are flagged; 0 for none */
  FlamDirection direction;
  double rings; /* of a sunburst; 0: as many as exist and as fit */
} FlamViewport;

typedef enum
{
  FLAM_BOX_ANCESTOR = 1 << 0, /* above the zoomed node */
  FLAM_BOX_STRIP = 1 << 1,    /* several boxes too narrow to draw */
  FLAM_BOX_FRAME = 1 << 2,    /* treemap: around the boxes of its callees */
  FLAM_BOX_HEAD = 1 << 3,     /* treemap: a frame's title, or a part of it */
  FLAM_BOX_SELF = 1 << 4,     /* treemap: the self cost of a frame */
} FlamBoxFlags;

typedef struct
{
  FlamNodeId node; /* a strip: the first of its nodes */
  guint32 count;   /* 1; a strip: the number of its nodes */
  float x, width;  /* pixels, cut to [-1, width + 1] of the view; sunburst:
                      where it begins and how far it goes, radians, clockwise
                      from the top */
  float y, height; /* pixels; sunburst: inner radius, thickness */
  guint32 flags;
  guint32 end; /* flame graph: after the last of its indices in the rows */
} FlamBox;

typedef struct
{
  FlamViewport viewport;
  FlamBox *boxes; /* row by row from the root's row on, by x in a row. Treemap:
                     a box follows the box that contains it */
  guint32 n;
  guint32 first_row; /* depth of the rows in view */
  guint32 n_rows;
  guint32 *row;  /* n_rows + 1: first box of each; none in a treemap */
  gint64 hidden; /* weight of the visible strips; a strip's callees are part of
                    it and not counted again */
  gint64 *row_hidden; /* of a flame graph: each row's part of it */
  gint64 in_view;     /* visible weight of the root */
} FlamLayout;

FlamLayout *flam_layout_new (const FlamRows *rows,
                             const FlamViewport *viewport);
/* The same. Results of another layout of the same rows are reused if it only
 * differs in scroll and height. */
FlamLayout *flam_layout_new_after (const FlamRows *rows,
                                   const FlamViewport *viewport,
                                   const FlamLayout *before);
/* Whether two flame graphs differ only in scroll and height. */
gboolean flam_viewport_is_scrolled (const FlamViewport *viewport,
                                    const FlamViewport *before);
void flam_layout_free (FlamLayout *layout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamLayout, flam_layout_free)

/* Whether a sunburst has more rings than fit. */
gboolean flam_layout_is_cut (const FlamRows *rows, const FlamLayout *layout);

/* The box at a pixel of the view, or NULL. */
const FlamBox *flam_layout_hit (const FlamLayout *layout, double x, double y);
/* The position of a node in a flame graph if it were drawn completely: neither
 * cut at the view nor left out for being too narrow or out of view. */
void flam_layout_locate (const FlamRows *rows,
                         const FlamViewport *viewport,
                         FlamNodeId node,
                         FlamBox *box);
/* The same in any shape; FALSE if a sunburst or treemap does not show it. */
gboolean flam_layout_find (const FlamRows *rows,
                           const FlamLayout *layout,
                           FlamNodeId node,
                           FlamBox *box);
/* The number of rows that have something to draw in the range of x. */
guint32 flam_layout_n_rows (const FlamRows *rows, const FlamViewport *viewport);

typedef struct
{
  double x, y, width, height;
} FlamRect;

/* The rectangle that a box covers in the view, in pixels. */
FlamRect flam_layout_bounds (const FlamLayout *layout, const FlamBox *box);

G_END_DECLS

#endif
