/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-markup.h"

#include <string.h>

void
flam_markup_init (FlamMarkup *markup, const FlamSource *source)
{
  markup->start = markup->at = (const char *)source->data;
  markup->end = markup->start + source->size;
}

double
flam_markup_fraction (const FlamMarkup *markup)
{
  return markup->end == markup->start ? 1
                                      : (double)(markup->at - markup->start) /
                                            (markup->end - markup->start);
}

static gboolean
begins (const char *at, const char *end, const char *text)
{
  gsize length = strlen (text);

  return (gsize)(end - at) >= length && memcmp (at, text, length) == 0;
}

static const char *
behind (const char *at, const char *end, const char *text)
{
  const char *found = memmem (at, end - at, text, strlen (text));

  return found != NULL ? found + strlen (text) : end;
}

/* The end of a construct at `at`, a "<", that is not a tag; NULL: it is a
 * tag. */
static const char *
skip_other (const char *at, const char *end)
{
  if (begins (at, end, "<!--"))
    return behind (at, end, "-->");
  if (begins (at, end, "<![CDATA["))
    return behind (at, end, "]]>");
  if (begins (at, end, "<!") || begins (at, end, "<?"))
    return behind (at, end, ">");
  return NULL;
}

/* A ">" may be in quotes. NULL: the tag has no end. */
static const char *
find_end (const char *at, const char *end)
{
  char quote = '\0';

  for (; at < end; at++)
    if (quote != '\0')
      quote = *at == quote ? '\0' : quote;
    else if (*at == '"' || *at == '\'')
      quote = *at;
    else if (*at == '>')
      return at;
  return NULL;
}

gboolean
flam_markup_next (FlamMarkup *markup, FlamTag *tag)
{
  const char *at = markup->at;
  const char *stop, *name;

  for (;;)
    {
      const char *other;
      at = memchr (at, '<', markup->end - at);
      if (at == NULL)
        return FALSE;
      other = skip_other (at, markup->end);
      if (other == NULL)
        break;
      at = other;
    }
  stop = find_end (at, markup->end);
  if (stop == NULL)
    return FALSE;
  markup->at = stop + 1;
  tag->empty = stop[-1] == '/';
  name = ++at;
  while (at < stop && !g_ascii_isspace (*at) && (*at != '/' || at == name))
    at++;
  tag->name = (FlamSlice){ name, at - name };
  tag->attributes = (FlamSlice){ at, stop - at };
  if (flam_tag_is (tag, "script") && !tag->empty)
    markup->at = behind (markup->at, markup->end, "</script>");
  return TRUE;
}

FlamSlice
flam_markup_text (const FlamMarkup *markup)
{
  const char *stop = memchr (markup->at, '<', markup->end - markup->at);

  if (stop == NULL)
    stop = markup->end;
  return (FlamSlice){ markup->at, stop - markup->at };
}

gboolean
flam_tag_is (const FlamTag *tag, const char *name)
{
  return flam_slice_is (tag->name, name);
}

gboolean
flam_tag_attribute (const FlamTag *tag, const char *name, FlamSlice *value)
{
  const char *at = tag->attributes.text;
  const char *end = at + tag->attributes.length;

  while (at < end)
    {
      FlamSlice key;
      const char *stop;

      while (at < end && (g_ascii_isspace (*at) || *at == '/'))
        at++;
      key.text = at;
      while (at < end && *at != '=' && !g_ascii_isspace (*at))
        at++;
      key.length = at - key.text;
      if (at >= end || *at != '=')
        {
          at += at < end;
          continue;
        }
      if (++at >= end || (*at != '"' && *at != '\''))
        continue;
      stop = memchr (at + 1, *at, end - at - 1);
      if (stop == NULL)
        return FALSE;
      if (flam_slice_is (key, name))
        {
          *value = (FlamSlice){ at + 1, stop - at - 1 };
          return TRUE;
        }
      at = stop + 1;
    }
  return FALSE;
}

/* The character of the entity at `at`; 0: none. */
static gunichar
read_entity (const char *at, const char *end, const char **stop)
{
  static const struct
  {
    const char *text;
    gunichar character;
  } named[] = { { "&amp;", '&' },  { "&lt;", '<' },    { "&gt;", '>' },
                { "&quot;", '"' }, { "&apos;", '\'' }, { "&nbsp;", 0xa0 } };
  const char *p = at + 2;
  guint64 code = 0;
  gint64 decimal = 0;

  for (guint i = 0; i < G_N_ELEMENTS (named); i++)
    if (begins (at, end, named[i].text))
      {
        *stop = at + strlen (named[i].text);
        return named[i].character;
      }
  if (!begins (at, end, "&#"))
    return 0;
  if (p < end && (*p == 'x' || *p == 'X'))
    {
      p++;
      if (!flam_text_hex (&p, end, &code))
        return 0;
    }
  else if (flam_text_number (&p, end, &decimal))
    code = decimal;
  if (p >= end || *p != ';' || code == 0 || code > 0x10ffff ||
      !g_unichar_validate (code))
    return 0;
  *stop = p + 1;
  return code;
}

void
flam_markup_unescape (GString *out, FlamSlice text)
{
  const char *at = text.text;
  const char *end = at + text.length;

  g_string_truncate (out, 0);
  while (at < end)
    {
      const char *entity = memchr (at, '&', end - at);
      const char *stop;
      gunichar character;

      if (entity == NULL)
        entity = end;
      g_string_append_len (out, at, entity - at);
      at = entity;
      if (at == end)
        break;
      character = read_entity (at, end, &stop);
      if (character != 0)
        g_string_append_unichar (out, character);
      else
        g_string_append_c (out, '&');
      at = character != 0 ? stop : at + 1;
    }
}
