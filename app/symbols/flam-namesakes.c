/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-namesakes.h"

#include "flam-demangle.h"

#include <string.h>

struct _FlamNamesakes
{
  GHashTable *names; /* function -> name with parameters */
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

/* Functions that have a linker name. */
static GArray *
sort_functions (const FlamProfile *profile)
{
  const FlamFunctions *functions = &profile->functions;
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (Namesake));

  for (FlamId i = 0; i < functions->n; i++)
    {
      Namesake row = { functions->name[i], i };

      if (functions->system_name[i] != functions->name[i])
        g_array_append_val (rows, row);
    }
  g_array_sort (rows, compare_names);
  return rows;
}

/* A constructor has several linker names, but the same parameters in all. */
static void
add_names (FlamNamesakes *self,
           const FlamProfile *profile,
           const Namesake *rows,
           guint n)
{
  g_autoptr (GPtrArray) whole = g_ptr_array_new_with_free_func (g_free);
  gboolean differ = FALSE;

  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (
          whole,
          flam_demangle_whole (flam_profile_string (
              profile, profile->functions.system_name[rows[i].function])));
      differ |= g_strcmp0 (whole->pdata[i], whole->pdata[0]) != 0;
    }
  for (guint i = 0; differ && i < n; i++)
    if (whole->pdata[i] != NULL)
      g_hash_table_insert (self->names,
                           GUINT_TO_POINTER (rows[i].function),
                           g_steal_pointer (&whole->pdata[i]));
}

FlamNamesakes *
flam_namesakes_new (const FlamProfile *profile)
{
  FlamNamesakes *self = g_atomic_rc_box_new0 (FlamNamesakes);
  g_autoptr (GArray) rows = sort_functions (profile);

  self->names = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  for (guint i = 0, n; i < rows->len; i += n)
    {
      const Namesake *first = &g_array_index (rows, Namesake, i);

      for (n = 1; i + n < rows->len && first[n].name == first->name;)
        n++;
      if (n > 1)
        add_names (self, profile, first, n);
    }
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
