/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-block-hash.h"

#include "flam-columns.h"

#define FIRST_SLOTS 1024

void
flam_block_hash_clear (FlamBlockHash *hash)
{
  g_clear_pointer (&hash->slots, g_free);
  hash->n = hash->mask = 0;
}

static gsize
home_of (const FlamBlockHash *hash, guint64 address)
{
  return flam_hash_mix (address, 0) & hash->mask;
}

/* The slot of the address, or the empty slot in which it belongs. */
static FlamBlockSlot *
slot_of (const FlamBlockHash *hash, guint64 address)
{
  gsize i = home_of (hash, address);

  while (hash->slots[i].address != 0 && hash->slots[i].address != address)
    i = (i + 1) & hash->mask;
  return &hash->slots[i];
}

static void
grow (FlamBlockHash *hash)
{
  gsize n = hash->slots != NULL ? hash->mask + 1 : 0;
  g_autofree FlamBlockSlot *old = hash->slots;

  hash->mask = MAX (FIRST_SLOTS, n * 2) - 1;
  hash->slots = g_new0 (FlamBlockSlot, hash->mask + 1);
  for (gsize i = 0; i < n; i++)
    if (old[i].address != 0)
      *slot_of (hash, old[i].address) = old[i];
}

gboolean
flam_block_hash_put (FlamBlockHash *hash,
                     guint64 address,
                     FlamBlockEntry block,
                     FlamBlockEntry *old)
{
  FlamBlockSlot *slot;
  gboolean known;

  if (hash->slots == NULL || hash->n > hash->mask / 4 * 3)
    grow (hash);
  slot = slot_of (hash, address);
  known = slot->address != 0;
  if (known)
    *old = slot->block;
  else
    hash->n++;
  *slot = (FlamBlockSlot){ address, block };
  return known;
}

const FlamBlockEntry *
flam_block_hash_find (const FlamBlockHash *hash, guint64 address)
{
  const FlamBlockSlot *slot =
      hash->slots != NULL && address != 0 ? slot_of (hash, address) : NULL;

  return slot != NULL && slot->address != 0 ? &slot->block : NULL;
}

static void
empty (FlamBlockHash *hash, gsize hole)
{
  gsize mask = hash->mask;

  for (gsize i = (hole + 1) & mask; hash->slots[i].address != 0;
       i = (i + 1) & mask)
    {
      gsize home = home_of (hash, hash->slots[i].address);

      if (((i - home) & mask) >= ((i - hole) & mask))
        {
          hash->slots[hole] = hash->slots[i];
          hole = i;
        }
    }
  hash->slots[hole].address = 0;
  hash->n--;
}

gboolean
flam_block_hash_take (FlamBlockHash *hash,
                      guint64 address,
                      FlamBlockEntry *block)
{
  FlamBlockSlot *slot;

  if (hash->slots == NULL || address == 0)
    return FALSE;
  slot = slot_of (hash, address);
  if (slot->address == 0)
    return FALSE;
  *block = slot->block;
  empty (hash, slot - hash->slots);
  return TRUE;
}
