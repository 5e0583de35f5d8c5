/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_NODE_GROUPS_H
#define FLAM_NODE_GROUPS_H

/* The nodes of a tree by groups that exclude each other, such as those of one
 * color, and what each group weighs within any subtree. A subtree is a range of
 * nodes, so it is a range of each group's nodes, too:
 *
 *   group    nodes, in order     blocks of BLOCK nodes: their sum and maximum
 *   0        1  4  5  9          [      ][
 *   1        2  3  8                     ][      ]
 *
 * Two searches find the ends of that range, and whole blocks of it are added at
 * once, so a query costs little more than the number of groups. */

#include "flam-core-query.h"

G_BEGIN_DECLS

typedef struct _FlamNodeGroups FlamNodeGroups;

/* The weight of the nodes of a group within a subtree. */
typedef struct
{
  gint64 self;   /* without what is below zero */
  gint64 widest; /* the greatest total of one of them */
} FlamGroupShare;

/* `group`: for each node, below n_groups, or FLAM_NONE. The tree has to outlive
 * the groups. */
FlamNodeGroups *flam_node_groups_new (const FlamTree *tree,
                                      const guint32 *group,
                                      guint32 n_groups);
void flam_node_groups_free (FlamNodeGroups *groups);

/* The root itself belongs to no group. */
FlamGroupShare flam_node_groups_share (const FlamNodeGroups *groups,
                                       guint32 group,
                                       FlamNodeId subtree);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamNodeGroups, flam_node_groups_free)

G_END_DECLS

#endif
