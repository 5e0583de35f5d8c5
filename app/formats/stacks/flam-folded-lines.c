/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-folded.h"

#include <string.h>

const gint64 flam_folded_powers[FLAM_FOLDED_MAX_PLACES + 1] = {
  1, 10, 100, 1000, 10000, 100000, 1000000
};

/* Takes the number, which may be negative, and the space before it off the end
 * of [start, *end). FALSE, and nothing is taken: there is none. */
static gboolean
take_number (const char *start, const char **end, gint64 *value, guint *places)
{
  const char *stop = *end;
  const char *p;
  const char *dot = NULL;
  const char *at;
  gboolean negative;
  gint64 n;

  while (stop > start && flam_text_is_space (stop[-1]))
    stop--;
  for (p = stop; p > start; p--)
    if (p[-1] == '.' && dot == NULL)
      dot = p - 1;
    else if (!flam_text_is_digit (p[-1]))
      break;
  if (p == stop || p == dot)
    return FALSE;
  at = p;
  negative = p > start && p[-1] == '-';
  p -= negative;
  if (p == start || !flam_text_is_space (p[-1]))
    return FALSE;
  if (!flam_text_number (&at, dot != NULL ? dot : stop, &n))
    return FALSE;
  *places = 0;
  if (dot != NULL)
    for (at = dot + 1; at < stop && *places < FLAM_FOLDED_MAX_PLACES;
         at++, ++*places)
      if (__builtin_mul_overflow (n, 10, &n) ||
          __builtin_add_overflow (n, *at - '0', &n))
        return FALSE;
  *value = negative ? -n : n;
  for (stop = p; stop > start && flam_text_is_space (stop[-1]);)
    stop--;
  *end = stop;
  return TRUE;
}

/* In a difference, a negative value counts as a previous value, and a negative
 * previous value as a current one: the difference of the two stays the same. */
static gboolean
set_signs (FlamFoldedLine *line)
{
  gint64 now = line->weight[0], before = line->weight[1];

  return !__builtin_add_overflow (
             MAX (now, 0), MAX (-before, 0), &line->weight[0]) &&
         !__builtin_add_overflow (
             MAX (before, 0), MAX (-now, 0), &line->weight[1]);
}

gboolean
flam_folded_parse_line (const char *text,
                        gsize length,
                        guint n_columns,
                        FlamFoldedLine *line)
{
  const char *end = text + length;
  guint places[2] = { 0, 0 };

  line->weight[1] = 0;
  if (!take_number (text, &end, &line->weight[0], &places[0]))
    return FALSE;
  if (n_columns == 2 && !take_number (text, &end, &line->weight[1], &places[1]))
    return FALSE;
  while (end > text && end[-1] == ';')
    end--;
  line->stack = text;
  line->length = end - text;
  line->places = MAX (places[0], places[1]);
  for (guint i = 0; i < n_columns; i++)
    if (__builtin_mul_overflow (line->weight[i],
                                flam_folded_powers[line->places - places[i]],
                                &line->weight[i]))
      return FALSE;
  return set_signs (line);
}

gboolean
flam_folded_is_skipped (const char *text, gsize length)
{
  return length == 0 ||
         (*text == '#' &&
          (length == 1 || g_ascii_isspace (text[1]) || text[1] == '!'));
}

/* Names of code have no spaces except in brackets and next to them ("operator
 * new(unsigned long)", "void sort<int>(int*)"), and do not begin with one. */
static gboolean
is_code (const char *name, gsize length)
{
  gboolean space = FALSE;

  if (length == 0 || name[0] == ' ' || name[length - 1] == ' ')
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (strchr ("(<[{:", name[i]) != NULL)
      return TRUE;
    else
      space |= name[i] == ' ';
  return !space;
}

#define MAX_WORDS 4

/* A line with a single name is weaker evidence, since lines of a log have
 * brackets and colons, too. "10.0.0.1 - - [10/Oct] "GET /" 200 2326", "total:
 * 12" and "[12:00] INFO server: the request took 12" are not names of code;
 * "load app.js:12:3" is. */
static gboolean
is_lone_code (const char *name, gsize length)
{
  guint spaces = 0, depth = 0;
  gboolean letter = FALSE, colon = TRUE;

  if (!is_code (name, length))
    return FALSE;
  for (gsize i = 0; i < length; i++)
    {
      letter |= !flam_text_is_digit (name[i]) && name[i] != '.';
      if (strchr ("(<[{", name[i]) != NULL)
        depth++;
      else if (strchr (")>]}", name[i]) != NULL)
        depth -= depth > 0;
      else if (name[i] == ':' && depth == 0)
        colon &= i + 1 < length && name[i + 1] != ' ';
      else if (name[i] == ' ' && depth == 0)
        spaces++;
    }
  if (memmem (name, length, "::", 2) != NULL)
    return TRUE;
  return letter && colon &&
         (spaces == 0 || (spaces < MAX_WORDS && !flam_text_is_digit (name[0])));
}

/* "requests{code="200"}" of Prometheus is not a name of code. */
static gboolean
is_metric (const char *name, gsize length)
{
  const char *brace = memchr (name, '{', length);

  return brace != NULL && length > 2 && name[length - 1] == '}' &&
         memmem (brace, name + length - brace, "=\"", 2) != NULL;
}

/* At least half of its frames are names of code, and none begins with a space,
 * unlike prose: "He came; she left in 1912" is not a stack. */
static gboolean
is_stack (const FlamFoldedLine *line)
{
  guint code = 0, frames = 0;

  if (line->length == 0)
    return TRUE; /* frames without a name */
  if (is_metric (line->stack, line->length))
    return FALSE;
  if (memchr (line->stack, ';', line->length) == NULL)
    return is_lone_code (line->stack, line->length);
  for (gsize at = 0; at <= line->length;)
    {
      const char *name = line->stack + at;
      const char *stop = memchr (name, ';', line->length - at);
      gsize length = stop != NULL ? (gsize)(stop - name) : line->length - at;

      if (length > 0 && name[0] == ' ')
        return FALSE;
      code += is_code (name, length);
      frames++;
      at += length + 1;
    }
  return code * 2 >= frames;
}

typedef struct
{
  guint good, bad, deep, flat;
  gboolean metrics; /* a comment of Prometheus */
} Count;

static void
count_line (Count *count, const char *text, gsize length)
{
  FlamFoldedLine line;

  if (flam_folded_is_skipped (text, length))
    {
      count->metrics |= length > 7 && (memcmp (text, "# HELP ", 7) == 0 ||
                                       memcmp (text, "# TYPE ", 7) == 0);
      return;
    }
  if (!flam_folded_parse_line (text, length, 1, &line) ||
      line.length > G_MAXUINT32)
    {
      count->bad++;
      return;
    }
  count->good++;
  if (!is_stack (&line))
    return;
  if (memchr (line.stack, ';', line.length) != NULL)
    count->deep++;
  else
    count->flat++;
}

/* Names may contain unprintable characters, but a text does not consist of
 * them. */
static gboolean
is_text (const FlamText *head)
{
  gsize control = 0;

  for (const char *p = head->start; p < head->end; p++)
    control += (guint8)*p < 0x20 && strchr ("\n\t\r\f", *p) == NULL;
  return control * 10 <= (gsize)(head->end - head->start);
}

/* Stacks of two frames or more are evidence. Without any, all lines must be a
 * name and a number: many lines of prose and tables end in numbers. */
guint
flam_folded_probe (const FlamSource *source)
{
  FlamText head = flam_text_head (source);
  const char *text;
  gsize length;
  Count count = { 0 };

  if (!is_text (&head))
    return 0;
  while (flam_text_next (&head, &text, &length))
    count_line (&count, text, length);
  if (count.good == 0 || count.metrics)
    return 0;
  if (count.deep > 0 && count.bad * 10 <= count.good)
    return count.deep * 2 >= count.good ? 50 : 30;
  if (count.deep > 0)
    return (count.deep + count.flat) * 2 > count.good &&
                   count.deep * 10 >= count.bad
               ? 5
               : 0;
  return count.bad == 0 && count.flat * 10 >= count.good * 9 ? 10 : 0;
}
