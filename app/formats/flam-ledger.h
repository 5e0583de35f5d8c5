/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Events of allocation and release -> rows for FlamBuilder, small however many
 * events there were, and exact at the high-water mark.
 *
 * Blocks that are alike (one stack, size, thread, allocator) are a site's.
 * Blocks of a site born in one tick of the clock are a pile. What dies of a
 * pile in one tick becomes one row:
 *
 *    site 7, 24 bytes            row: site birth death count at_peak distance
 *      pile of tick 3: 5 live
 *      pile of tick 9: 2 live          7    3     9     11      0      0
 *
 * 24 million events on 80 sites over 200 ticks make a few thousand rows.
 *
 * The high-water mark moves with almost every event while a program grows, so
 * nothing may be copied then. Instead the mark has a number, the epoch. A pile
 * that is touched in an epoch for the first time notes how many blocks it has
 * (they all live at the mark), and a death counts as one of those once fewer
 * are left than ever since:
 *
 *    event   live  epoch  at_peak  row's at_peak
 *     +       1      1      -
 *     +       2      2      -                  <- the mark so far
 *     -       1      2      2 -> 1   1
 *     +       2      2      1        1         (born after the mark)
 *     -       1      2      1        1         (that one again)
 *     +       2      2      1        1
 *     +       3      3      1        1         <- a new mark: all 3 live; the
 *                                                 row's epoch 2 is void
 *
 * Where a file does not say which block of a site dies, it is the youngest. */

#include "flam-builder.h"
#include "flam-columns.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 epoch; /* when at_peak was last true */
  guint32 live;
  guint32 at_peak; /* of those */
  guint32 birth;   /* tick */
  guint32 death;   /* tick of what is in `dead` */
  guint32 dead[2]; /* of this tick: temporary, other; not yet rows */
  guint32 dead_at_peak[2];
  guint32 site;
  guint32 next; /* the pile below, or a free one; FLAM_NONE */
} FlamPile;

typedef struct
{
  gint64 size;
  FlamId stack;
  FlamId thread;
  guint8 allocator;
  gboolean not_leaked; /* blocks left at the end are no leaks */
  guint32 older;       /* piles, youngest first */
  FlamPile young;      /* of the last tick in which the site allocated */
} FlamSite;

typedef struct
{
  FlamColumn sites; /* FlamSite */
  FlamColumn piles; /* FlamPile: those below the young ones */
  FlamColumn rows;
  FlamColumn ticks; /* gint64: ns */
  FlamInterner row_index;
  FlamInterner site_index;
  guint32 free_pile;
  guint32 now; /* tick */
  guint64 epoch;
  gint64 heap;        /* bytes live */
  gint64 peak;        /* the most there were, */
  guint32 peak_at;    /* in this tick */
  gint64 tick_peak;   /* the most in this tick */
  gboolean last_peak; /* of equal peaks the last one counts, not the first */
  gboolean overflow;
  FlamColumn orders; /* guint64 a thread: its allocations so far */
  guint64 allocations;
  guint64 temporary;
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
flam_ledger_get_site (FlamLedger *ledger, guint32 site)
{
  return &flam_column_at (&ledger->sites, FlamSite, site);
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

void flam_pile_flush (FlamLedger *ledger, FlamPile *pile);
void flam_site_retire_young (FlamLedger *ledger, FlamSite *site);
FlamPile *flam_site_older_pile (FlamLedger *ledger, FlamSite *site);

static inline void
flam_pile_touch (FlamPile *pile, guint64 epoch)
{
  if (pile->epoch == epoch)
    return;
  pile->epoch = epoch;
  pile->at_peak = pile->live;
  pile->dead_at_peak[0] = pile->dead_at_peak[1] = 0;
}

static inline void
flam_ledger_grow (FlamLedger *ledger, gint64 size)
{
  ledger->allocations++;
  if (G_UNLIKELY (__builtin_add_overflow (ledger->heap, size, &ledger->heap)))
    ledger->overflow = TRUE;
  if (ledger->heap > ledger->tick_peak)
    ledger->tick_peak = ledger->heap;
  if (ledger->heap > ledger->peak - ledger->last_peak)
    {
      ledger->peak = ledger->heap;
      ledger->peak_at = ledger->now;
      ledger->epoch++;
    }
}

static inline void
flam_ledger_allocate (FlamLedger *ledger, guint32 number)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);

  if (site->young.birth != ledger->now)
    flam_site_retire_young (ledger, site);
  flam_pile_touch (&site->young, ledger->epoch);
  site->young.live++;
  flam_ledger_grow (ledger, site->size);
}

/* FALSE: no block of this site lives. */
static inline gboolean
flam_ledger_release (FlamLedger *ledger, guint32 number, gboolean temporary)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);
  FlamPile *pile = &site->young;
  guint class = temporary ? 0 : 1;

  if (pile->live == 0)
    {
      pile = flam_site_older_pile (ledger, site);
      if (pile == NULL)
        return FALSE;
    }
  if (pile->death != ledger->now)
    flam_pile_flush (ledger, pile);
  flam_pile_touch (pile, ledger->epoch);
  pile->dead[class]++;
  if (--pile->live < pile->at_peak)
    {
      pile->at_peak = pile->live;
      pile->dead_at_peak[class]++;
    }
  ledger->heap -= site->size;
  ledger->temporary += temporary;
  return TRUE;
}

G_END_DECLS
