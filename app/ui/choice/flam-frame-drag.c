/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-frame-drag.h"

#include "flam-core-picture.h"

#include <glib/gi18n.h>

#define ICON_CHARS 40
#define ICON_OFFSET 12

typedef struct
{
  FlamFrameOf frame_of; /* NULL: the graph's node at the pointer */
  gpointer data;
  char *name, *costs; /* of the dragged frame */
} FrameDrag;

/* The line or the address is after its function; g_free. */
static char *
name_of (const FlamTree *tree, FlamNodeId node)
{
  g_autofree char *detail = flam_tree_detail (tree, node);

  return g_strconcat (flam_graph_name (tree, node), detail, NULL);
}

static char *
costs_of (const FlamDraggedFrame *frame)
{
  const FlamFunctionRow *row = &frame->row;
  gint64 all = frame->tree->total[0];
  g_autofree char *self = flam_format_self (frame->tree, row);
  g_autofree char *self_share = flam_format_percent (row->self, all);
  g_autofree char *total = flam_format_total (frame->tree, row);
  g_autofree char *total_share = flam_format_percent (row->total, all);

  if (frame->stack && !flam_functions_has_self (frame->tree, row->node))
    /* Translators: an amount and its share */
    return g_strdup_printf (_ ("total %s (%s)"), total, total_share);
  /* Translators: what a function costs, with its shares in percent */
  return g_strdup_printf (
      _ ("self %s (%s), total %s (%s)"), self, self_share, total, total_share);
}

/* g_free */
static char *
text_of (const FlamDraggedFrame *frame)
{
  const FlamTree *tree = frame->tree;
  g_autofree char *name = name_of (tree, frame->row.node);
  g_autofree char *costs = costs_of (frame);
  GString *text = g_string_new (NULL);
  FlamNodeId node =
      frame->row.node != 0 ? tree->parent[frame->row.node] : FLAM_NONE;

  g_string_append_printf (text, "%s: %s", name, costs);
  while (frame->stack && node != FLAM_NONE && (node != 0 || tree->rooted))
    {
      g_autofree char *above = name_of (tree, node);

      g_string_append_printf (text, "\n%s", above);
      node = tree->parent[node];
    }
  return g_string_free (text, FALSE);
}

static void
forget (FrameDrag *drag)
{
  g_clear_pointer (&drag->name, g_free);
  g_clear_pointer (&drag->costs, g_free);
}

static void
frame_drag_free (gpointer data, GClosure *closure)
{
  forget (data);
  g_free (data);
}

static FlamDraggedFrame
frame_of_graph (GtkDragSource *source,
                FlamFlameGraph *graph,
                double x,
                double y)
{
  const FlamTree *tree = flam_flame_graph_get_tree (graph);
  FlamNodeId node = flam_flame_graph_get_node_at (graph, x, y);
  FlamDraggedFrame frame = { .tree = NULL };

  if (node != FLAM_NONE && gtk_event_controller_get_current_event_state (
                               GTK_EVENT_CONTROLLER (source)) &
                               GDK_CONTROL_MASK)
    frame = (FlamDraggedFrame){ tree,
                                flam_functions_row_of_node (tree, node),
                                TRUE };
  return frame;
}

static GdkContentProvider *
on_prepare (GtkDragSource *source, double x, double y, FrameDrag *drag)
{
  GtkWidget *widget =
      gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (source));
  FlamDraggedFrame frame =
      drag->frame_of != NULL
          ? drag->frame_of (widget, drag->data)
          : frame_of_graph (source, FLAM_FLAME_GRAPH (widget), x, y);
  g_autofree char *text = NULL;

  if (frame.tree == NULL || frame.row.node >= frame.tree->n)
    return NULL;
  forget (drag);
  drag->name = name_of (frame.tree, frame.row.node);
  drag->costs = costs_of (&frame);
  text = text_of (&frame);
  return gdk_content_provider_new_typed (G_TYPE_STRING, text);
}

static GtkWidget *
icon_label (const char *text, PangoEllipsizeMode ellipsize, const char *style)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), ellipsize);
  gtk_label_set_max_width_chars (GTK_LABEL (label), ICON_CHARS);
  gtk_widget_add_css_class (label, style);
  return label;
}

/* Placed below and to the right, so that the pointer does not hide it. */
static void
on_begin (GtkDragSource *source, GdkDrag *drag, FrameDrag *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  g_autofree char *folded = flam_format_short_name (self->name, ICON_CHARS);

  gtk_widget_add_css_class (box, "flam-dragged");
  gtk_box_append (GTK_BOX (box),
                  icon_label (folded, PANGO_ELLIPSIZE_MIDDLE, "heading"));
  gtk_box_append (GTK_BOX (box),
                  icon_label (self->costs, PANGO_ELLIPSIZE_END, "caption"));
  gtk_drag_icon_set_child (GTK_DRAG_ICON (gtk_drag_icon_get_for_drag (drag)),
                           box);
  gdk_drag_set_hotspot (drag, -ICON_OFFSET, -ICON_OFFSET);
}

void
flam_frame_drag_add (GtkWidget *widget, FlamFrameOf frame_of, gpointer data)
{
  GtkDragSource *source = gtk_drag_source_new ();
  FrameDrag *drag = g_new0 (FrameDrag, 1);

  drag->frame_of = frame_of;
  drag->data = data;
  g_signal_connect_data (
      source, "prepare", G_CALLBACK (on_prepare), drag, frame_drag_free, 0);
  g_signal_connect (source, "drag-begin", G_CALLBACK (on_begin), drag);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (source));
}

void
flam_frame_drag_add_graph (FlamFlameGraph *graph)
{
  flam_frame_drag_add (GTK_WIDGET (graph), NULL, NULL);
}
