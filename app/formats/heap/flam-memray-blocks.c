/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-memray.h"

#include <string.h>

/* Blocks and mappings, as they come and go. */

typedef struct
{
  guint64 start, end;
  guint32 site;
} Range;

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

/* Temporary is only what its own thread releases, and whole. */
static void
release (FlamMemray *reader, guint64 key, gboolean whole)
{
  guint32 site = flam_ledger_site_at (reader->ledger, key);
  gboolean own = whole && site != FLAM_NONE &&
                 flam_ledger_get_site (reader->ledger, site)->heap.key.thread ==
                     reader->thread->thread;

  flam_ledger_release_at (reader->ledger, key, own ? -1 : G_MAXUINT16);
}

static int
compare_starts (gconstpointer a, gconstpointer b, gpointer data)
{
  guint64 x = *(const guint64 *)a;
  guint64 y = *(const guint64 *)b;

  return (x > y) - (x < y);
}

GTree *
flam_memray_ranges_new (void)
{
  return g_tree_new_full (compare_starts, NULL, g_free, g_free);
}

/* Addresses of blocks are multiples of 8, so an odd one is a mapping's. */
static void
add_range (FlamMemray *reader, guint64 start, guint64 end, guint32 like)
{
  FlamSiteKey site = flam_ledger_get_site (reader->ledger, like)->heap.key;
  Range range = { start, end, FLAM_NONE };

  if (start >= end)
    return;
  range.site = flam_ledger_site (
      reader->ledger, end - start, site.stack, site.thread, site.allocator);
  flam_ledger_allocate_at (reader->ledger, range.site, start | 1);
  g_tree_insert (reader->ranges,
                 g_memdup2 (&start, sizeof start),
                 g_memdup2 (&range, sizeof range));
}

/* The first mapping that reaches beyond `start`: the one before it, if it does
 * so, or the next. */
static const Range *
first_range (FlamMemray *reader, guint64 start)
{
  GTreeNode *node = g_tree_lower_bound (reader->ranges, &start);
  GTreeNode *before = node != NULL ? g_tree_node_previous (node)
                                   : g_tree_node_last (reader->ranges);
  const Range *range = before != NULL ? g_tree_node_value (before) : NULL;

  if (range != NULL && range->end > start)
    return range;
  return node != NULL ? g_tree_node_value (node) : NULL;
}

static void
unmap (FlamMemray *reader, guint64 start, guint64 end)
{
  const Range *found;

  while ((found = first_range (reader, start)) != NULL && found->start < end)
    {
      Range range = *found;

      release (
          reader, range.start | 1, range.start == start && range.end == end);
      g_tree_remove (reader->ranges, &range.start);
      add_range (reader, range.start, start, range.site);
      add_range (reader, end, range.end, range.site);
    }
}

gboolean
flam_memray_block (FlamMemray *reader, guint flags)
{
  guint64 address = flam_memray_address (reader, flags >> 3 & 15);
  guint allocator = flags & 7;
  guint64 size = 0;
  FlamId stack;
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
  site = flam_ledger_site (reader->ledger,
                           size,
                           stack,
                           reader->thread->thread,
                           allocator_of (allocator));
  if (allocator == MMAP)
    {
      unmap (reader, address, address + size);
      add_range (reader, address, address + size, site);
    }
  else
    flam_ledger_allocate_at (reader->ledger, site, address);
  return TRUE;
}
