/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LEDGER_H
#define FLAM_LEDGER_H

/* Events of allocation and release -> BLOCKS, RELEASES and AT_PEAK of a
 * builder, few rows however many events there were, and exact, site by site, at
 * the high-water mark (FlamPeakTracker). Recordings and opened files are
 * treated alike.
 *
 * Blocks that are alike (the same stack, size, thread and allocator) form a
 * site. The events of a site in one tick of the clock are one row, which is
 * written when the tick is over:
 *
 *   events   +a(64,X) +b(64,X) -a +c(64,X)      next tick:  -b
 *   BLOCKS   time X size=64 count=3             (row 0)
 *   RELEASES row 0: 1 (at once)                             row 0: 1
 *
 * A tick has a highest moment, which may be neither its beginning nor its end:
 * `more` of a row is the number of its blocks live then beyond those at the
 * end. As in FlamPeakTracker, nothing is copied while the amount rises: a site
 * that changes for the first time after the highest moment saves its counts
 * first; releases of older rows are a list, of which the part before that
 * moment is known by its length.
 *
 * 24 million events on 80 sites over 200 ticks make a few thousand rows. The
 * caller chooses the length of a tick: for a file, that of its own clock; for a
 * recording, so long that the capture stays small.
 *
 * Where events have addresses, a table (FlamAddresses) holds the block at each.
 * Where a file does not give the block that is released, the youngest block of
 * the site is taken. */

#include "flam-block-hash.h"
#include "flam-peak-tracker.h"
#include "flam-tables.h"

G_BEGIN_DECLS

/* A distance that is unknown, or too large to be stored (FlamAllocation). */
#define FLAM_LEDGER_FAR G_MAXUINT16
/* Smaller distances are counted as they come. */
#define FLAM_LEDGER_NEAR 16

/* Where the addresses come from. */
typedef enum
{
  FLAM_ADDRESSES_FILE, /* any address is possible: FlamBlockHash */
  FLAM_ADDRESSES_HEAP, /* addresses of a real heap: FlamBlockTable */
} FlamAddressKind;

typedef struct
{
  FlamAddressKind kind;
  union
  {
    FlamBlockHash hash;
    FlamBlockTable table;
  };
} FlamAddresses;

/* `spill`: for the table of a real heap, or NULL. */
void flam_addresses_init (FlamAddresses *addresses,
                          FlamAddressKind kind,
                          FlamSpill *spill);
void flam_addresses_clear (FlamAddresses *addresses);

typedef struct
{
  FlamPeakSite heap;
  gint64 bytes;        /* the bytes that a block adds to the heap */
  gboolean not_leaked; /* blocks left at the end are not leaks */
  guint32 row;         /* of this tick; FLAM_NONE */
  guint32 made;        /* blocks in `row` */
  guint32 live;        /* of these, those without an address */
  guint32
      at_once; /* of these, released with no other block allocated in between */
  guint32 near; /* and soon: a chunk of FlamLedger.near; FLAM_NONE */
  guint32 gone; /* of these, all released blocks */
  guint32 mark; /* FlamLedger.mark at which these were saved: */
  guint32 made_then, gone_then;
  guint64 slack; /* the caller's: of all live blocks */
  guint32 older; /* of blocks without an address: the youngest Pile */
} FlamSite;

/* A row of BLOCKS. */
typedef struct
{
  guint32 site;
  guint32 far; /* released in this tick, at FLAM_LEDGER_FAR: 1 + the index in
                  FlamLedger.freed; 0: none */
} FlamLedgerRow;

/* They keep their places. */
typedef struct
{
  GPtrArray *chunks; /* of 1 << FLAM_LEDGER_CHUNK rows */
  guint32 n;
} FlamLedgerRows;

#define FLAM_LEDGER_CHUNK 16

/* Releases of a tick that are not counted in a site. */
typedef struct
{
  guint32 row;
  guint32 distance;
  guint32 count;
  guint32 late; /* of these, after the peak of the tick */
} FlamLedgerFreed;

typedef struct
{
  FlamBuilder *builder;
  FlamPeakTracker heap; /* of FlamSite */
  FlamSpill *spill;     /* the caller's, for rows; or NULL */
  FlamLedgerRows rows;
  FlamColumn near;  /* guint32: released in this tick, by distance */
  FlamColumn freed; /* FlamLedgerFreed: other releases in this tick */
  FlamColumn
      piles; /* of blocks without an address, allocated in earlier ticks */
  guint32 first_row; /* of this tick */
  guint32 free_pile;
  gint64 now;         /* when this tick began, ns */
  gboolean unordered; /* some entries of `freed` are not far */
  gboolean recording; /* from a recorder, and not from a file */
  gboolean pages;     /* a recording of pages: they count, too */
  gboolean sampled;   /* the sites' bytes are estimates: flam_ledger_move() */
  gint64 tick_peak;   /* the most bytes live in this tick, */
  gboolean at_peak;   /* which is now; otherwise, this was then: */
  guint32 mark;       /* a number for that moment */
  gsize freed_then;   /* length of `freed` */
  FlamAddresses file; /* of flam_ledger_allocate_at() */
  FlamColumn orders;  /* guint32 per thread: its allocations there so far */
} FlamLedger;

/* Times, threads and stacks are those of the builder. */
FlamLedger *flam_ledger_new (FlamBuilder *builder);
void flam_ledger_free (FlamLedger *ledger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamLedger, flam_ledger_free)

/* The beginning of time, if not 0; call before anything else. */
void flam_ledger_begin (FlamLedger *ledger, gint64 ns);
/* Writes the finished tick and begins another. Times must not decrease. */
void flam_ledger_set_time (FlamLedger *ledger, gint64 ns);

/* --- sites ---------------------------------------------------------------- */

/* A new site; the numbers of sites count up from 0. */
guint32 flam_ledger_add_site (FlamLedger *ledger, const FlamSiteKey *key);
/* The same, or the equal site that exists already. */
guint32 flam_ledger_find_site (FlamLedger *ledger, const FlamSiteKey *key);

static inline FlamSite *
flam_ledger_get_site (const FlamLedger *ledger, guint32 site)
{
  return &flam_column_at (&ledger->heap.sites, FlamSite, site);
}

static inline FlamLedgerRow *
flam_ledger_get_row (const FlamLedger *ledger, guint32 row)
{
  FlamLedgerRow *chunk = ledger->rows.chunks->pdata[row >> FLAM_LEDGER_CHUNK];

  return &chunk[row & ((1u << FLAM_LEDGER_CHUNK) - 1)];
}

/* --- events --------------------------------------------------------------- */

void flam_ledger_begin_row (FlamLedger *ledger, guint32 number);
void flam_ledger_note_near (FlamLedger *ledger, FlamSite *site, guint distance);
void flam_ledger_note_freed (FlamLedger *ledger, guint32 row, guint distance);

/* Called before a change to the site that does not make a new peak. */
static inline void
flam_ledger_touch (FlamLedger *ledger, FlamSite *site)
{
  if (G_UNLIKELY (ledger->at_peak))
    {
      ledger->at_peak = FALSE;
      ledger->mark++;
      ledger->freed_then = ledger->freed.n;
    }
  if (site->mark == ledger->mark)
    return;
  site->mark = ledger->mark;
  site->made_then = site->made;
  site->gone_then = site->gone;
}

/* TRUE: the tick has a new peak. */
static inline gboolean
flam_ledger_rises (FlamLedger *ledger, gint64 bytes)
{
  gint64 live = (gint64)((guint64)ledger->heap.live + (guint64)bytes);

  if (live <= ledger->tick_peak)
    return FALSE;
  ledger->tick_peak = live;
  ledger->at_peak = TRUE;
  return TRUE;
}

/* One more block, in the row that its site has in this tick. Rows are numbered
 * and written in the order in which they are begun. */
static inline guint32
flam_ledger_make (FlamLedger *ledger, guint32 number)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);

  if (!flam_ledger_rises (ledger, site->bytes))
    flam_ledger_touch (ledger, site);
  if (G_UNLIKELY (site->row == FLAM_NONE))
    flam_ledger_begin_row (ledger, number);
  site->made++;
  flam_peak_tracker_raise (
      &ledger->heap, &site->heap, site->bytes, ledger->now);
  return site->row;
}

/* A block of this row is released. */
static inline void
flam_ledger_release (FlamLedger *ledger, guint32 row, guint distance)
{
  FlamLedgerRow *of = flam_ledger_get_row (ledger, row);
  FlamSite *site = flam_ledger_get_site (ledger, of->site);

  flam_ledger_touch (ledger, site);
  flam_peak_tracker_lower (&ledger->heap, &site->heap, site->bytes);
  site->gone += row == site->row;
  if (row == site->row && distance == 0)
    site->at_once++;
  else if (row == site->row && distance < FLAM_LEDGER_NEAR)
    flam_ledger_note_near (ledger, site, distance);
  else if (distance == FLAM_LEDGER_FAR && of->far > ledger->freed_then)
    flam_column_at (&ledger->freed, FlamLedgerFreed, of->far - 1).count++;
  else
    flam_ledger_note_freed (ledger, row, distance);
}

/* The same for several at once. */
guint32 flam_ledger_make_many (FlamLedger *ledger, guint32 number, guint32 n);
void flam_ledger_release_many (FlamLedger *ledger, guint32 row, guint32 n);

/* Sampled: the exact number of live bytes changed. */
void flam_ledger_move (FlamLedger *ledger, gint64 bytes);

/* --- blocks without an address -------------------------------------------- */

gboolean flam_ledger_release_older (FlamLedger *ledger,
                                    guint32 number,
                                    gboolean at_once);

static inline void
flam_ledger_allocate (FlamLedger *ledger, guint32 number)
{
  flam_ledger_get_site (ledger, number)->live++;
  flam_ledger_make (ledger, number);
}

/* FALSE: no block of this site is live. */
static inline gboolean
flam_ledger_release_youngest (FlamLedger *ledger,
                              guint32 number,
                              gboolean at_once)
{
  FlamSite *site = flam_ledger_get_site (ledger, number);

  if (G_UNLIKELY (site->live == 0))
    return flam_ledger_release_older (ledger, number, at_once);
  site->live--;
  if (G_LIKELY (at_once))
    {
      flam_ledger_touch (ledger, site);
      site->gone++;
      site->at_once++;
      flam_peak_tracker_lower (&ledger->heap, &site->heap, site->bytes);
    }
  else
    flam_ledger_release (ledger, site->row, FLAM_LEDGER_FAR);
  return TRUE;
}

/* --- blocks with an address ----------------------------------------------- */

/* A second block at an address replaces the first, whose release was not
 * recorded. `nth`: the caller's number. */
static inline void
flam_ledger_make_at (FlamLedger *ledger,
                     FlamAddresses *addresses,
                     guint32 site,
                     guint64 address,
                     guint32 nth)
{
  FlamBlockEntry block = { flam_ledger_make (ledger, site), nth };
  FlamBlockEntry old;

  if (G_UNLIKELY (
          addresses->kind == FLAM_ADDRESSES_HEAP
              ? flam_block_table_put (&addresses->table, address, block, &old)
              : flam_block_hash_put (&addresses->hash, address, block, &old)))
    flam_ledger_release (ledger, old.row, FLAM_LEDGER_FAR);
}

/* FALSE: no recorded block begins here. Otherwise the caller must release
 * it. */
static inline gboolean
flam_addresses_take (FlamAddresses *addresses,
                     guint64 address,
                     FlamBlockEntry *block)
{
  return addresses->kind == FLAM_ADDRESSES_HEAP
             ? flam_block_table_take (&addresses->table, address, block)
             : flam_block_hash_take (&addresses->hash, address, block);
}

/* Addresses of a file: one address space, and distances between the allocations
 * of a block's own thread. No block is at address 0. */
void
flam_ledger_allocate_at (FlamLedger *ledger, guint32 site, guint64 address);
/* The site of the address, or FLAM_NONE when no live block is there. `distance`
 * as in FlamAllocation; -1: to be counted. */
guint32
flam_ledger_release_at (FlamLedger *ledger, guint64 address, int distance);
/* The site of the live block at that address, or FLAM_NONE. */
guint32 flam_ledger_site_at (const FlamLedger *ledger, guint64 address);

/* --- the end -------------------------------------------------------------- */

/* Writes the last tick and the exact peak. Remaining blocks of sites with
 * `not_leaked` end at `ns`. */
gboolean flam_ledger_finish (FlamLedger *ledger, gint64 ns, GError **error);

G_END_DECLS

#endif
