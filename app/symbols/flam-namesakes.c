/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-namesakes.h"

#include "flam-demangle.h"

#include <string.h>

struct _FlamNamesakes
{
  const FlamProfile *profile; /* until it is complete */
  GHashTable *names;          /* function -> its name and what tells it apart */
};

/* The functions of one name, which come in a row. */
typedef struct
{
  FlamStringId name;
  FlamFunctionId function;
} Namesake;

static int
compare_names (gconstpointer a, gconstpointer b)
{
  const Namesake *x = a, *y = b;

  if (x->name != y->name)
    return x->name < y->name ? -1 : 1;
  return (x->function > y->function) - (x->function < y->function);
}

/* "[unknown]" and the like are not names. */
static GArray *
sort_functions (const FlamProfile *profile)
{
  const FlamFunctions *functions = &profile->functions;
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (Namesake));

  for (FlamId i = 0; i < functions->n; i++)
    {
      Namesake row = { functions->name[i], i };

      if (*flam_profile_string (profile, row.name) != '[')
        g_array_append_val (rows, row);
    }
  g_array_sort (rows, compare_names);
  return rows;
}

static const char *
name_of (const FlamNamesakes *self, FlamFunctionId function)
{
  const char *whole = flam_namesakes_get (self, function);

  return whole != NULL
             ? whole
             : flam_profile_string (self->profile,
                                    self->profile->functions.name[function]);
}

/* --- parameters ----------------------------------------------------------- */

/* A constructor has several linker names, but the same parameters in all. */
static void
add_parameters (FlamNamesakes *self, const Namesake *rows, guint n)
{
  const FlamFunctions *functions = &self->profile->functions;
  g_autoptr (GPtrArray) whole = g_ptr_array_new_with_free_func (g_free);
  const char *first = NULL;
  gboolean differ = FALSE;

  for (guint i = 0; i < n; i++)
    {
      FlamStringId linked = functions->system_name[rows[i].function];
      char *text = NULL;

      if (linked != rows[i].name)
        text =
            flam_demangle_whole (flam_profile_string (self->profile, linked));
      g_ptr_array_add (whole, text);
      if (linked == rows[i].name)
        continue;
      differ |= first != NULL && g_strcmp0 (text, first) != 0;
      first = text != NULL ? text : "";
    }
  for (guint i = 0; differ && i < n; i++)
    if (whole->pdata[i] != NULL)
      g_hash_table_insert (self->names,
                           GUINT_TO_POINTER (rows[i].function),
                           g_steal_pointer (&whole->pdata[i]));
}

/* --- places --------------------------------------------------------------- */

/* The functions that look the same. */
typedef struct
{
  FlamStringId file; /* of the first that has one */
  FlamModuleId module;
  gboolean files_differ, modules_differ;
  GHashTable *paths; /* last part of a path -> the path, NULL for several */
} Alike;

static void
alike_free (gpointer data)
{
  Alike *self = data;

  g_hash_table_unref (self->paths);
  g_free (self);
}

static const char *
path_of (const FlamProfile *profile,
         const Alike *alike,
         FlamFunctionId function)
{
  FlamModuleId module = profile->functions.module[function];
  const char *file =
      flam_profile_string (profile, profile->functions.file[function]);

  if (alike->files_differ && *file != '\0')
    return file;
  if (!alike->modules_differ || module == FLAM_NONE)
    return "";
  return flam_profile_string (profile, profile->modules.path[module]);
}

static const char *
last_part (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash != NULL ? slash + 1 : path;
}

/* With its folder, if that is needed. */
static const char *
short_path (const Alike *alike, const char *path)
{
  const char *base = last_part (path);

  if (g_hash_table_lookup (alike->paths, base) != NULL)
    return base;
  for (const char *at = base - 1; at > path; at--)
    if (at[-1] == '/')
      return at;
  return path;
}

static void
note_path (Alike *alike, const char *path)
{
  const char *base = last_part (path);
  gpointer other = NULL;

  if (!g_hash_table_lookup_extended (alike->paths, base, NULL, &other))
    g_hash_table_insert (alike->paths, (gpointer)base, (gpointer)path);
  else if (other != NULL && strcmp (other, path) != 0)
    g_hash_table_insert (alike->paths, (gpointer)base, NULL);
}

/* Only known files and modules can differ: a function that was first found
 * without its lines and then with them is in the profile twice. */
static void
note_place (Alike *alike,
            const FlamFunctions *functions,
            FlamFunctionId function)
{
  FlamStringId file = functions->file[function];
  FlamModuleId module = functions->module[function];

  alike->files_differ |= file != 0 && alike->file != 0 && file != alike->file;
  alike->modules_differ |= module != FLAM_NONE && alike->module != FLAM_NONE &&
                           module != alike->module;
  if (alike->file == 0)
    alike->file = file;
  if (alike->module == FLAM_NONE)
    alike->module = module;
}

static GHashTable *
find_alike (const FlamNamesakes *self, const Namesake *rows, guint n)
{
  const FlamFunctions *functions = &self->profile->functions;
  GHashTable *found =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, alike_free);

  for (guint i = 0; i < n; i++)
    {
      FlamFunctionId function = rows[i].function;
      const char *name = name_of (self, function);
      Alike *alike = g_hash_table_lookup (found, name);

      if (alike == NULL)
        {
          alike = g_new0 (Alike, 1);
          alike->module = FLAM_NONE;
          alike->paths = g_hash_table_new (g_str_hash, g_str_equal);
          g_hash_table_insert (found, g_strdup (name), alike);
        }
      note_place (alike, functions, function);
    }
  return found;
}

static void
add_places (FlamNamesakes *self, const Namesake *rows, guint n)
{
  g_autoptr (GHashTable) alike = find_alike (self, rows, n);
  g_autofree char **whole = g_new0 (char *, n);

  for (guint i = 0; i < n; i++)
    {
      Alike *of = g_hash_table_lookup (alike, name_of (self, rows[i].function));

      note_path (of, path_of (self->profile, of, rows[i].function));
    }
  for (guint i = 0; i < n; i++)
    {
      const char *name = name_of (self, rows[i].function);
      const Alike *of = g_hash_table_lookup (alike, name);
      const char *path = path_of (self->profile, of, rows[i].function);

      if (*path != '\0')
        whole[i] = g_strdup_printf ("%s (%s)", name, short_path (of, path));
    }
  for (guint i = 0; i < n; i++)
    if (whole[i] != NULL)
      g_hash_table_insert (
          self->names, GUINT_TO_POINTER (rows[i].function), whole[i]);
}

FlamNamesakes *
flam_namesakes_new (const FlamProfile *profile)
{
  FlamNamesakes *self = g_atomic_rc_box_new0 (FlamNamesakes);
  g_autoptr (GArray) rows = sort_functions (profile);

  self->profile = profile;
  self->names = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  for (guint i = 0, n; i < rows->len; i += n)
    {
      const Namesake *first = &g_array_index (rows, Namesake, i);

      for (n = 1; i + n < rows->len && first[n].name == first->name;)
        n++;
      if (n > 1)
        {
          add_parameters (self, first, n);
          add_places (self, first, n);
        }
    }
  self->profile = NULL;
  return self;
}

FlamNamesakes *
flam_namesakes_ref (FlamNamesakes *self)
{
  return g_atomic_rc_box_acquire (self);
}

static void
clear (gpointer self)
{
  g_hash_table_unref (((FlamNamesakes *)self)->names);
}

void
flam_namesakes_unref (FlamNamesakes *self)
{
  g_atomic_rc_box_release_full (self, clear);
}

const char *
flam_namesakes_get (const FlamNamesakes *self, FlamFunctionId function)
{
  return function != FLAM_NONE
             ? g_hash_table_lookup (self->names, GUINT_TO_POINTER (function))
             : NULL;
}
