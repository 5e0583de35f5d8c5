/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-gates.h"
#include "flam-cli-look.h"

#include "flam-carry.h"
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
  const char *path;
  char *name; /* for people: two ranges of a file are told apart */
  FlamProfile *profile;
  FlamTree *tree;
  FlamSelection *selection;
} Side;

/* The graph of a comparison has its own order and colors. */
#define DRAWN                                                                  \
  ((FLAM_LOOK_PICTURE & ~(FLAM_LOOK_ORDER | FLAM_LOOK_COLORS)) |               \
   FLAM_LOOK_NOTES | FLAM_LOOK_COUNT_NAME | FLAM_LOOK_NEGATE)

/* What the verb was asked for. */
typedef struct
{
  char *base_time;
  char *to;
  gboolean by_total;
  gboolean by_time;
  gboolean self;
  FlamCliLook look;
} Asked;

static void
asked_clear (Asked *asked)
{
  g_free (asked->base_time);
  g_free (asked->to);
  flam_cli_look_clear (&asked->look);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Asked, asked_clear)

static void
side_clear (Side *side)
{
  g_free (side->name);
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

/* A label that only the other side has: this one is taken without that filter.
 * What none of them has is a mistake, as everywhere. */
static void
drop_labels (const Side *side,
             const FlamProfile *other,
             FlamSelection *selection)
{
  g_autoptr (FlamSelection) mistaken = flam_selection_copy (selection);
  g_autoptr (GPtrArray) dropped =
      flam_carry_drop_labels (selection, side->profile);
  g_autoptr (GPtrArray) none = flam_carry_drop_labels (mistaken, other);

  for (guint i = 0; dropped != NULL && i < dropped->len; i++)
    if (none != NULL && g_ptr_array_find_with_equal_func (
                            none, dropped->pdata[i], g_str_equal, NULL))
      flam_selection_add_label (selection, dropped->pdata[i]);
    else
      g_printerr (_ ("%s: no sample has the label %s: compared without that "
                     "filter\n"),
                  side->name,
                  (const char *)dropped->pdata[i]);
}

static FlamExit
select_side (Side *side, const FlamProfile *other, FlamCliOptions *options)
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

/* The base, and what is compared with it: another file, or another range of
 * the same one. */
static FlamExit
load_sides (Side *base,
            Side *fresh,
            char **files,
            const char *base_time,
            FlamCliOptions *options)
{
  g_autofree char *from = g_strdup (options->from);
  g_autofree char *to = g_strdup (options->to);
  g_autoptr (GError) error = NULL;
  FlamExit status;

  if (base_time != NULL &&
      !flam_cli_take_range (options, "--base-time", base_time, &error))
    return flam_cli_usage ("diff: %s", error->message);
  if (!load_side (base, files[0], options))
    return FLAM_EXIT_REFUSED;
  if (files[1] == NULL)
    fresh->profile = flam_profile_ref (base->profile);
  if (!load_side (fresh, files[1] != NULL ? files[1] : files[0], options))
    return FLAM_EXIT_REFUSED;
  status = select_side (base, fresh->profile, options);
  if (status != FLAM_EXIT_DONE)
    return status;
  g_free (options->from);
  g_free (options->to);
  options->from = g_steal_pointer (&from);
  options->to = g_steal_pointer (&to);
  status = select_side (fresh, base->profile, options);
  if (status != FLAM_EXIT_DONE || base_time == NULL)
    return status;
  name_range (base);
  name_range (fresh);
  return FLAM_EXIT_DONE;
}

/* Ranges that are not as long as one another are said to be so, whether that
 * is made up for or not; standard output holds the result alone. */
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
      flam_cli_error (_ ("%s: --normalize-time: the capture does not say how "
                         "long it lasted"),
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
    g_printerr (_ ("%s: it is %s, and the other range %s; --normalize-time "
                   "makes up for that\n"),
                base->name,
                was,
                is);
  return TRUE;
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

static FlamExit
print_document (const Asked *asked,
                const Side *base,
                const Side *fresh,
                FlamDiffScale scale)
{
  FlamSink *out = flam_cli_stdout ();
  FlamCompared before = { base->name, base->tree, NULL };
  FlamCompared now = { fresh->name, fresh->tree, NULL };

  if (strcmp (asked->to, "html") == 0)
    flam_diff_page (out, &before, &now, asked->self, scale, &asked->look.look);
  else
    flam_diff_picture (
        out, &before, &now, asked->self, scale, &asked->look.look);
  return flam_cli_finish (out, NULL) ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
}

static FlamExit
print_folded (const Side *base, const Side *fresh, FlamDiffScale scale)
{
  g_autofree char *text = NULL;

  if (flam_dump_paths_size (base->tree, 0) > FOLDED_MAX ||
      flam_dump_paths_size (fresh->tree, 0) > FOLDED_MAX)
    {
      flam_cli_error (_ ("the folded stacks of the two are more than %d MiB"),
                      (int)(FOLDED_MAX >> 20));
      return FLAM_EXIT_REFUSED;
    }
  text = flam_diff_folded (base->tree, fresh->tree, scale);
  fputs (text, stdout);
  return FLAM_EXIT_DONE;
}

static FlamExit
print (const Asked *asked,
       const Side *base,
       const Side *fresh,
       FlamDiffScale scale,
       gboolean json)
{
  g_autofree FlamDiffRow *rows = NULL;
  guint n;

  if (g_strcmp0 (asked->to, "folded") == 0)
    return print_folded (base, fresh, scale);
  if (asked->to != NULL && strcmp (asked->to, "csv") != 0)
    return print_document (asked, base, fresh, scale);
  rows = flam_diff_functions (base->tree, fresh->tree, asked->self, scale, &n);
  if (json)
    print_json (fresh, rows, n);
  else if (asked->to != NULL)
    print_csv (fresh, rows, n);
  else
    print_text (fresh, rows, n);
  return FLAM_EXIT_DONE;
}

static gboolean
check_gates (FlamGates *gates, const Side *base, const Side *fresh)
{
  FlamGated before = { base->path, base->tree, base->selection };
  FlamGated now = { fresh->path, fresh->tree, fresh->selection };

  return flam_gates_check (gates, &before, &now);
}

/* FLAM_EXIT_DONE, or what is wrong with the usage after printing it. */
static FlamExit
check_usage (Asked *asked, const FlamCliOptions *options, char **files)
{
  static const char *const forms[] = { "svg", "html", "folded", "csv", NULL };
  guint n = g_strv_length (files);
  gboolean drawn;

  if (n > 2)
    return flam_cli_usage ("diff: expected %s", flam_verb_diff.arguments);
  if (n == 1 && asked->base_time == NULL)
    return flam_cli_usage (
        _ ("diff: one FILE is compared with itself: --base-time says which "
           "range of it is the base"));
  if (asked->by_total && asked->by_time)
    return flam_cli_usage (
        _ ("diff: --normalize and --normalize-time contradict each other"));
  if (asked->to != NULL && !g_strv_contains (forms, asked->to))
    return flam_cli_usage (_ ("diff: --to is svg, html, folded or csv"));
  if (options->selection->invert && asked->to != NULL &&
      strcmp (asked->to, "csv") != 0)
    return flam_cli_usage (_ ("diff: --invert: --to %s is top-down"),
                           asked->to);
  if (options->selection->by == FLAM_BY_ADDRESS)
    return flam_cli_usage (_ ("diff: --by address: an address of one build is "
                              "none of another's"));
  drawn =
      g_strcmp0 (asked->to, "svg") == 0 || g_strcmp0 (asked->to, "html") == 0;
  return flam_cli_look_parse (&asked->look,
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
      N_ ("The range of BASE, where it is not that of FILE"),
      "FROM..TO" },
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
      N_ ("Scale BASE to how long FILE's range is"),
      NULL },
    { "self",
      0,
      0,
      G_OPTION_ARG_NONE,
      &asked.self,
      N_ ("Selves, not totals"),
      NULL },
    { "to",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.to,
      N_ ("svg, html, folded or csv"),
      "FORMAT" },
    FLAM_GATE_ENTRIES (gates),
    { NULL },
  };

  all = flam_cli_look_entries (&asked.look, DRAWN, entries);
  if (!flam_cli_parse (&argc,
                       &argv,
                       &flam_verb_diff,
                       options,
                       all,
                       FLAM_CLI_ANY_FILES,
                       &files) ||
      !flam_gates_parse (&gates, "diff"))
    return FLAM_EXIT_USAGE;
  status = check_usage (&asked, options, files);
  if (status == FLAM_EXIT_DONE)
    status = load_sides (&base, &fresh, files, asked.base_time, options);
  if (status != FLAM_EXIT_DONE)
    return status;
  if (!flam_cli_comparable (base.path, base.tree, fresh.path, fresh.tree) ||
      !find_scale (&asked, &base, &fresh, &scale) ||
      !check_gates (&gates, &base, &fresh))
    return FLAM_EXIT_REFUSED;
  status = print (&asked, &base, &fresh, scale, options->json);
  return status != FLAM_EXIT_DONE ? status : flam_gates_status (&gates);
}

const FlamVerb flam_verb_diff = {
  "diff", "[BASE] FILE", N_ ("what changed between two captures"), run, TRUE
};
