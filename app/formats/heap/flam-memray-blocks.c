/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-memray.h"

#include <string.h>

/* Blocks and mappings, in the order of their events. */

enum
{
  PYMALLOC_FREE = 1,
  PYMALLOC_REALLOC = 4,
  FREE = 5,
  MALLOC = 6,
  REALLOC = 7,
  CALLOC = 8,
  PVALLOC = 13,
  MMAP = 14,
  MUNMAP = 15,
};

static FlamAllocator
allocator_of (guint allocator)
{
  if (allocator <= PYMALLOC_REALLOC)
    return FLAM_ALLOCATOR_PYMALLOC;
  if (allocator == MALLOC)
    return FLAM_ALLOCATOR_MALLOC;
  if (allocator == REALLOC)
    return FLAM_ALLOCATOR_REALLOC;
  if (allocator == CALLOC)
    return FLAM_ALLOCATOR_CALLOC;
  return allocator == MMAP ? FLAM_ALLOCATOR_MMAP : FLAM_ALLOCATOR_ALIGNED;
}

guint64
flam_memray_address (FlamMemray *reader, guint cached)
{
  if (cached < FLAM_MEMRAY_CACHE)
    return reader->addresses[cached];
  memmove (reader->addresses + 1,
           reader->addresses,
           (FLAM_MEMRAY_CACHE - 1) * sizeof *reader->addresses);
  return reader->addresses[0] =
             flam_memray_delta (reader, &reader->last_address) << 3;
}

/* Temporary blocks are only those that their own thread releases, and
 * entirely. */
static void
release (FlamMemray *reader, guint64 key, gboolean whole)
{
  guint32 site = flam_ledger_site_at (reader->ledger, key);
  gboolean own = whole && site != FLAM_NONE &&
                 flam_ledger_get_site (reader->ledger, site)->heap.key.thread ==
                     reader->thread->thread;

  flam_ledger_release_at (reader->ledger, key, own ? -1 : FLAM_LEDGER_FAR);
}

/* Addresses of blocks are multiples of 8, so an odd one is a mapping's. */
static void
add_range (FlamMemray *reader, guint64 start, guint64 end, guint32 like)
{
  FlamSiteKey key = flam_ledger_get_site (reader->ledger, like)->heap.key;
  FlamRange range = { .start = start, .end = end };

  if (start >= end)
    return;
  key.size = (gint64)(end - start);
  range.value = flam_ledger_find_site (reader->ledger, &key);
  flam_ledger_allocate_at (reader->ledger, range.value, start | 1);
  flam_ranges_add (reader->mapped, &range);
}

static void
unmap (FlamMemray *reader, guint64 start, guint64 end)
{
  const FlamRange *found;

  while ((found = flam_ranges_next (reader->mapped, start)) != NULL &&
         found->start < end)
    {
      FlamRange range = *found;

      release (
          reader, range.start | 1, range.start == start && range.end == end);
      flam_ranges_remove (reader->mapped, range.start, range.end);
      add_range (reader, range.start, start, range.value);
      add_range (reader, end, range.end, range.value);
    }
}

gboolean
flam_memray_block (FlamMemray *reader, guint flags)
{
  guint64 address = flam_memray_address (reader, flags >> 3 & 15);
  guint allocator = flags & 7;
  guint64 size = 0;
  FlamSiteKey key;
  FlamStackId stack;
  guint32 site;

  if (allocator == 0)
    allocator = flam_memray_fixed (reader, 1);
  if (allocator == 0 || allocator > MUNMAP || reader->thread == NULL)
    return FALSE;
  if (allocator == FREE || allocator == PYMALLOC_FREE)
    {
      if (!reader->short_read)
        release (reader, address, TRUE);
      return TRUE;
    }
  if (reader->native)
    flam_memray_delta (reader, &reader->last_native);
  size = flam_memray_varint (reader);
  if (reader->short_read || size > G_MAXINT64 / 1024 ||
      address > G_MAXUINT64 - size)
    return FALSE;
  if (allocator == MUNMAP)
    {
      unmap (reader, address, address + size);
      return TRUE;
    }
  stack = flam_memray_stack (reader->thread);
  if (reader->calls != NULL)
    stack =
        flam_memray_native_stack (reader->calls, stack, reader->last_native);
  key = (FlamSiteKey){
    (gint64)size, stack, reader->thread->thread, 1, allocator_of (allocator)
  };
  site = flam_ledger_find_site (reader->ledger, &key);
  if (allocator == MMAP)
    {
      unmap (reader, address, address + size);
      add_range (reader, address, address + size, site);
    }
  else
    flam_ledger_allocate_at (reader->ledger, site, address);
  return TRUE;
}
