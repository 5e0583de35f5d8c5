/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-test-trees.h"

#include "flam-core-picture.h"

#include <string.h>

static const struct
{
  const char *suffix;
  FlamFunctionKind kind;
  guint flags;
} annotations[] = {
  { "_[k]", FLAM_KIND_KERNEL, 0 },
  { "_[j]", FLAM_KIND_JIT, 0 },
  { "_[p]", FLAM_KIND_INTERPRETED, 0 },
  { "_[u]", FLAM_KIND_UNRESOLVED, 0 },
  { "_[i]", FLAM_KIND_NATIVE, FLAM_FUNCTION_INLINED },
};

static FlamFrameId
add_frame (FlamBuilder *builder, const char *text)
{
  g_autofree char *name = g_strdup (text);
  FlamFunction function = { .kind = FLAM_KIND_NATIVE, .module = FLAM_NONE };
  char *module = strchr (name, '@');

  if (module != NULL)
    {
      *module++ = '\0';
      function.module =
          flam_builder_module (builder, module, "", FLAM_ADDRESS_FILE_OFFSET);
    }
  for (guint i = 0; i < G_N_ELEMENTS (annotations); i++)
    if (g_str_has_suffix (name, annotations[i].suffix))
      {
        name[strlen (name) - 4] = '\0';
        function.kind = annotations[i].kind;
        function.flags = annotations[i].flags;
      }
  function.name = flam_builder_string (builder, name, -1);
  return flam_builder_frame (
      builder, flam_builder_function (builder, &function), 0, 0, 0);
}

static void
add_sample (FlamBuilder *builder, FlamStackId stack, gint64 weight)
{
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = {
    .thread = flam_builder_thread (builder, process, 1, 0),
    .stack = stack,
  };

  flam_builder_add_sample (builder, &sample, &weight);
}

static FlamBuilder *
builder_new (void)
{
  FlamBuilder *builder = flam_builder_new ();
  guint column = flam_builder_add_column (builder);

  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)column,
                            FLAM_NONE);
  return builder;
}

static FlamProfile *
finish (FlamBuilder *builder)
{
  g_autoptr (GError) error = NULL;
  FlamProfile *profile = flam_builder_finish (builder, &error);

  g_assert_no_error (error);
  return profile;
}

FlamProfile *
flam_test_profile (const char *text)
{
  g_autoptr (FlamBuilder) builder = builder_new ();
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (char **line = lines; *line != NULL; line++)
    {
      char *space = strrchr (*line, ' ');
      g_auto (GStrv) frames = NULL;
      FlamStackId stack = FLAM_NONE;

      if (space == NULL)
        continue;
      *space = '\0';
      frames = g_strsplit (*line, ";", -1);
      for (char **frame = frames; *frame != NULL; frame++)
        stack =
            flam_builder_stack (builder, stack, add_frame (builder, *frame));
      add_sample (builder, stack, g_ascii_strtoll (space + 1, NULL, 10));
    }
  return finish (builder);
}

FlamTree *
flam_test_tree_of (FlamProfile *profile, FlamTreeOrder order)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (GError) error = NULL;
  FlamTree *tree;

  weights = flam_weights_new (profile, selection, NULL, &error);
  g_assert_no_error (error);
  tree = flam_tree_new (weights, selection, order, NULL, &error);
  g_assert_no_error (error);
  return tree;
}

FlamTree *
flam_test_tree (const char *text, FlamTreeOrder order)
{
  g_autoptr (FlamProfile) profile = flam_test_profile (text);

  return flam_test_tree_of (profile, order);
}

/* xorshift: the same on every machine. */
static guint32
next_random (guint32 *state)
{
  guint32 x = *state;

  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  return *state = x;
}

static FlamFrameId
make_function (FlamBuilder *builder, guint i, guint32 *random)
{
  static const char *const spaces[] = { "",          "std::",    "engine::",
                                        "net::io::", "render::", "llvm::" };
  static const char *const verbs[] = { "parse", "visit", "allocate", "fold",
                                       "emit",  "hash",  "resolve",  "drain" };
  static const char *const tails[] = {
    "", "(int)", "<unsigned long>(char*)", "(std::vector<int> const&)"
  };
  static const char suffix[] = "kjpui";
  guint32 dice = next_random (random) % 40;
  g_autofree char *text = NULL;

  text = g_strdup_printf ("%s%s_%u%s@/usr/lib/lib%u.so",
                          spaces[next_random (random) % 6],
                          verbs[next_random (random) % 8],
                          i,
                          tails[next_random (random) % 4],
                          next_random (random) % 12);
  if (dice < 5)
    {
      char *at = strchr (text, '@');
      g_autofree char *kind = g_strdup_printf (
          "%.*s_[%c]%s", (int)(at - text), text, suffix[dice], at);

      return add_frame (builder, kind);
    }
  return add_frame (builder, text);
}

/* A new stack extends an earlier one, more often a late one, so that the tree
 * is both deep and bushy. */
FlamTree *
flam_test_random_tree (guint n_nodes,
                       guint n_functions,
                       guint32 seed,
                       FlamTreeOrder order)
{
  g_autoptr (FlamBuilder) builder = builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autofree FlamFrameId *frames = g_new (FlamFrameId, n_functions);
  g_autofree FlamStackId *stacks = g_new (FlamStackId, n_nodes);
  guint32 random = seed | 1;
  guint n = 1;

  for (guint i = 0; i < n_functions; i++)
    frames[i] = make_function (builder, i, &random);
  stacks[0] = flam_builder_stack (builder, FLAM_NONE, frames[0]);
  add_sample (builder, stacks[0], 1);
  while (n < n_nodes)
    {
      guint32 dice = next_random (&random);
      guint from = dice % 4 == 0 ? next_random (&random) % n
                                 : n - 1 - next_random (&random) % MIN (n, 40);
      FlamFrameId frame = frames[next_random (&random) % n_functions];
      FlamStackId stack = flam_builder_stack (builder, stacks[from], frame);

      add_sample (builder, stack, 1 + (1 << (dice >> 8) % 20));
      stacks[n++] = stack;
    }
  profile = finish (builder);
  return flam_test_tree_of (profile, order);
}

FlamTree *
flam_test_deep_tree (guint depth)
{
  g_autoptr (FlamBuilder) builder = builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  FlamStackId stack = FLAM_NONE;

  for (guint i = 0; i < depth; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%u", i % 7);

      stack = flam_builder_stack (builder, stack, add_frame (builder, name));
    }
  add_sample (builder, stack, 1000);
  profile = finish (builder);
  return flam_test_tree_of (profile, FLAM_ORDER_TOTAL);
}

FlamViewport
flam_test_viewport (const FlamTree *tree, double width, double height)
{
  return (FlamViewport){
    .width = width,
    .height = height,
    .row_height = 10,
    .to = (double)tree->total[0],
    .min_width = 0.5,
    .direction = FLAM_DIRECTION_ICICLE,
  };
}

void
flam_test_assert_layout (const FlamRows *rows,
                         const FlamViewport *viewport,
                         const char *expected)
{
  g_autoptr (FlamLayout) layout = flam_layout_new (rows, viewport);
  g_autofree char *text = flam_dump_layout (rows->tree, layout);

  g_assert_cmpstr (text, ==, expected);
}
