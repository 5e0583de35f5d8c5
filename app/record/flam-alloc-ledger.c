/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-ledger.h"

#define TICK_NS 10000000
#define NO_DISTANCE G_MAXUINT16
/* Farther ones are all alike. */
#define DISTANCE_MAX 16
#define FIRST_PLACES 4096

/* Where a block lives. Address 0 is an empty place. */
typedef struct
{
  guint64 address;
  gint64 size;
  guint32 site;
  guint32 row; /* of BLOCKS */
  guint32 nth; /* allocations its stream had made by then */
  guint32 count;
  FlamId thread;
  guint32 unused;
} Block;

typedef struct
{
  FlamId thread;
  FlamId stack;
  gint64 size;
  guint8 allocator;
} SiteKey;

typedef struct
{
  SiteKey key;
  gint64 live;
  gint64 at_peak;
  guint32 peak_epoch; /* at_peak is that of this highest point */
  guint32 tick;       /* whose row this is */
  guint32 row;
  gint64 made; /* blocks in `row` */
  gint64 freed_at_once;
  /* The releases of one older row, most often all there are in a tick. */
  guint32 release_row;
  guint16 release_distance;
  gint64 released;
} Site;

struct _FlamAllocSpace
{
  Block *places; /* open addressing, linear */
  gsize mask;
  gsize used;
  GArray *pages;  /* Block, ascending by address */
  GArray *breaks; /* Block, in order */
};

struct _FlamAllocStream
{
  FlamAllocSpace *space;
  FlamId thread;
  guint32 n_made;
  Block last; /* not in `places` yet; address 0: none */
};

struct _FlamAllocLedger
{
  FlamCaptureWriter *writer;
  FlamColumn sites; /* Site */
  FlamInterner interner;
  GArray *makers;  /* guint32: sites with a row in this tick, in its order */
  GArray *touched; /* guint32: sites that did anything in this tick */
  GPtrArray *spaces;
  GPtrArray *streams;
  gint64 tick_start;
  guint32 tick;
  guint32 n_rows;
  gint64 live;
  gint64 highest;
  gint64 highest_time;
  guint32 peak_epoch;
  gboolean rising; /* live is at a new highest point */
};

/* --- places -------------------------------------------------------------- */

static inline gsize
place_of (const FlamAllocSpace *space, guint64 address)
{
  return (address * 0x9e3779b97f4a7c15ull >> 20) & space->mask;
}

static void
grow_places (FlamAllocSpace *space)
{
  Block *old = space->places;
  gsize n = space->mask + 1;

  space->mask = n * 2 - 1;
  space->places = g_new0 (Block, n * 2);
  for (gsize i = 0; i < n; i++)
    {
      gsize at;

      if (old[i].address == 0)
        continue;
      for (at = place_of (space, old[i].address);
           space->places[at].address != 0;)
        at = (at + 1) & space->mask;
      space->places[at] = old[i];
    }
  g_free (old);
}

/* TRUE when the address was taken: `block` replaces what `old` then holds. */
static gboolean
put_block (FlamAllocSpace *space, const Block *block, Block *old)
{
  gsize at;

  if (space->used * 4 > space->mask * 3)
    grow_places (space);
  for (at = place_of (space, block->address); space->places[at].address != 0;
       at = (at + 1) & space->mask)
    if (space->places[at].address == block->address)
      {
        *old = space->places[at];
        space->places[at] = *block;
        return TRUE;
      }
  space->places[at] = *block;
  space->used++;
  return FALSE;
}

static gboolean
take_block (FlamAllocSpace *space, guint64 address, Block *block)
{
  gsize at = place_of (space, address);
  gsize hole;

  while (space->places[at].address != address)
    {
      if (space->places[at].address == 0)
        return FALSE;
      at = (at + 1) & space->mask;
    }
  *block = space->places[at];
  /* Close the gap, so that looking may stop at an empty place. */
  for (hole = at;;)
    {
      gsize home;

      at = (at + 1) & space->mask;
      if (space->places[at].address == 0)
        break;
      home = place_of (space, space->places[at].address);
      if (((at - home) & space->mask) >= ((at - hole) & space->mask))
        {
          space->places[hole] = space->places[at];
          hole = at;
        }
    }
  space->places[hole].address = 0;
  space->used--;
  return TRUE;
}

void
flam_alloc_ledger_expect (const FlamAllocSpace *space, guint64 address)
{
  __builtin_prefetch (&space->places[place_of (space, address)], 1);
}

/* --- sites --------------------------------------------------------------- */

static gboolean
site_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamAllocLedger *ledger = table;
  const SiteKey *a = &flam_column_at (&ledger->sites, Site, row).key;
  const SiteKey *b = key;

  return a->thread == b->thread && a->stack == b->stack && a->size == b->size &&
         a->allocator == b->allocator;
}

static guint32
site_of (FlamAllocLedger *ledger, const SiteKey *key)
{
  guint32 hash = flam_hash_pair ((guint64)key->thread << 32 | key->stack,
                                 (guint64)key->size << 4 | key->allocator);
  FlamSlot *slot =
      flam_interner_find (&ledger->interner, hash, site_equal, ledger, key);
  Site site = { .key = *key, .release_row = FLAM_NONE };

  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, ledger->sites.n };
  ledger->interner.used++;
  flam_column_append (&ledger->sites, Site, site);
  return slot->id;
}

#define site_at(ledger, i) (&flam_column_at (&(ledger)->sites, Site, i))

/* --- the peak ------------------------------------------------------------ */

static inline void
settle_peak (const FlamAllocLedger *ledger, Site *site)
{
  if (site->peak_epoch == ledger->peak_epoch)
    return;
  site->at_peak = site->live;
  site->peak_epoch = ledger->peak_epoch;
}

static inline gboolean
counts_as_heap (const Site *site)
{
  return site->key.allocator != FLAM_ALLOCATOR_MMAP &&
         site->key.allocator != FLAM_ALLOCATOR_BRK;
}

static inline void
raise_live (FlamAllocLedger *ledger, Site *site, gint64 count)
{
  settle_peak (ledger, site);
  site->live += count;
  if (!counts_as_heap (site))
    return;
  ledger->live += count * site->key.size;
  if (ledger->live > ledger->highest)
    {
      ledger->highest = ledger->live;
      ledger->highest_time = ledger->tick_start;
      ledger->rising = TRUE;
    }
}

/* The first step down from a new highest point makes it the one that counts:
 * every site's at_peak is out of date from here on. */
static inline void
lower_live (FlamAllocLedger *ledger, Site *site, gint64 count)
{
  if (ledger->rising && counts_as_heap (site))
    {
      ledger->rising = FALSE;
      ledger->peak_epoch++;
    }
  settle_peak (ledger, site);
  site->live -= count;
  if (counts_as_heap (site))
    ledger->live -= count * site->key.size;
}

/* --- ticks --------------------------------------------------------------- */

static void
write_release (FlamAllocLedger *ledger,
               guint32 row,
               gint64 count,
               guint16 distance)
{
  flam_capture_writer_release (
      ledger->writer, ledger->tick_start, row, count, distance);
}

static void
write_site (FlamAllocLedger *ledger, Site *site)
{
  FlamCaptureBlocks blocks = {
    .time = ledger->tick_start,
    .thread = site->key.thread,
    .stack = site->key.stack,
    .size = site->key.size,
    .count = site->made,
    .allocator = site->key.allocator,
  };

  flam_capture_writer_blocks (ledger->writer, &blocks);
}

static void
write_site_releases (FlamAllocLedger *ledger, Site *site)
{
  if (site->freed_at_once > 0)
    write_release (ledger, site->row, site->freed_at_once, 0);
  if (site->released > 0)
    write_release (
        ledger, site->release_row, site->released, site->release_distance);
  site->made = 0;
  site->freed_at_once = 0;
  site->released = 0;
  site->release_row = FLAM_NONE;
}

static void
end_tick (FlamAllocLedger *ledger)
{
  for (guint i = 0; i < ledger->makers->len; i++)
    write_site (ledger,
                site_at (ledger, g_array_index (ledger->makers, guint32, i)));
  for (guint i = 0; i < ledger->touched->len; i++)
    write_site_releases (
        ledger, site_at (ledger, g_array_index (ledger->touched, guint32, i)));
  g_array_set_size (ledger->makers, 0);
  g_array_set_size (ledger->touched, 0);
  ledger->tick++;
}

void
flam_alloc_ledger_flush (FlamAllocLedger *ledger, gint64 time)
{
  if (time - ledger->tick_start < TICK_NS)
    return;
  end_tick (ledger);
  ledger->tick_start = time;
}

/* The site as of this tick. */
static Site *
touch (FlamAllocLedger *ledger, guint32 id)
{
  Site *site = site_at (ledger, id);

  if (site->tick == ledger->tick)
    return site;
  site->tick = ledger->tick;
  site->row = FLAM_NONE;
  g_array_append_val (ledger->touched, id);
  return site;
}

/* The same, for a block that it makes: rows are numbered, and written, in the
 * order in which sites make their first block of the tick. */
static Site *
touch_maker (FlamAllocLedger *ledger, guint32 id)
{
  Site *site = touch (ledger, id);

  if (site->row == FLAM_NONE)
    {
      site->row = ledger->n_rows++;
      g_array_append_val (ledger->makers, id);
    }
  return site;
}

/* --- events -------------------------------------------------------------- */

static void
release (FlamAllocLedger *ledger, const Block *block, guint16 distance)
{
  Site *site = touch (ledger, block->site);

  lower_live (ledger, site, block->count);
  if (distance == 0 && block->row == site->row)
    {
      site->freed_at_once += block->count;
      return;
    }
  if (site->release_row != block->row || site->release_distance != distance)
    {
      if (site->released > 0)
        write_release (
            ledger, site->release_row, site->released, site->release_distance);
      site->release_row = block->row;
      site->release_distance = distance;
      site->released = 0;
    }
  site->released += block->count;
}

static Block
make_block (FlamAllocLedger *ledger,
            FlamAllocStream *stream,
            guint64 address,
            guint32 count,
            const SiteKey *key)
{
  guint32 id = site_of (ledger, key);
  Site *site = touch_maker (ledger, id);
  Block block = { address, key->size, id, site->row };

  block.nth = ++stream->n_made;
  block.count = count;
  block.thread = stream->thread;
  site->made += count;
  raise_live (ledger, site, count);
  return block;
}

static void
store_last (FlamAllocLedger *ledger, FlamAllocStream *stream)
{
  Block old;

  if (stream->last.address == 0)
    return;
  /* A free that was never seen: the address would not be there twice. */
  if (put_block (stream->space, &stream->last, &old))
    release (ledger, &old, NO_DISTANCE);
  stream->last.address = 0;
}

void
flam_alloc_ledger_block (FlamAllocLedger *ledger,
                         FlamAllocStream *stream,
                         gint64 time,
                         guint64 address,
                         gint64 size,
                         guint32 count,
                         FlamId stack,
                         FlamAllocator allocator)
{
  SiteKey key = { stream->thread, stack, size, allocator };
  Block block;

  flam_alloc_ledger_flush (ledger, time);
  if (allocator == FLAM_ALLOCATOR_MMAP)
    {
      FlamAllocSpace *space = stream->space;
      guint at = space->pages->len;

      flam_alloc_ledger_unmap (ledger, stream, time, address, size);
      at = space->pages->len;
      while (at > 0 &&
             g_array_index (space->pages, Block, at - 1).address > address)
        at--;
      block = make_block (ledger, stream, address, count, &key);
      g_array_insert_val (space->pages, at, block);
      return;
    }
  store_last (ledger, stream);
  stream->last = make_block (ledger, stream, address, count, &key);
}

/* The address may be another stream's newest, not stored yet. */
static gboolean
take_from_others (FlamAllocLedger *ledger,
                  const FlamAllocStream *stream,
                  guint64 address,
                  Block *block)
{
  for (guint i = 0; i < ledger->streams->len; i++)
    {
      FlamAllocStream *other = ledger->streams->pdata[i];

      if (other->space != stream->space || other->last.address != address)
        continue;
      *block = other->last;
      other->last.address = 0;
      return TRUE;
    }
  return FALSE;
}

void
flam_alloc_ledger_free_block (FlamAllocLedger *ledger,
                              FlamAllocStream *stream,
                              gint64 time,
                              guint64 address)
{
  guint16 distance = NO_DISTANCE;
  Block block;

  flam_alloc_ledger_flush (ledger, time);
  if (stream->last.address == address)
    {
      block = stream->last;
      stream->last.address = 0;
    }
  else if (!take_block (stream->space, address, &block) &&
           !take_from_others (ledger, stream, address, &block))
    return; /* older than the recording */
  if (block.thread == stream->thread &&
      stream->n_made - block.nth < DISTANCE_MAX)
    distance = stream->n_made - block.nth;
  release (ledger, &block, distance);
}

/* What is left of a mapping on one side of what was cut out of it. */
static void
keep_rest (FlamAllocLedger *ledger,
           FlamAllocStream *stream,
           const Block *whole,
           guint64 address,
           guint64 end,
           GArray *rest)
{
  SiteKey key = site_at (ledger, whole->site)->key;
  Block block;

  if (address >= end)
    return;
  key.size = end - address;
  block = make_block (ledger, stream, address, 1, &key);
  g_array_append_val (rest, block);
}

void
flam_alloc_ledger_unmap (FlamAllocLedger *ledger,
                         FlamAllocStream *stream,
                         gint64 time,
                         guint64 address,
                         guint64 size)
{
  GArray *pages = stream->space->pages;
  guint64 end = address + size < address ? G_MAXUINT64 : address + size;
  g_autoptr (GArray) rest = NULL;
  guint at = 0;

  flam_alloc_ledger_flush (ledger, time);
  while (at < pages->len)
    {
      Block block = g_array_index (pages, Block, at);
      guint64 block_end = block.address + block.size;

      if (block_end <= address || block.address >= end)
        {
          at++;
          continue;
        }
      if (rest == NULL)
        rest = g_array_new (FALSE, FALSE, sizeof (Block));
      release (ledger, &block, NO_DISTANCE);
      g_array_remove_index (pages, at);
      keep_rest (ledger, stream, &block, block.address, address, rest);
      keep_rest (ledger, stream, &block, end, block_end, rest);
    }
  for (guint i = 0; rest != NULL && i < rest->len; i++)
    {
      Block block = g_array_index (rest, Block, i);

      for (at = pages->len;
           at > 0 &&
           g_array_index (pages, Block, at - 1).address > block.address;)
        at--;
      g_array_insert_val (pages, at, block);
    }
}

void
flam_alloc_ledger_break (FlamAllocLedger *ledger,
                         FlamAllocStream *stream,
                         gint64 time,
                         gint64 change,
                         FlamId stack)
{
  GArray *breaks = stream->space->breaks;

  flam_alloc_ledger_flush (ledger, time);
  if (change > 0)
    {
      SiteKey key = { stream->thread, stack, change, FLAM_ALLOCATOR_BRK };
      Block block = make_block (ledger, stream, 1, 1, &key);

      g_array_append_val (breaks, block);
      return;
    }
  /* The heap shrinks from its end: the newest pieces go first. */
  while (change < 0 && breaks->len > 0)
    {
      Block block = g_array_index (breaks, Block, breaks->len - 1);
      SiteKey key = site_at (ledger, block.site)->key;
      gint64 left = block.size + change;

      change += block.size;
      release (ledger, &block, NO_DISTANCE);
      g_array_set_size (breaks, breaks->len - 1);
      if (left <= 0)
        continue;
      key.size = left;
      block = make_block (ledger, stream, 1, 1, &key);
      g_array_append_val (breaks, block);
      return;
    }
}

/* --- life ---------------------------------------------------------------- */

static void
space_free (gpointer data)
{
  FlamAllocSpace *space = data;

  g_free (space->places);
  g_array_unref (space->pages);
  g_array_unref (space->breaks);
  g_free (space);
}

FlamAllocLedger *
flam_alloc_ledger_new (FlamCaptureWriter *writer)
{
  FlamAllocLedger *ledger = g_new0 (FlamAllocLedger, 1);

  ledger->writer = writer;
  flam_column_init (&ledger->sites, sizeof (Site));
  flam_interner_init (&ledger->interner);
  ledger->makers = g_array_new (FALSE, FALSE, sizeof (guint32));
  ledger->touched = g_array_new (FALSE, FALSE, sizeof (guint32));
  ledger->spaces = g_ptr_array_new_with_free_func (space_free);
  ledger->streams = g_ptr_array_new_with_free_func (g_free);
  ledger->tick = 1;
  return ledger;
}

void
flam_alloc_ledger_free (FlamAllocLedger *ledger)
{
  flam_column_clear (&ledger->sites);
  flam_interner_clear (&ledger->interner);
  g_array_unref (ledger->makers);
  g_array_unref (ledger->touched);
  g_ptr_array_unref (ledger->streams);
  g_ptr_array_unref (ledger->spaces);
  g_free (ledger);
}

FlamAllocSpace *
flam_alloc_ledger_add_space (FlamAllocLedger *ledger)
{
  FlamAllocSpace *space = g_new0 (FlamAllocSpace, 1);

  space->places = g_new0 (Block, FIRST_PLACES);
  space->mask = FIRST_PLACES - 1;
  space->pages = g_array_new (FALSE, FALSE, sizeof (Block));
  space->breaks = g_array_new (FALSE, FALSE, sizeof (Block));
  g_ptr_array_add (ledger->spaces, space);
  return space;
}

FlamAllocStream *
flam_alloc_ledger_add_stream (FlamAllocLedger *ledger,
                              FlamAllocSpace *space,
                              FlamId thread)
{
  FlamAllocStream *stream = g_new0 (FlamAllocStream, 1);

  stream->space = space;
  stream->thread = thread;
  g_ptr_array_add (ledger->streams, stream);
  return stream;
}

void
flam_alloc_stream_set_made (FlamAllocStream *stream, guint32 made)
{
  stream->n_made = made;
}

guint32
flam_alloc_stream_get_made (const FlamAllocStream *stream)
{
  return stream->n_made;
}

void
flam_alloc_ledger_end_stream (FlamAllocLedger *ledger, FlamAllocStream *stream)
{
  store_last (ledger, stream);
  g_ptr_array_remove (ledger->streams, stream);
}

void
flam_alloc_ledger_end_space (FlamAllocLedger *ledger, FlamAllocSpace *space)
{
  for (guint i = ledger->streams->len; i-- > 0;)
    {
      FlamAllocStream *stream = ledger->streams->pdata[i];

      if (stream->space == space)
        g_ptr_array_remove_index (ledger->streams, i);
    }
  g_ptr_array_remove (ledger->spaces, space);
}

void
flam_alloc_ledger_finish (FlamAllocLedger *ledger, gint64 time)
{
  end_tick (ledger);
  ledger->tick_start = MAX (time, ledger->tick_start);
  if (ledger->rising)
    ledger->peak_epoch++;
  ledger->rising = FALSE;
  flam_capture_writer_fact_number (
      ledger->writer, FLAM_FACT_PEAK_TIME, ledger->highest_time);
  for (guint32 i = 0; i < ledger->sites.n; i++)
    {
      Site *site = site_at (ledger, i);

      settle_peak (ledger, site);
      if (site->at_peak > 0 && counts_as_heap (site))
        flam_capture_writer_at_peak (ledger->writer,
                                     site->key.thread,
                                     site->key.stack,
                                     site->key.size,
                                     site->key.allocator,
                                     site->at_peak);
    }
}

gint64
flam_alloc_ledger_live (const FlamAllocLedger *ledger)
{
  return ledger->live;
}
