/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SANDWICH_H
#define FLAM_SANDWICH_H

/* One function of a tree, as the middle of two: who called it, and what it
 * calls. The first node of both is the function itself.
 *
 *   tree              callers of B     callees of B
 *   A ─┬─ B ─┬─ C 2   B 6 ─┬─ A 5      B 6 ─┬─ C 2
 *      │     └─ D 3        └─ X 1           └─ D 3
 *   X ──── B 1
 *
 * Every stack through the function counts once: of a recursion, the outermost
 * call is the function, the others are its callees. So both trees' totals are
 * the function's total. */

#include "flam-tree.h"

G_BEGIN_DECLS

/* `node` is any node of the function; the tree must not be inverted. NULL only
 * with an error (cancelled). */
FlamTree *flam_sandwich_callers (const FlamTree *tree,
                                 FlamNodeId node,
                                 const FlamProgress *progress,
                                 GError **error);
FlamTree *flam_sandwich_callees (const FlamTree *tree,
                                 FlamNodeId node,
                                 const FlamProgress *progress,
                                 GError **error);

/* The node of `to`, another tree of the same selection, for the same thing as
 * `node` of `from`, the heaviest of several; FLAM_NONE if there is none. */
FlamId
flam_sandwich_find (const FlamTree *from, FlamNodeId node, const FlamTree *to);
/* The node of `to` for a node of the callers or callees: the one on the same
 * path to (or from) the function; the heaviest of several, or FLAM_NONE. */
FlamId flam_sandwich_find_call (const FlamTree *side,
                                FlamNodeId node,
                                const FlamTree *to);

G_END_DECLS

#endif
