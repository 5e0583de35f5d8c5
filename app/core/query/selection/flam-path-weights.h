/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PATH_WEIGHTS_H
#define FLAM_PATH_WEIGHTS_H

/* Weights + a node of their tree -> the weights of the stacks through that
 * node, all others 0: what the lines and the machine code of a selected path
 * cost. */

#include "flam-tree.h"

G_BEGIN_DECLS

/* `tree` was made of these weights with this selection. If threads, processes
 * or labels are on top of it, the result has no other unit and no errors: the
 * weights do not split these. Its total is the node's. */
FlamWeights *flam_path_weights_new (const FlamWeights *weights,
                                    const FlamSelection *selection,
                                    const FlamTree *tree,
                                    FlamNodeId node);

G_END_DECLS

#endif
