/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-suppressions.h"

#include <string.h>

typedef struct
{
  char *pattern; /* as written */
  char **parts;  /* the parts between the '*'s */
  gboolean at_start;
  gboolean at_end;
} Rule;

struct _FlamSuppressions
{
  GArray *rules;
  /* A bit for each pair of bytes that begins a rule: a text that contains none
   * of them is not matched by any rule. */
  guint8 pairs[65536 / 8];
  gboolean all_pairs;
};

static void
clear_rule (gpointer data)
{
  Rule *rule = data;

  g_free (rule->pattern);
  g_strfreev (rule->parts);
}

FlamSuppressions *
flam_suppressions_new (void)
{
  FlamSuppressions *suppressions = g_atomic_rc_box_new0 (FlamSuppressions);

  suppressions->rules = g_array_new (FALSE, FALSE, sizeof (Rule));
  g_array_set_clear_func (suppressions->rules, clear_rule);
  return suppressions;
}

FlamSuppressions *
flam_suppressions_ref (FlamSuppressions *suppressions)
{
  return g_atomic_rc_box_acquire (suppressions);
}

static void
suppressions_clear (gpointer data)
{
  FlamSuppressions *suppressions = data;

  g_array_unref (suppressions->rules);
}

void
flam_suppressions_unref (FlamSuppressions *suppressions)
{
  g_atomic_rc_box_release_full (suppressions, suppressions_clear);
}

static guint
pair (const char *p)
{
  return (guint)(guint8)p[0] << 8 | (guint8)p[1];
}

void
flam_suppressions_add (FlamSuppressions *suppressions,
                       const char *pattern,
                       gssize length)
{
  Rule rule = { 0 };
  g_autofree char *body = NULL;
  const char *first;
  gsize n;

  rule.pattern = length < 0 ? g_strdup (pattern) : g_strndup (pattern, length);
  rule.at_start = rule.pattern[0] == '^';
  body = g_strdup (rule.pattern + rule.at_start);
  n = strlen (body);
  rule.at_end = n > 0 && body[n - 1] == '$';
  if (rule.at_end)
    body[n - 1] = '\0';
  rule.parts = g_strsplit (body, "*", -1);
  if (rule.parts[0] == NULL)
    {
      g_strfreev (rule.parts);
      rule.parts = g_new0 (char *, 2);
      rule.parts[0] = g_strdup ("");
    }
  first = rule.parts[0];
  if (strlen (first) < 2)
    suppressions->all_pairs = TRUE;
  else
    suppressions->pairs[pair (first) / 8] |= 1 << (pair (first) % 8);
  g_array_append_val (suppressions->rules, rule);
}

gboolean
flam_suppressions_parse (FlamSuppressions *suppressions,
                         const char *text,
                         gsize length,
                         GError **error)
{
  const char *end = text + length;

  for (guint line = 1; text < end; line++)
    {
      const char *newline = memchr (text, '\n', end - text);
      const char *stop = newline != NULL ? newline : end;
      const char *next = newline != NULL ? newline + 1 : end;

      while (text < stop && g_ascii_isspace (*text))
        text++;
      while (stop > text && g_ascii_isspace (stop[-1]))
        stop--;
      if (stop - text > 5 && memcmp (text, "leak:", 5) == 0)
        flam_suppressions_add (suppressions, text + 5, stop - text - 5);
      else if (text < stop && *text != '#')
        return flam_error_set (
            error,
            FLAM_ERROR_INVALID,
            N_ ("not a rule of the form “leak:PATTERN” (at line %u)"),
            line);
      text = next;
    }
  return TRUE;
}

guint
flam_suppressions_get_n (const FlamSuppressions *suppressions)
{
  return suppressions->rules->len;
}

const char *
flam_suppressions_get (const FlamSuppressions *suppressions, guint rule)
{
  return g_array_index (suppressions->rules, Rule, rule).pattern;
}

/* Searches for the parts in order, each as early as possible; the last part of
 * a rule that ends with '$', at the end of the text. */
static gboolean
rule_matches (const Rule *rule, const char *text, gsize length)
{
  const char *end = text + length;

  for (guint i = 0; rule->parts[i] != NULL; i++)
    {
      const char *part = rule->parts[i];
      gsize n = strlen (part);
      const char *found;

      if ((gsize)(end - text) < n)
        return FALSE;
      if (rule->at_end && rule->parts[i + 1] == NULL)
        return memcmp (end - n, part, n) == 0 &&
               (i > 0 || !rule->at_start || end - n == text);
      if (i == 0 && rule->at_start)
        found = memcmp (text, part, n) == 0 ? text : NULL;
      else
        found = memmem (text, end - text, part, n);
      if (found == NULL)
        return FALSE;
      text = found + n;
    }
  return TRUE;
}

static gboolean
may_match (const FlamSuppressions *suppressions, const char *text, gsize length)
{
  if (suppressions->all_pairs)
    return TRUE;
  for (gsize i = 0; i + 1 < length; i++)
    if (suppressions->pairs[pair (text + i) / 8] >> (pair (text + i) % 8) & 1)
      return TRUE;
  return FALSE;
}

int
flam_suppressions_match (const FlamSuppressions *suppressions,
                         const char *text,
                         gsize length)
{
  if (length == 0 || !may_match (suppressions, text, length))
    return -1;
  for (guint i = 0; i < suppressions->rules->len; i++)
    if (rule_matches (
            &g_array_index (suppressions->rules, Rule, i), text, length))
      return i;
  return -1;
}
