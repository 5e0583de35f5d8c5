/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-palette.h"

#include "flam-test-trees.h"

#include <string.h>

#include <math.h>

static double
to_linear (guint value)
{
  double v = value / 255.0;

  return v <= 0.04045 ? v / 12.92 : pow ((v + 0.055) / 1.055, 2.4);
}

static double
luminance (FlamColor color)
{
  return 0.2126 * to_linear (color >> 16 & 255) +
         0.7152 * to_linear (color >> 8 & 255) +
         0.0722 * to_linear (color & 255);
}

/* W3C contrast of two colors, 1 to 21. */
static double
contrast (FlamColor a, FlamColor b)
{
  double la = luminance (a), lb = luminance (b);

  return (MAX (la, lb) + 0.05) / (MIN (la, lb) + 0.05);
}

static const char sample[] =
    "main@/bin/nest;work@/bin/nest 10\n"
    "main@/bin/nest;read@/lib/libc.so.6;sys_read_[k] 7\n"
    "main@/bin/nest;hot_[i]@/bin/nest 5\n"
    "main@/bin/nest;run_[j] 4\n"
    "main@/bin/nest;f.py_[p] 3\n"
    "main@/bin/nest;what_[u] 2\n";

static guint
channel (FlamColor color, guint index)
{
  return color >> (16 - 8 * index) & 255;
}

static FlamId
find (const FlamTree *tree, const char *name)
{
  for (FlamId i = 0; i < tree->n; i++)
    if (strcmp (flam_tree_name (tree, i), name) == 0)
      return i;
  g_assert_not_reached ();
}

/* Every colour a tree of 500 modules' functions can get has a label that can
 * be read, plain and dimmed, in both themes and modes. */
static void
test_contrast (void)
{
  g_autoptr (GString) text = g_string_new (sample);
  g_autoptr (FlamTree) tree = NULL;
  double least = 21;

  for (guint i = 0; i < 500; i++)
    g_string_append_printf (text, "m;f%u@/lib/lib%u.so 1\n", i, i);
  for (guint i = 0; i < 60; i++)
    g_string_append_printf (text,
                            "k%u_[k] 1\nj%u_[j] 1\np%u_[p] 1\nu%u_[u] 1\n"
                            "i%u_[i] 1\n",
                            i,
                            i,
                            i,
                            i,
                            i);
  tree = flam_test_tree (text->str, FLAM_ORDER_TOTAL);
  for (guint look = 0; look < 4; look++)
    {
      g_autoptr (FlamPalette) palette =
          flam_palette_new (tree->profile, look & 1, look >> 1);
      FlamColor normal = flam_palette_text (palette, FLAM_COLOR_NORMAL);
      FlamColor dimmed = flam_palette_text (palette, FLAM_COLOR_DIMMED);

      for (FlamId i = 0; i < tree->n; i++)
        {
          FlamColor color = flam_palette_node (palette, tree, i);
          double plain = contrast (color, normal);
          double dim = contrast (flam_palette_dimmed (palette, color), dimmed);

          least = MIN (least, MIN (plain, dim));
          g_assert_cmpfloat (plain, >=, 4.5);
          g_assert_cmpfloat (dim, >=, 4.5);
        }
    }
  g_test_message ("least contrast %.2f", least);
}

static void
assert_readable (FlamPalette *palette, FlamColor color)
{
  FlamColor normal = flam_palette_text (palette, FLAM_COLOR_NORMAL);
  FlamColor dimmed = flam_palette_text (palette, FLAM_COLOR_DIMMED);

  g_assert_cmpfloat (contrast (color, normal), >=, 4.5);
  g_assert_cmpfloat (
      contrast (flam_palette_dimmed (palette, color), dimmed), >=, 4.5);
}

static void
test_contrast_of_known_colors (void)
{
  g_assert_cmpfloat_with_epsilon (contrast (0x000000, 0xffffff), 21, 0.001);
  g_assert_cmpfloat_with_epsilon (contrast (0x777777, 0xffffff), 4.48, 0.01);
  g_assert_cmpfloat_with_epsilon (contrast (0x3465a4, 0x3465a4), 1, 0.001);
}

/* Every strength of every state and change can be read, too, and the full
 * ones are told apart. */
static void
test_contrast_of_ramps (void)
{
  enum
  {
    N = 60
  };
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (FlamTree) tree = NULL;

  for (guint i = 0; i < N; i++)
    g_string_append_printf (text, "f%u 100\n", i);
  tree = flam_test_tree (text->str, FLAM_ORDER_TOTAL);
  tree->split = g_new0 (FlamStateSplit, tree->n);
  tree->change = g_new0 (FlamTreeChange, 1);
  tree->change->base = g_new0 (gint64, tree->n);
  tree->change->delta = g_new0 (gint64, tree->n);
  tree->change->greatest = tree->n;
  for (FlamId i = 0; i < tree->n; i++)
    {
      tree->split[i].weight[i % FLAM_N_STATES] = 60;
      tree->split[i].weight[(i + 1) % FLAM_N_STATES] = i;
      tree->change->delta[i] = i % 2 == 0 ? i : -(gint64)i;
    }
  for (guint look = 0; look < 4; look++)
    {
      g_autoptr (FlamPalette) palette =
          flam_palette_new (tree->profile,
                            look & 1 ? FLAM_PALETTE_STATE : FLAM_PALETTE_CHANGE,
                            look >> 1);

      for (FlamId i = 0; i < tree->n; i++)
        assert_readable (palette, flam_palette_node (palette, tree, i));
    }
}

static void
test_states (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree ("a 10\nb 10\n", FLAM_ORDER_NAME);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (tree->profile, FLAM_PALETTE_STATE, FALSE);
  g_autoptr (GPtrArray) legend = NULL;
  const FlamLegendEntry *entry;
  FlamColor a, b;

  g_assert_cmpuint (flam_tree_states (tree), ==, 0);
  g_assert_cmpuint (
      flam_palette_mode_of (tree, FLAM_PALETTE_AUTO), ==, FLAM_PALETTE_CODE);
  tree->split = g_new0 (FlamStateSplit, tree->n);
  tree->split[0].weight[FLAM_STATE_RUNNING] = 10;
  g_assert_cmpuint (
      flam_palette_mode_of (tree, FLAM_PALETTE_AUTO), ==, FLAM_PALETTE_CODE);
  tree->split[0].weight[FLAM_STATE_SLEEP] = 15;
  tree->split[1].weight[FLAM_STATE_RUNNING] = 10;
  tree->split[2].weight[FLAM_STATE_SLEEP] = 10;
  g_assert_cmpuint (
      flam_palette_mode_of (tree, FLAM_PALETTE_AUTO), ==, FLAM_PALETTE_STATE);
  a = flam_palette_node (palette, tree, 1);
  b = flam_palette_node (palette, tree, 2);
  g_assert_cmpuint (channel (a, 0), >, channel (a, 2));
  g_assert_cmpuint (channel (b, 2), >, channel (b, 0));
  legend = flam_palette_legend (palette, tree, 0, 8);
  g_assert_cmpuint (legend->len, ==, 2);
  entry = legend->pdata[0];
  g_assert_cmpstr (entry->name, ==, "Sleeping");
  g_assert_cmpint (entry->weight, ==, 15);
}

/* Another capture, another order of modules: the same colours. */
static void
test_stable (void)
{
  g_autoptr (FlamTree) one = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamTree) two = flam_test_tree (
      "zed@/lib/z.so;work@/home/x/nest 4\nread@/lib/libc.so.6 9\n",
      FLAM_ORDER_NAME);
  g_autoptr (FlamPalette) a =
      flam_palette_new (one->profile, FLAM_PALETTE_CODE, FALSE);
  g_autoptr (FlamPalette) b =
      flam_palette_new (two->profile, FLAM_PALETTE_CODE, FALSE);
  const char *names[] = { "work", "read" };

  for (guint i = 0; i < 2; i++)
    g_assert_cmphex (flam_palette_node (a, one, find (one, names[i])),
                     ==,
                     flam_palette_node (b, two, find (two, names[i])));
  g_assert_cmphex (flam_palette_node (a, one, find (one, "work")),
                   ==,
                   flam_palette_node (a, one, find (one, "work")));
}

/* A dozen modules are told apart, whatever their names. */
static void
test_modules_apart (void)
{
  g_autoptr (GString) text = g_string_new ("");
  g_autoptr (GHashTable) colors = g_hash_table_new (NULL, NULL);
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (FlamPalette) palette = NULL;

  for (guint i = 0; i < 12; i++)
    g_string_append_printf (text, "f@/lib/lib%u.so 1\n", i);
  tree = flam_test_tree (text->str, FLAM_ORDER_TOTAL);
  palette = flam_palette_new (tree->profile, FLAM_PALETTE_CODE, FALSE);
  for (FlamId i = 1; i < tree->n; i++)
    g_hash_table_add (colors,
                      GUINT_TO_POINTER (flam_palette_node (palette, tree, i)));
  g_assert_cmpuint (tree->n, ==, 13);
  g_assert_cmpuint (g_hash_table_size (colors), ==, 12);
}

static void
test_meaning (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamPalette) code =
      flam_palette_new (tree->profile, FLAM_PALETTE_CODE, FALSE);
  g_autoptr (FlamPalette) memory =
      flam_palette_new (tree->profile, FLAM_PALETTE_MEMORY, FALSE);
  FlamColor kernel = flam_palette_node (code, tree, find (tree, "sys_read"));
  FlamColor native = flam_palette_node (code, tree, find (tree, "work"));
  FlamColor python = flam_palette_node (code, tree, find (tree, "f.py"));
  FlamColor jit = flam_palette_node (code, tree, find (tree, "run"));
  FlamColor inlined = flam_palette_node (code, tree, find (tree, "hot"));
  FlamColor grey = flam_palette_node (code, tree, find (tree, "what"));
  FlamColor green = flam_palette_node (memory, tree, find (tree, "work"));

  g_assert_cmpuint (channel (kernel, 0), >, channel (kernel, 1));
  g_assert_cmpuint (channel (kernel, 1), >, channel (kernel, 2));
  g_assert_cmpuint (channel (native, 0), >, channel (native, 2));
  g_assert_cmpuint (channel (python, 2), >, channel (python, 0));
  g_assert_cmpuint (channel (jit, 1), >, channel (jit, 0));
  g_assert_cmpuint (channel (inlined, 1), >, channel (inlined, 0));
  g_assert_cmpuint (channel (inlined, 2), >, channel (inlined, 0));
  g_assert_cmpint (
      ABS ((int)channel (grey, 0) - (int)channel (grey, 2)), <, 12);
  g_assert_cmpuint (channel (green, 1), >, channel (green, 0));
  g_assert_cmpuint (channel (green, 1), >, channel (green, 2));
}

static void
test_legend (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (tree->profile, FLAM_PALETTE_CODE, FALSE);
  g_autoptr (GPtrArray) all = flam_palette_legend (palette, tree, 0, 20);
  g_autoptr (GPtrArray) few = flam_palette_legend (palette, tree, 0, 3);
  const FlamLegendEntry *entry = all->pdata[0];

  g_assert_cmpuint (all->len, ==, 7);
  g_assert_cmpstr (entry->name, ==, "nest");
  g_assert_false (entry->is_kind);
  g_assert_cmpint (entry->weight, ==, 10);
  entry = all->pdata[1];
  g_assert_cmpstr (entry->name, ==, "Kernel");
  g_assert_true (entry->is_kind);
  g_assert_cmpuint (few->len, ==, 3);
  entry = few->pdata[2];
  g_assert_cmpstr (entry->name, ==, "Other modules");
  g_assert_cmpint (entry->weight, ==, 5 + 4 + 3 + 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/palette/contrast", test_contrast);
  g_test_add_func ("/palette/contrast-known", test_contrast_of_known_colors);
  g_test_add_func ("/palette/contrast-ramps", test_contrast_of_ramps);
  g_test_add_func ("/palette/states", test_states);
  g_test_add_func ("/palette/stable", test_stable);
  g_test_add_func ("/palette/modules-apart", test_modules_apart);
  g_test_add_func ("/palette/meaning", test_meaning);
  g_test_add_func ("/palette/legend", test_legend);
  return g_test_run ();
}
