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
  FlamJson *json = flam_keep_new (load, FlamJson);
  const guint8 *start = at != NULL ? at : load->source->data;

  flam_keep (load, json, flam_json_clear);
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
