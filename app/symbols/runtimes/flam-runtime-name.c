/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-name.h"

#include <stdarg.h>
#include <string.h>

#define REPLACEMENT 0xfffdu

FlamRuntimeName *
flam_runtime_name_new (void)
{
  FlamRuntimeName *name = g_malloc (sizeof *name);

  flam_runtime_name_clear (name);
  return name;
}

void
flam_runtime_name_clear (FlamRuntimeName *name)
{
  name->n = 0;
  name->n_lines = 0;
  name->lines_version = 0;
  name->used = 0;
}

FlamRuntimeNamed *
flam_runtime_name_add (FlamRuntimeName *name)
{
  FlamRuntimeNamed *named;

  if (name->n < FLAM_RUNTIME_INLINED_MAX)
    name->n++;
  named = &name->frames[name->n - 1];
  *named = (FlamRuntimeNamed){ .function = "", .type = "", .file = "" };
  return named;
}

/* A text that is being written: characters, then a NUL. */
typedef struct
{
  FlamRuntimeName *name;
  char *start;
  gsize n;
  gsize limit;
} Text;

static Text
begin (FlamRuntimeName *name)
{
  gsize left = sizeof name->texts - name->used;

  return (Text){ name,
                 name->texts + name->used,
                 0,
                 left > 0 ? MIN (left - 1, FLAM_RUNTIME_TEXT_MAX) : 0 };
}

static gboolean
put (Text *text, gunichar c)
{
  gboolean good = c >= 0x20 && c != 0x7f && g_unichar_validate (c);
  char bytes[6];
  gsize n = (gsize)g_unichar_to_utf8 (good ? c : REPLACEMENT, bytes);

  if (n > text->limit - text->n)
    return FALSE;
  memcpy (text->start + text->n, bytes, n);
  text->n += n;
  return TRUE;
}

static const char *
end (Text *text)
{
  if (text->n == 0)
    return "";
  text->start[text->n] = '\0';
  text->name->used += text->n + 1;
  return text->start;
}

static void
put_utf8 (Text *text, const char *bytes, gsize size)
{
  gsize at = 0;

  while (at < size && bytes[at] != '\0')
    {
      gunichar c = g_utf8_get_char_validated (bytes + at, (gssize)(size - at));
      gboolean bad = c == (gunichar)-1 || c == (gunichar)-2;

      if (!put (text, bad ? REPLACEMENT : c))
        return;
      at += bad ? 1 : (gsize)g_utf8_skip[(guchar)bytes[at]];
    }
}

const char *
flam_runtime_name_utf8 (FlamRuntimeName *name, const void *bytes, gsize size)
{
  Text text = begin (name);

  put_utf8 (&text, bytes, size);
  return end (&text);
}

const char *
flam_runtime_name_latin1 (FlamRuntimeName *name, const void *bytes, gsize size)
{
  const guint8 *in = bytes;
  Text text = begin (name);

  for (gsize i = 0; i < size && in[i] != 0; i++)
    if (!put (&text, in[i]))
      break;
  return end (&text);
}

const char *
flam_runtime_name_utf16 (FlamRuntimeName *name, const void *units, gsize n)
{
  Text text = begin (name);

  for (gsize i = 0; i < n; i++)
    {
      guint16 unit, next = 0;
      gunichar c;

      memcpy (&unit, (const guint8 *)units + 2 * i, sizeof unit);
      if (i + 1 < n)
        memcpy (&next, (const guint8 *)units + 2 * (i + 1), sizeof next);
      c = unit;
      if (unit == 0)
        break;
      if (unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000)
        {
          c = 0x10000 + ((gunichar)(unit - 0xd800) << 10) + (next - 0xdc00);
          i++;
        }
      if (!put (&text, c))
        break;
    }
  return end (&text);
}

const char *
flam_runtime_name_printf (FlamRuntimeName *name, const char *format, ...)
{
  g_autofree char *made = NULL;
  va_list arguments;

  va_start (arguments, format);
  made = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return flam_runtime_name_utf8 (name, made, strlen (made));
}

const char *
flam_runtime_name_read (FlamRuntimeName *name,
                        const FlamRuntimeMemory *memory,
                        guint64 address,
                        guint64 size)
{
  char bytes[FLAM_RUNTIME_TEXT_MAX];
  gsize n = (gsize)MIN (size, sizeof bytes);

  return flam_runtime_read (memory, address, bytes, n)
             ? flam_runtime_name_utf8 (name, bytes, n)
             : NULL;
}

const char *
flam_runtime_name_read_string (FlamRuntimeName *name,
                               const FlamRuntimeMemory *memory,
                               guint64 address)
{
  char bytes[FLAM_RUNTIME_TEXT_MAX];
  gsize n = 0;

  /* Pieces that end where a page may end, since the next one may not exist. */
  while (n < sizeof bytes)
    {
      gsize piece = MIN (64 - (gsize)((address + n) % 64), sizeof bytes - n);

      if (!flam_runtime_read (memory, address + n, bytes + n, piece))
        return NULL;
      if (memchr (bytes + n, '\0', piece) != NULL)
        break;
      n += piece;
    }
  return flam_runtime_name_utf8 (name, bytes, sizeof bytes);
}
