/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PLOT_PICTURE_H
#define FLAM_PLOT_PICTURE_H

/* A plot as a document of its own, with a title above it, on white. */

#include "flam-core-picture.h"

G_BEGIN_DECLS

typedef struct
{
  const char *title;    /* NULL: none */
  double width, height; /* of the plot without the title */
} FlamPlotPicture;

/* Appends the document. FLAM_ERROR if cairo fails (too large). */
gboolean flam_plot_to_png (const FlamPlot *plot,
                           const FlamPlotPicture *picture,
                           GString *out,
                           GError **error);
gboolean flam_plot_to_svg (const FlamPlot *plot,
                           const FlamPlotPicture *picture,
                           GString *out,
                           GError **error);

G_END_DECLS

#endif
