/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-named-color.h"
#include "flam-node-groups.h"
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

/* What the groups of nodes stand for: the user's rules first, then what the
 * palette distinguishes. */
typedef enum
{
  SCHEME_NONE, /* the rules alone */
  SCHEME_MODULES,
  SCHEME_LANGUAGES,
  SCHEME_NAMES, /* of nodes that are modules or files */
  SCHEME_STATUSES,
} Scheme;

struct _FlamPaletteLegend
{
  FlamPalette *palette;
  const FlamTree *tree;
  guint n_rules;
  Scheme scheme;
  GPtrArray *names; /* SCHEME_NAMES: by group */
  FlamNodeGroups *groups;
};

/* The entries of a subtree. */
typedef struct
{
  const FlamPaletteLegend *legend;
  FlamNodeId node;
  GHashTable *entries; /* FlamLegendEntry by name */
} Subtree;

static FlamGroupShare
share_of (const Subtree *subtree, guint32 group)
{
  return flam_node_groups_share (
      subtree->legend->groups, subtree->legend->n_rules + group, subtree->node);
}

/* Entries that are always narrower than a two-hundredth of the picture are left
 * out. */
static gboolean
is_seen (const Subtree *subtree, FlamGroupShare share)
{
  return share.widest > 0 &&
         share.widest >= subtree->legend->tree->total[subtree->node] / 200;
}

/* --- the user's rules ----------------------------------------------------- */

/* Names are matched once per function if nodes are functions. `known`, per
 * function: its rule, plus 2; 1: none; 0: not looked up yet. */
static guint
rule_of (const FlamPaletteLegend *legend, guint32 *known, FlamNodeId node)
{
  const FlamColorRules *rules = legend->palette->colors.rules;
  const FlamTree *tree = legend->tree;
  FlamFunctionId function = flam_tree_function (tree, node);

  if (!flam_by_is_code (tree->by) || function >= tree->profile->functions.n)
    return flam_color_rules_find_node (rules, tree, node);
  if (known[function] == 0)
    {
      guint rule = flam_color_rules_find_node (rules, tree, node);

      known[function] = rule == FLAM_NONE ? 1 : rule + 2;
    }
  return known[function] == 1 ? FLAM_NONE : known[function] - 2;
}

static void
add_rules (const Subtree *subtree, GPtrArray *entries)
{
  const FlamPaletteLegend *legend = subtree->legend;

  for (guint i = 0; i < legend->n_rules; i++)
    {
      FlamGroupShare share =
          flam_node_groups_share (legend->groups, i, subtree->node);
      FlamLegendEntry *entry;

      if (!is_seen (subtree, share))
        continue;
      entry = g_new0 (FlamLegendEntry, 1);
      entry->name = g_strdup (
          flam_color_rules_get_pattern (legend->palette->colors.rules, i));
      entry->color = flam_palette_rule_color (legend->palette, i);
      entry->weight = share.self;
      g_ptr_array_add (entries, entry);
    }
}

/* --- colors of the palette ------------------------------------------------ */

static void
add_entry (Subtree *subtree,
           const char *key,
           gboolean is_kind,
           FlamColor color,
           FlamGroupShare share)
{
  FlamLegendEntry *entry = g_hash_table_lookup (subtree->entries, key);

  if (!is_seen (subtree, share))
    return;
  if (entry == NULL)
    {
      entry = g_new0 (FlamLegendEntry, 1);
      entry->name = g_strdup (key);
      entry->is_kind = is_kind;
      entry->color = color;
      g_hash_table_insert (subtree->entries, entry->name, entry);
    }
  entry->weight += share.self;
}

static const char *
name_of_class (const FlamPaletteLegend *legend,
               FlamColorClass class,
               const char *module)
{
  gboolean is_kind = class != FLAM_CLASS_NATIVE || !*module ||
                     legend->palette->mode == FLAM_PALETTE_SAFE;

  return is_kind ? flam_class_looks[class].name : module;
}

static void
add_class (Subtree *subtree,
           FlamColorClass class,
           const char *module,
           FlamGroupShare share)
{
  FlamPalette *palette = subtree->legend->palette;
  const char *name = name_of_class (subtree->legend, class, module);

  add_entry (subtree,
             name,
             name != module,
             flam_palette_class_color (palette, class, module),
             share);
}

/* The groups of all schemes begin with the classes. */
static void
add_classes (Subtree *subtree)
{
  for (guint i = 0; i < FLAM_N_CLASSES; i++)
    add_class (subtree, i, "", share_of (subtree, i));
}

/* Inlined code has a shade of its module's color, except in the safe palette,
 * where it has a color of its own. */
static guint32
class_or_module (const FlamPaletteLegend *legend, FlamNodeId node)
{
  const FlamTree *tree = legend->tree;
  gboolean inlined = legend->palette->mode != FLAM_PALETTE_SAFE;
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

static void
add_modules (Subtree *subtree)
{
  const FlamProfile *profile = subtree->legend->tree->profile;

  for (FlamId i = 0; i < profile->modules.n; i++)
    add_class (subtree,
               FLAM_CLASS_NATIVE,
               flam_profile_string (profile, profile->modules.name[i]),
               share_of (subtree, FLAM_N_CLASSES + i));
}

/* Code in an unknown language is listed by its kind. */
static guint32
class_or_language (const FlamPaletteLegend *legend, FlamNodeId node)
{
  const FlamTree *tree = legend->tree;
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
add_languages (Subtree *subtree)
{
  for (guint i = 1; i < FLAM_N_LANGUAGES; i++)
    add_entry (subtree,
               flam_language_name (i),
               FALSE,
               flam_palette_language_color (subtree->legend->palette, i),
               share_of (subtree, FLAM_N_CLASSES + i));
}

/* `known`: the group by the name, plus 1. */
static guint32
class_or_name (FlamPaletteLegend *legend, GHashTable *known, FlamNodeId node)
{
  FlamColorClass class = flam_palette_class_of_node (legend->tree, node);
  const char *name = flam_palette_module_of_node (legend->tree, node);
  guint32 place;

  if (class != FLAM_CLASS_NATIVE || !*name)
    return class;
  place = GPOINTER_TO_UINT (g_hash_table_lookup (known, name));
  if (place == 0)
    {
      g_ptr_array_add (legend->names, (gpointer)name);
      place = legend->names->len;
      g_hash_table_insert (known, (gpointer)name, GUINT_TO_POINTER (place));
    }
  return (guint32)FLAM_N_CLASSES + place - 1;
}

static void
add_names (Subtree *subtree)
{
  const GPtrArray *names = subtree->legend->names;

  for (guint i = 0; i < names->len; i++)
    add_class (subtree,
               FLAM_CLASS_NATIVE,
               names->pdata[i],
               share_of (subtree, FLAM_N_CLASSES + i));
}

/* Frames without a status have two groups: at even depths and at odd ones. */
static guint32
class_or_status (const FlamPaletteLegend *legend, FlamNodeId node)
{
  const FlamTree *tree = legend->tree;
  guint bit = flam_palette_status_bit (flam_tree_status (tree, node));
  FlamColorClass class = flam_palette_class_of_node (tree, node);

  if (class == FLAM_CLASS_ROOT || class == FLAM_CLASS_WAKER)
    return class;
  return FLAM_N_CLASSES + (bit < FLAM_N_STATUSES
                               ? bit
                               : FLAM_N_STATUSES + (tree->depth[node] & 1));
}

/* They have two alternating colors, too: that of the widest frame represents
 * both. */
static void
add_statuses (Subtree *subtree)
{
  guint32 first = FLAM_N_CLASSES;
  FlamGroupShare others[2];
  guint row;

  for (guint i = 0; i < FLAM_N_STATUSES; i++)
    add_entry (subtree,
               flam_status_to_title (i),
               TRUE,
               flam_palette_status_color (i),
               share_of (subtree, first + i));
  for (guint i = 0; i < 2; i++)
    others[i] = share_of (subtree, first + FLAM_N_STATUSES + i);
  row = others[1].widest > others[0].widest;
  others[row].self += others[!row].self;
  add_entry (subtree,
             N_ ("Other code"),
             TRUE,
             flam_palette_julia_plain (subtree->legend->palette, row),
             others[row]);
}

/* --- groups --------------------------------------------------------------- */

/* Palettes with a color per name have no meaning for a legend. */
static Scheme
scheme_of (const FlamPalette *palette, FlamBy by)
{
  if (palette->mode >= FLAM_PALETTE_HOT || palette->mode == FLAM_PALETTE_NAME ||
      palette->colors.map != NULL)
    return SCHEME_NONE;
  if (palette->mode == FLAM_PALETTE_JULIA)
    return SCHEME_STATUSES;
  if (by == FLAM_BY_MODULE || by == FLAM_BY_FILE)
    return SCHEME_NAMES;
  return palette->mode == FLAM_PALETTE_LANGUAGE ? SCHEME_LANGUAGES
                                                : SCHEME_MODULES;
}

static guint32
count_groups (const FlamPaletteLegend *legend)
{
  switch (legend->scheme)
    {
    case SCHEME_MODULES:
      return FLAM_N_CLASSES + legend->tree->profile->modules.n;
    case SCHEME_LANGUAGES:
      return (guint32)FLAM_N_CLASSES + FLAM_N_LANGUAGES;
    case SCHEME_NAMES:
      return FLAM_N_CLASSES + legend->names->len;
    case SCHEME_STATUSES:
      return (guint32)FLAM_N_CLASSES + FLAM_N_STATUSES + 2;
    default:
      return 0;
    }
}

/* The module or language is looked up once per frame (`known`, plus 1); for
 * nodes without a frame, such as threads, for each. */
static guint32
group_by_frame (FlamPaletteLegend *legend, guint32 *known, FlamNodeId node)
{
  guint32 n_frames = legend->tree->profile->frames.n;
  FlamFrameId frame = MIN (legend->tree->frame[node], n_frames);

  if (known[frame] == 0 || frame == n_frames)
    known[frame] =
        (legend->scheme == SCHEME_MODULES ? class_or_module (legend, node)
                                          : class_or_language (legend, node)) +
        1;
  return known[frame] - 1;
}

static FlamNodeGroups *
group_nodes (FlamPaletteLegend *legend)
{
  const FlamProfile *profile = legend->tree->profile;
  guint32 n = legend->tree->n;
  g_autofree guint32 *group = g_new (guint32, n);
  g_autofree guint32 *by_frame = g_new0 (guint32, (gsize)profile->frames.n + 1);
  g_autofree guint32 *by_function =
      legend->n_rules > 0 ? g_new0 (guint32, (gsize)profile->functions.n + 1)
                          : NULL;
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);

  for (FlamNodeId i = 1; i < n; i++)
    {
      guint rule =
          legend->n_rules > 0 ? rule_of (legend, by_function, i) : FLAM_NONE;

      if (rule != FLAM_NONE)
        group[i] = rule;
      else if (legend->scheme == SCHEME_NONE)
        group[i] = FLAM_NONE;
      else if (legend->scheme == SCHEME_NAMES)
        group[i] = legend->n_rules + class_or_name (legend, by_name, i);
      else if (legend->scheme == SCHEME_STATUSES)
        group[i] = legend->n_rules + class_or_status (legend, i);
      else
        group[i] = legend->n_rules + group_by_frame (legend, by_frame, i);
    }
  return flam_node_groups_new (
      legend->tree, group, legend->n_rules + count_groups (legend));
}

static const char *
name_of_group (const FlamPaletteLegend *legend, FlamNodeId node)
{
  const FlamProfile *profile = legend->tree->profile;
  guint32 group;

  if (legend->scheme == SCHEME_NAMES)
    return name_of_class (legend,
                          flam_palette_class_of_node (legend->tree, node),
                          flam_palette_module_of_node (legend->tree, node));
  group = legend->scheme == SCHEME_MODULES ? class_or_module (legend, node)
                                           : class_or_language (legend, node);
  if (group < FLAM_N_CLASSES)
    return flam_class_looks[group].name;
  group -= FLAM_N_CLASSES;
  return legend->scheme == SCHEME_LANGUAGES
             ? flam_language_name (group)
             : name_of_class (
                   legend,
                   FLAM_CLASS_NATIVE,
                   flam_profile_string (profile, profile->modules.name[group]));
}

/* --- entries -------------------------------------------------------------- */

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
legend_by_state (const Subtree *subtree, GPtrArray *entries)
{
  const FlamPaletteLegend *legend = subtree->legend;
  const FlamTree *tree = legend->tree;
  FlamNodeId node = subtree->node;

  for (guint i = 0; i < FLAM_N_STATES; i++)
    if (tree->split[node].weight[i] > 0)
      {
        FlamLegendEntry *entry = g_new0 (FlamLegendEntry, 1);

        entry->name = g_strdup (flam_state_to_title (i));
        entry->is_kind = TRUE;
        entry->color =
            flam_palette_ramp (legend->palette, i, FLAM_RAMP_LEVELS, 0);
        entry->weight = tree->split[node].weight[i];
        g_ptr_array_add (entries, entry);
      }
  g_ptr_array_sort (entries, heavier_first);
}

static void
legend_of_self (const FlamPaletteLegend *legend, GPtrArray *entries)
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

/* The kinds of change that occur: there may be no new or gone frames. */
static void
legend_of_change (const FlamPaletteLegend *legend, GPtrArray *entries)
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
    { N_ ("New function"), FLAM_CHANGE_UNTRACKED, FALSE, FLAM_RAMP_LEVELS },
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

static void
add_groups (Subtree *subtree)
{
  Scheme scheme = subtree->legend->scheme;

  if (scheme == SCHEME_NONE)
    return;
  add_classes (subtree);
  if (scheme == SCHEME_MODULES)
    add_modules (subtree);
  else if (scheme == SCHEME_LANGUAGES)
    add_languages (subtree);
  else if (scheme == SCHEME_NAMES)
    add_names (subtree);
  else
    add_statuses (subtree);
}

/* Colors that do not depend on what a node is. */
static gboolean
has_scale (const FlamPaletteLegend *legend)
{
  const FlamPalette *palette = legend->palette;

  return (palette->mode == FLAM_PALETTE_STATE && legend->tree->split != NULL) ||
         flam_palette_is_change (palette, legend->tree) ||
         palette->mode == FLAM_PALETTE_SELF;
}

static void
add_scale (const Subtree *subtree, GPtrArray *entries)
{
  const FlamPaletteLegend *legend = subtree->legend;

  if (legend->palette->mode == FLAM_PALETTE_STATE &&
      legend->tree->split != NULL)
    legend_by_state (subtree, entries);
  else if (flam_palette_is_change (legend->palette, legend->tree))
    legend_of_change (legend, entries);
  else
    legend_of_self (legend, entries);
}

const char *
flam_palette_legend_name (const FlamPaletteLegend *legend, FlamNodeId node)
{
  const FlamColorRules *rules = legend->palette->colors.rules;
  guint rule = legend->n_rules > 0
                   ? flam_color_rules_find_node (rules, legend->tree, node)
                   : FLAM_NONE;

  if (has_scale (legend))
    return NULL;
  if (rule != FLAM_NONE)
    return flam_color_rules_get_pattern (rules, rule);
  return legend->scheme == SCHEME_NONE || legend->scheme == SCHEME_STATUSES
             ? NULL
             : name_of_group (legend, node);
}

FlamPaletteLegend *
flam_palette_legend_new (FlamPalette *palette, const FlamTree *tree)
{
  const FlamColorRules *rules = palette->colors.rules;
  FlamPaletteLegend *legend = g_new0 (FlamPaletteLegend, 1);

  legend->palette = palette;
  legend->tree = tree;
  legend->n_rules = rules != NULL ? flam_color_rules_get_n (rules) : 0;
  legend->scheme = scheme_of (palette, tree->by);
  legend->names = g_ptr_array_new ();
  if (!has_scale (legend))
    legend->groups = group_nodes (legend);
  return legend;
}

void
flam_palette_legend_free (FlamPaletteLegend *legend)
{
  g_ptr_array_unref (legend->names);
  g_clear_pointer (&legend->groups, flam_node_groups_free);
  g_free (legend);
}

GPtrArray *
flam_palette_legend_entries (const FlamPaletteLegend *legend,
                             FlamNodeId node,
                             guint max)
{
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *entries = g_ptr_array_new_with_free_func (legend_entry_free);
  g_autoptr (GPtrArray) others = g_ptr_array_new ();
  Subtree subtree = { legend, node, by_name };
  GHashTableIter iter;
  gpointer entry;
  guint n_rules;

  if (legend->groups == NULL)
    {
      add_scale (&subtree, entries);
      return entries;
    }
  add_rules (&subtree, entries);
  add_groups (&subtree);
  g_ptr_array_sort (entries, heavier_first);
  n_rules = entries->len;
  g_hash_table_iter_init (&iter, by_name);
  while (g_hash_table_iter_next (&iter, NULL, &entry))
    g_ptr_array_add (others, entry);
  g_ptr_array_sort (others, heavier_first);
  g_ptr_array_extend_and_steal (entries, g_steal_pointer (&others));
  fold_the_rest (legend->palette, entries, n_rules, max);
  return entries;
}

GPtrArray *
flam_palette_legend (FlamPalette *palette,
                     const FlamTree *tree,
                     FlamNodeId node,
                     guint max)
{
  g_autoptr (FlamPaletteLegend) legend =
      flam_palette_legend_new (palette, tree);

  return flam_palette_legend_entries (legend, node, max);
}
