/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DUMP_H
#define FLAM_DUMP_H

/* Any stage -> text, for goldens and to find the faulty stage. */

#include "flam-diff.h"
#include "flam-layout.h"

G_BEGIN_DECLS

/* Every table, with strings in place of string ids. */
char *flam_dump_profile (const FlamProfile *profile);
/* Each stack with weight, with its innermost function. */
char *flam_dump_weights (const FlamWeights *weights,
                         const FlamSelection *selection);
/* Indented "name self=1 total=5", in tree order. */
char *flam_dump_tree (const FlamTree *tree);
/* One line per box, in drawing order. */
char *flam_dump_layout (const FlamTree *tree, const FlamLayout *layout);

/* "root;…;leaf base new" lines, sorted bytewise, g_free: what difffolded.pl
 * writes and flamegraph.pl reads. ';' and newline in a name become ':' and
 * space. Weight without a stack is " base new". Annotations ("_[k]") with which
 * the stacks of either side were read are kept. `changed`: only lines whose
 * weights differ. */
char *flam_dump_folded_diff (const FlamTree *base,
                             const FlamTree *fresh,
                             FlamDiffScale scale,
                             gboolean changed);
/* The total length of all paths in bytes if each is written in full, as in
 * folded text; if `width` is not 0, with that many bytes per frame. At worst,
 * it is the square of the tree's size. */
guint64 flam_dump_paths_size (const FlamTree *tree, guint width);

G_END_DECLS

#endif
