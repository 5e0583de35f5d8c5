/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PLOT_PAGE_H
#define FLAM_PLOT_PAGE_H

/* A page that shows one plot of the selection. A new one is a function that
 * makes the plot and a row in flam-page-table.c. If it has a range of time,
 * this is the selection's. */

#include "flam-page.h"

#include "flam-core-picture.h"

G_BEGIN_DECLS

typedef struct
{
  /* Called in a job. NULL without an error: nothing to plot. Only the texts of
   * slots are needed. */
  FlamPlot *(*make) (const FlamProfile *profile,
                     const FlamSelection *selection,
                     const FlamWeights *weights,
                     guint choice,
                     const FlamProgress *progress,
                     GError **error);
  /* To be translated. */
  const char *title; /* accessible */
  const char *about; /* a line above the plot */
  const char *none_title, *none_text;
  /* As FlamPlot.describe; NULL: the time and the value. */
  char *(*describe) (const FlamPlot *plot,
                     FlamPlotSpot spot,
                     const char *separator);
  /* Numbers to choose from; NULL: none. */
  const char *choice_title; /* to be translated */
  const char *const *choices;
  guint choice; /* index of the first choice */
} FlamPlotKind;

#define FLAM_TYPE_PLOT_PAGE (flam_plot_page_get_type ())
G_DECLARE_FINAL_TYPE (FlamPlotPage, flam_plot_page, FLAM, PLOT_PAGE, FlamPage)

/* Once, before it is shown. */
void flam_plot_page_set_kind (FlamPlotPage *self, const FlamPlotKind *kind);

G_END_DECLS

#endif
