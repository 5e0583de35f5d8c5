/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-ledger.h"

#include <stdlib.h>

#include "flam-alloc-places.h"

#define TICK_NS 10000000
/* Of the time so far, which part a tick is at most. */
#define TICKS_MAX 10000
#define NO_DISTANCE G_MAXUINT16
/* Farther ones are all alike. */
#define DISTANCE_MAX 16

/* Blocks that are alike. */
typedef struct
{
  FlamId thread;
  FlamId stack;
  gint64 size;
  guint32 each; /* how many one of them stands for (sampling) */
  guint8 allocator;
} SiteKey;

typedef struct
{
  SiteKey key;
  gint64 live;
  gint64 at_peak;
  guint32 peak_epoch; /* at_peak is that of this highest point */
  guint32 row;        /* in this tick; FLAM_NONE */
  guint32 made;       /* blocks in `row` */
  /* Blocks of `row` that were freed soon, by distance. */
  guint32 near[DISTANCE_MAX];
} Site;

/* A row of BLOCKS. */
typedef struct
{
  guint32 site;
  guint32 released; /* in this tick, of those not near */
} Row;

/* Memory that is not the heap's. */
typedef struct
{
  guint64 address;
  gint64 size;
  guint32 row;
} Piece;

struct _FlamAllocSpace
{
  FlamAllocPlaces places;
  GArray *pages;  /* Piece, ascending by address */
  GArray *breaks; /* Piece, in order */
};

struct _FlamAllocStream
{
  FlamAllocSpace *space;
  FlamId thread;
  guint32 n_made;
};

struct _FlamAllocLedger
{
  FlamCaptureWriter *writer;
  FlamColumn sites; /* Site */
  FlamColumn rows;  /* Row */
  FlamInterner interner;
  guint32 first_row;    /* of this tick */
  FlamColumn releasing; /* guint32: rows with something in `released` */
  GArray *cut;          /* Piece: used within flam_alloc_ledger_unmap() */
  GPtrArray *spaces;
  GPtrArray *streams;
  gint64 tick_start;
  gint64 tick_end;
  gint64 live;
  gint64 highest;
  gint64 highest_time;
  guint32 peak_epoch;
  gboolean rising; /* live is at a new highest point */
};

/* --- sites --------------------------------------------------------------- */

static inline gboolean
key_equal (const SiteKey *a, const SiteKey *b)
{
  return a->thread == b->thread && a->stack == b->stack && a->size == b->size &&
         a->each == b->each && a->allocator == b->allocator;
}

static gboolean
site_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamAllocLedger *ledger = table;

  return key_equal (&flam_column_at (&ledger->sites, Site, row).key, key);
}

static guint32
site_of (FlamAllocLedger *ledger, const SiteKey *key)
{
  guint32 hash = flam_hash_pair ((guint64)key->thread << 32 | key->stack,
                                 (guint64)key->size << 4 | key->allocator) +
                 (key->each - 1) * 0x9e3779b1u;
  FlamSlot *slot =
      flam_interner_find (&ledger->interner, hash, site_equal, ledger, key);
  Site site = { .key = *key, .row = FLAM_NONE };

  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, ledger->sites.n };
  ledger->interner.used++;
  flam_column_append (&ledger->sites, Site, site);
  return slot->id;
}

#define site_at(ledger, i) (&flam_column_at (&(ledger)->sites, Site, i))
#define row_at(ledger, i) (&flam_column_at (&(ledger)->rows, Row, i))

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
raise_live (FlamAllocLedger *ledger, Site *site)
{
  settle_peak (ledger, site);
  site->live++;
  if (!counts_as_heap (site))
    return;
  ledger->live += site->key.size * site->key.each;
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
lower_live (FlamAllocLedger *ledger, Site *site)
{
  if (ledger->rising && counts_as_heap (site))
    {
      ledger->rising = FALSE;
      ledger->peak_epoch++;
    }
  settle_peak (ledger, site);
  site->live--;
  if (counts_as_heap (site))
    ledger->live -= site->key.size * site->key.each;
}

/* --- ticks --------------------------------------------------------------- */

static void
write_release (FlamAllocLedger *ledger,
               guint32 row,
               gint64 count,
               guint16 distance)
{
  const Site *site = site_at (ledger, row_at (ledger, row)->site);

  flam_capture_writer_release (ledger->writer,
                               ledger->tick_start,
                               row,
                               count * site->key.each,
                               distance);
}

static void
write_row (FlamAllocLedger *ledger, Site *site)
{
  FlamCaptureBlocks blocks = {
    .time = ledger->tick_start,
    .thread = site->key.thread,
    .stack = site->key.stack,
    .size = site->key.size,
    .count = (gint64)site->made * site->key.each,
    .allocator = site->key.allocator,
  };

  flam_capture_writer_blocks (ledger->writer, &blocks);
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

  lower_live (ledger, site);
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
  raise_live (ledger, site);
  return site->row;
}

static void
insert_piece (GArray *pages, const Piece *piece)
{
  guint at = pages->len;

  while (at > 0 &&
         g_array_index (pages, Piece, at - 1).address > piece->address)
    at--;
  g_array_insert_val (pages, at, *piece);
}

static void
map_pages (FlamAllocLedger *ledger,
           FlamAllocStream *stream,
           guint64 address,
           gint64 size,
           guint32 site)
{
  Piece piece = { address, size };

  flam_alloc_ledger_unmap (ledger, stream, address, (guint64)size);
  piece.row = make_block (ledger, site);
  insert_piece (stream->space->pages, &piece);
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
  SiteKey key = { stream->thread, stack->id, size, each, allocator };
  FlamAllocPlaced block, old;

  stream->n_made++;
  if (G_UNLIKELY (stack->site == FLAM_NONE ||
                  !key_equal (&site_at (ledger, stack->site)->key, &key)))
    stack->site = site_of (ledger, &key);
  if (G_UNLIKELY (allocator == FLAM_ALLOCATOR_MMAP))
    {
      map_pages (ledger, stream, address, size, stack->site);
      return;
    }
  block = (FlamAllocPlaced){ make_block (ledger, stack->site), stream->n_made };
  /* A free that was never seen: the address would not be there twice. */
  if (flam_alloc_places_put (&stream->space->places, address, block, &old))
    release (ledger, old.row, NO_DISTANCE);
}

void
flam_alloc_ledger_free_block (FlamAllocLedger *ledger,
                              FlamAllocStream *stream,
                              guint64 address)
{
  FlamAllocPlaced block;
  guint32 distance;

  if (!flam_alloc_places_take (&stream->space->places, address, &block))
    return; /* older than the recording */
  distance = stream->n_made - block.nth;
  if (distance < DISTANCE_MAX &&
      site_at (ledger, row_at (ledger, block.row)->site)->key.thread !=
          stream->thread)
    distance = NO_DISTANCE;
  release (ledger, block.row, distance);
}

void
flam_alloc_ledger_expect (const FlamAllocSpace *space, guint64 address)
{
  flam_alloc_places_expect (&space->places, address);
}

/* --- pages --------------------------------------------------------------- */

/* What is left of a mapping on one side of what was cut out of it. */
static void
keep_rest (FlamAllocLedger *ledger,
           const Piece *whole,
           guint64 address,
           guint64 end)
{
  SiteKey key = site_at (ledger, row_at (ledger, whole->row)->site)->key;
  Piece rest = { address, (gint64)(end - address) };

  if (address >= end)
    return;
  key.size = rest.size;
  rest.row = make_block (ledger, site_of (ledger, &key));
  g_array_append_val (ledger->cut, rest);
}

void
flam_alloc_ledger_unmap (FlamAllocLedger *ledger,
                         FlamAllocStream *stream,
                         guint64 address,
                         guint64 size)
{
  GArray *pages = stream->space->pages;
  guint64 end = address + size < address ? G_MAXUINT64 : address + size;
  guint at = 0;

  while (at < pages->len)
    {
      Piece piece = g_array_index (pages, Piece, at);
      guint64 piece_end = piece.address + piece.size;

      if (piece_end <= address || piece.address >= end)
        {
          at++;
          continue;
        }
      release (ledger, piece.row, NO_DISTANCE);
      g_array_remove_index (pages, at);
      keep_rest (ledger, &piece, piece.address, address);
      keep_rest (ledger, &piece, end, piece_end);
    }
  for (guint i = 0; i < ledger->cut->len; i++)
    insert_piece (pages, &g_array_index (ledger->cut, Piece, i));
  g_array_set_size (ledger->cut, 0);
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
      SiteKey key = {
        stream->thread, stack->id, change, 1, FLAM_ALLOCATOR_BRK
      };
      Piece piece = { 0, change, make_block (ledger, site_of (ledger, &key)) };

      g_array_append_val (breaks, piece);
      return;
    }
  /* The heap shrinks from its end: the newest pieces go first. */
  while (change < 0 && breaks->len > 0)
    {
      Piece piece = g_array_index (breaks, Piece, breaks->len - 1);
      SiteKey key = site_at (ledger, row_at (ledger, piece.row)->site)->key;
      gint64 left = piece.size + change;

      change += piece.size;
      release (ledger, piece.row, NO_DISTANCE);
      g_array_set_size (breaks, breaks->len - 1);
      if (left <= 0)
        continue;
      key.size = left;
      piece = (Piece){ 0, left, make_block (ledger, site_of (ledger, &key)) };
      g_array_append_val (breaks, piece);
      return;
    }
}

/* --- life ---------------------------------------------------------------- */

static void
space_free (gpointer data)
{
  FlamAllocSpace *space = data;

  flam_alloc_places_clear (&space->places);
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
  flam_column_init (&ledger->rows, sizeof (Row));
  flam_column_init (&ledger->releasing, sizeof (guint32));
  flam_interner_init (&ledger->interner);
  ledger->cut = g_array_new (FALSE, FALSE, sizeof (Piece));
  ledger->spaces = g_ptr_array_new_with_free_func (space_free);
  ledger->streams = g_ptr_array_new_with_free_func (g_free);
  ledger->tick_end = TICK_NS;
  return ledger;
}

void
flam_alloc_ledger_free (FlamAllocLedger *ledger)
{
  flam_column_clear (&ledger->sites);
  flam_column_clear (&ledger->rows);
  flam_column_clear (&ledger->releasing);
  flam_interner_clear (&ledger->interner);
  g_array_unref (ledger->cut);
  g_ptr_array_unref (ledger->streams);
  g_ptr_array_unref (ledger->spaces);
  g_free (ledger);
}

FlamAllocSpace *
flam_alloc_ledger_add_space (FlamAllocLedger *ledger)
{
  FlamAllocSpace *space = g_new0 (FlamAllocSpace, 1);

  flam_alloc_places_init (&space->places);
  space->pages = g_array_new (FALSE, FALSE, sizeof (Piece));
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
                                     site->at_peak * site->key.each);
    }
}

gint64
flam_alloc_ledger_live (const FlamAllocLedger *ledger)
{
  return ledger->live;
}
