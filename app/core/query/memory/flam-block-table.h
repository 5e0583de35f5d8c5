/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which block begins at an address: the target's memory as a page table.
 *
 *   address   47            16 15         5 4  3 2 0
 *            [     region     |   slot    | low |   ]
 *                  │
 *   directory, a hash: region ──▶ leaf of 64 KiB of the target
 *   leaf      [ 0 | block | 0 | 0 | block | ... ]     2048 slots, 8 bytes each
 *
 *   slot      0: nothing begins here, or
 *             63       32 31           2 1 0
 *            [    nth    |   row + 1    |low]
 *
 * Neighbours in the target are neighbours here, and programs allocate and free
 * neighbours together: nearly every look-up hits the processor's first cache,
 * where a hash of addresses misses all of them. Only those pages of a leaf that
 * were ever used take memory: never more than a quarter of what the target
 * holds.
 *
 * glibc's blocks begin at least 32 bytes apart, so that a slot holds one. Where
 * two fall into the same slot (other allocators pack closer) the leaf is
 * rebuilt with 8192 slots of 8 bytes.
 *
 * Only for addresses of a real heap: those in a file could be chosen so that
 * each takes a page here (FlamBlockHash). */

#include "flam-types.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 region;
  guint32 shift;  /* bytes per slot, as a power of two: 5 or 3 */
  guint64 *slots; /* NULL: a free slot */
} FlamBlockLeaf;

typedef struct
{
  FlamBlockLeaf *leaves; /* open addressing, linear */
  guint32 mask;
  guint32 n_leaves;
  GPtrArray *chunks; /* memory that leaves are cut from */
  gsize chunk_used;
} FlamBlockTable;

/* The data of a block. `row`: below 2^30. `nth`: the caller's. */
typedef struct
{
  guint32 row;
  guint32 nth;
} FlamBlockEntry;

void flam_block_table_init (FlamBlockTable *table);
void flam_block_table_clear (FlamBlockTable *table);
/* The leaf of an address, made if it does not exist. */
FlamBlockLeaf *flam_block_table_add_leaf (FlamBlockTable *table,
                                          guint64 address);
/* Rebuilds it with the smallest slots. */
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

#define FLAM_BLOCK_LOW(address) ((guint64)(address) >> 3 & 3)

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
  if (G_UNLIKELY (*slot != 0 && (*slot & 3) != FLAM_BLOCK_LOW (address)))
    {
      flam_block_table_refine (table, leaf);
      slot = flam_block_leaf_slot (leaf, address);
    }
  was = *slot;
  *slot = (guint64)block.nth << 32 | (guint64)(block.row + 1) << 2 |
          FLAM_BLOCK_LOW (address);
  if (G_LIKELY (was == 0))
    return FALSE;
  *old = (FlamBlockEntry){ ((guint32)was >> 2) - 1, (guint32)(was >> 32) };
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
  if (*slot == 0 || (*slot & 3) != FLAM_BLOCK_LOW (address))
    return FALSE;
  *block =
      (FlamBlockEntry){ ((guint32)*slot >> 2) - 1, (guint32)(*slot >> 32) };
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
