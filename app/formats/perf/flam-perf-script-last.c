/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Most headers differ from the previous one only in two numbers:
 *
 *    prog  4242/4242  65093.447304:    1001001 cycles:u:
 *    the same         time         pad period the same
 *
 * The parser would treat such a line like the last one, since these two tokens
 * only give values: each is in the same place, is valid, and has the same width
 * (for the period, including the spaces before it, which distinguish it from an
 * address). Any other line is parsed. */

#include "flam-perf-script.h"

/* The width from which digits may be an address. */
#define ADDRESS_WIDTH 17

static gsize
skip_digits (const char *text, gsize at, gsize end)
{
  while (at < end && flam_text_is_digit (text[at]))
    at++;
  return at;
}

/* The end of a run of at least one space; 0: there is none, or anything but
 * digits follows up to `end`. */
static gsize
skip_padding (const char *text, gsize at, gsize end)
{
  gsize p = at;

  while (p < end && text[p] == ' ')
    p++;
  return p > at && p < end && skip_digits (text, p, end) == end ? p : 0;
}

static FlamSlice
move (const FlamScriptLast *last, FlamSlice slice, const char *line)
{
  gsize at = (gsize)slice.text - (gsize)last->line.text;

  return at <= last->line.length ? (FlamSlice){ line + at, slice.length }
                                 : slice;
}

gboolean
flam_script_parse_like_last (const FlamScriptLast *last,
                             const char *line,
                             gsize length,
                             FlamScriptHeader *header)
{
  gint64 period = last->header.period;
  gint64 time;

  if (length != last->line.length || length == 0 ||
      memcmp (line, last->line.text, last->time) != 0 ||
      memcmp (line + last->rest,
              last->line.text + last->rest,
              length - last->rest) != 0 ||
      !flam_script_parse_time (line + last->time, line + last->stop, &time))
    return FALSE;
  if (last->rest > last->stop)
    {
      gsize at = skip_padding (line, last->stop, last->rest);
      const char *p = line + at;

      if (at == 0 || !flam_text_number (&p, line + last->rest, &period))
        return FALSE;
    }
  *header = last->header;
  header->comm = move (last, header->comm, line);
  header->who = move (last, header->who, line);
  header->event = move (last, header->event, line);
  header->leaf = move (last, header->leaf, line);
  header->time = time;
  header->period = period;
  return TRUE;
}

/* The ids precede the time, and the period, if there is one, is the next
 * token. */
static gboolean
is_simple (const FlamScriptLast *last, const char *line)
{
  const FlamScriptHeader *header = &last->header;

  return header->time >= 0 && header->tid >= 0 &&
         header->who.text + header->who.length <= line + last->time &&
         (!header->has_period ||
          (last->rest > last->stop && last->rest - last->stop < ADDRESS_WIDTH &&
           skip_padding (line, last->stop, last->rest) > 0));
}

void
flam_script_remember (FlamScriptLast *last,
                      const char *line,
                      gsize length,
                      const FlamScriptHeader *header)
{
  FlamSlice time = header->time_text;
  FlamSlice period = header->period_text;

  last->line.length = 0;
  if (time.text == NULL || (header->has_period && period.text == NULL))
    return;
  last->header = *header;
  last->time = time.text - line;
  last->stop = last->rest = time.text + time.length - line;
  if (header->has_period)
    last->rest = period.text + period.length - line;
  if (is_simple (last, line))
    last->line = (FlamSlice){ line, length };
}
