/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dump-private.h"

#include "flam-format.h"

#include <string.h>

static void
add_id (GString *out, const char *label, FlamId id)
{
  if (id == FLAM_NONE)
    g_string_append_printf (out, " %s=-", label);
  else
    g_string_append_printf (out, " %s=%u", label, id);
}

/* --- weights -------------------------------------------------------------- */

static void
add_split (GString *out,
           const FlamMeasure *measure,
           const FlamStateSplit *split)
{
  for (guint i = 0; i < FLAM_N_STATES; i++)
    if (split->weight[i] != 0)
      {
        g_autofree char *weight = flam_format_plain (measure, split->weight[i]);

        g_string_append_printf (
            out, " %s=%s", flam_state_to_string (i), weight);
      }
}

/* The weight of one stack, or of none. */
static void
dump_weight (FlamDump *dump,
             const FlamWeights *weights,
             const FlamMeasure *measure,
             FlamStackId stack)
{
  const FlamProfile *p = dump->profile;
  gboolean none = stack == FLAM_NONE;
  gint64 value = none ? weights->no_stack : weights->weight[stack];
  guint32 row = none ? p->stacks.n : stack;
  g_autofree char *weight = flam_format_plain (measure, value);

  if (value == 0)
    return;
  g_string_append (dump->out, "weight");
  add_id (dump->out, "stack", stack);
  g_string_append_printf (dump->out, " %s", weight);
  if (weights->split != NULL)
    add_split (dump->out, measure, &weights->split[row]);
  if (weights->other != NULL && !none)
    g_string_append_printf (
        dump->out, " other=%" G_GINT64_FORMAT, weights->other[stack]);
  if (!none)
    g_string_append_printf (
        dump->out,
        " %s",
        flam_dump_string (
            dump,
            p->functions.name[p->frames.function[p->stacks.frame[stack]]]));
  g_string_append_c (dump->out, '\n');
}

static void
dump_top_weights (FlamDump *dump,
                  const char *name,
                  const GArray *rows,
                  const FlamMeasure *measure)
{
  for (guint i = 0; i < rows->len; i++)
    {
      const FlamTopWeight *row = &g_array_index (rows, FlamTopWeight, i);
      g_autofree char *weight = flam_format_plain (measure, row->weight);

      g_string_append (dump->out, "weight");
      add_id (dump->out, name, row->top.row);
      add_id (dump->out, "stack", row->stack);
      g_string_append_printf (
          dump->out, " %s=%s\n", flam_state_to_string (row->state), weight);
    }
}

char *
flam_dump_weights (const FlamWeights *weights, const FlamSelection *selection)
{
  FlamDump dump = flam_dump_new (weights->profile);
  const FlamMeasure *measure = &weights->profile->measures[selection->measure];
  g_autofree char *total = flam_format_plain (measure, weights->total);

  g_string_append_printf (
      dump.out, "total %s %s\n", flam_dump_string (&dump, measure->id), total);
  for (FlamId i = 0; i < weights->profile->stacks.n; i++)
    dump_weight (&dump, weights, measure, i);
  dump_weight (&dump, weights, measure, FLAM_NONE);
  if (weights->by_top != NULL)
    dump_top_weights (&dump,
                      selection->by == FLAM_BY_LABEL     ? "value"
                      : selection->by == FLAM_BY_PROCESS ? "process"
                                                         : "thread",
                      weights->by_top,
                      measure);
  return flam_dump_end (&dump);
}

/* --- tree and layout ------------------------------------------------------ */

/* Levels; deeper ones have their depth as a number. A recursion of 100,000
 * would take gigabytes of spaces. */
#define INDENT_MAX 100

static void
add_status (GString *out, guint status)
{
  g_autofree char *words = flam_status_to_text (status);

  if (status != 0)
    g_string_append_printf (out, " status=%s", words);
}

char *
flam_dump_tree (const FlamTree *tree)
{
  const FlamMeasure measure = flam_tree_measure (tree);
  FlamDump dump = flam_dump_new (tree->profile);

  for (FlamId i = 0; i < tree->n; i++)
    {
      g_autofree char *self = flam_format_plain (&measure, tree->self[i]);
      g_autofree char *total = flam_format_plain (&measure, tree->total[i]);
      g_autofree char *detail = flam_tree_detail (tree, i);

      g_string_append_printf (
          dump.out, "%*s", 2 * (int)MIN (tree->depth[i], INDENT_MAX), "");
      if (tree->depth[i] > INDENT_MAX)
        g_string_append_printf (dump.out, "(%u) ", tree->depth[i]);
      g_string_append (dump.out,
                       flam_dump_visible (&dump, flam_tree_name (tree, i)));
      g_string_append (dump.out, detail);
      g_string_append_printf (dump.out, " self=%s total=%s", self, total);
      if (tree->split != NULL)
        add_split (dump.out, &measure, &tree->split[i]);
      add_status (dump.out, flam_tree_status (tree, i));
      g_string_append_c (dump.out, '\n');
    }
  return flam_dump_end (&dump);
}

char *
flam_dump_layout (const FlamTree *tree, const FlamLayout *layout)
{
  static const struct
  {
    guint flag;
    const char *word;
  } flags[] = { { FLAM_BOX_ANCESTOR, "ancestor" },
                { FLAM_BOX_FRAME, "frame" },
                { FLAM_BOX_HEAD, "head" },
                { FLAM_BOX_SELF, "self" } };
  FlamDump dump = flam_dump_new (tree->profile);

  for (guint32 i = 0; i < layout->n; i++)
    {
      const FlamBox *box = &layout->boxes[i];

      g_string_append_printf (
          dump.out, "x=%g y=%g width=%g", box->x, box->y, box->width);
      if (layout->viewport.shape != FLAM_SHAPE_FLAME)
        g_string_append_printf (dump.out, " height=%g", box->height);
      g_string_append_printf (dump.out, " node=%u", box->node);
      for (guint flag = 0; flag < G_N_ELEMENTS (flags); flag++)
        if (box->flags & flags[flag].flag)
          g_string_append_printf (dump.out, " %s", flags[flag].word);
      if (box->flags & FLAM_BOX_STRIP)
        g_string_append_printf (dump.out, " strip=%u", box->count);
      g_string_append_printf (
          dump.out,
          " %s\n",
          flam_dump_visible (&dump, flam_tree_name (tree, box->node)));
    }
  return flam_dump_end (&dump);
}

/* --- folded -------------------------------------------------------------- */

static void
add_folded_name (GString *path,
                 const FlamTree *tree,
                 FlamNodeId node,
                 gboolean annotate)
{
  g_autofree char *detail = flam_tree_detail (tree, node);
  g_autofree char *annotated =
      annotate ? flam_tree_annotated_name (tree, node) : NULL;
  const char *name =
      annotated != NULL ? annotated : flam_tree_name (tree, node);

  if (tree->depth[node] > 1)
    g_string_append_c (path, ';');
  for (const char *p = name; *p; p++)
    g_string_append_c (path, *p == ';' ? ':' : *p == '\n' ? ' ' : *p);
  g_string_append (path, detail);
}

guint64
flam_dump_paths_size (const FlamTree *tree, guint width)
{
  /* Of the path of the last node at each depth. */
  g_autofree guint64 *lengths = g_new0 (guint64, tree->max_depth + 1);
  guint64 size = 0;

  for (FlamId i = 1; i < tree->n; i++)
    {
      guint32 depth = tree->depth[i];
      guint64 own = width != 0 ? width : strlen (flam_tree_name (tree, i)) + 1;

      lengths[depth] = lengths[depth - 1] + own;
      if (tree->self[i] != 0)
        size += lengths[depth];
    }
  return size;
}

typedef struct
{
  gint64 base;
  gint64 fresh;
} Columns;

static void
add_path (GHashTable *table, const char *path, gboolean is_base, gint64 self)
{
  Columns *columns = g_hash_table_lookup (table, path);

  if (columns == NULL)
    {
      columns = g_new0 (Columns, 1);
      g_hash_table_insert (table, g_strdup (path), columns);
    }
  *(is_base ? &columns->base : &columns->fresh) += self;
}

/* Two nodes may have one path. */
static void
add_paths (GHashTable *table,
           const FlamTree *tree,
           gboolean is_base,
           gboolean annotate)
{
  g_autoptr (GString) path = g_string_new (NULL);
  /* Length of the path of the last node at each depth. */
  g_autofree gsize *lengths = g_new0 (gsize, tree->max_depth + 1);

  for (FlamId i = 0; i < tree->n; i++)
    {
      if (i > 0)
        {
          g_string_truncate (path, lengths[tree->depth[i] - 1]);
          add_folded_name (path, tree, i, annotate);
        }
      lengths[tree->depth[i]] = path->len;
      if (tree->self[i] != 0)
        add_path (table, path->str, is_base, tree->self[i]);
    }
}

/* Whether its stacks were read from text that annotates frames. The kinds of
 * code of other captures are not part of their names. */
static gboolean
is_annotated (const FlamTree *tree)
{
  const FlamProfile *profile = tree->profile;

  if (g_strcmp0 (profile->facts.format, "folded") != 0)
    return FALSE;
  for (FlamId i = 0; i < profile->functions.n; i++)
    if (profile->functions.kind[i] == FLAM_KIND_KERNEL ||
        profile->functions.kind[i] == FLAM_KIND_JIT ||
        profile->functions.kind[i] == FLAM_KIND_WAKER)
      return TRUE;
  for (FlamId i = 0; i < profile->frames.n; i++)
    if (profile->frames.inline_depth[i] > 0)
      return TRUE;
  return FALSE;
}

char *
flam_dump_folded_diff (const FlamTree *base,
                       const FlamTree *fresh,
                       FlamDiffScale scale,
                       gboolean changed)
{
  const FlamMeasure measure = flam_tree_measure (fresh);
  gboolean annotate = is_annotated (base) || is_annotated (fresh);
  /* path -> Columns */
  g_autoptr (GHashTable) table =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GList) keys = NULL;
  GString *out = g_string_new (NULL);

  add_paths (table, base, TRUE, annotate);
  add_paths (table, fresh, FALSE, annotate);
  keys = g_list_sort (g_hash_table_get_keys (table), (GCompareFunc)strcmp);
  for (GList *key = keys; key != NULL; key = key->next)
    {
      const Columns *columns = g_hash_table_lookup (table, key->data);
      gint64 was = flam_diff_scaled (columns->base, scale);
      g_autofree char *before = flam_format_plain (&measure, was);
      g_autofree char *now = flam_format_plain (&measure, columns->fresh);

      if (changed && was == columns->fresh)
        continue;
      g_string_append_printf (
          out, "%s %s %s\n", (const char *)key->data, before, now);
    }
  return g_string_free (out, FALSE);
}
