/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DIFF_PRIVATE_H
#define FLAM_DIFF_PRIVATE_H

/* Two trees as one set of paths. The difference is made from it, in the shape
 * of either tree or in the shape of both. */

#include "flam-columns.h"
#include "flam-diff.h"

G_BEGIN_DECLS

/* A path of names as a number: the caller's path and a name. Nodes of both
 * trees are compared if theirs are equal. A caller's number is smaller. */
typedef struct
{
  FlamId parent;
  FlamStringId name;
} FlamDiffPath;

enum
{
  FLAM_DIFF_SIDE_BASE,
  FLAM_DIFF_SIDE_FRESH,
  FLAM_DIFF_N_SIDES
};

typedef struct
{
  FlamColumn paths;  /* FlamDiffPath */
  GHashTable *names; /* char* -> its number + 1 */
  FlamColumn has;    /* guint8 per name: one bit for each side that has it */
  const FlamTree *tree[FLAM_DIFF_N_SIDES];
  FlamId *path[FLAM_DIFF_N_SIDES]; /* of each node */
  gint64 *self[FLAM_DIFF_N_SIDES]; /* of each path: nodes with the same name and
                                      caller are one path */
  gint64 *total[FLAM_DIFF_N_SIDES];
  gint64 *other[FLAM_DIFF_N_SIDES]; /* see FlamFigure; NULL: not of this tree */
  FlamSpread *spread[FLAM_DIFF_N_SIDES];
} FlamDiffPaths;

void flam_diff_paths_init (FlamDiffPaths *paths,
                           const FlamTree *base,
                           const FlamTree *fresh);
void flam_diff_paths_clear (FlamDiffPaths *paths);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamDiffPaths, flam_diff_paths_clear)

/* Sums what the errors of the paths' values depend on, of the selves or of the
 * totals; FALSE: both trees are exact. */
gboolean flam_diff_paths_add_errors (FlamDiffPaths *paths, gboolean self);
/* Of one side's value of a path, or of a part of it. */
FlamEstimate flam_diff_paths_estimate (const FlamDiffPaths *paths,
                                       guint side,
                                       FlamId path,
                                       gint64 value,
                                       gint64 sum,
                                       FlamDiffScale scale);

FlamChangeKind flam_diff_paths_kind (const FlamDiffPaths *paths, FlamId path);
/* Room for `n` nodes. */
FlamTreeChange *flam_diff_change_new (guint32 n);
void flam_diff_change_set (FlamTreeChange *change,
                           FlamNodeId node,
                           FlamChangeKind kind,
                           gint64 base,
                           gint64 fresh);

/* What one thing, of the same name on each side, has there. */
typedef struct
{
  FlamFigure base, fresh;
  FlamEstimate base_estimate, fresh_estimate;
} FlamDiffFigures;

void flam_diff_add_figure (FlamFigure *sum, FlamFigure figure);
FlamDiffRow flam_diff_row (const char *name,
                           guint32 line,
                           const FlamDiffFigures *of,
                           FlamDiffScale scale);
/* The error of the base, after the comparison's factor. */
FlamEstimate flam_diff_scaled_estimate (FlamEstimate base, FlamDiffScale scale);
/* Of a figure of a tree. */
FlamEstimate flam_diff_estimate (const FlamTree *tree, FlamFigure figure);

/* The tree in the shape of both, or only of what changed: flam_diff_tree(). */
FlamTree *flam_diff_both (FlamDiffPaths *paths,
                          gboolean changed,
                          gboolean self,
                          FlamDiffScale scale);

G_END_DECLS

#endif
