/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-named-color.h"
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

/* The weight of a class or module. */
typedef struct
{
  gint64 self;
  gint64 widest; /* the greatest total of its nodes */
} Share;

static void
share_add (Share *share, const FlamTree *tree, FlamNodeId node)
{
  share->self += MAX (tree->self[node], 0);
  share->widest = MAX (share->widest, tree->total[node]);
}

typedef struct
{
  FlamPalette *palette;
  const FlamTree *tree;
  FlamNodeId node;
  GHashTable *entries; /* FlamLegendEntry by name */
  Share *rules;        /* of the user's rules; NULL: none */
  guint32 *
      known; /* per function: its rule, plus 2; 1: none; 0: not looked up yet */
} Legend;

/* Entries that are always narrower than a two-hundredth of the picture are left
 * out. */
static gboolean
is_seen (const Legend *legend, Share share)
{
  return share.widest > 0 &&
         share.widest >= legend->tree->total[legend->node] / 200;
}

/* --- the user's rules ----------------------------------------------------- */

/* Names are matched once per function if nodes are functions. */
static guint
rule_of (Legend *legend, FlamNodeId node)
{
  const FlamColorRules *rules = legend->palette->colors.rules;
  const FlamTree *tree = legend->tree;
  FlamFunctionId function = flam_tree_function (tree, node);
  guint32 *known;

  if (!flam_by_is_code (tree->by) || function >= tree->profile->functions.n)
    return flam_color_rules_find_node (rules, tree, node);
  known = &legend->known[function];
  if (*known == 0)
    {
      guint rule = flam_color_rules_find_node (rules, tree, node);

      *known = rule == FLAM_NONE ? 1 : rule + 2;
    }
  return *known == 1 ? FLAM_NONE : *known - 2;
}

/* Whether a node has its color from a rule, which then gets its share. */
static gboolean
take_ruled (Legend *legend, FlamNodeId node)
{
  guint rule = legend->rules != NULL ? rule_of (legend, node) : FLAM_NONE;

  if (rule == FLAM_NONE)
    return FALSE;
  share_add (&legend->rules[rule], legend->tree, node);
  return TRUE;
}

static void
legend_by_rules (Legend *legend)
{
  if (legend->rules != NULL)
    for (FlamId i = MAX (legend->node, 1);
         i < legend->tree->subtree_end[legend->node];
         i++)
      take_ruled (legend, i);
}

static void
add_rules (const Legend *legend, GPtrArray *entries)
{
  const FlamColorRules *rules = legend->palette->colors.rules;

  if (legend->rules == NULL)
    return;
  for (guint i = 0; i < flam_color_rules_get_n (rules); i++)
    if (is_seen (legend, legend->rules[i]))
      {
        FlamLegendEntry *entry = g_new0 (FlamLegendEntry, 1);

        entry->name = g_strdup (flam_color_rules_get_pattern (rules, i));
        entry->color = flam_palette_rule_color (legend->palette, i);
        entry->weight = legend->rules[i].self;
        g_ptr_array_add (entries, entry);
      }
}

/* --- colors of the palette ------------------------------------------------ */

static void
legend_add_entry (Legend *legend,
                  const char *key,
                  gboolean is_kind,
                  FlamColor color,
                  Share share)
{
  FlamLegendEntry *entry = g_hash_table_lookup (legend->entries, key);

  if (!is_seen (legend, share))
    return;
  if (entry == NULL)
    {
      entry = g_new0 (FlamLegendEntry, 1);
      entry->name = g_strdup (key);
      entry->is_kind = is_kind;
      entry->color = color;
      g_hash_table_insert (legend->entries, entry->name, entry);
    }
  entry->weight += share.self;
}

static void
legend_add (Legend *legend,
            FlamColorClass class,
            const char *module,
            Share share)
{
  gboolean is_kind = class != FLAM_CLASS_NATIVE || !*module ||
                     legend->palette->mode == FLAM_PALETTE_SAFE;

  legend_add_entry (legend,
                    is_kind ? flam_class_looks[class].name : module,
                    is_kind,
                    flam_palette_class_color (legend->palette, class, module),
                    share);
}

/* A group of nodes with one entry: first the classes, then the groups that the
 * palette distinguishes. */
typedef guint32 (*GroupFunc) (const FlamTree *tree, FlamNodeId node);

/* A million nodes are summed at each zoom, so the group is looked up once per
 * frame, and names are read later. For nodes without a frame, such as threads,
 * it is looked up for each. */
static Share *
sum_groups (Legend *legend, guint32 n_groups, GroupFunc group_of)
{
  const FlamTree *tree = legend->tree;
  guint32 n_frames = tree->profile->frames.n;
  g_autofree guint32 *known = g_new0 (guint32, n_frames + 1); /* plus 1 */
  Share *shares = g_new0 (Share, n_groups);

  for (FlamId i = MAX (legend->node, 1); i < tree->subtree_end[legend->node];
       i++)
    {
      FlamFrameId frame = MIN (tree->frame[i], n_frames);

      if (take_ruled (legend, i))
        continue;
      if (known[frame] == 0 || frame == n_frames)
        known[frame] = group_of (tree, i) + 1;
      share_add (&shares[known[frame] - 1], tree, i);
    }
  return shares;
}

static void
add_classes (Legend *legend, const Share *classes)
{
  for (guint i = 0; i < FLAM_N_CLASSES; i++)
    legend_add (legend, i, "", classes[i]);
}

static guint32
group_in_module (const FlamTree *tree, FlamNodeId node, gboolean inlined)
{
  FlamFunctionId function = flam_tree_function (tree, node);
  FlamColorClass class = flam_palette_class_of (tree, node, function);
  FlamModuleId module = function == FLAM_NONE
                            ? FLAM_NONE
                            : tree->profile->functions.module[function];

  return (class == FLAM_CLASS_NATIVE ||
          (inlined && class == FLAM_CLASS_INLINED)) &&
                 module != FLAM_NONE
             ? (guint32)FLAM_N_CLASSES + module
             : class;
}

/* Inlined code has a shade of its module's color. */
static guint32
class_or_module (const FlamTree *tree, FlamNodeId node)
{
  return group_in_module (tree, node, TRUE);
}

/* Inlined code has a color of its own. */
static guint32
class_or_own_module (const FlamTree *tree, FlamNodeId node)
{
  return group_in_module (tree, node, FALSE);
}

static void
legend_by_module (Legend *legend)
{
  const FlamProfile *profile = legend->tree->profile;
  g_autofree Share *shares = sum_groups (
      legend,
      FLAM_N_CLASSES + profile->modules.n,
      legend->palette->mode == FLAM_PALETTE_SAFE ? class_or_own_module
                                                 : class_or_module);

  add_classes (legend, shares);
  for (FlamId i = 0; i < profile->modules.n; i++)
    legend_add (legend,
                FLAM_CLASS_NATIVE,
                flam_profile_string (profile, profile->modules.name[i]),
                shares[FLAM_N_CLASSES + i]);
}

/* Code in an unknown language is listed by its kind. */
static guint32
class_or_language (const FlamTree *tree, FlamNodeId node)
{
  FlamFunctionId function = flam_tree_function (tree, node);
  FlamColorClass class = flam_palette_class_of (tree, node, function);
  FlamLanguage language = FLAM_LANGUAGE_UNKNOWN;

  if (function != FLAM_NONE && class != FLAM_CLASS_UNRESOLVED &&
      class != FLAM_CLASS_ROOT && class != FLAM_CLASS_WAKER)
    language = flam_language_of_function (tree->profile, function);
  return language != FLAM_LANGUAGE_UNKNOWN ? (guint32)FLAM_N_CLASSES + language
                                           : class;
}

static void
legend_by_language (Legend *legend)
{
  g_autofree Share *shares = sum_groups (
      legend, (guint32)FLAM_N_CLASSES + FLAM_N_LANGUAGES, class_or_language);

  add_classes (legend, shares);
  for (guint i = 1; i < FLAM_N_LANGUAGES; i++)
    legend_add_entry (legend,
                      flam_language_name (i),
                      FALSE,
                      flam_palette_language_color (legend->palette, i),
                      shares[FLAM_N_CLASSES + i]);
}

static void
legend_by_name (Legend *legend)
{
  const FlamTree *tree = legend->tree;

  for (FlamId i = MAX (legend->node, 1); i < tree->subtree_end[legend->node];
       i++)
    {
      Share share = { 0 };

      if (take_ruled (legend, i))
        continue;
      share_add (&share, tree, i);
      legend_add (legend,
                  flam_palette_class_of_node (tree, i),
                  flam_palette_module_of_node (tree, i),
                  share);
    }
}

/* Frames without a status have two alternating colors: that of the widest frame
 * represents both. */
static void
legend_by_status (Legend *legend)
{
  const FlamTree *tree = legend->tree;
  Share bits[FLAM_N_STATUSES] = { 0 };
  Share classes[FLAM_N_CLASSES] = { 0 };
  Share others[2] = { 0 }; /* at even depths and at odd ones */
  guint row;

  for (FlamId i = MAX (legend->node, 1); i < tree->subtree_end[legend->node];
       i++)
    {
      guint bit = flam_palette_status_bit (flam_tree_status (tree, i));
      FlamColorClass class = flam_palette_class_of_node (tree, i);

      if (take_ruled (legend, i))
        continue;
      if (class == FLAM_CLASS_ROOT || class == FLAM_CLASS_WAKER)
        share_add (&classes[class], tree, i);
      else
        share_add (bit < FLAM_N_STATUSES ? &bits[bit]
                                         : &others[tree->depth[i] & 1],
                   tree,
                   i);
    }
  add_classes (legend, classes);
  for (guint i = 0; i < FLAM_N_STATUSES; i++)
    legend_add_entry (legend,
                      flam_status_to_title (i),
                      TRUE,
                      flam_palette_status_color (i),
                      bits[i]);
  row = others[1].widest > others[0].widest;
  others[row].self += others[!row].self;
  legend_add_entry (legend,
                    N_ ("Other code"),
                    TRUE,
                    flam_palette_julia_plain (legend->palette, row),
                    others[row]);
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

/* The first `kept` are not modules. */
static void
fold_the_rest (FlamPalette *palette, GPtrArray *entries, guint kept, guint max)
{
  guint first = MAX (kept, max - 1);
  FlamLegendEntry *other;

  if (entries->len <= first + 1 || max == 0)
    return;
  other = g_new0 (FlamLegendEntry, 1);
  other->name = g_strdup (N_ ("Other modules"));
  other->is_kind = TRUE;
  other->color = palette->theme->strip;
  for (guint i = first; i < entries->len; i++)
    other->weight += ((FlamLegendEntry *)entries->pdata[i])->weight;
  g_ptr_array_set_size (entries, (gint)first);
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

/* The kinds of change that occur: there may be no new or gone frames. */
static void
legend_of_self (Legend *legend, GPtrArray *entries)
{
  static const struct
  {
    const char *name;
    guint level;
  } looks[] = {
    { N_ ("Much self cost"), FLAM_RAMP_LEVELS },
    { N_ ("Some"), FLAM_RAMP_LEVELS / 2 },
    { N_ ("None"), 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      FlamLegendEntry *entry = g_new0 (FlamLegendEntry, 1);

      entry->name = g_strdup (looks[i].name);
      entry->is_kind = TRUE;
      entry->color = flam_palette_ramp (
          legend->palette, FLAM_RAMP_SELF, looks[i].level, 0);
      g_ptr_array_add (entries, entry);
    }
}

static void
legend_of_change (Legend *legend, GPtrArray *entries)
{
  static const struct
  {
    const char *name;
    FlamChangeKind kind;
    gboolean shrank;
    guint level;
  } looks[] = {
    { N_ ("Grew"), FLAM_CHANGE_KEPT, FALSE, FLAM_RAMP_LEVELS },
    { N_ ("Shrank"), FLAM_CHANGE_KEPT, TRUE, FLAM_RAMP_LEVELS },
    { N_ ("As before"), FLAM_CHANGE_KEPT, FALSE, 0 },
    { N_ ("New"), FLAM_CHANGE_NEW, FALSE, FLAM_RAMP_LEVELS },
    { N_ ("Gone"), FLAM_CHANGE_GONE, TRUE, FLAM_RAMP_LEVELS },
    { N_ ("New Function"), FLAM_CHANGE_UNTRACKED, FALSE, FLAM_RAMP_LEVELS },
  };
  const FlamTreeChange *change = legend->tree->change;
  guint kinds = change->kinds | 1u << FLAM_CHANGE_KEPT;

  /* With totals, a function that is new everywhere is simply new. */
  if (!change->self && kinds & 1u << FLAM_CHANGE_UNTRACKED)
    kinds = (kinds & ~(1u << FLAM_CHANGE_UNTRACKED)) | 1u << FLAM_CHANGE_NEW;
  for (guint i = 0; i < G_N_ELEMENTS (looks); i++)
    {
      FlamLegendEntry *entry;

      if (!(kinds & 1u << looks[i].kind))
        continue;
      entry = g_new0 (FlamLegendEntry, 1);
      entry->name = g_strdup (looks[i].name);
      entry->is_kind = TRUE;
      entry->color = flam_palette_change_color (legend->palette,
                                                looks[i].kind,
                                                looks[i].shrank,
                                                change->self,
                                                looks[i].level);
      g_ptr_array_add (entries, entry);
    }
}

/* Palettes with a color per name have no meaning for a legend. */
static void
legend_by_palette (Legend *legend)
{
  const FlamPalette *palette = legend->palette;
  FlamBy by = legend->tree->by;

  if (palette->mode >= FLAM_PALETTE_HOT || palette->mode == FLAM_PALETTE_NAME ||
      palette->colors.map != NULL)
    legend_by_rules (legend);
  else if (palette->mode == FLAM_PALETTE_JULIA)
    legend_by_status (legend);
  else if (by == FLAM_BY_MODULE || by == FLAM_BY_FILE)
    legend_by_name (legend);
  else if (palette->mode == FLAM_PALETTE_LANGUAGE)
    legend_by_language (legend);
  else
    legend_by_module (legend);
}

GPtrArray *
flam_palette_legend (FlamPalette *palette,
                     const FlamTree *tree,
                     FlamNodeId node,
                     guint max)
{
  const FlamColorRules *rules = palette->colors.rules;
  guint n_rules = rules != NULL ? flam_color_rules_get_n (rules) : 0;
  g_autofree Share *shares = n_rules > 0 ? g_new0 (Share, n_rules) : NULL;
  g_autofree guint32 *known =
      n_rules > 0 ? g_new0 (guint32, (gsize)tree->profile->functions.n + 1)
                  : NULL;
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *entries = g_ptr_array_new_with_free_func (legend_entry_free);
  g_autoptr (GPtrArray) others = g_ptr_array_new ();
  Legend legend = { palette, tree, node, by_name, shares, known };
  GHashTableIter iter;
  gpointer entry;

  if (palette->mode == FLAM_PALETTE_STATE && tree->split != NULL)
    {
      legend_by_state (&legend, entries);
      return entries;
    }
  if (flam_palette_is_change (palette, tree))
    {
      legend_of_change (&legend, entries);
      return entries;
    }
  if (palette->mode == FLAM_PALETTE_SELF)
    {
      legend_of_self (&legend, entries);
      return entries;
    }
  legend_by_palette (&legend);
  add_rules (&legend, entries);
  g_ptr_array_sort (entries, heavier_first);
  n_rules = entries->len;
  g_hash_table_iter_init (&iter, by_name);
  while (g_hash_table_iter_next (&iter, NULL, &entry))
    g_ptr_array_add (others, entry);
  g_ptr_array_sort (others, heavier_first);
  g_ptr_array_extend_and_steal (entries, g_steal_pointer (&others));
  fold_the_rest (palette, entries, n_rules, max);
  return entries;
}
