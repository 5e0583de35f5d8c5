/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What something is -> its color. Colors mean something and are stable: the
 * same function has the same color in every capture and on every machine,
 * but where two modules of one capture would share a hue (the smaller gives
 * way).
 *
 *    native code     warm, a hue a module        kernel          orange
 *    inlined         aqua                        JIT             green
 *    interpreted     blue                        without a name  grey
 *    root            neutral                     waker           violet
 *
 * In memory mode everything is green and the shade tells modules apart, as
 * the field has it. By state, a frame has the color of what its threads did
 * most there, and is the paler the less of it that is. In a comparison what
 * grew is red, what shrank blue, the stronger the more: of the greatest change,
 * or of the frame itself. What is new is orange, what is gone violet; where
 * selves are compared, a function that was nowhere before has nothing to be
 * compared with and is black. By language, by self share and by name are a
 * person's choice and suit no tree by themselves. Within a hue, lightness
 * varies a little by name, so that neighbours can be told apart. Colors are
 * chosen in OKLCH, where equal numbers look equally light: so every label has a
 * contrast of at least 4.5 in both themes, dimmed or not. */

#include "flam-color.h"
#include "flam-tree.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_PALETTE_AUTO,         /* what suits the tree: flam_palette_mode_of() */
  FLAM_PALETTE_CODE,         /* by kind and module */
  FLAM_PALETTE_MEMORY,       /* green */
  FLAM_PALETTE_STATE,        /* by what the threads were doing */
  FLAM_PALETTE_CHANGE,       /* red and blue: trees of flam_diff_tree() */
  FLAM_PALETTE_CHANGE_SHARE, /* the same, by the share of the frame: the change
                                of the larger of before and now */
  FLAM_PALETTE_LANGUAGE,     /* a hue a programming language */
  FLAM_PALETTE_SELF,         /* the stronger, the more a node spends itself */
  FLAM_PALETTE_NAME,         /* a hue a function */
  FLAM_PALETTE_SAFE,         /* by kind, for those who do not see all colors */
  FLAM_PALETTE_HOT,          /* flamegraph.pl's, by name: flam-named-color.h */
  FLAM_PALETTE_MEM,
  FLAM_PALETTE_IO,
  FLAM_PALETTE_WAKEUP,
  FLAM_PALETTE_CHAIN,
  FLAM_PALETTE_JAVA,
  FLAM_PALETTE_JS,
  FLAM_PALETTE_PERL,
  FLAM_PALETTE_RED,
  FLAM_PALETTE_GREEN,
  FLAM_PALETTE_BLUE,
  FLAM_PALETTE_AQUA,
  FLAM_PALETTE_YELLOW,
  FLAM_PALETTE_PURPLE,
  FLAM_PALETTE_ORANGE,
  FLAM_N_PALETTES
} FlamPaletteMode;

/* "auto", "module", "hot"; NULL for one that is nobody's choice. */
const char *flam_palette_mode_to_string (FlamPaletteMode mode);
gboolean flam_palette_mode_from_string (const char *word,
                                        FlamPaletteMode *mode);

/* How a picture's colors were chosen. */
typedef struct
{
  FlamPaletteMode mode;
  gboolean hash;   /* names that begin alike look alike: HOT and after it */
  gboolean negate; /* changes: what grew is blue */
  /* Both go before the palette where it does not stand for states or changes;
   * NULL: none. What the map has not is added to it. */
  struct _FlamColorMap *map;
  const struct _FlamColorRules *rules;
} FlamColors;

/* `wanted` where the tree has what it takes, and else what suits it: by state
 * where it holds more than one. */
FlamPaletteMode flam_palette_mode_of (const FlamTree *tree,
                                      FlamPaletteMode wanted);

typedef enum
{
  FLAM_COLOR_NORMAL,
  FLAM_COLOR_DIMMED, /* ancestors of the zoom; all but the matches */
  FLAM_COLOR_BLACK,  /* on black */
  FLAM_N_COLOR_STATES
} FlamColorState;

typedef struct _FlamPalette FlamPalette;

/* `mode`: one of flam_palette_mode_of(). */
FlamPalette *flam_palette_new (const FlamProfile *profile,
                               FlamPaletteMode mode,
                               gboolean dark);
/* What suits the tree of what was chosen. `colors` is copied; what it points to
 * outlives the palette. */
FlamPalette *flam_palette_new_for (const FlamTree *tree,
                                   const FlamColors *colors,
                                   gboolean dark);
void flam_palette_free (FlamPalette *palette);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPalette, flam_palette_free)

/* `tree` must be of the palette's profile. */
FlamColor
flam_palette_node (FlamPalette *palette, const FlamTree *tree, FlamId node);
/* Of a state that has a frame to itself, whatever the palette. */
FlamColor flam_palette_state_color (FlamState state, gboolean dark);
FlamColor flam_palette_dimmed (const FlamPalette *palette, FlamColor color);
/* Between the color and the background, for what frames others, and what its
 * labels are as. */
FlamColor flam_palette_pale (const FlamPalette *palette, FlamColor color);
FlamColorState flam_palette_pale_state (const FlamPalette *palette);
/* Of strips: between the colors and the background. */
FlamColor flam_palette_strip (const FlamPalette *palette);
FlamColor flam_palette_background (const FlamPalette *palette);
/* How the label of a node in that state is shown. */
FlamColorState flam_palette_label_state (const FlamPalette *palette,
                                         const FlamTree *tree,
                                         FlamId node,
                                         FlamColorState state);
/* Of text on the background. */
FlamColor flam_palette_ink (const FlamPalette *palette);
/* Of labels: on boxes of any color, and on dimmed ones. */
FlamColor flam_palette_text (const FlamPalette *palette, FlamColorState state);

typedef struct
{
  char *name;       /* "nest", "Kernel", "Inlined" */
  gboolean is_kind; /* the name is a word (to be translated), not a module */
  FlamColor color;
  gint64 weight; /* self weight it stands for; entries are sorted by it */
} FlamLegendEntry;

/* What the colors of a subtree mean: a person's rules by their patterns, then
 * what the palette gives, each heaviest first and without what is too narrow to
 * be seen; at most `max` entries, the rest of the palette's as "Other modules".
 * Of FlamLegendEntry, freed with the array. */
GPtrArray *flam_palette_legend (FlamPalette *palette,
                                const FlamTree *tree,
                                FlamId node,
                                guint max);

G_END_DECLS
