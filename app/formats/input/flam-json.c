/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-json.h"

#include "flam-json-run.h"

#include <math.h>
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

static G_NO_INLINE FlamJsonToken
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

/* --- strings ------------------------------------------------------------- */

/* `p` is after the backslash; returns the end of the escape, or NULL. */
static const guint8 *
scan_escape (FlamJson *json, const guint8 *p)
{
  static const char problem[] = N_ ("an invalid escape in a string");

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

/* The string's end, from the first byte on that is not plain; NULL: none. */
static G_NO_INLINE const guint8 *
scan_rest (FlamJson *json, FlamJsonText *text, const guint8 *p)
{
  for (;; p = flam_json_run (p, json->end))
    {
      if (p == json->end)
        return fail (json, p, N_ ("a string is not terminated")), NULL;
      if (*p == '"')
        return p;
      if (*p == '\\')
        {
          p = scan_escape (json, p + 1);
          if (p == NULL)
            return NULL;
          text->escaped = TRUE;
        }
      else if (*p < 0x20)
        return fail (json, p, N_ ("a control character in a string")), NULL;
      else
        {
          guint n = flam_json_utf8 (p, json->end);
          if (n == 0)
            return fail (json, p, N_ ("a string is not UTF-8")), NULL;
          p += n;
        }
    }
}

/* json->at is after the opening quote. */
static inline gboolean
scan_string (FlamJson *json, FlamJsonText *text)
{
  const guint8 *start = json->at, *p = flam_json_run (start, json->end);

  text->text = (const char *)start;
  text->escaped = FALSE;
  if (G_UNLIKELY (p == json->end || *p != '"'))
    {
      p = scan_rest (json, text, p);
      if (p == NULL)
        return FALSE;
    }
  text->length = p - start;
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

static G_NO_INLINE FlamJsonToken
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
  guint digit;

  for (; p < limit && (digit = (guint)*p - '0') < 10; p++)
    mantissa = mantissa * 10 + digit;
  if (G_UNLIKELY (p == limit || p == digits ||
                  (*digits == '0' && p > digits + 1)))
    return scan_any_number (json);
  if (*p == '.')
    {
      for (point = ++p; p < limit && (digit = (guint)*p - '0') < 10; p++)
        mantissa = mantissa * 10 + digit;
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

/* FALSE: there are no more levels. */
static G_NO_INLINE gboolean
add_levels (FlamJson *json)
{
  if (json->depth == FLAM_JSON_MAX_DEPTH)
    return fail (json, json->at, N_ ("nested too deeply")), FALSE;
  json->n_levels = MAX (256, json->n_levels * 2);
  json->objects = g_renew (guint32, json->objects, json->n_levels / 32);
  return TRUE;
}

static inline FlamJsonToken
open_container (FlamJson *json, gboolean object)
{
  guint level = json->depth;

  if (G_UNLIKELY (level == json->n_levels) && !add_levels (json))
    return FLAM_JSON_ERROR;
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

static G_NO_INLINE FlamJsonToken
scan_word (FlamJson *json, const char *word, FlamJsonToken token)
{
  gsize length = strlen (word), left = json->end - json->at;

  if (memcmp (json->at, word, MIN (left, length)) != 0)
    return fail (json, json->at, N_ ("not a value"));
  if (left < length)
    return fail (json, json->end, N_ ("the document was cut off"));
  json->at += length;
  return json->token = token;
}

static G_NO_INLINE FlamJsonToken
scan_other (FlamJson *json)
{
  switch (*json->at)
    {
    case 't':
      return scan_word (json, "true", FLAM_JSON_TRUE);
    case 'f':
      return scan_word (json, "false", FLAM_JSON_FALSE);
    case 'n':
      return scan_word (json, "null", FLAM_JSON_NULL);
    default:
      return fail (json, json->at, N_ ("not a value"));
    }
}

/* The frequent ones come first: a jump table would be mispredicted. */
static inline FlamJsonToken
scan_value (FlamJson *json)
{
  guint8 c = *json->at;

  json->comma = TRUE;
  if (c == '"')
    {
      json->at++;
      return scan_string (json, &json->string) ? json->token = FLAM_JSON_STRING
                                               : FLAM_JSON_ERROR;
    }
  if ((guint)c - '0' < 10 || c == '-')
    return scan_number (json);
  if (c == '{' || c == '[')
    return open_container (json, c == '{');
  return scan_other (json);
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
    return fail (json, json->at, N_ ("no “:” after a key")), FALSE;
  json->at++;
  skip_space (json);
  if (json->at == json->end)
    return fail (json, json->at, N_ ("the document was cut off")), FALSE;
  return TRUE;
}

static FlamJsonToken
next_at_top (FlamJson *json)
{
  if (json->comma)
    return json->at == json->end
               ? json->token = FLAM_JSON_END
               : fail (json,
                       json->at,
                       N_ ("there is more after the end of the document"));
  if (json->at == json->end)
    return fail (json, json->at, N_ ("the document is empty"));
  return scan_value (json);
}

/* Any token that may occur here. */
static G_NO_INLINE FlamJsonToken
next_of_any (FlamJson *json)
{
  gboolean object;

  if (json->problem != NULL)
    return FLAM_JSON_ERROR;
  json->key.length = 0;
  skip_space (json);
  if (json->depth == 0)
    return next_at_top (json);
  if (json->at == json->end)
    return fail (json, json->at, N_ ("the document was cut off"));
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
        return fail (json, json->at, N_ ("the document was cut off"));
    }
  if (object && !scan_key (json))
    return FLAM_JSON_ERROR;
  return scan_value (json);
}

/* At most a comma, a key without escapes, and a space or the end of a line
 * after the comma come before the value, or the container ends right after one:
 * that is the common case. It is inlined into each function that reads tokens,
 * since calls would take a tenth of the time. */
static inline __attribute__ ((always_inline)) FlamJsonToken
next_token (FlamJson *json)
{
  const guint8 *p = json->at, *end = json->end, *key;
  gboolean object;

  if (G_UNLIKELY (json->depth == 0 || end - p < 4))
    return next_of_any (json);
  object = in_object (json);
  if (json->comma && *p != ',')
    {
      if (*p != (object ? '}' : ']'))
        return next_of_any (json);
      json->key.length = 0;
      return close_container (json, object);
    }
  p += json->comma;
  p += *p == ' ' || *p == '\n';
  key = p;
  if (object)
    {
      if (*p != '"')
        return next_of_any (json);
      key = ++p;
      p = flam_json_run (p, end);
      if (end - p < 4 || p[0] != '"' || p[1] != ':')
        return next_of_any (json);
      json->key.length = p - key;
      p += 2;
      p += *p == ' ';
    }
  else
    json->key.length = 0;
  if (*p <= ' ' || *p == ']')
    return next_of_any (json);
  json->key.text = (const char *)key;
  json->key.escaped = FALSE;
  json->at = p;
  return scan_value (json);
}

FlamJsonToken
flam_json_next (FlamJson *json)
{
  return next_token (json);
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
  while (G_UNLIKELY (json->depth > depth))
    flam_json_next (json);
  if (json->depth < depth)
    return FALSE;
  flam_json_step (json);
  next_token (json);
  return json->depth >= depth;
}

void
flam_json_skip (FlamJson *json)
{
  guint depth = flam_json_enter (json);

  while (depth != 0 && json->depth >= depth)
    next_token (json);
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

/* --- numbers ------------------------------------------------------------- */

static const guint64 powers[] = {
  1ull,
  10ull,
  100ull,
  1000ull,
  10000ull,
  100000ull,
  1000000ull,
  10000000ull,
  100000000ull,
  1000000000ull,
  10000000000ull,
  100000000000ull,
  1000000000000ull,
  10000000000000ull,
  100000000000000ull,
  1000000000000000ull,
  10000000000000000ull,
  100000000000000000ull,
  1000000000000000000ull,
  10000000000000000000ull,
};

static gint64
with_sign (const FlamJson *json, __uint128_t value)
{
  gint64 saturated = value > G_MAXINT64 ? G_MAXINT64 : (gint64)value;

  return json->negative ? -saturated : saturated;
}

/* value * 10^exponent; saturated values stay saturated. */
static __uint128_t
shift_up (__uint128_t value, gint64 exponent)
{
  for (; exponent > 0 && value != 0 && value <= G_MAXINT64; exponent--)
    value *= 10;
  return value;
}

/* value / 10^places, truncated. A division of 128 bits costs ten of 64. */
static __uint128_t
shift_down (__uint128_t value, gint64 places)
{
  for (; places > 0 && value > G_MAXUINT64; places--)
    value /= 10;
  if (places >= (gint64)G_N_ELEMENTS (powers))
    return 0;
  return places > 0 ? (guint64)value / powers[places] : value;
}

/* mantissa * scale * 10^exponent, halves rounded away from zero. If the scale
 * covers all decimals, there is nothing to round. */
gint64
flam_json_get_scaled (FlamJson *json, guint32 scale)
{
  __uint128_t value;

  if (G_LIKELY (json->token == FLAM_JSON_NUMBER && json->exponent <= 0 &&
                json->exponent >= -9 && json->mantissa <= G_MAXUINT32))
    {
      guint32 power = (guint32)powers[-json->exponent], step = scale / power;
      gint64 whole = (gint64)json->mantissa * step;

      if (step * power == scale)
        return json->negative ? -whole : whole;
    }
  if (json->token != FLAM_JSON_NUMBER)
    return json->token == FLAM_JSON_TRUE ? scale : 0;
  value = (__uint128_t)json->mantissa * scale;
  if (json->exponent >= 0)
    return with_sign (json, shift_up (value, json->exponent));
  return with_sign (json, (shift_down (value, -json->exponent - 1) + 5) / 10);
}

gint64
flam_json_get_limited (FlamJson *json,
                       FlamBuilder *builder,
                       guint32 scale,
                       gint64 least,
                       gint64 most)
{
  return flam_builder_limit (builder,
                             flam_json_get_scaled (json, scale),
                             MAX (least, -(G_MAXINT64 - 1)),
                             MIN (most, G_MAXINT64 - 1),
                             json->token == FLAM_JSON_NUMBER ? json->string.text
                                                             : NULL);
}

gint64
flam_json_get_int (FlamJson *json)
{
  if (json->token != FLAM_JSON_NUMBER)
    return json->token == FLAM_JSON_TRUE;
  if (json->exponent >= 0)
    return with_sign (json, shift_up (json->mantissa, json->exponent));
  return with_sign (json, shift_down (json->mantissa, -json->exponent));
}

/* --- texts --------------------------------------------------------------- */

static guint
read_hex4 (const char *p)
{
  return g_ascii_xdigit_value (p[0]) << 12 | g_ascii_xdigit_value (p[1]) << 8 |
         g_ascii_xdigit_value (p[2]) << 4 | g_ascii_xdigit_value (p[3]);
}

static const char *
unescape_unicode (const char *p, const char *end, GString *out)
{
  gunichar c = read_hex4 (p);

  p += 4;
  if (c >= 0xd800 && c < 0xdc00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u')
    {
      guint low = read_hex4 (p + 2);
      if (low >= 0xdc00 && low < 0xe000)
        {
          c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
          p += 6;
        }
    }
  if (c >= 0xd800 && c < 0xe000)
    c = 0xfffd;
  if (c == 0)
    g_string_append_c (out, '\0');
  else
    g_string_append_unichar (out, c);
  return p;
}

const char *
flam_json_unescape (const FlamJsonText *text, GString **scratch, gsize *length)
{
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  const char *p = text->text, *end = p + text->length;
  GString *out;

  if (*scratch == NULL)
    *scratch = g_string_new (NULL);
  out = *scratch;
  g_string_truncate (out, 0);
  if (!text->escaped)
    g_string_append_len (out, p, text->length);
  else
    while (p < end)
      {
        const char *slash = memchr (p, '\\', end - p);
        if (slash == NULL)
          slash = end;
        g_string_append_len (out, p, slash - p);
        p = slash;
        if (p == end)
          break;
        if (p[1] == 'u')
          p = unescape_unicode (p + 2, end, out);
        else
          {
            g_string_append_c (out, to[strchr (from, p[1]) - from]);
            p += 2;
          }
      }
  if (length != NULL)
    *length = out->len;
  return out->str;
}

gboolean
flam_json_text_is (const FlamJsonText *text,
                   GString **scratch,
                   const char *wanted)
{
  const char *have = text->text;
  gsize length = text->length;

  if (text->escaped)
    have = flam_json_unescape (text, scratch, &length);
  return length == strlen (wanted) && memcmp (have, wanted, length) == 0;
}

const char *
flam_json_get_key (FlamJson *json, gsize *length)
{
  return flam_json_unescape (&json->key, &json->key_scratch, length);
}

const char *
flam_json_get_string (FlamJson *json, gsize *length)
{
  if (json->token == FLAM_JSON_STRING)
    return flam_json_unescape (&json->string, &json->scratch, length);
  if (length != NULL)
    *length = 0;
  return "";
}

const char *
flam_json_get_bytes (FlamJson *json, gsize *length)
{
  if (json->token != FLAM_JSON_STRING || json->string.escaped)
    return flam_json_get_string (json, length);
  *length = json->string.length;
  return json->string.text;
}

FlamId
flam_json_intern (FlamJson *json, FlamBuilder *builder)
{
  gsize length;
  const char *text = flam_json_get_bytes (json, &length);

  return flam_builder_string (builder, text, length);
}

gboolean
flam_json_string_is (FlamJson *json, const char *text)
{
  return json->token == FLAM_JSON_STRING &&
         flam_json_text_is (&json->string, &json->scratch, text);
}

void
flam_json_get_ints (FlamJson *json, GArray *into)
{
  flam_json_each (json)
    {
      gint64 value = flam_json_get_int (json);
      g_array_append_val (into, value);
    }
}

/* --- the whole ----------------------------------------------------------- */

FlamJson *
flam_json_load (FlamLoad *load, const guint8 *at)
{
  FlamJson *json = flam_arena_new (load, FlamJson);
  const guint8 *start = at != NULL ? at : load->source->data;

  flam_arena_keep (load, json, flam_json_clear);
  flam_json_init (json, start, load->source->data + load->source->size - start);
  flam_json_report (json, load->options->progress);
  flam_json_next (json);
  return json;
}

gboolean
flam_json_finish (FlamJson *json, const FlamSource *source, GError **error)
{
  if (json->cancelled != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&json->cancelled));
      return FALSE;
    }
  if (json->problem == NULL)
    return TRUE;
  return flam_source_error (source,
                            error,
                            json->truncated ? FLAM_ERROR_TRUNCATED
                                            : FLAM_ERROR_INVALID,
                            json->start - source->data + json->problem_at,
                            "%s",
                            json->problem);
}

void
flam_json_warn_rest (const FlamJson *json, const FlamLoad *load)
{
  const guint8 *end = load->source->data + load->source->size;
  const guint8 *p = json->at;

  if (json->start != load->source->data || json->depth > 0)
    return;
  while (p < end && (g_ascii_isspace (*p) || *p == '\0'))
    p++;
  if (p < end)
    flam_load_partial (
        load,
        p,
        N_ ("there is more after the end of the document: it was left out"));
}

gboolean
flam_json_end (FlamJson *json,
               const FlamLoad *load,
               gboolean any,
               GError **error)
{
  gboolean partly = any && json->cancelled == NULL;
  GError *bad = NULL;

  if (flam_json_finish (json, load->source, &bad))
    {
      if (any)
        flam_json_warn_rest (json, load);
      return TRUE;
    }
  if (partly)
    flam_load_partial (load,
                       load->source->data + json->problem_at,
                       N_ ("the rest of the file was left out: %s"),
                       bad->message + strlen (load->source->path) + 2);
  if (partly)
    g_clear_error (&bad);
  else
    g_propagate_error (error, bad);
  return partly;
}
