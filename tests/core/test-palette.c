/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-picture.h"

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

/* Every color that a tree with functions of 500 modules can have has readable
 * labels, plain and dimmed, in both themes and modes. */
static void
test_contrast (void)
{
  g_autoptr (GString) text = g_string_new (sample);
  g_autoptr (FlamTree) tree = NULL;
  const FlamPaletteMode modes[] = {
    FLAM_PALETTE_CODE, FLAM_PALETTE_MEMORY, FLAM_PALETTE_LANGUAGE,
    FLAM_PALETTE_SELF, FLAM_PALETTE_NAME,   FLAM_PALETTE_JULIA,
  };
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
  for (guint look = 0; look < 2 * G_N_ELEMENTS (modes); look++)
    {
      g_autoptr (FlamPalette) palette =
          flam_palette_new (tree->profile, modes[look / 2], look & 1);
      FlamColor normal = flam_palette_text (palette, FLAM_COLOR_NORMAL);
      FlamColor dimmed = flam_palette_text (palette, FLAM_COLOR_DIMMED);

      for (FlamId i = 0; i < tree->n; i++)
        {
          FlamColor color = flam_palette_node (palette, tree, i);
          double plain = contrast (color, normal);
          double dim = contrast (flam_palette_dimmed (palette, color), dimmed);
          double pale = contrast (
              flam_palette_pale (palette, color),
              flam_palette_text (palette, flam_palette_pale_state (palette)));

          least = MIN (least, MIN (plain, dim));
          g_assert_cmpfloat (plain, >=, 4.5);
          g_assert_cmpfloat (dim, >=, 4.5);
          g_assert_cmpfloat (pale, >=, 4.5);
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

/* Every strength of every state is readable, too; those of a change are in
 * test-change.c. */
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
  for (FlamId i = 0; i < tree->n; i++)
    {
      tree->split[i].weight[i % FLAM_N_STATES] = 60;
      tree->split[i].weight[(i + 1) % FLAM_N_STATES] = i;
    }
  for (guint dark = 0; dark < 2; dark++)
    {
      g_autoptr (FlamPalette) palette =
          flam_palette_new (tree->profile, FLAM_PALETTE_STATE, dark);

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

/* Another capture, another order of modules: the same colors. */
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

/* A dozen modules are distinguishable, whatever their names. */
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
  /* The same hue as its module, but paler. */
  g_assert_cmpuint (channel (inlined, 0), >, channel (inlined, 2));
  g_assert_cmpuint (channel (inlined, 2), >, channel (native, 2));
  g_assert_cmpint (
      ABS ((int)channel (grey, 0) - (int)channel (grey, 2)), <, 12);
  g_assert_cmpuint (channel (green, 1), >, channel (green, 0));
  g_assert_cmpuint (channel (green, 1), >, channel (green, 2));
}

/* colors.golden is flamegraph.pl's output: palettes/README.md. */
static void
test_flamegraph (void)
{
  g_autofree char *path = g_test_build_filename (
      G_TEST_DIST, "core", "palettes", "colors.golden", NULL);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  FlamPaletteMode mode = FLAM_PALETTE_AUTO;
  gboolean hash = FALSE;
  guint n = 0;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *arrow = g_strrstr (lines[i], "->");
      char *end = strchr (lines[i], ']');
      FlamColor color;

      if (arrow != NULL)
        {
          *arrow = '\0';
          g_assert_true (flam_named_color_parse (arrow + 2, &color));
          if (flam_named_color (mode, hash, lines[i]) != color)
            g_error ("%s, %s%s: %06x, not %06x",
                     lines[i],
                     flam_palette_mode_to_string (mode),
                     hash ? " --hash" : "",
                     flam_named_color (mode, hash, lines[i]),
                     color);
          n++;
        }
      else if (end != NULL)
        {
          hash = g_str_has_suffix (lines[i], " hash]");
          lines[i][strcspn (lines[i], " ]")] = '\0';
          g_assert_true (flam_palette_mode_from_string (lines[i] + 1, &mode));
        }
    }
  g_assert_cmpuint (n, >, 1000);
  g_assert_cmphex (
      flam_named_color (FLAM_PALETTE_HOT, FALSE, "--"), ==, 0xa0a0a0);
  g_assert_cmphex (
      flam_named_color (FLAM_PALETTE_HOT, FALSE, "-"), ==, 0xc8c8c8);
}

static void
test_map (void)
{
  g_autoptr (FlamColorMap) map = flam_color_map_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  FlamColor color;

  g_assert_true (flam_color_map_parse (
      map, "z->rgb(1,2,3)\nA::operator->()->rgb(255,0,9)\n", &error));
  g_assert_true (flam_color_map_find (map, "A::operator->()", &color));
  g_assert_cmphex (color, ==, 0xff0009);
  flam_color_map_add (map, "two\nlines", 0x0a0b0c);
  g_assert_true (flam_color_map_find (map, "two\nlines", &color));
  text = flam_color_map_text (map);
  g_assert_cmpstr (text,
                   ==,
                   "A::operator->()->rgb(255,0,9)\ntwo lines->rgb(10,11,12)\n"
                   "z->rgb(1,2,3)\n");
  g_assert_false (
      flam_color_map_parse (map, "a->rgb(1,2,3)\nb->red\n", &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
  g_assert_nonnull (strstr (error->message, "line 2"));
}

/* The user's colors are used, and their labels are readable. */
static void
test_rules (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (sample, FLAM_ORDER_TOTAL);
  g_autoptr (FlamColorRules) rules = flam_color_rules_new ();
  const FlamColors colors = { .rules = rules };
  g_autoptr (GError) error = NULL;

  g_assert_true (flam_color_rules_add (rules, "^main$", "#ffcc00", NULL));
  g_assert_true (flam_color_rules_add (rules, "ma", "#000080", NULL));
  g_assert_true (flam_color_rules_add (rules, "wor", "rgb(0,0,128)", NULL));
  g_assert_false (flam_color_rules_add (rules, "(", "#000080", &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
  g_clear_error (&error);
  g_assert_false (flam_color_rules_add (rules, "a", "# 1 2 3", &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_INVALID);
  for (guint dark = 0; dark < 2; dark++)
    {
      g_autoptr (FlamPalette) palette =
          flam_palette_new_for (tree, &colors, dark);

      for (FlamId i = 1; i < tree->n; i++)
        assert_readable (palette, flam_palette_node (palette, tree, i));
      g_assert_cmphex (flam_palette_node (palette, tree, 1), ==, 0xffcc00);
    }
}

/* Machado, Oliveira and Fernandes (2009), severity 1: how people without the
 * cones for long, middle or short waves see a color. Linear RGB. */
static const double seen[3][3][3] = {
  { { 0.152286, 1.052583, -0.204868 },
    { 0.114503, 0.786281, 0.099216 },
    { -0.003882, -0.048116, 1.051998 } },
  { { 0.367322, 0.860646, -0.227968 },
    { 0.280085, 0.672501, 0.047413 },
    { -0.011820, 0.042940, 0.968881 } },
  { { 1.255528, -0.076749, -0.178779 },
    { -0.078411, 0.930809, 0.147602 },
    { 0.004733, 0.691367, 0.303900 } },
};

static void
see_as (guint kind, FlamColor color, double rgb[3])
{
  const double linear[3] = { to_linear (color >> 16 & 255),
                             to_linear (color >> 8 & 255),
                             to_linear (color & 255) };

  for (guint i = 0; i < 3; i++)
    {
      double v = 0;

      for (guint j = 0; j < 3; j++)
        v += seen[kind][i][j] * linear[j];
      rgb[i] = pow (CLAMP (v, 0, 1), 1 / 2.4);
    }
}

/* The language of a function: the mangled name has priority over the file
 * name. */
static const struct
{
  const char *name, *system_name, *file;
  FlamLanguage language;
} written[] = {
  { "qsort", "qsort", "/usr/src/glibc/qsort.c", FLAM_LANGUAGE_C },
  { "std::sort",
    "_ZSt4sortv",
    "/usr/include/bits/stl_algo.h",
    FLAM_LANGUAGE_CPP },
  { "core::fmt::write",
    "_ZN4core3fmt5write17h0123456789abcdefE",
    "",
    FLAM_LANGUAGE_RUST },
  { "a::b", "_ZN1a1b17hxyz3456789abcdefE", "", FLAM_LANGUAGE_CPP },
  { "x::y", "_RNvC1x1y", "", FLAM_LANGUAGE_RUST },
  { "main.run", "main.run", "/go/src/main.go", FLAM_LANGUAGE_GO },
  { "f", "f", "app.py", FLAM_LANGUAGE_PYTHON },
  { "g", "g", "https://a.example/x.min.js?v=1.2", FLAM_LANGUAGE_JAVASCRIPT },
  { "h", "h", "start.S", FLAM_LANGUAGE_ASSEMBLER },
  { "i", "i", "wide.C", FLAM_LANGUAGE_CPP },
  { "j", "j", "./rand.jl", FLAM_LANGUAGE_JULIA },
  { "k", "k", "", FLAM_LANGUAGE_UNKNOWN },
  { "l", "l", "no/ending.", FLAM_LANGUAGE_UNKNOWN },
  { "m", "m", "v1.2/readme", FLAM_LANGUAGE_UNKNOWN },
  { "n", "n", "odd.c h", FLAM_LANGUAGE_UNKNOWN },
};

static FlamTree *
written_tree (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  FlamThreadId thread;

  flam_builder_add_column (builder);
  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
  thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  for (guint i = 0; i < G_N_ELEMENTS (written); i++)
    {
      const FlamFunction function = {
        .name = flam_builder_string (builder, written[i].name, -1),
        .system_name =
            flam_builder_string (builder, written[i].system_name, -1),
        .file = flam_builder_string (builder, written[i].file, -1),
        .module = FLAM_NONE,
      };
      const gint64 weight = 1 + (gint64)i;
      FlamFrameId frame = flam_builder_frame (
          builder, flam_builder_function (builder, &function), 0, 0, 0);

      flam_builder_add_sample (builder,
                               &(FlamSample){ .thread = thread,
                                              .stack = flam_builder_stack (
                                                  builder, FLAM_NONE, frame) },
                               &weight);
    }
  profile = flam_builder_finish (builder, NULL);
  g_assert_nonnull (profile);
  return flam_test_tree_of (profile, FLAM_ORDER_TOTAL);
}

static void
test_language (void)
{
  g_autoptr (FlamTree) tree = written_tree ();
  g_autoptr (FlamPalette) palette =
      flam_palette_new (tree->profile, FLAM_PALETTE_LANGUAGE, FALSE);
  g_autoptr (GPtrArray) legend = flam_palette_legend (palette, tree, 0, 0);
  gint64 sum = 0;

  for (guint i = 0; i < G_N_ELEMENTS (written); i++)
    g_assert_cmpint (
        flam_language_of_function (
            tree->profile,
            flam_tree_function (tree, find (tree, written[i].name))),
        ==,
        written[i].language);
  for (guint i = 0; i < legend->len; i++)
    {
      const FlamLegendEntry *entry = legend->pdata[i];

      sum += entry->weight;
      if (strcmp (entry->name, "C++") == 0)
        g_assert_cmpint (entry->weight, ==, 2 + 4 + 10);
    }
  g_assert_cmpint (sum, ==, tree->total[0]);
}

/* The strongest color is that of the greatest self cost; another tree has
 * another maximum. */
static void
test_self (void)
{
  g_autoptr (FlamTree) tree =
      flam_test_tree ("a;b 100\na;c 1\nd 50\n", FLAM_ORDER_TOTAL);
  g_autoptr (FlamTree) other =
      flam_test_tree_of (tree->profile, FLAM_ORDER_NAME);
  g_autoptr (FlamPalette) palette =
      flam_palette_new (tree->profile, FLAM_PALETTE_SELF, FALSE);
  g_autoptr (GPtrArray) legend = flam_palette_legend (palette, tree, 0, 0);
  const FlamLegendEntry *much = legend->pdata[0];
  const FlamLegendEntry *none = legend->pdata[2];

  g_assert_cmphex (
      flam_palette_node (palette, tree, find (tree, "b")), ==, much->color);
  g_assert_cmphex (
      flam_palette_node (palette, tree, find (tree, "a")), ==, none->color);
  g_assert_cmphex (
      flam_palette_node (palette, tree, find (tree, "d")), !=, much->color);
  g_assert_cmphex (flam_palette_node (palette, other, find (other, "d")),
                   ==,
                   flam_palette_node (palette, tree, find (tree, "d")));
}

/* The kinds of code are distinguishable with any color vision, and their labels
 * are readable. */
static void
test_safe (void)
{
  g_autoptr (FlamTree) tree = flam_test_tree (
      "n 1\nk_[k] 1\nj_[j] 1\np_[p] 1\nu_[u] 1\ni_[i] 1\n", FLAM_ORDER_NAME);
  const FlamColors colors = { .mode = FLAM_PALETTE_SAFE };
  double least = 2;

  for (guint dark = 0; dark < 2; dark++)
    {
      g_autoptr (FlamPalette) palette =
          flam_palette_new_for (tree, &colors, dark);

      for (FlamId i = 1; i < tree->n; i++)
        assert_readable (palette, flam_palette_node (palette, tree, i));
      for (FlamId i = 1; i < tree->n; i++)
        for (FlamId k = 1; k < i; k++)
          for (guint kind = 0; kind < 3; kind++)
            {
              double a[3], b[3];

              see_as (kind, flam_palette_node (palette, tree, i), a);
              see_as (kind, flam_palette_node (palette, tree, k), b);
              least = MIN (least,
                           sqrt ((a[0] - b[0]) * (a[0] - b[0]) +
                                 (a[1] - b[1]) * (a[1] - b[1]) +
                                 (a[2] - b[2]) * (a[2] - b[2])));
            }
    }
  g_test_message ("least difference seen %.3f", least);
  g_assert_cmpfloat (least, >, 0.1);
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
  g_test_add_func ("/palette/flamegraph", test_flamegraph);
  g_test_add_func ("/palette/map", test_map);
  g_test_add_func ("/palette/rules", test_rules);
  g_test_add_func ("/palette/safe", test_safe);
  g_test_add_func ("/palette/language", test_language);
  g_test_add_func ("/palette/self", test_self);
  return g_test_run ();
}
