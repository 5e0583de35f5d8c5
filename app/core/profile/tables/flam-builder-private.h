/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BUILDER_PRIVATE_H
#define FLAM_BUILDER_PRIVATE_H

/* The builder's insides, shared by its parts. */

#include "flam-profile-private.h"
#include "flam-tables.h"

G_BEGIN_DECLS

/* The rows that recorded frames and stacks have become in a profile; more can
 * be added at any time. */
typedef struct
{
  FlamColumn first_symbol; /* guint32 per frame: its rows in SYMBOLS */
  FlamColumn n_symbols;    /* guint32, a frame */
  FlamColumn frames;       /* FlamId: of a frame without symbols */
  FlamColumn stacks;       /* FlamId */
  guint32 n_rows;          /* of SYMBOLS, seen so far */
  guint32 n_chained;       /* stacks made of chains so far */
} FlamStackMap;

void flam_stack_map_init (FlamStackMap *map);
void flam_stack_map_clear (FlamStackMap *map);
/* Whether SYMBOLS name frames again that are already in the map. */
gboolean flam_stack_map_is_stale (const FlamStackMap *map,
                                  const FlamTables *recorded);
/* Adds the rows of `recorded` that are new to `builder`. */
gboolean flam_stack_map_extend (FlamStackMap *map,
                                const FlamTables *recorded,
                                FlamBuilder *builder,
                                const FlamProgress *progress,
                                GError **error);

static inline FlamStackId
flam_stack_map_stack (const FlamStackMap *map, FlamStackId stack)
{
  return stack == FLAM_NONE ? FLAM_NONE
                            : flam_column_at (&map->stacks, FlamId, stack);
}

/* A thread's samples, as far as a profile has them, with room for more. */
typedef struct
{
  guint32 first;
  guint32 n;
  guint32 room;
} FlamLane;

/* The frames, stacks and samples of a builder that have been converted and
 * checked row by row already (flam-snapshots.c). */
typedef struct
{
  FlamStackMap map;
  FlamColumn lanes; /* FlamLane, a thread */
  guint32 n;        /* samples; the table has unused space between them */
  gint64 first;     /* of their times */
  gint64 last;
  guint states; /* a bit each */
  gint64 sums[FLAM_MAX_WEIGHTS];
  guint lineage;
} FlamLaid;

struct _FlamBuilder
{
  FlamTables tables;
  gboolean has_times;
  gboolean has_origin;
  gboolean recorded; /* recorded rows are to be folded in */
  gint64 origin;
  gint64 peak_time; /* G_MININT64: not given */

  FlamFacts facts; /* all but these two, which grow */
  GPtrArray *others;
  GPtrArray *warnings;
  GStringChunk *texts; /* of facts */
  FlamLimited limited;
  GHashTable *label_sets; /* GBytes of sorted LabelCells -> set; or NULL */

  const FlamLaid *laid; /* NULL: finish() does it */

  /* Editing: frame -> chains[chain_first .. + chain_length), length 0:
   * unchanged. */
  FlamProfile *base;
  FlamColumn chain_first;
  FlamColumn chain_length;
  FlamColumn chains;
};

/* Columns of the builder's tables, for writing: cells (builder, FlamId,
 * profile.stacks.frame)[row]. */
#define cells(builder, type, member)                                           \
  ((type *)(gpointer)(builder)->tables.member)

/* Adds a weight to the sum of a column. */
gboolean flam_builder_check_weight (gint64 *sum, gint64 weight, GError **error);

/* In flam-builder-sampled.c: scales the allocations from row `from` on. */
void flam_builder_scale_sampled (FlamBuilder *builder, guint32 from);
/* Of the sampled rows; 0: there are none. */
double flam_builder_blocks_spread (const FlamAllocations *rows, gint64 every);

/* Applies the rows of FACTS, WARNINGS and END. */
void flam_builder_fold_facts (FlamBuilder *builder);
/* The number in the last row with that key, or -1. */
gint64 flam_builder_noted_number (const FlamBuilder *builder, const char *key);

G_END_DECLS

#endif
