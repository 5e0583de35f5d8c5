/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-arena.h"

typedef struct
{
  gpointer data;
  GDestroyNotify end;
} One;

void
flam_arena_init (FlamArena *kept)
{
  flam_column_init (&kept->all, sizeof (One));
}

void
flam_arena_clear (FlamArena *kept)
{
  for (gsize i = kept->all.n; i > 0; i--)
    {
      const One *one = &flam_column_at (&kept->all, One, i - 1);
      one->end (one->data);
    }
  flam_column_clear (&kept->all);
}

gpointer
flam_arena_add (FlamArena *kept, gpointer data, GDestroyNotify end)
{
  One one = { data, end };

  flam_column_append (&kept->all, One, one);
  return data;
}

GHashTable *
flam_arena_add_table (FlamArena *kept, FlamKey key, GDestroyNotify free_value)
{
  static const struct
  {
    GHashFunc hash;
    GEqualFunc equal;
    GDestroyNotify free;
  } keys[] = {
    [FLAM_KEY_DIRECT] = { NULL, NULL, NULL },
    [FLAM_KEY_TEXT] = { g_str_hash, g_str_equal, g_free },
    [FLAM_KEY_LENT] = { g_str_hash, g_str_equal, NULL },
    [FLAM_KEY_NUMBER] = { flam_hash_int64, g_int64_equal, g_free },
  };
  GHashTable *table = g_hash_table_new_full (
      keys[key].hash, keys[key].equal, keys[key].free, free_value);

  return flam_arena_add (kept, table, (GDestroyNotify)g_hash_table_unref);
}

static void
free_string (gpointer string)
{
  g_string_free (string, TRUE);
}

GString *
flam_arena_add_string (FlamArena *kept)
{
  return flam_arena_add (kept, g_string_new (NULL), free_string);
}

void
flam_arena_add_column (FlamArena *kept, FlamColumn *column, gsize size)
{
  flam_column_init (column, size);
  flam_arena_add (kept, column, (GDestroyNotify)flam_column_clear);
}

void
flam_arena_add_interner (FlamArena *kept, FlamInterner *interner)
{
  flam_interner_init (interner);
  flam_arena_add (kept, interner, (GDestroyNotify)flam_interner_clear);
}
