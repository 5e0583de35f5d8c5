/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-path-completion.h"

#include <string.h>

#define ENTRIES_MAX 20000 /* maximum number of entries read from one folder */
#define SPECIAL " \t\"'\\$`*?[]{}();&|<>#~!"

/* --- the word before the cursor ------------------------------------------- */

typedef struct
{
  GString *word;  /* in the form in which it is passed to the program */
  char quote;     /* '"' or '\'' where the word is inside quotes, else 0 */
  gboolean first; /* the program's own name */
} Word;

static Word
last_word (const char *text)
{
  Word word = { .word = g_string_new (NULL), .first = TRUE };
  gboolean in_word = FALSE;

  for (const char *p = text; *p != '\0'; p++)
    {
      gboolean blank = strchr (" \t\n", *p) != NULL;

      if (word.quote == 0 && blank)
        {
          word.first = word.first && !in_word;
          in_word = FALSE;
          g_string_truncate (word.word, 0);
          continue;
        }
      in_word = TRUE;
      if (word.quote == 0 && (*p == '"' || *p == '\''))
        word.quote = *p;
      else if (*p == word.quote)
        word.quote = 0;
      else if (*p == '\\' && word.quote != '\'' && p[1] != '\0')
        g_string_append_c (word.word, *++p);
      else
        g_string_append_c (word.word, *p);
    }
  return word;
}

static char *
escaped (const char *text, char quote)
{
  GString *out = g_string_new (NULL);
  const char *special = quote == 0 ? SPECIAL : quote == '"' ? "\"\\$`" : "";

  for (; *text != '\0'; text++)
    {
      if (strchr (special, *text) != NULL)
        g_string_append_c (out, '\\');
      g_string_append_c (out, *text);
    }
  return g_string_free (out, FALSE);
}

/* --- candidates ----------------------------------------------------------- */

typedef struct
{
  GHashTable
      *names; /* candidates; a set, since PATH may contain a name twice */
  const char *prefix;
  FlamCompleteWhat what;
  gboolean programs; /* executable programs, and folders */
} Matches;

static gboolean
fits (const Matches *matches, const char *path)
{
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return TRUE;
  if (matches->what == FLAM_COMPLETE_FOLDER)
    return FALSE;
  return !matches->programs || g_file_test (path, G_FILE_TEST_IS_EXECUTABLE);
}

static void
look_into (Matches *matches, const char *folder, gboolean files_alone)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  for (guint i = 0;
       dir != NULL && i < ENTRIES_MAX && (name = g_dir_read_name (dir)) != NULL;
       i++)
    {
      g_autofree char *path = NULL;

      if (!g_str_has_prefix (name, matches->prefix) ||
          (*name == '.' && *matches->prefix != '.') ||
          !g_utf8_validate (name, -1, NULL))
        continue;
      path = g_build_filename (folder, name, NULL);
      if (files_alone && g_file_test (path, G_FILE_TEST_IS_DIR))
        continue;
      if (fits (matches, path))
        g_hash_table_add (matches->names, g_strdup (name));
    }
}

static void
look_into_path (Matches *matches)
{
  const char *variable = g_getenv ("PATH");
  g_auto (GStrv) folders =
      g_strsplit (variable != NULL ? variable : "", ":", -1);

  for (guint i = 0; folders[i] != NULL; i++)
    look_into (matches, folders[i], TRUE);
}

/* --- completion ----------------------------------------------------------- */

static int
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *)a, *(char *const *)b);
}

/* The longest common prefix of all, in whole characters. */
static gsize
common_length (const GPtrArray *names)
{
  const char *first = names->pdata[0];
  gsize length = strlen (first);

  for (guint i = 1; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      gsize same = 0;

      while (same < length && first[same] == name[same])
        same++;
      length = same;
    }
  while (length > 0 && (first[length] & 0xc0) == 0x80)
    length--;
  return length;
}

static char *
insertion (const Matches *matches,
           const GPtrArray *names,
           const char *folder,
           char quote)
{
  const char *first = names->pdata[0];
  gsize typed = strlen (matches->prefix);
  g_autofree char *rest = NULL;
  g_autofree char *path = NULL;
  g_autofree char *out = NULL;

  rest = g_strndup (first + typed, MAX (common_length (names), typed) - typed);
  if (matches->what == FLAM_COMPLETE_FOLDER)
    out = g_steal_pointer (&rest);
  else
    out = escaped (rest, quote);
  if (names->len > 1)
    return g_steal_pointer (&out);
  path = folder != NULL ? g_build_filename (folder, first, NULL) : NULL;
  if (path != NULL && g_file_test (path, G_FILE_TEST_IS_DIR))
    return g_strconcat (out, "/", NULL);
  return g_strdup_printf ("%s%.*s ", out, quote != 0 ? 1 : 0, &quote);
}

char *
flam_path_complete (const char *text,
                    const char *cwd,
                    FlamCompleteWhat what,
                    GPtrArray *candidates)
{
  Word word = what == FLAM_COMPLETE_COMMAND
                  ? last_word (text)
                  : (Word){ .word = g_string_new (text) };
  g_autofree char *typed = g_string_free (word.word, FALSE);
  const char *slash = strrchr (typed, '/');
  g_autofree char *above = slash != NULL
                               ? g_strndup (typed, (gsize)(slash - typed) + 1)
                               : g_strdup (".");
  g_autofree char *folder = g_canonicalize_filename (above, cwd);
  g_autoptr (GHashTable) names =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  gboolean in_path =
      what == FLAM_COMPLETE_COMMAND && word.first && slash == NULL;
  Matches matches = { names,
                      slash != NULL ? slash + 1 : typed,
                      what,
                      word.first && what == FLAM_COMPLETE_COMMAND };
  GHashTableIter iter;
  gpointer name;

  if (in_path && *typed != '\0')
    look_into_path (&matches);
  else if (!in_path)
    look_into (&matches, folder, FALSE);
  g_hash_table_iter_init (&iter, names);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_ptr_array_add (sorted, name);
  g_ptr_array_sort (sorted, by_name);
  for (guint i = 0; candidates != NULL && i < sorted->len; i++)
    g_ptr_array_add (candidates, g_strdup (sorted->pdata[i]));
  return sorted->len > 0
             ? insertion (&matches, sorted, in_path ? NULL : folder, word.quote)
             : g_strdup ("");
}
