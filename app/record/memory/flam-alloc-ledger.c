/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-ledger.h"

#include <stdlib.h>

#include "flam-block-table.h"
#include "flam-heap.h"
#include "flam-ranges.h"

#define TICK_NS 10000000
/* Of the time so far, which part a tick is at most. */
#define TICKS_MAX 10000
#define NO_DISTANCE G_MAXUINT16
/* Farther ones are all alike. */
#define DISTANCE_MAX 16

typedef struct
{
  FlamHeapSite heap;
  guint32 row;  /* in this tick; FLAM_NONE */
  guint32 made; /* blocks in `row` */
  /* Blocks of `row` that were freed soon, by distance. */
  guint32 near[DISTANCE_MAX];
} Site;

static const Site blank = { .row = FLAM_NONE };

/* A row of BLOCKS. */
typedef struct
{
  guint32 site;
  guint32 released; /* in this tick, of those not near */
} Row;

/* Of the memory between the heap's begin and its end. */
typedef struct
{
  gint64 size;
  guint32 row;
} Piece;

struct _FlamAllocSpace
{
  FlamBlockTable blocks;
  FlamRanges *pages; /* value: row */
  GArray *breaks;    /* Piece, in order */
};

struct _FlamAllocStream
{
  FlamAllocSpace *space;
  FlamId thread;
  guint32 n_made;
};

struct _FlamAllocLedger
{
  FlamBuilder *builder;
  FlamHeap heap;        /* of Site */
  FlamColumn rows;      /* Row */
  guint32 first_row;    /* of this tick */
  FlamColumn releasing; /* guint32: rows with something in `released` */
  GPtrArray *spaces;
  GPtrArray *streams;
  gint64 tick_start;
  gint64 tick_end;
};

#define site_at(ledger, i) (&flam_column_at (&(ledger)->heap.sites, Site, i))
#define row_at(ledger, i) (&flam_column_at (&(ledger)->rows, Row, i))

/* Pages are not the heap's. */
static inline gboolean
counts_as_heap (const FlamSiteKey *key)
{
  return key->allocator != FLAM_ALLOCATOR_MMAP &&
         key->allocator != FLAM_ALLOCATOR_BRK;
}

static inline gint64
heap_bytes (const FlamSiteKey *key)
{
  return counts_as_heap (key) ? key->size * key->each : 0;
}

/* --- ticks --------------------------------------------------------------- */

static void
write_release (FlamAllocLedger *ledger,
               guint32 row,
               gint64 count,
               guint16 distance)
{
  const Site *site = site_at (ledger, row_at (ledger, row)->site);

  flam_builder_note_release (ledger->builder,
                             ledger->tick_start,
                             row,
                             count * site->heap.key.each,
                             distance);
}

static void
write_row (FlamAllocLedger *ledger, Site *site)
{
  FlamRecordedBlocks blocks = {
    .time = ledger->tick_start,
    .thread = site->heap.key.thread,
    .stack = site->heap.key.stack,
    .size = site->heap.key.size,
    .count = (gint64)site->made * site->heap.key.each,
    .allocator = site->heap.key.allocator,
  };

  flam_builder_note_blocks (ledger->builder, &blocks);
}

static void
write_near (FlamAllocLedger *ledger, Site *site)
{
  for (guint16 i = 0; i < DISTANCE_MAX; i++)
    if (site->near[i] > 0)
      write_release (ledger, site->row, site->near[i], i);
  memset (site->near, 0, sizeof site->near);
  site->made = 0;
  site->row = FLAM_NONE;
}

static int
compare_rows (const void *a, const void *b)
{
  guint32 x = *(const guint32 *)a;
  guint32 y = *(const guint32 *)b;

  return x < y ? -1 : x > y;
}

static void
end_tick (FlamAllocLedger *ledger)
{
  guint32 *releasing = ledger->releasing.data;

  for (guint32 i = ledger->first_row; i < ledger->rows.n; i++)
    write_row (ledger, site_at (ledger, row_at (ledger, i)->site));
  for (guint32 i = ledger->first_row; i < ledger->rows.n; i++)
    write_near (ledger, site_at (ledger, row_at (ledger, i)->site));
  /* In order, for the sake of the capture's size. */
  if (ledger->releasing.n > 0)
    qsort (releasing, ledger->releasing.n, sizeof *releasing, compare_rows);
  for (gsize i = 0; i < ledger->releasing.n; i++)
    {
      Row *row = row_at (ledger, releasing[i]);

      write_release (ledger, releasing[i], row->released, NO_DISTANCE);
      row->released = 0;
    }
  ledger->releasing.n = 0;
  ledger->first_row = ledger->rows.n;
}

gint64
flam_alloc_ledger_advance (FlamAllocLedger *ledger, gint64 time)
{
  if (time >= ledger->tick_end)
    {
      end_tick (ledger);
      ledger->tick_start = time;
      ledger->tick_end = time + MAX (TICK_NS, time / TICKS_MAX);
    }
  return ledger->tick_end;
}

/* --- events -------------------------------------------------------------- */

static void
release (FlamAllocLedger *ledger, guint32 id, guint distance)
{
  Row *row = row_at (ledger, id);
  Site *site = site_at (ledger, row->site);

  flam_heap_lower (&ledger->heap, &site->heap, heap_bytes (&site->heap.key));
  if (distance >= DISTANCE_MAX)
    {
      if (row->released++ == 0)
        flam_column_append (&ledger->releasing, guint32, id);
    }
  else if (id == site->row)
    site->near[distance]++;
  else
    write_release (ledger, id, 1, distance);
}

/* One more block, in the row that its site has in this tick. Rows are
 * numbered, and written, in the order in which they are begun. */
static guint32
make_block (FlamAllocLedger *ledger, guint32 id)
{
  Site *site = site_at (ledger, id);

  if (site->row == FLAM_NONE)
    {
      site->row = ledger->rows.n;
      flam_column_append (&ledger->rows, Row, ((Row){ id, 0 }));
    }
  site->made++;
  flam_heap_raise (&ledger->heap,
                   &site->heap,
                   heap_bytes (&site->heap.key),
                   ledger->tick_start);
  return site->row;
}

static guint64
end_of (guint64 address, guint64 size)
{
  return address + size < address ? G_MAXUINT64 : address + size;
}

static void
map_pages (FlamAllocLedger *ledger,
           FlamAllocStream *stream,
           guint64 address,
           gint64 size,
           guint32 site)
{
  FlamRange range = { .start = address, .end = end_of (address, size) };

  flam_alloc_ledger_unmap (ledger, stream, address, (guint64)size);
  range.value = make_block (ledger, site);
  flam_ranges_add (stream->space->pages, &range);
}

void
flam_alloc_ledger_block (FlamAllocLedger *ledger,
                         FlamAllocStream *stream,
                         guint64 address,
                         gint64 size,
                         guint32 each,
                         FlamAllocStack *stack,
                         FlamAllocator allocator)
{
  FlamSiteKey key = { size, stack->id, stream->thread, each, allocator };
  FlamBlockEntry block, old;

  stream->n_made++;
  if (G_UNLIKELY (stack->site == FLAM_NONE ||
                  !flam_site_key_equal (
                      &site_at (ledger, stack->site)->heap.key, &key)))
    stack->site = flam_heap_find_site (&ledger->heap, &key);
  if (G_UNLIKELY (allocator == FLAM_ALLOCATOR_MMAP))
    {
      map_pages (ledger, stream, address, size, stack->site);
      return;
    }
  block = (FlamBlockEntry){ make_block (ledger, stack->site), stream->n_made };
  /* A free that was never seen: the address would not be there twice. */
  if (flam_block_table_put (&stream->space->blocks, address, block, &old))
    release (ledger, old.row, NO_DISTANCE);
}

void
flam_alloc_ledger_free_block (FlamAllocLedger *ledger,
                              FlamAllocStream *stream,
                              guint64 address)
{
  FlamBlockEntry block;
  guint32 distance;

  if (!flam_block_table_take (&stream->space->blocks, address, &block))
    return; /* older than the recording */
  distance = stream->n_made - block.nth;
  if (distance < DISTANCE_MAX &&
      site_at (ledger, row_at (ledger, block.row)->site)->heap.key.thread !=
          stream->thread)
    distance = NO_DISTANCE;
  release (ledger, block.row, distance);
}

void
flam_alloc_ledger_expect (const FlamAllocSpace *space, guint64 address)
{
  flam_block_table_expect (&space->blocks, address);
}

/* --- pages --------------------------------------------------------------- */

/* What is left of a mapping on one side of what was cut out of it. */
static void
keep_rest (FlamAllocLedger *ledger,
           FlamAllocSpace *space,
           const FlamRange *whole,
           guint64 address,
           guint64 end)
{
  FlamSiteKey key =
      site_at (ledger, row_at (ledger, whole->value)->site)->heap.key;
  FlamRange rest = { .start = address, .end = end };

  if (address >= end)
    return;
  key.size = (gint64)(end - address);
  rest.value = make_block (ledger, flam_heap_find_site (&ledger->heap, &key));
  flam_ranges_add (space->pages, &rest);
}

void
flam_alloc_ledger_unmap (FlamAllocLedger *ledger,
                         FlamAllocStream *stream,
                         guint64 address,
                         guint64 size)
{
  FlamAllocSpace *space = stream->space;
  guint64 end = end_of (address, size);
  const FlamRange *found;

  while ((found = flam_ranges_next (space->pages, address)) != NULL &&
         found->start < end)
    {
      FlamRange piece = *found;

      release (ledger, piece.value, NO_DISTANCE);
      flam_ranges_remove (space->pages, piece.start, piece.end);
      keep_rest (ledger, space, &piece, piece.start, address);
      keep_rest (ledger, space, &piece, end, piece.end);
    }
}

void
flam_alloc_ledger_break (FlamAllocLedger *ledger,
                         FlamAllocStream *stream,
                         gint64 change,
                         FlamAllocStack *stack)
{
  GArray *breaks = stream->space->breaks;

  if (change > 0)
    {
      FlamSiteKey key = {
        change, stack->id, stream->thread, 1, FLAM_ALLOCATOR_BRK
      };
      Piece piece = {
        change, make_block (ledger, flam_heap_find_site (&ledger->heap, &key))
      };

      g_array_append_val (breaks, piece);
      return;
    }
  /* The heap shrinks from its end: the newest pieces go first. */
  while (change < 0 && breaks->len > 0)
    {
      Piece piece = g_array_index (breaks, Piece, breaks->len - 1);
      FlamSiteKey key =
          site_at (ledger, row_at (ledger, piece.row)->site)->heap.key;
      gint64 left = piece.size + change;

      change += piece.size;
      release (ledger, piece.row, NO_DISTANCE);
      g_array_set_size (breaks, breaks->len - 1);
      if (left <= 0)
        continue;
      key.size = left;
      piece = (Piece){
        left, make_block (ledger, flam_heap_find_site (&ledger->heap, &key))
      };
      g_array_append_val (breaks, piece);
      return;
    }
}

/* --- life ---------------------------------------------------------------- */

static void
space_free (gpointer data)
{
  FlamAllocSpace *space = data;

  flam_block_table_clear (&space->blocks);
  flam_ranges_free (space->pages);
  g_array_unref (space->breaks);
  g_free (space);
}

FlamAllocLedger *
flam_alloc_ledger_new (FlamBuilder *builder)
{
  FlamAllocLedger *ledger = g_new0 (FlamAllocLedger, 1);

  ledger->builder = builder;
  flam_heap_init (&ledger->heap, &blank, sizeof blank);
  flam_column_init (&ledger->rows, sizeof (Row));
  flam_column_init (&ledger->releasing, sizeof (guint32));
  ledger->spaces = g_ptr_array_new_with_free_func (space_free);
  ledger->streams = g_ptr_array_new_with_free_func (g_free);
  ledger->tick_end = TICK_NS;
  return ledger;
}

void
flam_alloc_ledger_free (FlamAllocLedger *ledger)
{
  flam_heap_clear (&ledger->heap);
  flam_column_clear (&ledger->rows);
  flam_column_clear (&ledger->releasing);
  g_ptr_array_unref (ledger->streams);
  g_ptr_array_unref (ledger->spaces);
  g_free (ledger);
}

FlamAllocSpace *
flam_alloc_ledger_add_space (FlamAllocLedger *ledger)
{
  FlamAllocSpace *space = g_new0 (FlamAllocSpace, 1);

  flam_block_table_init (&space->blocks);
  space->pages = flam_ranges_new ();
  space->breaks = g_array_new (FALSE, FALSE, sizeof (Piece));
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
  flam_heap_finish (&ledger->heap);
  flam_builder_note_number (
      ledger->builder, FLAM_FACT_PEAK_TIME, ledger->heap.highest_time);
  for (guint32 i = 0; i < ledger->heap.sites.n; i++)
    {
      Site *site = site_at (ledger, i);

      if (site->heap.at_peak > 0 && counts_as_heap (&site->heap.key))
        flam_builder_note_at_peak (ledger->builder,
                                   site->heap.key.thread,
                                   site->heap.key.stack,
                                   site->heap.key.size,
                                   site->heap.key.allocator,
                                   site->heap.at_peak * site->heap.key.each);
    }
}

gint64
flam_alloc_ledger_live (const FlamAllocLedger *ledger)
{
  return ledger->heap.live;
}
