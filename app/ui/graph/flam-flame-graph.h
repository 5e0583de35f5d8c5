/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FLAME_GRAPH_H
#define FLAM_FLAME_GRAPH_H

/* The flame graph: one tree, as boxes to zoom, walk and search; or as a
 * sunburst or a treemap, which show the zoomed node and what it calls, and fill
 * the available room: they neither scroll nor pan.
 *
 * A GtkScrollable: put it into a GtkScrolledWindow (horizontal policy
 * GTK_POLICY_NEVER: left and right it pans by itself). It draws nothing when
 * there is no tree; the window then explains why.
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
 *   rules-tried    ()                      names were drawn by the rules of
 *                                          colors: one may have been too slow
 * Properties (all notify)
 *   tree (pointer), zoom, selected (uint), shape, direction, palette (int),
 * dark (boolean; follows the desktop until it is set), matched (int64)
 *
 * Keys: arrows, Home, End, Return, space, Escape, BackSpace, Page Up/Down,
 * Menu, + and -. All other keys are left to the window. */

#include <gtk/gtk.h>

#include "flam-core-picture.h"

G_BEGIN_DECLS

#define FLAM_TYPE_FLAME_GRAPH (flam_flame_graph_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamFlameGraph, flam_flame_graph, FLAM, FLAME_GRAPH, GtkWidget)

GtkWidget *flam_flame_graph_new (void);

/* NULL empties it. Zoom, selection and history are carried over by path; the
 * search is run again. `rows` is the layout's index of this tree, made on a
 * worker thread where the tree is large; NULL: made by the call (30 ms per
 * million nodes). */
void flam_flame_graph_set_tree (FlamFlameGraph *self,
                                FlamTree *tree,
                                FlamRows *rows);
FlamTree *flam_flame_graph_get_tree (FlamFlameGraph *self);

/* Zooming. `node` 0: all. back() and forward() go through the places visited,
 * as a web browser does; outward() shows more than now, regardless of the
 * history: the whole zoomed node, then the next wider caller, finally
 * everything. FALSE if there is no further place. */
void flam_flame_graph_zoom_to (FlamFlameGraph *self, FlamNodeId node);
FlamNodeId flam_flame_graph_get_zoom (FlamFlameGraph *self);
gboolean flam_flame_graph_back (FlamFlameGraph *self);
gboolean flam_flame_graph_forward (FlamFlameGraph *self);
gboolean flam_flame_graph_outward (FlamFlameGraph *self);

/* FLAM_NONE: nothing. Scrolls to it, and zooms out as far as needed to show it;
 * `node-selected` is not emitted when nothing changes. */
void flam_flame_graph_select_node (FlamFlameGraph *self, FlamNodeId node);
FlamId flam_flame_graph_get_selected (FlamFlameGraph *self);

/* The node at a point of the widget; FLAM_NONE: none, or several that are too
 * narrow. */
FlamId flam_flame_graph_get_node_at (FlamFlameGraph *self, double x, double y);

void flam_flame_graph_set_direction (FlamFlameGraph *self,
                                     FlamDirection direction);
void flam_flame_graph_set_shape (FlamFlameGraph *self, FlamShape shape);
void flam_flame_graph_set_palette (FlamFlameGraph *self, FlamPaletteMode mode);
/* Rules that are used before the palette, unless it represents states or
 * changes; NULL: none. A reference is kept. */
void flam_flame_graph_set_rules (FlamFlameGraph *self, FlamColorRules *rules);
void flam_flame_graph_set_dark (FlamFlameGraph *self, gboolean dark);

/* NULL: no search. Matches keep their color and the rest is dimmed. The weight
 * below matches, nested ones counted once, is `matched`; out of the tree's
 * total[0]. next_match() selects the next one in view order and wraps; FALSE if
 * there is none. */
void flam_flame_graph_set_search (FlamFlameGraph *self, FlamRegex *regex);
gint64 flam_flame_graph_get_matched (FlamFlameGraph *self);
gboolean flam_flame_graph_next_match (FlamFlameGraph *self, gboolean backward);
/* The number of matches to visit, and the position of the selected one, from 1;
 * 0: none is selected. */
guint flam_flame_graph_count_matches (FlamFlameGraph *self, guint *n);

/* For the status bar: the visible weight in boxes that are too narrow to be
 * drawn, and the weight across the view. */
gint64 flam_flame_graph_get_hidden (FlamFlameGraph *self, gint64 *in_view);
/* Whether an animation is running: texts about the visible part, which need a
 * layout of the window when they change, can wait for its end, which is also
 * signalled. */
gboolean flam_flame_graph_is_moving (FlamFlameGraph *self);

/* Marks a node as if the pointer were on it, because the pointer is on that
 * node in another graph. FLAM_NONE: none. */
void flam_flame_graph_point_at (FlamFlameGraph *self, FlamNodeId node);
/* The accessible name of this graph among others; NULL: none. */
void flam_flame_graph_set_title (FlamFlameGraph *self, const char *title);

/* Returns the user's note about a function; g_free, or NULL. It is shown with
 * the function. `data` must be valid as long as the widget uses it. */
typedef char *(*FlamGraphNotes) (gpointer data, const char *function);
void flam_flame_graph_set_notes (FlamFlameGraph *self,
                                 FlamGraphNotes notes,
                                 gpointer data);

/* The visible part: fractions of the whole width and of the whole height. */
typedef struct
{
  double x, y, width, height;
} FlamView;

void flam_flame_graph_get_view (FlamFlameGraph *self, FlamView *view);
/* Moves the view without animation (the minimap's drag). */
void flam_flame_graph_set_view (FlamFlameGraph *self, const FlamView *view);

/* The legend of the visible colors; g_ptr_array_unref. Of FlamLegendEntry. */
GPtrArray *flam_flame_graph_get_legend (FlamFlameGraph *self);

/* The display name: that of the root is translated. Files use
 * flam_tree_name(). */
const char *flam_graph_name (const FlamTree *tree, FlamNodeId node);

/* "spin_heavy, total 50.7 %, self 50.7 %": the accessible text of a node;
 * g_free. */
char *flam_flame_graph_describe (FlamFlameGraph *self, FlamNodeId node);

G_END_DECLS

#endif
