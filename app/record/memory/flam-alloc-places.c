/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-places.h"

#include <sys/mman.h>

#define REGION_BYTES 65536u
#define COARSE 5
#define FINE 3
#define CHUNK (8u << 20)
#define FIRST_LEAVES 64

void
flam_alloc_places_init (FlamAllocPlaces *places)
{
  places->leaves = g_new0 (FlamAllocLeaf, FIRST_LEAVES);
  places->mask = FIRST_LEAVES - 1;
  places->n_leaves = 0;
  places->chunks = g_ptr_array_new ();
  places->chunk_used = CHUNK;
}

void
flam_alloc_places_clear (FlamAllocPlaces *places)
{
  for (guint i = 0; i < places->chunks->len; i++)
    munmap (places->chunks->pdata[i], CHUNK);
  g_ptr_array_unref (places->chunks);
  g_free (places->leaves);
}

/* Zeroed memory, of which only what is written to is really there. */
static guint64 *
cut (FlamAllocPlaces *places, gsize bytes)
{
  char *chunk;

  if (places->chunk_used + bytes > CHUNK)
    {
      chunk = mmap (NULL,
                    CHUNK,
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1,
                    0);
      if (chunk == MAP_FAILED)
        g_error ("no memory for the table of blocks");
      g_ptr_array_add (places->chunks, chunk);
      places->chunk_used = 0;
    }
  chunk = places->chunks->pdata[places->chunks->len - 1];
  chunk += places->chunk_used;
  places->chunk_used += bytes;
  return (guint64 *)(void *)chunk;
}

static void
grow_directory (FlamAllocPlaces *places)
{
  g_autofree FlamAllocLeaf *old = places->leaves;
  guint32 n = places->mask + 1;

  places->mask = n * 2 - 1;
  places->leaves = g_new0 (FlamAllocLeaf, n * 2);
  for (guint32 i = 0; i < n; i++)
    if (old[i].places != NULL)
      *flam_alloc_places_leaf (places, (guint64)old[i].region << 16) = old[i];
}

FlamAllocLeaf *
flam_alloc_places_add_leaf (FlamAllocPlaces *places, guint64 address)
{
  FlamAllocLeaf *leaf;

  if (places->n_leaves * 2 > places->mask)
    grow_directory (places);
  leaf = flam_alloc_places_leaf (places, address);
  leaf->region = (guint32)(address >> 16);
  leaf->shift = COARSE;
  leaf->places = cut (places, (REGION_BYTES >> COARSE) * sizeof (guint64));
  places->n_leaves++;
  return leaf;
}

void
flam_alloc_places_refine (FlamAllocPlaces *places, FlamAllocLeaf *leaf)
{
  const guint64 *old = leaf->places;
  guint64 *fresh;

  if (leaf->shift == FINE)
    return;
  fresh = cut (places, (REGION_BYTES >> FINE) * sizeof (guint64));
  for (guint i = 0; i < REGION_BYTES >> COARSE; i++)
    fresh[(i << (COARSE - FINE)) + (old[i] & 3)] = old[i];
  leaf->places = fresh;
  leaf->shift = FINE;
}
