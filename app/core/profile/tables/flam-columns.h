/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COLUMNS_H
#define FLAM_COLUMNS_H

/* Growable columns, and a hash that interns rows of them.
 *
 * Values are only in columns; the hash holds row numbers, so a row is stored
 * once and growing the hash never changes it:
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
/* From here on it can be lent: growing allocates new memory, and the old memory
 * stays valid for those that hold a reference. */
void flam_column_share (FlamColumn *column);
/* Refers to the existing rows, without a copy. They must never be changed. */
void flam_column_init_lent (FlamColumn *column, const FlamColumn *from);
void flam_column_reserve (FlamColumn *column, gsize n);
/* Adds zeroed rows up to `n`: an optional column begins at the first row with a
 * value. */
void flam_column_backfill (FlamColumn *column, gsize n);
/* Returns the memory (g_free), shrunk to fit; the column is empty then. */
void *flam_column_steal (FlamColumn *column);

/* Adds an element and returns its address, to be written at once. */
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

/* The memory of cells. `shared` memory is reference counted: growing copies it,
 * and the old memory stays valid for those that hold a reference. */
gpointer flam_cells_resize (
    gpointer cells, gsize had, gsize n, guint size, gboolean shared);
void flam_cells_free (gpointer cells, gboolean shared);

/* Memory for an array that may have millions of elements, in large pages if
 * possible: access to it is random, and most of the time would be spent waiting
 * for pages. It may be freed by g_free(); but where arrays come and go with
 * each picture, flam_cells_drop() keeps it for the next one. Newly mapped
 * memory is expensive: the kernel clears every page at the first access, which
 * was a quarter of the CPU time of a picture of 2 million nodes.
 *
 *   flam_cells_new()  ◀── the block that is large enough, and not much larger
 *                         kept  [ 15 MB ][ 8 MB ][ - ][ 30 MB ] ...
 *   flam_cells_drop() ──▶ an empty place; or the oldest is freed for it
 *
 * A place is one pointer, exchanged atomically: the thread that took a block
 * is its only owner, so no lock is needed. The kernel may take kept pages
 * back when memory is short (MADV_FREE). All kept memory is freed with the
 * profile. */
gpointer flam_cells_new (gsize n, guint size);
gpointer flam_cells_new0 (gsize n, guint size);
void flam_cells_drop (gpointer cells);
/* Frees all kept memory. */
void flam_cells_trim (void);
/* From now on flam_cells_drop() frees memory: for a program whose heap keeps
 * its memory anyway, for a next array of any size. */
void flam_cells_keep_none (void);

#define flam_new_cells(type, n) ((type *)flam_cells_new ((n), sizeof (type)))
#define flam_new_cells0(type, n) ((type *)flam_cells_new0 ((n), sizeof (type)))

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
/* Removes all rows, keeps the memory. */
void flam_interner_empty (FlamInterner *interner);
void flam_interner_grow (FlamInterner *interner);
/* Reserves space for that many more rows. */
void flam_interner_reserve (FlamInterner *interner, gsize n);

typedef gboolean (*FlamRowEqual) (gconstpointer table,
                                  FlamId row,
                                  gconstpointer key);

/* The slot of the row that equals `key`, or the empty slot (id FLAM_NONE) for
 * its id; the caller then sets that id and adds 1 to `used`. */
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

/* For a row that is not in the hash yet; there must be room. */
static inline void
flam_interner_insert (FlamInterner *interner, guint32 hash, FlamId id)
{
  guint32 i = hash & interner->mask;

  while (interner->slots[i].id != FLAM_NONE)
    i = (i + 1) & interner->mask;
  interner->slots[i] = (FlamSlot){ hash, id };
  interner->used++;
}

/* Prefetches a slot that is needed soon. */
static inline void
flam_interner_prefetch (const FlamInterner *interner, guint32 hash)
{
  __builtin_prefetch (&interner->slots[hash & interner->mask], 1);
}

/* Prefetches the row of that slot, which is usually the wanted one. */
static inline void
flam_interner_prefetch_row (const FlamInterner *interner,
                            guint32 hash,
                            const FlamColumn *rows)
{
  FlamId id = interner->slots[hash & interner->mask].id;

  if (id != FLAM_NONE)
    __builtin_prefetch (
        (const char *)rows->data + (gsize)id * rows->element_size, 1);
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

/* GHashFunc for gint64 keys. GLib's own XORs the halves of a key, so that two
 * small numbers collide with all pairs of the same difference, and a file can
 * choose keys that all collide. */
static inline guint
flam_hash_int64 (gconstpointer key)
{
  return flam_hash_pair (*(const guint64 *)key, 0);
}

static inline guint64
flam_hash_word (const guint8 *p)
{
  guint64 word;

  memcpy (&word, p, sizeof word);
  return word;
}

/* Less than 8 bytes as one word, without a loop. */
static inline guint64
flam_hash_tail (const guint8 *p, gsize size)
{
  guint32 low, high;

  if (size < 4)
    return size == 0
               ? 0
               : p[0] | (guint64)p[size / 2] << 8 | (guint64)p[size - 1] << 16;
  memcpy (&low, p, sizeof low);
  memcpy (&high, p + size - 4, sizeof high);
  return low | (guint64)high << 32;
}

/* Each product depends on the one before it: a long text is hashed as four
 * independent parts, which the processor computes in parallel. */
static inline guint32
flam_hash_bytes (const void *data, gsize size)
{
  const guint8 *p = data;
  guint64 h = size;

  if (size >= 64)
    {
      guint64 a = h, b = h, c = h, d = h;

      for (; size >= 64; p += 64, size -= 64)
        {
          a = flam_hash_mix (a ^ flam_hash_word (p), flam_hash_word (p + 8));
          b = flam_hash_mix (b ^ flam_hash_word (p + 16),
                             flam_hash_word (p + 24));
          c = flam_hash_mix (c ^ flam_hash_word (p + 32),
                             flam_hash_word (p + 40));
          d = flam_hash_mix (d ^ flam_hash_word (p + 48),
                             flam_hash_word (p + 56));
        }
      h = flam_hash_mix (flam_hash_mix (a, b), flam_hash_mix (c, d));
    }
  for (; size >= 16; p += 16, size -= 16)
    h = flam_hash_mix (h ^ flam_hash_word (p), flam_hash_word (p + 8));
  if (size >= 8)
    {
      h = flam_hash_mix (h, flam_hash_word (p));
      p += 8;
      size -= 8;
    }
  return flam_hash_pair (h, flam_hash_tail (p, size));
}

G_END_DECLS

#endif
