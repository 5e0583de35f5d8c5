/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-json.h"

#include "flam-json-run.h"

#include <string.h>

/* For numbers whose digits are counted at once: 10^18 fits. */
#define PLAIN_DIGITS 18

#define TELL_BYTES (1 << 20)

void
flam_json_report (FlamJson *json, const FlamProgress *progress)
{
  json->progress = progress;
  json->tell_at = progress != NULL ? NULL : (const guint8 *)G_MAXSIZE;
}

void
flam_json_tell (FlamJson *json)
{
  json->tell_at = json->at + TELL_BYTES;
  if (json->cancelled == NULL &&
      !flam_progress_step (json->progress,
                           (double)(json->at - json->start) /
                               (json->end - json->start),
                           &json->cancelled))
    json->at = json->end;
}

void
flam_json_init (FlamJson *json, const void *data, gsize size)
{
  *json = (FlamJson){ .start = data, .at = data };
  flam_json_report (json, NULL);
  json->end = json->at + size;
  json->token = FLAM_JSON_NULL;
  json->key.text = json->string.text = "";
  if (size >= 3 && memcmp (data, "\xef\xbb\xbf", 3) == 0)
    json->at += 3;
}

void
flam_json_init_inside (FlamJson *json, const FlamJson *outer, const guint8 *at)
{
  flam_json_init (json, outer->start, outer->end - outer->start);
  json->at = at;
  json->depth = outer->depth;
  json->n_levels = outer->n_levels;
  json->objects =
      g_memdup2 (outer->objects, outer->n_levels / 32 * sizeof (guint32));
}

void
flam_json_clear (FlamJson *json)
{
  g_free (json->objects);
  if (json->scratch != NULL)
    g_string_free (json->scratch, TRUE);
  if (json->key_scratch != NULL)
    g_string_free (json->key_scratch, TRUE);
  g_clear_error (&json->cancelled);
  memset (json, 0, sizeof *json);
}

static FlamJsonToken
fail (FlamJson *json, const guint8 *at, const char *problem)
{
  if (json->problem == NULL)
    {
      json->problem = problem;
      json->problem_at = at - json->start;
      json->truncated = at == json->end;
    }
  json->at = json->end;
  json->depth = 0;
  return json->token = FLAM_JSON_ERROR;
}

static inline void
skip_space (FlamJson *json)
{
  const guint8 *p = json->at, *end = json->end;

  while (p < end && *p <= ' ' && flam_json_is_space (*p))
    p++;
  json->at = p;
}

guint
flam_json_open (FlamJson *json, const void *data, gsize size)
{
  flam_json_init (json, data, size);
  flam_json_next (json);
  return flam_json_enter (json);
}

FlamJson *
flam_json_load (FlamLoad *load, const guint8 *at)
{
  FlamJson *json = flam_keep_new (load, FlamJson);
  const guint8 *start = at != NULL ? at : load->source->data;

  flam_keep (load, json, flam_json_clear);
  flam_json_init (json, start, load->source->data + load->source->size - start);
  flam_json_report (json, load->options->progress);
  flam_json_next (json);
  return json;
}

/* --- strings ------------------------------------------------------------- */

/* The length of the well-formed UTF-8 sequence at `p`, whose first byte is 0x80
 * or above; 0 if it is invalid (Unicode 15, table 3-7). */
static guint
utf8_sequence (const guint8 *p, const guint8 *end)
{
  guint n = p[0] < 0xc2   ? 0
            : p[0] < 0xe0 ? 2
            : p[0] < 0xf0 ? 3
            : p[0] < 0xf5 ? 4
                          : 0;
  guint8 low = 0x80, high = 0xbf;

  if (n == 0 || (gsize)(end - p) < n)
    return 0;
  if (p[0] == 0xe0)
    low = 0xa0;
  else if (p[0] == 0xed)
    high = 0x9f;
  else if (p[0] == 0xf0)
    low = 0x90;
  else if (p[0] == 0xf4)
    high = 0x8f;
  if (p[1] < low || p[1] > high)
    return 0;
  for (guint i = 2; i < n; i++)
    if ((p[i] & 0xc0) != 0x80)
      return 0;
  return n;
}

/* `p` is after the backslash; returns the end of the escape, or NULL. */
static const guint8 *
scan_escape (FlamJson *json, const guint8 *p)
{
  static const char problem[] = N_ ("a bad escape in a string");

  if (p < json->end && *p != 'u' && memchr ("\"\\/bfnrt", *p, 8) != NULL)
    return p + 1;
  if (p == json->end || *p != 'u')
    return fail (json, p, problem), NULL;
  p++;
  for (guint i = 0; i < 4; i++, p++)
    if (p == json->end || !g_ascii_isxdigit (*p))
      return fail (json, p, problem), NULL;
  return p;
}

/* json->at is after the opening quote. */
static inline gboolean
scan_string (FlamJson *json, FlamJsonText *text)
{
  const guint8 *p = json->at;

  text->text = (const char *)p;
  text->escaped = FALSE;
  for (;;)
    {
      p = flam_json_run (p, json->end);
      if (p == json->end)
        return fail (json, p, N_ ("a string does not end")), FALSE;
      if (*p == '"')
        break;
      if (*p == '\\')
        {
          const guint8 *after = scan_escape (json, p + 1);
          if (after == NULL)
            return FALSE;
          text->escaped = TRUE;
          p = after;
        }
      else if (*p < 0x20)
        return fail (json, p, N_ ("a control character in a string")), FALSE;
      else
        {
          guint n = utf8_sequence (p, json->end);
          if (n == 0)
            return fail (json, p, N_ ("a string is not UTF-8")), FALSE;
          p += n;
        }
    }
  text->length = (const char *)p - text->text;
  json->at = p + 1;
  return TRUE;
}

/* --- numbers ------------------------------------------------------------- */

static inline gboolean
is_digit (const guint8 *p, const guint8 *end)
{
  return p < end && *p >= '0' && *p <= '9';
}

/* `step`: the effect of one more digit on the exponent. */
static inline const guint8 *
scan_digits (FlamJson *json, const guint8 *p, gint64 step)
{
  const guint8 *end = json->end;
  guint64 mantissa = json->mantissa;
  gint64 exponent = json->exponent;

  for (; is_digit (p, end); p++)
    if (G_LIKELY (mantissa < G_MAXUINT64 / 10 - 1))
      {
        mantissa = mantissa * 10 + (*p - '0');
        exponent += step;
      }
    else
      exponent += step + 1;
  json->mantissa = mantissa;
  json->exponent = exponent;
  return p;
}

static const guint8 *
scan_exponent (FlamJson *json, const guint8 *p)
{
  gboolean minus = FALSE;
  gint64 exponent = 0;

  if (p < json->end && (*p == '+' || *p == '-'))
    minus = *p++ == '-';
  if (!is_digit (p, json->end))
    return fail (json, p, N_ ("a number without digits in its exponent")), NULL;
  for (; is_digit (p, json->end); p++)
    if (exponent < 100000000)
      exponent = exponent * 10 + (*p - '0');
  json->exponent += minus ? -exponent : exponent;
  return p;
}

static inline FlamJsonToken
end_number (FlamJson *json, const guint8 *end)
{
  json->string.text = (const char *)json->at;
  json->string.length = end - json->at;
  json->string.escaped = FALSE;
  json->at = end;
  return json->token = FLAM_JSON_NUMBER;
}

static FlamJsonToken
scan_any_number (FlamJson *json)
{
  const guint8 *p = json->at;

  json->mantissa = 0;
  json->exponent = 0;
  json->negative = *p == '-';
  p += json->negative;
  if (!is_digit (p, json->end))
    return fail (json, p, N_ ("a number without digits"));
  if (*p == '0' && is_digit (p + 1, json->end))
    return fail (json, p, N_ ("a number that begins with 0"));
  p = scan_digits (json, p, 0);
  if (p < json->end && *p == '.')
    {
      if (!is_digit (p + 1, json->end))
        return fail (
            json, p + 1, N_ ("a number without digits after its point"));
      p = scan_digits (json, p + 1, -1);
    }
  if (p < json->end && (*p == 'e' || *p == 'E'))
    {
      const guint8 *after = scan_exponent (json, p + 1);
      if (after == NULL)
        return FLAM_JSON_ERROR;
      p = after;
    }
  return end_number (json, p);
}

/* Parses up to PLAIN_DIGITS digits without an exponent, which cannot
 * overflow. */
static inline FlamJsonToken
scan_number (FlamJson *json)
{
  const guint8 *digits = json->at + (*json->at == '-');
  const guint8 *p = digits, *end = json->end, *point = NULL;
  const guint8 *limit = end - p > PLAIN_DIGITS ? p + PLAIN_DIGITS : end;
  guint64 mantissa = 0;

  for (; is_digit (p, limit); p++)
    mantissa = mantissa * 10 + (*p - '0');
  if (G_UNLIKELY (p == limit || p == digits ||
                  (*digits == '0' && p > digits + 1)))
    return scan_any_number (json);
  if (*p == '.')
    {
      for (point = ++p; is_digit (p, limit); p++)
        mantissa = mantissa * 10 + (*p - '0');
      if (G_UNLIKELY (p >= limit || p == point))
        return scan_any_number (json);
    }
  if (G_UNLIKELY (*p == 'e' || *p == 'E'))
    return scan_any_number (json);
  json->mantissa = mantissa;
  json->exponent = point != NULL ? point - p : 0;
  json->negative = digits != json->at;
  return end_number (json, p);
}

/* --- structure ----------------------------------------------------------- */

static inline gboolean
in_object (const FlamJson *json)
{
  guint level = json->depth - 1;

  return (json->objects[level / 32] >> (level % 32) & 1) != 0;
}

static inline FlamJsonToken
open_container (FlamJson *json, gboolean object)
{
  guint level = json->depth;

  if (level == FLAM_JSON_MAX_DEPTH)
    return fail (json, json->at, N_ ("nested too deeply"));
  if (level == json->n_levels)
    {
      json->n_levels = MAX (256, json->n_levels * 2);
      json->objects = g_renew (guint32, json->objects, json->n_levels / 32);
    }
  if (object)
    json->objects[level / 32] |= 1u << (level % 32);
  else
    json->objects[level / 32] &= ~(1u << (level % 32));
  json->depth++;
  json->at++;
  json->comma = FALSE;
  return json->token = object ? FLAM_JSON_OBJECT : FLAM_JSON_ARRAY;
}

static inline FlamJsonToken
close_container (FlamJson *json, gboolean object)
{
  json->depth--;
  json->at++;
  json->comma = TRUE;
  return json->token = object ? FLAM_JSON_OBJECT_END : FLAM_JSON_ARRAY_END;
}

static FlamJsonToken
scan_word (FlamJson *json, const char *word, FlamJsonToken token)
{
  gsize length = strlen (word), left = json->end - json->at;

  if (memcmp (json->at, word, MIN (left, length)) != 0)
    return fail (json, json->at, N_ ("not a value"));
  if (left < length)
    return fail (json, json->end, N_ ("the document does not end"));
  json->at += length;
  return json->token = token;
}

static inline FlamJsonToken
scan_value (FlamJson *json)
{
  json->comma = TRUE;
  switch (*json->at)
    {
    case '{':
      return open_container (json, TRUE);
    case '[':
      return open_container (json, FALSE);
    case '"':
      json->at++;
      return scan_string (json, &json->string) ? json->token = FLAM_JSON_STRING
                                               : FLAM_JSON_ERROR;
    case 't':
      return scan_word (json, "true", FLAM_JSON_TRUE);
    case 'f':
      return scan_word (json, "false", FLAM_JSON_FALSE);
    case 'n':
      return scan_word (json, "null", FLAM_JSON_NULL);
    case '-':
    case '0' ... '9':
      return scan_number (json);
    default:
      return fail (json, json->at, N_ ("not a value"));
    }
}

static inline gboolean
scan_key (FlamJson *json)
{
  if (*json->at != '"')
    return fail (json, json->at, N_ ("a key must be a string")), FALSE;
  json->at++;
  if (!scan_string (json, &json->key))
    return FALSE;
  skip_space (json);
  if (json->at == json->end || *json->at != ':')
    return fail (json, json->at, N_ ("no ':' after a key")), FALSE;
  json->at++;
  skip_space (json);
  if (json->at == json->end)
    return fail (json, json->at, N_ ("the document does not end")), FALSE;
  return TRUE;
}

static FlamJsonToken
next_at_top (FlamJson *json)
{
  if (json->comma)
    return json->at == json->end
               ? json->token = FLAM_JSON_END
               : fail (json, json->at, N_ ("more after the document's end"));
  if (json->at == json->end)
    return fail (json, json->at, N_ ("no document"));
  return scan_value (json);
}

/* Moves to the next value if at most a comma, a key without escapes, and a
 * space after each precede it: that is the common case, so it is tried first.
 * FALSE: nothing is read. */
static inline gboolean
pass_plain_key (FlamJson *json)
{
  const guint8 *p = json->at, *end = json->end, *key;

  if (G_UNLIKELY (json->depth == 0 || end - p < 4))
    return FALSE;
  if (json->comma && *p++ != ',')
    return FALSE;
  p += *p == ' ';
  key = p;
  if (in_object (json))
    {
      if (*p != '"')
        return FALSE;
      key = ++p;
      p = flam_json_run (p, end);
      if (end - p < 4 || p[0] != '"' || p[1] != ':')
        return FALSE;
      json->key.length = p - key;
      p += 2;
      p += *p == ' ';
    }
  else
    json->key.length = 0;
  if (*p <= ' ' || *p == ']')
    return FALSE;
  json->key.text = (const char *)key;
  json->key.escaped = FALSE;
  json->at = p;
  return TRUE;
}

FlamJsonToken
flam_json_next (FlamJson *json)
{
  gboolean object;

  if (pass_plain_key (json))
    return scan_value (json);
  if (json->problem != NULL)
    return FLAM_JSON_ERROR;
  json->key.length = 0;
  skip_space (json);
  if (json->depth == 0)
    return next_at_top (json);
  if (json->at == json->end)
    return fail (json, json->at, N_ ("the document does not end"));
  object = in_object (json);
  if (*json->at == (object ? '}' : ']'))
    return close_container (json, object);
  if (json->comma)
    {
      if (*json->at != ',')
        return fail (json, json->at, "no ',' between values");
      json->at++;
      skip_space (json);
      if (json->at == json->end)
        return fail (json, json->at, N_ ("the document does not end"));
    }
  if (object && !scan_key (json))
    return FLAM_JSON_ERROR;
  return scan_value (json);
}

/* Most numbers of tables are whole and short: these need no division. */
static inline gint64
scaled (FlamJson *json, guint32 scale)
{
  gint64 whole;

  if (json->exponent != 0 || json->mantissa > G_MAXINT32)
    return flam_json_get_scaled (json, scale);
  whole = (gint64)json->mantissa * scale;
  return json->negative ? -whole : whole;
}

guint
flam_json_take_numbers (FlamJson *json,
                        const guint32 *scales,
                        guint max,
                        const guint8 *stop,
                        gint64 null,
                        gint64 *into)
{
  const guint8 *p = json->at, *end = json->end;
  guint n = 0;

  if (json->depth == 0 || in_object (json))
    return 0;
  for (; n < max; n++)
    {
      p = json->at;
      if (end - p < 8 || (json->comma && *p++ != ','))
        break;
      p += *p == ' ';
      if (stop != NULL && p >= stop)
        break;
      if (memcmp (p, "null", 4) == 0)
        {
          json->at = p + 4;
          json->token = FLAM_JSON_NULL;
          into[n] = null;
        }
      else if (is_digit (p + (*p == '-'), end))
        {
          json->at = p;
          if (scan_number (json) == FLAM_JSON_ERROR)
            return n;
          into[n] = scaled (json, scales[n]);
        }
      else
        break;
      json->comma = TRUE;
    }
  return n;
}

guint
flam_json_enter (FlamJson *json)
{
  return json->token == FLAM_JSON_OBJECT || json->token == FLAM_JSON_ARRAY
             ? json->depth
             : 0;
}

gboolean
flam_json_element (FlamJson *json, guint depth)
{
  if (depth == 0)
    return FALSE;
  while (json->depth > depth)
    flam_json_next (json);
  if (json->depth < depth)
    return FALSE;
  flam_json_step (json);
  flam_json_next (json);
  return json->depth >= depth;
}

void
flam_json_skip (FlamJson *json)
{
  guint depth = flam_json_enter (json);

  while (depth != 0 && json->depth >= depth)
    flam_json_next (json);
}

FlamJsonText
flam_json_take (FlamJson *json)
{
  const char *start = (const char *)json->at - 1;
  const guint8 *end;

  if (json->token != FLAM_JSON_OBJECT && json->token != FLAM_JSON_ARRAY)
    return (FlamJsonText){ .text = "" };
  flam_json_skip (json);
  end = json->token == FLAM_JSON_ERROR ? json->end : json->at;
  return (FlamJsonText){ .text = start, .length = (const char *)end - start };
}
