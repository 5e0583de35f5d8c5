/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_EXPORT_COMMON_H
#define FLAM_EXPORT_COMMON_H

/* Shared by the exporters of trees. */

#include "flam-core-picture.h"
#include "flam-sink.h"

/* The distinct things (functions; with FLAM_BY_LINE, their lines) of the nodes
 * of a tree, numbered from 0 in order of their first nodes. */
typedef struct
{
  FlamId *thing; /* one per node; FLAM_NONE for the root */
  GArray *first; /* FlamId: a node for each thing */
} FlamThings;

/* `whole_functions`: functions also with FLAM_BY_LINE, not lines. */
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

/* The chart of a selection, if the look has a chart; NULL with an error if
 * there is none. */
FlamChart *flam_export_chart (const FlamProfile *profile,
                              const FlamSelection *selection,
                              GError **error);

/* The string of the file, and the line of the function's start. String 0 is
 * "". */
FlamId flam_export_start (const FlamTree *tree, FlamNodeId node, guint32 *line);
/* The same for the node's own line, if it is known. */
FlamId
flam_export_file_id (const FlamTree *tree, FlamNodeId node, guint32 *line);
const char *
flam_export_file (const FlamTree *tree, FlamNodeId node, guint32 *line);
/* "" if there is none. */
const char *flam_export_module (const FlamTree *tree, FlamNodeId node);

/* Whether the stack's leaf is inlined into its caller. */
gboolean flam_export_is_inlined (const FlamProfile *profile, FlamStackId stack);

/* For FlamExporter.lacks: FLAM_HOLDS_LINES if functions with the same name in
 * the same file differ only in their first lines, like the __init__ of two
 * classes. The format has only the lines of frames, so such functions become
 * one. */
guint flam_export_lacks_first_lines (const FlamProfile *profile);

/* Weights for formats that have only whole numbers: rounded. */
gint64 flam_export_whole (const FlamMeasure *measure, gint64 weight);

/* The name of a measure in pprof's and OpenTelemetry's profiles: its id, or
 * with `common` the name that most profilers have for the same ("cpu"). */
const char *flam_export_measure_name (const FlamProfile *profile,
                                      const FlamMeasure *measure,
                                      gboolean common);
/* "nanoseconds", "bytes", "count". */
const char *flam_export_unit (const FlamMeasure *measure);

/* Quoted and escaped; valid everywhere, also inside <script>. */
void flam_export_json_string (FlamSink *out, const char *text);
/* The same with a prefix: `,"file":`. */
void
flam_export_json_member (FlamSink *out, const char *before, const char *text);
/* A value of a counter: "12" or "12.5". */
void flam_export_json_count (FlamSink *out, FlamUnit unit, gint64 value);
/* "12" or "12.5". */
void flam_export_json_weight (FlamSink *out,
                              const FlamMeasure *measure,
                              gint64 weight);

#endif
