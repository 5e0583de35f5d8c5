/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Any stage -> text, for goldens and for finding the stage that is wrong. */

#include "flam-functions.h"

G_BEGIN_DECLS

/* Every table, with strings in place of string ids. */
char *flam_dump_profile (const FlamProfile *profile);
/* "root;…;leaf weight" lines, sorted bytewise; ';' and newline in a name
 * become ':' and space. With `annotate`, kernel, JIT, inlined and waker
 * frames get their "_[k]" marks. Weight without a stack is " weight". */
/* The bytes that all paths take where each is written whole, as folded text
 * does; `width` not 0: where a frame takes so many of them. The square of the
 * tree's size, at worst. */
guint64 flam_dump_paths_size (const FlamTree *tree, guint width);
char *flam_dump_folded (const FlamTree *tree, gboolean annotate);
/* Indented "name self=1 total=5", in tree order; at most `depth` deep, nodes
 * of at least `min_share` (0..1) of the root. */
char *flam_dump_tree (const FlamTree *tree, guint depth, double min_share);

G_END_DECLS
