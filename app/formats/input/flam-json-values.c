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

static gboolean
text_is (const FlamJsonText *text, GString **scratch, const char *wanted)
{
  const char *have = text->text;
  gsize length = text->length;

  if (text->escaped)
    have = unescape (text, scratch, &length);
  return length == strlen (wanted) && memcmp (have, wanted, length) == 0;
}

gboolean
flam_json_key_is (FlamJson *json, const char *name)
{
  return text_is (&json->key, &json->key_scratch, name);
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

gboolean
flam_json_string_is (FlamJson *json, const char *text)
{
  return json->token == FLAM_JSON_STRING &&
         text_is (&json->string, &json->scratch, text);
}

/* --- numbers ------------------------------------------------------------- */

/* mantissa * scale * 10^exponent, away from zero at a half. */
gint64
flam_json_get_scaled (FlamJson *json, guint32 scale)
{
  __uint128_t value;
  gint64 exponent = json->exponent;

  if (json->token != FLAM_JSON_NUMBER)
    return json->token == FLAM_JSON_TRUE ? scale : 0;
  value = (__uint128_t)json->mantissa * scale;
  for (; exponent > 0 && value != 0 && value <= G_MAXINT64; exponent--)
    value *= 10;
  if (exponent < -40)
    {
      value = 0;
      exponent = 0;
    }
  for (; exponent < -1; exponent++)
    value /= 10;
  if (exponent == -1)
    value = (value + 5) / 10;
  if (value > G_MAXINT64)
    value = G_MAXINT64;
  return json->negative ? -(gint64)value : (gint64)value;
}

gint64
flam_json_get_int (FlamJson *json)
{
  __uint128_t value = json->mantissa;
  gint64 exponent = json->exponent;

  if (json->token != FLAM_JSON_NUMBER)
    return json->token == FLAM_JSON_TRUE;
  for (; exponent > 0 && value != 0 && value <= G_MAXINT64; exponent--)
    value *= 10;
  for (; exponent < 0 && value != 0; exponent++)
    value /= 10;
  if (value > G_MAXINT64)
    value = G_MAXINT64;
  return json->negative ? -(gint64)value : (gint64)value;
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
