/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TREE_VIEW_H
#define FLAM_TREE_VIEW_H

/* The call tree as rows that unfold; opens with the hottest path unfolded. */

#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_TREE_VIEW (flam_tree_view_get_type ())
G_DECLARE_FINAL_TYPE (FlamTreeView, flam_tree_view, FLAM, TREE_VIEW, FlamPage)

G_END_DECLS

#endif
