/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Texts of gprofng, and of er_print, which it was before:
 *
 *    display text -calltree                 display text -functions
 *
 *    Functions Call Tree. Metric: …         Functions sorted by metric: …
 *
 *    Attr. Total    Name                    Excl. Total  Incl. Total   Name
 *    CPU                                    CPU          CPU
 *     sec.      %                            sec.     %   sec.     %
 *    0.300 100.00   +-<Total>               0.300 100.0  0.300 100.0  <Total>
 *    0.300 100.00     +-main                0.210  70.0  0.210  70.0  leaf
 *    0.210  70.00       +-middle
 *    0.210  70.00       |  +-leaf
 *    0.090  30.00       +-leaf
 *
 * The column of "+-" is a row's depth. A list of functions has no callers; its
 * columns are in the order of -metrics, by default self times ("Excl.") first.
 * Source: gprofng's manual. */

#include "flam-stack-text.h"

#include "flam-amount.h"

#define SECOND 1000000000
#define MAX_NUMBERS 64

typedef struct
{
  gboolean tree; /* else a list of functions */
  gboolean seconds;
  gboolean in_rows;
  guint n_metrics;   /* of a list of functions */
  guint self_metric; /* which of them is "Excl."; n_metrics: none */
  guint n_numbers;   /* in each row, by that of <Total>; 0: not yet known */
} Gprofng;

static Gprofng *
gprofng_of (FlamStackText *text)
{
  if (text->kept == NULL)
    text->kept = g_new0 (Gprofng, 1);
  return text->kept;
}

/* "<static>@0x271c1 (<libc.so.6>)" */
static void
parse_gprofng (FlamSlice text, FlamTextFrame *frame)
{
  gsize open = flam_slice_find_last (text, " (<");

  frame->name = text;
  if (open < text.length && flam_slice_ends (text, ">)"))
    {
      frame->module = flam_slice_from (text, open + 3);
      frame->module.length -= 2;
      frame->name.length = open;
    }
  if (flam_slice_begins (frame->name, "<static>@0x") ||
      flam_slice_begins (frame->name, "<Unknown>"))
    frame->name.length = 0;
}

/* "0.210  70.00   ", with `most` numbers. Returns how many there are; `value`
 * is the one at `which`, and `rest` what follows. */
static guint
take_numbers (FlamSlice line,
              guint most,
              guint which,
              gint64 scale,
              gint64 *value,
              FlamSlice *rest)
{
  const char *at = line.text, *end = line.text + line.length;
  guint n = 0;

  while (n < most)
    {
      const char *number;
      gint64 taken;

      while (at < end && *at == ' ')
        at++;
      number = at;
      if (!flam_amount_number (&at, end, n == which ? scale : 1, &taken))
        break;
      /* "0." */
      if (at < end && *at == '.')
        at++;
      if (at < end && *at != ' ')
        {
          at = number;
          break;
        }
      if (n++ == which)
        *value = taken;
    }
  *rest = (FlamSlice){ at, end - at };
  return n;
}

/* "Excl. Total   Incl. Total    Name" */
static void
count_metrics (Gprofng *state, FlamSlice words)
{
  for (; words.length > 0; words = flam_slice_from (words, 1))
    {
      gboolean self = flam_slice_begins (words, "Excl.");

      if (!self && !flam_slice_begins (words, "Incl."))
        continue;
      if (!self && state->self_metric == state->n_metrics)
        state->self_metric++;
      state->n_metrics++;
    }
}

/* Of rows in ns, of stacks in µs. */
static gint64
scale_of (const Gprofng *state)
{
  if (!state->seconds)
    return 1;
  return state->tree ? SECOND : SECOND / 1000;
}

/* Each metric has one number, or two with its percentage. */
static gboolean
read_function (FlamStackText *text, FlamSlice line)
{
  Gprofng *state = gprofng_of (text);
  FlamSlice rest;
  gint64 value = 0;
  guint most = state->n_numbers > 0 ? state->n_numbers : MAX_NUMBERS;
  guint which =
      state->n_metrics > 0
          ? state->self_metric * MAX (state->n_numbers / state->n_metrics, 1)
          : 0;
  guint n = take_numbers (line, most, which, scale_of (state), &value, &rest);

  rest = flam_slice_strip (rest);
  if (n == 0 || rest.length == 0)
    return FALSE;
  if (flam_slice_is (rest, "<Total>"))
    state->n_numbers = n;
  else if (value != 0)
    {
      flam_stack_text_frame (text, rest);
      flam_stack_text_end (text, value);
    }
  return TRUE;
}

static gboolean
read_row (FlamStackText *text, FlamSlice line)
{
  const Gprofng *state = gprofng_of (text);
  FlamSlice rest;
  gint64 value = 0;
  gsize branch;

  if (!state->tree)
    return read_function (text, line);
  if (take_numbers (line, 2, 0, scale_of (state), &value, &rest) == 0)
    return FALSE;
  branch = flam_slice_find (rest, "+-");
  if (branch == rest.length)
    return FALSE;
  for (gsize i = 0; i < branch; i++)
    if (rest.text[i] != ' ' && rest.text[i] != '|')
      return FALSE;
  line = flam_slice_strip (flam_slice_from (rest, branch + 2));
  if (flam_slice_is (line, "<Total>"))
    line.length = 0;
  flam_stack_text_row (
      text, (guint)(rest.text + branch - text->last.text), line, value);
  return TRUE;
}

static gboolean
read_gprofng (FlamStackText *text, FlamSlice line)
{
  Gprofng *state = gprofng_of (text);
  FlamSlice words = flam_slice_strip (line);

  if (words.length == 0)
    return TRUE;
  if (flam_slice_begins (words, "Functions Call Tree. Metric: ") ||
      flam_slice_begins (words, "Functions sorted by metric: "))
    {
      *state = (Gprofng){ .tree = flam_slice_begins (words, "Functions Call"),
                          .seconds = state->seconds };
      return TRUE;
    }
  if (!state->in_rows && !flam_text_is_digit (*words.text))
    {
      count_metrics (state, words);
      if (flam_slice_find (words, "sec.") < words.length && !state->seconds)
        {
          state->seconds = TRUE;
          flam_stack_text_are_times (text);
        }
      return TRUE;
    }
  state->in_rows = TRUE;
  text->last = line;
  return read_row (text, line);
}

static void
finish_gprofng (FlamStackText *text)
{
  g_clear_pointer (&text->kept, g_free);
}

static guint
probe_gprofng (const FlamSource *source)
{
  gboolean head = FALSE;

  flam_text_each_of_head (source, line)
    if (flam_slice_begins (line, "Functions Call Tree. Metric: ") ||
        flam_slice_begins (line, "Functions sorted by metric: "))
      head = TRUE;
    else if (head && flam_slice_find (line, "<Total>") < line.length)
      return 90;
  return 0;
}

static const FlamDialect dialect_gprofng = { N_ ("output of gprofng"),
                                             read_gprofng,
                                             parse_gprofng,
                                             finish_gprofng,
                                             FLAM_KIND_NATIVE };

FLAM_STACK_TEXT_IMPORTER (gprofng,
                          "gprofng",
                          "gprofng",
                          "gprofng display text -calltree or -functions",
                          ".er.txt",
                          ".txt")
