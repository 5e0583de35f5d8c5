/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-amount.h"

#include <string.h>

#define MAX_PLACES 9

static const struct
{
  const char *word;
  FlamUnit unit;
  gint64 size;
} units[] = {
  { "ns", FLAM_UNIT_NS, 1 },
  { "us", FLAM_UNIT_NS, 1000 },
  { "µs", FLAM_UNIT_NS, 1000 },        /* micro sign */
  { "\xce\xbcs", FLAM_UNIT_NS, 1000 }, /* Greek mu */
  { "usecs", FLAM_UNIT_NS, 1000 },
  { "ms", FLAM_UNIT_NS, 1000000 },
  { "s", FLAM_UNIT_NS, 1000000000 },
  { "sec", FLAM_UNIT_NS, 1000000000 },
  { "secs", FLAM_UNIT_NS, 1000000000 },
  { "seconds", FLAM_UNIT_NS, 1000000000 },
  { "min", FLAM_UNIT_NS, G_GINT64_CONSTANT (60000000000) },
  { "h", FLAM_UNIT_NS, G_GINT64_CONSTANT (3600000000000) },
  { "B", FLAM_UNIT_BYTES, 1 },
  { "byte", FLAM_UNIT_BYTES, 1 },
  { "bytes", FLAM_UNIT_BYTES, 1 },
  { N_ ("Bytes"), FLAM_UNIT_BYTES, 1 },
  { "kB", FLAM_UNIT_BYTES, 1000 },
  { "KB", FLAM_UNIT_BYTES, 1000 },
  { "MB", FLAM_UNIT_BYTES, 1000000 },
  { "GB", FLAM_UNIT_BYTES, 1000000000 },
  { "TB", FLAM_UNIT_BYTES, G_GINT64_CONSTANT (1000000000000) },
  { "KiB", FLAM_UNIT_BYTES, 1 << 10 },
  { "MiB", FLAM_UNIT_BYTES, 1 << 20 },
  { "GiB", FLAM_UNIT_BYTES, 1 << 30 },
};

/* A unit's size in ns or bytes; 0: unknown. */
static gint64
read_unit (const char *text, gsize length, FlamUnit *unit)
{
  for (guint i = 0; i < G_N_ELEMENTS (units); i++)
    if (strlen (units[i].word) == length &&
        memcmp (units[i].word, text, length) == 0)
      {
        *unit = units[i].unit;
        return units[i].size;
      }
  return 0;
}

/* The length of the separator at `p`; 0: none. */
static gsize
separator (const char *p, const char *end)
{
  static const char *const all[] = { ",", "\u202f", "\u2009", "\u00a0", " " };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      gsize n = strlen (all[i]);
      if ((gsize)(end - p) >= n && memcmp (p, all[i], n) == 0)
        return n;
    }
  return 0;
}

static gboolean
is_digit (const char *p, const char *end)
{
  return p < end && g_ascii_isdigit (*p);
}

gboolean
flam_amount_number (const char **p, const char *end, gint64 scale, gint64 *n)
{
  const char *at = *p;
  gint64 whole = 0, part = 0, size = 1;
  guint places = 0;

  if (!is_digit (at, end) &&
      !(at < end && *at == '.' && is_digit (at + 1, end)))
    return FALSE;
  while (at < end)
    {
      gsize skip = *at == ' ' ? 0 : separator (at, end);
      if (is_digit (at, end))
        {
          if (__builtin_mul_overflow (whole, 10, &whole) ||
              __builtin_add_overflow (whole, *at - '0', &whole))
            return FALSE;
          at++;
        }
      else if (skip > 0 && is_digit (at + skip, end))
        at += skip;
      else
        break;
    }
  if (at < end && *at == '.' && is_digit (at + 1, end))
    for (at++; is_digit (at, end); at++)
      if (places < MAX_PLACES)
        {
          part = part * 10 + (*at - '0');
          size *= 10;
          places++;
        }
  if (__builtin_mul_overflow (whole, scale, &whole) ||
      __builtin_add_overflow (
          whole, (gint64)((double)part / size * scale + 0.5), &whole))
    return FALSE;
  *n = whole;
  *p = at;
  return TRUE;
}

static gboolean
is_unit_byte (char c)
{
  return g_ascii_isalpha (c) || (c & 0x80) != 0;
}

gboolean
flam_amount_parse (const char **p, const char *end, FlamPrintedAmount *amount)
{
  const char *at = *p;
  const char *word, *stop;
  gint64 size;

  amount->unit = FLAM_UNIT_COUNT;
  if (!flam_amount_number (&at, end, 1, &amount->value))
    return FALSE;
  word = at + separator (at, end);
  for (stop = word; stop < end && is_unit_byte (*stop);)
    stop++;
  size = read_unit (word, stop - word, &amount->unit);
  amount->has_unit = size != 0;
  if (size == 0)
    {
      *p = at;
      return TRUE;
    }
  /* A second pass, for the decimal places in this unit. */
  if (!flam_amount_number (p, end, size, &amount->value))
    return FALSE;
  *p = stop;
  return TRUE;
}
