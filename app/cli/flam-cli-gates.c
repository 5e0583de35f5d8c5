/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-gates.h"

#include "flam-core-picture.h"

#include <math.h>
#include <string.h>

typedef struct
{
  double percent; /* maximum growth; < 0: an absolute limit */
  double value;   /* the limit in its measure's unit */
  FlamUnit unit;  /* as typed; a count without a unit fits every measure that
                     counts */
  char *name;     /* a measure or a function; "": the selected measure */
} Rule;

static void
rule_clear (gpointer data)
{
  g_free (((Rule *)data)->name);
}

void
flam_gates_clear (FlamGates *gates)
{
  g_clear_pointer (&gates->above, g_strfreev);
  g_clear_pointer (&gates->limits, g_strfreev);
  g_clear_pointer (&gates->rules, g_array_unref);
}

/* --- checks of the input ------------------------------------------------- */

static gboolean
parse_above (const char *text, Rule *rule)
{
  char *end;

  rule->percent = g_ascii_strtod (text, &end);
  if (end == text || !(rule->percent >= 0 && rule->percent <= 1e9))
    return FALSE;
  end += *end == '%';
  rule->name = g_strdup (*end == ':' ? end + 1 : end);
  return *end == '\0' || (*end == ':' && end[1] != '\0');
}

/* "200MB", "1.5s", "1000": in ns, bytes or without a unit. */
static gboolean
parse_value (const char *text, Rule *rule)
{
  static const struct
  {
    const char *name;
    FlamUnit unit;
    double scale;
  } units[] = {
    { "", FLAM_UNIT_COUNT, 1 },          { "ns", FLAM_UNIT_NS, 1 },
    { "us", FLAM_UNIT_NS, 1e3 },         { "µs", FLAM_UNIT_NS, 1e3 },
    { "ms", FLAM_UNIT_NS, 1e6 },         { "s", FLAM_UNIT_NS, 1e9 },
    { "B", FLAM_UNIT_BYTES, 1 },         { "kB", FLAM_UNIT_BYTES, 1e3 },
    { "MB", FLAM_UNIT_BYTES, 1e6 },      { "GB", FLAM_UNIT_BYTES, 1e9 },
    { "KiB", FLAM_UNIT_BYTES, 1 << 10 }, { "MiB", FLAM_UNIT_BYTES, 1 << 20 },
    { "GiB", FLAM_UNIT_BYTES, 1 << 30 },
  };
  char *end;

  rule->value = g_ascii_strtod (text, &end);
  if (end == text || !(rule->value >= 0 && rule->value <= 1e18))
    return FALSE;
  end += *end == ' ';
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (end, units[i].name) == 0)
      {
        rule->value *= units[i].scale;
        rule->unit = units[i].unit;
        return TRUE;
      }
  return FALSE;
}

static gboolean
parse_limit (const char *text, Rule *rule)
{
  const char *sign = strrchr (text, '=');

  rule->percent = -1;
  if (sign == NULL || sign == text)
    return FALSE;
  rule->name = g_strndup (text, (gsize)(sign - text));
  return parse_value (sign + 1, rule);
}

static gboolean
parse_rules (FlamGates *gates,
             const char *verb,
             char **texts,
             const char *option,
             gboolean (*parse) (const char *, Rule *),
             const char *want)
{
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      Rule rule = { 0 };
      gboolean good = parse (texts[i], &rule);

      g_array_append_val (gates->rules, rule);
      if (!good)
        {
          flam_cli_usage (
              "%s: --%s %s: expected %s", verb, option, texts[i], want);
          return FALSE;
        }
    }
  return TRUE;
}

gboolean
flam_gates_parse (FlamGates *gates, const char *verb)
{
  gates->rules = g_array_new (FALSE, TRUE, sizeof (Rule));
  g_array_set_clear_func (gates->rules, rule_clear);
  return parse_rules (gates,
                      verb,
                      gates->above,
                      "fail-above",
                      parse_above,
                      "PERCENT[:MEASURE|:FUNCTION]") &&
         parse_rules (gates,
                      verb,
                      gates->limits,
                      "limit",
                      parse_limit,
                      N_ ("MEASURE=VALUE, such as peak=200MB"));
}

/* --- amounts ------------------------------------------------------------- */

typedef struct
{
  const FlamFiguresMeasure *of;
  gint64 weight;
  gboolean found;
} Amount;

/* A measure with that name, otherwise the function. */
static Amount
amount_of (const FlamGates *gates, const FlamFigures *side, const char *name)
{
  const FlamFiguresMeasure *selected = flam_figures_selected (side);
  const FlamFiguresMeasure *measure = flam_figures_find (side, name);
  const FlamFiguresFunction *function =
      flam_figures_find_function (selected, name);

  if (*name == '\0')
    return (Amount){ selected, selected->left, TRUE };
  if (measure != NULL)
    return (Amount){ measure, measure->total, TRUE };
  if (function == NULL)
    return (Amount){ selected, 0, FALSE };
  return (
      Amount){ selected, gates->self ? function->self : function->total, TRUE };
}

/* --- the table ----------------------------------------------------------- */

static void
say (FlamGates *gates, const char *path, const char *name, const char *what)
{
  g_autofree char *visible_path = flam_format_visible (path);
  g_autofree char *visible_name = flam_format_visible (name);

  if (gates->broken++ == 0)
    g_printerr ("broken gates:\n");
  g_printerr ("  %s  %s  %s\n", visible_path, visible_name, what);
}

static const char *
name_of (const Rule *rule, const Amount *amount)
{
  return *rule->name != '\0' ? rule->name : amount->of->id;
}

static void
check_limit (FlamGates *gates,
             const Rule *rule,
             const FlamFigures *fresh,
             const Amount *now)
{
  double value = (double)now->weight / (double)now->of->measure.denominator;
  g_autofree char *is = flam_format_weight (&now->of->measure, now->weight);
  g_autofree char *limit = flam_format_weight (
      &now->of->measure,
      (gint64)MIN (rule->value * (double)now->of->measure.denominator, 9e18));
  g_autofree char *text = g_strdup_printf ("%s, limit %s", is, limit);

  if (value > rule->value)
    say (gates, fresh->name, rule->name, text);
}

static void
check_growth (FlamGates *gates,
              const Rule *rule,
              const FlamFigures *base,
              const FlamFigures *fresh,
              const Amount *now)
{
  Amount before = amount_of (gates, base, rule->name);
  gint64 scaled = gates->scale.from != 0
                      ? flam_diff_scaled (before.weight, gates->scale)
                      : before.weight;
  double was = (double)scaled / (double)before.of->measure.denominator;
  double is = (double)now->weight / (double)now->of->measure.denominator;
  double grown = was > 0 ? 100 * (is - was) / was : is > 0 ? INFINITY : 0;
  g_autofree char *then = flam_format_weight (&before.of->measure, scaled);
  g_autofree char *after = flam_format_weight (&now->of->measure, now->weight);
  g_autofree char *share =
      isinf (grown) ? g_strdup ("new") : g_strdup_printf ("+%.1f %%", grown);
  g_autofree char *text = g_strdup_printf (
      "%s → %s, %s, limit +%g %%", then, after, share, rule->percent);

  if (grown > rule->percent)
    say (gates, fresh->name, name_of (rule, now), text);
}

gboolean
flam_gates_check (FlamGates *gates,
                  const FlamFigures *base,
                  const FlamFigures *fresh)
{
  for (guint i = 0; i < gates->rules->len; i++)
    {
      const Rule *rule = &g_array_index (gates->rules, Rule, i);
      gboolean limit = rule->percent < 0;
      Amount now = amount_of (gates, fresh, rule->name);
      gboolean known = now.found;

      if (!known && base != NULL && !limit)
        known = amount_of (gates, base, rule->name).found;
      if (!known && (base != NULL || limit))
        {
          flam_cli_error (limit ? _ ("%s: no measure “%s”")
                                : _ ("%s: no measure and no function “%s”"),
                          fresh->name,
                          rule->name);
          return FALSE;
        }
      if (limit && rule->unit != FLAM_UNIT_COUNT &&
          rule->unit != now.of->measure.unit)
        {
          flam_cli_error (_ ("%s: --limit: “%s” has another unit"),
                          fresh->name,
                          rule->name);
          return FALSE;
        }
      if (limit)
        check_limit (gates, rule, fresh, &now);
      else if (base != NULL)
        check_growth (gates, rule, base, fresh, &now);
    }
  return TRUE;
}

FlamExit
flam_gates_status (const FlamGates *gates)
{
  return gates->broken > 0 ? FLAM_EXIT_BROKEN : FLAM_EXIT_DONE;
}
