/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Any stage -> text, for goldens and for finding the stage that is wrong. */

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
/* The bytes that all paths take where each is written whole, as folded text
 * does; `width` not 0: where a frame takes so many of them. The square of the
 * tree's size, at worst. */
guint64 flam_dump_paths_size (const FlamTree *tree, guint width);

G_END_DECLS
