/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-format.h"

#include <math.h>
#include <string.h>

/* Three significant digits: 1.23, 12.3, 123. */
static char *
three_digits (double value, const char *unit)
{
  int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

  return g_strdup_printf ("%.*f\u00a0%s", decimals, value, unit);
}

static char *
format_scaled (gint64 value, const char *const *units, guint n_units)
{
  double scaled = fabs ((double)value);
  const char *sign = value < 0 ? "−" : "";
  g_autofree char *text = NULL;
  guint unit = 0;

  while (unit + 1 < n_units && scaled >= 999.5)
    {
      scaled /= 1000;
      unit++;
    }
  text = unit == 0 ? g_strdup_printf (*units[0] ? "%.0f\u00a0%s" : "%.0f%s",
                                      scaled,
                                      units[0])
                   : three_digits (scaled, units[unit]);
  return g_strconcat (sign, text, NULL);
}

static char *
format_time (gint64 ns)
{
  static const char *const units[] = { "ns", "µs", "ms", "s" };
  double minutes = fabs ((double)ns / 6e10);
  g_autofree char *text = NULL;

  if (minutes < 10)
    return format_scaled (ns, units, G_N_ELEMENTS (units));
  text = three_digits (minutes, "min");
  return g_strconcat (ns < 0 ? "−" : "", text, NULL);
}

static char *
format_count (gint64 count)
{
  char digits[24];
  GString *text = g_string_new (count < 0 ? "−" : NULL);
  gsize n;

  g_snprintf (digits,
              sizeof digits,
              "%" G_GUINT64_FORMAT,
              count < 0 ? -(guint64)count : (guint64)count);
  n = strlen (digits);
  for (gsize i = 0; i < n; i++)
    {
      if (i > 0 && (n - i) % 3 == 0)
        g_string_append (text, "\u202f");
      g_string_append_c (text, digits[i]);
    }
  return g_string_free (text, FALSE);
}

/* Like 12.5 or 0.034, and whole numbers from 1,000 on. */
static char *
format_thousandths (gint64 value)
{
  double number = fabs ((double)value / 1000);
  int decimals = number < 0.9995  ? 3
                 : number < 9.995 ? 2
                 : number < 999.5 ? 1
                                  : 0;
  g_autofree char *text = NULL;

  if (decimals == 0)
    return format_count (value / 1000);
  text = g_strdup_printf ("%.*f", decimals, number);
  return g_strconcat (value < 0 ? "−" : "", text, NULL);
}

char *
flam_format_thousandths (gint64 value)
{
  guint64 whole = value < 0 ? -(guint64)value : (guint64)value;
  guint rest = (guint)(whole % 1000);
  g_autofree char *decimals =
      rest % 100 == 0  ? g_strdup_printf (".%u", rest / 100)
      : rest % 10 == 0 ? g_strdup_printf (".%02u", rest / 10)
                       : g_strdup_printf (".%03u", rest);

  return g_strdup_printf ("%s%" G_GUINT64_FORMAT "%s",
                          value < 0 ? "-" : "",
                          whole / 1000,
                          rest == 0 ? "" : decimals);
}

char *
flam_format_value (gint64 value, FlamUnit unit)
{
  static const char *const bytes[] = { "B", "kB", "MB", "GB", "TB", "PB" };

  switch (unit)
    {
    case FLAM_UNIT_NS:
      return format_time (value);
    case FLAM_UNIT_BYTES:
      return format_scaled (value, bytes, G_N_ELEMENTS (bytes));
    case FLAM_UNIT_THOUSANDTHS:
      return format_thousandths (value);
    case FLAM_UNIT_COUNT:
    case FLAM_N_UNITS:
      break;
    }
  return format_count (value);
}

char *
flam_format_moment (FlamClock clock, gint64 moment)
{
  static const char *const powers[] = { "", "k", "M", "G", "T", "P" };
  g_autofree char *text = NULL;

  switch (clock)
    {
    case FLAM_CLOCK_BYTES:
      return flam_format_value (moment, FLAM_UNIT_BYTES);
    case FLAM_CLOCK_INSTRUCTIONS:
      text = format_scaled (moment, powers, G_N_ELEMENTS (powers));
      /* Translators: a moment, as the number of instructions that the program
       * has executed, such as "2.36 M" */
      return g_strdup_printf (_ ("%s instructions"), g_strchomp (text));
    case FLAM_CLOCK_TIME:
      break;
    }
  return flam_format_value (moment, FLAM_UNIT_NS);
}

char *
flam_format_weight (const FlamMeasure *measure, gint64 weight)
{
  gint64 whole = weight / measure->denominator;

  if (weight % measure->denominator != 0 && ABS (whole) < 1000)
    return g_strdup_printf ("%s%.3g",
                            weight < 0 ? "−" : "",
                            fabs ((double)weight / measure->denominator));
  return flam_format_value (whole, measure->unit);
}

char *
flam_format_power (gint64 size)
{
  static const char *const units[] = { "B",   "KiB", "MiB", "GiB",
                                       "TiB", "PiB", "EiB" };
  guint unit = 0;

  while (size >= 1024 && size % 1024 == 0)
    {
      size /= 1024;
      unit++;
    }
  return size < 1024 ? g_strdup_printf ("%d\u00a0%s", (int)size, units[unit])
                     : flam_format_value (size << (10 * unit), FLAM_UNIT_BYTES);
}

static gboolean figures_are_marked;

void
flam_format_mark_figures (gboolean marked)
{
  figures_are_marked = marked;
}

/* Between a letter and a mark from left to right, all of it is. Without them,
 * the space would separate the sign from the number, which then changes
 * sides. */
char *
flam_format_percent_of (const char *number)
{
  const char *mark = figures_are_marked ? "\u200e" : "";

  return g_strdup_printf ("%s%s\u00a0%%%s", mark, number, mark);
}

char *
flam_format_change (gint64 delta, const char *figure)
{
  const char *mark = figures_are_marked ? "\u200e" : "";

  return g_strconcat (mark,
                      delta > 0   ? "+"
                      : delta < 0 ? "−"
                                  : "",
                      figure,
                      mark,
                      NULL);
}

char *
flam_format_percent (gint64 part, gint64 whole)
{
  double percent = whole == 0 ? 0 : 100.0 * part / whole;
  g_autofree char *number = NULL;

  if (part != 0 && fabs (percent) < 0.1)
    number = g_strdup_printf ("<\u00a0%.1f", 0.1);
  else if (percent == 0)
    number = g_strdup ("0");
  else
    number = g_strdup_printf ("%s%.1f", percent < 0 ? "−" : "", fabs (percent));
  return flam_format_percent_of (number);
}

/* Takes ownership of both. */
static char *
join_error (const FlamEstimate *estimate, char *text, char *error)
{
  g_autofree char *own_text = text;
  g_autofree char *own_error = error;

  if (!estimate->sampled)
    return g_steal_pointer (&own_text);
  if (flam_estimate_is_few (estimate))
    /* Translators: an amount of memory, and from how many sampled allocations
     * it was derived */
    return g_strdup_printf (g_dngettext ("flambeau",
                                         "%s (%d sample)",
                                         "%s (%d samples)",
                                         (gulong)estimate->samples),
                            own_text,
                            (int)estimate->samples);
  return g_strdup_printf ("%s ± %s", own_text, own_error);
}

char *
flam_format_estimate (const FlamEstimate *estimate, gint64 value, FlamUnit unit)
{
  g_autofree char *most = NULL;

  if (value == 0 && estimate->sampled && !flam_estimate_is_few (estimate))
    {
      most = flam_format_value (estimate->error, unit);
      return g_strdup_printf ("≤ %s", most);
    }
  /* Values have three digits. */
  if (estimate->error < ABS (value) / 2000)
    return flam_format_value (value, unit);
  return join_error (estimate,
                     flam_format_value (value, unit),
                     flam_format_value (estimate->error, unit));
}

char *
flam_format_with_error (const FlamEstimate *estimate,
                        gint64 value,
                        FlamUnit unit)
{
  return flam_estimate_is_few (estimate)
             ? flam_format_value (value, unit)
             : flam_format_estimate (estimate, value, unit);
}

char *
flam_format_from_few (char *text, const FlamEstimate *estimate)
{
  g_autofree char *own = text;

  if (!flam_estimate_is_few (estimate))
    return g_steal_pointer (&own);
  /* Translators: figures of memory, and from how many sampled allocations they
   * were derived */
  return g_strdup_printf (g_dngettext ("flambeau",
                                       "%s, from %d sample",
                                       "%s, from %d samples",
                                       (gulong)estimate->samples),
                          text,
                          (int)estimate->samples);
}

/* A share with its error, which is in the unit of the parts. */
static char *
format_share (const FlamEstimate *estimate, gint64 part, gint64 whole)
{
  g_autofree char *most = NULL;

  if (part == 0 && estimate->sampled && !flam_estimate_is_few (estimate))
    {
      most = flam_format_percent (MIN (estimate->error, whole), whole);
      return g_strdup_printf ("≤ %s", most);
    }
  return join_error (estimate,
                     flam_format_percent (part, whole),
                     flam_format_percent (estimate->error, whole));
}

char *
flam_format_estimated (const FlamEstimate *estimate,
                       const FlamMeasure *measure,
                       gint64 weight)
{
  return estimate->sampled
             ? flam_format_estimate (estimate, weight, measure->unit)
             : flam_format_weight (measure, weight);
}

char *
flam_format_figure (const FlamFacts *facts,
                    const FlamMeasure *measure,
                    FlamFigure figure)
{
  FlamEstimate estimate = flam_estimate_of_figure (facts, measure, figure);

  return flam_format_estimated (&estimate, measure, figure.weight);
}

char *
flam_format_self (const FlamTree *tree, const FlamFunctionRow *row)
{
  const FlamMeasure measure = flam_tree_measure (tree);

  return flam_format_figure (
      &tree->profile->facts, &measure, flam_functions_self (tree, row));
}

char *
flam_format_total (const FlamTree *tree, const FlamFunctionRow *row)
{
  const FlamMeasure measure = flam_tree_measure (tree);

  return flam_format_figure (
      &tree->profile->facts, &measure, flam_functions_total (tree, row));
}

char *
flam_format_whole (const FlamTree *tree)
{
  const FlamFunctionRow row = flam_functions_row_of_node (tree, 0);

  return flam_format_total (tree, &row);
}

char *
flam_format_amounts (const FlamMemorySummary *memory,
                     const FlamAmounts *amounts,
                     FlamMemoryColumn column)
{
  gboolean bytes;
  const FlamMemoryPart part = flam_memory_column_part (column, &bytes);
  const FlamAmount *amount = &amounts->part[part];
  FlamEstimate estimate;

  if (column == FLAM_MEMORY_COLUMN_TEMPORARY)
    {
      estimate = flam_amounts_churn_estimate (memory, amounts);
      return format_share (&estimate,
                           amount->blocks,
                           amounts->part[FLAM_MEMORY_ALLOCATED].blocks);
    }
  estimate = flam_amounts_estimate (memory, amounts, part, bytes);
  return flam_format_estimate (&estimate,
                               bytes ? amount->bytes : amount->blocks,
                               bytes ? FLAM_UNIT_BYTES : FLAM_UNIT_COUNT);
}

char *
flam_format_states (const FlamStateSplit *split)
{
  GString *text = g_string_new (NULL);
  gint64 total = 0;
  guint done = 0;

  for (guint i = 0; i < FLAM_N_STATES; i++)
    total += split->weight[i];
  for (guint n = 0; n < FLAM_N_STATES; n++)
    {
      g_autofree char *share = NULL;
      guint most = FLAM_N_STATES;

      for (guint i = 0; i < FLAM_N_STATES; i++)
        if (!(done & 1u << i) && split->weight[i] > 0 &&
            (most == FLAM_N_STATES || split->weight[i] > split->weight[most]))
          most = i;
      if (most == FLAM_N_STATES)
        break;
      done |= 1u << most;
      share = flam_format_percent (split->weight[most], total);
      g_string_append_printf (text,
                              "%s%s %s",
                              n > 0 ? ", " : "",
                              flam_state_to_string (most),
                              share);
    }
  return g_string_free (text, FALSE);
}

char *
flam_format_plain (const FlamMeasure *measure, gint64 weight)
{
  guint64 denominator = (guint64)measure->denominator;
  guint64 size = weight < 0 ? -(guint64)weight : (guint64)weight;
  g_autofree char *text = NULL;
  gsize end;

  if (size % denominator == 0)
    return g_strdup_printf ("%" G_GINT64_FORMAT, weight / measure->denominator);
  text = g_strdup_printf (
      "%s%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
      weight < 0 ? "-" : "",
      size / denominator,
      (guint64)((__uint128_t)(size % denominator) * 1000000000 / denominator));
  for (end = strlen (text); text[end - 1] == '0';)
    end--;
  text[end] = 0;
  return g_steal_pointer (&text);
}

char *
flam_format_jump_count (const FlamJumpCount *count)
{
  g_autofree char *taken = format_count (count->taken);
  g_autofree char *reached = format_count (count->reached);

  if (count->reached >= count->taken && count->reached > 0)
    return g_strdup_printf ("%s/%s", taken, reached);
  return count->taken > 0 ? g_steal_pointer (&taken) : g_strdup ("");
}

char *
flam_format_jump_target (const FlamProfile *profile, const FlamJumpRow *row)
{
  const FlamFrames *frames = &profile->frames;
  g_autofree char *file = g_path_get_basename (
      flam_profile_string (profile, frames->file[row->to]));
  g_autofree char *place =
      g_strdup_printf ("%s:%u", file, frames->line[row->to]);
  g_autofree char *name = NULL;

  if (frames->function[row->to] == frames->function[row->from])
    return flam_format_visible (place);
  name = g_strdup_printf (
      "%s (%s)",
      flam_profile_function_name (profile, frames->function[row->to]),
      place);
  return flam_format_visible (name);
}

/* --- untrusted text ------------------------------------------------------ */

gboolean
flam_format_turns (gunichar c)
{
  return c == 0x061c || (c >= 0x200e && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

gboolean
flam_format_is_invisible (gunichar c)
{
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || flam_format_turns (c);
}

static void
append_escape (GString *out, gunichar c)
{
  static const char letters[] = "\a\b\t\n\v\f\r";

  if (c != 0 && c < 0x80 && strchr (letters, (int)c) != NULL)
    g_string_append_printf (out, "\\%c", "abtnvfr"[c - '\a']);
  else if (c < 0x80)
    g_string_append_printf (out, "\\x%02x", c);
  else
    g_string_append_printf (out, "\\u%04x", c);
}

/* Most names pass: the others contain one of these few bytes. */
static gboolean
is_all_visible (const char *text)
{
  for (const guchar *p = (const guchar *)text; *p != '\0'; p++)
    if (*p < 0x20 || *p == 0x7f || *p == 0xc2 || *p == 0xd8 || *p == 0xe2)
      return FALSE;
  return g_utf8_validate (text, -1, NULL);
}

char *
flam_format_visible (const char *text)
{
  g_autofree char *valid = NULL;
  GString *out;

  if (is_all_visible (text))
    return g_strdup (text);
  valid = g_utf8_make_valid (text, -1);
  out = g_string_new (NULL);
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    if (flam_format_is_invisible (g_utf8_get_char (p)))
      append_escape (out, g_utf8_get_char (p));
    else
      g_string_append_len (out, p, g_utf8_next_char (p) - p);
  return g_string_free (out, FALSE);
}

char *
flam_format_counter_name (const char *id)
{
  static const struct
  {
    const char *id;
    const char *title;
  } titles[] = {
    { "heap", N_ ("Heap") },
    /* Translators: resident set size, as the system reports it */
    { "rss", N_ ("RSS") },
  };
  g_autofree char *name = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (titles) && name == NULL; i++)
    {
      gsize length = strlen (titles[i].id);

      /* In several captures that were merged, the name of one follows. */
      if (g_str_has_prefix (id, titles[i].id) &&
          (id[length] == '\0' || id[length] == ' '))
        name = g_strconcat (
            g_dgettext ("flambeau", titles[i].title), id + length, NULL);
    }
  return flam_format_visible (name != NULL ? name : id);
}

/* --- names --------------------------------------------------------------- */

/* Do not look for the end: names may be long. */
static gboolean
ends_with (const GString *text, const char *end)
{
  gsize n = strlen (end);

  return text->len >= n && memcmp (text->str + text->len - n, end, n) == 0;
}

/* Brackets that are part of a name: Python's "f.<locals>.<lambda>", Go's
 * "http.(*Client).Do", "<module>", Java's "String::<init>". Those of Rust's "<T
 * as Trait>::f" are not. */
static gboolean
is_bracketed_name (const GString *before, const char *at)
{
  if (before->len == 0)
    return strstr (at, ">::") == NULL;
  return before->str[before->len - 1] == '.' ||
         (ends_with (before, "::") && (g_str_has_prefix (at, "<init>") ||
                                       g_str_has_prefix (at, "<clinit>")));
}

/* `name` without the text between each outermost pair of `open` and `close`.
 * "operator<", "operator()" and "->" do not count as brackets. */
static char *
without_brackets (const char *name, char open, char close)
{
  GString *kept = g_string_new (NULL);
  guint depth = 0;

  for (const char *p = name; *p; p++)
    {
      gboolean operator_name = depth == 0 && ends_with (kept, "operator");

      if (operator_name && (*p == '<' || *p == '>' || *p == '('))
        {
          const char *end = p + strspn (p, *p == '(' ? "()" : "<>=-");

          g_string_append_len (kept, p, end - p);
          p = end - 1;
          continue;
        }
      if (depth == 0 && *p == open && is_bracketed_name (kept, p))
        {
          const char *end = strchr (p, close);

          if (end == NULL)
            break;
          g_string_append_len (kept, p, end + 1 - p);
          p = end;
          continue;
        }
      if (*p == close && depth > 0 && p[-1] != '-')
        depth--;
      else if (*p == open)
        depth++;
      else if (depth == 0)
        g_string_append_c (kept, *p);
    }
  if (depth != 0)
    g_string_assign (kept, name);
  return g_string_free (kept, FALSE);
}

static gboolean
fits (const char *name, guint max)
{
  return g_utf8_strlen (name, -1) <= max;
}

/* First and last characters with "…" between; the end gets the larger half. */
static char *
cut_middle (const char *name, guint max)
{
  glong length = g_utf8_strlen (name, -1);
  guint head = max > 4 ? (max - 1) / 3 : 0;
  guint tail = max - 1 - head;
  const char *tail_at = g_utf8_offset_to_pointer (name, length - tail);
  g_autofree char *front = g_utf8_substring (name, 0, head);

  return g_strconcat (front, "…", tail_at, NULL);
}

static gsize
word_length (const char *name)
{
  gsize n = 0;

  while (g_ascii_isalnum (name[n]) || name[n] == '_')
    n++;
  return n;
}

/* The length of what can be left out first of "java.util.Map$Entry.getKey": a
 * package, an outer class, then the class; 0: nothing. A package begins with
 * small letters and leads to a class, unlike the name in "f.constprop.0". */
static gsize
outer_length (const char *name)
{
  gsize n = word_length (name), at = 0;

  if (g_ascii_isupper (name[0]) && (name[n] == '.' || name[n] == '$') &&
      (g_ascii_isalpha (name[n + 1]) || name[n + 1] == '<'))
    return n + 1;
  while (g_ascii_islower (name[at]) &&
         name[at + word_length (name + at)] == '.')
    at += word_length (name + at) + 1;
  return at > 0 && g_ascii_isupper (name[at]) ? n + 1 : 0;
}

char *
flam_format_short_name (const char *raw, guint max)
{
  g_autofree char *name = flam_format_visible (raw);
  g_autofree char *shorter = NULL;
  const char *colons, *rest;
  glong length;

  if (max < 2 || fits (name, max))
    return g_steal_pointer (&name);
  if (strstr (name, "(anonymous namespace)") == NULL)
    shorter = without_brackets (name, '(', ')');
  else
    shorter = g_strdup (name);
  g_strchomp (shorter);
  if (fits (shorter, max) && *shorter)
    return g_steal_pointer (&shorter);
  {
    g_autofree char *plain = without_brackets (shorter, '<', '>');

    if (*plain)
      {
        g_free (shorter);
        shorter = g_strdup (g_str_has_prefix (plain, "::") ? plain + 2 : plain);
      }
  }
  rest = shorter;
  length = g_utf8_strlen (shorter, -1);
  while (length > max && (colons = strstr (rest, "::")) != NULL &&
         colons[2] != 0)
    {
      length -= g_utf8_strlen (rest, colons + 2 - rest);
      rest = colons + 2;
    }
  for (gsize n; length > max && (n = outer_length (rest)) > 0;)
    {
      length -= (glong)n;
      rest += n;
    }
  return length <= max ? g_strdup (rest) : cut_middle (rest, max);
}

/* --- folded names -------------------------------------------------------- */

#define ARGUMENTS_KEPT 12 /* characters */

/* Skips "operator<", "operator<<=" and "operator->": they are not brackets. */
static gsize
operator_length (const char *name)
{
  gsize length = strlen ("operator");

  if (!g_str_has_prefix (name, "operator"))
    return 0;
  length += strspn (name + length, "<>=-");
  return length > strlen ("operator") ? length : 0;
}

static gsize
inline_namespace_length (const char *name)
{
  static const char *const names[] = {
    "std::__cxx11::", "std::__1::", "std::__ndk1::"
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_has_prefix (name, names[i]))
      return strlen (names[i]);
  return 0;
}

/* For each "<" of the name the place of the ">" that closes it, 0 if none does;
 * g_free. In one pass: names may be long, and none of their brackets closed. */
static gsize *
find_closings (const char *name)
{
  gsize n = strlen (name);
  gsize *closing = g_new0 (gsize, n + 1);
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (gsize));

  for (gsize i = 0; i < n; i++)
    {
      gsize skip = name[i] == 'o' ? operator_length (name + i) : 0;

      if (skip > 0)
        i += skip - 1;
      else if (name[i] == '<')
        g_array_append_val (open, i);
      else if (name[i] == '>' && open->len > 0 && name[i - 1] != '-')
        {
          closing[g_array_index (open, gsize, open->len - 1)] = i;
          g_array_set_size (open, open->len - 1);
        }
    }
  return closing;
}

/* Brackets with arguments follow a name; at the beginning they are part of a
 * name ("<T as Trait>::f", "<module>", "f.<locals>"). */
static gboolean
has_arguments (const char *name, const char *at)
{
  return at > name && (g_ascii_isalnum (at[-1]) || at[-1] == '_' ||
                       at[-1] == ':' || (at[-1] & 0x80) != 0);
}

char *
flam_format_folded_name (const char *raw)
{
  g_autofree char *name = flam_format_visible (raw);
  g_autofree gsize *closing = NULL;
  GString *folded;

  if (strchr (name, '<') == NULL && strstr (name, "std::__") == NULL)
    return g_steal_pointer (&name);
  closing = find_closings (name);
  folded = g_string_new (NULL);
  for (const char *p = name; *p != '\0';)
    {
      gsize skip = operator_length (p);
      const char *end = NULL;

      if (skip > 0)
        g_string_append_len (folded, p, (gssize)skip);
      else if ((skip = inline_namespace_length (p)) > 0)
        g_string_append (folded, "std::");
      else if (*p == '<' && has_arguments (name, p) && closing[p - name] > 0)
        end = name + closing[p - name];
      if (end != NULL && (end - p > ARGUMENTS_KEPT ||
                          memchr (p + 1, '<', (gsize)(end - p) - 1) != NULL))
        {
          g_string_append (folded, "<…>");
          skip = (gsize)(end - p) + 1;
        }
      if (skip == 0)
        g_string_append_c (folded, *p);
      p += MAX (skip, 1);
    }
  return g_string_free (folded, FALSE);
}

char *
flam_format_csv (const char *text)
{
  gboolean formula = *text != '\0' && strchr ("=+-@\t\r", *text) != NULL;
  GString *out;

  if (!formula && strpbrk (text, ",\"\r\n") == NULL)
    return g_strdup (text);
  out = g_string_new (formula ? "\"'" : "\"");
  for (; *text != '\0'; text++)
    {
      if (*text == '"')
        g_string_append_c (out, '"');
      g_string_append_c (out, *text);
    }
  g_string_append_c (out, '"');
  return g_string_free (out, FALSE);
}
