/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BLOCK_TABLE_H
#define FLAM_BLOCK_TABLE_H

/* Which block begins at an address: the target's memory as a page table.
 *
 *   address   47            16 15         9 8     3 2 0
 *            [     region     |   slot    |  low  |   ]
 *                  │
 *   directory, a hash: region ──▶ leaf of 64 KiB of the target
 *   leaf      [ 0 | block | 0 | 0 | block | ... ]      128 slots, 8 bytes each
 *
 *   slot      0: nothing begins here, or
 *             63       34 33           6 5 0
 *            [    nth    |   row + 1    |low]
 *
 * Neighbours in the target are neighbours here, and programs allocate and free
 * neighbours together: nearly every look-up hits the processor's first cache,
 * where a hash of addresses misses all of them.
 *
 * A slot holds one block. Where two fall into the same slot, the leaf is
 * rebuilt with four times as many slots, for 128, 32 or 8 bytes of the target
 * each (glibc's blocks begin at least 32 bytes apart). So the table takes a
 * 64th part of what the target holds in blocks of 512 bytes or more, a 16th
 * part for those of 128 bytes or more, and never more than a quarter of it with
 * glibc.
 *
 * Only for addresses of a real heap: those in a file could be chosen so that
 * each takes a page here (FlamBlockHash). */

#include "flam-spill.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 region;
  guint32 shift;  /* bytes per slot, as a power of two: 9, 7, 5 or 3 */
  guint64 *slots; /* NULL: a free slot */
} FlamBlockLeaf;

typedef struct
{
  FlamBlockLeaf *leaves; /* open addressing, linear */
  guint32 mask;
  guint32 n_leaves;
  FlamSpill *spill;  /* or NULL */
  GPtrArray *chunks; /* memory that leaves are cut from */
  gsize chunk_used;
  guint64 *spare[10]; /* former slots of leaves by shift, each the link to the
                         next */
} FlamBlockTable;

/* The data of a block. `row`: below FLAM_BLOCK_ROWS. `nth`: the caller's, of
 * which a table keeps the low bits. */
typedef struct
{
  guint32 row;
  guint32 nth;
} FlamBlockEntry;

#define FLAM_BLOCK_ROWS ((1u << 28) - 1)
#define FLAM_BLOCK_NTH_BITS 30
#define FLAM_BLOCK_NTH_MASK ((1u << FLAM_BLOCK_NTH_BITS) - 1)

void flam_block_table_init (FlamBlockTable *table, FlamSpill *spill);
void flam_block_table_clear (FlamBlockTable *table);
/* The leaf of an address, made if it does not exist. */
FlamBlockLeaf *flam_block_table_add_leaf (FlamBlockTable *table,
                                          guint64 address);
/* Rebuilds it with smaller slots. */
void flam_block_table_refine (FlamBlockTable *table, FlamBlockLeaf *leaf);

static inline FlamBlockLeaf *
flam_block_table_leaf (const FlamBlockTable *table, guint64 address)
{
  guint32 region = (guint32)(address >> 16);
  guint32 at = (region * 0x9e3779b1u >> 7) & table->mask;

  while (table->leaves[at].slots != NULL && table->leaves[at].region != region)
    at = (at + 1) & table->mask;
  return &table->leaves[at];
}

static inline guint64 *
flam_block_leaf_slot (const FlamBlockLeaf *leaf, guint64 address)
{
  return &leaf->slots[(address & 0xffff) >> leaf->shift];
}

#define FLAM_BLOCK_LOW_MASK 63
#define FLAM_BLOCK_LOW(address) ((guint64)(address) >> 3 & FLAM_BLOCK_LOW_MASK)

static inline FlamBlockEntry
flam_block_slot_entry (guint64 slot)
{
  return (FlamBlockEntry){ ((guint32)(slot >> 6) & 0xfffffff) - 1,
                           (guint32)(slot >> 34) };
}

/* TRUE when a block was there already: its slot is overwritten, and `old` gets
 * its data. */
static inline gboolean
flam_block_table_put (FlamBlockTable *table,
                      guint64 address,
                      FlamBlockEntry block,
                      FlamBlockEntry *old)
{
  FlamBlockLeaf *leaf = flam_block_table_leaf (table, address);
  guint64 *slot;
  guint64 was;

  if (G_UNLIKELY (leaf->slots == NULL))
    leaf = flam_block_table_add_leaf (table, address);
  slot = flam_block_leaf_slot (leaf, address);
  while (G_UNLIKELY (*slot != 0 &&
                     (*slot & FLAM_BLOCK_LOW_MASK) != FLAM_BLOCK_LOW (address)))
    {
      flam_block_table_refine (table, leaf);
      slot = flam_block_leaf_slot (leaf, address);
    }
  was = *slot;
  *slot = (guint64)block.nth << 34 | (guint64)(block.row + 1) << 6 |
          FLAM_BLOCK_LOW (address);
  if (G_LIKELY (was == 0))
    return FALSE;
  *old = flam_block_slot_entry (was);
  return TRUE;
}

/* FALSE: no recorded block begins here. */
static inline gboolean
flam_block_table_take (const FlamBlockTable *table,
                       guint64 address,
                       FlamBlockEntry *block)
{
  const FlamBlockLeaf *leaf = flam_block_table_leaf (table, address);
  guint64 *slot;

  if (leaf->slots == NULL)
    return FALSE;
  slot = flam_block_leaf_slot (leaf, address);
  if (*slot == 0 || (*slot & FLAM_BLOCK_LOW_MASK) != FLAM_BLOCK_LOW (address))
    return FALSE;
  *block = flam_block_slot_entry (*slot);
  *slot = 0;
  return TRUE;
}

/* A hint to the processor: this address will be looked up soon. */
static inline void
flam_block_table_expect (const FlamBlockTable *table, guint64 address)
{
  const FlamBlockLeaf *leaf = flam_block_table_leaf (table, address);

  if (leaf->slots != NULL)
    __builtin_prefetch (flam_block_leaf_slot (leaf, address), 1);
}

G_END_DECLS

#endif
