/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FUNCTION_CALLS_H
#define FLAM_FUNCTION_CALLS_H

/* Tree + rows of functions -> how often each of them was called, and for traces
 * of calls how long its calls took.
 *
 *   measure "calls" ──weights──▶ count       by the innermost function
 *   samples of spans ──chart───▶ durations   each call by itself, with callees
 *
 * A count includes the calls of a function to itself. It is that of the
 * selection, whose time range takes the calls that begin in it. Threads,
 * labels, modules and files are not called. */

#include "flam-chart.h"
#include "flam-functions.h"

G_BEGIN_DECLS

typedef struct
{
  gint64 count;                 /* 0: not called, or unknown */
  FlamChartDurations durations; /* n is 0: not known */
} FlamFunctionCalls;

typedef struct
{
  gboolean has_durations;
  FlamFunctionCalls *row; /* one per row */
} FlamCallTable;

/* Whether the capture has any of this. */
gboolean flam_call_table_is_known (const FlamProfile *profile,
                                   const FlamSelection *selection);
/* `tree` is a tree of the selection, not inverted. NULL without an error if the
 * capture does not count calls, NULL with one when cancelled. */
FlamCallTable *flam_call_table_new (const FlamTree *tree,
                                    const FlamSelection *selection,
                                    const FlamFunctionRow *rows,
                                    guint n,
                                    const FlamProgress *progress,
                                    GError **error);
void flam_call_table_free (FlamCallTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamCallTable, flam_call_table_free)

/* The weight of a row's total for each of its calls; -1: unknown. */
double flam_function_calls_cost (const FlamFunctionCalls *calls,
                                 const FlamFunctionRow *row);

G_END_DECLS

#endif
