/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-picture.h"

#include "flam-test-trees.h"

static const char sample[] =
    "main@/bin/nest;work@/bin/nest 10\n"
    "main@/bin/nest;read@/lib/libc.so.6;sys_read_[k] 7\n"
    "main@/bin/nest;hot_[i]@/bin/nest 5\n"
    "main@/bin/nest;run_[j] 4\n"
    "main@/bin/nest;f.py_[p] 3\n"
    "main@/bin/nest;what_[u] 2\n";

static void
test_legend (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (tree->profile, FLAM_PALETTE_CODE, FALSE);
  g_autoptr (GPtrArray) all = flam_palette_legend (palette, tree, 0, 20);
  g_autoptr (GPtrArray) few = flam_palette_legend (palette, tree, 0, 3);
  const FlamLegendEntry *entry = all->pdata[0];

  g_assert_cmpuint (all->len, ==, 6);
  g_assert_cmpstr (entry->name, ==, "nest");
  g_assert_false (entry->is_kind);
  g_assert_cmpint (entry->weight, ==, 10 + 5);
  entry = all->pdata[1];
  g_assert_cmpstr (entry->name, ==, "Kernel");
  g_assert_true (entry->is_kind);
  g_assert_cmpuint (few->len, ==, 3);
  entry = few->pdata[2];
  g_assert_cmpstr (entry->name, ==, "Other modules");
  g_assert_cmpint (entry->weight, ==, 4 + 3 + 2);
}

/* A palette in which inlined code has a color of its own names it. */
static void
test_inlined (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (tree->profile, FLAM_PALETTE_SAFE, FALSE);
  g_autoptr (GPtrArray) all = flam_palette_legend (palette, tree, 0, 20);
  const FlamLegendEntry *third = all->pdata[2];

  g_assert_cmpuint (all->len, ==, 6);
  g_assert_cmpstr (third->name, ==, "Inlined");
  g_assert_cmpint (third->weight, ==, 5);
}

/* With any palette, rules come first in the legend, with the weight that they
 * color; the rest belongs to the palette, and is merged. */
static void
test_rules_legend (void)
{
  static const FlamPaletteMode modes[] = { FLAM_PALETTE_CODE,
                                           FLAM_PALETTE_LANGUAGE,
                                           FLAM_PALETTE_HOT };
  static const guint n_entries[] = { 8, 8, 2 };
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamColorRules) rules = flam_color_rules_new ();

  g_assert_true (flam_color_rules_add (rules, "^ma", "#ffcc00", NULL));
  g_assert_true (flam_color_rules_add (rules, "main", "#000080", NULL));
  g_assert_true (flam_color_rules_add (rules, "sys|hot", "#80ff80", NULL));
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      const FlamColors colors = { .mode = modes[i], .rules = rules };
      g_autoptr (FlamPalette) palette =
          flam_palette_new_for (tree, &colors, FALSE);
      g_autoptr (GPtrArray) all = flam_palette_legend (palette, tree, 0, 20);
      g_autoptr (GPtrArray) few = flam_palette_legend (palette, tree, 0, 1);
      const FlamLegendEntry *first = all->pdata[0], *second = all->pdata[1];

      g_assert_cmpuint (all->len, <=, n_entries[i]);
      g_assert_cmpstr (first->name, ==, "sys|hot");
      g_assert_false (first->is_kind);
      g_assert_cmpint (first->weight, ==, 7 + 5);
      g_assert_cmphex (first->color, ==, 0x80ff80);
      g_assert_cmpstr (second->name, ==, "^ma");
      for (guint j = 0; j < all->len; j++)
        g_assert_cmpstr (
            ((FlamLegendEntry *)all->pdata[j])->name, !=, "Kernel");
      g_assert_cmpuint (few->len, ==, modes[i] == FLAM_PALETTE_HOT ? 2 : 3);
    }
}

/* What a rule colors below a node, added up one by one. */
static void
add_up (const FlamColorRules *rules,
        const FlamTree *tree,
        FlamNodeId node,
        gint64 *self,
        gint64 *widest)
{
  for (FlamNodeId i = MAX (node, 1); i < tree->subtree_end[node]; i++)
    {
      guint rule = flam_color_rules_find_node (rules, tree, i);

      if (rule == FLAM_NONE)
        continue;
      self[rule] += tree->self[i];
      widest[rule] = MAX (widest[rule], tree->total[i]);
    }
}

/* One legend answers for every subtree of a tree. */
static void
test_subtrees (void)
{
  static const char *const patterns[] = { "1", "2.*5", "[3-9]" };
  g_autoptr (FlamTree) tree =
      flam_test_random_tree (20000, 400, 5, FLAM_ORDER_TOTAL);
  g_autoptr (FlamColorRules) rules = flam_color_rules_new ();
  const FlamColors colors = { .mode = FLAM_PALETTE_HOT, .rules = rules };
  g_autoptr (FlamPalette) palette = NULL;
  g_autoptr (FlamPaletteLegend) legend = NULL;
  guint n_entries = 0;

  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    g_assert_true (flam_color_rules_add (rules, patterns[i], "#ffcc00", NULL));
  palette = flam_palette_new_for (tree, &colors, FALSE);
  legend = flam_palette_legend_new (palette, tree);
  for (FlamNodeId node = 0; node < tree->n; node = node * 9 / 8 + 1)
    {
      g_autoptr (GPtrArray) entries =
          flam_palette_legend_entries (legend, node, 20);
      gint64 self[G_N_ELEMENTS (patterns)] = { 0 };
      gint64 widest[G_N_ELEMENTS (patterns)] = { 0 };
      guint n_seen = 0;

      add_up (rules, tree, node, self, widest);
      for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
        n_seen += widest[i] > 0 && widest[i] >= tree->total[node] / 200;
      g_assert_cmpuint (entries->len, ==, n_seen);
      for (guint i = 0; i < entries->len; i++)
        {
          const FlamLegendEntry *entry = entries->pdata[i];
          guint rule = 0;

          while (strcmp (patterns[rule], entry->name) != 0)
            rule++;
          g_assert_cmpint (entry->weight, ==, self[rule]);
        }
      n_entries += n_seen;
    }
  g_assert_cmpuint (n_entries, >, 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/legend/modules", test_legend);
  g_test_add_func ("/legend/inlined", test_inlined);
  g_test_add_func ("/legend/rules", test_rules_legend);
  g_test_add_func ("/legend/subtrees", test_subtrees);
  return g_test_run ();
}
