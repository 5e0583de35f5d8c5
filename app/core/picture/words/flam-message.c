/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Finds the text from which a message was formatted, and translates the
 * message.
 *
 *   known:     "%s: %s (at byte %lu)"           taken from the sources, N_()
 *   message:   "a.json: no document (at byte 3)"
 *   arguments:  1: "a.json"  2: "no document"  3: "3"
 *
 * The known text that shares the most characters with the message is chosen,
 * its translation looked up, and the arguments inserted into that; they are
 * messages, too. A message that matches nothing may begin with a name, or
 * contain a known message: "FILE: message", "FILE: cannot be opened:
 * REASON". */

#include "flam-message.h"

#include "flam-types.h"

#include <libintl.h>
#include <string.h>

/* The catalogues' name: what po/ installs. */
#define DOMAIN "flambeau"

/* A damaged capture may contain anything. */
#define LENGTH_MAX 2048
#define DEPTH_MAX 4
#define ARGUMENTS_MAX 8
#define PIECES_MAX 8

typedef struct
{
  const char *one;
  const char *many;
} Known;

static const Known known[] = {
#include "flam-message-known.h"
};

typedef struct
{
  const char *text;
  gsize length;
} Argument;

typedef struct
{
  guint known;
  gboolean many;
  gsize literal; /* characters in common */
  guint n_arguments;
  Argument arguments[ARGUMENTS_MAX];
} Match;

/* Skips the directive at `format` ('%' …); returns its type: 's', 'd', '%'. */
static const char *
skip_directive (const char *format, char *kind, guint *position)
{
  char *end;
  guint64 number;

  *position = 0;
  format++;
  number = g_ascii_strtoull (format, &end, 10);
  if (end > format && *end == '$')
    {
      *position = (guint)MIN (number, ARGUMENTS_MAX);
      format = end + 1;
    }
  while (*format != '\0' && strchr ("0123456789.+- #'lhzjt", *format) != NULL)
    format++;
  if (*format == '\0')
    return format;
  *kind = strchr ("diuxXfgeG", *format) != NULL ? 'd' : *format;
  return format + 1;
}

static gboolean
is_number (const char *text, gsize length)
{
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_isxdigit (text[i]) && strchr ("+-.e", text[i]) == NULL)
      return FALSE;
  return length > 0;
}

/* The length of the literal text in `format`, to its next directive or end. */
static gsize
literal_length (const char *format)
{
  return strcspn (format, "%");
}

/* The end in `text` of the argument before `format`; NULL: there is none. */
static const char *
find_literal (const char *text, const char *format)
{
  gsize length = literal_length (format);
  gsize left = strlen (text);

  if (length == 0)
    return format[0] == '\0' ? text + left : NULL;
  if (format[length] == '\0')
    return left >= length && strcmp (text + left - length, format) == 0
               ? text + left - length
               : NULL;
  return memmem (text, left, format, length);
}

static gboolean
match_format (const char *format, const char *text, Match *match)
{
  match->literal = 0;
  match->n_arguments = 0;
  while (*format != '\0')
    {
      gsize length = literal_length (format);
      const char *end;
      char kind = '\0';
      guint position;

      if (strncmp (format, text, length) != 0)
        return FALSE;
      match->literal += length;
      format += length;
      text += length;
      if (*format == '\0')
        break;
      format = skip_directive (format, &kind, &position);
      if (kind == '%')
        {
          if (*text++ != '%')
            return FALSE;
          continue;
        }
      end = find_literal (text, format);
      if (end == NULL || match->n_arguments == ARGUMENTS_MAX ||
          (kind == 'd' && !is_number (text, (gsize)(end - text))))
        return FALSE;
      match->arguments[match->n_arguments++] =
          (Argument){ text, (gsize)(end - text) };
      text = end;
    }
  return *text == '\0' && match->literal > 0;
}

static gboolean
find_known (const char *text, Match *best)
{
  best->literal = 0;
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    for (guint many = 0; many < 2; many++)
      {
        const char *format = many ? known[i].many : known[i].one;
        Match match;

        if (format == NULL || !match_format (format, text, &match) ||
            match.literal <= best->literal)
          continue;
        match.known = i;
        match.many = many;
        *best = match;
      }
  return best->literal > 0;
}

static char *show (const char *text, guint depth);

/* The translation, with its directives replaced by the arguments. */
static char *
fill (const char *format, const Match *match, guint depth)
{
  GString *out = g_string_new (NULL);
  guint next = 0;

  while (*format != '\0')
    {
      gsize length = literal_length (format);
      guint position, index;
      char kind = '\0';

      g_string_append_len (out, format, (gssize)length);
      format += length;
      if (*format == '\0')
        break;
      format = skip_directive (format, &kind, &position);
      if (kind == '%')
        {
          g_string_append_c (out, '%');
          continue;
        }
      index = position > 0 ? position - 1 : next++;
      if (index < match->n_arguments)
        {
          const Argument *argument = &match->arguments[index];
          g_autofree char *text = g_strndup (argument->text, argument->length);
          g_autofree char *shown =
              kind == 's' ? show (text, depth + 1) : g_strdup (text);

          g_string_append (out, shown);
        }
    }
  return g_string_free (out, FALSE);
}

static char *
translate (const Match *match, guint depth)
{
  const Known *from = &known[match->known];
  gulong n = 0;

  if (from->many == NULL)
    return fill (g_dgettext (DOMAIN, from->one), match, depth);
  for (guint i = 0; i < match->n_arguments; i++)
    if (g_ascii_isdigit (*match->arguments[i].text))
      {
        n = (gulong)g_ascii_strtoull (match->arguments[i].text, NULL, 10);
        break;
      }
  /* English uses the singular only for 1, and the message shows the number. */
  if (match->many && n == 1)
    n = 2;
  return fill (g_dngettext (DOMAIN, from->one, from->many, n), match, depth);
}

/* "NAME: known: known": each part is translated separately. */
static char *
show_pieces (const char *text, guint depth)
{
  g_auto (GStrv) pieces = g_strsplit (text, ": ", PIECES_MAX);

  for (guint i = 0; pieces[i] != NULL; i++)
    {
      Match match;

      if (find_known (pieces[i], &match))
        {
          char *shown = translate (&match, depth);

          g_free (pieces[i]);
          pieces[i] = shown;
        }
    }
  return g_strjoinv (": ", pieces);
}

static char *
show (const char *text, guint depth)
{
  Match match;

  if (depth >= DEPTH_MAX)
    return g_strdup (text);
  if (find_known (text, &match))
    return translate (&match, depth);
  for (const char *at = strstr (text, ": "); at != NULL;
       at = strstr (at + 2, ": "))
    if (find_known (at + 2, &match))
      {
        g_autofree char *rest = translate (&match, depth);
        g_autofree char *name = g_strndup (text, (gsize)(at - text));

        return g_strconcat (name, ": ", rest, NULL);
      }
  return show_pieces (text, depth);
}

void
flam_message_init (const char *folder)
{
  bindtextdomain (DOMAIN, folder);
  bind_textdomain_codeset (DOMAIN, "UTF-8");
  textdomain (DOMAIN);
}

char *
flam_message_shown (const char *text)
{
  return strlen (text) > LENGTH_MAX ? g_strdup (text) : show (text, 0);
}

char *
flam_message_sentence (const char *text)
{
  g_autofree char *shown = flam_message_shown (text);
  char first[7] = "";
  Match match;

  if (strlen (text) > LENGTH_MAX || !find_known (text, &match) ||
      !g_ascii_islower (*known[match.known].one))
    return g_steal_pointer (&shown);
  g_unichar_to_utf8 (g_unichar_toupper (g_utf8_get_char (shown)), first);
  return g_strconcat (first, g_utf8_next_char (shown), NULL);
}
