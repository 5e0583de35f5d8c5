/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-picture.h"
#include "flam-test-trees.h"

#include <math.h>

/* Layouts other than rows of boxes; test-layout.c has those. */

static const char sample[] = "main;a;c 5\nmain;a 1\nmain;b 2\n";

static void
test_sunburst (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 202, 222);
  g_autoptr (FlamLayout) layout = NULL;
  const FlamBox *box;

  viewport.shape = FLAM_SHAPE_SUNBURST;
  flam_test_assert_layout (rows,
                           &viewport,
                           "x=0 y=0 width=6.28319 height=25 node=0 all\n"
                           "x=0 y=25 width=6.28319 height=25 node=1 main\n"
                           "x=0 y=50 width=4.71239 height=25 node=2 a\n"
                           "x=4.71239 y=50 width=1.5708 height=25 node=4 b\n"
                           "x=0 y=75 width=3.92699 height=25 node=3 c\n");
  layout = flam_layout_new (rows, &viewport);
  box = flam_layout_hit (layout, 101 + 60, 111);
  g_assert_cmpuint (box->node, ==, 2);
  g_assert_null (flam_layout_hit (layout, 101 - 90, 111 - 5));
  g_assert_null (flam_layout_hit (layout, 3, 3));
  /* In the third quarter and the fourth: its edge passes the top's left. */
  g_assert_cmpfloat_with_epsilon (
      flam_layout_bounds (layout, &layout->boxes[3]).x, 101 - 75, 1e-3);

  /* The zoomed node is in the middle, and callers are not shown. */
  viewport.zoom = 2;
  viewport.to = 6;
  viewport.scroll = 20;
  flam_test_assert_layout (rows,
                           &viewport,
                           "x=0 y=0 width=6.28319 height=30 node=2 a\n"
                           "x=0 y=30 width=5.23599 height=70 node=3 c\n");
}

/* A ring is never thinner than a row: missing rings are reported. */
static void
test_sunburst_rings (void)
{
  g_autoptr (FlamTree) tree = flam_test_deep_tree (30000);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 400, 400);
  g_autoptr (FlamLayout) layout = NULL;

  viewport.shape = FLAM_SHAPE_SUNBURST;
  layout = flam_layout_new (rows, &viewport);
  g_assert_cmpfloat (layout->viewport.rings, ==, layout->n);
  g_assert_cmpuint (layout->n, ==, 18);
  g_assert_true (flam_layout_is_cut (rows, layout));
  for (guint32 i = 0; i < layout->n; i++)
    g_assert_cmpfloat (layout->boxes[i].height, >=, 10);
}

static void
assert_sectors_are_sound (const FlamRows *rows, const FlamLayout *layout)
{
  const FlamTree *tree = rows->tree;
  double whole = (double)rows->at[rows->index[layout->viewport.zoom]].total;
  FlamSunburst sun;

  flam_sunburst_init (&sun, &layout->viewport);
  for (guint32 i = 0; i < layout->n; i++)
    {
      const FlamBox *box = &layout->boxes[i];
      double middle = box->x + box->width / 2.0;
      double radius = box->y + box->height / 2.0;
      FlamRect bounds = flam_layout_bounds (layout, box);
      FlamBox found, caller;

      g_assert_cmpfloat (box->y + box->height, <=, sun.radius + 1e-3);
      g_assert_true (flam_layout_hit (layout,
                                      sun.x + radius * sin (middle),
                                      sun.y - radius * cos (middle)) == box);
      g_assert_cmpfloat (sun.x + radius * sin (middle), >=, bounds.x - 1e-3);
      g_assert_cmpfloat (
          sun.y - radius * cos (middle), <=, bounds.y + bounds.height + 1e-3);
      if (box->flags & FLAM_BOX_STRIP)
        continue;
      g_assert_cmpfloat_with_epsilon (
          box->width, 2 * G_PI * (double)tree->total[box->node] / whole, 1e-4);
      g_assert_true (flam_layout_find (rows, layout, box->node, &found));
      g_assert_cmpfloat_with_epsilon (found.x, box->x, 1e-4);
      if (box->node == layout->viewport.zoom)
        continue;
      g_assert_true (
          flam_layout_find (rows, layout, tree->parent[box->node], &caller));
      g_assert_cmpfloat (box->x, >=, caller.x - 1e-4);
      g_assert_cmpfloat (
          box->x + box->width, <=, caller.x + caller.width + 1e-4);
      g_assert_cmpfloat_with_epsilon (box->y, caller.y + caller.height, 1e-3);
    }
}

static void
test_treemap (void)
{
  g_autoptr (FlamTree) tree =
      flam_test_tree ("main;a;c 5\nmain;a 1\nmain;b 2\n", FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 206, 113);
  g_autoptr (FlamLayout) layout = NULL;
  FlamBox found;

  /* all and main are a path: one frame with two titles. Inside it are 200 by
   * 100 pixels, three quarters of which belong to a. */
  viewport.shape = FLAM_SHAPE_TREEMAP;
  flam_test_assert_layout (
      rows,
      &viewport,
      "x=0 y=0 width=206 height=113 node=1 frame main\n"
      "x=0 y=0 width=102.5 height=10 node=0 head all\n"
      "x=103.5 y=0 width=102.5 height=10 node=1 head main\n"
      "x=3 y=10 width=150 height=100 node=2 frame a\n"
      "x=3 y=10 width=150 height=10 node=2 head a\n"
      "x=126 y=20 width=24 height=87 node=2 self a\n"
      "x=153 y=10 width=50 height=100 node=4 b\n"
      "x=6 y=20 width=120 height=87 node=3 c\n");
  layout = flam_layout_new (rows, &viewport);
  g_assert_cmpuint (flam_layout_hit (layout, 5, 5)->node, ==, 0);
  g_assert_cmpuint (flam_layout_hit (layout, 1, 50)->node, ==, 1);
  g_assert_cmpuint (flam_layout_hit (layout, 130, 50)->node, ==, 2);
  g_assert_cmpuint (flam_layout_hit (layout, 170, 50)->node, ==, 4);
  g_assert_true (flam_layout_find (rows, layout, 2, &found));
  g_assert_cmpfloat (found.width, ==, 150);
  g_assert_cmpint (layout->hidden, ==, 0);

  /* Too little room for the caller of c: it is known, but not drawn. */
  viewport.width = viewport.height = 9;
  g_clear_pointer (&layout, flam_layout_free);
  layout = flam_layout_new (rows, &viewport);
  g_assert_cmpint (layout->hidden, ==, 8);
  g_assert_false (flam_layout_find (rows, layout, 3, &found));
}

/* Boxes are inside the box around them, and share it by their weights. */
static void
assert_boxes_are_nested (const FlamRows *rows, const FlamLayout *layout)
{
  const FlamTree *tree = rows->tree;
  g_autofree FlamBox *frames = g_new0 (FlamBox, tree->n);
  g_autofree double *area = g_new0 (double, tree->n);

  for (guint32 i = 0; i < layout->n; i++)
    {
      const FlamBox *box = &layout->boxes[i];
      FlamId around = box->node;

      g_assert_true (flam_layout_hit (layout,
                                      box->x + box->width / 2.0,
                                      box->y + box->height / 2.0) == box ||
                     box->flags & FLAM_BOX_FRAME);
      if (box->flags & FLAM_BOX_HEAD)
        continue;
      /* Its container: the callers up to the one that is a frame. */
      if (!(box->flags & FLAM_BOX_SELF))
        while (around != layout->viewport.zoom)
          {
            around = tree->parent[around];
            if (frames[around].width > 0)
              break;
          }
      if (frames[around].width == 0)
        g_assert_cmpuint (i, ==, 0);
      else
        {
          const FlamBox *frame = &frames[around];

          g_assert_cmpfloat (box->x, >=, frame->x - 0.01);
          g_assert_cmpfloat (box->y, >=, frame->y - 0.01);
          g_assert_cmpfloat (
              box->x + box->width, <=, frame->x + frame->width + 0.01);
          g_assert_cmpfloat (
              box->y + box->height, <=, frame->y + frame->height + 0.01);
          area[around] += (double)box->width * box->height;
        }
      if (box->flags & FLAM_BOX_FRAME)
        frames[box->node] = *box;
    }
  for (FlamId i = 0; i < tree->n; i++)
    if (frames[i].width > 0)
      g_assert_cmpfloat (
          area[i], <=, (double)frames[i].width * frames[i].height + 1);
}

/* Siblings' areas are in proportion to their weights. */
static void
assert_areas (const FlamRows *rows, const FlamLayout *layout)
{
  const FlamTree *tree = rows->tree;

  for (guint32 i = 1; i < layout->n; i++)
    {
      const FlamBox *a = &layout->boxes[i - 1], *b = &layout->boxes[i];
      double share;

      if ((a->flags | b->flags) & ~FLAM_BOX_FRAME ||
          tree->parent[a->node] != tree->parent[b->node])
        continue;
      share = (double)a->width * a->height / ((double)b->width * b->height);
      g_assert_cmpfloat_with_epsilon (share * (double)tree->total[b->node] /
                                          (double)tree->total[a->node],
                                      1,
                                      0.02);
    }
}

static void
test_random_shapes (gconstpointer data)
{
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (30000, 500, 7, GPOINTER_TO_INT (data));
  g_autoptr (FlamRows) rows = flam_rows_new (tree);

  for (guint round = 0; round < 100; round++)
    {
      /* The smallest sunburst is two pixels wide: of one pixel, half would be
       * outside. */
      FlamViewport viewport =
          flam_test_viewport (tree,
                              g_test_rand_int_range (2, 1600),
                              g_test_rand_int_range (2, 1000));
      FlamNodeId zoom =
          round < 5 ? 0 : (FlamId)g_test_rand_int_range (0, (gint)tree->n);
      g_autoptr (FlamLayout) sectors = NULL;
      g_autoptr (FlamLayout) boxes = NULL;

      viewport.zoom = zoom;
      viewport.from = (double)flam_rows_x (rows, zoom);
      viewport.to = viewport.from + (double)tree->total[zoom];
      viewport.scroll = tree->depth[zoom] * viewport.row_height;
      viewport.shape = FLAM_SHAPE_SUNBURST;
      sectors = flam_layout_new (rows, &viewport);
      assert_sectors_are_sound (rows, sectors);
      g_assert_cmpint (sectors->hidden, <=, sectors->in_view + 1);
      viewport.shape = FLAM_SHAPE_TREEMAP;
      boxes = flam_layout_new (rows, &viewport);
      assert_boxes_are_nested (rows, boxes);
      assert_areas (rows, boxes);
      g_assert_cmpint (boxes->in_view, ==, tree->total[zoom]);
      g_assert_cmpint (boxes->hidden, <=, boxes->in_view);
    }
}

/* A thousand callees in pages: each is on exactly one page, heaviest first,
 * whatever the order of the tree. */
static void
test_treemap_pages (gconstpointer data)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (FlamRows) rows = NULL;
  g_autoptr (FlamFamily) family = NULL;
  FlamViewport viewport;
  guint32 seen = 0;

  for (guint i = 0; i < 1000; i++)
    g_string_append_printf (text, "f%03u %u\n", i, 1 + i * 7919 % 1000 / 3);
  tree = flam_test_tree (text->str, GPOINTER_TO_INT (data));
  rows = flam_rows_new (tree);
  family = flam_family_new (rows, 0);
  g_assert_cmpuint (family->n, ==, 1000);
  g_assert_cmpint (family->x[1000], ==, tree->total[0]);
  viewport = flam_test_viewport (tree, 600, 400);
  viewport.shape = FLAM_SHAPE_TREEMAP;
  while (seen < family->n)
    {
      guint32 end = MIN (seen + 90, family->n);
      g_autoptr (FlamLayout) layout = NULL;
      guint32 boxes = 0;

      viewport.from = (double)family->x[seen];
      viewport.to = (double)family->x[end];
      layout = flam_layout_new (rows, &viewport);
      g_assert_cmpint (layout->in_view, ==, family->x[end] - family->x[seen]);
      for (guint32 i = 0; i < layout->n; i++)
        {
          const FlamBox *box = &layout->boxes[i];

          if (box->flags & FLAM_BOX_STRIP)
            {
              g_assert_cmpuint (
                  box->node, ==, rows->at[family->index[end]].node);
              g_assert_cmpuint (box->count, ==, family->n - end);
            }
          else if (box->flags == 0)
            {
              guint32 rank = flam_family_rank_of (family, rows, box->node);

              g_assert_cmpuint (rank, >=, seen);
              g_assert_cmpuint (rank, <, end);
              boxes++;
            }
        }
      g_assert_cmpuint (boxes, ==, end - seen);
      seen = end;
    }
  for (guint32 i = 1; i < family->n; i++)
    g_assert_cmpint (rows->at[family->index[i]].total,
                     <=,
                     rows->at[family->index[i - 1]].total);
  g_assert_cmpuint (flam_family_rank_of (family, rows, 0), ==, family->n);
}

/* However large the tree: no more boxes than fit. */
static void
test_crowded_shapes (void)
{
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (300000, 5000, 11, FLAM_ORDER_TOTAL);
  g_autoptr (FlamTree) deep = flam_test_deep_tree (30000);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  g_autoptr (FlamRows) deep_rows = flam_rows_new (deep);

  for (FlamShape shape = FLAM_SHAPE_SUNBURST; shape < FLAM_N_SHAPES; shape++)
    {
      FlamViewport viewport = flam_test_viewport (tree, 1600, 900);
      g_autoptr (FlamLayout) layout = NULL;
      g_autoptr (FlamLayout) path = NULL;

      viewport.shape = shape;
      layout = flam_layout_new (rows, &viewport);
      g_test_message ("%s: %u boxes", flam_shape_to_string (shape), layout->n);
      g_assert_cmpuint (layout->n, >, 100);
      g_assert_cmpuint (layout->n, <, 60000);
      viewport.to = (double)deep->total[0];
      path = flam_layout_new (deep_rows, &viewport);
      g_assert_cmpuint (path->n, <, 100);
    }
}

static void
test_no_shapes (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree ("", FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamShape shape;

  for (shape = 0; shape < FLAM_N_SHAPES; shape++)
    {
      FlamViewport viewport = flam_test_viewport (tree, 100, 100);
      g_autoptr (FlamLayout) layout = NULL;
      FlamShape same;
      FlamBox box;

      viewport.shape = shape;
      layout = flam_layout_new (rows, &viewport);
      g_assert_cmpuint (layout->n, ==, 0);
      g_assert_null (flam_layout_hit (layout, 50, 50));
      g_assert_false (flam_layout_find (rows, layout, 0, &box));
      g_assert_true (
          flam_shape_from_string (flam_shape_to_string (shape), &same));
      g_assert_cmpuint (shape, ==, same);
    }
  g_assert_false (flam_shape_from_string ("round", &shape));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shapes/sunburst", test_sunburst);
  g_test_add_func ("/shapes/sunburst/rings", test_sunburst_rings);
  g_test_add_func ("/shapes/treemap", test_treemap);
  g_test_add_data_func ("/shapes/random/by-total",
                        GINT_TO_POINTER (FLAM_ORDER_TOTAL),
                        test_random_shapes);
  g_test_add_data_func ("/shapes/random/by-name",
                        GINT_TO_POINTER (FLAM_ORDER_NAME),
                        test_random_shapes);
  g_test_add_data_func ("/shapes/pages/by-total",
                        GINT_TO_POINTER (FLAM_ORDER_TOTAL),
                        test_treemap_pages);
  g_test_add_data_func ("/shapes/pages/by-name",
                        GINT_TO_POINTER (FLAM_ORDER_NAME),
                        test_treemap_pages);
  g_test_add_func ("/shapes/crowded", test_crowded_shapes);
  g_test_add_func ("/shapes/nothing", test_no_shapes);
  return g_test_run ();
}
