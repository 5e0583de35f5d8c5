/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-history.h"

#include "flam-regex.h"

#include <string.h>

/* --- the captures --------------------------------------------------------- */

static void
refusal_free (gpointer data)
{
  FlamRefusal *refusal = data;

  g_free (refusal->name);
  g_free (refusal->why);
  g_free (refusal);
}

GPtrArray *
flam_history_new_captures (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify)flam_figures_unref);
}

GPtrArray *
flam_history_new_refused (void)
{
  return g_ptr_array_new_with_free_func (refusal_free);
}

void
flam_history_add_refusal (GPtrArray *refused, const char *name, const char *why)
{
  FlamRefusal *refusal = g_new (FlamRefusal, 1);

  refusal->name = g_strdup (name);
  refusal->why = g_strdup (why);
  g_ptr_array_add (refused, refusal);
}

/* Captures of one date keep their given order. */
static int
compare_dates (gconstpointer a, gconstpointer b)
{
  const FlamFigures *x = *(FlamFigures *const *)a;
  const FlamFigures *y = *(FlamFigures *const *)b;

  return (x->date > y->date) - (x->date < y->date);
}

FlamHistory *
flam_history_new (GPtrArray *captures, GPtrArray *refused)
{
  FlamHistory *history = g_atomic_rc_box_new0 (FlamHistory);

  g_ptr_array_sort (captures, compare_dates);
  history->captures = captures;
  history->refused = refused;
  return history;
}

FlamHistory *
flam_history_ref (const FlamHistory *history)
{
  return g_atomic_rc_box_acquire ((gpointer)history);
}

static void
clear (gpointer data)
{
  FlamHistory *history = data;

  g_ptr_array_unref (history->captures);
  g_ptr_array_unref (history->refused);
}

void
flam_history_unref (FlamHistory *history)
{
  g_atomic_rc_box_release_full (history, clear);
}

const FlamFigures *
flam_history_find (const FlamHistory *history,
                   const char *path,
                   gint64 modified,
                   gint64 size)
{
  for (guint i = 0; i < history->captures->len; i++)
    {
      const FlamFigures *figures = flam_history_get (history, i);

      if (figures->modified == modified && figures->size == size &&
          strcmp (figures->path, path) == 0)
        return figures;
    }
  return NULL;
}

gboolean
flam_history_has_folders (const FlamHistory *history)
{
  g_autofree char *first = NULL;

  for (guint i = 0; i < history->captures->len; i++)
    {
      g_autofree char *folder =
          g_path_get_dirname (flam_history_get (history, i)->name);

      if (first == NULL)
        first = g_steal_pointer (&folder);
      else if (strcmp (first, folder) != 0)
        return TRUE;
    }
  return FALSE;
}

/* --- the key -------------------------------------------------------------- */

/* Paths are short, and each is matched only once per key. */
#define MOST_STEPS 100000

/* The first group that has a name: "(?<name>", "(?P<name>" or "(?'name'". */
static int
named_group (const GRegex *regex, const char *pattern)
{
  for (const char *p = strstr (pattern, "(?"); p != NULL;
       p = strstr (p + 2, "(?"))
    {
      const char *name = p + 2 + (p[2] == 'P');
      g_autofree char *word = NULL;
      int number;

      if (*name != '<' && *name != '\'')
        continue;
      word = g_strndup (name + 1, strcspn (name + 1, ">'"));
      number = *word != '\0' ? g_regex_get_string_number (regex, word) : -1;
      if (number > 0)
        return number;
    }
  return 0;
}

gboolean
flam_history_key_init (FlamHistoryKey *key, const char *pattern, GError **error)
{
  *key = (FlamHistoryKey){ NULL, 0 };
  if (pattern == NULL || *pattern == '\0')
    return TRUE;
  key->regex = flam_regex_new_limited (pattern, 0, MOST_STEPS, error);
  if (key->regex == NULL)
    return FALSE;
  key->group = named_group (key->regex, pattern);
  if (key->group == 0 && g_regex_get_capture_count (key->regex) > 0)
    key->group = 1;
  return TRUE;
}

void
flam_history_key_clear (FlamHistoryKey *key)
{
  g_clear_pointer (&key->regex, g_regex_unref);
}

/* For alternatives, "a(1)|b(2)", the group that matched is used. */
static char *
match_name (const FlamHistoryKey *key, const char *name, GError **error)
{
  g_autoptr (GMatchInfo) match = NULL;
  g_autofree char *found = NULL;

  if (key->regex == NULL || !g_utf8_validate (name, -1, NULL) ||
      !g_regex_match_full (key->regex, name, -1, 0, 0, &match, error))
    return NULL;
  for (int group = key->group; group < g_match_info_get_match_count (match) &&
                               (found == NULL || *found == '\0');
       group++)
    {
      g_free (found);
      found = g_match_info_fetch (match, group);
    }
  return found != NULL && *found != '\0' ? g_steal_pointer (&found) : NULL;
}

char *
flam_history_key_match (const FlamHistoryKey *key, const char *name)
{
  return match_name (key, name, NULL);
}

gboolean
flam_history_key_check (const FlamHistoryKey *key,
                        const FlamHistory *history,
                        GError **error)
{
  for (guint i = 0; i < history->captures->len; i++)
    {
      const char *name = flam_history_get (history, i)->name;
      g_autoptr (GError) why = NULL;

      g_free (match_name (key, name, &why));
      if (why != NULL)
        return flam_error_set (
            error,
            FLAM_ERROR_INVALID,
            N_ ("the regular expression takes too long on “%s”"),
            name);
    }
  return TRUE;
}

/* --- series --------------------------------------------------------------- */

static void
series_clear (gpointer data)
{
  FlamHistorySeries *series = data;

  g_free (series->name);
  g_free (series->captures);
}

static int
compare_series (gconstpointer a, gconstpointer b)
{
  const FlamHistorySeries *x = a, *y = b;

  if (x->name == NULL || y->name == NULL)
    return (x->name == NULL) - (y->name == NULL);
  return strcmp (x->name, y->name);
}

GArray *
flam_history_series (const FlamHistory *history, const FlamHistoryKey *key)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (FlamHistorySeries));
  g_autoptr (GHashTable) members = g_hash_table_new_full (
      g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
  GHashTableIter iter;
  gpointer name, list;

  g_array_set_clear_func (all, series_clear);
  for (guint i = 0; i < history->captures->len; i++)
    {
      char *found =
          flam_history_key_match (key, flam_history_get (history, i)->name);
      GArray *captures;

      /* A match is never empty, so "" can stand for captures without one. */
      if (found == NULL)
        found = g_strdup ("");
      captures = g_hash_table_lookup (members, found);
      if (captures == NULL)
        {
          captures = g_array_new (FALSE, FALSE, sizeof (guint));
          g_hash_table_insert (members, g_strdup (found), captures);
        }
      g_array_append_val (captures, i);
      g_free (found);
    }
  g_hash_table_iter_init (&iter, members);
  while (g_hash_table_iter_next (&iter, &name, &list))
    {
      GArray *captures = list;
      FlamHistorySeries series = {
        *(char *)name != '\0' ? g_strdup (name) : NULL,
        captures->len,
        g_memdup2 (captures->data, captures->len * sizeof (guint)),
      };

      g_array_append_val (all, series);
    }
  g_array_sort (all, compare_series);
  return all;
}

/* --- functions ------------------------------------------------------------ */

static int
compare_totals (gconstpointer a, gconstpointer b, gpointer largest)
{
  const char *x = *(char *const *)a, *y = *(char *const *)b;
  gint64 s = *(gint64 *)g_hash_table_lookup (largest, x);
  gint64 t = *(gint64 *)g_hash_table_lookup (largest, y);

  return s != t ? (s > t ? -1 : 1) : strcmp (x, y);
}

GPtrArray *
flam_history_functions (const FlamHistory *history, const char *id)
{
  GPtrArray *names = g_ptr_array_new ();
  g_autoptr (GHashTable) largest =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);

  for (guint i = 0; i < history->captures->len; i++)
    {
      const FlamFigures *figures = flam_history_get (history, i);
      const FlamFiguresMeasure *measure = id != NULL
                                              ? flam_figures_find (figures, id)
                                              : flam_figures_selected (figures);

      for (guint k = 0; measure != NULL && k < measure->n_functions; k++)
        {
          char *name = measure->functions[k].name;
          gint64 *total = g_hash_table_lookup (largest, name);

          if (total == NULL)
            {
              total = g_new0 (gint64, 1);
              g_hash_table_insert (largest, name, total);
              g_ptr_array_add (names, name);
            }
          *total =
              MAX (*total,
                   measure->functions[k].total / measure->measure.denominator);
        }
    }
  g_ptr_array_sort_with_data (names, compare_totals, largest);
  return names;
}
