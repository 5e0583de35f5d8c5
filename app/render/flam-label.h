/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LABEL_H
#define FLAM_LABEL_H

/* Names, shaped once, as glyphs that can be cut anywhere.
 *
 *    std::vector<int>::push_back(int&&)      the name, if it fits
 *    std::vector<int>::push_back             else without parameters
 *    std::vector::push_back                  else without template arguments
 *    push_back                               else without namespaces
 *    pu…back                                 else cut in the middle: the end
 *                                            says more than the beginning
 *
 * Shaping is expensive (15 µs a name through Pango), so the glyphs of every
 * form are kept, and fitting one into a box is a sum. ASCII names, nearly all,
 * are composed from a table of 95 glyphs without calling Pango at all.
 *
 * A cache belongs to one PangoContext and font, and is used by one thread. */

#include <pango/pangocairo.h>

#include "flam-core-profile.h"

G_BEGIN_DECLS

typedef struct _FlamLabels FlamLabels;

FlamLabels *flam_labels_new (PangoContext *context,
                             const PangoFontDescription *font);
void flam_labels_free (FlamLabels *labels);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamLabels, flam_labels_free)

/* Names are identified by their address: call this when they may have moved. */
void flam_labels_forget (FlamLabels *labels);

double flam_labels_ascent (const FlamLabels *labels);
double flam_labels_descent (const FlamLabels *labels);
/* The maximum extent of the ink of all labels shaped so far. */
double flam_labels_above (const FlamLabels *labels);
double flam_labels_below (const FlamLabels *labels);

/* Glyphs collected for one color: one drawing call for all labels of a
 * picture. */
typedef struct
{
  GPtrArray *fonts;  /* cairo_scaled_font_t */
  GPtrArray *glyphs; /* GArray of cairo_glyph_t, one per font */
} FlamGlyphs;

void flam_glyphs_init (FlamGlyphs *glyphs);
void flam_glyphs_clear (FlamGlyphs *glyphs);
/* Draws with the current source, and empties it. */
void flam_glyphs_show (FlamGlyphs *glyphs, cairo_t *cr);

/* Adds as much of `name` as fits into `width`, with its baseline at (x, y);
 * returns the width of that part. */
double flam_labels_add (FlamLabels *labels,
                        FlamGlyphs *glyphs,
                        const char *name,
                        double x,
                        double y,
                        double width);

G_END_DECLS

#endif
