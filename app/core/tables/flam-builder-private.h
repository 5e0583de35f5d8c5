/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The builder's insides, shared by its parts. */

#include "flam-profile-private.h"
#include "flam-tables.h"

G_BEGIN_DECLS

struct _FlamBuilder
{
  FlamTables tables;
  gboolean has_times;
  gboolean has_origin;
  gboolean recorded; /* what is noted is to be folded in */
  gint64 origin;
  gint64 peak_time; /* G_MININT64: not told */

  FlamFacts facts; /* but for these two, which grow */
  GPtrArray *others;
  GPtrArray *warnings;
  GStringChunk *texts; /* of facts */

  /* Editing: frame -> chains[chain_first .. + chain_length), length 0: as it
   * is. */
  FlamProfile *base;
  FlamColumn chain_first;
  FlamColumn chain_length;
  FlamColumn chains;
};

/* Columns of the builder's tables, to be written: cells (builder, FlamId,
 * profile.stacks.frame)[row]. */
#define cells(builder, type, member)                                           \
  ((type *)(gpointer)(builder)->tables.member)

/* In flam-builder-check.c: weights and sizes that cannot be are an error, a
 * capture without any is a warning. */
gboolean flam_builder_check (FlamBuilder *builder, GError **error);

/* In flam-builder-facts.c: what the rows of FACTS, WARNINGS and END say. */
void flam_builder_fold_facts (FlamBuilder *builder);
/* The number in the last row of that key, or -1. */
gint64 flam_builder_noted_number (const FlamBuilder *builder, const char *key);

/* In flam-builder-memory.c: BLOCKS, RELEASES and AT_PEAK become allocations. */
void flam_builder_fold_memory (FlamBuilder *builder);

/* In flam-builder-stacks.c: frames without a function get one, or the chains
 * that SYMBOLS and RENAMES tell; samples and allocations follow. */
gboolean flam_builder_fold_stacks (FlamBuilder *builder,
                                   const FlamProgress *progress,
                                   GError **error);

G_END_DECLS
