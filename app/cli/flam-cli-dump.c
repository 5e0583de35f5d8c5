/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-core-picture.h"

#include <string.h>

/* The stages that a picture goes through, each as text. The first stage with a
 * wrong text contains the cause of a wrong pixel. */

#define WIDTH 1200

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  int width;
  gboolean icicle;
  FlamShape shape;
} Stage;

static char *
dump_profile (const Stage *stage)
{
  return flam_dump_profile (stage->profile);
}

static char *
dump_weights (const Stage *stage)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (stage->profile, stage->selection, NULL, NULL);

  return flam_dump_weights (weights, stage->selection);
}

static char *
dump_tree (const Stage *stage)
{
  g_autoptr (FlamTree) tree = flam_cli_tree (stage->profile, stage->selection);

  return flam_dump_tree (tree);
}

static char *
dump_layout (const Stage *stage)
{
  g_autoptr (FlamTree) tree = flam_cli_tree (stage->profile, stage->selection);
  g_autoptr (FlamRows) rows = flam_rows_new (tree);
  FlamViewport viewport = {
    .shape = stage->shape,
    .width = stage->width,
    .height = flam_picture_row_height (0),
    .row_height = flam_picture_row_height (0),
    .to = (double)tree->total[0],
    .min_width = 0.5,
    .direction = stage->icicle ? FLAM_DIRECTION_ICICLE : FLAM_DIRECTION_FLAME,
  };
  g_autoptr (FlamLayout) layout = NULL;

  viewport.height =
      stage->shape == FLAM_SHAPE_FLAME
          ? (double)flam_layout_n_rows (rows, &viewport) *
                flam_picture_row_height (0)
          : flam_picture_style_height (stage->shape, stage->width);
  layout = flam_layout_new (rows, &viewport);
  return flam_dump_layout (tree, layout);
}

/* "": the capture has no times or no samples. */
static char *
dump_chart (const Stage *stage)
{
  g_autoptr (FlamChart) chart =
      flam_chart_new (stage->profile, stage->selection, NULL, NULL);

  return chart != NULL ? flam_chart_dump (chart) : g_strdup ("");
}

static const struct
{
  const char *name;
  char *(*dump) (const Stage *stage);
} stages[] = {
  { "profile", dump_profile }, { "weights", dump_weights },
  { "tree", dump_tree },       { "layout", dump_layout },
  { "chart", dump_chart },
};

static gboolean
find_stage (const char *name, guint *index)
{
  for (*index = 0; *index < G_N_ELEMENTS (stages); (*index)++)
    if (g_strcmp0 (name, stages[*index].name) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
parse_direction (const char *word, gboolean *icicle)
{
  *icicle = g_strcmp0 (word, "icicle") == 0;
  return word == NULL || *icicle || strcmp (word, "flame") == 0;
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  g_autofree char *name = NULL;
  g_autofree char *direction = NULL;
  g_autofree char *shape = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) files = NULL;
  Stage stage = { .width = WIDTH };
  FlamExit status;
  FlamSink *out;
  guint index;
  const GOptionEntry entries[] = {
    { "stage",
      0,
      0,
      G_OPTION_ARG_STRING,
      &name,
      N_ ("profile, weights, tree, layout or chart"),
      "STAGE" },
    { "width",
      0,
      0,
      G_OPTION_ARG_INT,
      &stage.width,
      N_ ("Width of the layout in pixels (1200)"),
      "N" },
    { "direction",
      0,
      0,
      G_OPTION_ARG_STRING,
      &direction,
      N_ ("Direction of the layout: flame (default) or icicle"),
      "HOW" },
    { "shape",
      0,
      0,
      G_OPTION_ARG_STRING,
      &shape,
      N_ ("Shape of the layout: flame (default), sunburst or treemap"),
      "SHAPE" },
    { NULL },
  };

  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_dump, options, entries, 1, &files))
    return FLAM_EXIT_USAGE;
  if (!find_stage (name, &index))
    return flam_cli_usage (
        _ ("dump: --stage: expected profile, weights, tree, layout or chart"));
  if (!parse_direction (direction, &stage.icicle))
    return flam_cli_usage (_ ("dump: --direction: expected flame or icicle"));
  if (shape != NULL && !flam_shape_from_string (shape, &stage.shape))
    return flam_cli_usage (
        _ ("dump: --shape: expected flame, sunburst or treemap"));
  if (stage.width < 1)
    return flam_cli_usage (_ ("dump: --width: expected at least 1"));
  options->in_order = stages[index].dump == dump_chart;
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  /* A capture without a measure has no weights to select, but can be dumped. */
  if (stages[index].dump != dump_profile)
    {
      selection = flam_cli_select (options, profile, files[0], &status);
      if (selection == NULL)
        return status;
    }
  stage.profile = profile;
  stage.selection = selection;
  text = stages[index].dump (&stage);
  out = flam_cli_stdout ();
  flam_sink_put (out, text);
  return flam_cli_finish (out, NULL) ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
}

const FlamVerb flam_verb_dump = {
  "dump",
  "FILE --stage STAGE",
  N_ ("print a stage between capture and picture as text"),
  run
};
