/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Any stage -> text, for goldens and for finding the stage with a fault. */

#include "flam-layout.h"

G_BEGIN_DECLS

/* Every table, with strings in place of string ids. */
char *flam_dump_profile (const FlamProfile *profile);
/* Each stack that holds weight, with its innermost function. */
char *flam_dump_weights (const FlamWeights *weights,
                         const FlamSelection *selection);
/* Indented "name self=1 total=5", in tree order. */
char *flam_dump_tree (const FlamTree *tree);
/* A line a box, in the order of drawing. */
char *flam_dump_layout (const FlamTree *tree, const FlamLayout *layout);

/* "root;…;leaf weight" lines, sorted bytewise; ';' and newline in a name
 * become ':' and space. Weight without a stack is " weight". */
char *flam_dump_folded (const FlamTree *tree);
/* The same as paths and selves, in tree order: two nodes may have one path. */
typedef void FlamDumpPath (const char *path, gint64 self, gpointer data);
void flam_dump_paths (const FlamTree *tree, FlamDumpPath *put, gpointer data);
/* The number of bytes that all paths take when each is written in full, as in
 * folded text; with `width` not 0, when each frame takes that many bytes. At
 * worst the square of the tree's size. */
guint64 flam_dump_paths_size (const FlamTree *tree, guint width);

G_END_DECLS
