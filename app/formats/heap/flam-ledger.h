/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Events of allocation and release -> rows for FlamBuilder, small however many
 * events there were, and exact, site by site, at the high-water mark
 * (FlamHeap).
 *
 * Blocks that are alike (one stack, size, thread, allocator) are a site's.
 * Blocks of a site born in one tick of the clock are a pile. What dies of a
 * pile in one tick becomes one row:
 *
 *    site 7, 24 bytes            row: site birth death count distance
 *      pile of tick 3: 5 live
 *      pile of tick 9: 2 live          7    3     9     11      0
 *
 * 24 million events on 80 sites over 200 ticks make a few thousand rows.
 *
 * Where a file does not say which block of a site dies, it is the youngest.
 *
 * This is not the ledger that records (FlamAllocLedger), which writes a row as
 * soon as its tick is over and never sees it again. Nor are the blocks here in
 * a page table like its own (FlamBlockTable): addresses in a file are anyone's
 * choice, and what is kept of them must be in proportion to the file, where a
 * page table can be made to take a page for each. */

#include "flam-builder.h"
#include "flam-heap.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 live;
  guint32 birth;   /* tick; FLAM_NONE: none yet */
  guint32 death;   /* tick of what is in `dead` */
  guint32 dead[2]; /* of this tick: temporary, other; not yet rows */
  guint32 next;    /* the pile below, or a free one; FLAM_NONE */
} FlamPile;

typedef struct
{
  FlamHeapSite heap;
  gboolean not_leaked; /* blocks left at the end are no leaks */
  guint32 older;       /* piles, youngest first */
  FlamPile young;      /* of the last tick in which the site allocated */
} FlamSite;

typedef struct
{
  FlamHeap heap;    /* of FlamSite; its time is a tick */
  FlamColumn piles; /* FlamPile: those below the young ones */
  FlamColumn rows;
  FlamColumn ticks; /* gint64: ns */
  FlamInterner row_index;
  guint32 free_pile;
  guint32 now;               /* tick */
  gint64 tick_peak;          /* the most bytes live in this tick */
  FlamColumn orders;         /* guint64 a thread: its allocations so far */
  struct _FlamBlock *blocks; /* by address */
  gsize block_mask;
  gsize n_blocks;
} FlamLedger;

FlamLedger *flam_ledger_new (void);
void flam_ledger_free (FlamLedger *ledger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamLedger, flam_ledger_free)

/* Where time begins, if not at 0; before anything else. */
void flam_ledger_begin (FlamLedger *ledger, gint64 ns);
/* From now on it is `ns`; times must not fall. */
void flam_ledger_set_time (FlamLedger *ledger, gint64 ns);

/* A new site; its number counts up from 0. */
guint32 flam_ledger_add_site (FlamLedger *ledger,
                              gint64 size,
                              FlamId stack,
                              FlamId thread,
                              FlamAllocator allocator);
/* The same, or the one that is alike already. */
guint32 flam_ledger_site (FlamLedger *ledger,
                          gint64 size,
                          FlamId stack,
                          FlamId thread,
                          FlamAllocator allocator);

static inline FlamSite *
flam_ledger_get_site (const FlamLedger *ledger, guint32 site)
{
  return &flam_column_at (&ledger->heap.sites, FlamSite, site);
}

/* Blocks with an address. A second one at an address that was not released
 * takes its place; the first is then taken to be released. The address' site,
 * or FLAM_NONE when no block lives there. `distance` as in FlamAllocation, -1
 * for: count the thread's allocations since. */
void
flam_ledger_allocate_at (FlamLedger *ledger, guint32 site, guint64 address);
guint32
flam_ledger_release_at (FlamLedger *ledger, guint64 address, int distance);

/* The site of the block that lives there, or FLAM_NONE. */
guint32 flam_ledger_site_at (const FlamLedger *ledger, guint64 address);

/* Hands the rows over, with times as they were set; blocks left at the
 * end of sites that are `not_leaked` end at `end`. */
gboolean flam_ledger_finish (FlamLedger *ledger,
                             FlamBuilder *builder,
                             gint64 end,
                             GError **error);

/* --- blocks without an address ------------------------------------------- */

void flam_site_flush (FlamLedger *ledger, guint32 site, FlamPile *pile);
void flam_site_retire_young (FlamLedger *ledger, guint32 site);
FlamPile *flam_site_older_pile (FlamLedger *ledger, guint32 site);

static inline void
flam_ledger_grow (FlamLedger *ledger, FlamSite *site)
{
  flam_heap_raise (
      &ledger->heap, &site->heap, site->heap.key.size, ledger->now);
  if (ledger->heap.live > ledger->tick_peak)
    ledger->tick_peak = ledger->heap.live;
}

static inline void
flam_ledger_allocate (FlamLedger *ledger, guint32 number)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);

  if (site->young.birth != ledger->now)
    flam_site_retire_young (ledger, number);
  site->young.live++;
  flam_ledger_grow (ledger, site);
}

/* FALSE: no block of this site lives. */
static inline gboolean
flam_ledger_release (FlamLedger *ledger, guint32 number, gboolean temporary)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);
  FlamPile *pile = &site->young;

  if (pile->live == 0)
    {
      pile = flam_site_older_pile (ledger, number);
      if (pile == NULL)
        return FALSE;
    }
  if (pile->death != ledger->now)
    flam_site_flush (ledger, number, pile);
  pile->dead[temporary ? 0 : 1]++;
  pile->live--;
  flam_heap_lower (&ledger->heap, &site->heap, site->heap.key.size);
  return TRUE;
}

G_END_DECLS
