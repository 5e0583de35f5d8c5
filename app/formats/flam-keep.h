/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a piece of work keeps until it is done, and frees then, newest first:
 * so that whoever makes a table does not say again where it ends. Of anything
 * with a member `kept`: a FlamLoad, a FlamExport. */

#include "flam-columns.h"

typedef struct
{
  FlamColumn all;
} FlamKept;

typedef enum
{
  FLAM_KEY_DIRECT, /* a small number or a pointer */
  FLAM_KEY_TEXT,   /* char *, which becomes the table's */
  FLAM_KEY_LENT,   /* char *, which lives on elsewhere */
  FLAM_KEY_NUMBER, /* 64 bits, by pointer, which becomes the table's */
} FlamKey;

void flam_kept_init (FlamKept *kept);
void flam_kept_clear (FlamKept *kept);
gpointer flam_kept_add (FlamKept *kept, gpointer data, GDestroyNotify end);
/* `free_value` may be NULL. */
GHashTable *
flam_kept_table (FlamKept *kept, FlamKey key, GDestroyNotify free_value);
GString *flam_kept_string (FlamKept *kept);
void flam_kept_column (FlamKept *kept, FlamColumn *column, gsize size);
void flam_kept_interner (FlamKept *kept, FlamInterner *interner);

/* Of a type with a function that ends it. */
#define flam_keep(work, what, end)                                             \
  flam_kept_add (&(work)->kept, what, (GDestroyNotify)(end))
/* Zeroed memory, also for what is kept itself. */
#define flam_keep_vector(work, Type, n)                                        \
  ((Type *)flam_keep (work, g_new0 (Type, n), g_free))
#define flam_keep_new(work, Type) flam_keep_vector (work, Type, 1)
#define flam_keep_array(work, Type)                                            \
  ((GArray *)flam_keep (                                                       \
      work, g_array_new (FALSE, FALSE, sizeof (Type)), g_array_unref))
/* What it grows by with g_array_set_size() is zero. */
#define flam_keep_zeroed(work, Type)                                           \
  ((GArray *)flam_keep (                                                       \
      work, g_array_new (FALSE, TRUE, sizeof (Type)), g_array_unref))
#define flam_keep_pointers(work, free_one)                                     \
  ((GPtrArray *)flam_keep (                                                    \
      work, g_ptr_array_new_with_free_func (free_one), g_ptr_array_unref))
#define flam_keep_table(work, key, free_value)                                 \
  flam_kept_table (&(work)->kept, key, free_value)
#define flam_keep_string(work) flam_kept_string (&(work)->kept)
/* Of memory that is kept, too. */
#define flam_keep_column_of(work, column, size)                                \
  flam_kept_column (&(work)->kept, column, size)
#define flam_keep_column(work, column, Type)                                   \
  flam_keep_column_of (work, column, sizeof (Type))
#define flam_keep_interner(work, interner)                                     \
  flam_kept_interner (&(work)->kept, interner)
