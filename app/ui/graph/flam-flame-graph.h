/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The flame graph: one tree, as boxes to zoom, walk and search; or as a
 * sunburst or a treemap, which show the zoomed node and what it calls, and fill
 * the room there is: nothing of them scrolls or pans.
 *
 * A GtkScrollable: put it into a GtkScrolledWindow (horizontal policy
 * GTK_POLICY_NEVER: left and right it pans by itself). It draws nothing when
 * there is no tree; saying why is the window's part.
 *
 * Signals
 *   node-hovered   (guint node)            FLAM_NONE: the pointer left
 *   node-selected  (guint node)            by click, key or select_node()
 *   node-activated (guint node)            double click: show its source
 *   zoom-changed   (guint node)            0: all of the tree
 *   context-menu   (guint node, double x, double y)   widget coordinates;
 *                                          right click, Menu, Shift+F10
 *   drawn-changed  ()                      another part of the tree is in
 *                                          view: legend, minimap, strip share
 * Properties (all notify)
 *   tree (pointer), zoom, selected (uint), shape, direction, palette (int),
 * dark (boolean; follows the desktop until it is set), matched (int64)
 *
 * Keys: arrows, Home, End, Return, space, Escape, BackSpace, Page Up/Down,
 * Menu, + and -. Every other key is left to the window. */

#include <gtk/gtk.h>

#include "flam-layout.h"
#include "flam-named-color.h"

G_BEGIN_DECLS

#define FLAM_TYPE_FLAME_GRAPH (flam_flame_graph_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamFlameGraph, flam_flame_graph, FLAM, FLAME_GRAPH, GtkWidget)

GtkWidget *flam_flame_graph_new (void);

/* NULL empties it. Zoom, selection and history are carried over by path; the
 * search is run again. `rows` is the layout's index of this tree, made on a
 * worker thread where the tree is large; NULL: made here (30 ms a million
 * nodes). */
void flam_flame_graph_set_tree (FlamFlameGraph *self,
                                FlamTree *tree,
                                FlamRows *rows);
FlamTree *flam_flame_graph_get_tree (FlamFlameGraph *self);

/* Zooming. `node` 0: all. back() and forward() go through the places one has
 * been at, as a web browser does; outward() shows more than now, whatever was
 * before: all of the zoomed node, then the next caller that is wider, at last
 * everything. FALSE when there is nowhere to go. */
void flam_flame_graph_zoom_to (FlamFlameGraph *self, FlamId node);
FlamId flam_flame_graph_get_zoom (FlamFlameGraph *self);
gboolean flam_flame_graph_back (FlamFlameGraph *self);
gboolean flam_flame_graph_forward (FlamFlameGraph *self);
gboolean flam_flame_graph_outward (FlamFlameGraph *self);

/* FLAM_NONE: nothing. Scrolls to it, and zooms out as far as it takes to see
 * it; `node-selected` is not emitted when nothing changes. */
void flam_flame_graph_select_node (FlamFlameGraph *self, FlamId node);
FlamId flam_flame_graph_get_selected (FlamFlameGraph *self);

/* What is drawn at a place of the widget; FLAM_NONE: nothing, or several that
 * are too narrow. */
FlamId flam_flame_graph_get_node_at (FlamFlameGraph *self, double x, double y);

void flam_flame_graph_set_direction (FlamFlameGraph *self,
                                     FlamDirection direction);
void flam_flame_graph_set_shape (FlamFlameGraph *self, FlamShape shape);
void flam_flame_graph_set_palette (FlamFlameGraph *self, FlamPaletteMode mode);
/* What goes before the palette where it stands for neither states nor changes;
 * NULL: nothing. A reference is kept. */
void flam_flame_graph_set_rules (FlamFlameGraph *self, FlamColorRules *rules);
void flam_flame_graph_set_dark (FlamFlameGraph *self, gboolean dark);

/* NULL: no search. Matches keep their color and the rest is dimmed. The
 * weight below matches, nested ones counted once, is `matched`; out of the
 * tree's total[0]. next_match() selects the next one in view order and wraps;
 * FALSE when there is none. */
void flam_flame_graph_set_search (FlamFlameGraph *self, GRegex *regex);
gint64 flam_flame_graph_get_matched (FlamFlameGraph *self);
gboolean flam_flame_graph_next_match (FlamFlameGraph *self, gboolean backward);
/* How many there are to go to, and which of them is selected, from 1; 0: none
 * is. */
guint flam_flame_graph_count_matches (FlamFlameGraph *self, guint *n);

/* For the status bar: the weight in boxes too narrow to be drawn, of what is
 * in view, and the weight across the view. */
gint64 flam_flame_graph_get_hidden (FlamFlameGraph *self, gint64 *in_view);

/* Marks a node as if the pointer were on it: it is on the same one elsewhere.
 * FLAM_NONE: none. */
void flam_flame_graph_point_at (FlamFlameGraph *self, FlamId node);
/* What this graph is called beside others, for who hears it; NULL: nothing. */
void flam_flame_graph_set_title (FlamFlameGraph *self, const char *title);

/* Who knows what a person noted about a function; g_free, or NULL. It is told
 * with the function. `data` must outlive the widget's use of it. */
typedef char *(*FlamGraphNotes) (gpointer data, const char *function);
void flam_flame_graph_set_notes (FlamFlameGraph *self,
                                 FlamGraphNotes notes,
                                 gpointer data);

/* What is in view: fractions of the whole width and of the whole height. */
typedef struct
{
  double x, y, width, height;
} FlamView;

void flam_flame_graph_get_view (FlamFlameGraph *self, FlamView *view);
/* Moves the view without animation (the minimap's drag). */
void flam_flame_graph_set_view (FlamFlameGraph *self, const FlamView *view);
FlamRows *flam_flame_graph_get_rows (FlamFlameGraph *self);

/* What the colors in view mean; g_ptr_array_unref. Of FlamLegendEntry. */
GPtrArray *flam_flame_graph_get_legend (FlamFlameGraph *self);

/* As people read it: the root's own name is a word of theirs. Files have
 * flam_tree_name(). */
const char *flam_graph_name (const FlamTree *tree, FlamId node);

/* "spin_heavy, total 50.7 %, self 50.7 %": what is spoken for a node;
 * g_free. */
char *flam_flame_graph_describe (FlamFlameGraph *self, FlamId node);

G_END_DECLS
