/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Memory that is kept from one picture for the next: only its taker owns a
 * block, and no tree contains its old data. */

#include "flam-core-picture.h"

#include <malloc.h>

#define MB ((gsize)1 << 20)
#define STACKS 700000 /* more than 2 MB of each column */
#define FUNCTIONS 50

#ifdef __SANITIZE_ADDRESS__
#define KEEPS FALSE
#else
#define KEEPS TRUE
#endif
#ifdef __SANITIZE_THREAD__
#define COUNTS FALSE /* its allocator reports no sizes */
#else
#define COUNTS KEEPS
#endif

static void
test_reuse (void)
{
  char *first = flam_cells_new (8 * MB, 1);
  char *other, *again;

  memset (first, 1, 8 * MB);
  flam_cells_drop (first);
  other = flam_cells_new (4 * MB, 1); /* much smaller */
  again = flam_cells_new0 (7 * MB, 1);
  if (KEEPS)
    {
      g_assert_true (other != first);
      g_assert_true (again == first);
    }
  for (gsize i = 0; i < 7 * MB; i++)
    g_assert_cmpint (again[i], ==, 0);
  g_free (again); /* it is ordinary malloc memory */
  flam_cells_drop (other);
  flam_cells_drop (NULL);
  flam_cells_drop (flam_cells_new (3, 1));
  flam_cells_trim ();
  flam_cells_trim ();
}

/* More than there are places. */
static void
test_many (void)
{
  gpointer blocks[100];

  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    blocks[i] = flam_cells_new (2 * MB + i, 1);
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    flam_cells_drop (blocks[i]);
  flam_cells_trim ();
}

static gpointer
take_and_drop (gpointer data)
{
  guint32 own = GPOINTER_TO_UINT (data);

  for (guint turn = 0; turn < 300; turn++)
    {
      guint n = MB / 2 + turn % 7 * 9000;
      guint32 *cells = flam_new_cells (guint32, n);

      for (guint i = 0; i < n; i += 1024)
        cells[i] = own;
      g_thread_yield ();
      for (guint i = 0; i < n; i += 1024)
        g_assert_cmpuint (cells[i], ==, own);
      flam_cells_drop (cells);
    }
  return NULL;
}

static void
test_threads (void)
{
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("kept", take_and_drop, GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  flam_cells_trim ();
}

static FlamProfile *
profile_new (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  g_autofree FlamStackId *stacks = g_new (FlamStackId, STACKS);
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamThreadId thread = flam_builder_thread (builder, process, 1, 0);
  FlamFrameId frames[FUNCTIONS * 2];

  /* Two frames per function, so that stacks are merged. */
  for (guint i = 0; i < G_N_ELEMENTS (frames); i++)
    {
      g_autofree char *name = g_strdup_printf ("call_%u", i / 2);

      frames[i] = flam_builder_frame (
          builder,
          flam_builder_function_named (builder,
                                       flam_builder_string (builder, name, -1),
                                       FLAM_KIND_NATIVE),
          0,
          0,
          i);
    }
  flam_builder_add_measure (
      builder, "samples", "Samples", FLAM_UNIT_COUNT, FLAM_MEASURE_CPU, -1, 0);
  for (guint i = 0; i < STACKS; i++)
    {
      guint up = (guint)g_rand_int_range (random, 1, 40000);
      FlamSample sample = { .thread = thread, .time = i };

      sample.stack = stacks[i] = flam_builder_stack (
          builder,
          up > i ? FLAM_NONE : stacks[i - up],
          frames[g_rand_int_range (random, 0, G_N_ELEMENTS (frames))]);
      if (i % 3 != 0)
        flam_builder_add_sample (builder, &sample, NULL);
    }
  return flam_builder_finish (builder, NULL);
}

static FlamRows *
picture_new (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  g_autoptr (FlamTree) tree =
      flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);

  return flam_rows_new (tree);
}

static void
assert_cells_equal (gconstpointer a, gconstpointer b, gsize n, gsize size)
{
  g_assert_cmpmem (a, n * size, b, n * size);
}

static void
assert_equal (const FlamRows *a, const FlamRows *b)
{
  const FlamTree *x = a->tree, *y = b->tree;
  gsize n = a->n;

  g_assert_cmpuint (a->n, ==, b->n);
  assert_cells_equal (x->parent, y->parent, n, sizeof *x->parent);
  assert_cells_equal (x->subtree_end, y->subtree_end, n, sizeof (FlamId));
  assert_cells_equal (x->depth, y->depth, n, sizeof *x->depth);
  assert_cells_equal (x->key, y->key, n, sizeof *x->key);
  g_assert_cmpint (x->line != NULL, ==, y->line != NULL);
  if (x->line != NULL)
    assert_cells_equal (x->line, y->line, n, sizeof *x->line);
  assert_cells_equal (x->frame, y->frame, n, sizeof *x->frame);
  assert_cells_equal (x->self, y->self, n, sizeof *x->self);
  assert_cells_equal (x->total, y->total, n, sizeof *x->total);
  assert_cells_equal (
      x->stack_node, y->stack_node, x->profile->stacks.n, sizeof (FlamId));
  for (guint32 i = 0; i < n; i++)
    {
      g_assert_cmpuint (a->index[i], ==, b->index[i]);
      g_assert_cmpint (flam_rows_x (a, i), ==, flam_rows_x (b, i));
    }
}

/* A tree in new memory, and the same one in memory that other trees left. */
static void
assert_same_again (const FlamProfile *profile,
                   const FlamSelection *selection,
                   const FlamSelection *between)
{
  g_autoptr (FlamRows) first = NULL;
  g_autoptr (FlamRows) again = NULL;

  flam_cells_trim ();
  first = picture_new (profile, selection);
  flam_rows_unref (picture_new (profile, between));
  again = picture_new (profile, selection);
  assert_equal (first, again);
}

static void
test_picture (void)
{
  g_autoptr (FlamProfile) profile = profile_new ();
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamSelection) focused = flam_selection_new ();
  g_autoptr (FlamSelection) hidden = flam_selection_new ();

  flam_selection_add_transform (focused, FLAM_TRANSFORM_FOCUS, "_4$", NULL);
  flam_selection_add_transform (hidden, FLAM_TRANSFORM_HIDE, "_[12]", NULL);
  hidden->by = FLAM_BY_LINE;
  assert_same_again (profile, all, focused);
  assert_same_again (profile, focused, hidden);
  assert_same_again (profile, hidden, all);
}

static gsize
allocated (void)
{
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

/* The last test: nothing is kept from here on. */
static void
test_none (void)
{
  gsize before = allocated ();
  gpointer block = flam_cells_new (8 * MB, 1);

  flam_cells_drop (block);
  if (COUNTS)
    g_assert_cmpuint (allocated (), >=, before + 8 * MB);
  flam_cells_keep_none ();
  if (COUNTS)
    g_assert_cmpuint (allocated (), <, before + MB);
  block = flam_cells_new0 (8 * MB, 1);
  flam_cells_drop (block);
  if (COUNTS)
    g_assert_cmpuint (allocated (), <, before + MB);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kept/reuse", test_reuse);
  g_test_add_func ("/kept/many", test_many);
  g_test_add_func ("/kept/threads", test_threads);
  g_test_add_func ("/kept/picture", test_picture);
  g_test_add_func ("/kept/none", test_none);
  return g_test_run ();
}
