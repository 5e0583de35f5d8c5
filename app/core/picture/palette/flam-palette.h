/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What something is -> its color. Colors have a meaning and are stable: the
 * same function has the same color in every capture and on every machine,
 * except where two modules of one capture would share a hue (then the smaller
 * one gets another).
 *
 *    native code     warm, a hue a module        kernel          orange
 *    inlined         aqua                        JIT             green
 *    interpreted     blue                        without a name  grey
 *    root            neutral                     waker           violet
 *
 * In memory mode everything is green and the shade tells modules apart, as is
 * usual. By state, a frame has the color of its threads' most frequent state,
 * and is paler the smaller that share is. In a comparison what grew is red and
 * what shrank blue, stronger for larger changes, relative to the greatest
 * change or to the frame itself. New is orange, gone is violet; where selves
 * are compared, a function that was nowhere before cannot be compared and is
 * black. By language, by self share and by name are only used when the user
 * chooses them. By status, as Julia's viewers have it, runtime dispatch is red,
 * garbage collection orange and compilation grey; the other frames alternate
 * between two hues from row to row. Within a hue, lightness varies a little by
 * name, so that neighbours can be told apart. Colors are chosen in OKLCH, where
 * equal numbers look equally light: so every label has a contrast of at
 * least 4.5 in both themes, dimmed or not. */

#include "flam-color.h"
#include "flam-tree.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_PALETTE_AUTO,         /* the tree's default: flam_palette_mode_of() */
  FLAM_PALETTE_CODE,         /* by kind and module */
  FLAM_PALETTE_MEMORY,       /* green */
  FLAM_PALETTE_STATE,        /* by what the threads were doing */
  FLAM_PALETTE_CHANGE,       /* red and blue: trees of flam_diff_tree() */
  FLAM_PALETTE_CHANGE_SHARE, /* the same, relative to the frame: the change
                                divided by the larger of before and now */
  FLAM_PALETTE_LANGUAGE,     /* a hue for each programming language */
  FLAM_PALETTE_SELF,         /* stronger for nodes with more self cost */
  FLAM_PALETTE_NAME,         /* a hue for each function */
  FLAM_PALETTE_SAFE,         /* by kind, safe for color blindness */
  FLAM_PALETTE_JULIA,        /* by status; the others alternate by depth */
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

/* "auto", "module", "hot"; NULL for a mode that users cannot choose. */
const char *flam_palette_mode_to_string (FlamPaletteMode mode);
gboolean flam_palette_mode_from_string (const char *word,
                                        FlamPaletteMode *mode);

/* How the colors of a picture are chosen. */
typedef struct
{
  FlamPaletteMode mode;
  gboolean hash;   /* names that begin alike look alike: HOT and after it */
  gboolean negate; /* changes: what grew is blue */
  /* Both are used before the palette where it does not stand for states or
   * changes; NULL: none. Names that the map does not have are added to it. */
  struct _FlamColorMap *map;
  const struct _FlamColorRules *rules;
} FlamColors;

/* `wanted` where the tree has the data for it, otherwise the default: by status
 * or by state where it has any of one or more than one of the other. */
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
/* The palette for the tree and the options chosen. `colors` is copied; the
 * objects that it points to must be valid longer than the palette. */
FlamPalette *flam_palette_new_for (const FlamTree *tree,
                                   const FlamColors *colors,
                                   gboolean dark);
void flam_palette_free (FlamPalette *palette);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPalette, flam_palette_free)

/* `tree` must be of the palette's profile. */
FlamColor
flam_palette_node (FlamPalette *palette, const FlamTree *tree, FlamId node);
/* The color of a state that fills a box of its own, whatever the palette. */
FlamColor flam_palette_state_color (FlamState state, gboolean dark);
/* The color of a status bit, by its number, whatever the palette. */
FlamColor flam_palette_status_color (guint bit);
/* The number of the bit that a frame of that status has its color from;
 * FLAM_N_STATUSES: none. */
guint flam_palette_status_bit (guint status);
FlamColor flam_palette_dimmed (const FlamPalette *palette, FlamColor color);
/* A color between the given one and the background, for frames around other
 * boxes, and the state of labels on it. */
FlamColor flam_palette_pale (const FlamPalette *palette, FlamColor color);
FlamColorState flam_palette_pale_state (const FlamPalette *palette);
/* The color of strips: between the colors and the background. */
FlamColor flam_palette_strip (const FlamPalette *palette);
FlamColor flam_palette_background (const FlamPalette *palette);
/* How the label of a node in that state is drawn. */
FlamColorState flam_palette_label_state (const FlamPalette *palette,
                                         const FlamTree *tree,
                                         FlamId node,
                                         FlamColorState state);
/* The color of text on the background. */
FlamColor flam_palette_ink (const FlamPalette *palette);
/* The color of labels: on boxes of any color, and on dimmed ones. */
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
