/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-layout-private.h"

#include <math.h>

/* --- visible part --------------------------------------------------------- */

/* First index of [first, end) whose right edge is beyond x. */
static guint32
first_beyond (const FlamRows *rows, guint32 first, guint32 end, double x)
{
  while (first < end)
    {
      guint32 middle = first + (end - first) / 2;

      if ((double)(rows->at[middle].x + rows->at[middle].total) > x)
        end = middle;
      else
        first = middle + 1;
    }
  return first;
}

/* First index of [first, end) whose left edge is at or beyond x. */
static guint32
first_from (const FlamRows *rows, guint32 first, guint32 end, double x)
{
  while (first < end)
    {
      guint32 middle = first + (end - first) / 2;

      if ((double)rows->at[middle].x >= x)
        end = middle;
      else
        first = middle + 1;
    }
  return first;
}

/* --- boxes --------------------------------------------------------------- */

/* The parents of the next row: a box, or a strip. */
typedef struct
{
  guint32 first, end; /* indices */
  gboolean strip;
} Part;

typedef struct
{
  const FlamRows *rows;
  FlamLayout *layout;
  GArray *boxes;
  GArray *parts;   /* Part, of this row, for the next one */
  gboolean unseen; /* the row is above or below the view */
  gint64 hidden;   /* weight of the row's strips */
  double per_pixel;
  gint64 least; /* weight of the narrowest box that is drawn */
  float y;
  /* a run of boxes too narrow to draw, not yet a strip */
  guint32 strip_first, strip_count;
  guint32 strip_index, strip_end; /* indices from the first to the last */
  gint64 strip_from, strip_to, strip_weight;
} Build;

/* A weight near 2^63 becomes 2^63 as a double, which exceeds a gint64. */
static gint64
whole_weight (double weight)
{
  return weight >= 0x1p63 ? G_MAXINT64 : weight > 0 ? (gint64)weight : 0;
}

static gint64
sum_of (gint64 a, gint64 b)
{
  return a + MIN (b, G_MAXINT64 - a);
}

static gint64
least_weight (const FlamViewport *viewport)
{
  double range = viewport->to - viewport->from;

  return MAX (
      whole_weight (ceil (viewport->min_width * range / viewport->width)), 1);
}

gboolean
flam_viewport_is_empty (const FlamRows *rows, const FlamViewport *viewport)
{
  return rows->n == 0 || !(viewport->width > 0) || !(viewport->height > 0) ||
         !(viewport->row_height > 0) || !(viewport->to > viewport->from);
}

static float
row_y (const FlamViewport *viewport, guint32 row)
{
  double edge = row * viewport->row_height - viewport->scroll;

  if (viewport->direction == FLAM_DIRECTION_ICICLE)
    return (float)edge;
  return (float)(viewport->height - viewport->row_height - edge);
}

static void
push_box (Build *build,
          FlamNodeId node,
          guint32 count,
          guint32 end,
          gint64 from,
          gint64 to,
          guint flags)
{
  const FlamViewport *view = &build->layout->viewport;
  double left = ((double)from - view->from) / build->per_pixel;
  double right = ((double)to - view->from) / build->per_pixel;
  FlamBox box = { .node = node, .count = count, .end = end, .flags = flags };

  if (build->unseen)
    return;
  left = CLAMP (left, -1, view->width + 1);
  right = CLAMP (right, -1, view->width + 1);
  box.x = (float)left;
  box.width = (float)(right - left);
  box.y = build->y;
  box.height = (float)view->row_height;
  g_array_append_val (build->boxes, box);
}

static void
end_strip (Build *build)
{
  if (build->strip_count == 0)
    return;
  if (build->strip_weight >= build->least)
    {
      Part part = { build->strip_index, build->strip_end, TRUE };

      push_box (build,
                build->strip_first,
                build->strip_count,
                build->strip_end,
                build->strip_from,
                build->strip_to,
                FLAM_BOX_STRIP);
      g_array_append_val (build->parts, part);
    }
  build->strip_count = 0;
}

static void
add_narrow (Build *build, guint32 first, guint32 end, gint64 to)
{
  const FlamRows *rows = build->rows;
  gint64 from = rows->at[first].x;

  if (to <= from)
    return;
  if (build->strip_count > 0 &&
      (double)(from - build->strip_to) > build->per_pixel)
    end_strip (build);
  if (build->strip_count == 0)
    {
      build->strip_first = rows->at[first].node;
      build->strip_index = first;
      build->strip_from = from;
      build->strip_weight = 0;
    }
  build->strip_count += end - first;
  build->strip_end = end;
  build->strip_to = to;
  build->strip_weight += to - from;
}

/* Siblings too narrow to draw, below a box that is wide enough. */
static void
add_hidden (Build *build, guint32 first, guint32 end)
{
  const FlamRows *rows = build->rows;
  const FlamViewport *view = &build->layout->viewport;
  gint64 from = rows->at[first].x;
  gint64 to = rows->at[end - 1].x + rows->at[end - 1].total;
  double seen = MIN ((double)to, view->to) - MAX ((double)from, view->from);

  if (!build->unseen && to > from)
    build->hidden = sum_of (build->hidden, whole_weight (seen));
  add_narrow (build, first, end, to);
}

/* The callees of all nodes of a strip, from the strip's left edge on. */
static void
add_callees (Build *build, guint32 first, guint32 end)
{
  const FlamRows *rows = build->rows;

  if (first < end)
    add_narrow (build,
                first,
                end,
                rows->at[first].x + rows->at[end - 1].sum +
                    rows->at[end - 1].total - rows->at[first].sum);
}

static void
add_wide (Build *build, guint32 index)
{
  const FlamRows *rows = build->rows;
  FlamNodeId node = rows->at[index].node;
  Part part = { index, index + 1, FALSE };
  FlamNodeId zoom = build->layout->viewport.zoom;
  gboolean above =
      node != zoom && flam_tree_is_ancestor (rows->tree, node, zoom);

  end_strip (build);
  push_box (build,
            node,
            1,
            index + 1,
            rows->at[index].x,
            rows->at[index].x + rows->at[index].total,
            above ? FLAM_BOX_ANCESTOR : 0);
  g_array_append_val (build->parts, part);
}

/* Siblings [first, end): their visible part. */
static void
add_family (Build *build, guint32 first, guint32 end)
{
  const FlamRows *rows = build->rows;
  const FlamViewport *view = &build->layout->viewport;

  if (first == end)
    return;
  if ((double)rows->at[first].x < view->from)
    first = first_beyond (rows, first, end, view->from);
  if (first < end && (double)rows->at[end - 1].x >= view->to)
    end = first_from (rows, first, end, view->to);
  while (first < end)
    {
      guint32 wide = flam_rows_next_wide (rows, first, end, build->least);

      if (wide > first)
        add_hidden (build, first, wide);
      if (wide < end)
        add_wide (build, wide++);
      first = wide;
    }
}

static void
build_row (Build *build, guint32 row)
{
  GArray *parts = build->parts;
  const FlamRows *rows = build->rows;

  build->y = row_y (&build->layout->viewport, row);
  build->parts = g_array_sized_new (FALSE, FALSE, sizeof (Part), 64);
  if (row == 0)
    add_family (build, 0, 1);
  for (guint i = 0; i < parts->len; i++)
    {
      const Part *part = &g_array_index (parts, Part, i);
      guint32 first = rows->at[part->first].child;
      guint32 end = rows->at[part->end].child;

      if (part->strip)
        add_callees (build, first, end);
      else
        add_family (build, first, end);
    }
  end_strip (build);
  g_array_unref (parts);
}

/* The parents for the next row, taken from a row that is already laid out. */
static void
take_parts (Build *build, const FlamLayout *before, guint32 row)
{
  row -= before->first_row;
  g_array_set_size (build->parts, 0);
  for (guint32 i = before->row[row]; i < before->row[row + 1]; i++)
    {
      const FlamBox *box = &before->boxes[i];
      Part part = { build->rows->index[box->node],
                    box->end,
                    (box->flags & FLAM_BOX_STRIP) != 0 };

      g_array_append_val (build->parts, part);
    }
}

/* The boxes of a row that is already laid out. */
static void
take_row (Build *build, const FlamLayout *before, guint32 row)
{
  float y = row_y (&build->layout->viewport, row);
  guint from = build->boxes->len;

  row -= before->first_row;
  g_array_append_vals (build->boxes,
                       before->boxes + before->row[row],
                       before->row[row + 1] - before->row[row]);
  for (guint i = from; i < build->boxes->len; i++)
    g_array_index (build->boxes, FlamBox, i).y = y;
  build->hidden = before->row_hidden[row];
}

static inline gboolean
has_row (const FlamLayout *layout, guint32 row)
{
  return layout != NULL && row >= layout->first_row &&
         row - layout->first_row < layout->n_rows;
}

/* A row that is in view. */
static void
add_row (Build *build, const FlamLayout *before, guint32 row)
{
  FlamLayout *layout = build->layout;
  guint32 at = row - layout->first_row;

  layout->row[at] = build->boxes->len;
  build->hidden = 0;
  if (has_row (before, row))
    take_row (build, before, row);
  else
    {
      if (row > 0 && has_row (before, row - 1))
        take_parts (build, before, row - 1);
      build_row (build, row);
    }
  layout->row_hidden[at] = build->hidden;
  layout->hidden = sum_of (layout->hidden, build->hidden);
  layout->row[at + 1] = build->boxes->len;
}

/* Up to the view: from the root, or from the last laid out row if that is
 * nearer. */
static void
build_unseen (Build *build, const FlamLayout *before, guint32 end)
{
  guint32 row = 0;

  if (before != NULL && before->n_rows > 0 && before->first_row <= end)
    {
      row = MIN (before->first_row + before->n_rows, end);
      if (row > before->first_row)
        take_parts (build, before, row - 1);
    }
  build->unseen = TRUE;
  for (; row < end; row++)
    build_row (build, row);
  build->unseen = FALSE;
}

static void
build_rows (Build *build, const FlamLayout *before)
{
  FlamLayout *layout = build->layout;
  const FlamViewport *view = &layout->viewport;
  const FlamRows *rows = build->rows;
  double first = MAX (floor (view->scroll / view->row_height), 0);
  double last = floor ((view->scroll + view->height) / view->row_height);

  if (first >= rows->n_rows || last < 0)
    return;
  layout->first_row = (guint32)first;
  layout->n_rows =
      (guint32)MIN (last, rows->n_rows - 1) + 1 - layout->first_row;
  layout->row = g_renew (guint32, layout->row, layout->n_rows + 1);
  layout->row_hidden = g_new (gint64, layout->n_rows);
  build_unseen (build, before, layout->first_row);
  for (guint32 i = 0; i < layout->n_rows; i++)
    add_row (build, before, layout->first_row + i);
}

void
flam_layout_fill_rows (FlamLayout *layout,
                       const FlamRows *rows,
                       const FlamLayout *before)
{
  const FlamViewport *viewport = &layout->viewport;
  Build build = { .rows = rows, .layout = layout };
  double seen;

  build.per_pixel = (viewport->to - viewport->from) / viewport->width;
  build.least = least_weight (viewport);
  build.boxes = g_array_sized_new (
      FALSE, FALSE, sizeof (FlamBox), before != NULL ? before->n + 1024 : 1024);
  build.parts = g_array_new (FALSE, FALSE, sizeof (Part));
  build_rows (&build, before);
  g_array_unref (build.parts);
  layout->n = build.boxes->len;
  layout->boxes = (FlamBox *)(void *)g_array_free (build.boxes, FALSE);

  seen =
      MIN (viewport->to, (double)rows->at[0].total) - MAX (viewport->from, 0);
  layout->in_view = whole_weight (seen);
}

/* --- boxes at a position ------------------------------------------------- */

double
flam_viewport_row_at (const FlamViewport *viewport, double y)
{
  if (viewport->direction == FLAM_DIRECTION_ICICLE)
    return floor ((viewport->scroll + y) / viewport->row_height);
  return ceil ((viewport->scroll + viewport->height - y) /
               viewport->row_height) -
         1;
}

const FlamBox *
flam_layout_hit_row (const FlamLayout *layout, double row, double x)
{
  guint32 low, high;

  row -= layout->first_row;
  if (!(row >= 0 && row < layout->n_rows))
    return NULL;
  low = layout->row[(guint32)row];
  high = layout->row[(guint32)row + 1];
  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;
      const FlamBox *box = &layout->boxes[middle];

      if (x < box->x)
        high = middle;
      else if (x >= box->x + box->width)
        low = middle + 1;
      else
        return box;
    }
  return NULL;
}

void
flam_layout_locate (const FlamRows *rows,
                    const FlamViewport *viewport,
                    FlamNodeId node,
                    FlamBox *box)
{
  guint32 index = rows->index[node];
  double per_pixel = (viewport->to - viewport->from) / viewport->width;

  *box = (FlamBox){
    .node = node,
    .count = 1,
    .x = (float)(((double)rows->at[index].x - viewport->from) / per_pixel),
    .width = (float)((double)rows->at[index].total / per_pixel),
    .y = row_y (viewport, rows->tree->depth[node]),
    .height = (float)viewport->row_height,
  };
}

guint32
flam_layout_n_rows (const FlamRows *rows, const FlamViewport *viewport)
{
  FlamLayout layout = { .viewport = *viewport };
  Build build = { .rows = rows, .layout = &layout, .unseen = TRUE };
  guint32 n = 0;

  if (flam_viewport_is_empty (rows, viewport))
    return 0;
  build.per_pixel = (viewport->to - viewport->from) / viewport->width;
  build.least = least_weight (viewport);
  build.parts = g_array_new (FALSE, FALSE, sizeof (Part));
  do
    build_row (&build, n++);
  while (n < rows->n_rows && build.parts->len > 0);
  /* The last row had nothing to draw, unless it is the last row of the tree. */
  if (n > 1 && build.parts->len == 0)
    n--;
  g_array_unref (build.parts);
  return n;
}
