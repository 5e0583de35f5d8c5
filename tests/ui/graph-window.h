/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEST_GRAPH_WINDOW_H
#define FLAM_TEST_GRAPH_WINDOW_H

/* A window with a flame graph, for clicks and keys. */

#include "flam-flame-graph-private.h"

typedef struct
{
  GtkWidget *window;
  GtkWidget *minimap;
  FlamFlameGraph *graph;
  FlamTree *tree;
  guint selected, activated, hovered, zoomed, menus;
  FlamId last;
} Fixture;

/* Frames of all kinds, for flam_test_tree(). */
extern const char graph_sample[];

void settle (void);
/* Waits until the view is at rest; a busy machine may take its time. */
void wait_for_zoom (Fixture *fixture);
void wait_for_minimap (Fixture *fixture);
/* For "drawn-changed", which is emitted in the frame that shows the picture, so
 * that the minimap is drawn in the same frame: while there is none yet. */
void count_drawn (FlamFlameGraph *graph, guint *n);
void open_window (Fixture *fixture, FlamTree *tree, int width, int height);
void close_window (Fixture *fixture);
FlamNodeId find_node (FlamTree *tree, const char *name);
gboolean press_key (Fixture *fixture, guint key, GdkModifierType state);
void click_at (Fixture *fixture, double x, double y, guint button, int n_press);
void click_node (Fixture *fixture, FlamNodeId node, guint button, int n_press);
/* Moves the pointer to the middle of a node's box. */
void point_at (Fixture *fixture, FlamNodeId node);
/* The tooltip; NULL: none. */
GtkWidget *shown_tip (Fixture *fixture);
/* In the folder of FLAM_TEST_PICTURES. */
void picture (GtkWidget *widget, const char *name);

#endif
