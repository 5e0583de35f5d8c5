/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#define NAME_WIDTH 40    /* pixels: of the first box of a page */
#define NAME_AREA 4000.0 /* the same of a treemap */

/* Pixels from edge to edge of the range of x: around a sunburst. */
static double
width_of (FlamFlameGraph *self)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double height = gtk_widget_get_height (GTK_WIDGET (self));

  return self->shape == FLAM_SHAPE_SUNBURST ? G_PI * MIN (width, height)
                                            : width;
}

/* From one box on, as many as have room for their names, were they all as large
 * as that one. */
static double
page_from (FlamFlameGraph *self, FlamId node)
{
  double names = width_of (self) / NAME_WIDTH;

  if (self->shape == FLAM_SHAPE_TREEMAP)
    names = gtk_widget_get_width (GTK_WIDGET (self)) *
            gtk_widget_get_height (GTK_WIDGET (self)) / NAME_AREA;
  return MAX (names, 4) * (double)self->tree->total[node];
}

/* --- a treemap: what the zoomed node calls, heaviest first ------------------
 */

static guint32
page_end (FlamFlameGraph *self, const FlamFamily *family, guint32 first)
{
  double page = page_from (self, self->rows->at[family->index[first]].node);
  guint32 end =
      flam_family_rank_at (family, (double)family->x[first] + page + 0.5);

  return CLAMP (end, first + 1, family->n);
}

/* The first page is all of them: those that are too many are its strip. */
static void
look_at_ranks (FlamFlameGraph *self,
               const FlamFamily *family,
               guint32 first,
               guint32 end)
{
  if (first == 0)
    {
      flam_graph_set_zoom (self, self->zoom, TRUE, TRUE);
      return;
    }
  flam_graph_remember (self);
  flam_graph_look_at (
      self, (double)family->x[first], (double)family->x[end], TRUE);
}

void
flam_graph_look_at_callee (FlamFlameGraph *self, FlamId node)
{
  g_autoptr (FlamFamily) family = NULL;
  guint32 first;

  if (self->shape != FLAM_SHAPE_TREEMAP ||
      self->tree->parent[node] != self->zoom)
    return;
  family = flam_family_new (self->rows, self->zoom);
  first = flam_family_rank_of (family, self->rows, node);
  if (first < family->n && self->tree->total[node] > 0)
    look_at_ranks (self, family, first, page_end (self, family, first));
}

/* A strip of what is framed is looked at in its caller first. */
static void
open_treemap_strip (FlamFlameGraph *self, const FlamBox *strip)
{
  FlamId parent = self->tree->parent[strip->node];
  FlamZoomState now = flam_graph_where (self);
  g_autoptr (FlamFamily) family = NULL;
  double from, to;
  guint32 first;

  if (parent != self->zoom)
    {
      flam_graph_set_zoom (self, parent, TRUE, TRUE);
      return;
    }
  family = flam_family_new (self->rows, parent);
  /* Of all it has the lightest; of a page, it begins with its heaviest. */
  flam_graph_range_of (self, parent, &from, &to);
  first = now.to - now.from < to - from
              ? flam_family_rank_of (family, self->rows, strip->node)
              : family->n - strip->count;
  look_at_ranks (self, family, first, page_end (self, family, first));
}

/* As many before the page as go to one that begins with the first of them. */
static guint32
page_before (FlamFlameGraph *self, const FlamFamily *family, guint32 end)
{
  guint32 first = end;

  while (first > 0 && page_end (self, family, first - 1) >= end)
    first--;
  return MIN (first, end - 1);
}

static void
turn_treemap (FlamFlameGraph *self, gboolean back)
{
  g_autoptr (FlamFamily) family = flam_family_new (self->rows, self->zoom);
  FlamZoomState now = flam_graph_where (self);
  guint32 first = flam_family_rank_at (family, now.from - 0.5);
  guint32 end = flam_family_rank_at (family, now.to - 0.5);

  if (back && first > 0)
    look_at_ranks (self, family, page_before (self, family, first), first);
  else if (!back && end < family->n)
    look_at_ranks (self, family, end, page_end (self, family, end));
}

/* --- any shape ------------------------------------------------------------ */

static void
look_at_page (FlamFlameGraph *self, FlamId node, double page)
{
  double from = (double)flam_rows_x (self->rows, node);

  flam_graph_remember (self);
  flam_graph_look_at (self, from, from + MAX (page, 1), TRUE);
}

/* All of a strip, or a page of it, where the heaviest is the first of them.
 * Where that is no closer look, its caller. */
void
flam_graph_open_strip (FlamFlameGraph *self, const FlamBox *strip)
{
  const FlamRows *rows = self->rows;
  guint32 first = rows->index[strip->node];
  guint32 end = MIN (first + strip->count, rows->n);
  double width =
      self->shape == FLAM_SHAPE_SUNBURST ? 2 * G_PI : width_of (self);
  double page = strip->width / width * (self->to - self->from);
  gboolean heaviest_first = TRUE;

  if (self->shape == FLAM_SHAPE_TREEMAP)
    {
      open_treemap_strip (self, strip);
      return;
    }
  for (guint32 i = first + 1; i < end; i++)
    heaviest_first &= rows->at[i].total <= rows->at[first].total;
  if (heaviest_first)
    page = MIN (page, page_from (self, strip->node));
  if (page >= self->to - self->from)
    flam_graph_set_zoom (self, self->tree->parent[strip->node], TRUE, TRUE);
  else
    look_at_page (self, strip->node, page);
}

/* What is walked to is seen: a page of what it is the first of. */
void
flam_graph_open_narrow (FlamFlameGraph *self, FlamId node)
{
  FlamZoomState now = flam_graph_where (self);
  double total = (double)self->tree->total[node];

  if (self->shape != FLAM_SHAPE_TREEMAP && total > 0 &&
      total * width_of (self) < now.to - now.from)
    look_at_page (self, node, page_from (self, node));
}

gboolean
flam_graph_pan_to_see (FlamFlameGraph *self, double x, double end)
{
  FlamZoomState now = flam_graph_where (self);
  double range = now.to - now.from;

  if (self->shape == FLAM_SHAPE_TREEMAP || (end > now.from && x < now.to) ||
      end - x > range || (end - x) * width_of (self) < range)
    return FALSE;
  flam_graph_look_at (
      self, x >= now.to ? x : end - range, x >= now.to ? x + range : end, TRUE);
  return TRUE;
}

/* What has no room among what the zoomed node calls; FALSE: all have. */
static gboolean
find_strip (FlamFlameGraph *self, FlamBox *strip)
{
  const FlamLayout *layout = flam_graph_layout (self);

  strip->count = 0;
  for (guint32 i = 0; i < layout->n; i++)
    if (flam_graph_is_strip (&layout->boxes[i]) &&
        self->tree->parent[layout->boxes[i].node] == self->zoom &&
        layout->boxes[i].count > strip->count)
      *strip = layout->boxes[i];
  return strip->count > 0;
}

/* From all of them the next page is of those that have no room there. */
void
flam_graph_turn_page (FlamFlameGraph *self, gboolean back)
{
  FlamZoomState now = flam_graph_where (self);
  double from, to, range = now.to - now.from;
  FlamBox strip;

  flam_graph_range_of (self, self->zoom, &from, &to);
  if (!back && range >= to - from)
    {
      if (find_strip (self, &strip))
        flam_graph_open_strip (self, &strip);
      return;
    }
  if (self->shape == FLAM_SHAPE_TREEMAP)
    {
      turn_treemap (self, back);
      return;
    }
  if (back ? now.from <= from : now.to >= to)
    return;
  flam_graph_remember (self);
  from = back ? MAX (now.from - range, from) : MIN (now.to, to - range);
  flam_graph_look_at (self, from, from + range, TRUE);
}

/* The first callee of a node, as an index of the rows, whose right edge is
 * behind `x`. */
static guint32
callee_at (const FlamRows *rows, guint32 index, double x)
{
  guint32 low = rows->at[index].child, high = rows->at[index + 1].child;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if ((double)(rows->at[middle].x + rows->at[middle].total) > x)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

/* The deepest node from `index` on that has callees and fills a range. */
static guint32
index_filling (const FlamRows *rows, guint32 index, double from, double to)
{
  for (;;)
    {
      guint32 next = callee_at (rows, index, from + 0.5);

      if (next == rows->at[index + 1].child ||
          rows->at[next].child == rows->at[next + 1].child ||
          (double)rows->at[next].x > from + 0.5 ||
          (double)(rows->at[next].x + rows->at[next].total) < to - 0.5)
        return index;
      index = next;
    }
}

gboolean
flam_graph_get_page (FlamFlameGraph *self, FlamGraphPage *page)
{
  const FlamRows *rows = self->rows;
  FlamZoomState now;
  double from, to;
  guint32 index, last;
  FlamBox strip;

  if (self->shape != FLAM_SHAPE_SUNBURST || flam_graph_is_empty (self) ||
      flam_graph_layout (self) == NULL)
    return FALSE;
  now = flam_graph_where (self);
  flam_graph_range_of (self, self->zoom, &from, &to);
  index = rows->index[self->zoom];
  if (now.to - now.from >= to - from)
    {
      guint32 n = rows->at[index + 1].child - rows->at[index].child;

      if (!find_strip (self, &strip))
        return FALSE;
      *page = (FlamGraphPage){ n, 0, n, strip.count, FALSE, TRUE };
      return TRUE;
    }
  index = index_filling (rows, index, now.from, now.to);
  last = callee_at (rows, index, now.to - 0.5);
  page->n = rows->at[index + 1].child - rows->at[index].child;
  page->first = callee_at (rows, index, now.from + 0.5) - rows->at[index].child;
  page->end = MIN (last + 1 - rows->at[index].child, page->n);
  page->hidden = 0;
  page->back = now.from > from;
  page->on = now.to < to;
  return TRUE;
}
