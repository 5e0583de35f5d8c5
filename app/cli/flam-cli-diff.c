/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-gates.h"

#include "flam-diff.h"
#include "flam-dump.h"
#include "flam-format.h"
#include "flam-pages.h"

#include <stdio.h>
#include <string.h>

/* Of each side, all of which is held at once. */
#define FOLDED_MAX (G_GUINT64_CONSTANT (512) << 20)

typedef struct
{
  FlamProfile *profile;
  FlamTree *tree;
  FlamSelection *selection;
} Side;

static void
side_clear (Side *side)
{
  g_clear_pointer (&side->tree, flam_tree_unref);
  g_clear_pointer (&side->selection, flam_selection_free);
  g_clear_pointer (&side->profile, flam_profile_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Side, side_clear)

static FlamExit
load_side (Side *side, const char *path, FlamCliOptions *options)
{
  g_autoptr (FlamSelection) selection = NULL;
  FlamExit status;

  side->profile = flam_cli_load (path, options);
  if (side->profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, side->profile, path, &status);
  if (selection == NULL)
    return status;
  selection->invert = FALSE;
  side->tree = flam_cli_tree (side->profile, selection);
  side->selection = g_steal_pointer (&selection);
  return FLAM_EXIT_DONE;
}

static const FlamMeasure *
measure_of (const Side *side)
{
  return &side->profile->measures[side->tree->measure];
}

static void
print_json (const Side *side, const FlamDiffRow *rows, guint n)
{
  const FlamMeasure *measure = measure_of (side);
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  json_builder_set_member_name (json, "rows");
  json_builder_begin_array (json);
  for (guint i = 0; i < n; i++)
    {
      json_builder_begin_object (json);
      flam_cli_json_string (json, "function", rows[i].name);
      flam_cli_json_weight (json, "base", measure, rows[i].base);
      flam_cli_json_weight (json, "new", measure, rows[i].fresh);
      flam_cli_json_weight (json, "delta", measure, rows[i].delta);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

static void
print_csv (const Side *side, const FlamDiffRow *rows, guint n)
{
  const FlamMeasure *measure = measure_of (side);

  printf ("function,base,new,delta\n");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = flam_format_csv (rows[i].name);
      g_autofree char *base = flam_format_plain (measure, rows[i].base);
      g_autofree char *fresh = flam_format_plain (measure, rows[i].fresh);
      g_autofree char *delta = flam_format_plain (measure, rows[i].delta);

      printf ("%s,%s,%s,%s\n", name, base, fresh, delta);
    }
}

static void
print_text (const Side *side, const FlamDiffRow *rows, guint n)
{
  const FlamMeasure *measure = measure_of (side);

  for (guint i = 0; i < n && rows[i].delta != 0; i++)
    {
      g_autofree char *base = flam_format_weight (measure, rows[i].base);
      g_autofree char *fresh = flam_format_weight (measure, rows[i].fresh);
      g_autofree char *delta =
          flam_format_weight (measure, ABS (rows[i].delta));

      flam_cli_print ("%s%s  %s → %s  %s\n",
                      rows[i].delta > 0 ? "+" : "−",
                      delta,
                      base,
                      fresh,
                      rows[i].name);
    }
}

static int
print_document (const char *to,
                const Side *base,
                const Side *fresh,
                const char *const *files,
                gboolean self,
                gboolean normalize)
{
  FlamSink *out = flam_cli_stdout ();
  g_autofree char *base_name = g_path_get_basename (files[0]);
  g_autofree char *fresh_name = g_path_get_basename (files[1]);
  FlamCompared before = { base_name, base->tree, NULL };
  FlamCompared now = { fresh_name, fresh->tree, NULL };

  if (strcmp (to, "html") == 0)
    flam_diff_page (out, &before, &now, self, normalize);
  else
    flam_diff_picture (out, &before, &now, self, normalize);
  return flam_cli_finish (out, NULL) ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
}

static gboolean
is_document (const char *to)
{
  return strcmp (to, "svg") == 0 || strcmp (to, "html") == 0;
}

static gboolean
check_gates (FlamGates *gates,
             const Side *base,
             const Side *fresh,
             const char *const *files)
{
  FlamGated before = { files[0], base->tree, base->selection };
  FlamGated now = { files[1], fresh->tree, fresh->selection };

  return flam_gates_check (gates, &before, &now);
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_auto (Side) base = { NULL };
  g_auto (Side) fresh = { NULL };
  g_auto (FlamGates) gates = { NULL };
  g_autofree FlamDiffRow *rows = NULL;
  g_autofree char *to = NULL;
  FlamExit status;
  g_auto (GStrv) files = NULL;
  gboolean normalize = FALSE;
  gboolean self = FALSE;
  guint n;
  const GOptionEntry entries[] = {
    { "normalize",
      0,
      0,
      G_OPTION_ARG_NONE,
      &normalize,
      "Scale BASE to FILE's total",
      NULL },
    { "self", 0, 0, G_OPTION_ARG_NONE, &self, "Selves, not totals", NULL },
    { "to",
      0,
      0,
      G_OPTION_ARG_STRING,
      &to,
      "svg, html, folded or csv",
      "FORMAT" },
    FLAM_GATE_ENTRIES (gates),
    { NULL },
  };

  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_diff, options, entries, 2, &files))
    return FLAM_EXIT_USAGE;
  if (!flam_gates_parse (&gates, "diff"))
    return FLAM_EXIT_USAGE;
  if (to != NULL && !is_document (to) && strcmp (to, "folded") != 0 &&
      strcmp (to, "csv") != 0)
    return flam_cli_usage ("diff: --to is svg, html, folded or csv");
  if (options->selection->invert && to != NULL && strcmp (to, "csv") != 0)
    return flam_cli_usage ("diff: --invert: --to %s is top-down", to);
  status = load_side (&base, files[0], options);
  if (status == FLAM_EXIT_DONE)
    status = load_side (&fresh, files[1], options);
  if (status != FLAM_EXIT_DONE)
    return status;
  if (!flam_cli_comparable (files[0], base.tree, files[1], fresh.tree))
    return FLAM_EXIT_REFUSED;
  if (!check_gates (&gates, &base, &fresh, (const char *const *)files))
    return FLAM_EXIT_REFUSED;
  if (to != NULL && is_document (to))
    {
      status = print_document (
          to, &base, &fresh, (const char *const *)files, self, normalize);
      return status != FLAM_EXIT_DONE ? status : flam_gates_status (&gates);
    }
  if (g_strcmp0 (to, "folded") == 0)
    {
      g_autofree char *text = NULL;

      if (flam_dump_paths_size (base.tree, 0) > FOLDED_MAX ||
          flam_dump_paths_size (fresh.tree, 0) > FOLDED_MAX)
        {
          flam_cli_error ("the folded stacks of the two are more than %d MiB",
                          (int)(FOLDED_MAX >> 20));
          return FLAM_EXIT_REFUSED;
        }
      text = flam_diff_folded (base.tree, fresh.tree, normalize);
      fputs (text, stdout);
      return flam_gates_status (&gates);
    }
  rows = flam_diff_functions (base.tree, fresh.tree, self, normalize, &n);
  if (options->json)
    print_json (&fresh, rows, n);
  else if (to != NULL)
    print_csv (&fresh, rows, n);
  else
    print_text (&fresh, rows, n);
  return flam_gates_status (&gates);
}

const FlamVerb flam_verb_diff = {
  "diff", "BASE FILE", "what changed between two captures", run, TRUE
};
