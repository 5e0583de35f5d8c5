/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hues of kinds of code, modules, languages, names and status. */
#include "flam-palette-private.h"

#include <string.h>

/* Marked for translation; the window translates the results of is_kind. */
/* The last of each: Okabe and Ito's colors, safe for any color vision. */
const FlamClassLook flam_class_looks[FLAM_N_CLASSES] = {
  [FLAM_CLASS_NATIVE] = { N_ ("Native code"),
                          { 0.02, 0.055, 62 },
                          { 0.03, 0.05, 145 },
                          0xe69f00 },
  [FLAM_CLASS_KERNEL] = { N_ ("Kernel"),
                          { -0.02, 0.155, 62 },
                          { -0.05, 0.13, 130 },
                          0xd55e00 },
  [FLAM_CLASS_INLINED] = { N_ ("Inlined"),
                           { 0.02, 0.085, 200 },
                           { 0.04, 0.09, 172 },
                           0xf0e442 },
  [FLAM_CLASS_JIT] = { N_ ("JIT code"),
                       { 0, 0.14, 142 },
                       { 0.03, 0.14, 128 },
                       0x009e73 },
  [FLAM_CLASS_INTERPRETED] = { N_ ("Interpreted code"),
                               { 0, 0.095, 250 },
                               { 0.02, 0.12, 158 },
                               0x56b4e9 },
  [FLAM_CLASS_UNRESOLVED] = { N_ ("Unnamed"),
                              { 0, 0.006, 60 },
                              { 0, 0.012, 145 },
                              0xbdbdbd },
  [FLAM_CLASS_ROOT] = { N_ ("Processes and threads"),
                        { 0.05, 0.016, 265 },
                        { 0.05, 0.016, 200 },
                        0xdcdcdc },
  [FLAM_CLASS_WAKER] = { N_ ("Waker"),
                         { 0, 0.09, 305 },
                         { 0, 0.09, 305 },
                         0xcc79a7 },
};

/* Warm, and distinct from the kernel's orange. */
static const FlamTint module_tints[] = {
  { -0.03, 0.145, 32 }, { 0.03, 0.115, 88 },  { 0.03, 0.105, 48 },
  { -0.05, 0.155, 26 }, { 0.05, 0.12, 100 },  { 0.01, 0.075, 72 },
  { -0.04, 0.15, 38 },  { 0.01, 0.115, 24 },  { -0.03, 0.105, 80 },
  { 0.05, 0.07, 55 },   { -0.01, 0.115, 44 }, { -0.045, 0.09, 30 },
};
static const FlamTint memory_tints[] = {
  { 0, 0.13, 145 },     { 0.045, 0.12, 124 }, { -0.05, 0.105, 160 },
  { 0.06, 0.09, 140 },  { -0.06, 0.13, 142 }, { 0.03, 0.085, 168 },
  { 0.06, 0.125, 116 }, { -0.02, 0.08, 152 }, { 0.02, 0.145, 136 },
  { -0.04, 0.1, 128 },  { 0.01, 0.11, 156 },  { 0.065, 0.06, 150 },
};

/* Languages that share a hue rarely occur in one capture: there are more
 * languages than distinguishable hues. */
const FlamTint flam_palette_language_tints[FLAM_N_LANGUAGES] = {
  [FLAM_LANGUAGE_C] = { 0.02, 0.1, 75 },
  [FLAM_LANGUAGE_CPP] = { -0.01, 0.15, 35 },
  [FLAM_LANGUAGE_RUST] = { -0.05, 0.13, 15 },
  [FLAM_LANGUAGE_GO] = { 0.02, 0.1, 205 },
  [FLAM_LANGUAGE_PYTHON] = { 0, 0.105, 250 },
  [FLAM_LANGUAGE_JAVASCRIPT] = { 0.06, 0.14, 100 },
  [FLAM_LANGUAGE_JAVA] = { 0, 0.13, 50 },
  [FLAM_LANGUAGE_KOTLIN] = { 0, 0.13, 300 },
  [FLAM_LANGUAGE_SCALA] = { -0.02, 0.15, 25 },
  [FLAM_LANGUAGE_DOTNET] = { 0, 0.14, 320 },
  [FLAM_LANGUAGE_JULIA] = { 0, 0.13, 335 },
  [FLAM_LANGUAGE_RUBY] = { -0.03, 0.16, 5 },
  [FLAM_LANGUAGE_PHP] = { 0, 0.09, 280 },
  [FLAM_LANGUAGE_PERL] = { 0, 0.09, 235 },
  [FLAM_LANGUAGE_LUA] = { 0, 0.11, 265 },
  [FLAM_LANGUAGE_SWIFT] = { 0, 0.15, 42 },
  [FLAM_LANGUAGE_OBJECTIVE_C] = { 0.02, 0.1, 220 },
  [FLAM_LANGUAGE_D] = { -0.04, 0.12, 22 },
  [FLAM_LANGUAGE_ZIG] = { 0.03, 0.13, 85 },
  [FLAM_LANGUAGE_HASKELL] = { 0, 0.1, 290 },
  [FLAM_LANGUAGE_OCAML] = { 0.01, 0.13, 60 },
  [FLAM_LANGUAGE_FORTRAN] = { 0, 0.11, 310 },
  [FLAM_LANGUAGE_ADA] = { 0, 0.1, 165 },
  [FLAM_LANGUAGE_ASSEMBLER] = { 0.02, 0.09, 120 },
};
#define NAME_CHROMA 0.11f

/* Inlined code is paler than the rest of its module. */
#define INLINED_LIGHTER 0.055f
#define INLINED_CHROMA 0.55f
#define LIGHTEST 0.065f /* labels must be readable when dimmed, too */

/* FNV-1a with a final mix, so that the low bits depend on every character. */
guint32
flam_palette_hash (const char *text)
{
  guint32 hash = 2166136261u;

  for (; *text; text++)
    hash = (hash ^ (guchar)*text) * 16777619u;
  hash ^= hash >> 15;
  hash *= 0x2c1b3c6du;
  return hash ^ hash >> 12;
}

/* --- the modules' hues --------------------------------------------------- */

/* A module's name determines its hue, the same everywhere. If two modules of
 * one capture have the same hue, the one with more functions keeps it and the
 * other gets the next free hue, as long as there is one. */
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

GHashTable *
flam_palette_share_hues (const FlamProfile *profile)
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
      guint slot = flam_palette_hash (sizes[i].name) % N_TINTS;

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

FlamTint
flam_palette_class_tint (const FlamPalette *palette,
                         FlamColorClass class,
                         const char *module)
{
  gboolean memory = palette->mode == FLAM_PALETTE_MEMORY;
  FlamTint tint;
  guint slot;

  if ((class != FLAM_CLASS_NATIVE && class != FLAM_CLASS_INLINED) ||
      *module == '\0')
    return memory ? flam_class_looks[class].memory
                  : flam_class_looks[class].code;
  slot = GPOINTER_TO_UINT (g_hash_table_lookup (palette->slots, module));
  slot = slot > 0 ? slot - 1 : flam_palette_hash (module) % N_TINTS;
  tint = memory ? memory_tints[slot] : module_tints[slot];
  if (class == FLAM_CLASS_INLINED)
    {
      tint.lightness = MIN (tint.lightness + INLINED_LIGHTER, LIGHTEST);
      tint.chroma *= INLINED_CHROMA;
    }
  return tint;
}

FlamTint
flam_palette_name_tint (const char *name)
{
  float turn = (float)(flam_palette_hash (name) >> 8 & 0xffff) / 65536;

  return (FlamTint){ 0, NAME_CHROMA, turn * 360 };
}

/* Code in an unknown language has the color of its kind. */
FlamTint
flam_palette_language_tint (const FlamProfile *profile,
                            FlamFunctionId function,
                            FlamColorClass class)
{
  FlamLanguage language = function != FLAM_NONE
                              ? flam_language_of_function (profile, function)
                              : FLAM_LANGUAGE_UNKNOWN;

  return language != FLAM_LANGUAGE_UNKNOWN
             ? flam_palette_language_tints[language]
             : flam_class_looks[class].code;
}

/* --- status, as FlameGraphs.jl and ProfileCanvas have it ------------------ */

/* By the bit's number. */
static const FlamColor status_colors[FLAM_N_STATUSES] = {
  0xcc6767, 0xcc9944, 0x8fb0a0, 0x646464, 0xb79bc4,
};

/* A frame with several has the first one's. */
static const FlamStatus status_order[FLAM_N_STATUSES] = {
  FLAM_STATUS_DISPATCH, FLAM_STATUS_GC,   FLAM_STATUS_COMPILATION,
  FLAM_STATUS_REPL,     FLAM_STATUS_TASK,
};

/* Of rows at even depths and at odd ones. */
const FlamTint flam_palette_row_tints[2] = {
  { 0, 0.095, 262 },
  { 0.02, 0.085, 225 },
};

FlamColor
flam_palette_status_color (guint bit)
{
  return status_colors[bit];
}

guint
flam_palette_status_bit (guint status)
{
  for (guint i = 0; i < FLAM_N_STATUSES; i++)
    if (status & status_order[i])
      return (guint)g_bit_nth_lsf (status_order[i], -1);
  return FLAM_N_STATUSES;
}
