/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-palette-private.h"

#include "flam-named-color.h"

#include <math.h>
#include <string.h>

/* The range of hues without the statuses' red and orange. */
#define FIRST_HUE 110
#define HUES 220

/* Also distinguishable without red-green vision. */
static const FlamTint ramp_tints[FLAM_N_RAMPS] = {
  [FLAM_STATE_RUNNING] = { 0.02, 0.14, 62 },
  [FLAM_STATE_LOCK] = { -0.05, 0.17, 350 },
  [FLAM_STATE_IO] = { 0.01, 0.11, 178 },
  [FLAM_STATE_SLEEP] = { -0.01, 0.1, 255 },
  [FLAM_STATE_BLOCKED] = { 0, 0.07, 300 },
  [FLAM_STATE_RUNNABLE] = { 0.05, 0.1, 105 },
  [FLAM_STATE_MPI] = { 0.03, 0.1, 140 },
  [FLAM_RAMP_GREW] = { -0.06, 0.19, 27 },
  [FLAM_RAMP_SHRANK] = { -0.04, 0.15, 255 },
  [FLAM_RAMP_SELF] = { -0.04, 0.17, 38 },
  [FLAM_RAMP_NEW] = { 0.02, 0.17, 62 },
  [FLAM_RAMP_GONE] = { -0.04, 0.14, 305 },
};

static const FlamTheme themes[2] = {
  { 0.805, 1.0, 0xffffff, 0x1a1514, 0x1a1514, 0x5b5654, 0xd9d5d1, 0.72 },
  { 0.685, 0.98, 0x1e1e1e, 0xffffff, 0x120d0b, 0xbcb7b4, 0x5a5755, 0.74 },
};

/* --- names to colors ---------------------------------------------------- */

static FlamColorClass
class_of_kind (FlamFunctionKind kind, gboolean inlined)
{
  switch (kind)
    {
    case FLAM_KIND_UNRESOLVED:
      return FLAM_CLASS_UNRESOLVED;
    case FLAM_KIND_KERNEL:
      return FLAM_CLASS_KERNEL;
    case FLAM_KIND_JIT:
      return FLAM_CLASS_JIT;
    case FLAM_KIND_INTERPRETED:
      return FLAM_CLASS_INTERPRETED;
    case FLAM_KIND_ROOT:
      return FLAM_CLASS_ROOT;
    case FLAM_KIND_WAKER:
      return FLAM_CLASS_WAKER;
    case FLAM_KIND_NATIVE:
    case FLAM_N_KINDS:
      break;
    }
  return inlined ? FLAM_CLASS_INLINED : FLAM_CLASS_NATIVE;
}

static FlamColor
theme_color (const FlamTheme *theme, FlamTint tint, int step)
{
  return flam_color_from_oklch (theme->lightness + tint.lightness +
                                    step * 0.0075,
                                tint.chroma * theme->chroma * (1 - step * 0.02),
                                tint.hue);
}

static FlamColor
tint_to_color (const FlamPalette *palette, FlamTint tint, int step)
{
  return theme_color (palette->theme, tint, step);
}

#define STEP_MAX (FLAM_PALETTE_STEPS / 2)

/* -3 .. 3 */
static int
step_of (const char *name)
{
  return (int)(flam_palette_hash (name) >> 7) % FLAM_PALETTE_STEPS - STEP_MAX;
}

FlamColorClass
flam_palette_class_of_node (const FlamTree *tree, FlamNodeId node)
{
  return flam_palette_class_of (tree, node, flam_tree_function (tree, node));
}

FlamColorClass
flam_palette_class_of (const FlamTree *tree,
                       FlamNodeId node,
                       FlamFunctionId function)
{
  FlamFunctionKind kind = function == FLAM_NONE
                              ? FLAM_KIND_ROOT
                              : tree->profile->functions.kind[function];

  if (node == 0)
    return FLAM_CLASS_ROOT;
  if (!flam_by_is_code (tree->by) && !flam_by_has_tops (tree->by))
    return class_of_kind (kind, FALSE);
  return class_of_kind (kind, flam_tree_is_inlined_in (tree, node, function));
}

const char *
flam_palette_module_of_node (const FlamTree *tree, FlamNodeId node)
{
  if (tree->by == FLAM_BY_MODULE || tree->by == FLAM_BY_FILE)
    return flam_tree_name (tree, node);
  return flam_profile_module_name (tree->profile,
                                   flam_tree_function (tree, node));
}

/* Darkened until labels are readable: the user may choose any color. */
static FlamColor
lighten (const FlamPalette *palette, FlamColor color)
{
  while (flam_color_contrast (color, palette->theme->text) < 4.5)
    color = flam_color_mix (color, 0xffffff, 0.1);
  return color;
}

FlamColor
flam_palette_class_color (const FlamPalette *palette,
                          FlamColorClass class,
                          const char *module)
{
  return palette->mode == FLAM_PALETTE_SAFE
             ? flam_class_looks[class].safe
             : tint_to_color (palette,
                              flam_palette_class_tint (palette, class, module),
                              0);
}

FlamColor
flam_palette_rule_color (const FlamPalette *palette, guint rule)
{
  return lighten (palette,
                  flam_color_rules_get_color (palette->colors.rules, rule));
}

FlamColor
flam_palette_language_color (const FlamPalette *palette, FlamLanguage language)
{
  return tint_to_color (palette, flam_palette_language_tints[language], 0);
}

FlamColor
flam_palette_julia_plain (const FlamPalette *palette, guint row)
{
  return tint_to_color (palette, flam_palette_row_tints[row], 0);
}

static guint32
turn_of (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  if (palette->turns_of != tree || palette->n_turns != tree->n)
    {
      g_autofree guint32 *row = g_new0 (guint32, tree->max_depth + 1);

      palette->turns_of = tree;
      palette->n_turns = tree->n;
      g_free (palette->turns);
      palette->turns = g_new (guint32, tree->n);
      for (FlamId i = 0; i < tree->n; i++)
        palette->turns[i] = row[tree->depth[i]]++;
    }
  return palette->turns[node];
}

/* As FlameGraphs.jl's FlameColors (n): rows at odd depths and at even ones have
 * n colors each, which its nodes have in turn. The hues are those between the
 * colors of the statuses. */
static FlamColor
color_by_turn (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  guint n = (guint)MAX (palette->colors.per_row, 1);
  guint row = tree->depth[node] & 1;
  guint turn = turn_of (palette, tree, node) % n;
  FlamTint tint = flam_palette_row_tints[row];

  tint.hue = (float)(FIRST_HUE + HUES * (turn + row * 0.5) / n);
  return tint_to_color (palette, tint, 0);
}

/* By status; of code. */
static FlamColor
color_by_status (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  guint bit = flam_palette_status_bit (flam_tree_status (tree, node));

  if (bit < FLAM_N_STATUSES)
    return flam_palette_status_color (bit);
  if (palette->colors.per_row > 0)
    return color_by_turn (palette, tree, node);
  return tint_to_color (palette,
                        flam_palette_row_tints[tree->depth[node] & 1],
                        step_of (flam_tree_name (tree, node)));
}

static FlamColor
color_of_class (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  FlamColorClass class = flam_palette_class_of_node (tree, node);
  FlamTint tint = flam_palette_class_tint (
      palette, class, flam_palette_module_of_node (tree, node));
  gboolean is_code = class != FLAM_CLASS_ROOT && class != FLAM_CLASS_WAKER &&
                     class != FLAM_CLASS_UNRESOLVED;
  gboolean varies = is_code || class == FLAM_CLASS_WAKER;
  int step = varies ? step_of (flam_tree_name (tree, node)) : 0;

  if (is_code && palette->mode == FLAM_PALETTE_NAME)
    tint = flam_palette_name_tint (flam_tree_name (tree, node));
  else if (is_code && palette->mode == FLAM_PALETTE_LANGUAGE)
    tint = flam_palette_language_tint (
        tree->profile, flam_tree_function (tree, node), class);
  if (palette->mode == FLAM_PALETTE_JULIA && class != FLAM_CLASS_ROOT &&
      class != FLAM_CLASS_WAKER)
    return color_by_status (palette, tree, node);
  if (palette->mode == FLAM_PALETTE_SAFE)
    return flam_color_mix (flam_class_looks[class].safe,
                           0xffffff,
                           varies ? (step + STEP_MAX) * 0.03 : 0);
  return tint_to_color (palette, tint, step);
}

/* In a chain graph the woken stack comes before "--", and the wakers' stacks
 * behind it, as in flamegraph.pl. */
static gboolean
is_behind_separator (FlamPalette *palette,
                     const FlamTree *tree,
                     FlamNodeId node)
{
  if (palette->wakers_of != tree || palette->n_wakers != tree->n)
    {
      palette->wakers_of = tree;
      palette->n_wakers = tree->n;
      g_free (palette->wakers);
      palette->wakers = g_new0 (guint8, tree->n);
      for (FlamId i = 1; i < tree->n; i++)
        palette->wakers[i] =
            palette->wakers[tree->parent[i]] ||
            strcmp (flam_tree_name (tree, tree->parent[i]), "--") == 0;
    }
  return palette->wakers[node] != 0;
}

/* The name of a node for the named palettes and the map; NULL: a separator,
 * which has no color of its own. */
static char *
name_to_color (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  g_autofree char *name = flam_tree_annotated_name (tree, node);

  if (palette->mode < FLAM_PALETTE_HOT)
    return g_steal_pointer (&name);
  if (strcmp (name, "--") == 0)
    return NULL;
  if (palette->mode == FLAM_PALETTE_CHAIN &&
      is_behind_separator (palette, tree, node))
    return g_strconcat (name, "_[w]", NULL);
  return strcmp (name, "-") == 0 ? NULL : g_steal_pointer (&name);
}

/* First the user's rules, then the map, then the palette. */
static FlamColor
color_of_node (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  const FlamColors *colors = &palette->colors;
  gboolean named = palette->mode >= FLAM_PALETTE_HOT;
  g_autofree char *name = NULL;
  guint rule = FLAM_NONE;
  FlamColor color;

  if (colors->rules != NULL && node != 0)
    rule = flam_color_rules_find_node (colors->rules, tree, node);
  if (rule != FLAM_NONE)
    return flam_palette_rule_color (palette, rule);
  if (!named && colors->map == NULL)
    return color_of_class (palette, tree, node);
  name = name_to_color (palette, tree, node);
  if (name == NULL)
    return flam_named_color (
        palette->mode, colors->hash, flam_tree_name (tree, node));
  if (colors->map != NULL && flam_color_map_find (colors->map, name, &color))
    return color;
  color = named ? flam_named_color (palette->mode, colors->hash, name)
                : color_of_class (palette, tree, node);
  if (colors->map != NULL)
    flam_color_map_add (colors->map, name, color);
  return color;
}

#define KNOWN (1u << 31)

/* The lightness step for a node's name, computed once for each function. */
static int
step_of_node (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  FlamFunctionId function = flam_tree_function (tree, node);
  FlamColor *known;

  if (!flam_by_is_code (tree->by) || node == 0 || function >= palette->n_known)
    return step_of (flam_tree_name (tree, node));
  known = &palette->known[(gsize)function * 2];
  if (*known == 0)
    *known =
        (FlamColor)(step_of (flam_tree_name (tree, node)) + STEP_MAX) | KNOWN;
  return (int)(*known & ~KNOWN) - STEP_MAX;
}

/* --- strengths ----------------------------------------------------------- */

FlamColor
flam_palette_ramp (FlamPalette *palette, guint ramp, guint level, int step)
{
  FlamColor *known = &palette->ramp[ramp][level][step + STEP_MAX];
  double share = (double)level / FLAM_RAMP_LEVELS;
  FlamTint tint = ramp_tints[ramp];

  if (*known == 0)
    {
      tint.lightness = (float)(tint.lightness * share + 0.06 * (1 - share));
      tint.chroma *= level == 0 ? 0 : (float)(0.08 + 0.92 * share);
      *known = tint_to_color (palette, tint, step);
    }
  return *known;
}

FlamColor
flam_palette_state_color (FlamState state, gboolean dark)
{
  return theme_color (&themes[dark ? 1 : 0], ramp_tints[state], 0);
}

static FlamState
dominant_state (const FlamStateSplit *split, guint *level)
{
  FlamState most = FLAM_STATE_RUNNING;
  gint64 total = 0;

  for (guint i = 0; i < FLAM_N_STATES; i++)
    {
      total += split->weight[i];
      if (split->weight[i] > split->weight[most])
        most = i;
    }
  *level = total > 0
               ? (guint)lround (FLAM_RAMP_LEVELS * (double)split->weight[most] /
                                (double)total)
               : 0;
  *level = MIN (*level, FLAM_RAMP_LEVELS);
  return most;
}

static FlamColor
color_by_state (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  guint level;
  FlamState state = dominant_state (&tree->split[node], &level);

  return flam_palette_ramp (
      palette, state, level, step_of_node (palette, tree, node));
}

#define BLACK 0x1a1a1a

gboolean
flam_palette_is_change (const FlamPalette *palette, const FlamTree *tree)
{
  return tree->change != NULL && (palette->mode == FLAM_PALETTE_CHANGE ||
                                  palette->mode == FLAM_PALETTE_CHANGE_SHARE);
}

FlamColor
flam_palette_change_color (FlamPalette *palette,
                           FlamChangeKind kind,
                           gboolean shrank,
                           gboolean self,
                           guint level)
{
  gboolean blue = shrank != palette->colors.negate;
  guint ramp = blue ? FLAM_RAMP_SHRANK : FLAM_RAMP_GREW;

  if (kind == FLAM_CHANGE_UNTRACKED && self)
    return BLACK;
  if (kind != FLAM_CHANGE_KEPT)
    ramp = blue ? FLAM_RAMP_GONE : FLAM_RAMP_NEW;
  return flam_palette_ramp (palette, ramp, level, 0);
}

/* Relative to the greatest change, small changes stay visible: the strength is
 * the square root of the share. Relative to the frame itself, new and gone have
 * the full strength. */
static guint
change_level (FlamPaletteMode mode,
              const FlamTreeChange *change,
              FlamNodeId node)
{
  double delta = fabs ((double)change->delta[node]);
  double base = (double)change->base[node];
  double now = base + (double)change->delta[node];
  double share =
      mode == FLAM_PALETTE_CHANGE_SHARE
          ? delta / MAX (MAX (base, now), 1)
          : sqrt (MIN (delta / (double)MAX (change->greatest, 1), 1));

  return (guint)lround (FLAM_RAMP_LEVELS * MIN (share, 1));
}

static FlamColor
color_by_change (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  const FlamTreeChange *change = tree->change;

  return flam_palette_change_color (palette,
                                    change->kind[node],
                                    change->delta[node] < 0,
                                    change->self,
                                    change_level (palette->mode, change, node));
}

static gint64
greatest_self (FlamPalette *palette, const FlamTree *tree)
{
  if (palette->self_of != tree)
    {
      palette->self_of = tree;
      palette->greatest_self = 1;
      for (FlamId i = 0; i < tree->n; i++)
        palette->greatest_self = MAX (palette->greatest_self, tree->self[i]);
    }
  return palette->greatest_self;
}

/* As for changes, small shares stay visible. */
static FlamColor
color_by_self (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  gint64 greatest = greatest_self (palette, tree);
  double share =
      (double)CLAMP (tree->self[node], 0, greatest) / (double)greatest;

  return flam_palette_ramp (palette,
                            FLAM_RAMP_SELF,
                            (guint)lround (FLAM_RAMP_LEVELS * sqrt (share)),
                            0);
}

/* --- the palette --------------------------------------------------------- */

FlamPalette *
flam_palette_new (const FlamProfile *profile,
                  FlamPaletteMode mode,
                  gboolean dark)
{
  FlamPalette *palette = g_new0 (FlamPalette, 1);

  palette->profile = flam_profile_ref (profile);
  palette->mode = mode;
  palette->theme = &themes[dark ? 1 : 0];
  palette->slots = flam_palette_share_hues (profile);
  palette->by = FLAM_BY_FUNCTION;
  palette->n_known = profile->functions.n;
  palette->known = g_new0 (FlamColor, (gsize)palette->n_known * 2 + 1);
  return palette;
}

FlamPalette *
flam_palette_new_for (const FlamTree *tree,
                      const FlamColors *colors,
                      gboolean dark)
{
  FlamPalette *palette = flam_palette_new (
      tree->profile, flam_palette_mode_of (tree, colors->mode), dark);

  palette->colors = *colors;
  return palette;
}

void
flam_palette_free (FlamPalette *palette)
{
  g_hash_table_unref (palette->slots);
  flam_profile_unref (palette->profile);
  g_free (palette->known);
  g_free (palette->wakers);
  g_free (palette->turns);
  g_free (palette);
}

/* Trees of functions are colored through a table; the name and kind are looked
 * up once for each function. Other trees are small. */
FlamColor
flam_palette_node (FlamPalette *palette, const FlamTree *tree, FlamNodeId node)
{
  FlamFunctionId function;
  FlamColor *known;

  if (palette->mode == FLAM_PALETTE_STATE && tree->split != NULL)
    return color_by_state (palette, tree, node);
  if (flam_palette_is_change (palette, tree))
    return color_by_change (palette, tree, node);
  if (palette->mode == FLAM_PALETTE_SELF)
    return color_by_self (palette, tree, node);
  if (!flam_by_is_code (tree->by))
    return color_of_node (palette, tree, node);
  function = flam_tree_function (tree, node);
  if (node == 0 || function >= palette->n_known ||
      palette->mode == FLAM_PALETTE_CHAIN ||
      palette->mode == FLAM_PALETTE_JULIA)
    return color_of_node (palette, tree, node);
  known = &palette->known[(gsize)function * 2 +
                          (flam_tree_is_inlined (tree, node) ? 1 : 0)];
  if (*known == 0)
    *known = color_of_node (palette, tree, node) | KNOWN;
  return *known & ~KNOWN;
}

/* Colors from outside the theme may be lighter than it can dim. */
FlamColor
flam_palette_dimmed (const FlamPalette *palette, FlamColor color)
{
  const FlamTheme *theme = palette->theme;
  gboolean foreign =
      palette->mode >= FLAM_PALETTE_CHANGE || palette->colors.rules != NULL;

  color = flam_color_mix (color, theme->background, theme->dim);
  while (foreign && flam_color_contrast (color, theme->dimmed_text) < 4.5)
    color = flam_color_mix (color, theme->background, 0.2);
  return color;
}

/* On a medium-dark color, no text is readable in either theme's colors. */
FlamColorState
flam_palette_pale_state (const FlamPalette *palette)
{
  return palette->theme == &themes[1] ? FLAM_COLOR_DIMMED : FLAM_COLOR_NORMAL;
}

FlamColor
flam_palette_pale (const FlamPalette *palette, FlamColor color)
{
  const FlamTheme *theme = palette->theme;

  return flam_palette_pale_state (palette) == FLAM_COLOR_DIMMED
             ? flam_palette_dimmed (palette, color)
             : flam_color_mix (color, theme->background, theme->dim / 2);
}

FlamColor
flam_palette_strip (const FlamPalette *palette)
{
  return palette->theme->strip;
}

FlamColor
flam_palette_background (const FlamPalette *palette)
{
  return palette->theme->background;
}

FlamColor
flam_palette_ink (const FlamPalette *palette)
{
  return palette->theme->ink;
}

/* Whether its color is too dark for dark labels. */
static gboolean
is_dark_status (const FlamPalette *palette,
                const FlamTree *tree,
                FlamNodeId node)
{
  const struct _FlamColorRules *rules = palette->colors.rules;

  return palette->mode == FLAM_PALETTE_JULIA && palette->colors.map == NULL &&
         node != 0 &&
         1u << flam_palette_status_bit (flam_tree_status (tree, node)) ==
             FLAM_STATUS_COMPILATION &&
         flam_palette_class_of_node (tree, node) != FLAM_CLASS_ROOT &&
         (rules == NULL ||
          flam_color_rules_find_node (rules, tree, node) == FLAM_NONE);
}

FlamColorState
flam_palette_label_state (const FlamPalette *palette,
                          const FlamTree *tree,
                          FlamNodeId node,
                          FlamColorState state)
{
  if (state == FLAM_COLOR_NORMAL && is_dark_status (palette, tree, node))
    return FLAM_COLOR_BLACK;
  return state == FLAM_COLOR_NORMAL && flam_palette_is_change (palette, tree) &&
                 tree->change->self &&
                 tree->change->kind[node] == FLAM_CHANGE_UNTRACKED
             ? FLAM_COLOR_BLACK
             : state;
}

FlamColor
flam_palette_text (const FlamPalette *palette, FlamColorState state)
{
  if (state == FLAM_COLOR_BLACK)
    return 0xffffff;
  return state == FLAM_COLOR_DIMMED ? palette->theme->dimmed_text
                                    : palette->theme->text;
}
