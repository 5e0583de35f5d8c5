/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Texts of the lower floors in the reader's language. The oracle is gettext
 * itself: its translation of a text without arguments, and the part before the
 * first argument of a text with arguments. */

#include "flam-core-picture.h"

#include <gnu/libc-version.h>
#include <libintl.h>
#include <locale.h>
#include <string.h>

/* Every text that can be translated. */
static const struct
{
  const char *one;
  const char *many; /* NULL: it has no plural */
} known[] = {
#include "flam-message-known.h"
};

/* `format` as formatted by printf, with a name or a number for each
 * argument. */
static char *
sample_of (const char *format, const char *number)
{
  GString *out = g_string_new (NULL);
  guint n = 0;

  for (; *format != '\0'; format++)
    if (format[0] != '%')
      g_string_append_c (out, *format);
    else if (format[1] == '%')
      g_string_append_c (out, *++format);
    else
      {
        format += strcspn (format, "diuxfgs");
        if (*format == 's')
          g_string_append_printf (out, "thing%u.x", ++n);
        else
          g_string_append (out, number);
      }
  return g_string_free (out, FALSE);
}

static void
check_begins (const char *shown, const char *translation)
{
  gsize literal = strcspn (translation, "%");

  if (strncmp (shown, translation, literal) != 0)
    g_error ("“%s” does not begin as “%s”", shown, translation);
}

static void
check_text (const char *one, const char *many)
{
  g_autofree char *sample = sample_of (one, "1");
  g_autofree char *shown = flam_message_shown (sample);

  check_begins (shown, many != NULL ? ngettext (one, many, 1) : gettext (one));
  if (strchr (one, '%') == NULL)
    g_assert_cmpstr (shown, ==, gettext (one));
  if (many != NULL)
    {
      g_autofree char *samples = sample_of (many, "7");
      g_autofree char *all = flam_message_shown (samples);

      check_begins (all, ngettext (one, many, 7));
    }
}

static void
test_all (void)
{
  const guint n = G_N_ELEMENTS (known);
  guint translated = 0;

  for (guint i = 0; i < n; i++)
    {
      check_text (known[i].one, known[i].many);
      translated += strcmp (gettext (known[i].one), known[i].one) != 0;
    }
  g_assert_cmpuint (n, >, 400);
  /* Names are the same in every language: "Java Flight Recording". */
  g_assert_cmpuint (translated, >, n * 9 / 10);
}

static void
test_parts (void)
{
  static const struct
  {
    const char *made;
    const char *shown;
  } cases[] = {
    { "the document is empty", "das Dokument ist leer" },
    { "a: b.json: the document is empty (at byte 3)",
      "a: b.json: das Dokument ist leer (bei Byte 3)" },
    { "1 line is not valid as output of gdb and was left out: line 12",
      "1 Zeile ist als Ausgabe von gdb nicht gültig und wurde weggelassen: "
      "Zeile 12" },
    { "7 lines are not valid as output of gdb and were left out; the first is "
      "line 12",
      "7 Zeilen sind als Ausgabe von gdb nicht gültig und wurden "
      "weggelassen; die erste ist Zeile 12" },
    { "export: /a/100%s.svg: cannot be written: no room for it",
      "export: /a/100%s.svg: kann nicht geschrieben werden: no room for it" },
    { "a.json: cannot be opened: out of order",
      "a.json: lässt sich nicht öffnen: out of order" },
    { "cycles:u", "cycles:u" },
    { "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shown = flam_message_shown (cases[i].made);

      g_assert_cmpstr (shown, ==, cases[i].shown);
    }
}

static void
test_neutral (void)
{
  g_assert_true (g_setenv ("LANGUAGE", "C", TRUE));
  setlocale (LC_ALL, "C");
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    {
      g_autofree char *sample = sample_of (known[i].one, "1");
      g_autofree char *shown = flam_message_shown (sample);

      g_assert_cmpstr (shown, ==, sample);
    }
}

/* A text that stands alone begins with a capital; a name does not change. */
static void
test_sentences (void)
{
  static const struct
  {
    const char *made, *shown;
  } cases[] = {
    { "file not found: /a", "File not found: /a" },
    { "a.json: cannot be opened: out of order",
      "a.json: cannot be opened: out of order" },
    { "cycles:u", "cycles:u" },
    { "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shown = flam_message_sentence (cases[i].made);

      g_assert_cmpstr (shown, ==, cases[i].shown);
    }
}

/* Texts of a damaged capture. */
static void
test_hostile (void)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < 1000; i++)
    {
      g_autofree char *shown = flam_message_shown (text->str);

      g_assert_cmpuint (strlen (shown), >=, text->len / 4);
      g_string_append (text,
                       i % 3 == 0   ? ": "
                       : i % 3 == 1 ? "%s"
                                    : " (at byte ");
    }
  g_string_free (text, TRUE);
}

static void
test_nothing (void)
{
  g_test_skip ("this C library translates nothing in C.UTF-8");
}

int
main (int argc, char **argv)
{
  g_setenv ("LANGUAGE", "de", TRUE);
  setlocale (LC_ALL, "C.UTF-8");
  g_test_init (&argc, &argv, NULL);
  flam_message_init (g_getenv ("FLAM_CATALOGUES"));
  /* glibc 2.41 treats C.UTF-8 as C, and the machine may have no other
   * locale. */
  if (strcmp (gettext ("the document is empty"), "the document is empty") ==
          0 &&
      strcmp (gnu_get_libc_version (), "2.41") >= 0)
    {
      g_test_add_func ("/message/none", test_nothing);
      return g_test_run ();
    }
  g_test_add_func ("/message/all", test_all);
  g_test_add_func ("/message/parts", test_parts);
  g_test_add_func ("/message/hostile", test_hostile);
  g_test_add_func ("/message/neutral", test_neutral);
  g_test_add_func ("/message/sentences", test_sentences);
  return g_test_run ();
}
