/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Palettes: their names, and the default for a tree. */
#include "flam-palette.h"

static const char *const words[FLAM_N_PALETTES] = {
  [FLAM_PALETTE_AUTO] = "auto",         [FLAM_PALETTE_CODE] = "module",
  [FLAM_PALETTE_MEMORY] = "memory",     [FLAM_PALETTE_STATE] = "state",
  [FLAM_PALETTE_LANGUAGE] = "language", [FLAM_PALETTE_SELF] = "self",
  [FLAM_PALETTE_NAME] = "name",         [FLAM_PALETTE_SAFE] = "safe",
  [FLAM_PALETTE_JULIA] = "julia",       [FLAM_PALETTE_HOT] = "hot",
  [FLAM_PALETTE_MEM] = "mem",           [FLAM_PALETTE_IO] = "io",
  [FLAM_PALETTE_WAKEUP] = "wakeup",     [FLAM_PALETTE_CHAIN] = "chain",
  [FLAM_PALETTE_JAVA] = "java",         [FLAM_PALETTE_JS] = "js",
  [FLAM_PALETTE_PERL] = "perl",         [FLAM_PALETTE_RED] = "red",
  [FLAM_PALETTE_GREEN] = "green",       [FLAM_PALETTE_BLUE] = "blue",
  [FLAM_PALETTE_AQUA] = "aqua",         [FLAM_PALETTE_YELLOW] = "yellow",
  [FLAM_PALETTE_PURPLE] = "purple",     [FLAM_PALETTE_ORANGE] = "orange",
};

const char *
flam_palette_mode_to_string (FlamPaletteMode mode)
{
  return mode < FLAM_N_PALETTES ? words[mode] : NULL;
}

gboolean
flam_palette_mode_from_string (const char *word, FlamPaletteMode *mode)
{
  for (guint i = 0; i < FLAM_N_PALETTES; i++)
    if (g_strcmp0 (words[i], word) == 0 && word != NULL)
      {
        *mode = i;
        return TRUE;
      }
  return FALSE;
}

static FlamPaletteMode
mode_that_suits (const FlamTree *tree)
{
  const FlamProfile *profile = tree->profile;
  guint states = flam_tree_states (tree);

  if (tree->change != NULL)
    return FLAM_PALETTE_CHANGE;
  if (tree->status != NULL)
    return FLAM_PALETTE_JULIA;
  if (tree->measure < profile->n_measures &&
      profile->measures[tree->measure].kind == FLAM_MEASURE_ALLOC)
    return FLAM_PALETTE_MEMORY;
  /* More than one bit. */
  return (states & (states - 1)) != 0 ? FLAM_PALETTE_STATE : FLAM_PALETTE_CODE;
}

FlamPaletteMode
flam_palette_mode_of (const FlamTree *tree, FlamPaletteMode wanted)
{
  if (wanted == FLAM_PALETTE_AUTO ||
      (wanted == FLAM_PALETTE_STATE && tree->split == NULL) ||
      ((wanted == FLAM_PALETTE_CHANGE || wanted == FLAM_PALETTE_CHANGE_SHARE) &&
       tree->change == NULL))
    return mode_that_suits (tree);
  return wanted;
}
