/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-alloc-heaps.h"

#include "flam-ranges.h"

#include <math.h>

#define TICK_NS 10000000
/* A tick is at most this part of the time so far. */
#define TICKS_MAX 10000
#define TRIM_EVERY 100000000
#define Z 1.96         /* standard deviations: 95 of 100 */
#define ALIGNMENT 16.0 /* bytes, of the blocks of malloc() */

/* A part of the memory between the heap's begin and its end. */
typedef struct
{
  gint64 size;
  guint32 row;
} Piece;

struct _FlamAllocSpace
{
  FlamAddresses blocks;
  FlamRanges *pages; /* value: row */
  GArray *breaks;    /* of Piece, in order */
  gboolean forked;
};

struct _FlamAllocStream
{
  FlamAllocSpace *space;
  FlamThreadId thread;
  guint32 n_made;
};

/* Sampled: sums over the live sampled blocks, each of which represents w. They
 * convert bytes as rounded by the allocator into bytes as requested by the
 * program; the products with w (w - 1) determine the error of that. */
typedef struct
{
  double asked, slack;                       /* of w times these, */
  double blocks, squares;                    /* w, and w² */
  double slack_slack, slack_size, size_size; /* sizes as rounded */
  double slack_one, one;
} Rounding;

/* Of a sum of live bytes, as requested. */
typedef struct
{
  double bytes, error;
} Asked;

struct _FlamAllocHeaps
{
  FlamLedger *ledger;
  FlamSpill *spill; /* or NULL */
  gint64 trim_at;
  GPtrArray *spaces;
  GPtrArray *streams;
  guint counter;
  gint64 tick_end;
  gboolean counts; /* sampled: all blocks are counted exactly */
  gint64 asked;    /* of these */
  double sampled;  /* bytes of all blocks, estimated from the sampled ones */
  Rounding rounding, rounding_of_peak;
  /* Sampled: counted blocks, */
  gint64 made, live;
  gboolean forked;    /* blocks of a child may be live that it did not make */
  gint64 peak_blocks; /* and those live at the peak */
  gint64
      room; /* bytes that may still be allocated before their sum overflows */
};

/* The sizes are what the process reports. A reader of the capture adds them
 * up and refuses a sum above 2^63, which would lose the whole recording. */
static inline gboolean
take_room (FlamAllocHeaps *heaps, gint64 size, guint32 each)
{
  gint64 bytes;

  if (G_UNLIKELY (__builtin_mul_overflow (size, each, &bytes) ||
                  bytes > heaps->room))
    return FALSE;
  heaps->room -= bytes;
  return TRUE;
}

/* `sign`: -1 if the block is freed. */
static void
add_rounding (
    Rounding *rounding, gint64 size, gint64 slack, guint32 each, int sign)
{
  double weight = (double)each * sign;
  double more = weight * ((double)each - 1);
  double whole = (double)(size + slack);

  rounding->asked += weight * (double)size;
  rounding->slack += weight * (double)slack;
  rounding->blocks += weight;
  rounding->squares += weight * (double)each;
  rounding->slack_slack += more * (double)slack * (double)slack;
  rounding->slack_size += more * (double)slack * whole;
  rounding->size_size += more * whole * whole;
  rounding->slack_one += more * (double)slack;
  rounding->one += more;
}

/* Sampled: live bytes as the program asked for them, if slack is a part of the
 * size. */
static double
asked_of (const FlamAllocHeaps *heaps, const Rounding *rounding, gint64 live)
{
  double asked = MAX (rounding->asked, 0);
  double bytes = (double)MAX (live, 0);

  if (!heaps->ledger->sampled)
    return (double)live;
  /* Without a sample: at most the bytes ever requested. */
  if (asked == 0)
    return MIN (bytes, (double)heaps->asked);
  return bytes * asked / (asked + MAX (rounding->slack, 0));
}

/* Student's quantile, by that of the normal distribution. `n`: the number of
 * blocks of equal weight that tell as much as these. */
static double
few_samples (const Rounding *rounding)
{
  double n = rounding->squares > 0
                 ? rounding->blocks * rounding->blocks / rounding->squares
                 : 1;
  double freedom = MAX (n - 1, 1);

  return 1 + 1.5 / freedom + 1.8 / freedom / freedom;
}

/* The slack of small blocks is what aligning them to 16 bytes adds, and a few
 * samples may happen to have nearly the same: one block more, of their mean
 * weight, may have any; none does if all that are live were seen. Blocks that
 * are mappings have far more slack, and if only these were sampled, a few may
 * be live that have none. Its square in bytes, once for blocks. */
static double
unseen_slack (const Rounding *rounding, gint64 blocks)
{
  double mean = rounding->slack / rounding->blocks;
  double each = (mean > ALIGNMENT ? 2 * mean : ALIGNMENT / 2) *
                rounding->squares / rounding->blocks;

  if (rounding->one <= 0 && (double)blocks <= rounding->blocks)
    return 0;
  return each * each;
}

/* Slack is a part of each block, of which `blocks` are live, or a part of the
 * size, if that explains the samples far better: the lesser of two errors of
 * about the same size would be too small, as both of them vary. */
static Asked
ask (const FlamAllocHeaps *heaps,
     const Rounding *rounding,
     gint64 live,
     gint64 blocks)
{
  double size = rounding->asked + MAX (rounding->slack, 0);
  double part = size > 0 ? rounding->slack / size : 0;
  double each =
      rounding->blocks > 0 ? MAX (rounding->slack, 0) / rounding->blocks : 0;
  double of_parts = rounding->slack_slack - 2 * part * rounding->slack_size +
                    part * part * rounding->size_size;
  double of_each = rounding->slack_slack - 2 * each * rounding->slack_one +
                   each * each * rounding->one;
  Asked by_parts = { .bytes = asked_of (heaps, rounding, live) };
  Asked by_blocks = { .bytes = (double)live - each * (double)blocks };
  double share;

  /* Nothing was freed. */
  if (blocks == heaps->made && !heaps->forked)
    return (Asked){ .bytes = (double)heaps->asked };
  if (rounding->asked <= 0 || rounding->blocks <= 0 || live <= 0)
    return by_parts;
  share = (double)MAX (blocks, 0) / rounding->blocks;
  by_parts.error = Z * few_samples (rounding) *
                   hypot ((double)live * sqrt (MAX (of_parts, 0)) / size,
                          share * sqrt (unseen_slack (rounding, blocks)));
  by_blocks.error = Z * few_samples (rounding) * share *
                    sqrt (MAX (of_each, 0) + unseen_slack (rounding, blocks));
  return by_parts.error < by_blocks.error / 2 || by_blocks.bytes <= 0
             ? by_parts
             : by_blocks;
}

/* The peak of the tick that ends. */
static void
put_counter (FlamAllocHeaps *heaps)
{
  FlamLedger *ledger = heaps->ledger;

  flam_builder_add_counter_value (
      ledger->builder,
      heaps->counter,
      ledger->now,
      (gint64)asked_of (heaps, &heaps->rounding, ledger->tick_peak));
}

/* Sampled: so many more bytes are live, as rounded by the allocator, and
 * blocks. */
static void
move_live (FlamAllocHeaps *heaps, gint64 bytes, gint64 blocks)
{
  FlamLedger *ledger = heaps->ledger;
  gint64 highest = ledger->heap.highest;

  flam_ledger_move (ledger, bytes);
  heaps->live += blocks;
  if (ledger->heap.highest > highest)
    {
      heaps->rounding_of_peak = heaps->rounding;
      heaps->peak_blocks = heaps->live;
    }
}

gboolean
flam_alloc_heaps_level (FlamAllocHeaps *heaps,
                        const FlamAllocSpace *space,
                        const FlamAllocCounts *counts)
{
  if (!take_room (heaps, counts->asked, 1) ||
      !take_room (heaps, counts->high, 2) ||
      !take_room (heaps, ABS (counts->live), 1))
    return FALSE;
  heaps->asked += counts->asked;
  heaps->made += counts->made;
  if (!heaps->ledger->sampled || space->forked)
    return TRUE;
  move_live (heaps, counts->live + counts->high, counts->high_blocks);
  move_live (heaps,
             -counts->high,
             (gint64)counts->made - counts->gone - counts->high_blocks);
  return TRUE;
}

gint64
flam_alloc_heaps_advance (FlamAllocHeaps *heaps, gint64 time)
{
  if (time >= heaps->tick_end)
    {
      put_counter (heaps);
      flam_ledger_set_time (heaps->ledger, time);
      heaps->tick_end = time + MAX (TICK_NS, time / TICKS_MAX);
    }
  if (heaps->spill != NULL && time >= heaps->trim_at)
    {
      flam_spill_trim (heaps->spill);
      heaps->trim_at = time + TRIM_EVERY;
    }
  return heaps->tick_end;
}

/* --- blocks --------------------------------------------------------------- */

static guint64
end_of (guint64 address, guint64 size)
{
  return address + size < address ? G_MAXUINT64 : address + size;
}

static void
map_pages (FlamAllocHeaps *heaps,
           FlamAllocStream *stream,
           guint64 address,
           gint64 size,
           guint32 site)
{
  FlamRange range = { .start = address, .end = end_of (address, size) };

  flam_alloc_heaps_unmap (heaps, stream, address, (guint64)size);
  range.value = flam_ledger_make (heaps->ledger, site);
  flam_ranges_add (stream->space->pages, &range);
}

/* If pages are recorded, each page is a block, so that parts of a mapping can
 * be released. Memory that only sanitizers reserve has larger units. */
#define PAGE 4096
#define PAGES_MAX (1u << 30)

static guint32
make_pages (FlamAllocHeaps *heaps, FlamSiteKey key, gint64 size)
{
  gint64 n = size / PAGE;

  key.size = PAGE;
  while (n > PAGES_MAX)
    {
      key.size *= 2;
      n /= 2;
    }
  return flam_ledger_make_many (
      heaps->ledger, flam_ledger_find_site (heaps->ledger, &key), (guint32)n);
}

static void
release_pages (FlamAllocHeaps *heaps, guint32 row, gint64 size)
{
  const FlamSite *site = flam_ledger_get_site (
      heaps->ledger, flam_ledger_get_row (heaps->ledger, row)->site);

  flam_ledger_release_many (
      heaps->ledger, row, (guint32)(size / site->heap.key.size));
}

gboolean
flam_alloc_heaps_map (FlamAllocHeaps *heaps,
                      FlamAllocStream *stream,
                      guint64 address,
                      gint64 size,
                      FlamStackId stack,
                      FlamAllocator allocator)
{
  FlamSiteKey key = { PAGE, stack, stream->thread, 1, allocator };
  FlamRange range = { .start = address,
                      .end = end_of (address, (guint64)size) };

  flam_alloc_heaps_unmap (heaps, stream, address, (guint64)size);
  if (size < PAGE || !take_room (heaps, size, 1))
    return FALSE;
  range.value = make_pages (heaps, key, size);
  flam_ranges_add (stream->space->pages, &range);
  return TRUE;
}

/* One more sampled block. Blocks of a site have the same size, but not the same
 * slack: those that malloc() maps have up to a page of it. */
static void
estimate (FlamAllocHeaps *heaps, FlamSite *site, guint slack)
{
  const FlamSiteKey *key = &site->heap.key;

  site->slack += slack;
  add_rounding (&heaps->rounding, key->size, slack, key->each, 1);
}

static void
estimate_gone (FlamAllocHeaps *heaps, const FlamAllocSpace *space, guint32 row)
{
  FlamSite *site = flam_ledger_get_site (
      heaps->ledger, flam_ledger_get_row (heaps->ledger, row)->site);
  const FlamSiteKey *key = &site->heap.key;
  gint64 mean = (gint64)(site->slack / (guint64)MAX (site->heap.live, 1));

  site->slack -= (guint64)mean;
  add_rounding (&heaps->rounding, key->size, mean, key->each, -1);
  if (space->forked)
    move_live (heaps, -(key->size + mean) * key->each, -(gint64)key->each);
}

gboolean
flam_alloc_heaps_block (FlamAllocHeaps *heaps,
                        FlamAllocStream *stream,
                        guint64 address,
                        gint64 size,
                        guint32 each,
                        guint slack,
                        FlamAllocStack *stack,
                        FlamAllocator allocator)
{
  FlamLedger *ledger = heaps->ledger;
  FlamSiteKey key = { size, stack->id, stream->thread, each, allocator };

  stream->n_made++;
  if (ledger->rows.n >= FLAM_BLOCK_ROWS || !take_room (heaps, size, each))
    return FALSE;
  if (allocator != FLAM_ALLOCATOR_MMAP)
    heaps->sampled += (double)size * each;
  if (G_UNLIKELY (
          stack->site == FLAM_NONE ||
          !flam_site_key_equal (
              &flam_ledger_get_site (ledger, stack->site)->heap.key, &key)))
    stack->site = flam_ledger_find_site (ledger, &key);
  if (G_UNLIKELY (allocator == FLAM_ALLOCATOR_MMAP))
    map_pages (heaps, stream, address, size, stack->site);
  else
    {
      FlamSite *site = flam_ledger_get_site (ledger, stack->site);

      if (ledger->sampled)
        estimate (heaps, site, slack);
      flam_ledger_make_at (
          ledger, &stream->space->blocks, stack->site, address, stream->n_made);
      /* Last, so that it is live in a peak that it causes. */
      if (ledger->sampled && stream->space->forked)
        move_live (heaps, (size + slack) * each, each);
    }
  return TRUE;
}

/* Longer distances, and blocks of other threads, are not distinguished. */
static inline guint
distance_of (const FlamAllocHeaps *heaps,
             const FlamAllocStream *stream,
             const FlamBlockEntry *block)
{
  guint32 distance = (stream->n_made - block->nth) & FLAM_BLOCK_NTH_MASK;
  guint32 site;

  if (distance >= FLAM_LEDGER_NEAR)
    return FLAM_LEDGER_FAR;
  site = flam_ledger_get_row (heaps->ledger, block->row)->site;
  return flam_ledger_get_site (heaps->ledger, site)->heap.key.thread ==
                 stream->thread
             ? distance
             : FLAM_LEDGER_FAR;
}

void
flam_alloc_heaps_free_block (FlamAllocHeaps *heaps,
                             FlamAllocStream *stream,
                             guint64 address)
{
  FlamBlockEntry block;

  /* an unknown block is older than the recording */
  if (!flam_addresses_take (&stream->space->blocks, address, &block))
    return;
  if (heaps->ledger->sampled)
    estimate_gone (heaps, stream->space, block.row);
  flam_ledger_release (
      heaps->ledger, block.row, distance_of (heaps, stream, &block));
}

void
flam_alloc_heaps_expect (const FlamAllocSpace *space, guint64 address)
{
  flam_block_table_expect (&space->blocks.table, address);
}

/* --- pages --------------------------------------------------------------- */

static FlamSiteKey
key_of (const FlamAllocHeaps *heaps, guint32 row)
{
  guint32 site = flam_ledger_get_row (heaps->ledger, row)->site;

  return flam_ledger_get_site (heaps->ledger, site)->heap.key;
}

static guint32
make_of_size (FlamAllocHeaps *heaps, FlamSiteKey key, gint64 size)
{
  key.size = size;
  return flam_ledger_make (heaps->ledger,
                           flam_ledger_find_site (heaps->ledger, &key));
}

/* The remaining part of a mapping, on one side of the removed range. */
static void
keep_rest (FlamAllocHeaps *heaps,
           FlamAllocSpace *space,
           const FlamRange *whole,
           guint64 address,
           guint64 end)
{
  FlamRange rest = { .start = address, .end = end };

  if (address >= end || !take_room (heaps, (gint64)(end - address), 1))
    return;
  rest.value = make_of_size (
      heaps, key_of (heaps, whole->value), (gint64)(end - address));
  flam_ranges_add (space->pages, &rest);
}

void
flam_alloc_heaps_unmap (FlamAllocHeaps *heaps,
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

      if (heaps->ledger->pages)
        {
          piece.start = MAX (piece.start, address);
          piece.end = MIN (piece.end, end);
          release_pages (heaps, piece.value, (gint64)(piece.end - piece.start));
          flam_ranges_remove (space->pages, piece.start, piece.end);
          continue;
        }
      flam_ledger_release (heaps->ledger, piece.value, FLAM_LEDGER_FAR);
      flam_ranges_remove (space->pages, piece.start, piece.end);
      keep_rest (heaps, space, &piece, piece.start, address);
      keep_rest (heaps, space, &piece, end, piece.end);
    }
}

gboolean
flam_alloc_heaps_next_pages (const FlamAllocSpace *space,
                             guint64 *start,
                             guint64 *end)
{
  const FlamRange *found = flam_ranges_next (space->pages, *start);

  if (found == NULL)
    return FALSE;
  *start = found->start;
  *end = found->end;
  return TRUE;
}

gboolean
flam_alloc_heaps_break (FlamAllocHeaps *heaps,
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
      Piece piece = { .size = change };

      if (!take_room (heaps, change, 1))
        return FALSE;
      piece.row = heaps->ledger->pages ? make_pages (heaps, key, change)
                                       : make_of_size (heaps, key, change);
      g_array_append_val (breaks, piece);
      return TRUE;
    }
  /* The heap shrinks from its end: the newest pieces are removed first. */
  while (change < 0 && breaks->len > 0)
    {
      Piece piece = g_array_index (breaks, Piece, breaks->len - 1);
      gint64 left = piece.size + change;

      if (heaps->ledger->pages)
        {
          release_pages (heaps, piece.row, MIN (piece.size, -change));
          change += piece.size;
          if (left > 0)
            g_array_index (breaks, Piece, breaks->len - 1).size = left;
          else
            g_array_set_size (breaks, breaks->len - 1);
          continue;
        }
      change += piece.size;
      flam_ledger_release (heaps->ledger, piece.row, FLAM_LEDGER_FAR);
      g_array_set_size (breaks, breaks->len - 1);
      if (left <= 0 || !take_room (heaps, left, 1))
        continue;
      piece = (Piece){ left,
                       make_of_size (heaps, key_of (heaps, piece.row), left) };
      g_array_append_val (breaks, piece);
      break;
    }
  return TRUE;
}

/* --- creation and release ------------------------------------------------ */

static void
space_free (gpointer data)
{
  FlamAllocSpace *space = data;

  flam_addresses_clear (&space->blocks);
  flam_ranges_free (space->pages);
  g_array_unref (space->breaks);
  g_free (space);
}

static FlamAllocHeaps *
heaps_new (FlamBuilder *builder,
           FlamSpill *spill,
           const char *counter,
           FlamUnit unit)
{
  FlamAllocHeaps *heaps = g_new0 (FlamAllocHeaps, 1);

  heaps->spill = spill;
  heaps->ledger = flam_ledger_new (builder);
  heaps->ledger->spill = spill;
  heaps->ledger->recording = TRUE;
  heaps->counter = flam_builder_add_counter (builder, counter, unit);
  heaps->spaces = g_ptr_array_new_with_free_func (space_free);
  heaps->streams = g_ptr_array_new_with_free_func (g_free);
  heaps->tick_end = TICK_NS;
  heaps->room = G_MAXINT64;
  return heaps;
}

FlamAllocHeaps *
flam_alloc_heaps_new (FlamBuilder *builder,
                      gboolean sampled,
                      gboolean attached,
                      FlamSpill *spill)
{
  FlamAllocHeaps *heaps = heaps_new (builder, spill, "heap", FLAM_UNIT_BYTES);

  heaps->ledger->sampled = sampled && !attached;
  heaps->counts = sampled;
  return heaps;
}

FlamAllocHeaps *
flam_alloc_heaps_new_of_calls (FlamBuilder *builder, gboolean pages)
{
  FlamAllocHeaps *heaps =
      pages ? heaps_new (builder, NULL, "mapped", FLAM_UNIT_BYTES)
            : heaps_new (builder, NULL, "open", FLAM_UNIT_COUNT);

  heaps->ledger->pages = pages;
  return heaps;
}

void
flam_alloc_heaps_free (FlamAllocHeaps *heaps)
{
  flam_ledger_free (heaps->ledger);
  g_ptr_array_unref (heaps->streams);
  g_ptr_array_unref (heaps->spaces);
  g_clear_pointer (&heaps->spill, flam_spill_free);
  g_free (heaps);
}

FlamAllocSpace *
flam_alloc_heaps_add_space (FlamAllocHeaps *heaps, gboolean forked)
{
  FlamAllocSpace *space = g_new0 (FlamAllocSpace, 1);

  space->forked = forked;
  heaps->forked |= forked;
  flam_addresses_init (&space->blocks, FLAM_ADDRESSES_HEAP, heaps->spill);
  space->pages = flam_ranges_new ();
  space->breaks = g_array_new (FALSE, FALSE, sizeof (Piece));
  g_ptr_array_add (heaps->spaces, space);
  return space;
}

FlamAllocStream *
flam_alloc_heaps_add_stream (FlamAllocHeaps *heaps,
                             FlamAllocSpace *space,
                             FlamThreadId thread)
{
  FlamAllocStream *stream = g_new0 (FlamAllocStream, 1);

  stream->space = space;
  stream->thread = thread;
  g_ptr_array_add (heaps->streams, stream);
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
flam_alloc_heaps_end_stream (FlamAllocHeaps *heaps, FlamAllocStream *stream)
{
  g_ptr_array_remove (heaps->streams, stream);
}

void
flam_alloc_heaps_end_space (FlamAllocHeaps *heaps, FlamAllocSpace *space)
{
  for (guint i = heaps->streams->len; i-- > 0;)
    {
      FlamAllocStream *stream = heaps->streams->pdata[i];

      if (stream->space == space)
        g_ptr_array_remove_index (heaps->streams, i);
    }
  g_ptr_array_remove (heaps->spaces, space);
}

/* For attached processes, only allocated bytes are counted; the same factor
 * converts live bytes of samples. */
static gint64
scaled (const FlamAllocHeaps *heaps, gint64 bytes)
{
  double factor =
      heaps->sampled > 0 ? (double)heaps->asked / heaps->sampled : 0;

  return (gint64)MIN ((double)bytes * factor, (double)heaps->asked);
}

void
flam_alloc_heaps_finish (FlamAllocHeaps *heaps, gint64 time)
{
  FlamLedger *ledger = heaps->ledger;
  FlamFacts facts = flam_facts_unknown;
  Asked live, peak;

  put_counter (heaps);
  if (ledger->sampled)
    {
      live = ask (heaps, &heaps->rounding, ledger->heap.live, heaps->live);
      peak = ask (heaps,
                  &heaps->rounding_of_peak,
                  ledger->heap.highest,
                  heaps->peak_blocks);
      facts.live_bytes = (gint64)live.bytes;
      facts.live_bytes_error = (gint64)MIN (live.error, live.bytes);
      facts.peak_bytes = (gint64)peak.bytes;
      facts.peak_bytes_error = (gint64)MIN (peak.error, peak.bytes);
      facts.live_blocks = MAX (heaps->live, 0);
      facts.peak_blocks = MAX (heaps->peak_blocks, 0);
    }
  else
    {
      facts.live_bytes = scaled (heaps, ledger->heap.live);
      facts.peak_bytes = scaled (heaps, ledger->heap.highest);
    }
  if (heaps->counts)
    {
      facts.allocated_bytes = heaps->asked;
      facts.allocated_blocks = heaps->made;
      flam_builder_note_facts (ledger->builder, &facts);
    }
  flam_ledger_finish (ledger, time, NULL);
}
