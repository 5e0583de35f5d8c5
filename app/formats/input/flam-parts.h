/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PARTS_H
#define FLAM_PARTS_H

/* A text that several cores read: it is split at ends of lines (or of other
 * independent units), each core reads a part into separate tables, and these
 * are merged in the order of the parts (flam-builder-merge.h):
 *
 *    text   main;a 1|main;b 2|main;a 3|main;c 4|main;b 5|
 *    part   0                 |1                        |
 *    core   builder itself    | a builder -> merged     |
 *
 * The cores share nothing while they read, so there are no locks. */

#include "flam-core-profile.h"
#include "flam-formats.h"
#include "flam-text.h"

G_BEGIN_DECLS

#define FLAM_PARTS_MAX 64

typedef struct
{
  guint n;
  FlamText text[FLAM_PARTS_MAX];
} FlamParts;

/* Where a part may begin: at or after `at`, up to `end`. */
typedef const char *(*FlamPartStart) (const char *at, const char *end);
const char *flam_parts_line_start (const char *at, const char *end);

/* The number of parts for so many bytes: at least one, at most as allowed. */
guint flam_parts_of (gsize size, const FlamLoadOptions *options);
/* The same for bytes of the source: one as long as it is being unpacked. */
guint flam_parts_count (const FlamSource *source,
                        gsize size,
                        const FlamLoadOptions *options);

/* At least one part, which is the whole text; at most as many as the options
 * allow and as are useful. A source that is still being unpacked is one
 * part. */
void flam_parts_cut (FlamParts *parts,
                     const FlamSource *source,
                     const FlamLoadOptions *options,
                     FlamPartStart start);

/* Part `i`, in the importer's own structure. */
typedef gboolean (*FlamPartRead) (gpointer data,
                                  guint i,
                                  const FlamProgress *progress,
                                  GError **error);
/* Reads all of them in parallel; `progress` is called on this thread. FALSE:
 * the error is that of the first part that failed. */
gboolean flam_parts_read (guint n,
                          FlamPartRead read,
                          gpointer data,
                          const FlamProgress *progress,
                          GError **error);

/* Call when the parts have been read and none of their text is needed again:
 * each core releases its own part (flam_source_leave_part), since unmapping a
 * large file takes long. */
gboolean flam_parts_leave (const FlamParts *parts,
                           const FlamSource *source,
                           const FlamProgress *progress,
                           GError **error);

/* --- shared state --------------------------------------------------------- */

/* Merges the builders of the parts into the first; NULL, with an error. */
FlamBuilderMerge *flam_parts_merge (FlamBuilder *const *builders,
                                    guint n,
                                    const FlamProgress *progress,
                                    GError **error);

/* Rows of all parts, each of which begins with a FlamFingerprint, and the
 * distinct ones among them, in the order of the parts. */
typedef struct
{
  guint n;
  FlamColumn *rows[FLAM_PARTS_MAX];
  FlamColumn joined;
  FlamUnion ids;
  /* Adds a row to the first equal one; FALSE: it cannot. NULL: nothing to
   * add. */
  gboolean (*add) (gpointer first, gconstpointer row);
  int failed;
} FlamPartsJoin;

/* Zero it first. add() changes rows of the parts. FALSE: cancelled with an
 * error, or `failed`. */
gboolean flam_parts_join (FlamPartsJoin *join,
                          const FlamProgress *progress,
                          GError **error);
void flam_parts_join_clear (FlamPartsJoin *join);

G_END_DECLS

#endif
