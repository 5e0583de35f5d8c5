/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-palette.h"

#include <math.h>
#include <string.h>

/* Marked for translation; the window translates what is_kind. */
#define N_(text) text

/* What a colour stands for. Native code has a hue a module; the others have
 * one for all. */
typedef enum
{
  CLASS_NATIVE,
  CLASS_KERNEL,
  CLASS_INLINED,
  CLASS_JIT,
  CLASS_INTERPRETED,
  CLASS_UNRESOLVED,
  CLASS_ROOT,
  CLASS_WAKER,
  N_CLASSES
} Class;

/* OKLCH; lightness is added to the theme's. */
typedef struct
{
  float lightness, chroma, hue;
} Tint;

typedef struct
{
  const char *name;
  Tint code, memory;
} ClassLook;

static const ClassLook class_looks[N_CLASSES] = {
  [CLASS_NATIVE] = { N_ ("Native code"),
                     { 0.02, 0.055, 62 },
                     { 0.03, 0.05, 145 } },
  [CLASS_KERNEL] = { N_ ("Kernel"),
                     { -0.02, 0.155, 62 },
                     { -0.05, 0.13, 130 } },
  [CLASS_INLINED] = { N_ ("Inlined"),
                      { 0.02, 0.085, 200 },
                      { 0.04, 0.09, 172 } },
  [CLASS_JIT] = { N_ ("JIT code"), { 0, 0.14, 142 }, { 0.03, 0.14, 128 } },
  [CLASS_INTERPRETED] = { N_ ("Interpreted code"),
                          { 0, 0.095, 250 },
                          { 0.02, 0.12, 158 } },
  [CLASS_UNRESOLVED] = { N_ ("Without a name"),
                         { 0, 0.006, 60 },
                         { 0, 0.012, 145 } },
  [CLASS_ROOT] = { N_ ("Processes and threads"),
                   { 0.05, 0.016, 265 },
                   { 0.05, 0.016, 200 } },
  [CLASS_WAKER] = { N_ ("Waker"), { 0, 0.09, 305 }, { 0, 0.09, 305 } },
};

/* Warm, and clear of the kernel's orange. */
static const Tint module_tints[] = {
  { -0.03, 0.145, 32 }, { 0.03, 0.115, 88 },  { 0.03, 0.105, 48 },
  { -0.05, 0.155, 26 }, { 0.05, 0.12, 100 },  { 0.01, 0.075, 72 },
  { -0.04, 0.15, 38 },  { 0.01, 0.115, 24 },  { -0.03, 0.105, 80 },
  { 0.05, 0.07, 55 },   { -0.01, 0.115, 44 }, { -0.045, 0.09, 30 },
};
static const Tint memory_tints[] = {
  { 0, 0.13, 145 },     { 0.045, 0.12, 124 }, { -0.05, 0.105, 160 },
  { 0.06, 0.09, 140 },  { -0.06, 0.13, 142 }, { 0.03, 0.085, 168 },
  { 0.06, 0.125, 116 }, { -0.02, 0.08, 152 }, { 0.02, 0.145, 136 },
  { -0.04, 0.1, 128 },  { 0.01, 0.11, 156 },  { 0.065, 0.06, 150 },
};

typedef struct
{
  float lightness; /* of boxes, in the middle */
  float chroma;    /* times the tint's */
  FlamColor background, ink, text, dimmed_text, strip;
  double dim; /* how far dimmed boxes go towards the background */
} Theme;

static const Theme themes[2] = {
  { 0.805, 1.0, 0xffffff, 0x1a1514, 0x1a1514, 0x5b5654, 0xd9d5d1, 0.72 },
  { 0.685, 0.98, 0x1e1e1e, 0xffffff, 0x120d0b, 0xbcb7b4, 0x5a5755, 0.74 },
};

struct _FlamPalette
{
  FlamProfile *profile;
  FlamPaletteMode mode;
  const Theme *theme;
  GHashTable *slots; /* of the modules' names: place in the tints, plus 1 */
  FlamBy by;         /* what `known` is indexed by */
  guint32 n_known;
  FlamColor *known; /* by what a node is, twice: plain, inlined; 0: not yet */
};

/* --- colour arithmetic --------------------------------------------------- */

static double
to_linear (guint value)
{
  double v = value / 255.0;

  return v <= 0.04045 ? v / 12.92 : pow ((v + 0.055) / 1.055, 2.4);
}

static guint
from_linear (double v)
{
  v = v <= 0.0031308 ? v * 12.92 : 1.055 * pow (v, 1 / 2.4) - 0.055;
  return (guint)lround (CLAMP (v, 0, 1) * 255);
}

static double
luminance (FlamColor color)
{
  return 0.2126 * to_linear (color >> 16 & 255) +
         0.7152 * to_linear (color >> 8 & 255) +
         0.0722 * to_linear (color & 255);
}

double
flam_color_contrast (FlamColor a, FlamColor b)
{
  double la = luminance (a), lb = luminance (b);

  return (MAX (la, lb) + 0.05) / (MIN (la, lb) + 0.05);
}

/* Björn Ottosson's OKLab (2020), its inverse matrices. */
static void
oklch_to_linear (double l, double chroma, double hue, double rgb[3])
{
  double a = chroma * cos (hue * G_PI / 180);
  double b = chroma * sin (hue * G_PI / 180);
  double x = l + 0.3963377774 * a + 0.2158037573 * b;
  double y = l - 0.1055613458 * a - 0.0638541728 * b;
  double z = l - 0.0894841775 * a - 1.2914855480 * b;

  x = x * x * x;
  y = y * y * y;
  z = z * z * z;
  rgb[0] = 4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z;
  rgb[1] = -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z;
  rgb[2] = -0.0041960863 * x - 0.7034186147 * y + 1.7076147010 * z;
}

static gboolean
in_gamut (const double rgb[3])
{
  for (guint i = 0; i < 3; i++)
    if (rgb[i] < -0.0001 || rgb[i] > 1.0001)
      return FALSE;
  return TRUE;
}

/* What the screen cannot show loses chroma, not lightness. */
static FlamColor
from_oklch (double l, double chroma, double hue)
{
  double rgb[3];

  oklch_to_linear (l, chroma, hue, rgb);
  for (; !in_gamut (rgb) && chroma > 0; chroma -= 0.004)
    oklch_to_linear (l, chroma, hue, rgb);
  return from_linear (rgb[0]) << 16 | from_linear (rgb[1]) << 8 |
         from_linear (rgb[2]);
}

static FlamColor
mix (FlamColor a, FlamColor b, double share)
{
  FlamColor result = 0;

  for (guint shift = 0; shift <= 16; shift += 8)
    {
      double from = a >> shift & 255, to = b >> shift & 255;

      result |= (FlamColor)lround (from + (to - from) * share) << shift;
    }
  return result;
}

/* --- names to colours ---------------------------------------------------- */

/* FNV-1a with a last stir, so that the low bits depend on every character. */
static guint32
stable_hash (const char *text)
{
  guint32 hash = 2166136261u;

  for (; *text; text++)
    hash = (hash ^ (guchar)*text) * 16777619u;
  hash ^= hash >> 15;
  hash *= 0x2c1b3c6du;
  return hash ^ hash >> 12;
}

static Class
class_of_kind (FlamFunctionKind kind, gboolean inlined)
{
  switch (kind)
    {
    case FLAM_KIND_UNRESOLVED:
      return CLASS_UNRESOLVED;
    case FLAM_KIND_KERNEL:
      return CLASS_KERNEL;
    case FLAM_KIND_JIT:
      return CLASS_JIT;
    case FLAM_KIND_INTERPRETED:
      return CLASS_INTERPRETED;
    case FLAM_KIND_ROOT:
      return CLASS_ROOT;
    case FLAM_KIND_WAKER:
      return CLASS_WAKER;
    case FLAM_KIND_NATIVE:
    case FLAM_N_KINDS:
      break;
    }
  return inlined ? CLASS_INLINED : CLASS_NATIVE;
}

/* --- the modules' hues --------------------------------------------------- */

/* A module's name gives its hue, the same everywhere. Two of one capture that
 * would share a hue are told apart all the same: the one with more functions
 * keeps its own, the other has the next that is free, as long as there are
 * any. */
#define N_TINTS G_N_ELEMENTS (module_tints)
G_STATIC_ASSERT (N_TINTS == G_N_ELEMENTS (memory_tints));

typedef struct
{
  const char *name;
  guint32 n_functions;
} ModuleSize;

static int
compare_sizes (const void *a, const void *b)
{
  const ModuleSize *x = a, *y = b;

  if (x->n_functions != y->n_functions)
    return x->n_functions > y->n_functions ? -1 : 1;
  return strcmp (x->name, y->name);
}

static GHashTable *
share_tints (const FlamProfile *profile)
{
  GHashTable *slots = g_hash_table_new (g_str_hash, g_str_equal);
  guint32 n = profile->modules.n;
  g_autofree ModuleSize *sizes = g_new0 (ModuleSize, (gsize)n + 1);
  gboolean taken[N_TINTS] = { FALSE };
  guint free_tints = N_TINTS;

  for (FlamId i = 0; i < n; i++)
    sizes[i].name = flam_profile_string (profile, profile->modules.name[i]);
  for (FlamId i = 0; i < profile->functions.n; i++)
    if (profile->functions.module[i] != FLAM_NONE)
      sizes[profile->functions.module[i]].n_functions++;
  qsort (sizes, n, sizeof *sizes, compare_sizes);
  for (guint32 i = 0; i < n && free_tints > 0 && sizes[i].n_functions > 0; i++)
    {
      guint slot = stable_hash (sizes[i].name) % N_TINTS;

      if (g_hash_table_contains (slots, sizes[i].name))
        continue;
      while (taken[slot])
        slot = (slot + 1) % N_TINTS;
      taken[slot] = TRUE;
      free_tints--;
      g_hash_table_insert (
          slots, (char *)sizes[i].name, GUINT_TO_POINTER (slot + 1));
    }
  return slots;
}

static Tint
tint_of (const FlamPalette *palette, Class class, const char *module)
{
  gboolean memory = palette->mode == FLAM_PALETTE_MEMORY;
  guint slot;

  if (class != CLASS_NATIVE || *module == '\0')
    return memory ? class_looks[class].memory : class_looks[class].code;
  slot = GPOINTER_TO_UINT (g_hash_table_lookup (palette->slots, module));
  slot = slot > 0 ? slot - 1 : stable_hash (module) % N_TINTS;
  return memory ? memory_tints[slot] : module_tints[slot];
}

static FlamColor
tint_to_color (const FlamPalette *palette, Tint tint, int step)
{
  const Theme *theme = palette->theme;
  double shift = step * 0.0075;

  return from_oklch (theme->lightness + tint.lightness + shift,
                     tint.chroma * theme->chroma * (1 - step * 0.02),
                     tint.hue);
}

/* -3 .. 3 */
static int
step_of (const char *name)
{
  return (int)(stable_hash (name) >> 7) % 7 - 3;
}

static gboolean
is_inlined (const FlamTree *tree, FlamId node, FlamId function)
{
  const FlamProfile *profile = tree->profile;
  FlamId frame = tree->frame[node];

  if (frame != FLAM_NONE && profile->frames.inline_depth[frame] > 0)
    return TRUE;
  return function != FLAM_NONE &&
         (profile->functions.flags[function] & FLAM_FUNCTION_INLINED);
}

static Class
class_of_node (const FlamTree *tree, FlamId node)
{
  FlamId function;

  if (node == 0)
    return CLASS_ROOT;
  if (tree->by != FLAM_BY_FUNCTION && tree->by != FLAM_BY_LINE &&
      tree->by != FLAM_BY_THREAD)
    return class_of_kind (flam_tree_kind (tree, node), FALSE);
  function = flam_tree_function (tree, node);
  return class_of_kind (flam_tree_kind (tree, node),
                        is_inlined (tree, node, function));
}

/* What gives a node its hue: its module, or, in trees of modules and files,
 * itself. */
static const char *
module_of_node (const FlamTree *tree, FlamId node)
{
  FlamId function = flam_tree_function (tree, node);

  if (tree->by == FLAM_BY_MODULE || tree->by == FLAM_BY_FILE)
    return flam_tree_name (tree, node);
  if (function == FLAM_NONE)
    return "";
  return flam_profile_module_name (tree->profile, function);
}

static FlamColor
color_of_node (const FlamPalette *palette, const FlamTree *tree, FlamId node)
{
  Class class = class_of_node (tree, node);
  Tint tint = tint_of (palette, class, module_of_node (tree, node));
  gboolean varies = class != CLASS_ROOT && class != CLASS_UNRESOLVED;
  int step = varies ? step_of (flam_tree_name (tree, node)) : 0;

  return tint_to_color (palette, tint, step);
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
  palette->slots = share_tints (profile);
  palette->by = FLAM_BY_FUNCTION;
  palette->n_known = profile->functions.n;
  palette->known = g_new0 (FlamColor, (gsize)palette->n_known * 2 + 1);
  return palette;
}

void
flam_palette_free (FlamPalette *palette)
{
  g_hash_table_unref (palette->slots);
  flam_profile_unref (palette->profile);
  g_free (palette->known);
  g_free (palette);
}

#define KNOWN (1u << 31)

/* Trees of functions are coloured through a table; a node's own name and kind
 * are asked for once a function. Other trees are small. */
FlamColor
flam_palette_node (FlamPalette *palette, const FlamTree *tree, FlamId node)
{
  FlamId function;
  FlamColor *known;

  if (tree->by != FLAM_BY_FUNCTION && tree->by != FLAM_BY_LINE)
    return color_of_node (palette, tree, node);
  function = tree->function[node];
  if (node == 0 || function >= palette->n_known)
    return color_of_node (palette, tree, node);
  known = &palette->known[(gsize)function * 2 +
                          (is_inlined (tree, node, function) ? 1 : 0)];
  if (*known == 0)
    *known = color_of_node (palette, tree, node) | KNOWN;
  return *known & ~KNOWN;
}

FlamColor
flam_palette_dimmed (const FlamPalette *palette, FlamColor color)
{
  return mix (color, palette->theme->background, palette->theme->dim);
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

FlamColor
flam_palette_text (const FlamPalette *palette, FlamColorState state)
{
  return state == FLAM_COLOR_DIMMED ? palette->theme->dimmed_text
                                    : palette->theme->text;
}

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
legend_add (Legend *legend, Class class, const char *module, Share share)
{
  gboolean is_kind = class != CLASS_NATIVE || !*module;
  const char *key = is_kind ? class_looks[class].name : module;
  FlamLegendEntry *entry = g_hash_table_lookup (legend->entries, key);

  if (share.widest == 0 ||
      share.widest < legend->tree->total[legend->node] / 200)
    return;
  if (entry == NULL)
    {
      entry = g_new0 (FlamLegendEntry, 1);
      entry->name = g_strdup (key);
      entry->is_kind = is_kind;
      entry->color = tint_to_color (
          legend->palette, tint_of (legend->palette, class, module), 0);
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
  Share classes[N_CLASSES] = { 0 };

  for (FlamId i = MAX (legend->node, 1); i < tree->subtree_end[legend->node];
       i++)
    {
      FlamId function = flam_tree_function (tree, i);
      FlamId module = function == FLAM_NONE
                          ? FLAM_NONE
                          : profile->functions.module[function];
      Class class = class_of_node (tree, i);

      if (class == CLASS_NATIVE && module != FLAM_NONE)
        share_add (&modules[module], tree, i);
      else
        share_add (&classes[class], tree, i);
    }
  for (guint i = 0; i < N_CLASSES; i++)
    legend_add (legend, i, "", classes[i]);
  for (FlamId i = 0; i < profile->modules.n; i++)
    legend_add (legend,
                CLASS_NATIVE,
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
      legend_add (
          legend, class_of_node (tree, i), module_of_node (tree, i), share);
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
