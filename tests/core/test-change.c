/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The colors of a difference. */

#include "flam-core-picture.h"
#include "flam-test-trees.h"

static guint
channel (FlamColor color, guint index)
{
  return color >> (16 - 8 * index) & 255;
}

static FlamTree *
tree_of (const char *stacks)
{
  return flam_test_tree (stacks, FLAM_ORDER_NAME);
}

static FlamColor
color_of (FlamPalette *palette, const FlamTree *tree, const char *name)
{
  return flam_palette_node (palette, tree, flam_tree_find_name (tree, name));
}

static gboolean
is_red (FlamColor color)
{
  return channel (color, 0) > channel (color, 2) + 20;
}

static gboolean
is_blue (FlamColor color)
{
  return channel (color, 2) > channel (color, 0) + 20;
}

/* Growth is red and shrinking blue, as in flamegraph.pl. By amount, the frame
 * with the greatest change has the strongest color; by frame, the one that
 * changed by the largest part. */
static void
test_change (void)
{
  g_autoptr (FlamTree) base = tree_of ("large 1000\nsmall 2\nless 200\n");
  g_autoptr (FlamTree) fresh =
      tree_of ("large 1100\nsmall 8\nless 90\nadded 50\n");
  g_autoptr (FlamTree) tree =
      flam_diff_tree (base, fresh, FLAM_DIFF_FRESH, FALSE, FLAM_DIFF_UNSCALED);
  g_autoptr (FlamPalette) amount =
      flam_palette_new (tree->profile, FLAM_PALETTE_CHANGE, FALSE);
  g_autoptr (FlamPalette) frame =
      flam_palette_new (tree->profile, FLAM_PALETTE_CHANGE_SHARE, FALSE);
  const FlamColors colors = { .mode = FLAM_PALETTE_AUTO, .negate = TRUE };
  g_autoptr (FlamPalette) negated = flam_palette_new_for (tree, &colors, FALSE);
  FlamColor added;

  g_assert_true (is_red (color_of (amount, tree, "large")));
  g_assert_true (is_blue (color_of (amount, tree, "less")));
  /* A tenth of it: paler than by amount. */
  g_assert_cmpuint (channel (color_of (frame, tree, "large"), 2),
                    >,
                    channel (color_of (amount, tree, "large"), 2) + 40);
  g_assert_true (is_red (color_of (frame, tree, "small")));
  g_assert_true (is_blue (color_of (frame, tree, "less")));
  added = color_of (frame, tree, "added");
  g_assert_true (is_red (added));
  g_assert_cmpuint (added, !=, color_of (frame, tree, "small"));
  g_assert_true (is_blue (color_of (negated, tree, "large")));
}

static gboolean
says (const GPtrArray *legend, const char *name)
{
  for (guint i = 0; i < legend->len; i++)
    if (g_str_equal (((FlamLegendEntry *)legend->pdata[i])->name, name))
      return TRUE;
  return FALSE;
}

/* With self costs, new functions are black, and their labels are not. */
static void
test_untracked (void)
{
  g_autoptr (FlamTree) base = tree_of ("main;known 5\ngone 1\n");
  g_autoptr (FlamTree) fresh =
      tree_of ("main;known 5\nother;known 3\nunknown 4\n");
  g_autoptr (FlamTree) own =
      flam_diff_tree (base, fresh, FLAM_DIFF_BOTH, TRUE, FLAM_DIFF_UNSCALED);
  g_autoptr (FlamTree) all =
      flam_diff_tree (base, fresh, FLAM_DIFF_FRESH, FALSE, FLAM_DIFF_UNSCALED);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (own->profile, FLAM_PALETTE_CHANGE, FALSE);
  g_autoptr (FlamPalette) totals =
      flam_palette_new (all->profile, FLAM_PALETTE_CHANGE, FALSE);
  g_autoptr (GPtrArray) legend = flam_palette_legend (palette, own, 0, 8);
  g_autoptr (GPtrArray) other = flam_palette_legend (totals, all, 0, 8);
  FlamId unknown = flam_tree_find_name (own, "unknown");
  FlamColor black = flam_palette_node (palette, own, unknown);
  FlamColorState state =
      flam_palette_label_state (palette, own, unknown, FLAM_COLOR_NORMAL);

  g_assert_cmpuint (channel (black, 0), <, 40);
  g_assert_cmpuint (channel (black, 2), <, 40);
  g_assert_cmpfloat (
      flam_color_contrast (black, flam_palette_text (palette, state)), >=, 4.5);
  g_assert_cmpuint (
      flam_palette_label_state (
          palette, own, flam_tree_find_name (own, "main"), FLAM_COLOR_NORMAL),
      ==,
      FLAM_COLOR_NORMAL);
  g_assert_true (is_blue (color_of (palette, own, "gone")));
  g_assert_true (is_red (color_of (totals, all, "unknown")));
  g_assert_true (says (legend, "Gone") && says (legend, "New function"));
  g_assert_true (says (other, "New") && !says (other, "New function"));
}

/* The labels on every strength of every kind of change are readable, dimmed or
 * not. */
static void
test_contrast (void)
{
  enum
  {
    N = 60
  };
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (FlamTree) tree = NULL;

  for (guint i = 0; i < N; i++)
    g_string_append_printf (text, "f%u 100\n", i);
  tree = tree_of (text->str);
  tree->change = g_new0 (FlamTreeChange, 1);
  tree->change->base = g_new0 (gint64, tree->n);
  tree->change->delta = g_new0 (gint64, tree->n);
  tree->change->kind = g_new0 (guint8, tree->n);
  tree->change->greatest = tree->n;
  for (FlamId i = 0; i < tree->n; i++)
    {
      tree->change->delta[i] = i % 2 == 0 ? i : -(gint64)i;
      tree->change->kind[i] = i % 4;
    }
  for (guint dark = 0; dark < 2; dark++)
    {
      g_autoptr (FlamPalette) palette =
          flam_palette_new (tree->profile, FLAM_PALETTE_CHANGE, dark);
      FlamColor normal = flam_palette_text (palette, FLAM_COLOR_NORMAL);
      FlamColor dimmed = flam_palette_text (palette, FLAM_COLOR_DIMMED);

      for (FlamId i = 0; i < tree->n; i++)
        {
          FlamColor color = flam_palette_node (palette, tree, i);

          g_assert_cmpfloat (flam_color_contrast (color, normal), >=, 4.5);
          g_assert_cmpfloat (flam_color_contrast (
                                 flam_palette_dimmed (palette, color), dimmed),
                             >=,
                             4.5);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/change/amount-and-frame", test_change);
  g_test_add_func ("/change/untracked", test_untracked);
  g_test_add_func ("/change/contrast", test_contrast);
  return g_test_run ();
}
