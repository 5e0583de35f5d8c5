/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-block-table.h"

#include <string.h>

#define REGION_BYTES 65536u
#define COARSE 9
#define STEP 2
#define FIRST_CHUNK (256u << 10)
#define DOUBLINGS 5 /* of the size of chunks */
#define FIRST_LEAVES 64

static gsize
chunk_bytes (guint chunk)
{
  return (gsize)FIRST_CHUNK << MIN (chunk, DOUBLINGS);
}

void
flam_block_table_init (FlamBlockTable *table, FlamSpill *spill)
{
  table->leaves = g_new0 (FlamBlockLeaf, FIRST_LEAVES);
  table->mask = FIRST_LEAVES - 1;
  table->n_leaves = 0;
  table->spill = spill;
  table->chunks = g_ptr_array_new ();
  table->chunk_used = 0;
  memset (table->spare, 0, sizeof table->spare);
}

void
flam_block_table_clear (FlamBlockTable *table)
{
  for (guint i = 0; i < table->chunks->len; i++)
    flam_spill_give_back (
        table->spill, table->chunks->pdata[i], chunk_bytes (i));
  g_ptr_array_unref (table->chunks);
  g_free (table->leaves);
}

/* Zeroed memory; only the pages that are written to use real memory. */
static guint64 *
cut (FlamBlockTable *table, gsize bytes)
{
  guint n = table->chunks->len;
  char *chunk;

  if (n == 0 || table->chunk_used + bytes > chunk_bytes (n - 1))
    {
      g_ptr_array_add (table->chunks,
                       flam_spill_take (table->spill, chunk_bytes (n)));
      table->chunk_used = 0;
    }
  chunk = table->chunks->pdata[table->chunks->len - 1];
  chunk += table->chunk_used;
  table->chunk_used += bytes;
  return (guint64 *)(void *)chunk;
}

static guint64 *
take_slots (FlamBlockTable *table, guint shift)
{
  gsize bytes = (REGION_BYTES >> shift) * sizeof (guint64);
  guint64 *slots = table->spare[shift];

  if (slots == NULL)
    return cut (table, bytes);
  table->spare[shift] = *(guint64 **)(void *)slots;
  memset (slots, 0, bytes);
  return slots;
}

static void
give_slots_back (FlamBlockTable *table, guint64 *slots, guint shift)
{
  *(guint64 **)(void *)slots = table->spare[shift];
  table->spare[shift] = slots;
}

static void
grow_directory (FlamBlockTable *table)
{
  g_autofree FlamBlockLeaf *old = table->leaves;
  guint32 n = table->mask + 1;

  table->mask = n * 2 - 1;
  table->leaves = g_new0 (FlamBlockLeaf, n * 2);
  for (guint32 i = 0; i < n; i++)
    if (old[i].slots != NULL)
      *flam_block_table_leaf (table, (guint64)old[i].region << 16) = old[i];
}

FlamBlockLeaf *
flam_block_table_add_leaf (FlamBlockTable *table, guint64 address)
{
  FlamBlockLeaf *leaf;

  if (table->n_leaves * 2 > table->mask)
    grow_directory (table);
  leaf = flam_block_table_leaf (table, address);
  leaf->region = (guint32)(address >> 16);
  leaf->shift = COARSE;
  leaf->slots = take_slots (table, COARSE);
  table->n_leaves++;
  return leaf;
}

/* The low bits of a slot are its block's offset in units of 8 bytes. */
void
flam_block_table_refine (FlamBlockTable *table, FlamBlockLeaf *leaf)
{
  guint64 *old = leaf->slots;
  guint shift = leaf->shift - STEP;
  guint units = leaf->shift - 3; /* of 8 bytes per slot, as a power of two */
  guint64 *fresh = take_slots (table, shift);

  for (guint i = 0; i < REGION_BYTES >> leaf->shift; i++)
    if (old[i] != 0)
      {
        guint64 place = (guint64)i << units | (old[i] & ((1u << units) - 1));

        fresh[place >> (shift - 3)] = old[i];
      }
  give_slots_back (table, old, leaf->shift);
  leaf->slots = fresh;
  leaf->shift = shift;
}
