/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What changed between two captures and over many, and calls in time, as pages
 * that need nothing else. The trees must not be inverted, and outlive the call.
 * The look's title may be NULL. */

#include "flam-diff.h"
#include "flam-history.h"
#include "flam-look.h"
#include "flam-sink.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* of the file, for people */
  FlamTree *tree;
} FlamCompared;

/* The flame graph in that shape, colored by what changed: an SVG document. */
void flam_diff_picture (FlamSink *out,
                        const FlamCompared *base,
                        const FlamCompared *fresh,
                        FlamDiffShape shape,
                        gboolean self,
                        FlamDiffScale scale,
                        const FlamLook *look);

/* Three flame graphs, in the shape of each capture and of both, colored by what
 * changed, and the functions that changed most. */
void flam_diff_page (FlamSink *out,
                     const FlamCompared *base,
                     const FlamCompared *fresh,
                     gboolean self,
                     FlamDiffScale scale,
                     const FlamLook *look);

/* A flame chart, and the functions by how long their calls were. FALSE where
 * the capture has none. */
gboolean flam_chart_page (const FlamProfile *profile,
                          const FlamSelection *selection,
                          const FlamLook *look,
                          FlamSink *out,
                          GError **error);

/* What there is over the dates of the captures, a line a series, the functions
 * given by name (NULL-terminated or NULL) among it, and the functions whose
 * self moved most in each series. There is one capture at least. */
void flam_history_page (FlamSink *out,
                        const FlamHistory *history,
                        const FlamHistoryKey *key,
                        const char *const *functions);

G_END_DECLS
