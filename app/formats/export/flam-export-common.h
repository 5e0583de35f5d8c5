/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What exporters of trees share. */

#include "flam-chart.h"
#include "flam-look.h"
#include "flam-sink.h"

/* The distinct things (functions; with FLAM_BY_LINE, their lines) that the
 * nodes of a tree are, numbered from 0 in order of their first node. */
typedef struct
{
  FlamId *thing; /* one a node; FLAM_NONE for the root */
  GArray *first; /* FlamId: a node, one a thing */
} FlamThings;

/* `whole_functions`: FLAM_BY_LINE's, too, not their lines. */
void flam_things_init (FlamThings *things,
                       const FlamTree *tree,
                       gboolean whole_functions);
void flam_things_clear (FlamThings *things);

/* Of a selection, heaviest first. */
FlamTree *flam_export_tree (const FlamProfile *profile,
                            const FlamSelection *selection);
FlamTree *flam_export_tree_in_order (const FlamProfile *profile,
                                     const FlamSelection *selection,
                                     FlamTreeOrder order);

/* The chart of a selection where the look has one; NULL with an error where
 * there is none. */
FlamChart *flam_export_chart (const FlamProfile *profile,
                              const FlamSelection *selection,
                              GError **error);

/* A file's string, and the line: where the function starts. String 0 is "". */
FlamId flam_export_start (const FlamTree *tree, FlamId node, guint32 *line);
/* The same, where the node is, if that is known. */
FlamId flam_export_file_id (const FlamTree *tree, FlamId node, guint32 *line);
const char *flam_export_file (const FlamTree *tree, FlamId node, guint32 *line);
/* "" where there is none. */
const char *flam_export_module (const FlamTree *tree, FlamId node);

/* Whether the stack's leaf is inlined where its caller stands. */
gboolean flam_export_is_inlined (const FlamProfile *profile, FlamId stack);

/* Weights of formats that hold whole numbers: rounded. */
gint64 flam_export_whole (const FlamMeasure *measure, gint64 weight);

/* Quoted and escaped; invalid nowhere, not even inside <script>. */
void flam_export_json_string (FlamSink *out, const char *text);
/* The same behind what stands before it: `,"file":`. */
void
flam_export_json_member (FlamSink *out, const char *before, const char *text);
/* "12" or "12.5". */
void flam_export_json_weight (FlamSink *out,
                              const FlamMeasure *measure,
                              gint64 weight);
