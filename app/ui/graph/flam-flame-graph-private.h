/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the widget's three files share, each of which calls only those before
 * it: flam-flame-graph-model.c (tree, view, zoom, selection, search, and a node
 * in words), flam-flame-graph-drawing.c (picture, marks, tooltip), and
 * flam-flame-graph.c (the object, pointer and keys). */

#include "flam-draw.h"
#include "flam-flame-graph.h"

G_BEGIN_DECLS

/* A place in the history. */
typedef struct
{
  FlamId zoom;
  double from, to;
} FlamZoomState;

/* A moving view. */
typedef struct
{
  guint tick;   /* 0: at rest, or by the timer */
  gint64 start; /* µs */
  guint timer;  /* where the CPU draws; 0: at rest, or by ticks */
  guint step;
  double from0, to0, from1, to1;
  double scroll0, scroll1, rings0, rings1; /* of a sunburst */
} FlamMotion;

/* How many rows have boxes when a range is in view; `to` is 0: not known. */
typedef struct
{
  double from, to;
  guint32 n;
} FlamRowCount;

struct _FlamFlameGraph
{
  GtkWidget parent_instance;

  FlamTree *tree;
  FlamRows *rows;
  FlamPaletteMode palette_mode;
  FlamColorRules *rules; /* or NULL */
  FlamShape shape;
  FlamDirection direction;
  gboolean dark, dark_is_set;

  FlamId zoom;
  double from, to; /* range of x in view */
  double scroll;   /* from the root's edge */
  double rings;    /* of a sunburst that moves; 0: those of its layout */
  FlamMotion motion;
  GArray *history; /* FlamZoomState: before this one, the latest last */
  GArray *future;  /* those that back() left */
  FlamId selected;

  FlamGraphNotes notes; /* or NULL */
  gpointer notes_data;

  FlamRegex *search;
  guint8 *matched; /* a byte a node, or NULL */
  gint64 matched_weight;

  GtkAdjustment *hadjustment, *vadjustment;
  GtkScrollablePolicy hpolicy, vpolicy;
  gboolean adjusting;
  guint32 n_rows; /* with boxes, when last at rest */
  FlamRowCount rest_rows, whole_rows;

  FlamDraw *draw;
  FlamPalette *palette;
  FlamLayout *layout;            /* of what is in view; NULL: to be made */
  cairo_surface_t *picture;      /* of the layout; NULL: to be made */
  FlamLayout *last_layout;       /* the one before, or NULL */
  cairo_surface_t *last_picture; /* the same; its colors are still right */
  FlamViewport pictured;         /* what the picture, or the last one, is of */
  GskRenderNode *image; /* of the picture: what GTK shows; NULL: as above */
  void *spares[2];      /* the pixels of the last pictures, to be used again */
  guint changed_idle;
  GtkWidget *tip; /* the tooltip that is shown, or NULL */
  char *tip_text; /* the same for a screen reader */
  FlamId tip_node;
  gboolean tip_is_strip;
  guint tip_soon;    /* a source; 0: none is awaited */
  gint64 tip_hidden; /* when the last one was, µs */

  GtkGesture *click, *drag;
  GtkEventController *scroll_controller, *motion_controller, *keys;
  double pointer_x, pointer_y;
  gboolean pointer_inside, dragging, telling_zoom;
  double drag_from, drag_scroll;
  double pinch_range;
  FlamId hovered, pressed;
  FlamId pointed; /* the node hovered in another graph */
  char *title;    /* or NULL */
};

enum
{
  FLAM_GRAPH_NODE_HOVERED,
  FLAM_GRAPH_NODE_SELECTED,
  FLAM_GRAPH_NODE_ACTIVATED,
  FLAM_GRAPH_ZOOM_CHANGED,
  FLAM_GRAPH_CONTEXT_MENU,
  FLAM_GRAPH_DRAWN_CHANGED,
  FLAM_GRAPH_RULES_TRIED,
  FLAM_GRAPH_N_SIGNALS
};
extern guint flam_graph_signals[FLAM_GRAPH_N_SIGNALS];

static inline gboolean
flam_graph_is_empty (FlamFlameGraph *self)
{
  return self->tree == NULL || self->tree->n == 0 || self->tree->total[0] <= 0;
}

/* The part of a path that a treemap's title has no room for counts as the
 * path's first node for the pointer. */
static inline gboolean
flam_graph_is_strip (const FlamBox *box)
{
  return (box->flags & (FLAM_BOX_STRIP | FLAM_BOX_HEAD)) == FLAM_BOX_STRIP;
}

/* --- model --------------------------------------------------------------- */

FlamViewport flam_graph_viewport (FlamFlameGraph *self);
const FlamLayout *flam_graph_layout (FlamFlameGraph *self);
double flam_graph_row_height (FlamFlameGraph *self);
FlamDraw *flam_graph_draw (FlamFlameGraph *self);
FlamPalette *flam_graph_palette (FlamFlameGraph *self);
/* The number of rows with the whole width in view, or now, whichever is
 * more. */
guint32 flam_graph_whole_rows (FlamFlameGraph *self);
/* For another tree, or another width. */
void flam_graph_forget_rows (FlamFlameGraph *self);
/* The place of a node; FALSE: it is not drawn. */
gboolean flam_graph_find_box (FlamFlameGraph *self, FlamId node, FlamBox *box);
/* The range of x that shows a node from edge to edge. */
void flam_graph_range_of (FlamFlameGraph *self,
                          FlamId node,
                          double *from,
                          double *to);
/* Zooms around a pixel, by a factor (less than 1: closer); the zoomed node
 * becomes the deepest one above the old that still fills the view. */
void flam_graph_zoom_by (FlamFlameGraph *self, double x, double factor);
void flam_graph_pan_to (FlamFlameGraph *self, double from, double scroll);
void flam_graph_stop (FlamFlameGraph *self);

static inline gboolean
flam_graph_is_moving (const FlamFlameGraph *self)
{
  return self->motion.tick != 0 || self->motion.timer != 0;
}

/* Marks the picture as stale: only the colors, or only where one looks. */
void flam_graph_redraw (FlamFlameGraph *self);
void flam_graph_relayout (FlamFlameGraph *self);
void flam_graph_restyle (FlamFlameGraph *self);
void flam_graph_adjust (FlamFlameGraph *self);
void flam_graph_on_scrolled (FlamFlameGraph *self);
void flam_graph_clear_view (FlamFlameGraph *self);

void flam_graph_announce (FlamFlameGraph *self);
gboolean flam_graph_has_states (FlamFlameGraph *self);
/* NULL: it existed before and exists now. */
const char *flam_graph_kind_text (const FlamTreeChange *change, FlamId node);
/* NULL: there is none. */
char *flam_graph_note_of (FlamFlameGraph *self, FlamId node);

/* Also not the one that is awaited. */
void flam_graph_hide_tip (FlamFlameGraph *self);

/* The picture moved under the pointer. */
void flam_graph_hover_again (FlamFlameGraph *self);
/* zoom_to() with the place left behind put into the history. */
void flam_graph_set_zoom (FlamFlameGraph *self,
                          FlamId node,
                          gboolean remember,
                          gboolean animate);
void flam_graph_set_selected (FlamFlameGraph *self, FlamId node);

/* Looks at the heaviest of the boxes that a strip stands for. */
void flam_graph_open_strip (FlamFlameGraph *self, const FlamBox *strip);
/* The same of a node that is in one, if it is. */
void flam_graph_open_narrow (FlamFlameGraph *self, FlamId node);
/* The next page of what has no room, or the one before it: where nothing
 * scrolls. */
void flam_graph_turn_page (FlamFlameGraph *self, gboolean back);
/* What a sunburst shows of the callees of the deepest node that fills it. */
typedef struct
{
  guint32 n;          /* all of them */
  guint32 first, end; /* those in view; 0, n: all, some in a strip */
  guint32 hidden;     /* how many of them that strip stands for */
  gboolean back, on;  /* whether there is a page before, and after */
} FlamGraphPage;
/* FALSE: all have room, or the shape has another way to the rest. */
gboolean flam_graph_get_page (FlamFlameGraph *self, FlamGraphPage *page);

/* --- drawing ------------------------------------------------------------- */

void flam_graph_snapshot (GtkWidget *widget, GtkSnapshot *snapshot);
/* The pointer has moved: there is a tooltip when it rests, and where one is
 * shown it becomes that of the box that the pointer is on. */
void flam_graph_show_tip_soon (FlamFlameGraph *self);

G_END_DECLS
