/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-union.h"
#include "flam-columns.h"

#define N FLAM_UNION_PARTITIONS
/* Rows of a partition are far apart: their data is prefetched this many rows
 * before it is used. */
#define AHEAD 16

/* The other half of a fingerprint gives the slot in a partition's hash. */
static inline guint
partition_of (const FlamFingerprint *print)
{
  return print->b % N;
}

void
flam_union_init (FlamUnion *rows, guint n_parts, const guint32 *sizes)
{
  guint64 total = 0;

  *rows = (FlamUnion){ .n_parts = n_parts };
  rows->offsets = g_new (guint32, n_parts + 1);
  for (guint i = 0; i < n_parts; i++)
    {
      rows->offsets[i] = (guint32)total;
      total += sizes[i];
      g_assert (total < FLAM_NONE);
    }
  rows->offsets[n_parts] = (guint32)total;
  rows->prints = flam_new_cells (FlamFingerprint, total + 1);
  rows->first = flam_new_cells (FlamId, total + 1);
  rows->ids = flam_new_cells (FlamId, total + 1);
  rows->counts = g_new0 (FlamUnionCounts, n_parts);
  rows->fresh = g_new0 (FlamUnionCounts, n_parts);
}

void
flam_union_clear (FlamUnion *rows)
{
  g_free (rows->offsets);
  g_free (rows->prints);
  g_free (rows->first);
  g_free (rows->ids);
  g_free (rows->counts);
  g_free (rows->fresh);
  *rows = (FlamUnion){ 0 };
}

void
flam_union_split (FlamUnion *rows, guint part)
{
  guint32 *counts = rows->counts[part];
  guint32 at[N];

  for (FlamId i = rows->offsets[part]; i < rows->offsets[part + 1]; i++)
    counts[partition_of (&rows->prints[i])]++;
  for (guint p = 0, sum = rows->offsets[part]; p < N; sum += counts[p++])
    at[p] = sum;
  for (FlamId i = rows->offsets[part]; i < rows->offsets[part + 1]; i++)
    rows->ids[at[partition_of (&rows->prints[i])]++] = i;
}

static gboolean
print_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return flam_fingerprint_equal ((const FlamFingerprint *)table + row, key);
}

/* The rows of one partition in one part. */
static gboolean
find_in_part (FlamUnion *rows,
              FlamInterner *interner,
              const FlamId *numbers,
              guint32 n,
              FlamUnionSame same,
              gpointer data)
{
  for (guint32 i = 0; i < n; i++)
    {
      const FlamFingerprint *print = &rows->prints[numbers[i]];
      guint32 hash = (guint32)print->a;
      FlamSlot *slot;

      if (i + AHEAD < n)
        __builtin_prefetch (&rows->prints[numbers[i + AHEAD]]);
      slot =
          flam_interner_find (interner, hash, print_equal, rows->prints, print);
      if (slot->id == FLAM_NONE)
        {
          *slot = (FlamSlot){ hash, numbers[i] };
          interner->used++;
        }
      else if (same != NULL && !same (data, slot->id, numbers[i]))
        return FALSE;
      rows->first[numbers[i]] = slot->id;
    }
  return TRUE;
}

static gboolean
find_in_all (FlamUnion *rows,
             FlamInterner *interner,
             guint p,
             FlamUnionSame same,
             gpointer data)
{
  for (guint part = 0; part < rows->n_parts; part++)
    {
      const FlamId *numbers = rows->ids + rows->offsets[part];
      guint32 had = interner->used;

      for (guint before = 0; before < p; before++)
        numbers += rows->counts[part][before];
      if (!find_in_part (
              rows, interner, numbers, rows->counts[part][p], same, data))
        return FALSE;
      rows->fresh[part][p] = interner->used - had;
    }
  return TRUE;
}

gboolean
flam_union_find (FlamUnion *rows,
                 guint share,
                 FlamUnionSame same,
                 gpointer data)
{
  FlamInterner interner;
  gboolean good = TRUE;

  flam_interner_init (&interner);
  for (guint p = share; p < N && good; p += rows->n_parts)
    {
      good = find_in_all (rows, &interner, p, same, data);
      flam_interner_empty (&interner);
    }
  flam_interner_clear (&interner);
  return good;
}

/* The number of rows of earlier parts that are the first of their kind. */
static guint32
fresh_before (const FlamUnion *rows, guint part)
{
  guint32 sum = 0;

  for (guint i = 0; i < part; i++)
    for (guint p = 0; p < N; p++)
      sum += rows->fresh[i][p];
  return sum;
}

guint32
flam_union_n (const FlamUnion *rows)
{
  return fresh_before (rows, rows->n_parts);
}

void
flam_union_assign (FlamUnion *rows, guint part)
{
  FlamId id = fresh_before (rows, part);

  for (FlamId i = rows->offsets[part]; i < rows->offsets[part + 1]; i++)
    if (rows->first[i] == i)
      rows->ids[i] = id++;
}
