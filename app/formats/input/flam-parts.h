/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A text read by several cores: cut where a line ends (or what else may stand
 * alone), each part read by a core of its own into tables of its own, which are
 * then put together in the order of the parts (flam_builder_merge()):
 *
 *    text   main;a 1|main;b 2|main;a 3|main;c 4|main;b 5|
 *    part   0                 |1                        |
 *    core   builder itself    | a builder -> merged     |
 *
 * Nothing is shared while they read, so nothing is locked. */

#include "flam-formats.h"
#include "flam-text.h"

G_BEGIN_DECLS

#define FLAM_PARTS_MAX 64

typedef struct
{
  guint n;
  FlamText text[FLAM_PARTS_MAX];
} FlamParts;

/* Where a part may begin: at `at` or behind it, up to `end`. */
typedef const char *(*FlamPartStart) (const char *at, const char *end);
const char *flam_parts_line_start (const char *at, const char *end);

/* How many parts of so many bytes are worth it and allowed: at least one. */
guint flam_parts_count (const FlamSource *source,
                        gsize size,
                        const FlamLoadOptions *options);

/* At least one, the whole text; no more than the options allow, and than is
 * worth it. One that is still being unpacked is one part. */
void flam_parts_cut (FlamParts *parts,
                     const FlamSource *source,
                     const FlamLoadOptions *options,
                     FlamPartStart start);

/* Part `i` of them, whatever that is to the importer. */
typedef gboolean (*FlamPartRead) (gpointer data,
                                  guint i,
                                  const FlamProgress *progress,
                                  GError **error);
/* All of them at once; `progress` is told on this thread. FALSE: the first part
 * that failed says why. */
gboolean flam_parts_read (guint n,
                          FlamPartRead read,
                          gpointer data,
                          const FlamProgress *progress,
                          GError **error);

G_END_DECLS
