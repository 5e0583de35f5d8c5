/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEST_TREES_H
#define FLAM_TEST_TREES_H

/* Profiles and trees of known shape, for tests and benchmarks. */

#include "flam-core-picture.h"

/* "main;work;leaf 5", one per line; "work@libx.so" sets the module, a suffix
 * _[k] _[j] _[p] _[i] _[u] the kind (kernel, JIT, Python, inlined,
 * unresolved). */
FlamProfile *flam_test_profile (const char *text);
FlamTree *flam_test_tree (const char *text, FlamTreeOrder order);
FlamTree *flam_test_tree_of (FlamProfile *profile, FlamTreeOrder order);

/* At least `n_nodes` nodes, the same on every machine: C++-like names of
 * `n_functions`, 12 modules, all kinds, weights from 1 to millions. */
FlamTree *flam_test_random_tree (guint n_nodes,
                                 guint n_functions,
                                 guint32 seed,
                                 FlamTreeOrder order);
/* One stack, `depth` deep. */
FlamTree *flam_test_deep_tree (guint depth);

/* The whole tree as an icicle, rows of 10 pixels. */
FlamViewport
flam_test_viewport (const FlamTree *tree, double width, double height);
/* The expected dump of the layout. */
void flam_test_assert_layout (const FlamRows *rows,
                              const FlamViewport *viewport,
                              const char *expected);

#endif
