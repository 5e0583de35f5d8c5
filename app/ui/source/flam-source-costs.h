/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SOURCE_COSTS_H
#define FLAM_SOURCE_COSTS_H

/* The cost of each line of one source file, for the gutters, the strip and the
 * pane. Immutable, reference counted. */

#include "flam-baseline-lines.h"
#include "flam-view-data.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_COST_SELF,
  FLAM_COST_TOTAL,
} FlamCost;

typedef struct
{
  FlamViewData *view_data;
  FlamWeights *path_weights; /* of the path; NULL: the view data's count */
  FlamLineRow *rows;         /* ascending by line */
  guint n;
  gint64 whole; /* the selection's total, at least 1: the full length of bars */
  guint32 hottest;  /* line with the greatest self, else total; 0: none */
  char **self_text; /* one per row: formatted once, drawn often */
  char **total_text;
  FlamJumpRow *jumps; /* ascending by line */
  guint n_jumps;
  /* During a comparison, otherwise NULL: the compared cost of each row. Lines
   * that had a cost only before have rows of 0. */
  FlamDiffRow *compared; /* without their names */
  gint64 whole_compared; /* the greatest of both, and of the total */
  char **before_text, **now_text, **change_text;
} FlamSourceCosts;

/* `path`: only the stacks through that node of `tree` (NULL: the view data's),
 * which has the stacks of its nodes; 0: all. `function` FLAM_NONE: all
 * functions; otherwise only its own frames. `base_lines` NULL: no comparison;
 * otherwise it was made with the view data, and the path does not count: the
 * baseline may not have it. */
FlamSourceCosts *flam_source_costs_new (FlamViewData *view_data,
                                        const char *file,
                                        const FlamTree *tree,
                                        FlamNodeId path,
                                        FlamFunctionId function,
                                        const FlamBaselineLines *base_lines);
FlamSourceCosts *flam_source_costs_ref (FlamSourceCosts *costs);
void flam_source_costs_unref (FlamSourceCosts *costs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSourceCosts, flam_source_costs_unref)

/* Index of a line's row, or -1. */
int flam_source_costs_find (const FlamSourceCosts *costs, guint32 line);
/* "\njumps to b.c:3: 72/77", a line for each target of the line's jumps; or
 * "". */
char *flam_source_costs_jumps (const FlamSourceCosts *costs, guint32 line);
static inline gint64
flam_source_costs_value (const FlamSourceCosts *costs, guint row, FlamCost cost)
{
  return cost == FLAM_COST_SELF ? costs->rows[row].self
                                : costs->rows[row].total;
}

G_END_DECLS

#endif
