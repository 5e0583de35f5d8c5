/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which block begins at an address: the target's memory as a page table.
 *
 *   address   47            16 15         5 4  3 2 0
 *            [     region     |   place    | low |   ]
 *                  │
 *   directory, a hash: region ──▶ leaf of 64 KiB of the target
 *   leaf      [ 0 | block | 0 | 0 | block | ... ]     2048 places, 8 bytes each
 *
 *   place     0: nothing begins here, or
 *             63       32 31           2 1 0
 *            [    nth    |   row + 1    |low]
 *
 * What lies side by side in the target does so here, and programs take and
 * free side by side: nearly every look-up hits the processor's first cache,
 * where a hash of addresses misses all of them. Only those pages of a leaf are
 * in memory that were ever used: never more than a quarter of what the target
 * holds.
 *
 * glibc's blocks begin at least 32 bytes apart, so that a place holds one.
 * Where two want the same place (other allocators pack closer) the leaf is
 * remade with 8192 places of 8 bytes.
 *
 * Only for addresses that a real heap gave out: in a file (FlamLedger) they
 * could be chosen so that each takes a page here. */

#include "flam-types.h"

G_BEGIN_DECLS

#define FLAM_ALLOC_ROWS_MAX (1u << 30)

typedef struct
{
  guint32 region;
  guint32 shift;   /* bytes a place, as a power of two: 5 or 3 */
  guint64 *places; /* NULL: a free slot */
} FlamAllocLeaf;

typedef struct
{
  FlamAllocLeaf *leaves; /* open addressing, linear */
  guint32 mask;
  guint32 n_leaves;
  GPtrArray *chunks; /* memory that leaves are cut from */
  gsize chunk_used;
} FlamAllocPlaces;

/* What is known of a block. `nth`: the caller's. */
typedef struct
{
  guint32 row;
  guint32 nth;
} FlamAllocPlaced;

void flam_alloc_places_init (FlamAllocPlaces *places);
void flam_alloc_places_clear (FlamAllocPlaces *places);
/* The leaf of an address, made if need be. */
FlamAllocLeaf *flam_alloc_places_add_leaf (FlamAllocPlaces *places,
                                           guint64 address);
/* Remakes it with the smallest places. */
void flam_alloc_places_refine (FlamAllocPlaces *places, FlamAllocLeaf *leaf);

static inline FlamAllocLeaf *
flam_alloc_places_leaf (const FlamAllocPlaces *places, guint64 address)
{
  guint32 region = (guint32)(address >> 16);
  guint32 at = (region * 0x9e3779b1u >> 7) & places->mask;

  while (places->leaves[at].places != NULL &&
         places->leaves[at].region != region)
    at = (at + 1) & places->mask;
  return &places->leaves[at];
}

static inline guint64 *
flam_alloc_leaf_place (const FlamAllocLeaf *leaf, guint64 address)
{
  return &leaf->places[(address & 0xffff) >> leaf->shift];
}

#define FLAM_ALLOC_LOW(address) ((guint64)(address) >> 3 & 3)

/* TRUE when a block was there already: its place is taken over, `old` says
 * what it was. */
static inline gboolean
flam_alloc_places_put (FlamAllocPlaces *places,
                       guint64 address,
                       FlamAllocPlaced block,
                       FlamAllocPlaced *old)
{
  FlamAllocLeaf *leaf = flam_alloc_places_leaf (places, address);
  guint64 *place;
  guint64 was;

  if (G_UNLIKELY (leaf->places == NULL))
    leaf = flam_alloc_places_add_leaf (places, address);
  place = flam_alloc_leaf_place (leaf, address);
  if (G_UNLIKELY (*place != 0 && (*place & 3) != FLAM_ALLOC_LOW (address)))
    {
      flam_alloc_places_refine (places, leaf);
      place = flam_alloc_leaf_place (leaf, address);
    }
  was = *place;
  *place = (guint64)block.nth << 32 | (guint64)(block.row + 1) << 2 |
           FLAM_ALLOC_LOW (address);
  if (G_LIKELY (was == 0))
    return FALSE;
  *old = (FlamAllocPlaced){ ((guint32)was >> 2) - 1, (guint32)(was >> 32) };
  return TRUE;
}

/* FALSE: no block that is known begins here. */
static inline gboolean
flam_alloc_places_take (const FlamAllocPlaces *places,
                        guint64 address,
                        FlamAllocPlaced *block)
{
  const FlamAllocLeaf *leaf = flam_alloc_places_leaf (places, address);
  guint64 *place;

  if (leaf->places == NULL)
    return FALSE;
  place = flam_alloc_leaf_place (leaf, address);
  if (*place == 0 || (*place & 3) != FLAM_ALLOC_LOW (address))
    return FALSE;
  *block =
      (FlamAllocPlaced){ ((guint32)*place >> 2) - 1, (guint32)(*place >> 32) };
  *place = 0;
  return TRUE;
}

/* A hint to the processor: this address will be asked for soon. */
static inline void
flam_alloc_places_expect (const FlamAllocPlaces *places, guint64 address)
{
  const FlamAllocLeaf *leaf = flam_alloc_places_leaf (places, address);

  if (leaf->places != NULL)
    __builtin_prefetch (flam_alloc_leaf_place (leaf, address), 1);
}

G_END_DECLS
