/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MEMORY_SUMMARY_H
#define FLAM_MEMORY_SUMMARY_H

/* Profile + selection (+ search, + a zoomed path) -> a summary of the memory in
 * bytes and blocks, for each of its parts:
 *
 *                     allocated   temporary   at the peak   leaked
 *    all of it           x           x            x           x
 *    each size           x           x            x           x      0, 1, 2-3,
 *    each kind           x           x            x           x      4-7, ...
 *    each thread         x           x            x           x
 *    each function       x           x            x           x      self,
 * total
 *
 * Temporary allocations are a part of the allocated ones; their share shows
 * churn. Files of snapshots hold few of these figures (massif's: bytes at the
 * peak); sums for which the capture has no measure are computed nevertheless,
 * but are unknown and must not be shown. Immutable, reference counted, any
 * thread may read it. */

#include "flam-allocation-filter.h"
#include "flam-estimate.h"
#include "flam-functions.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_MEMORY_ALLOCATED,
  FLAM_MEMORY_TEMPORARY,
  FLAM_MEMORY_PEAK,
  FLAM_MEMORY_LEAKED,
  FLAM_MEMORY_N
} FlamMemoryPart;

typedef struct
{
  gint64 bytes;
  gint64 blocks;
} FlamAmount;

typedef struct
{
  FlamAmount part[FLAM_MEMORY_N];
  FlamSpread *spread; /* one per part: what their errors depend on; NULL: the
                         allocations were not sampled */
} FlamAmounts;

/* The columns of every table of memory. */
typedef enum
{
  FLAM_MEMORY_COLUMN_ALLOCATED,
  FLAM_MEMORY_COLUMN_BLOCKS,
  FLAM_MEMORY_COLUMN_TEMPORARY, /* the share of the blocks */
  FLAM_MEMORY_COLUMN_PEAK,
  FLAM_MEMORY_COLUMN_LEAKED,
  FLAM_MEMORY_N_COLUMNS
} FlamMemoryColumn;

/* Bin 0 holds blocks of no bytes, bin i those of [2^(i-1), 2^i). */
#define FLAM_MEMORY_BINS 64

typedef struct
{
  FlamTree *tree; /* upright, for names and places; ignore its weights */
  FlamAmounts all;
  FlamAmounts size[FLAM_MEMORY_BINS];
  guint first_bin, end_bin; /* the bins that have any; half open */
  FlamAmounts
      kind[FLAM_N_ALLOCATORS]; /* of every kind, whether counted or not */
  guint kinds_present;         /* bits */
  guint kinds_counted;
  FlamProfile *profile;           /* a reference */
  FlamSuppressions *suppressions; /* the selection's, or NULL */
  FlamAmounts *thread;            /* one per thread of the profile */
  guint n_functions;
  FlamFunctionRow *function; /* in no order; self and total of the row have no
                                meaning, the members below do */
  FlamAmounts *function_self;
  FlamAmounts *function_total;
  GPtrArray *spreads; /* of all amounts above */
  FlamAmounts *rule;  /* leaks by the suppression that applies; NULL: the
                        selection has none */
  gint64 peak_time;   /* -1: no memory was ever in use */
} FlamMemorySummary;

/* NULL with an error when cancelled. `search` NULL: everything; otherwise
 * stacks through a match. `zoom` is a node of `zoomed`, a tree of the same
 * selection whatever its measure; NULL and 0: everything. */
FlamMemorySummary *flam_memory_summary_new (const FlamProfile *profile,
                                            const FlamSelection *selection,
                                            FlamRegex *search,
                                            const FlamTree *zoomed,
                                            FlamNodeId zoom,
                                            const FlamProgress *progress,
                                            GError **error);
FlamMemorySummary *flam_memory_summary_ref (FlamMemorySummary *memory);
void flam_memory_summary_unref (FlamMemorySummary *memory);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamMemorySummary, flam_memory_summary_unref)

/* Whether the capture holds that figure. */
gboolean flam_memory_summary_knows (const FlamMemorySummary *memory,
                                    FlamMemoryPart part,
                                    gboolean bytes);
/* Whether its rows are single blocks, so that the size of each is known. */
gboolean flam_memory_summary_knows_sizes (const FlamMemorySummary *memory);
/* What its rows are. */
typedef enum
{
  FLAM_MEMORY_OF_BLOCKS,
  FLAM_MEMORY_OF_PAGES,
  FLAM_MEMORY_OF_RESOURCES, /* descriptors and threads, without bytes */
} FlamMemoryOf;
FlamMemoryOf flam_memory_summary_of (const FlamMemorySummary *memory);
/* Whether any known figure is not zero. */
gboolean flam_memory_summary_has_any (const FlamMemorySummary *memory,
                                      const FlamAmounts *amounts);
/* Whether a column has figures to show. */
gboolean flam_memory_summary_has_column (const FlamMemorySummary *memory,
                                         FlamMemoryColumn column);
/* The part that a column shows, in bytes or in blocks. */
FlamMemoryPart flam_memory_column_part (FlamMemoryColumn column,
                                        gboolean *bytes);
/* The error of one of the summary's amounts. */
FlamEstimate flam_amounts_estimate (const FlamMemorySummary *memory,
                                    const FlamAmounts *amounts,
                                    FlamMemoryPart part,
                                    gboolean bytes);
/* The error of the share of temporary blocks in the allocated ones, times
 * these. */
FlamEstimate flam_amounts_churn_estimate (const FlamMemorySummary *memory,
                                          const FlamAmounts *amounts);
/* The part that a measure belongs to; FLAM_MEMORY_ALLOCATED for samples. */
FlamMemoryPart flam_memory_part_of (FlamMeasureSource source);
/* The smallest and the largest size in a bin. */
void flam_memory_summary_bin_range (guint bin, gint64 *low, gint64 *high);
/* Stable ids: "malloc", "mmap"; "allocated", "peak". */
const char *flam_allocator_to_string (FlamAllocator allocator);
const char *flam_memory_part_to_string (FlamMemoryPart part);

G_END_DECLS

#endif
