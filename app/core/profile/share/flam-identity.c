/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-identity.h"

#include <string.h>

#define PERSONS_MAX 100

struct _FlamIdentity
{
  GPtrArray *homes; /* char *: "/home/ann", the longest first */
  GPtrArray *words; /* char *: "ann" */
};

/* Users that are not persons, and words that do not identify anybody. */
static gboolean
is_common (const char *word)
{
  static const char *const common[] = { "root",   "user",  "users", "home",
                                        "nobody", "build", "host",  "localhost",
                                        "runner", "main",  "test",  NULL };

  return strlen (word) < 2 || g_strv_contains (common, word);
}

/* A crafted file may contain a million names. */
static void
add_once (GPtrArray *list, const char *text, gsize length)
{
  g_autofree char *own = g_strndup (text, length);

  if (list->len < PERSONS_MAX &&
      !g_ptr_array_find_with_equal_func (list, own, g_str_equal, NULL))
    g_ptr_array_add (list, g_steal_pointer (&own));
}

static void
add_word (FlamIdentity *self, const char *word)
{
  if (!is_common (word))
    add_once (self->words, word, strlen (word));
}

static gboolean
is_path_end (char c)
{
  return c == '\0' || strchr ("/\\ \t\n:;,'\"()<>[]{}|", c) != NULL;
}

/* Finds "/home/ann" anywhere in a text. */
static void
find_homes (FlamIdentity *self, const char *text)
{
  static const char *const above[] = { "/home/", "/Users/", "\\Users\\" };

  for (guint i = 0; i < G_N_ELEMENTS (above); i++)
    for (const char *at = text; (at = strstr (at, above[i])) != NULL;)
      {
        const char *name = at + strlen (above[i]);
        const char *end = name;
        g_autofree char *user = NULL;

        while (!is_path_end (*end))
          end++;
        if (end > name)
          {
            add_once (self->homes, at, (gsize)(end - at));
            user = g_strndup (name, (gsize)(end - name));
            add_word (self, user);
          }
        at = end;
      }
  if (g_str_has_prefix (text, "/root/"))
    add_once (self->homes, "/root", 5);
}

static int
longest_first (gconstpointer a, gconstpointer b)
{
  gsize x = strlen (*(char *const *)a), y = strlen (*(char *const *)b);

  return x != y ? (x < y) - (x > y)
                : strcmp (*(char *const *)a, *(char *const *)b);
}

FlamIdentity *
flam_identity_new (const FlamStrings *strings,
                   const char *home,
                   const char *const *words)
{
  FlamIdentity *self = g_new0 (FlamIdentity, 1);

  self->homes = g_ptr_array_new_with_free_func (g_free);
  self->words = g_ptr_array_new_with_free_func (g_free);
  for (FlamId i = 0; i < strings->offsets.n; i++)
    find_homes (self, flam_strings_get (strings, i));
  if (home != NULL && strlen (home) > 1)
    add_once (self->homes, home, strlen (home));
  for (guint i = 0; words != NULL && words[i] != NULL; i++)
    add_word (self, words[i]);
  g_ptr_array_sort (self->homes, longest_first);
  g_ptr_array_sort (self->words, longest_first);
  return self;
}

void
flam_identity_free (FlamIdentity *self)
{
  g_ptr_array_unref (self->homes);
  g_ptr_array_unref (self->words);
  g_free (self);
}

/* The index of the home folder that begins here, or -1. */
static int
home_at (const FlamIdentity *self, const char *text)
{
  for (guint i = 0; i < self->homes->len; i++)
    {
      const char *home = self->homes->pdata[i];

      if (*text == *home && g_str_has_prefix (text, home) &&
          is_path_end (text[strlen (home)]))
        return (int)i;
    }
  return -1;
}

static gboolean
is_of_word (char c)
{
  return g_ascii_isalnum (c) || (guchar)c >= 0x80;
}

/* A name may contain characters that separate words elsewhere: "ann-laptop". */
static gsize
word_at (const FlamIdentity *self, const char *text)
{
  for (guint i = 0; i < self->words->len; i++)
    {
      const char *word = self->words->pdata[i];
      gsize length = strlen (word);

      if (*text == *word && strncmp (text, word, length) == 0 &&
          !is_of_word (text[length]))
        return length;
    }
  return 0;
}

char *
flam_identity_shorten (const FlamIdentity *self,
                       const char *text,
                       gboolean words,
                       guint *counted)
{
  GString *out = g_string_sized_new (strlen (text));
  gboolean inside = FALSE; /* inside a word */

  for (const char *at = text; *at != '\0';)
    {
      int home = home_at (self, at);
      gsize length = home < 0 && words && !inside ? word_at (self, at) : 0;

      if (home < 0 && length == 0)
        {
          inside = is_of_word (*at);
          g_string_append_c (out, *at++);
          continue;
        }
      *counted += 1;
      inside = FALSE;
      if (home > 0)
        g_string_append_printf (out, "~%d", home + 1);
      else
        g_string_append (out, home == 0 ? "~" : "user");
      at += home >= 0 ? strlen (self->homes->pdata[home]) : length;
    }
  return g_string_free (out, FALSE);
}
