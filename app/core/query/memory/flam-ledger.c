/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ledger.h"

#include <stdlib.h>

#define CHUNK_BYTES (sizeof (FlamLedgerRow) << FLAM_LEDGER_CHUNK)

/* The remaining blocks of a row of blocks without address. */
typedef struct
{
  guint32 row;
  guint32 live;
  guint32 next; /* the pile below, or a free one; FLAM_NONE */
} Pile;

static const FlamSite blank = {
  .row = FLAM_NONE,
  .near = FLAM_NONE,
  .older = FLAM_NONE,
};

void
flam_addresses_init (FlamAddresses *addresses,
                     FlamAddressKind kind,
                     FlamSpill *spill)
{
  *addresses = (FlamAddresses){ .kind = kind };
  if (kind == FLAM_ADDRESSES_HEAP)
    flam_block_table_init (&addresses->table, spill);
}

void
flam_addresses_clear (FlamAddresses *addresses)
{
  if (addresses->kind == FLAM_ADDRESSES_HEAP)
    flam_block_table_clear (&addresses->table);
  else
    flam_block_hash_clear (&addresses->hash);
}

FlamLedger *
flam_ledger_new (FlamBuilder *builder)
{
  FlamLedger *ledger = g_new0 (FlamLedger, 1);

  ledger->builder = builder;
  flam_peak_tracker_init (&ledger->heap, &blank, sizeof blank);
  ledger->rows.chunks = g_ptr_array_new ();
  flam_column_init (&ledger->near, sizeof (guint32));
  flam_column_init (&ledger->freed, sizeof (FlamLedgerFreed));
  flam_column_init (&ledger->piles, sizeof (Pile));
  flam_column_init (&ledger->orders, sizeof (guint32));
  flam_addresses_init (&ledger->file, FLAM_ADDRESSES_FILE, NULL);
  ledger->free_pile = FLAM_NONE;
  ledger->at_peak = TRUE;
  return ledger;
}

void
flam_ledger_free (FlamLedger *ledger)
{
  flam_peak_tracker_clear (&ledger->heap);
  for (guint i = 0; i < ledger->rows.chunks->len; i++)
    flam_spill_give_back (
        ledger->spill, ledger->rows.chunks->pdata[i], CHUNK_BYTES);
  g_ptr_array_unref (ledger->rows.chunks);
  flam_column_clear (&ledger->near);
  flam_column_clear (&ledger->freed);
  flam_column_clear (&ledger->piles);
  flam_column_clear (&ledger->orders);
  flam_addresses_clear (&ledger->file);
  g_free (ledger);
}

/* --- sites ---------------------------------------------------------------- */

/* Mapped pages and the break are in a recording of blocks, but are not part of
 * the heap.
 * The totals in a file include them. */
static gboolean
counts_as_heap (const FlamLedger *ledger, const FlamSiteKey *key)
{
  return !ledger->recording || ledger->pages ||
         (key->allocator != FLAM_ALLOCATOR_MMAP &&
          key->allocator != FLAM_ALLOCATOR_BRK);
}

static guint32
set_bytes (FlamLedger *ledger, guint32 number)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);
  const FlamSiteKey *key = &site->heap.key;

  site->bytes = counts_as_heap (ledger, key) && !ledger->sampled
                    ? key->size * key->each
                    : 0;
  return number;
}

guint32
flam_ledger_add_site (FlamLedger *ledger, const FlamSiteKey *key)
{
  return set_bytes (ledger, flam_peak_tracker_add_site (&ledger->heap, key));
}

guint32
flam_ledger_find_site (FlamLedger *ledger, const FlamSiteKey *key)
{
  return set_bytes (ledger, flam_peak_tracker_find_site (&ledger->heap, key));
}

/* --- ticks ---------------------------------------------------------------- */

static void
write_release (FlamLedger *ledger,
               const FlamSite *site,
               guint32 row,
               gint64 count,
               gint64 late,
               guint distance)
{
  gint64 each = site->heap.key.each;

  flam_builder_note_release (ledger->builder,
                             ledger->now,
                             row,
                             count * each,
                             (guint16)distance,
                             row < ledger->first_row ? late * each : 0);
}

/* Blocks of the site's row that were live at the peak of the tick but not at
 * its end. */
static gint64
more_then (const FlamLedger *ledger, const FlamSite *site)
{
  if (ledger->at_peak || site->mark != ledger->mark)
    return 0;
  return ((gint64)site->made_then - site->gone_then) -
         ((gint64)site->made - site->gone);
}

static void
write_row (FlamLedger *ledger, const FlamSite *site)
{
  const FlamSiteKey *key = &site->heap.key;
  FlamRecordedBlocks blocks = {
    .time = ledger->now,
    .thread = key->thread,
    .stack = key->stack,
    .size = key->size,
    .count = (gint64)site->made * key->each,
    .allocator = key->allocator,
    .more = more_then (ledger, site) * key->each,
  };

  flam_builder_note_blocks (ledger->builder, &blocks);
  if (site->at_once > 0)
    write_release (ledger, site, site->row, site->at_once, 0, 0);
  for (guint i = 1; site->near != FLAM_NONE && i < FLAM_LEDGER_NEAR; i++)
    {
      guint32 count = flam_column_at (&ledger->near, guint32, site->near + i);

      if (count > 0)
        write_release (ledger, site, site->row, count, 0, i);
    }
}

/* The blocks without an address that are still live after the tick. */
static void
pile_up (FlamLedger *ledger, FlamSite *site)
{
  guint32 number = ledger->free_pile;

  if (number == FLAM_NONE)
    {
      number = ledger->piles.n;
      flam_column_push (&ledger->piles);
    }
  else
    ledger->free_pile = flam_column_at (&ledger->piles, Pile, number).next;
  flam_column_at (&ledger->piles, Pile, number) =
      (Pile){ site->row, site->live, site->older };
  site->older = number;
  site->live = 0;
}

static int
compare_freed (const void *a, const void *b)
{
  const FlamLedgerFreed *x = a;
  const FlamLedgerFreed *y = b;

  if (x->row != y->row)
    return x->row < y->row ? -1 : 1;
  return x->distance < y->distance ? -1 : x->distance > y->distance;
}

/* Sorted, to make the capture small, and equal ones merged. */
static void
write_freed (FlamLedger *ledger)
{
  FlamLedgerFreed *freed = ledger->freed.data;
  gsize n = ledger->freed.n;

  for (gsize i = ledger->freed_then; !ledger->at_peak && i < n; i++)
    freed[i].late = freed[i].count;
  if (n > 1 && (ledger->recording || ledger->unordered))
    qsort (freed, n, sizeof *freed, compare_freed);
  for (gsize i = 0, next; i < n; i = next)
    {
      FlamLedgerRow *row = flam_ledger_get_row (ledger, freed[i].row);
      FlamLedgerFreed sum = freed[i];

      for (next = i + 1;
           next < n && compare_freed (&freed[i], &freed[next]) == 0;
           next++)
        {
          sum.count += freed[next].count;
          sum.late += freed[next].late;
        }
      write_release (ledger,
                     flam_ledger_get_site (ledger, row->site),
                     sum.row,
                     sum.count,
                     sum.late,
                     sum.distance);
      row->far = 0;
    }
  ledger->freed.n = ledger->freed_then = 0;
  ledger->unordered = FALSE;
}

static void
end_tick (FlamLedger *ledger)
{
  for (guint32 i = ledger->first_row; i < ledger->rows.n; i++)
    {
      FlamSite *site =
          flam_ledger_get_site (ledger, flam_ledger_get_row (ledger, i)->site);

      write_row (ledger, site);
      if (site->live > 0)
        pile_up (ledger, site);
      site->made = site->at_once = site->gone = 0;
      site->row = site->near = FLAM_NONE;
    }
  write_freed (ledger);
  ledger->near.n = 0;
  ledger->first_row = ledger->rows.n;
  ledger->tick_peak = ledger->heap.live;
  ledger->at_peak = TRUE;
}

void
flam_ledger_begin (FlamLedger *ledger, gint64 ns)
{
  ledger->now = ns;
}

void
flam_ledger_set_time (FlamLedger *ledger, gint64 ns)
{
  if (ns <= ledger->now)
    return;
  end_tick (ledger);
  ledger->now = ns;
}

/* --- events --------------------------------------------------------------- */

void
flam_ledger_begin_row (FlamLedger *ledger, guint32 number)
{
  FlamLedgerRows *rows = &ledger->rows;

  if (rows->n >> FLAM_LEDGER_CHUNK == rows->chunks->len)
    g_ptr_array_add (rows->chunks,
                     flam_spill_take (ledger->spill, CHUNK_BYTES));
  flam_ledger_get_site (ledger, number)->row = rows->n++;
  flam_ledger_get_row (ledger, rows->n - 1)->site = number;
}

void
flam_ledger_note_near (FlamLedger *ledger, FlamSite *site, guint distance)
{
  if (site->near == FLAM_NONE)
    {
      site->near = (guint32)ledger->near.n;
      flam_column_backfill (&ledger->near, ledger->near.n + FLAM_LEDGER_NEAR);
    }
  flam_column_at (&ledger->near, guint32, site->near + distance)++;
}

void
flam_ledger_note_freed (FlamLedger *ledger, guint32 row, guint distance)
{
  FlamLedgerRow *of = flam_ledger_get_row (ledger, row);
  gboolean far = distance == FLAM_LEDGER_FAR;

  ledger->unordered |= !far || of->far != 0;
  flam_column_append (&ledger->freed,
                      FlamLedgerFreed,
                      ((FlamLedgerFreed){ row, distance, 1, 0 }));
  if (far)
    of->far = (guint32)ledger->freed.n;
}

guint32
flam_ledger_make_many (FlamLedger *ledger, guint32 number, guint32 n)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);
  gint64 bytes = site->bytes * n;

  if (!flam_ledger_rises (ledger, bytes))
    flam_ledger_touch (ledger, site);
  if (site->row == FLAM_NONE)
    flam_ledger_begin_row (ledger, number);
  site->made += n;
  flam_peak_tracker_raise (&ledger->heap, &site->heap, bytes, ledger->now);
  site->heap.live += (gint64)n - 1;
  return site->row;
}

void
flam_ledger_release_many (FlamLedger *ledger, guint32 row, guint32 n)
{
  FlamLedgerRow *of = flam_ledger_get_row (ledger, row);
  FlamSite *site = flam_ledger_get_site (ledger, of->site);

  if (n == 0)
    return;
  flam_ledger_touch (ledger, site);
  flam_peak_tracker_lower (&ledger->heap, &site->heap, site->bytes * n);
  site->heap.live -= (gint64)n - 1;
  site->gone += row == site->row ? n : 0;
  if (of->far <= ledger->freed_then)
    {
      flam_ledger_note_freed (ledger, row, FLAM_LEDGER_FAR);
      n--;
    }
  flam_column_at (&ledger->freed, FlamLedgerFreed, of->far - 1).count += n;
}

void
flam_ledger_move (FlamLedger *ledger, gint64 bytes)
{
  if (!flam_ledger_rises (ledger, bytes) && ledger->at_peak && bytes != 0)
    {
      ledger->at_peak = FALSE;
      ledger->mark++;
      ledger->freed_then = ledger->freed.n;
    }
  flam_peak_tracker_move (&ledger->heap, bytes, ledger->now);
}

gboolean
flam_ledger_release_older (FlamLedger *ledger, guint32 number, gboolean at_once)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);
  Pile *pile;

  if (site->older == FLAM_NONE)
    return FALSE;
  pile = &flam_column_at (&ledger->piles, Pile, site->older);
  flam_ledger_release (ledger, pile->row, at_once ? 0 : FLAM_LEDGER_FAR);
  if (--pile->live == 0)
    {
      guint32 empty = site->older;

      site->older = pile->next;
      pile->next = ledger->free_pile;
      ledger->free_pile = empty;
    }
  return TRUE;
}

/* The order of a thread's allocations; those without a thread share one. */
static guint32 *
order_of (FlamLedger *ledger, FlamThreadId thread)
{
  gsize i = thread == FLAM_NONE ? 0 : (gsize)thread + 1;

  while (ledger->orders.n <= i)
    flam_column_append (&ledger->orders, guint32, 0);
  return &flam_column_at (&ledger->orders, guint32, i);
}

static FlamSite *
site_of (const FlamLedger *ledger, const FlamBlockEntry *block)
{
  return flam_ledger_get_site (ledger,
                               flam_ledger_get_row (ledger, block->row)->site);
}

void
flam_ledger_allocate_at (FlamLedger *ledger, guint32 site, guint64 address)
{
  FlamThreadId thread = flam_ledger_get_site (ledger, site)->heap.key.thread;

  if (address == 0)
    return;
  flam_ledger_release_at (ledger, address, FLAM_LEDGER_FAR);
  flam_ledger_make_at (
      ledger, &ledger->file, site, address, ++*order_of (ledger, thread));
}

guint32
flam_ledger_release_at (FlamLedger *ledger, guint64 address, int distance)
{
  FlamBlockEntry block;

  if (!flam_addresses_take (&ledger->file, address, &block))
    return FLAM_NONE;
  if (distance < 0)
    distance = (int)MIN (
        *order_of (ledger, site_of (ledger, &block)->heap.key.thread) -
            block.nth,
        FLAM_LEDGER_FAR);
  flam_ledger_release (ledger, block.row, (guint)distance);
  return flam_ledger_get_row (ledger, block.row)->site;
}

guint32
flam_ledger_site_at (const FlamLedger *ledger, guint64 address)
{
  const FlamBlockEntry *block =
      flam_block_hash_find (&ledger->file.hash, address);

  return block != NULL ? flam_ledger_get_row (ledger, block->row)->site
                       : FLAM_NONE;
}

/* --- the end -------------------------------------------------------------- */

static void
end_not_leaked (FlamLedger *ledger)
{
  const FlamBlockHash *hash = &ledger->file.hash;

  for (guint32 i = 0; i < ledger->heap.sites.n; i++)
    if (flam_ledger_get_site (ledger, i)->not_leaked)
      while (flam_ledger_release_youngest (ledger, i, FALSE))
        ;
  for (gsize i = 0; hash->slots != NULL && i <= hash->mask; i++)
    if (hash->slots[i].address != 0 &&
        site_of (ledger, &hash->slots[i].block)->not_leaked)
      flam_ledger_release (ledger, hash->slots[i].block.row, FLAM_LEDGER_FAR);
}

static void
write_peak (FlamLedger *ledger)
{
  flam_peak_tracker_finish (&ledger->heap);
  flam_builder_note_number (
      ledger->builder, FLAM_FACT_PEAK_TIME, ledger->heap.highest_time);
  for (guint32 i = 0; i < ledger->heap.sites.n; i++)
    {
      const FlamSite *site = flam_ledger_get_site (ledger, i);
      const FlamSiteKey *key = &site->heap.key;

      if (site->heap.at_peak > 0 && counts_as_heap (ledger, key))
        flam_builder_note_at_peak (ledger->builder,
                                   key->thread,
                                   key->stack,
                                   key->size,
                                   key->allocator,
                                   site->heap.at_peak * key->each);
    }
}

gboolean
flam_ledger_finish (FlamLedger *ledger, gint64 ns, GError **error)
{
  if (ledger->heap.overflow)
    return flam_error_set (
        error,
        FLAM_ERROR_INVALID,
        N_ ("the sizes of the blocks add up to more than 2^63"));
  flam_ledger_set_time (ledger, ns);
  end_not_leaked (ledger);
  end_tick (ledger);
  write_peak (ledger);
  return TRUE;
}
