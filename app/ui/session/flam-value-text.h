/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_VALUE_TEXT_H
#define FLAM_VALUE_TEXT_H

/* Texts of figures that several views share. */

#include "flam-core-query.h"

G_BEGIN_DECLS

/* "438 blocks" beside bytes and "28.7 MB" beside blocks, for a figure of the
 * tree; with its error if it has one, see flam-estimate.h. NULL: the tree has
 * no such counterparts. g_free. */
char *flam_value_text_other (const FlamTree *tree, FlamFigure figure);
/* A number of the summary's blocks, with its error. */
char *flam_value_text_part_blocks (const FlamMemorySummary *memory,
                                   const FlamAmounts *amounts,
                                   FlamMemoryPart part);
/* The title of a column with numbers of blocks, or of other things that are
 * counted. */
const char *flam_value_text_counted (const FlamMemorySummary *memory);
/* "+1.20 s", "−438"; g_free. */
char *flam_value_text_change (const FlamMeasure *measure,
                              gint64 delta,
                              const FlamEstimate *estimate);

/* A measure's name, translated unless it is an event's own name. */
const char *flam_value_text_measure (const FlamProfile *profile,
                                     const FlamMeasure *measure);

/* For a menu, where an underscore would be a mnemonic; g_free. */
char *flam_value_text_mnemonic (const char *text);

/* Whether its values are numbers of samples: "1 sample", "12 samples". */
gboolean flam_value_text_is_samples (const FlamProfile *profile,
                                     const FlamMeasure *measure);

/* "worker (12)", or only its name or `nameless`; with invisible characters made
 * visible; g_free. `id`: of a process or thread, -1 if unknown. */
char *flam_value_text_task (const char *name, gint32 id, const char *nameless);
/* Of a job's processes, with the rank; g_free. */
char *flam_value_text_thread (const FlamProfile *profile, FlamThreadId thread);

G_END_DECLS

#endif
