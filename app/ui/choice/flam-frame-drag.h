/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A frame that is dragged out of the window is text: its whole name and what it
 * costs, "main: self 1.2 s (3.1 %), total 38 s (100 %)". */

#include "flam-flame-graph.h"

G_BEGIN_DECLS

typedef struct
{
  const FlamTree *tree; /* the node's tree; NULL: nothing is dragged */
  FlamId node;
  gint64 self, total; /* those of a function, not of the node itself */
  gboolean stack;     /* below it, a line each, its parents in the tree */
} FlamDraggedFrame;

/* What is to be dragged from a widget. */
typedef FlamDraggedFrame (*FlamFrameOf) (GtkWidget *widget, gpointer data);

/* `data` must outlive the widget. */
void
flam_frame_drag_add (GtkWidget *widget, FlamFrameOf frame_of, gpointer data);
/* With Ctrl held down: without it, a drag in the graph moves the view. */
void flam_frame_drag_add_graph (FlamFlameGraph *graph);

G_END_DECLS
