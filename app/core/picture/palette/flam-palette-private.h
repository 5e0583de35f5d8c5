/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PALETTE_PRIVATE_H
#define FLAM_PALETTE_PRIVATE_H

/* Declarations that coloring and the legend share. */

#include "flam-language.h"
#include "flam-palette.h"

G_BEGIN_DECLS

/* The meaning of a color. Native code has one hue per module; every other class
 * has one hue. */
typedef enum
{
  FLAM_CLASS_NATIVE,
  FLAM_CLASS_KERNEL,
  FLAM_CLASS_INLINED,
  FLAM_CLASS_JIT,
  FLAM_CLASS_INTERPRETED,
  FLAM_CLASS_UNRESOLVED,
  FLAM_CLASS_ROOT,
  FLAM_CLASS_WAKER,
  FLAM_N_CLASSES
} FlamColorClass;

/* OKLCH; lightness is added to the theme's. */
typedef struct
{
  float lightness, chroma, hue;
} FlamTint;

typedef struct
{
  const char *name;
  FlamTint code, memory;
  FlamColor safe;
} FlamClassLook;

typedef struct
{
  float lightness; /* of boxes, in the middle */
  float chroma;    /* times the tint's */
  FlamColor background, ink, text, dimmed_text, strip;
  double dim; /* how far dimmed boxes move towards the background */
} FlamTheme;

/* Colors with a scale of intensity: the states, signs of a change, self. */
enum
{
  FLAM_RAMP_GREW = FLAM_N_STATES,
  FLAM_RAMP_SHRANK,
  FLAM_RAMP_SELF,
  FLAM_RAMP_NEW,
  FLAM_RAMP_GONE,
  FLAM_N_RAMPS
};
#define FLAM_RAMP_LEVELS 12 /* 0 is palest */
#define FLAM_PALETTE_STEPS 7

struct _FlamPalette
{
  FlamProfile *profile;
  FlamPaletteMode mode;
  FlamColors colors;
  const FlamTheme *theme;
  GHashTable *slots;       /* by module name: place in the tints, plus 1 */
  const FlamTree *self_of; /* the tree that greatest_self belongs to; not owned,
                              never dereferenced */
  gint64 greatest_self;
  const FlamTree *wakers_of; /* as self_of */
  guint32 n_wakers;
  guint8 *wakers;           /* by node: it is behind a "--", in a chain */
  const FlamTree *turns_of; /* as self_of */
  guint32 n_turns;
  guint32 *turns; /* by node: the number of nodes before it in its row */
  FlamBy by;      /* the index of `known` */
  guint32 n_known;
  FlamColor
      *known; /* by the node's row, twice: plain, inlined; 0: not set yet */
  FlamColor ramp[FLAM_N_RAMPS][FLAM_RAMP_LEVELS + 1][FLAM_PALETTE_STEPS];
};

extern const FlamClassLook flam_class_looks[FLAM_N_CLASSES];

/* FLAM_PALETTE_JULIA: of rows at even depths and at odd ones. */
extern const FlamTint flam_palette_row_tints[2];
extern const FlamTint flam_palette_language_tints[FLAM_N_LANGUAGES];

guint32 flam_palette_hash (const char *text);
/* Of code without a status. */
FlamColor flam_palette_julia_plain (const FlamPalette *palette, guint row);
/* A place in the tints, plus 1, by the name of a module, which is the
 * profile's. */
GHashTable *flam_palette_share_hues (const FlamProfile *profile);
FlamTint flam_palette_class_tint (const FlamPalette *palette,
                                  FlamColorClass class,
                                  const char *module);
FlamTint flam_palette_name_tint (const char *name);
/* For FLAM_NONE and for unknown languages: that of the class. */
FlamTint flam_palette_language_tint (const FlamProfile *profile,
                                     FlamFunctionId function,
                                     FlamColorClass class);

FlamColorClass flam_palette_class_of_node (const FlamTree *tree,
                                           FlamNodeId node);
/* The same if its function is known, that of flam_tree_function(). */
FlamColorClass flam_palette_class_of (const FlamTree *tree,
                                      FlamNodeId node,
                                      FlamFunctionId function);
/* The name that determines a node's hue: its module or, in trees of modules and
 * files, the node's own name. */
const char *flam_palette_module_of_node (const FlamTree *tree, FlamNodeId node);
/* The color of a class at medium lightness, which the legend shows. */
FlamColor flam_palette_class_color (const FlamPalette *palette,
                                    FlamColorClass class,
                                    const char *module);
/* Of a user's rule, as light as its labels need. */
FlamColor flam_palette_rule_color (const FlamPalette *palette, guint rule);
/* Of a language, medium. */
FlamColor flam_palette_language_color (const FlamPalette *palette,
                                       FlamLanguage language);
/* The color of a kind of change; `kind` of one that grew or shrank. */
FlamColor flam_palette_change_color (FlamPalette *palette,
                                     FlamChangeKind kind,
                                     gboolean shrank,
                                     gboolean self,
                                     guint level);
gboolean flam_palette_is_change (const FlamPalette *palette,
                                 const FlamTree *tree);
/* `level` of FLAM_RAMP_LEVELS. */
FlamColor
flam_palette_ramp (FlamPalette *palette, guint ramp, guint level, int step);

G_END_DECLS

#endif
