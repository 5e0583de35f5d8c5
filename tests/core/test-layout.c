/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-test-trees.h"

static const char sample[] = "main;a;c 5\nmain;a 1\nmain;b 2\n";

static void
test_small (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 800, 100);

  flam_test_assert_layout (rows,
                           &viewport,
                           "x=0 y=0 width=800 node=0 all\n"
                           "x=0 y=10 width=800 node=1 main\n"
                           "x=0 y=20 width=600 node=2 a\n"
                           "x=600 y=20 width=200 node=4 b\n"
                           "x=0 y=30 width=500 node=3 c\n");
  viewport.direction = FLAM_DIRECTION_FLAME;
  flam_test_assert_layout (rows,
                           &viewport,
                           "x=0 y=90 width=800 node=0 all\n"
                           "x=0 y=80 width=800 node=1 main\n"
                           "x=0 y=70 width=600 node=2 a\n"
                           "x=600 y=70 width=200 node=4 b\n"
                           "x=0 y=60 width=500 node=3 c\n");
}

static void
test_zoomed (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 300, 100);

  viewport.zoom = 2;
  viewport.to = 6;
  flam_test_assert_layout (rows,
                           &viewport,
                           "x=0 y=0 width=301 node=0 ancestor all\n"
                           "x=0 y=10 width=301 node=1 ancestor main\n"
                           "x=0 y=20 width=300 node=2 a\n"
                           "x=0 y=30 width=250 node=3 c\n");
  viewport.from = 5;
  viewport.to = 8;
  viewport.zoom = 0;
  flam_test_assert_layout (rows,
                           &viewport,
                           "x=-1 y=0 width=301 node=0 all\n"
                           "x=-1 y=10 width=301 node=1 main\n"
                           "x=-1 y=20 width=101 node=2 a\n"
                           "x=100 y=20 width=200 node=4 b\n");
}

static void
test_scrolled (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 800, 15);

  viewport.scroll = 20;
  flam_test_assert_layout (rows,
                           &viewport,
                           "x=0 y=0 width=600 node=2 a\n"
                           "x=600 y=0 width=200 node=4 b\n"
                           "x=0 y=10 width=500 node=3 c\n");
  g_assert_cmpuint (flam_layout_n_rows (rows, &viewport), ==, 4);
  viewport.scroll = 4000;
  flam_test_assert_layout (rows, &viewport, "");
}

/* Ten thousand siblings, one of them wide: strips on both sides. */
static void
test_strips (void)
{
  g_autoptr (GString) text = g_string_new ("m;zzz0000 20000\nm;y00500 20000\n");
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (FlamRows) rows = NULL;
  g_autoptr (FlamLayout) layout = NULL;
  FlamViewport viewport;

  for (guint i = 0; i < 10000; i++)
    g_string_append_printf (text, "m;y%05u 1\n", i);
  tree = flam_test_tree (text->str, FLAM_ORDER_NAME);
  rows = flam_rows_new (tree);
  viewport = flam_test_viewport (tree, 500, 100);
  layout = flam_layout_new (rows, &viewport);
  g_assert_cmpuint (layout->n, ==, 6);
  g_assert_cmpuint (layout->row[3] - layout->row[2], ==, 4);
  g_assert_cmpuint (layout->boxes[2].flags, ==, FLAM_BOX_STRIP);
  g_assert_cmpuint (layout->boxes[2].count, ==, 500);
  g_assert_cmpuint (layout->boxes[3].flags, ==, 0);
  g_assert_cmpuint (layout->boxes[4].count, ==, 9499);
  g_assert_cmpint (layout->hidden, ==, 9999);
  g_assert_cmpint (layout->in_view, ==, 50000);
}

/* A thousand thin functions that all have callees: the silhouette continues
 * above them, as wide as their callees, and no row of it is left out. */
static void
test_thin_callees (void)
{
  g_autoptr (GString) text = g_string_new ("m 1000\n");
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (FlamRows) rows = NULL;
  g_autoptr (FlamLayout) layout = NULL;
  g_autoptr (FlamLayout) scrolled = NULL;
  FlamViewport viewport;

  for (guint i = 0; i < 1000; i++)
    {
      g_string_append_printf (text, "m;f%04u;g;h 1\n", i);
      g_string_append_printf (text, "m;f%04u;g 1\n", i);
    }
  tree = flam_test_tree (text->str, FLAM_ORDER_NAME);
  rows = flam_rows_new (tree);
  viewport = flam_test_viewport (tree, 300, 200);
  g_assert_cmpuint (flam_layout_n_rows (rows, &viewport), ==, 5);
  layout = flam_layout_new (rows, &viewport);
  g_assert_cmpuint (layout->n, ==, 5);
  for (guint i = 2; i < 5; i++)
    g_assert_cmpuint (layout->boxes[i].flags, ==, FLAM_BOX_STRIP);
  g_assert_cmpuint (layout->boxes[3].count, ==, 1000);
  g_assert_cmpfloat_with_epsilon (layout->boxes[2].width, 200, 0.01);
  g_assert_cmpfloat_with_epsilon (layout->boxes[3].width, 200, 0.01);
  g_assert_cmpfloat_with_epsilon (layout->boxes[4].width, 100, 0.01);
  g_assert_cmpint (layout->hidden, ==, 2000);
  /* The same after scrolling. */
  viewport.scroll = viewport.row_height * 4;
  scrolled = flam_layout_new (rows, &viewport);
  g_assert_cmpuint (scrolled->n, ==, 1);
  g_assert_cmpfloat_with_epsilon (scrolled->boxes[0].width, 100, 0.01);
  g_assert_cmpint (scrolled->hidden, ==, 0);
}

static void
assert_rows_are_sound (const FlamRows *rows, const FlamLayout *layout)
{
  const FlamTree *tree = rows->tree;

  for (guint32 row = 0; row < layout->n_rows; row++)
    for (guint32 i = layout->row[row]; i < layout->row[row + 1]; i++)
      {
        const FlamBox *box = &layout->boxes[i];

        g_assert_cmpuint (tree->depth[box->node], ==, layout->first_row + row);
        g_assert_cmpfloat (box->width, >, 0);
        g_assert_cmpfloat (box->x, >=, -1);
        g_assert_cmpfloat (
            box->x + box->width, <=, layout->viewport.width + 1.01);
        if (i + 1 < layout->row[row + 1])
          g_assert_cmpfloat (box->x + box->width, <=, box[1].x + 0.01);
      }
}

static void
assert_hits (const FlamLayout *layout)
{
  for (guint32 i = 0; i < layout->n; i++)
    {
      const FlamBox *box = &layout->boxes[i];
      double x = box->x + box->width / 2.0;
      double y = box->y + layout->viewport.row_height / 2;

      if (x >= 0 && x < layout->viewport.width)
        g_assert_true (flam_layout_hit (layout, x, y) == box);
    }
}

/* Every visible and wide enough node has its box, and no other. */
static void
assert_complete (const FlamRows *rows, const FlamLayout *layout)
{
  const FlamViewport *view = &layout->viewport;
  double per_pixel = (view->to - view->from) / view->width;
  guint32 first = layout->first_row, end = first + layout->n_rows;
  guint32 expected = 0, found = 0;

  for (guint32 i = 0; i < layout->n; i++)
    found += !(layout->boxes[i].flags & FLAM_BOX_STRIP);
  for (FlamId i = 0; i < rows->n; i++)
    {
      double x = (double)flam_rows_x (rows, i);
      double total = (double)rows->tree->total[i];
      guint32 depth = rows->tree->depth[i];

      expected += depth >= first && depth < end &&
                  total >= view->min_width * per_pixel &&
                  x + total > view->from && x < view->to;
    }
  g_assert_cmpuint (found, ==, expected);
}

static void
test_random_views (gconstpointer data)
{
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (30000, 500, 7, GPOINTER_TO_INT (data));
  g_autoptr (FlamRows) rows = flam_rows_new (tree);

  for (guint round = 0; round < 200; round++)
    {
      g_autoptr (FlamLayout) layout = NULL;
      FlamViewport viewport =
          flam_test_viewport (tree,
                              g_test_rand_int_range (1, 2000),
                              g_test_rand_int_range (1, 1200));
      double whole = (double)tree->total[0];

      viewport.direction = round % 2;
      viewport.from = g_test_rand_double_range (0, whole);
      viewport.to = g_test_rand_double_range (viewport.from, whole) + 1;
      viewport.scroll = g_test_rand_int_range (0, 300);
      if (round < 20)
        {
          viewport.from = 0;
          viewport.to = whole;
        }
      layout = flam_layout_new (rows, &viewport);
      assert_rows_are_sound (rows, layout);
      assert_hits (layout);
      assert_complete (rows, layout);
      g_assert_cmpint (layout->hidden, <=, layout->in_view + 1);
    }
}

static void
assert_same (const FlamLayout *a, const FlamLayout *b)
{
  g_assert_cmpuint (a->n, ==, b->n);
  g_assert_cmpuint (a->first_row, ==, b->first_row);
  g_assert_cmpmem (a->row,
                   (a->n_rows + 1) * sizeof *a->row,
                   b->row,
                   (b->n_rows + 1) * sizeof *b->row);
  for (guint32 i = 0; i < a->n; i++)
    {
      const FlamBox *x = &a->boxes[i], *y = &b->boxes[i];

      g_assert_cmpuint (x->node, ==, y->node);
      g_assert_cmpuint (x->count, ==, y->count);
      g_assert_cmpuint (x->flags, ==, y->flags);
      g_assert_cmpuint (x->end, ==, y->end);
      g_assert_cmpfloat (x->x, ==, y->x);
      g_assert_cmpfloat (x->width, ==, y->width);
      g_assert_cmpfloat (x->y, ==, y->y);
      g_assert_cmpfloat (x->height, ==, y->height);
    }
  g_assert_cmpint (a->hidden, ==, b->hidden);
  g_assert_cmpint (a->in_view, ==, b->in_view);
}

/* With and without an earlier layout, at any scroll position; now and then with
 * another range of x, for which the earlier layout is useless. */
static void
test_after (gconstpointer data)
{
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (30000, 500, 7, GPOINTER_TO_INT (data));
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  g_autoptr (FlamLayout) before = NULL;
  FlamViewport viewport = flam_test_viewport (tree, 1000, 155);

  for (guint round = 0; round < 600; round++)
    {
      g_autoptr (FlamLayout) layout = NULL;
      g_autoptr (FlamLayout) anew = NULL;

      viewport.scroll += g_test_rand_int_range (-100, 101);
      if (round % 9 == 0)
        viewport.scroll =
            g_test_rand_int_range (-200, (gint)rows->n_rows * 10 + 50);
      if (round % 7 == 0)
        viewport.height = g_test_rand_int_range (1, 400);
      if (round % 30 == 0)
        viewport.direction = g_test_rand_int_range (FLAM_DIRECTION_FLAME,
                                                    FLAM_DIRECTION_ICICLE + 1);
      if (round % 50 == 49)
        viewport.from = g_test_rand_double_range (0, viewport.to / 2);
      if (round % 70 == 69)
        viewport.zoom = (FlamId)g_test_rand_int_range (0, (gint)tree->n);
      layout = flam_layout_new_after (rows, &viewport, before);
      anew = flam_layout_new (rows, &viewport);
      assert_same (layout, anew);
      g_clear_pointer (&before, flam_layout_free);
      before = g_steal_pointer (&layout);
    }
}

/* The shown part of a row and the weight that ended in earlier rows add up to
 * the whole. */
static void
test_widths_sum (void)
{
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (3000, 100, 3, FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 1000, 10000);
  g_autoptr (FlamLayout) layout = NULL;
  double ended = 0;

  viewport.min_width = 1e-9;
  layout = flam_layout_new (rows, &viewport);
  for (guint32 row = 0; row < layout->n_rows; row++)
    {
      double shown = 0;

      for (guint32 i = layout->row[row]; i < layout->row[row + 1]; i++)
        shown += layout->boxes[i].width;
      g_assert_cmpfloat_with_epsilon (shown + ended, 1000, 0.1);
      for (guint32 i = layout->row[row]; i < layout->row[row + 1]; i++)
        ended += (double)tree->self[layout->boxes[i].node] * 1000 /
                 (double)tree->total[0];
    }
}

static void
test_deep (void)
{
  g_autoptr (FlamTree) tree = flam_test_deep_tree (30000);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 800, 600);
  g_autoptr (FlamLayout) layout = NULL;

  g_assert_cmpuint (flam_layout_n_rows (rows, &viewport), ==, 30001);
  viewport.scroll = 290000;
  layout = flam_layout_new (rows, &viewport);
  g_assert_cmpuint (layout->first_row, ==, 29000);
  g_assert_cmpuint (layout->n, ==, 61);
}

/* Zooming anywhere into a million nodes gives few boxes. */
static void
test_million (void)
{
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (1000000, 5000, 11, FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);

  for (guint round = 0; round < 50; round++)
    {
      FlamViewport viewport = flam_test_viewport (tree, 1600, 900);
      FlamNodeId node = (FlamId)g_test_rand_int_range (0, (gint)tree->n);
      g_autoptr (FlamLayout) layout = NULL;

      viewport.zoom = node;
      viewport.from = (double)flam_rows_x (rows, node);
      viewport.to = viewport.from + (double)tree->total[node];
      viewport.scroll = MAX (0, tree->depth[node] * 10.0 - 450);
      layout = flam_layout_new (rows, &viewport);
      assert_rows_are_sound (rows, layout);
      assert_hits (layout);
      g_assert_cmpuint (layout->n, <=, 91 * 3202);
    }
}

static void
test_nothing (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree ("", FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 100, 100);
  g_autoptr (FlamLayout) layout = flam_layout_new (rows, &viewport);

  g_assert_cmpuint (layout->n, ==, 0);
  g_assert_null (flam_layout_hit (layout, 5, 5));
  g_assert_cmpuint (flam_layout_n_rows (rows, &viewport), ==, 0);
}

/* As a double, the greatest weight becomes 2^63, which is not a gint64. */
static void
test_greatest (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (
      "a 4611686018427387904\nb 4611686018427387903\n", FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 100, 100);
  g_autoptr (FlamLayout) layout = flam_layout_new (rows, &viewport);
  g_autoptr (FlamLayout) narrow = NULL;

  g_assert_cmpint (layout->in_view, ==, G_MAXINT64);
  g_assert_cmpint (layout->hidden, ==, 0);
  viewport.min_width = 1000;
  narrow = flam_layout_new (rows, &viewport);
  g_assert_cmpint (narrow->hidden, ==, G_MAXINT64);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/small", test_small);
  g_test_add_func ("/layout/zoomed", test_zoomed);
  g_test_add_func ("/layout/scrolled", test_scrolled);
  g_test_add_func ("/layout/strips", test_strips);
  g_test_add_func ("/layout/thin-callees", test_thin_callees);
  g_test_add_data_func ("/layout/random-views/by-total",
                        GINT_TO_POINTER (FLAM_ORDER_TOTAL),
                        test_random_views);
  g_test_add_data_func ("/layout/random-views/by-name",
                        GINT_TO_POINTER (FLAM_ORDER_NAME),
                        test_random_views);
  g_test_add_data_func (
      "/layout/after/by-total", GINT_TO_POINTER (FLAM_ORDER_TOTAL), test_after);
  g_test_add_data_func (
      "/layout/after/by-name", GINT_TO_POINTER (FLAM_ORDER_NAME), test_after);
  g_test_add_func ("/layout/widths-sum", test_widths_sum);
  g_test_add_func ("/layout/deep", test_deep);
  g_test_add_func ("/layout/million", test_million);
  g_test_add_func ("/layout/greatest", test_greatest);
  g_test_add_func ("/layout/nothing", test_nothing);
  return g_test_run ();
}
