/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the tree's two halves share. */

#include "flam-tree.h"

G_BEGIN_DECLS

/* The name of a node's key, as `by` and `thread` say what it is. */
const char *flam_tree_key_name (const FlamProfile *profile,
                                FlamBy by,
                                FlamId key,
                                gboolean thread);

G_END_DECLS
