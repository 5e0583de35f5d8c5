/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PAGES_H
#define FLAM_PAGES_H

/* The changes between two captures and over many, and calls in time, as
 * self-contained pages. The trees must not be inverted, and must outlive the
 * call. The look's title may be NULL. */

#include "flam-core-picture.h"
#include "flam-sink.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* of the file, for display */
  FlamTree *tree;
} FlamCompared;

/* The flame graph in that shape, colored by the changes: an SVG document. */
void flam_diff_picture (FlamSink *out,
                        const FlamCompared *base,
                        const FlamCompared *fresh,
                        FlamDiffShape shape,
                        gboolean self,
                        FlamDiffScale scale,
                        const FlamPictureStyle *look);

/* Three flame graphs, in the shape of each capture and of what changed, colored
 * by the changes, and the functions with the greatest changes. */
void flam_diff_page (FlamSink *out,
                     const FlamCompared *base,
                     const FlamCompared *fresh,
                     gboolean self,
                     FlamDiffScale scale,
                     const FlamPictureStyle *look);

/* A tree of that shape for d3-flame-graph, with the changes. */
void flam_diff_d3 (FlamSink *out,
                   const FlamTree *base,
                   const FlamTree *fresh,
                   FlamDiffShape shape,
                   gboolean self,
                   FlamDiffScale scale);

/* A flame chart, and the functions by the durations of their calls. FALSE if
 * the capture has no calls. */
gboolean flam_chart_page (const FlamProfile *profile,
                          const FlamSelection *selection,
                          const FlamPictureStyle *look,
                          FlamSink *out,
                          GError **error);

/* The figures over the dates of the captures, a line per series, with the
 * functions given by name (NULL-terminated or NULL) and the functions whose
 * self changed most in each series. There is at least one capture. */
void flam_history_page (FlamSink *out,
                        const FlamHistory *history,
                        const FlamHistoryKey *key,
                        const char *const *functions);

G_END_DECLS

#endif
