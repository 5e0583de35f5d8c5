/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_UNION_H
#define FLAM_UNION_H

/* Merges equal rows of several parts. The result is in the order of the parts,
 * as if one core had read all of them:
 *
 *    part      0      1      2
 *    rows      a b c  b d    d a e
 *    numbers   0 1 2  3 4    5 6 7
 *    first     0 1 2  1 4    4 0 7     the first number with the same row
 *    id        0 1 2  1 3    3 0 4     counts those that are the first
 *
 * Rows are identified by their fingerprints, which are divided into partitions.
 * A core finds the duplicates of a partition in all of the parts, without the
 * others; the hash of a partition is small and stays in its cache.
 *
 * There are no threads here. Each step is taken for every part, on any thread
 * and in any order, but only when the step before is done for all of them:
 *
 *    split    one core per part     flam_union_split()
 *    find     one core per share    flam_union_find()
 *    assign   one core per part     flam_union_assign() */

#include "flam-fingerprint.h"

G_BEGIN_DECLS

/* At most 256: a byte is enough to choose one. */
#define FLAM_UNION_PARTITIONS 64

typedef guint32 FlamUnionCounts[FLAM_UNION_PARTITIONS];

typedef struct
{
  guint n_parts;
  guint32 *offsets; /* per part: the number of its first row; then the end */
  FlamFingerprint *prints;
  FlamId *first;
  /* Each part's numbers, ordered by partition; then, for first rows, their
   * ids. */
  FlamId *ids;
  FlamUnionCounts *counts; /* per part: the rows in each partition */
  FlamUnionCounts *fresh; /* per part: the number of its rows that come first */
} FlamUnion;

/* Row `number` is the same as `first`; FALSE: stop. Concurrent calls are about
 * different rows. */
typedef gboolean (*FlamUnionSame) (gpointer data, FlamId first, FlamId number);

/* `sizes`: the number of rows of each part, together less than FLAM_NONE. */
void flam_union_init (FlamUnion *rows, guint n_parts, const guint32 *sizes);
void flam_union_clear (FlamUnion *rows);

/* The fingerprints of a part, to be set before its split. */
static inline FlamFingerprint *
flam_union_prints (FlamUnion *rows, guint part)
{
  return rows->prints + rows->offsets[part];
}

void flam_union_split (FlamUnion *rows, guint part);
/* There are as many shares as parts. FALSE: same() returned FALSE; it may be
 * NULL. */
gboolean flam_union_find (FlamUnion *rows,
                          guint share,
                          FlamUnionSame same,
                          gpointer data);
void flam_union_assign (FlamUnion *rows, guint part);

/* --- after the union ------------------------------------------------------ */

/* The number of distinct rows. */
guint32 flam_union_n (const FlamUnion *rows);

/* The part that a row's number belongs to. */
static inline guint
flam_union_part (const FlamUnion *rows, FlamId number)
{
  guint low = 0, high = rows->n_parts;

  while (high - low > 1)
    {
      guint middle = (low + high) / 2;
      if (rows->offsets[middle] <= number)
        low = middle;
      else
        high = middle;
    }
  return low;
}

static inline gboolean
flam_union_is_first (const FlamUnion *rows, guint part, FlamId row)
{
  FlamId number = rows->offsets[part] + row;

  return rows->first[number] == number;
}

/* The id of a part's row. */
static inline FlamId
flam_union_id (const FlamUnion *rows, guint part, FlamId row)
{
  return rows->ids[rows->first[rows->offsets[part] + row]];
}

G_END_DECLS

#endif
