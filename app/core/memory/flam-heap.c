/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-heap.h"

void
flam_heap_init (FlamHeap *heap, gconstpointer blank, guint site_size)
{
  *heap = (FlamHeap){ .blank = blank };
  flam_column_init (&heap->sites, site_size);
  flam_interner_init (&heap->index);
}

void
flam_heap_clear (FlamHeap *heap)
{
  flam_column_clear (&heap->sites);
  flam_interner_clear (&heap->index);
}

/* --- sites --------------------------------------------------------------- */

static FlamHeapSite *
site_at (const FlamHeap *heap, gsize i)
{
  char *sites = heap->sites.data;

  return (FlamHeapSite *)(gpointer)(sites + i * heap->sites.element_size);
}

guint32
flam_site_key_hash (const FlamSiteKey *key)
{
  return flam_hash_pair ((guint64)key->thread << 32 | key->stack,
                         (guint64)key->size << 4 | key->allocator) +
         key->each * 0x9e3779b1u;
}

static gboolean
site_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return flam_site_key_equal (&site_at (table, row)->key, key);
}

guint32
flam_heap_add_site (FlamHeap *heap, const FlamSiteKey *key)
{
  FlamHeapSite *site = flam_column_push (&heap->sites);

  memcpy (site, heap->blank, heap->sites.element_size);
  site->key = *key;
  return heap->sites.n - 1;
}

guint32
flam_heap_find_site (FlamHeap *heap, const FlamSiteKey *key)
{
  guint32 hash = flam_site_key_hash (key);
  FlamSlot *slot =
      flam_interner_find (&heap->index, hash, site_equal, heap, key);

  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, heap->sites.n };
  heap->index.used++;
  return flam_heap_add_site (heap, key);
}

/* --- the peak ------------------------------------------------------------ */

void
flam_heap_finish (FlamHeap *heap)
{
  flam_heap_end_rise (heap);
  for (gsize i = 0; i < heap->sites.n; i++)
    flam_heap_note (heap, site_at (heap, i));
}
