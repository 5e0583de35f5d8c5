/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Growable columns, and a hash that interns rows of them.
 *
 * Values live only in columns; the hash holds row numbers, so a row is stored
 * once and growing the hash never touches it:
 *
 *    columns            interner slots (hash, id)
 *    id  prefix frame   +------+---+
 *    0     -     4      | 9f31 | 1 |
 *    1     0     7      |      | - |
 *    2     1     2      | 10c2 | 0 |
 *                       | 77aa | 2 |
 *                       +------+---+
 */

#include "flam-types.h"

#include <string.h>

G_BEGIN_DECLS

/* A vector of fixed-size elements. `data` moves when it grows. */
typedef struct
{
  void *data;
  gsize n;
  gsize allocated;
  guint element_size;
  gboolean shared; /* `data` is counted: snapshots refer to its rows */
} FlamColumn;

void flam_column_init (FlamColumn *column, guint element_size);
void flam_column_init_copy (FlamColumn *column, const FlamColumn *from);
void flam_column_clear (FlamColumn *column);
/* From here on it can be lent: what grows is another piece of memory, and who
 * has the old one keeps it. */
void flam_column_share (FlamColumn *column);
/* The rows there are, without a copy. They are never to be changed. */
void flam_column_init_lent (FlamColumn *column, const FlamColumn *from);
void flam_column_reserve (FlamColumn *column, gsize n);
/* Zeroed rows up to `n`: an optional column begins at the first row that needs
 * it. */
void flam_column_backfill (FlamColumn *column, gsize n);
/* Hands over the memory (g_free), shrunk to fit; the column is empty after. */
void *flam_column_steal (FlamColumn *column);

/* Room for one element more; its address, to be written at once. */
static inline void *
flam_column_push (FlamColumn *column)
{
  if (G_UNLIKELY (column->n == column->allocated))
    flam_column_reserve (column, column->n + 1);
  return (char *)column->data + column->n++ * column->element_size;
}

#define flam_column_append(column, type, value)                                \
  (*(type *)flam_column_push (column) = (value))
#define flam_column_at(column, type, i) (((type *)(column)->data)[i])

/* The memory of cells. `shared` memory is counted, and stays as it is for
 * whoever has a reference while it grows elsewhere. */
gpointer flam_cells_resize (
    gpointer cells, gsize had, gsize n, guint size, gboolean shared);
void flam_cells_free (gpointer cells, gboolean shared);

typedef struct
{
  guint32 hash;
  FlamId id;
} FlamSlot;

typedef struct
{
  FlamSlot *slots;
  guint32 mask;
  guint32 used;
} FlamInterner;

void flam_interner_init (FlamInterner *interner);
void flam_interner_init_copy (FlamInterner *interner, const FlamInterner *from);
void flam_interner_clear (FlamInterner *interner);
void flam_interner_grow (FlamInterner *interner);

typedef gboolean (*FlamRowEqual) (gconstpointer table,
                                  FlamId row,
                                  gconstpointer key);

/* The slot of the row that equals `key`, or the empty slot (id FLAM_NONE)
 * where its id belongs; fill that one and add 1 to `used`. */
static inline FlamSlot *
flam_interner_find (FlamInterner *interner,
                    guint32 hash,
                    FlamRowEqual equal,
                    gconstpointer table,
                    gconstpointer key)
{
  guint32 i;

  if (G_UNLIKELY (interner->used >= interner->mask / 4 * 3))
    flam_interner_grow (interner);
  for (i = hash & interner->mask;; i = (i + 1) & interner->mask)
    {
      FlamSlot *slot = &interner->slots[i];
      if (slot->id == FLAM_NONE ||
          (slot->hash == hash && equal (table, slot->id, key)))
        return slot;
    }
}

/* Multiply-and-fold mixing, after wyhash (Wang Yi, public domain idea). */
static inline guint64
flam_hash_mix (guint64 a, guint64 b)
{
  __uint128_t product =
      (__uint128_t)(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xe7037ed1a0b428dbull);
  return (guint64)product ^ (guint64)(product >> 64);
}

static inline guint32
flam_hash_pair (guint64 a, guint64 b)
{
  guint64 h = flam_hash_mix (a, b);
  return (guint32)(h ^ (h >> 32));
}

static inline guint32
flam_hash_bytes (const void *data, gsize size)
{
  const guint8 *p = data;
  guint64 h = size;
  guint64 tail = 0;

  for (; size >= 8; p += 8, size -= 8)
    {
      guint64 word;
      memcpy (&word, p, 8);
      h = flam_hash_mix (h, word);
    }
  memcpy (&tail, p, size);
  return flam_hash_pair (h, tail);
}

G_END_DECLS
