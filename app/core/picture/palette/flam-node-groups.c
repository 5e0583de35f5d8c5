/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-node-groups.h"

#define BLOCK 64

struct _FlamNodeGroups
{
  const FlamTree *tree;
  guint32 *first;         /* by group, and the end */
  FlamNodeId *nodes;      /* group by group, ascending in each */
  FlamGroupShare *blocks; /* of each BLOCK of the nodes */
};

static void
add_node (FlamGroupShare *share, const FlamTree *tree, FlamNodeId node)
{
  share->self += MAX (tree->self[node], 0);
  share->widest = MAX (share->widest, tree->total[node]);
}

/* Counts the nodes of each group, which gives where each begins, then puts
 * every node into its place. */
static void
sort_nodes (FlamNodeGroups *groups, const guint32 *group, guint32 n_groups)
{
  guint32 n = groups->tree->n;
  g_autofree guint32 *next = g_new (guint32, n_groups + 1);

  groups->first = g_new0 (guint32, (gsize)n_groups + 1);
  for (FlamNodeId i = 1; i < n; i++)
    if (group[i] != FLAM_NONE)
      groups->first[group[i] + 1]++;
  for (guint32 i = 0; i < n_groups; i++)
    groups->first[i + 1] += groups->first[i];
  memcpy (next, groups->first, sizeof (guint32) * (n_groups + 1));
  groups->nodes = g_new (FlamNodeId, groups->first[n_groups]);
  for (FlamNodeId i = 1; i < n; i++)
    if (group[i] != FLAM_NONE)
      groups->nodes[next[group[i]]++] = i;
}

FlamNodeGroups *
flam_node_groups_new (const FlamTree *tree,
                      const guint32 *group,
                      guint32 n_groups)
{
  FlamNodeGroups *groups = g_new0 (FlamNodeGroups, 1);
  guint32 n;

  groups->tree = tree;
  sort_nodes (groups, group, n_groups);
  n = groups->first[n_groups];
  groups->blocks = g_new0 (FlamGroupShare, n / BLOCK + 1);
  for (guint32 i = 0; i < n; i++)
    add_node (&groups->blocks[i / BLOCK], tree, groups->nodes[i]);
  return groups;
}

void
flam_node_groups_free (FlamNodeGroups *groups)
{
  g_free (groups->first);
  g_free (groups->nodes);
  g_free (groups->blocks);
  g_free (groups);
}

/* The first place of [from, end) whose node is `node` or a later one. */
static guint32
find_place (const FlamNodeGroups *groups,
            guint32 from,
            guint32 end,
            FlamNodeId node)
{
  while (from < end)
    {
      guint32 middle = from + (end - from) / 2;

      if (groups->nodes[middle] < node)
        from = middle + 1;
      else
        end = middle;
    }
  return from;
}

FlamGroupShare
flam_node_groups_share (const FlamNodeGroups *groups,
                        guint32 group,
                        FlamNodeId subtree)
{
  const FlamTree *tree = groups->tree;
  guint32 last = groups->first[group + 1];
  guint32 at = find_place (groups, groups->first[group], last, subtree);
  guint32 end = find_place (groups, at, last, tree->subtree_end[subtree]);
  FlamGroupShare share = { 0 };

  while (at < end)
    if (at % BLOCK == 0 && end - at >= BLOCK)
      {
        const FlamGroupShare *block = &groups->blocks[at / BLOCK];

        share.self += block->self;
        share.widest = MAX (share.widest, block->widest);
        at += BLOCK;
      }
    else
      add_node (&share, tree, groups->nodes[at++]);
  return share;
}
