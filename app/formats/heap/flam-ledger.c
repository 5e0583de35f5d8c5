/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ledger.h"

typedef struct
{
  guint32 site;
  guint32 birth;
  guint32 death; /* FLAM_NONE: never */
  guint32 count;
  guint32 at_peak; /* known at the end */
  guint32 distance;
} Row;

/* Open addressing, no tombstones: a hole is filled by what follows it. */
typedef struct _FlamBlock
{
  guint64 address; /* 0: empty */
  guint64 order;   /* of the allocation, among its thread's */
  guint32 site;
  guint32 birth;
} Block;

static const FlamSite blank = {
  .older = FLAM_NONE,
  .young = { .birth = FLAM_NONE, .next = FLAM_NONE },
};

FlamLedger *
flam_ledger_new (void)
{
  FlamLedger *ledger = g_new0 (FlamLedger, 1);

  flam_heap_init (&ledger->heap, &blank, sizeof blank);
  flam_column_init (&ledger->piles, sizeof (FlamPile));
  flam_column_init (&ledger->rows, sizeof (Row));
  flam_column_init (&ledger->ticks, sizeof (gint64));
  flam_column_init (&ledger->orders, sizeof (guint64));
  flam_interner_init (&ledger->row_index);
  ledger->free_pile = FLAM_NONE;
  flam_column_append (&ledger->ticks, gint64, 0);
  return ledger;
}

void
flam_ledger_free (FlamLedger *ledger)
{
  flam_heap_clear (&ledger->heap);
  flam_column_clear (&ledger->piles);
  flam_column_clear (&ledger->rows);
  flam_column_clear (&ledger->ticks);
  flam_column_clear (&ledger->orders);
  flam_interner_clear (&ledger->row_index);
  g_free (ledger->blocks);
  g_free (ledger);
}

void
flam_ledger_begin (FlamLedger *ledger, gint64 ns)
{
  flam_column_at (&ledger->ticks, gint64, 0) = ns;
}

void
flam_ledger_set_time (FlamLedger *ledger, gint64 ns)
{
  gint64 *last = &flam_column_at (&ledger->ticks, gint64, ledger->now);

  if (ns <= *last)
    return;
  ledger->tick_peak = ledger->heap.live;
  flam_column_append (&ledger->ticks, gint64, ns);
  ledger->now++;
}

/* --- sites --------------------------------------------------------------- */

static FlamSiteKey
site_key (gint64 size, FlamId stack, FlamId thread, FlamAllocator allocator)
{
  return (FlamSiteKey){ size, stack, thread, 1, allocator };
}

guint32
flam_ledger_add_site (FlamLedger *ledger,
                      gint64 size,
                      FlamId stack,
                      FlamId thread,
                      FlamAllocator allocator)
{
  FlamSiteKey key = site_key (size, stack, thread, allocator);

  return flam_heap_add_site (&ledger->heap, &key);
}

guint32
flam_ledger_site (FlamLedger *ledger,
                  gint64 size,
                  FlamId stack,
                  FlamId thread,
                  FlamAllocator allocator)
{
  FlamSiteKey key = site_key (size, stack, thread, allocator);

  return flam_heap_find_site (&ledger->heap, &key);
}

/* --- rows ---------------------------------------------------------------- */

static gboolean
row_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamColumn *rows = table;
  const Row *a = &flam_column_at (rows, Row, row);
  const Row *b = key;

  return a->site == b->site && a->birth == b->birth && a->death == b->death &&
         a->distance == b->distance;
}

static void
add_row (FlamLedger *ledger, const Row *row)
{
  if (row->count > 0)
    flam_column_append (&ledger->rows, Row, *row);
}

/* One block more in the row that is alike. */
static void
count_row (FlamLedger *ledger, const Row *row)
{
  guint32 hash = flam_hash_pair ((guint64)row->site << 32 | row->birth,
                                 (guint64)row->death << 16 | row->distance);
  FlamSlot *slot = flam_interner_find (
      &ledger->row_index, hash, row_equal, &ledger->rows, row);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, ledger->rows.n };
      ledger->row_index.used++;
      flam_column_append (&ledger->rows, Row, *row);
      return;
    }
  flam_column_at (&ledger->rows, Row, slot->id).count += row->count;
}

void
flam_site_flush (FlamLedger *ledger, guint32 site, FlamPile *pile)
{
  for (guint class = 0; class < 2; class ++)
    {
      Row row = {
        .site = site,
        .birth = pile->birth,
        .death = pile->death,
        .count = pile->dead[class],
        .distance = class == 0 ? 0 : G_MAXUINT16,
      };
      add_row (ledger, &row);
      pile->dead[class] = 0;
    }
  pile->death = ledger->now;
}

/* --- piles --------------------------------------------------------------- */

static guint32
take_pile (FlamLedger *ledger)
{
  guint32 number = ledger->free_pile;

  if (number == FLAM_NONE)
    {
      number = ledger->piles.n;
      flam_column_push (&ledger->piles);
    }
  else
    ledger->free_pile = flam_column_at (&ledger->piles, FlamPile, number).next;
  return number;
}

static void
drop_pile (FlamLedger *ledger, guint32 number)
{
  flam_column_at (&ledger->piles, FlamPile, number).next = ledger->free_pile;
  ledger->free_pile = number;
}

void
flam_site_retire_young (FlamLedger *ledger, guint32 number)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);
  FlamPile *young = &site->young;

  if (young->live > 0)
    {
      guint32 pile = take_pile (ledger);

      flam_column_at (&ledger->piles, FlamPile, pile) = *young;
      flam_column_at (&ledger->piles, FlamPile, pile).next = site->older;
      site->older = pile;
      young->dead[0] = young->dead[1] = 0;
    }
  else
    flam_site_flush (ledger, number, young);
  young->birth = young->death = ledger->now;
  young->live = 0;
}

FlamPile *
flam_site_older_pile (FlamLedger *ledger, guint32 number)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);

  while (site->older != FLAM_NONE)
    {
      guint32 at = site->older;
      FlamPile *pile = &flam_column_at (&ledger->piles, FlamPile, at);

      if (pile->live > 0)
        return pile;
      flam_site_flush (ledger, number, pile);
      site->older = pile->next;
      drop_pile (ledger, at);
    }
  return NULL;
}

/* --- blocks by address --------------------------------------------------- */

static gsize
block_slot (const FlamLedger *ledger, guint64 address)
{
  return flam_hash_mix (address, 0) & ledger->block_mask;
}

static Block *
find_block (const FlamLedger *ledger, guint64 address)
{
  gsize i;

  if (ledger->blocks == NULL)
    return NULL;
  for (i = block_slot (ledger, address); ledger->blocks[i].address != 0;
       i = (i + 1) & ledger->block_mask)
    if (ledger->blocks[i].address == address)
      return &ledger->blocks[i];
  return NULL;
}

static void
insert_block (FlamLedger *ledger, const Block *block)
{
  gsize i = block_slot (ledger, block->address);

  while (ledger->blocks[i].address != 0)
    i = (i + 1) & ledger->block_mask;
  ledger->blocks[i] = *block;
}

static void
grow_blocks (FlamLedger *ledger)
{
  gsize old_n = ledger->blocks != NULL ? ledger->block_mask + 1 : 0;
  gsize n = MAX (1024, old_n * 2);
  g_autofree Block *old = ledger->blocks;

  ledger->blocks = g_new0 (Block, n);
  ledger->block_mask = n - 1;
  for (gsize i = 0; i < old_n; i++)
    if (old[i].address != 0)
      insert_block (ledger, &old[i]);
}

static void
remove_block (FlamLedger *ledger, Block *block)
{
  gsize hole = block - ledger->blocks;
  gsize mask = ledger->block_mask;

  for (gsize i = (hole + 1) & mask; ledger->blocks[i].address != 0;
       i = (i + 1) & mask)
    {
      gsize home = block_slot (ledger, ledger->blocks[i].address);

      if (((i - home) & mask) >= ((i - hole) & mask))
        {
          ledger->blocks[hole] = ledger->blocks[i];
          hole = i;
        }
    }
  ledger->blocks[hole].address = 0;
  ledger->n_blocks--;
}

/* The order of a thread's allocations; threads that are none share one. */
static guint64 *
thread_order (FlamLedger *ledger, FlamId thread)
{
  gsize i = thread == FLAM_NONE ? 0 : (gsize)thread + 1;

  while (ledger->orders.n <= i)
    flam_column_append (&ledger->orders, guint64, 0);
  return &flam_column_at (&ledger->orders, guint64, i);
}

void
flam_ledger_allocate_at (FlamLedger *ledger, guint32 site, guint64 address)
{
  FlamSite *what = flam_ledger_get_site (ledger, site);
  Block block = { .address = address, .site = site, .birth = ledger->now };

  if (address == 0)
    return;
  flam_ledger_release_at (ledger, address, G_MAXUINT16);
  block.order = ++*thread_order (ledger, what->heap.key.thread);
  if (ledger->blocks == NULL || ledger->n_blocks > ledger->block_mask / 4 * 3)
    grow_blocks (ledger);
  insert_block (ledger, &block);
  ledger->n_blocks++;
  flam_ledger_grow (ledger, what);
}

static void
count_block (FlamLedger *ledger,
             const Block *block,
             guint32 death,
             guint distance)
{
  Row row = { .site = block->site,
              .birth = block->birth,
              .death = death,
              .count = 1,
              .distance = distance };

  count_row (ledger, &row);
}

guint32
flam_ledger_release_at (FlamLedger *ledger, guint64 address, int distance)
{
  Block *found = address != 0 ? find_block (ledger, address) : NULL;
  Block block;
  FlamSite *site;

  if (found == NULL)
    return FLAM_NONE;
  block = *found;
  remove_block (ledger, found);
  site = flam_ledger_get_site (ledger, block.site);
  if (distance < 0)
    distance = MIN (*thread_order (ledger, site->heap.key.thread) - block.order,
                    (guint64)G_MAXUINT16);
  count_block (ledger, &block, ledger->now, distance);
  flam_heap_lower (&ledger->heap, &site->heap, site->heap.key.size);
  return block.site;
}

guint32
flam_ledger_site_at (const FlamLedger *ledger, guint64 address)
{
  const Block *block = address != 0 ? find_block (ledger, address) : NULL;

  return block != NULL ? block->site : FLAM_NONE;
}

/* --- the end ------------------------------------------------------------- */

/* What a pile still holds becomes a row without an end. */
static void
close_pile (FlamLedger *ledger, guint32 site, FlamPile *pile)
{
  Row row = { .site = site,
              .birth = pile->birth,
              .death = FLAM_NONE,
              .count = pile->live,
              .distance = G_MAXUINT16 };

  flam_site_flush (ledger, site, pile);
  add_row (ledger, &row);
}

static void
close_piles (FlamLedger *ledger)
{
  for (guint32 i = 0; i < ledger->heap.sites.n; i++)
    {
      FlamSite *site = flam_ledger_get_site (ledger, i);

      if (site->young.birth != FLAM_NONE)
        close_pile (ledger, i, &site->young);
      for (guint32 pile = site->older; pile != FLAM_NONE;
           pile = flam_column_at (&ledger->piles, FlamPile, pile).next)
        close_pile (
            ledger, i, &flam_column_at (&ledger->piles, FlamPile, pile));
    }
}

static void
close_blocks (FlamLedger *ledger)
{
  if (ledger->blocks == NULL)
    return;
  for (gsize i = 0; i <= ledger->block_mask; i++)
    if (ledger->blocks[i].address != 0)
      count_block (ledger, &ledger->blocks[i], FLAM_NONE, G_MAXUINT16);
}

static void
share_peak (FlamLedger *ledger)
{
  gint64 peak = ledger->heap.highest_time;

  flam_heap_finish (&ledger->heap);
  for (guint surely = 3; surely > 0; surely--)
    for (gsize i = 0; i < ledger->rows.n; i++)
      {
        Row *row = &flam_column_at (&ledger->rows, Row, i);
        FlamSite *site = flam_ledger_get_site (ledger, row->site);

        if (flam_heap_surely (row->birth, row->death, peak) == surely)
          row->at_peak = flam_heap_share (&site->heap.at_peak, row->count);
      }
}

static void
add_allocation (FlamLedger *ledger,
                FlamBuilder *builder,
                const Row *row,
                gint64 end)
{
  const FlamSite *site = flam_ledger_get_site (ledger, row->site);
  const gint64 *ticks = ledger->ticks.data;
  FlamAllocation allocation = {
    .time = ticks[row->birth],
    .freed_at = row->death != FLAM_NONE ? ticks[row->death]
                : site->not_leaked      ? end
                                        : FLAM_NEVER,
    .thread = site->heap.key.thread,
    .stack = site->heap.key.stack,
    .size = site->heap.key.size,
    .count = row->count,
    .at_peak = row->at_peak,
    .distance = row->distance,
    .allocator = site->heap.key.allocator,
  };

  flam_builder_add_allocation (builder, &allocation);
}

/* Counted, not compared: the builder then has nothing left to sort. */
static guint32 *
rows_by_birth (FlamLedger *ledger)
{
  const Row *rows = ledger->rows.data;
  guint32 n = ledger->rows.n;
  guint32 *order = g_new (guint32, n + 1);
  g_autofree guint32 *first = g_new0 (guint32, ledger->now + 2);

  for (guint32 i = 0; i < n; i++)
    first[rows[i].birth + 1]++;
  for (guint32 tick = 0; tick <= ledger->now; tick++)
    first[tick + 1] += first[tick];
  for (guint32 i = 0; i < n; i++)
    order[first[rows[i].birth]++] = i;
  return order;
}

gboolean
flam_ledger_finish (FlamLedger *ledger,
                    FlamBuilder *builder,
                    gint64 end,
                    GError **error)
{
  g_autofree guint32 *order = NULL;

  if (ledger->heap.overflow)
    {
      g_set_error_literal (error,
                           FLAM_ERROR,
                           FLAM_ERROR_INVALID,
                           "the sizes of the blocks add up to more than 2^63");
      return FALSE;
    }
  close_piles (ledger);
  close_blocks (ledger);
  share_peak (ledger);
  order = rows_by_birth (ledger);
  flam_builder_set_peak_time (
      builder,
      flam_column_at (&ledger->ticks, gint64, ledger->heap.highest_time));
  flam_builder_reserve_allocations (builder, ledger->rows.n);
  for (gsize i = 0; i < ledger->rows.n; i++)
    add_allocation (
        ledger, builder, &flam_column_at (&ledger->rows, Row, order[i]), end);
  return TRUE;
}
