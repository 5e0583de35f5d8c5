/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FLAME_GRAPH_PRIVATE_H
#define FLAM_FLAME_GRAPH_PRIVATE_H

/* Declarations that the widget's three files share. Each calls only those
 * before it: flam-flame-graph-model.c (tree, view, zoom, selection, search, and
 * a node in words), flam-flame-graph-drawing.c (picture, marks, tooltip), and
 * flam-flame-graph.c (the object, pointer and keys). */

#include "flam-draw.h"
#include "flam-flame-graph.h"

G_BEGIN_DECLS

/* A place in the history. */
typedef struct
{
  FlamNodeId zoom;
  double from, to;
} FlamZoomState;

/* A moving view. */
typedef struct
{
  guint tick;   /* a source by timer; 0: at rest, or by ticks */
  gint64 start; /* µs */
  guint timer;  /* if the CPU draws; 0: at rest, or by ticks */
  guint step;
  double from0, to0, from1, to1;
  double scroll0, scroll1, rings0, rings1; /* of a sunburst */
} FlamMotion;

/* The number of rows with boxes in a range; `to` is 0: unknown. */
typedef struct
{
  double from, to;
  guint32 n;
} FlamRowCount;

/* Where matches are, as columns of pixels. */
typedef struct
{
  double from, to;
  int width;
  guint8 *columns; /* width; NULL: not made yet */
} FlamMatchStrip;

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

  FlamNodeId zoom;
  double from, to;       /* visible range of x */
  double scroll;         /* from the root's edge */
  gboolean scroll_later; /* to the selected node: the widget had no size yet */
  double rings;          /* of a moving sunburst; 0: the layout's */
  FlamMotion motion;
  GArray *history; /* FlamZoomState: previous ones, the latest last */
  GArray *future;  /* the states that back() left */
  FlamId selected;

  FlamGraphNotes notes; /* or NULL */
  gpointer notes_data;

  FlamRegex *search;
  guint8 *matched; /* one byte per node, or NULL */
  gint64 matched_weight;
  FlamMatchStrip strip;

  GtkAdjustment *hadjustment, *vadjustment;
  GtkScrollablePolicy hpolicy, vpolicy;
  gboolean adjusting;
  guint32 n_rows; /* with boxes, when last at rest */
  FlamRowCount rest_rows, whole_rows;

  FlamDraw *draw;
  FlamPalette *palette;
  FlamPaletteLegend
      *legend;        /* of the palette and the tree; NULL: not made yet */
  FlamLayout *layout; /* of the visible part; NULL: not made yet */
  cairo_surface_t *picture;      /* of the layout; NULL: not made yet */
  FlamLayout *last_layout;       /* the previous one, or NULL */
  cairo_surface_t *last_picture; /* the same; its colors are still right */
  FlamViewport pictured; /* the content of the current or the last picture */
  GskRenderNode
      *image;      /* the texture or surface that GTK shows; NULL: as above */
  void *spares[2]; /* the pixels of the last pictures, to be reused */
  guint changed_idle;
  GtkWidget *tip; /* the shown tooltip, or NULL */
  char *tip_text; /* the same for a screen reader */
  FlamId tip_node;
  gboolean tip_is_strip;
  guint tip_soon;    /* a source; 0: no tooltip is due */
  gint64 tip_hidden; /* time of the last motion, µs */

  GtkGesture *click, *drag;
  GtkEventController *scroll_controller, *motion_controller, *keys;
  double pointer_x, pointer_y;
  gboolean pointer_inside, dragging, telling_zoom;
  double drag_from, drag_scroll;
  double pinch_range;
  FlamNodeId hovered, pressed;
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

/* The part of a path that does not fit into a treemap's title counts as the
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
void flam_graph_forget_palette (FlamFlameGraph *self);
/* The number of rows with the whole width in view, or now, whichever is
 * more. */
guint32 flam_graph_whole_rows (FlamFlameGraph *self);
/* For another tree, or another width. */
void flam_graph_forget_rows (FlamFlameGraph *self);
/* The position of a node; FALSE: it is not drawn. */
gboolean
flam_graph_find_box (FlamFlameGraph *self, FlamNodeId node, FlamBox *box);
/* The range of x that shows a node from edge to edge. */
void flam_graph_range_of (FlamFlameGraph *self,
                          FlamNodeId node,
                          double *from,
                          double *to);
/* Zooms around a pixel by a factor (less than 1: closer). The new zoomed node
 * is the deepest one above the old one that still fills the view. */
void flam_graph_zoom_by (FlamFlameGraph *self, double x, double factor);
void flam_graph_pan_to (FlamFlameGraph *self, double from, double scroll);
void flam_graph_stop (FlamFlameGraph *self);

static inline gboolean
flam_graph_is_moving (const FlamFlameGraph *self)
{
  return self->motion.tick != 0 || self->motion.timer != 0;
}

/* Marks the picture as stale: only the colors, or only the position. */
void flam_graph_redraw (FlamFlameGraph *self);
void flam_graph_relayout (FlamFlameGraph *self);
/* For other rows: neither boxes nor pixels are reused. */
void flam_graph_forget_layout (FlamFlameGraph *self);
void flam_graph_restyle (FlamFlameGraph *self);
void flam_graph_adjust (FlamFlameGraph *self);
/* In size_allocate(). */
void flam_graph_scroll_if_later (FlamFlameGraph *self);
void flam_graph_on_scrolled (FlamFlameGraph *self);
void flam_graph_clear_view (FlamFlameGraph *self);

void flam_graph_announce (FlamFlameGraph *self);
gboolean flam_graph_has_states (FlamFlameGraph *self);
/* NULL: it existed before and exists now. */
const char *flam_graph_kind_text (const FlamTreeChange *change,
                                  FlamNodeId node);
/* NULL: none. */
char *flam_graph_note_of (FlamFlameGraph *self, FlamNodeId node);

/* Also cancels one that is due. */
void flam_graph_hide_tip (FlamFlameGraph *self);

/* The picture moved under the pointer. */
void flam_graph_hover_again (FlamFlameGraph *self);
/* zoom_to() with the previous place added to the history. */
void flam_graph_set_zoom (FlamFlameGraph *self,
                          FlamNodeId node,
                          gboolean remember,
                          gboolean animate);
void flam_graph_set_selected (FlamFlameGraph *self, FlamNodeId node);

/* Shows the heaviest of a strip's boxes. */
void flam_graph_open_strip (FlamFlameGraph *self, const FlamBox *strip);
/* The same for a node in a strip, if it is in one. */
void flam_graph_open_narrow (FlamFlameGraph *self, FlamNodeId node);
/* The next or previous page of the callees that do not fit, for shapes that do
 * not scroll. */
void flam_graph_turn_page (FlamFlameGraph *self, gboolean back);
/* The visible callees of the deepest node that fills a sunburst. */
typedef struct
{
  guint32 n;          /* all of them */
  guint32 first, end; /* the visible ones; 0, n: all, some in a strip */
  guint32 hidden;     /* the number of them in that strip */
  gboolean back, on;  /* whether there is a page before, and after */
} FlamGraphPage;
/* FALSE: all fit, or the shape has another way to the rest. */
gboolean flam_graph_get_page (FlamFlameGraph *self, FlamGraphPage *page);

/* --- drawing ------------------------------------------------------------- */

/* They are drawn again when the graph is shown. */
void flam_graph_forget_pixels (FlamFlameGraph *self);
void flam_graph_snapshot (GtkWidget *widget, GtkSnapshot *snapshot);
/* The pointer has moved: a tooltip appears when it rests. A shown one changes
 * to the box under the pointer. */
void flam_graph_show_tip_soon (FlamFlameGraph *self);

G_END_DECLS

#endif
