/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PALETTE_H
#define FLAM_PALETTE_H

/* Kind of code -> color. Colors have a meaning and are stable: the same
 * function has the same color in every capture and on every machine, except
 * where two modules of one capture would share a hue (then the smaller one gets
 * another).
 *
 *    native code     warm, one hue per module        kernel          orange
 *    inlined         its module's, paler         JIT             green
 *    interpreted     blue                        without a name  grey
 *    root            neutral                     waker           violet
 *
 * In memory mode everything is green and the shade distinguishes modules, as is
 * usual. By state, a frame has the color of its threads' most frequent state,
 * and is paler the smaller that share is. In a comparison, growth is red and
 * shrinking blue, stronger for larger changes, relative to the greatest change
 * or to the frame itself. New is orange, gone is violet; if self costs are
 * compared, a function that is new everywhere cannot be compared and is black.
 * By language, by self share and by name are only used when the user chooses
 * them. By status, as in Julia's viewers, runtime dispatch is red, garbage
 * collection orange and compilation grey; the other frames alternate between
 * two hues from row to row. Within a hue, lightness varies a little by name, so
 * that neighbours are distinguishable. Colors are chosen in OKLCH, where equal
 * numbers look equally light: so every label has a contrast of at least 4.5 in
 * both themes, dimmed or not. */

#include "flam-color.h"
#include "flam-tree.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_PALETTE_AUTO,         /* the tree's default: flam_palette_mode_of() */
  FLAM_PALETTE_CODE,         /* by kind and module */
  FLAM_PALETTE_MEMORY,       /* green */
  FLAM_PALETTE_STATE,        /* by the state of the threads */
  FLAM_PALETTE_CHANGE,       /* red and blue: trees of flam_diff_tree() */
  FLAM_PALETTE_CHANGE_SHARE, /* the same, relative to the frame: the change
                                divided by the larger of before and now */
  FLAM_PALETTE_LANGUAGE,     /* one hue per programming language */
  FLAM_PALETTE_SELF,         /* stronger for nodes with more self cost */
  FLAM_PALETTE_NAME,         /* one hue per function */
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
  gboolean hash;   /* similar names get similar colors: HOT and after it */
  gboolean negate; /* changes: blue for growth */
  double per_row;  /* JULIA: colors of code in each row, in turn, a whole
                      number; 0: shades of one */
  /* Both are used before the palette, unless it represents states or changes;
   * NULL: none. Names that are missing from the map are added to it. */
  struct _FlamColorMap *map;
  const struct _FlamColorRules *rules;
} FlamColors;

/* `wanted` if the tree has the data for it, otherwise the default: by status if
 * it has any, by state if it has several. */
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
/* The palette for the tree and the chosen options. `colors` is copied; the
 * objects that it points to must outlive the palette. */
FlamPalette *flam_palette_new_for (const FlamTree *tree,
                                   const FlamColors *colors,
                                   gboolean dark);
void flam_palette_free (FlamPalette *palette);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPalette, flam_palette_free)

/* `tree` must be of the palette's profile. */
FlamColor
flam_palette_node (FlamPalette *palette, const FlamTree *tree, FlamNodeId node);
/* The color of a state that fills a box of its own, whatever the palette. */
FlamColor flam_palette_state_color (FlamState state, gboolean dark);
/* The color of a status bit, by its number, whatever the palette. */
FlamColor flam_palette_status_color (guint bit);
/* The first bit (by number) of a frame's status that has a color;
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
/* The style of a node's label in that state. */
FlamColorState flam_palette_label_state (const FlamPalette *palette,
                                         const FlamTree *tree,
                                         FlamNodeId node,
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
  gint64 weight; /* its self weight; entries are sorted by it */
} FlamLegendEntry;

/* What the colors of a tree mean. Both the palette and the tree have to outlive
 * it. The nodes are grouped once; after that, the legend of any subtree takes
 * microseconds. */
typedef struct _FlamPaletteLegend FlamPaletteLegend;

FlamPaletteLegend *flam_palette_legend_new (FlamPalette *palette,
                                            const FlamTree *tree);
void flam_palette_legend_free (FlamPaletteLegend *legend);

/* The legend of a subtree: the user's rules by their patterns, then the
 * palette's entries, each heaviest first and without those too narrow to see;
 * at most `max` entries, with the palette's remaining ones as "Other modules".
 * Of FlamLegendEntry, freed with the array. */
GPtrArray *flam_palette_legend_entries (const FlamPaletteLegend *legend,
                                        FlamNodeId node,
                                        guint max);
/* The name of the entry to which the node belongs; NULL: its color has no
 * meaning of its own, or the entries are statuses. */
const char *flam_palette_legend_name (const FlamPaletteLegend *legend,
                                      FlamNodeId node);
/* The same for one subtree alone. */
GPtrArray *flam_palette_legend (FlamPalette *palette,
                                const FlamTree *tree,
                                FlamNodeId node,
                                guint max);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPaletteLegend, flam_palette_legend_free)

G_END_DECLS

#endif
