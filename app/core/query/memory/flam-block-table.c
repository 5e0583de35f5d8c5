/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-block-table.h"

#include <sys/mman.h>

#define REGION_BYTES 65536u
#define COARSE 5
#define FINE 3
#define CHUNK (8u << 20)
#define FIRST_LEAVES 64

void
flam_block_table_init (FlamBlockTable *table)
{
  table->leaves = g_new0 (FlamBlockLeaf, FIRST_LEAVES);
  table->mask = FIRST_LEAVES - 1;
  table->n_leaves = 0;
  table->chunks = g_ptr_array_new ();
  table->chunk_used = CHUNK;
}

void
flam_block_table_clear (FlamBlockTable *table)
{
  for (guint i = 0; i < table->chunks->len; i++)
    munmap (table->chunks->pdata[i], CHUNK);
  g_ptr_array_unref (table->chunks);
  g_free (table->leaves);
}

/* Zeroed memory; only the pages that are written to use real memory. */
static guint64 *
cut (FlamBlockTable *table, gsize bytes)
{
  char *chunk;

  if (table->chunk_used + bytes > CHUNK)
    {
      chunk = mmap (NULL,
                    CHUNK,
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1,
                    0);
      if (chunk == MAP_FAILED)
        g_error (N_ ("not enough memory for the table of blocks"));
      g_ptr_array_add (table->chunks, chunk);
      table->chunk_used = 0;
    }
  chunk = table->chunks->pdata[table->chunks->len - 1];
  chunk += table->chunk_used;
  table->chunk_used += bytes;
  return (guint64 *)(void *)chunk;
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
  leaf->slots = cut (table, (REGION_BYTES >> COARSE) * sizeof (guint64));
  table->n_leaves++;
  return leaf;
}

void
flam_block_table_refine (FlamBlockTable *table, FlamBlockLeaf *leaf)
{
  const guint64 *old = leaf->slots;
  guint64 *fresh;

  if (leaf->shift == FINE)
    return;
  fresh = cut (table, (REGION_BYTES >> FINE) * sizeof (guint64));
  for (guint i = 0; i < REGION_BYTES >> COARSE; i++)
    fresh[(i << (COARSE - FINE)) + (old[i] & 3)] = old[i];
  leaf->slots = fresh;
  leaf->shift = FINE;
}
