/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FUNCTION_FIGURES_H
#define FLAM_FUNCTION_FIGURES_H

/* The figures that the list of functions shows beside self and total, if the
 * capture has them: memory (allocated, blocks, temporary, at the peak, leaked),
 * and calls (their number and cost, or how long each took).
 *
 *   list of functions ─┬─ FlamMemorySummary ─▶ row of memory ─┐
 *                      └─ FlamCallTable ─────▶ row of calls ──┴─▶ columns
 *
 * Functions that only have memory beside the selected measure get rows after
 * those of the list. Immutable but for `with_callees`, reference counted. */

#include "flam-core-picture.h"
#include "flam-view-data.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct
{
  FlamMemorySummary *memory; /* NULL: none */
  FlamId *memory_row; /* per row of the list, followed by the remaining ones: a
                         function of `memory`, or FLAM_NONE */
  FlamViewData *further; /* view data of memory->tree */
  guint n, n_further;
  FlamCallTable *calls;  /* NULL: none */
  gboolean with_callees; /* memory of the callees counts */
} FlamFunctionFigures;

/* Whether a capture can have any for this selection. */
gboolean flam_function_figures_are_known (const FlamProfile *profile,
                                          const FlamSelection *selection);
/* For a list of the upright view data's functions; NULL only when cancelled. */
FlamFunctionFigures *flam_function_figures_new (FlamViewData *upright,
                                                const FlamFunctionRow *rows,
                                                guint n,
                                                const FlamProgress *progress,
                                                GError **error);
FlamFunctionFigures *flam_function_figures_ref (FlamFunctionFigures *figures);
void flam_function_figures_unref (FlamFunctionFigures *figures);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamFunctionFigures, flam_function_figures_unref)

/* A row of the further functions, counted from 0, in `further`. */
FlamFunctionRow
flam_function_figures_further (const FlamFunctionFigures *figures, guint i);

#define FLAM_FIGURE_COLUMNS (FLAM_MEMORY_N_COLUMNS + 6)

/* The columns of a table of FlamTreeRow; the widget owns them. */
void flam_function_figures_add_columns (
    GtkColumnView *view, GtkColumnViewColumn *columns[FLAM_FIGURE_COLUMNS]);
/* Shows the columns for which there are figures, except that of the measure,
 * which is the table's self and total. `figures` may be NULL. */
void flam_function_figures_choose_columns (
    GtkColumnViewColumn *const columns[FLAM_FIGURE_COLUMNS],
    const FlamFunctionFigures *figures,
    const FlamMeasure *measure);
/* Whether the table has so many columns that it needs the window's width. */
gboolean flam_function_figures_are_wide (const FlamFunctionFigures *figures);

G_END_DECLS

#endif
