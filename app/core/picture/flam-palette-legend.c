/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-palette-private.h"

#include <string.h>

/* --- legend -------------------------------------------------------------- */

static void
legend_entry_free (gpointer data)
{
  FlamLegendEntry *entry = data;

  g_free (entry->name);
  g_free (entry);
}

/* How much of a class or module there is. */
typedef struct
{
  gint64 self;
  gint64 widest; /* the greatest total of its nodes */
} Share;

static void
share_add (Share *share, const FlamTree *tree, FlamId node)
{
  share->self += MAX (tree->self[node], 0);
  share->widest = MAX (share->widest, tree->total[node]);
}

typedef struct
{
  FlamPalette *palette;
  const FlamTree *tree;
  FlamId node;
  GHashTable *entries; /* FlamLegendEntry by name */
} Legend;

/* What is nowhere wider than a two-hundredth of the picture is not in it. */
static void
legend_add (Legend *legend,
            FlamColorClass class,
            const char *module,
            Share share)
{
  gboolean is_kind = class != FLAM_CLASS_NATIVE || !*module ||
                     legend->palette->mode == FLAM_PALETTE_SAFE;
  const char *key = is_kind ? flam_class_looks[class].name : module;
  FlamLegendEntry *entry = g_hash_table_lookup (legend->entries, key);

  if (share.widest == 0 ||
      share.widest < legend->tree->total[legend->node] / 200)
    return;
  if (entry == NULL)
    {
      entry = g_new0 (FlamLegendEntry, 1);
      entry->name = g_strdup (key);
      entry->is_kind = is_kind;
      entry->color = flam_palette_class_color (legend->palette, class, module);
      g_hash_table_insert (legend->entries, entry->name, entry);
    }
  entry->weight += share.self;
}

/* A million nodes are summed by class and module id; names come after. */
static void
legend_by_module (Legend *legend)
{
  const FlamTree *tree = legend->tree;
  const FlamProfile *profile = tree->profile;
  g_autofree Share *modules = g_new0 (Share, profile->modules.n + 1);
  Share classes[FLAM_N_CLASSES] = { 0 };

  for (FlamId i = MAX (legend->node, 1); i < tree->subtree_end[legend->node];
       i++)
    {
      FlamId function = flam_tree_function (tree, i);
      FlamId module = function == FLAM_NONE
                          ? FLAM_NONE
                          : profile->functions.module[function];
      FlamColorClass class = flam_palette_class_of_node (tree, i);

      if (class == FLAM_CLASS_NATIVE && module != FLAM_NONE)
        share_add (&modules[module], tree, i);
      else
        share_add (&classes[class], tree, i);
    }
  for (guint i = 0; i < FLAM_N_CLASSES; i++)
    legend_add (legend, i, "", classes[i]);
  for (FlamId i = 0; i < profile->modules.n; i++)
    legend_add (legend,
                FLAM_CLASS_NATIVE,
                flam_profile_string (profile, profile->modules.name[i]),
                modules[i]);
}

static void
legend_by_name (Legend *legend)
{
  const FlamTree *tree = legend->tree;

  for (FlamId i = MAX (legend->node, 1); i < tree->subtree_end[legend->node];
       i++)
    {
      Share share = { 0 };

      share_add (&share, tree, i);
      legend_add (legend,
                  flam_palette_class_of_node (tree, i),
                  flam_palette_module_of_node (tree, i),
                  share);
    }
}

static int
heavier_first (gconstpointer a, gconstpointer b)
{
  const FlamLegendEntry *x = *(FlamLegendEntry *const *)a;
  const FlamLegendEntry *y = *(FlamLegendEntry *const *)b;

  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return strcmp (x->name, y->name);
}

static void
fold_the_rest (FlamPalette *palette, GPtrArray *entries, guint max)
{
  FlamLegendEntry *other;

  if (entries->len <= max || max == 0)
    return;
  other = g_new0 (FlamLegendEntry, 1);
  other->name = g_strdup (N_ ("Other modules"));
  other->is_kind = TRUE;
  other->color = palette->theme->strip;
  for (guint i = max - 1; i < entries->len; i++)
    other->weight += ((FlamLegendEntry *)entries->pdata[i])->weight;
  g_ptr_array_set_size (entries, (gint)max - 1);
  g_ptr_array_add (entries, other);
}

static void
legend_by_state (Legend *legend, GPtrArray *entries)
{
  const FlamTree *tree = legend->tree;

  for (guint i = 0; i < FLAM_N_STATES; i++)
    if (tree->split[legend->node].weight[i] > 0)
      {
        FlamLegendEntry *entry = g_new0 (FlamLegendEntry, 1);

        entry->name = g_strdup (flam_state_to_title (i));
        entry->is_kind = TRUE;
        entry->color =
            flam_palette_ramp (legend->palette, i, FLAM_RAMP_LEVELS, 0);
        entry->weight = tree->split[legend->node].weight[i];
        g_ptr_array_add (entries, entry);
      }
  g_ptr_array_sort (entries, heavier_first);
}

static void
legend_of_change (Legend *legend, GPtrArray *entries)
{
  static const struct
  {
    const char *name;
    guint ramp, level;
  } looks[] = {
    { N_ ("Grew"), FLAM_RAMP_GREW, FLAM_RAMP_LEVELS },
    { N_ ("Shrank"), FLAM_RAMP_SHRANK, FLAM_RAMP_LEVELS },
    { N_ ("As before"), FLAM_RAMP_GREW, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      FlamLegendEntry *entry = g_new0 (FlamLegendEntry, 1);

      entry->name = g_strdup (looks[i].name);
      entry->is_kind = TRUE;
      entry->color = flam_palette_ramp (legend->palette,
                                        (looks[i].ramp == FLAM_RAMP_GREW) !=
                                                legend->palette->colors.negate
                                            ? FLAM_RAMP_GREW
                                            : FLAM_RAMP_SHRANK,
                                        looks[i].level,
                                        0);
      g_ptr_array_add (entries, entry);
    }
}

GPtrArray *
flam_palette_legend (FlamPalette *palette,
                     const FlamTree *tree,
                     FlamId node,
                     guint max)
{
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *entries = g_ptr_array_new_with_free_func (legend_entry_free);
  Legend legend = { palette, tree, node, by_name };
  GHashTableIter iter;
  gpointer entry;

  if (palette->mode == FLAM_PALETTE_STATE && tree->split != NULL)
    {
      legend_by_state (&legend, entries);
      return entries;
    }
  if (palette->mode == FLAM_PALETTE_CHANGE && tree->change != NULL)
    {
      legend_of_change (&legend, entries);
      return entries;
    }
  if (palette->mode >= FLAM_PALETTE_HOT || palette->colors.map != NULL)
    return entries;
  if (tree->by == FLAM_BY_MODULE || tree->by == FLAM_BY_FILE)
    legend_by_name (&legend);
  else
    legend_by_module (&legend);
  g_hash_table_iter_init (&iter, by_name);
  while (g_hash_table_iter_next (&iter, NULL, &entry))
    g_ptr_array_add (entries, entry);
  g_ptr_array_sort (entries, heavier_first);
  fold_the_rest (palette, entries, max);
  return entries;
}
