/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Boxes within boxes, as large as what they stand for, and as near to squares
 * as that allows (Bruls, Huizing, van Wijk: Squarified treemaps):
 *
 *    +-main---------------------------+
 *    | +-load----+ +-parse----------+ |   a frame: a title, and its callees
 *    | |         | | +-next-+ +---+ | |   heaviest first; what it has itself
 *    | |         | | |      | |num| | |   is the last box within it
 *    | |         | | |      | +---+ | |
 *    | +---------+ | |      | |###| | |   callees too small to draw are one
 *    | +---------+ | +------+ +---+ | |   box of their sum
 *    | |(self)   | +----------------+ |
 *    | +---------+                    |
 *    +--------------------------------+
 *
 * The boxes in a frame share its inside, which stands for its total, by their
 * weights. A node with one callee and almost no other cost would be a frame
 * around a frame: such a path is one frame, with a title that has a part for
 * each:
 *
 *    +-all | main | loop--------------+
 *
 * Cost: O(boxes * log of a family + indices / 64 of crowded families + paths),
 * and there are no more boxes than fit into the view's area. A page of a family
 * costs O(family), and its log where the tree is not in this order. */

#include "flam-layout-private.h"

#include <math.h>
#include <stdlib.h>

#define PADDING 3.0
#define LEAST_SIDE 3.0   /* pixels: of the square of the smallest box */
#define LEAST_SLIVER 0.1 /* share of a side, for the box of the self cost */
#define LEAST_INSIDE 8.0 /* minimum size of a frame's inside */
#define LEAST_TITLE 36.0 /* pixels: minimum width of a title */
#define LEAST_PART 56.0  /* of a part of a path's title */
#define PART_GAP 1.0
#define NOTHING_BESIDE 100 /* a path drops less than 1 / this of its weight */

typedef struct
{
  guint32 index;
  FlamRect rect;
} Region;

typedef struct
{
  gint64 weight;
  guint32 index; /* of a strip: the first of its */
  guint32 count;
  guint32 flags;
} Item;

typedef struct
{
  const FlamRows *rows;
  FlamLayout *layout;
  GArray *boxes;
  GArray *regions; /* Region: not yet divided into boxes */
  GArray *items;   /* Item: within the current frame */
  GArray *path;    /* guint32: the frame's nodes */
  double least;    /* square pixels */
  gboolean page;   /* the boxes are a part of the zoomed node */
} Map;

/* --- families --------------------------------------------------------------
 */

static int
heavier_first (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamRowCell *cells = ((const FlamRows *)data)->at;
  guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;

  if (cells[x].total != cells[y].total)
    return cells[x].total > cells[y].total ? -1 : 1;
  return x < y ? -1 : x > y;
}

/* Most trees have their siblings in this order already. */
FlamFamily *
flam_family_new (const FlamRows *rows, FlamNodeId node)
{
  FlamFamily *family = g_new0 (FlamFamily, 1);
  guint32 parent = rows->index[node], first = rows->at[parent].child;
  gboolean sorted = TRUE;

  family->n = rows->at[parent + 1].child - first;
  family->index = g_new (guint32, (gsize)family->n + 1);
  family->x = g_new (gint64, (gsize)family->n + 1);
  for (guint32 i = 0; i < family->n; i++)
    {
      family->index[i] = first + i;
      sorted &=
          i == 0 || rows->at[first + i].total <= rows->at[first + i - 1].total;
    }
  if (!sorted)
    g_qsort_with_data (family->index,
                       (gint)family->n,
                       sizeof *family->index,
                       heavier_first,
                       (gpointer)rows);
  family->x[0] = rows->at[parent].x;
  for (guint32 i = 0; i < family->n; i++)
    family->x[i + 1] = family->x[i] + rows->at[family->index[i]].total;
  return family;
}

void
flam_family_free (FlamFamily *family)
{
  g_free (family->index);
  g_free (family->x);
  g_free (family);
}

guint32
flam_family_rank_at (const FlamFamily *family, double x)
{
  guint32 low = 0, high = family->n;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if ((double)family->x[middle] < x)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

guint32
flam_family_rank_of (const FlamFamily *family,
                     const FlamRows *rows,
                     FlamId callee)
{
  guint32 rank = 0;

  while (rank < family->n && rows->at[family->index[rank]].node != callee)
    rank++;
  return rank;
}

/* --- content of a frame ----------------------------------------------------
 */

static int
heaviest_first (gconstpointer a, gconstpointer b)
{
  const Item *x = a, *y = b;

  if (x->weight != y->weight)
    return x->weight > y->weight ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

static void
add_item (
    Map *map, gint64 weight, guint32 index, guint32 count, FlamBoxFlags flags)
{
  Item item = { weight, index, count, flags };

  if (weight > 0)
    g_array_append_val (map->items, item);
}

/* Callees that are drawn, the sum of the others, and the node's self cost. */
static void
find_items (Map *map, guint32 index, double area)
{
  const FlamRows *rows = map->rows;
  guint32 first = rows->at[index].child, end = rows->at[index + 1].child;
  gint64 total = rows->at[index].total;
  double wanted = ceil (map->least * (double)total / area);
  gint64 least = wanted < 0x1p62 ? MAX ((gint64)wanted, 1) : G_MAXINT64;
  gint64 called = 0, drawn = 0;
  guint32 narrow = FLAM_NONE, n_narrow = 0;

  g_array_set_size (map->items, 0);
  if (first < end)
    called =
        rows->at[end - 1].sum + rows->at[end - 1].total - rows->at[first].sum;
  while (first < end)
    {
      guint32 wide = flam_rows_next_wide (rows, first, end, least);

      if (wide > first)
        {
          if (narrow == FLAM_NONE)
            narrow = first;
          n_narrow += wide - first;
        }
      if (wide < end)
        {
          add_item (map, rows->at[wide].total, wide, 1, 0);
          drawn += rows->at[wide].total;
          wide++;
        }
      first = wide;
    }
  g_array_sort (map->items, heaviest_first);
  add_item (map, called - drawn, narrow, n_narrow, FLAM_BOX_STRIP);
  add_item (map, total - called, index, 1, FLAM_BOX_SELF);
}

/* A part of a family: callees that are too small to draw become one box, and
 * the callees after the part follow it, without weight here. */
static void
find_page (Map *map, const FlamFamily *family, double area)
{
  const FlamViewport *viewport = &map->layout->viewport;
  guint32 first = flam_family_rank_at (family, viewport->from - 0.5);
  guint32 end = flam_family_rank_at (family, viewport->to - 0.5);
  gint64 weight = family->x[end] - family->x[first];
  double wanted = ceil (map->least * (double)weight / area);
  guint32 i = first;

  g_array_set_size (map->items, 0);
  map->layout->in_view = weight;
  for (; i < end && (double)(family->x[i + 1] - family->x[i]) >= wanted; i++)
    add_item (map, family->x[i + 1] - family->x[i], family->index[i], 1, 0);
  if (i < end)
    add_item (map,
              family->x[end] - family->x[i],
              family->index[i],
              end - i,
              FLAM_BOX_STRIP);
}

/* From a node to its callee, as long as that has almost all of the cost. */
static void
find_path (Map *map, guint32 index)
{
  const FlamRows *rows = map->rows;
  gint64 total = rows->at[index].total;
  gint64 least = MAX (total - total / NOTHING_BESIDE, 1);

  g_array_set_size (map->path, 0);
  while (TRUE)
    {
      guint32 end = rows->at[index + 1].child;
      guint32 callee =
          flam_rows_next_wide (rows, rows->at[index].child, end, least);

      g_array_append_val (map->path, index);
      if (callee == end)
        break;
      index = callee;
    }
}

/* --- boxes ---------------------------------------------------------------- */

static void
push_box (Map *map,
          guint32 index,
          guint32 count,
          const FlamRect *rect,
          FlamBoxFlags flags)
{
  FlamBox box = {
    .node = map->rows->at[index].node,
    .count = count,
    .x = (float)rect->x,
    .width = (float)rect->width,
    .y = (float)rect->y,
    .height = (float)rect->height,
    .flags = flags,
  };

  g_array_append_val (map->boxes, box);
}

/* The last nodes of a path, which have their callees below them; the nodes that
 * do not fit before them become one part. On a page a single title is the first
 * node's: in an inverted tree each path ends in main. */
static void
push_titles (Map *map, const FlamRect *head)
{
  guint n = map->path->len;
  guint fit = MAX ((guint)(head->width / LEAST_PART), 1);
  guint shown = MIN (n, fit);
  double width = (head->width + PART_GAP) / shown;

  for (guint i = 0; i < shown; i++)
    {
      gboolean rest = i == 0 && n > shown && shown > 1;
      gboolean first = rest || (map->page && shown == 1);
      guint at = first ? 0 : n - shown + i;
      FlamRect part = {
        head->x + i * width, head->y, width - PART_GAP, head->height
      };

      push_box (map,
                g_array_index (map->path, guint32, at),
                rest ? n - shown + 1 : 1,
                &part,
                FLAM_BOX_HEAD | (rest ? FLAM_BOX_STRIP : 0));
    }
}

static void
place_item (Map *map, const Item *item, const FlamRect *rect)
{
  Region region = { item->index, *rect };

  if (item->flags == 0)
    {
      g_array_append_val (map->regions, region);
      return;
    }
  if (item->flags & FLAM_BOX_STRIP)
    map->layout->hidden += item->weight;
  if (rect->width >= LEAST_SLIVER && rect->height >= LEAST_SLIVER)
    push_box (map, item->index, item->count, rect, item->flags);
}

/* --- squares ---------------------------------------------------------------
 */

/* The distance of a row's worst box from a square. The row has the area `sum`
 * in pixels and lies along `side`. */
static double
worst (double sum, double most, double least, double side)
{
  return MAX (side * side * most / (sum * sum),
              sum * sum / (side * side * least));
}

/* Places items [first, end) along the shorter side of the rest. */
static void
place_row (Map *map, guint first, guint end, double sum, FlamRect *left)
{
  gboolean upright = left->width >= left->height;
  double side = upright ? left->height : left->width;
  double all = upright ? left->width : left->height;
  double weight = 0, depth, at = 0;

  for (guint i = first; i < end; i++)
    weight += (double)g_array_index (map->items, Item, i).weight;
  depth = all * MIN (weight / sum, 1);
  for (guint i = first; i < end; i++)
    {
      const Item *item = &g_array_index (map->items, Item, i);
      double length = side * (double)item->weight / weight;
      FlamRect rect = upright
                          ? (FlamRect){ left->x, left->y + at, depth, length }
                          : (FlamRect){ left->x + at, left->y, length, depth };

      place_item (map, item, &rect);
      at += length;
    }
  if (upright)
    left->x += depth, left->width -= depth;
  else
    left->y += depth, left->height -= depth;
}

static void
place_items (Map *map, FlamRect inside)
{
  FlamRect left = inside;
  double sum = 0;
  guint first = 0;

  for (guint i = 0; i < map->items->len; i++)
    sum += (double)g_array_index (map->items, Item, i).weight;
  while (first < map->items->len && sum > 0)
    {
      double side = MIN (left.width, left.height);
      double scale = left.width * left.height / sum;
      double row = 0, most = 0, least = G_MAXDOUBLE, before = G_MAXDOUBLE;
      guint end = first;

      for (; end < map->items->len; end++)
        {
          double area =
              scale * (double)g_array_index (map->items, Item, end).weight;
          double now =
              worst (row + area, MAX (most, area), MIN (least, area), side);

          if (end > first && now > before)
            break;
          before = now;
          row += area;
          most = MAX (most, area);
          least = MIN (least, area);
        }
      place_row (map, first, end, sum, &left);
      for (; first < end; first++)
        sum -= (double)g_array_index (map->items, Item, first).weight;
    }
}

/* --- frames ----------------------------------------------------------------
 */

static FlamRect
inset (const FlamRect *rect, double top, double side)
{
  return (FlamRect){ rect->x + side,
                     rect->y + top,
                     rect->width - 2 * side,
                     rect->height - top - side };
}

/* A frame without room for a title gets a thin border. */
static gboolean
find_inside (const Map *map,
             const FlamRect *rect,
             FlamRect *head,
             FlamRect *inside)
{
  double row = map->layout->viewport.row_height;

  *head = (FlamRect){ 0, 0, 0, 0 };
  *inside = inset (rect, row, PADDING);
  if (inside->width >= LEAST_TITLE && inside->height >= LEAST_INSIDE)
    *head = (FlamRect){ rect->x, rect->y, rect->width, row };
  else
    *inside = inset (rect, 1, 1);
  return inside->width >= LEAST_INSIDE && inside->height >= LEAST_INSIDE;
}

/* The zoomed node if only a part of it is in view: its title, the page, and a
 * strip for the callees after the page, which leads to them. */
static void
fill_page (Map *map, const Region *region)
{
  const FlamRows *rows = map->rows;
  const FlamViewport *viewport = &map->layout->viewport;
  g_autoptr (FlamFamily) family =
      flam_family_new (rows, rows->at[region->index].node);
  guint32 end = flam_family_rank_at (family, viewport->to - 0.5);
  double row = viewport->row_height;
  FlamRect head, inside;

  push_box (map, region->index, 1, &region->rect, FLAM_BOX_FRAME);
  if (!find_inside (map, &region->rect, &head, &inside))
    return;
  map->page = TRUE;
  g_array_set_size (map->path, 0);
  g_array_append_val (map->path, region->index);
  if (head.width > 0)
    push_titles (map, &head);
  if (end < family->n && inside.height > 2 * row)
    {
      FlamRect rest = {
        inside.x, inside.y + inside.height - row, inside.width, row
      };

      inside.height -= row + PART_GAP;
      push_box (
          map, family->index[end], family->n - end, &rest, FLAM_BOX_STRIP);
    }
  find_page (map, family, inside.width * inside.height);
  place_items (map, inside);
}

/* Whether the range is a part of a node's. */
static gboolean
is_page (const FlamRows *rows, const FlamViewport *viewport, guint32 index)
{
  double x = (double)rows->at[index].x, total = (double)rows->at[index].total;

  return viewport->from >= x && viewport->to <= x + total &&
         viewport->to - viewport->from < total - 0.5;
}

static void
fill_region (Map *map, const Region *region)
{
  const FlamRows *rows = map->rows;
  FlamRect head, inside;
  gboolean room = find_inside (map, &region->rect, &head, &inside);
  guint32 last;

  find_path (map, region->index);
  last = g_array_index (map->path, guint32, map->path->len - 1);
  if (!room ||
      (map->path->len == 1 && rows->at[last].child == rows->at[last + 1].child))
    {
      guint32 first = rows->at[region->index].child;
      guint32 end = rows->at[region->index + 1].child;

      push_box (map, region->index, 1, &region->rect, 0);
      if (first < end)
        map->layout->hidden += rows->at[end - 1].sum + rows->at[end - 1].total -
                               rows->at[first].sum;
      return;
    }
  map->layout->hidden += rows->at[region->index].total - rows->at[last].total;
  push_box (map, last, 1, &region->rect, FLAM_BOX_FRAME);
  if (head.width > 0)
    push_titles (map, &head);
  find_items (map, last, inside.width * inside.height);
  place_items (map, inside);
}

void
flam_treemap_fill (FlamLayout *layout, const FlamRows *rows)
{
  const FlamViewport *viewport = &layout->viewport;
  FlamNodeId zoom = viewport->zoom < rows->n ? viewport->zoom : 0;
  double least = MAX (viewport->min_width, LEAST_SIDE);
  Map map = { .rows = rows, .layout = layout, .least = least * least };
  Region all = { rows->index[zoom],
                 { 0, 0, viewport->width, viewport->height } };

  layout->in_view = rows->at[all.index].total;
  if (layout->in_view <= 0)
    return;
  map.boxes = g_array_sized_new (FALSE, FALSE, sizeof (FlamBox), 1024);
  map.regions = g_array_new (FALSE, FALSE, sizeof (Region));
  map.items = g_array_new (FALSE, FALSE, sizeof (Item));
  map.path = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_val (map.regions, all);
  for (guint i = 0; i < map.regions->len; i++)
    {
      Region region = g_array_index (map.regions, Region, i);

      if (i == 0 && is_page (rows, viewport, region.index))
        fill_page (&map, &region);
      else
        fill_region (&map, &region);
    }
  g_array_unref (map.path);
  g_array_unref (map.items);
  g_array_unref (map.regions);
  layout->n = map.boxes->len;
  layout->boxes = (FlamBox *)(void *)g_array_free (map.boxes, FALSE);
}

/* --- boxes at a position ---------------------------------------------------
 */

const FlamBox *
flam_treemap_hit (const FlamLayout *layout, double x, double y)
{
  for (guint32 i = layout->n; i-- > 0;)
    {
      const FlamBox *box = &layout->boxes[i];

      if (x >= box->x && x < box->x + box->width && y >= box->y &&
          y < box->y + box->height)
        return box;
    }
  return NULL;
}

/* A frame comes before its parts. */
gboolean
flam_treemap_find (const FlamLayout *layout, FlamNodeId node, FlamBox *box)
{
  for (guint32 i = 0; i < layout->n; i++)
    if (layout->boxes[i].node == node &&
        !(layout->boxes[i].flags & FLAM_BOX_STRIP))
      {
        *box = layout->boxes[i];
        return TRUE;
      }
  return FALSE;
}
