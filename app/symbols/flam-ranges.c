/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ranges.h"

struct _FlamRanges
{
  GTree *tree; /* FlamRange -> itself, by start */
};

static int
compare_starts (gconstpointer a, gconstpointer b, gpointer data)
{
  guint64 x = ((const FlamRange *)a)->start;
  guint64 y = ((const FlamRange *)b)->start;

  return (x > y) - (x < y);
}

FlamRanges *
flam_ranges_new (void)
{
  FlamRanges *ranges = g_new (FlamRanges, 1);

  ranges->tree = g_tree_new_full (compare_starts, NULL, g_free, NULL);
  return ranges;
}

void
flam_ranges_free (FlamRanges *ranges)
{
  g_tree_unref (ranges->tree);
  g_free (ranges);
}

static void
insert (FlamRanges *ranges, const FlamRange *range)
{
  FlamRange *copy;

  if (range->start >= range->end)
    return;
  copy = g_memdup2 (range, sizeof *range);
  g_tree_replace (ranges->tree, copy, copy);
}

const FlamRange *
flam_ranges_next (const FlamRanges *ranges, guint64 address)
{
  FlamRange key = { .start = address };
  GTreeNode *node = g_tree_lower_bound (ranges->tree, &key);
  GTreeNode *before = node != NULL ? g_tree_node_previous (node)
                                   : g_tree_node_last (ranges->tree);
  const FlamRange *range = before != NULL ? g_tree_node_key (before) : NULL;

  if (range != NULL && range->end > address)
    return range;
  return node != NULL ? g_tree_node_key (node) : NULL;
}

void
flam_ranges_remove (FlamRanges *ranges, guint64 start, guint64 end)
{
  const FlamRange *found;

  while (start < end && (found = flam_ranges_next (ranges, start)) != NULL &&
         found->start < end)
    {
      FlamRange left = *found, right = *found;

      g_tree_remove (ranges->tree, found);
      left.end = MIN (left.end, start);
      right.offset += end - MIN (right.start, end);
      right.start = MAX (right.start, end);
      insert (ranges, &left);
      insert (ranges, &right);
    }
}

void
flam_ranges_add (FlamRanges *ranges, const FlamRange *range)
{
  if (range->start >= range->end)
    return;
  flam_ranges_remove (ranges, range->start, range->end);
  insert (ranges, range);
}

const FlamRange *
flam_ranges_find (const FlamRanges *ranges, guint64 address)
{
  const FlamRange *range = flam_ranges_next (ranges, address);

  return range != NULL && range->start <= address ? range : NULL;
}

guint
flam_ranges_get_n (const FlamRanges *ranges)
{
  return g_tree_nnodes (ranges->tree);
}

void
flam_ranges_copy (FlamRanges *ranges, const FlamRanges *from)
{
  for (GTreeNode *node = g_tree_node_first (from->tree); node != NULL;
       node = g_tree_node_next (node))
    flam_ranges_add (ranges, g_tree_node_key (node));
}
