/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-report.h"

gboolean
flam_report_same_name (FlamSlice a, FlamSlice b)
{
  return a.length == b.length && memcmp (a.text, b.text, a.length) == 0;
}

gboolean
flam_report_is_address (FlamSlice name)
{
  return flam_slice_begins (name, "0x");
}

gboolean
flam_report_is_of (const FlamReportEntry *entry, FlamSlice name)
{
  return flam_report_same_name (entry->symbol, name) ||
         (flam_report_is_address (entry->symbol) &&
          flam_report_is_address (name));
}

void
flam_report_add (gint64 *sum, gint64 value)
{
  if (__builtin_add_overflow (*sum, value, sum))
    *sum = G_MAXINT64;
}

gint64
flam_report_part (gint64 weight, gint64 value, gint64 whole)
{
  if (value >= whole)
    return weight;
  return (gint64)(((__int128)weight * value + whole / 2) / whole);
}

static FlamReportNode *
parent_of (const FlamReport *report, const FlamReportNode *node)
{
  return node->parent != FLAM_NONE ? flam_report_node (report, node->parent)
                                   : NULL;
}

/* --- direction of the trees ---------------------------------------------- */

/* The first frame of the tree of a node. */
static FlamSlice
first_frame (const FlamReport *report, guint32 i)
{
  const FlamReportNode *node = flam_report_node (report, i);

  while (node->parent != FLAM_NONE)
    node = parent_of (report, node);
  return node->n_frames > 0 ? flam_report_frame (report, node->frame)
                            : (FlamSlice){ "", 0 };
}

static FlamSlice
last_frame (const FlamReport *report, guint32 i)
{
  const FlamReportNode *node = flam_report_node (report, i);

  return node->n_frames > 0
             ? flam_report_frame (report, node->frame + node->n_frames - 1)
             : (FlamSlice){ "", 0 };
}

static gboolean
has_branches (const FlamReport *report, const FlamReportEntry *entry, guint32 i)
{
  return i + 1 < entry->node + entry->n_nodes &&
         flam_report_node (report, i + 1)->parent == i;
}

/* A chain of more than one frame begins or ends with the function of its
 * row. */
static void
find_order (FlamReport *report)
{
  guint64 from = 0, to = 0;

  for (guint e = 0; e < report->entries->len; e++)
    {
      const FlamReportEntry *entry = flam_report_entry (report, e);
      for (guint32 i = entry->node; i < entry->node + entry->n_nodes; i++)
        {
          gboolean begins, ends;
          if (entry->own == 0 || has_branches (report, entry, i))
            continue;
          begins = flam_report_is_of (entry, first_frame (report, i));
          ends = flam_report_is_of (entry, last_frame (report, i));
          from += begins && !ends;
          to += ends && !begins;
        }
    }
  report->callers_first = to > 0 && (report->children || to > from);
}

/* --- values -------------------------------------------------------------- */

/* Whether branches have shares of their parent: then their sum exceeds the
 * parent's own share. */
static gboolean
has_shares_of_parents (const FlamReport *report, const FlamReportEntry *entry)
{
  gboolean found = FALSE;
  gint64 sum = 0;

  for (guint32 i = entry->node; i < entry->node + entry->n_nodes; i++)
    {
      const FlamReportNode *node = flam_report_node (report, i);
      FlamReportNode *parent = parent_of (report, node);
      gint64 *in = parent != NULL ? &parent->in_branches : &sum;
      gint64 whole =
          parent != NULL && !parent->all ? parent->value : entry->all;

      if (!node->percent)
        continue;
      flam_report_add (in, node->value);
      found |= *in - entry->n_nodes > whole;
    }
  return found;
}

static void
settle_values (const FlamReport *report,
               const FlamReportEntry *entry,
               gboolean of_parents)
{
  for (guint32 i = entry->node; i < entry->node + entry->n_nodes; i++)
    flam_report_node (report, i)->in_branches = 0;
  for (guint32 i = entry->node; i < entry->node + entry->n_nodes; i++)
    {
      FlamReportNode *node = flam_report_node (report, i);
      FlamReportNode *parent = parent_of (report, node);

      if (node->all)
        node->value = entry->all;
      else if (of_parents && node->percent)
        node->value =
            flam_report_part (parent != NULL ? parent->value : entry->all,
                              node->value,
                              FLAM_REPORT_WHOLE);
      if (parent != NULL)
        flam_report_add (&parent->in_branches, node->value);
    }
}

void
flam_report_settle (FlamReport *report)
{
  gboolean of_parents = FALSE;

  find_order (report);
  for (guint e = 0; e < report->entries->len; e++)
    of_parents |= has_shares_of_parents (report, flam_report_entry (report, e));
  for (guint e = 0; e < report->entries->len; e++)
    settle_values (report, flam_report_entry (report, e), of_parents);
}

/* --- weights ------------------------------------------------------------- */

/* Gives a branch its share of its parent's weight, so that rounding errors do
 * not add up; apart from rounding, the parent has no more than its branches. */
static void
hand_out (const FlamReportEntry *entry,
          FlamReportNode *parent,
          FlamReportNode *node)
{
  gboolean counts = !node->percent && !node->all;
  gint64 branches = parent->in_branches;
  gint64 whole = counts && parent->all ? branches : parent->value;
  gint64 before = parent->handed;

  if (ABS (whole - branches) <= entry->n_nodes)
    whole = branches;
  whole = MAX (whole, 1);
  flam_report_add (&parent->handed, node->value);
  for (guint i = 0; i < 2; i++)
    {
      gint64 weight = parent->weight[i];
      node->weight[i] = flam_report_part (weight, parent->handed, whole) -
                        flam_report_part (weight, before, whole);
      parent->given[i] += node->weight[i];
    }
}

/* If the tree of a function includes its callees, only the chains that end in
 * the function are its own. */
static gboolean
leads_to (const FlamReport *report, const FlamReportEntry *entry, guint32 i)
{
  return !has_branches (report, entry, i) &&
         flam_report_is_of (entry, last_frame (report, i)) &&
         (entry->own == entry->all ||
          !flam_report_is_of (entry, first_frame (report, i)));
}

static void
share_chains (FlamReport *report,
              const FlamReportEntry *entry,
              FlamReportNode *root)
{
  root->value = entry->own;
  for (guint32 i = entry->node; i < entry->node + entry->n_nodes; i++)
    {
      FlamReportNode *node = flam_report_node (report, i);
      if (!leads_to (report, entry, i))
        continue;
      if (node->all)
        node->value = entry->own;
      flam_report_add (&root->in_branches, node->value);
    }
  for (guint32 i = entry->node; i < entry->node + entry->n_nodes; i++)
    if (leads_to (report, entry, i))
      hand_out (entry, root, flam_report_node (report, i));
}

static void
share_branches (FlamReport *report,
                const FlamReportEntry *entry,
                FlamReportNode *root)
{
  for (guint32 i = entry->node; i < entry->node + entry->n_nodes; i++)
    {
      const FlamReportNode *node = flam_report_node (report, i);
      if (node->parent == FLAM_NONE)
        flam_report_add (&root->in_branches, node->value);
    }
  for (guint32 i = entry->node; i < entry->node + entry->n_nodes; i++)
    {
      FlamReportNode *node = flam_report_node (report, i);
      FlamReportNode *parent = parent_of (report, node);
      hand_out (entry, parent != NULL ? parent : root, node);
    }
}

void
flam_report_share_out (FlamReport *report,
                       const FlamReportEntry *entry,
                       gint64 *weights)
{
  FlamReportNode root = { .value = entry->all,
                          .all = TRUE,
                          .weight = { weights[0], weights[1] } };

  if (report->children && report->callers_first)
    share_chains (report, entry, &root);
  else
    share_branches (report, entry, &root);
  for (guint i = 0; i < 2; i++)
    weights[i] -= root.given[i];
}
