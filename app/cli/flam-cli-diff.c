/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-diff.h"
#include "flam-cli-gates.h"
#include "flam-cli-picture.h"
#include "flam-cli-output.h"
#include "flam-cli-reference.h"

#include "flam-core-picture.h"
#include "flam-formats.h"
#include "flam-location.h"
#include "flam-pages.h"

#include <stdio.h>
#include <string.h>

/* One per side; both are in memory at the same time. */
#define FOLDED_MAX (G_GUINT64_CONSTANT (512) << 20)

typedef struct
{
  const char *path;
  char *name;  /* a display name that distinguishes two ranges of a file */
  char *found; /* the path, if it was found in a folder */
  FlamProfile *profile;
  FlamTree *tree;
  FlamSelection *selection;
} Side;

/* The graph of a comparison has its own order and colors. */
#define DRAWN                                                                  \
  ((FLAM_PICTURE_STYLE_ALL &                                                   \
    ~(FLAM_PICTURE_STYLE_ORDER | FLAM_PICTURE_STYLE_COLORS)) |                 \
   FLAM_PICTURE_STYLE_NOTES | FLAM_PICTURE_STYLE_COUNT_NAME |                  \
   FLAM_PICTURE_STYLE_NEGATE)

/* The options and arguments of the verb. */
typedef struct
{
  char *base_time;
  char *base_thread;
  char *to;
  char *widths;
  char *source; /* of --lines: a file, or the end of its path */
  char *group;  /* of a base that is searched in a folder */
  gboolean lines;
  gboolean changed;
  gboolean by_frame;
  gboolean by_total;
  gboolean by_time;
  gboolean self;
  FlamDiffShape shape;
  FlamCliPicture look;
  FlamCliOutput output;
} Asked;

static void
asked_clear (Asked *asked)
{
  g_free (asked->base_time);
  g_free (asked->base_thread);
  g_free (asked->to);
  g_free (asked->widths);
  g_free (asked->source);
  g_free (asked->group);
  flam_cli_picture_clear (&asked->look);
  flam_cli_output_clear (&asked->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Asked, asked_clear)

static void
side_clear (Side *side)
{
  g_free (side->name);
  g_free (side->found);
  g_clear_pointer (&side->tree, flam_tree_unref);
  g_clear_pointer (&side->selection, flam_selection_free);
  g_clear_pointer (&side->profile, flam_profile_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Side, side_clear)

static gboolean
load_side (Side *side, const char *path, FlamCliOptions *options)
{
  side->path = path;
  side->name = g_path_get_basename (path);
  if (side->profile == NULL)
    side->profile = flam_cli_load (path, options);
  return side->profile != NULL;
}

typedef struct
{
  Side *side;
  const char *path;
  FlamCliOptions options;
} Request;

static gpointer
load_request (gpointer data)
{
  Request *request = data;

  return GINT_TO_POINTER (
      load_side (request->side, request->path, &request->options));
}

/* Servers are asked at the same time: one answer takes most of its time there,
 * on one core of ClickHouse. */
static gboolean
load_both (Side *base, Side *fresh, char **files, FlamCliOptions *options)
{
  Request request = { base, files[0], *options };
  GThread *thread;
  gboolean good;

  request.options.silent = TRUE;
  thread = g_thread_new ("base", load_request, &request);
  good = load_side (fresh, files[1], options);
  return GPOINTER_TO_INT (g_thread_join (thread)) && good;
}

/* If only the other side has a label, this one is not filtered by it. A label
 * that neither has is an error, as everywhere. */
static void
drop_labels (const Side *side,
             const FlamProfile *other,
             FlamSelection *selection)
{
  g_autoptr (FlamSelection) mistaken = flam_selection_copy (selection);
  g_autoptr (GPtrArray) dropped =
      flam_transfer_drop_labels (selection, side->profile);
  g_autoptr (GPtrArray) none = flam_transfer_drop_labels (mistaken, other);

  for (guint i = 0; dropped != NULL && i < dropped->len; i++)
    if (none != NULL && g_ptr_array_find_with_equal_func (
                            none, dropped->pdata[i], g_str_equal, NULL))
      flam_selection_add_label (selection, dropped->pdata[i]);
    else
      g_printerr (_ ("%s: no sample with the label “%s”: compared without that "
                     "filter\n"),
                  side->name,
                  (const char *)dropped->pdata[i]);
}

/* For a file that is itself a difference: the weights before. */
static gboolean
select_before (FlamSelection *selection, const FlamProfile *profile)
{
  int before = flam_transfer_find_before (profile, selection->measure);

  if (before >= 0)
    selection->measure = (guint)before;
  return before >= 0;
}

static FlamExit
select_side (Side *side,
             const FlamProfile *other,
             gboolean before,
             FlamCliOptions *options)
{
  FlamSelection *asked = options->selection;
  g_autoptr (FlamSelection) own = flam_selection_copy (asked);
  g_autoptr (FlamSelection) selection = NULL;
  FlamExit status;

  drop_labels (side, other, own);
  options->selection = own;
  selection = flam_cli_select (options, side->profile, side->path, &status);
  options->selection = asked;
  if (selection == NULL)
    return status;
  if (before && !select_before (selection, side->profile))
    return flam_cli_usage (_ ("diff: to compare one FILE with itself, choose "
                              "the base with --base-time or --base-thread"));
  selection->invert = FALSE;
  side->tree = flam_cli_tree (side->profile, selection);
  side->selection = g_steal_pointer (&selection);
  return FLAM_EXIT_DONE;
}

static void
name_range (Side *side)
{
  g_autofree char *name = side->name;
  gint64 begin = MAX (side->selection->from, 0);
  gint64 length = flam_selection_get_length (side->selection, side->profile);
  g_autofree char *from = flam_format_value (begin, FLAM_UNIT_NS);
  g_autofree char *to = flam_format_value (begin + length, FLAM_UNIT_NS);

  side->name = g_strdup_printf ("%s, %s – %s", name, from, to);
}

/* The base's own range and thread, set only during the selection. */
static FlamExit
select_base (Side *base,
             const Side *fresh,
             gboolean before,
             const Asked *asked,
             FlamCliOptions *options)
{
  g_autofree char *from = g_strdup (options->from);
  g_autofree char *to = g_strdup (options->to);
  GPtrArray *threads = options->threads;
  g_autoptr (GPtrArray) own = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  FlamExit status;

  if (asked->base_time != NULL &&
      !flam_cli_take_range (options, "--base-time", asked->base_time, &error))
    return flam_cli_usage ("diff: %s", error->message);
  if (asked->base_thread != NULL)
    {
      g_ptr_array_add (own, asked->base_thread);
      options->threads = own;
    }
  status = select_side (base, fresh->profile, before, options);
  options->threads = threads;
  g_free (options->from);
  g_free (options->to);
  options->from = g_steal_pointer (&from);
  options->to = g_steal_pointer (&to);
  return status;
}

/* A plain folder of captures, one of which is the base. Some captures are
 * folders themselves. */
static gboolean
is_folder (const char *path)
{
  g_autofree char *file = flam_formats_find_file (path);

  return g_file_test (path, G_FILE_TEST_IS_DIR) && strcmp (file, path) == 0;
}

static gboolean
find_base (Side *base,
           const Side *fresh,
           const char *folder,
           const Asked *asked,
           FlamCliOptions *options)
{
  const FlamCliReference reference = {
    folder, asked->group, fresh->path, fresh->profile
  };

  base->found = flam_cli_reference_find (&reference, options);
  return base->found != NULL;
}

/* The base, and the other side of the comparison: another file, or another part
 * of the same one. */
static FlamExit
load_sides (Side *base,
            Side *fresh,
            char **files,
            const Asked *asked,
            FlamCliOptions *options)
{
  gboolean part = asked->base_time != NULL || asked->base_thread != NULL;
  gboolean before = files[1] == NULL && !part;
  gboolean search = files[1] != NULL && is_folder (files[0]);
  FlamExit status;

  if (asked->group != NULL && !search)
    return flam_cli_usage (
        _ ("diff: --group requires a BASE that is a folder"));
  if (search && (!load_side (fresh, files[1], options) ||
                 !find_base (base, fresh, files[0], asked, options)))
    return FLAM_EXIT_REFUSED;
  if (files[1] != NULL && flam_location_is (files[0]) &&
      flam_location_is (files[1]))
    {
      if (!load_both (base, fresh, files, options))
        return FLAM_EXIT_REFUSED;
    }
  else
    {
      if (!load_side (base, search ? base->found : files[0], options))
        return FLAM_EXIT_REFUSED;
      if (files[1] == NULL)
        fresh->profile = flam_profile_ref (base->profile);
      if (!search &&
          !load_side (fresh, files[1] != NULL ? files[1] : files[0], options))
        return FLAM_EXIT_REFUSED;
    }
  status = select_base (base, fresh, before, asked, options);
  if (status == FLAM_EXIT_DONE)
    status = select_side (fresh, base->profile, FALSE, options);
  if (status != FLAM_EXIT_DONE || asked->base_time == NULL)
    return status;
  name_range (base);
  name_range (fresh);
  return FLAM_EXIT_DONE;
}

/* With the same number of decimals, so that both trees and their differences
 * are exact. */
static gboolean
rescale (Side *base, Side *fresh)
{
  g_autoptr (GError) error = NULL;
  Side *const sides[] = { base, fresh };

  if (!flam_rescale_both (&base->profile,
                          base->selection->measure,
                          &fresh->profile,
                          fresh->selection->measure,
                          &error))
    {
      g_autofree char *why = flam_message_shown (error->message);

      flam_cli_error ("%s, %s: %s", base->path, fresh->path, why);
      return FALSE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    if (sides[i]->tree->profile != sides[i]->profile)
      {
        flam_tree_unref (sides[i]->tree);
        sides[i]->tree = flam_cli_tree (sides[i]->profile, sides[i]->selection);
      }
  return TRUE;
}

/* Reports ranges of different lengths, whether or not the difference is scaled
 * away. Standard output contains only the result. */
static gboolean
find_scale (const Asked *asked,
            const Side *base,
            const Side *fresh,
            FlamDiffScale *scale)
{
  FlamDiffScale lengths = {
    flam_selection_get_length (fresh->selection, fresh->profile),
    flam_selection_get_length (base->selection, base->profile),
  };
  g_autofree char *was = flam_format_value (lengths.from, FLAM_UNIT_NS);
  g_autofree char *is = flam_format_value (lengths.to, FLAM_UNIT_NS);

  *scale = FLAM_DIFF_UNSCALED;
  if (asked->by_total)
    *scale = flam_diff_scale_totals (base->tree, fresh->tree);
  else if (asked->by_time && (lengths.from == 0 || lengths.to == 0))
    {
      flam_cli_error (
          _ ("%s: --normalize-time: the capture does not record its duration"),
          lengths.from == 0 ? base->path : fresh->path);
      return FALSE;
    }
  else if (asked->by_time)
    {
      *scale = lengths;
      g_printerr (_ ("%s: multiplied by %.4g: %s against %s\n"),
                  base->name,
                  (double)lengths.to / (double)lengths.from,
                  is,
                  was);
    }
  else if (asked->base_time != NULL && lengths.from != lengths.to)
    g_printerr (_ ("%s: it lasts %s and the other range %s; --normalize-time "
                   "scales them to the same length\n"),
                base->name,
                was,
                is);
  return TRUE;
}

static void
print_document (const Asked *asked,
                const Side *base,
                const Side *fresh,
                FlamDiffScale scale)
{
  FlamSink *out = asked->output.sink;
  FlamCompared before = { base->name, base->tree };
  FlamCompared now = { fresh->name, fresh->tree };

  if (strcmp (asked->to, "d3") == 0)
    flam_diff_d3 (out,
                  base->tree,
                  fresh->tree,
                  asked->changed ? FLAM_DIFF_CHANGED : FLAM_DIFF_BOTH,
                  asked->self,
                  scale);
  else if (strcmp (asked->to, "html") == 0)
    flam_diff_page (
        out, &before, &now, asked->self, scale, &asked->look.as.look);
  else
    flam_diff_picture (out,
                       &before,
                       &now,
                       asked->shape,
                       asked->self,
                       scale,
                       &asked->look.as.look);
}

static FlamExit
print_folded (const Asked *asked,
              const Side *base,
              const Side *fresh,
              FlamDiffScale scale)
{
  g_autofree char *text = NULL;

  if (flam_dump_paths_size (base->tree, 0) > FOLDED_MAX ||
      flam_dump_paths_size (fresh->tree, 0) > FOLDED_MAX)
    {
      flam_cli_error (_ ("the folded stacks of both captures exceed %d MiB"),
                      (int)(FOLDED_MAX >> 20));
      return FLAM_EXIT_REFUSED;
    }
  text = flam_dump_folded_diff (base->tree, fresh->tree, scale, asked->changed);
  fputs (text, stdout);
  return FLAM_EXIT_DONE;
}

/* NULL after printing that the file does not exist. */
static FlamDiffRow *
compare_lines (const Asked *asked,
               const Side *base,
               const Side *fresh,
               FlamDiffScale scale,
               guint *n)
{
  g_autoptr (FlamWeights) was =
      flam_weights_new (base->profile, base->selection, NULL, NULL);
  g_autoptr (FlamWeights) is =
      flam_weights_new (fresh->profile, fresh->selection, NULL, NULL);
  FlamDiffWeights before = { was, base->selection };
  FlamDiffWeights now = { is, fresh->selection };
  const char *file = NULL;

  if (asked->source != NULL)
    {
      file = flam_lines_find_file (is, fresh->selection, asked->source);
      if (*file == '\0')
        file = flam_lines_find_file (was, base->selection, asked->source);
    }
  if (file != NULL && *file == '\0')
    {
      flam_cli_error (_ ("%s: no code of “%s”"), fresh->path, asked->source);
      return NULL;
    }
  return flam_diff_lines (&before, &now, file, asked->self, scale, n);
}

static FlamExit
print (const Asked *asked,
       const Side *base,
       const Side *fresh,
       FlamDiffScale scale,
       gboolean json)
{
  g_autofree FlamDiffRow *rows = NULL;
  const FlamMeasure measure = flam_tree_measure (fresh->tree);
  guint n;

  if (g_strcmp0 (asked->to, "folded") == 0)
    return print_folded (asked, base, fresh, scale);
  if (asked->to != NULL && strcmp (asked->to, "csv") != 0)
    {
      print_document (asked, base, fresh, scale);
      return FLAM_EXIT_DONE;
    }
  rows = asked->lines ? compare_lines (asked, base, fresh, scale, &n)
                      : flam_diff_functions (
                            base->tree, fresh->tree, asked->self, scale, &n);
  if (rows == NULL)
    return FLAM_EXIT_REFUSED;
  if (json)
    flam_cli_diff_json (&measure, rows, n);
  else if (asked->to != NULL)
    flam_cli_diff_csv (&measure, rows, n, asked->lines);
  else
    flam_cli_diff_text (&measure, rows, n);
  return FLAM_EXIT_DONE;
}

static gboolean
check_gates (FlamGates *gates,
             const Asked *asked,
             const Side *base,
             const Side *fresh,
             FlamDiffScale scale)
{
  const FlamFiguresKeep all = { 0, FALSE };
  g_autoptr (FlamFigures) before = NULL;
  g_autoptr (FlamFigures) now = NULL;

  if (gates->rules->len == 0)
    return TRUE;
  before = flam_figures_new (
      base->path, base->tree->profile, base->selection, &all, NULL, NULL);
  now = flam_figures_new (
      fresh->path, fresh->tree->profile, fresh->selection, &all, NULL, NULL);
  gates->scale = scale;
  gates->self = asked->self;
  return flam_gates_check (gates, before, now);
}

static gboolean
take_widths (Asked *asked)
{
  static const char *const words[] = {
    [FLAM_DIFF_FRESH] = "now",
    [FLAM_DIFF_BASE] = "before",
    [FLAM_DIFF_BOTH] = "both",
  };

  if (asked->changed)
    asked->shape = FLAM_DIFF_CHANGED;
  if (asked->widths == NULL)
    return TRUE;
  for (guint i = 0; i < FLAM_DIFF_CHANGED && !asked->changed; i++)
    if (strcmp (words[i], asked->widths) == 0)
      {
        asked->shape = i;
        return g_strcmp0 (asked->to, "svg") == 0;
      }
  return FALSE;
}

/* FLAM_EXIT_DONE, or the exit status after printing a usage error. */
static FlamExit
check_usage (Asked *asked, const FlamCliOptions *options, char **files)
{
  static const char *const forms[] = { "svg", "html", "folded",
                                       "csv", "d3",   NULL };
  static const char *const of_changes[] = { "svg", "folded", "d3", NULL };
  guint n = g_strv_length (files);
  gboolean drawn;

  if (n > 2)
    return flam_cli_usage ("diff: expected %s", flam_verb_diff.arguments);
  if (asked->by_total && asked->by_time)
    return flam_cli_usage (
        _ ("diff: --normalize and --normalize-time contradict each other"));
  if (asked->to != NULL && !g_strv_contains (forms, asked->to))
    return flam_cli_usage (
        _ ("diff: --to: expected svg, html, folded, csv or d3"));
  if (options->selection->invert && asked->to != NULL &&
      strcmp (asked->to, "csv") != 0)
    return flam_cli_usage (
        _ ("diff: --invert cannot be combined with --to %s, which is top-down"),
        asked->to);
  if (options->selection->by == FLAM_BY_ADDRESS)
    return flam_cli_usage (
        _ ("diff: --by address: addresses of two builds cannot be compared"));
  drawn =
      g_strcmp0 (asked->to, "svg") == 0 || g_strcmp0 (asked->to, "html") == 0;
  if (asked->lines && asked->to != NULL && strcmp (asked->to, "csv") != 0)
    return flam_cli_usage (
        _ ("diff: --lines is a table and cannot be combined with --to %s"),
        asked->to);
  if (asked->source != NULL && !asked->lines)
    return flam_cli_usage (_ ("diff: --source requires --lines"));
  if (asked->by_frame && !drawn)
    return flam_cli_usage (_ ("diff: --by-frame requires --to svg or html"));
  if (asked->by_frame)
    asked->look.as.look.colors.mode = FLAM_PALETTE_CHANGE_SHARE;
  if (asked->changed &&
      (asked->to == NULL || !g_strv_contains (of_changes, asked->to)))
    return flam_cli_usage (
        _ ("diff: --changed requires --to svg, folded or d3"));
  if (!take_widths (asked))
    return flam_cli_usage (
        _ ("diff: --widths: expected now, before or both, with --to svg"));
  return flam_cli_picture_parse (&asked->look,
                                 "diff",
                                 asked->to != NULL ? asked->to : "a table",
                                 drawn ? DRAWN : 0);
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_auto (Side) base = { NULL };
  g_auto (Side) fresh = { NULL };
  g_auto (FlamGates) gates = { NULL };
  g_auto (Asked) asked = { NULL };
  g_autofree GOptionEntry *all = NULL;
  g_auto (GStrv) files = NULL;
  FlamDiffScale scale;
  FlamExit status;
  const GOptionEntry entries[] = {
    { "base-time",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.base_time,
      N_ ("Time range of BASE, if not that of FILE"),
      "FROM..TO" },
    { "base-thread",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.base_thread,
      N_ ("Thread of BASE, if not that of FILE"),
      "TID|NAME|#N" },
    { "lines",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.lines,
      N_ ("Compare source lines, not functions"),
      NULL },
    { "source",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.source,
      N_ ("With --lines: only lines of this file"),
      "PATH" },
    { "group",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.group,
      N_ ("If BASE is a folder: only captures whose paths have the same match"),
      "REGEX" },
    { "widths",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.widths,
      N_ ("Width of the boxes: now, before, both"),
      "SIDE" },
    { "changed",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.changed,
      N_ ("Only stacks whose own cost changed (svg, folded, d3)"),
      NULL },
    { "by-frame",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.by_frame,
      N_ ("Color by the share of each frame's change"),
      NULL },
    { "normalize",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.by_total,
      N_ ("Scale BASE to FILE's total"),
      NULL },
    { "normalize-time",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.by_time,
      N_ ("Scale BASE to the length of FILE's range"),
      NULL },
    { "self",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.self,
      N_ ("Compare self costs, not totals"),
      NULL },
    { "to",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.to,
      N_ ("svg, html, folded, csv or d3"),
      "FORMAT" },
    FLAM_OUTPUT_ENTRIES (asked.output),
    FLAM_GATE_ENTRIES (gates),
    { NULL },
  };

  all = flam_cli_picture_entries (&asked.look, DRAWN, entries);
  if (!flam_cli_parse (&argc,
                       &argv,
                       &flam_verb_diff,
                       options,
                       all,
                       FLAM_CLI_ANY_FILES,
                       &files) ||
      !flam_gates_parse (&gates, "diff"))
    return FLAM_EXIT_USAGE;
  options->report = TRUE;
  /* Gates and pages may be about the others. */
  options->one_measure = gates.rules->len == 0 && asked.to == NULL;
  status = check_usage (&asked, options, files);
  if (status == FLAM_EXIT_DONE)
    status = load_sides (&base, &fresh, files, &asked, options);
  if (status != FLAM_EXIT_DONE)
    return status;
  if (!flam_cli_comparable (base.path, base.tree, fresh.path, fresh.tree) ||
      !rescale (&base, &fresh) || !find_scale (&asked, &base, &fresh, &scale) ||
      !check_gates (&gates, &asked, &base, &fresh, scale) ||
      !flam_cli_output_begin (&asked.output))
    return FLAM_EXIT_REFUSED;
  status = print (&asked, &base, &fresh, scale, options->json);
  if (status != FLAM_EXIT_DONE)
    return status;
  return flam_cli_output_end (&asked.output) ? flam_gates_status (&gates)
                                             : FLAM_EXIT_REFUSED;
}

const FlamVerb flam_verb_diff = { "diff",
                                  "[BASE] FILE",
                                  N_ ("show what changed between two captures"),
                                  run,
                                  TRUE };
