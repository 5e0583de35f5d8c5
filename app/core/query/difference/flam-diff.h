/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DIFF_H
#define FLAM_DIFF_H

/* Two trees -> what changed, by name, since captures of different formats,
 * programs and machines have only names in common.
 *
 *   base   main 8   parse 5   old 3          name    base  new  delta
 *   new    main 9   parse 2   fresh 7   ─▶   fresh      0    7     +7
 *                                            old        3    0     -3
 *                                            parse      5    2     -3
 *                                            main       8    9     +1 */

#include "flam-lines.h"
#include "flam-tree.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* name of a function; of a line, its file's; valid as long
                       as both trees or weights */
  guint32 line;     /* 0: a function */
  gint64 base;
  gint64 fresh;
  gint64 delta;
  FlamChangeEstimate estimate;
} FlamDiffRow;

/* Measures that count samples can always be compared, others where
 * flam_measure_is_like() is TRUE. All results use one denominator, which both
 * must have: flam_rescale_both(). */
gboolean flam_diff_is_possible (const FlamTree *base, const FlamTree *fresh);

/* The factor of the base before the comparison: to / from. */
typedef struct
{
  gint64 to, from;
} FlamDiffScale;

#define FLAM_DIFF_UNSCALED ((FlamDiffScale){ 1, 1 })

/* Scales to the total of the new tree, so that shares are compared. */
FlamDiffScale flam_diff_scale_totals (const FlamTree *base,
                                      const FlamTree *fresh);

gint64 flam_diff_scaled (gint64 base, FlamDiffScale scale);

/* Rows for every function of either tree, largest change first, ties by name;
 * `n` rows, g_free. They hold totals, or with `self` selves. The trees must not
 * be inverted. */
FlamDiffRow *flam_diff_functions (const FlamTree *base,
                                  const FlamTree *fresh,
                                  gboolean self,
                                  FlamDiffScale scale,
                                  guint *n);

/* The errors of the totals of both trees. */
FlamChangeEstimate flam_diff_whole (const FlamTree *base,
                                    const FlamTree *fresh,
                                    FlamDiffScale scale);

/* One side of a comparison of lines. */
typedef struct
{
  const FlamWeights *weights;
  const FlamSelection *selection;
} FlamDiffWeights;

/* The same for source lines, by file and number: a line that was moved counts
 * as another line. Files are found by flam_diff_find_file() and have the names
 * of the new capture. With `file` not NULL, only lines of that file of the new
 * capture. */
FlamDiffRow *flam_diff_lines (const FlamDiffWeights *base,
                              const FlamDiffWeights *fresh,
                              const char *file,
                              gboolean self,
                              FlamDiffScale scale,
                              guint *n);

/* One of these rows. */
FlamDiffRow flam_diff_line (const char *file,
                            guint32 line,
                            const FlamDiffWeights *base,
                            FlamFigure was,
                            const FlamDiffWeights *fresh,
                            FlamFigure is,
                            FlamDiffScale scale);

/* The name that a file of one side has on the other: the same path; otherwise,
 * among the files of that name that only the other side has, the one with the
 * most folders in common, if no other has as many. NULL: not there. */
const char *flam_diff_find_file (const FlamDiffWeights *from,
                                 const char *path,
                                 const FlamDiffWeights *to);

typedef enum
{
  FLAM_DIFF_FRESH,
  FLAM_DIFF_BASE,
  FLAM_DIFF_BOTH,
  FLAM_DIFF_CHANGED,
  FLAM_N_DIFF_SHAPES
} FlamDiffShape;

/* A copy of one of the trees, with the value of the same path of names in the
 * other tree for each node (FlamTreeChange): the differential flame graph.
 * Totals, or with `self` selves. It lacks paths that only the other tree has;
 * the tree in the other shape has them.
 *
 * The shape of both has all paths of either, each as wide as the larger of its
 * own previous and current values, plus its callees. Its nodes, heaviest first,
 * refer to a profile of their own, which has their names, modules and lines but
 * no samples. The changed shape is the same without paths whose self is as it
 * was, except those with changed callees, which are as wide as these. */
FlamTree *flam_diff_tree (const FlamTree *base,
                          const FlamTree *fresh,
                          FlamDiffShape shape,
                          gboolean self,
                          FlamDiffScale scale);

/* Largest change first, ties by name and line. */
void flam_diff_sort (FlamDiffRow *rows, guint n);

G_END_DECLS

#endif
