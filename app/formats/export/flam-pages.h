/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What changed between two captures and over many, and calls in time, as pages
 * that need nothing else. The trees must not be inverted, and outlive the call.
 * The look's title may be NULL. */

#include "flam-diff.h"
#include "flam-look.h"
#include "flam-sink.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* of the file, for people */
  FlamTree *tree;
  const FlamSelection *selection; /* a history's: of the tree */
} FlamCompared;

/* The flame graph of the new one, colored by what changed: an SVG document. */
void flam_diff_picture (FlamSink *out,
                        const FlamCompared *base,
                        const FlamCompared *fresh,
                        gboolean self,
                        FlamDiffScale scale,
                        const FlamLook *look);

/* Two flame graphs, in the shape of each capture, colored by what changed,
 * and the functions that changed most. */
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

/* Charts of the measures, the captures in the order given, and the functions'
 * selves over them. */
void flam_history_page (FlamSink *out, const FlamCompared *captures, guint n);

G_END_DECLS
