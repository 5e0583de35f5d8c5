/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A text that several cores read: it is split at ends of lines (or of other
 * independent units), each core reads a part into separate tables, and these
 * are merged in the order of the parts (flam_builder_merge()):
 *
 *    text   main;a 1|main;b 2|main;a 3|main;c 4|main;b 5|
 *    part   0                 |1                        |
 *    core   builder itself    | a builder -> merged     |
 *
 * The cores share nothing while they read, so there are no locks. */

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
/* Reads all of them at once; `progress` is called on this thread. FALSE: the
 * error is that of the first part that failed. */
gboolean flam_parts_read (guint n,
                          FlamPartRead read,
                          gpointer data,
                          const FlamProgress *progress,
                          GError **error);

G_END_DECLS
