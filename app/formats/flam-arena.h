/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ARENA_H
#define FLAM_ARENA_H

/* The memory and other resources that an operation keeps until its end, when
 * they are freed in reverse order, so that code that allocates a table need not
 * free it. For anything with a member `kept`: a FlamLoad, a FlamExport. */

#include "flam-core-profile.h"

typedef struct
{
  FlamColumn all;
} FlamArena;

typedef enum
{
  FLAM_KEY_DIRECT, /* keys: small numbers or pointers */
  FLAM_KEY_TEXT,   /* keys: char *, freed with the table */
  FLAM_KEY_LENT,   /* keys: char *, which must outlive the table */
  FLAM_KEY_NUMBER, /* keys: pointers to 64 bits, freed with the table */
} FlamKey;

void flam_arena_init (FlamArena *kept);
void flam_arena_clear (FlamArena *kept);
gpointer flam_arena_add (FlamArena *kept, gpointer data, GDestroyNotify end);
/* `free_value` may be NULL. */
GHashTable *
flam_arena_add_table (FlamArena *kept, FlamKey key, GDestroyNotify free_value);
GString *flam_arena_add_string (FlamArena *kept);
void flam_arena_add_column (FlamArena *kept, FlamColumn *column, gsize size);
void flam_arena_add_interner (FlamArena *kept, FlamInterner *interner);

/* Keeps a value of a type that has a free function. */
#define flam_arena_keep(work, what, end)                                       \
  flam_arena_add (&(work)->kept, what, (GDestroyNotify)(end))
/* Zeroed memory; also for objects that are kept themselves. */
#define flam_arena_vector(work, Type, n)                                       \
  ((Type *)flam_arena_keep (work, g_new0 (Type, n), g_free))
#define flam_arena_new(work, Type) flam_arena_vector (work, Type, 1)
#define flam_arena_array(work, Type)                                           \
  ((GArray *)flam_arena_keep (                                                 \
      work, g_array_new (FALSE, FALSE, sizeof (Type)), g_array_unref))
/* Elements that g_array_set_size() adds are zero. */
#define flam_arena_zeroed(work, Type)                                          \
  ((GArray *)flam_arena_keep (                                                 \
      work, g_array_new (FALSE, TRUE, sizeof (Type)), g_array_unref))
#define flam_arena_pointers(work, free_one)                                    \
  ((GPtrArray *)flam_arena_keep (                                              \
      work, g_ptr_array_new_with_free_func (free_one), g_ptr_array_unref))
#define flam_arena_table(work, key, free_value)                                \
  flam_arena_add_table (&(work)->kept, key, free_value)
#define flam_arena_string(work) flam_arena_add_string (&(work)->kept)
/* Of kept memory, too. */
#define flam_arena_column_of(work, column, size)                               \
  flam_arena_add_column (&(work)->kept, column, size)
#define flam_arena_column(work, column, Type)                                  \
  flam_arena_column_of (work, column, sizeof (Type))
#define flam_arena_interner(work, interner)                                    \
  flam_arena_add_interner (&(work)->kept, interner)

#endif
