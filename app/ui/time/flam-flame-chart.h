/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FLAME_CHART_H
#define FLAM_FLAME_CHART_H

/* The flame chart: time from left to right, one lane per thread, with its calls
 * stacked in it. It is as high as all lanes together, and draws the part that
 * its scrolled window shows, with times along the top edge.
 *
 * Signals
 *   span-selected  (guint span)   by click, key or select(); G_MAXUINT: none
 *   span-activated (guint span)   double click
 *   context-menu   (guint span, double x, double y)
 *
 * Keys: arrows walk (caller, callee, the calls before and after), Return zooms
 * to the call, Escape and BackSpace out, + and - in and out. */

#include <gtk/gtk.h>

#include "flam-core-picture.h"

G_BEGIN_DECLS

#define FLAM_TYPE_FLAME_CHART (flam_flame_chart_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamFlameChart, flam_flame_chart, FLAM, FLAME_CHART, GtkWidget)

/* `tree` is of the same selection and gives the colors. NULLs empty it. */
void flam_flame_chart_set_chart (FlamFlameChart *self,
                                 FlamChart *chart,
                                 FlamTree *tree);
/* The user's rules, before the palette; NULL: none. A reference is kept. */
void flam_flame_chart_set_rules (FlamFlameChart *self, FlamColorRules *rules);
FlamChart *flam_flame_chart_get_chart (FlamFlameChart *self);
/* A palette for code: FLAM_PALETTE_CODE at first. */
void flam_flame_chart_set_palette (FlamFlameChart *self, FlamPaletteMode mode);
/* The adjustment of the scrolled window around it. */
void flam_flame_chart_set_vadjustment (FlamFlameChart *self,
                                       GtkAdjustment *adjustment);
/* Scrolls and zooms to a call, so that it fills a third of the width. */
void flam_flame_chart_go_to (FlamFlameChart *self, guint span);
/* The tree's node for a call and its callers; 0: none. */
FlamId flam_flame_chart_node_of (FlamFlameChart *self, guint span);

G_END_DECLS

#endif
