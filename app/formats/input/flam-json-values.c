/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-json.h"

#include <math.h>
#include <string.h>

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

static const char *
unescape (const FlamJsonText *text, GString **scratch, gsize *length)
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
    have = unescape (text, scratch, &length);
  return length == strlen (wanted) && memcmp (have, wanted, length) == 0;
}

const char *
flam_json_get_key (FlamJson *json, gsize *length)
{
  return unescape (&json->key, &json->key_scratch, length);
}

const char *
flam_json_get_string (FlamJson *json, gsize *length)
{
  if (json->token == FLAM_JSON_STRING)
    return unescape (&json->string, &json->scratch, length);
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

/* value * 10^exponent; more than fits stays more than fits. */
static __uint128_t
shift_up (__uint128_t value, gint64 exponent)
{
  for (; exponent > 0 && value != 0 && value <= G_MAXINT64; exponent--)
    value *= 10;
  return value;
}

/* value / 10^places, cut. A division of 128 bits costs ten of 64. */
static __uint128_t
shift_down (__uint128_t value, gint64 places)
{
  for (; places > 0 && value > G_MAXUINT64; places--)
    value /= 10;
  if (places >= (gint64)G_N_ELEMENTS (powers))
    return 0;
  return places > 0 ? (guint64)value / powers[places] : value;
}

/* mantissa * scale * 10^exponent, away from zero at a half. */
gint64
flam_json_get_scaled (FlamJson *json, guint32 scale)
{
  __uint128_t value = (__uint128_t)json->mantissa * scale;

  if (json->token != FLAM_JSON_NUMBER)
    return json->token == FLAM_JSON_TRUE ? scale : 0;
  if (json->exponent >= 0)
    return with_sign (json, shift_up (value, json->exponent));
  return with_sign (json, (shift_down (value, -json->exponent - 1) + 5) / 10);
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

void
flam_json_get_ints (FlamJson *json, GArray *into)
{
  guint depth = flam_json_enter (json);

  while (flam_json_element (json, depth))
    {
      gint64 value = flam_json_get_int (json);
      g_array_append_val (into, value);
    }
}
