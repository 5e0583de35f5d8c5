/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FRAME_DRAG_H
#define FLAM_FRAME_DRAG_H

/* A frame that is dragged out of the window is offered as text: its whole name
 * and its cost, "main: self 1.2 s (3.1 %), total 38 s (100 %)". */

#include "flam-flame-graph.h"

G_BEGIN_DECLS

typedef struct
{
  const FlamTree *tree; /* the node's tree; NULL: nothing is dragged */
  FlamFunctionRow
      row;        /* the node, and the figures: its own or its function's */
  gboolean stack; /* the node's parents in the tree, appended one per line */
} FlamDraggedFrame;

/* The frame to drag from a widget. */
typedef FlamDraggedFrame (*FlamFrameOf) (GtkWidget *widget, gpointer data);

/* `data` must outlive the widget. */
void
flam_frame_drag_add (GtkWidget *widget, FlamFrameOf frame_of, gpointer data);
/* Only with Ctrl held down: without it, a drag in the graph moves the view. */
void flam_frame_drag_add_graph (FlamFlameGraph *graph);

G_END_DECLS

#endif
