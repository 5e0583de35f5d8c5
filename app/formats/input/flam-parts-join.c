/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Merges what several cores have read, on all cores, step by step (flam-
 * union.h, flam-builder-merge.h). */

#include "flam-parts.h"

#include <string.h>

typedef struct
{
  FlamBuilderMerge *merge;
  guint step;
} Merging;

static gboolean
merge_step (gpointer data,
            guint i,
            const FlamProgress *progress,
            GError **error)
{
  Merging *merging = data;

  if (!flam_progress_step (progress, 1, error))
    return FALSE;
  flam_builder_merge_step (merging->merge, merging->step, i);
  return TRUE;
}

FlamBuilderMerge *
flam_parts_merge (FlamBuilder *const *builders,
                  guint n,
                  const FlamProgress *progress,
                  GError **error)
{
  g_autoptr (FlamBuilderMerge) merge = flam_builder_merge_new (builders, n);
  guint width;

  for (Merging m = { merge, 0 };
       (width = flam_builder_merge_width (merge, m.step)) > 0;
       m.step++)
    if (!flam_parts_read (width, merge_step, &m, progress, error))
      return NULL;
  flam_builder_merge_finish (merge);
  return g_steal_pointer (&merge);
}

static gpointer
row_at (const FlamColumn *rows, FlamId row)
{
  return (char *)rows->data + (gsize)row * rows->element_size;
}

static gpointer
row_of (const FlamPartsJoin *join, FlamId number)
{
  guint part = flam_union_part (&join->ids, number);

  return row_at (join->rows[part], number - join->ids.offsets[part]);
}

static gboolean
split (gpointer data, guint i, const FlamProgress *progress, GError **error)
{
  FlamPartsJoin *join = data;
  FlamFingerprint *prints = flam_union_prints (&join->ids, i);

  for (FlamId row = 0; row < join->rows[i]->n; row++)
    prints[row] = *(const FlamFingerprint *)row_at (join->rows[i], row);
  flam_union_split (&join->ids, i);
  return flam_progress_step (progress, 1, error);
}

static gboolean
add_row (gpointer data, FlamId first, FlamId number)
{
  FlamPartsJoin *join = data;

  return join->add (row_of (join, first), row_of (join, number));
}

static gboolean
find (gpointer data, guint i, const FlamProgress *progress, GError **error)
{
  FlamPartsJoin *join = data;

  if (!flam_union_find (
          &join->ids, i, join->add != NULL ? add_row : NULL, join))
    g_atomic_int_set (&join->failed, TRUE);
  return flam_progress_step (progress, 1, error);
}

static gboolean
assign (gpointer data, guint i, const FlamProgress *progress, GError **error)
{
  FlamPartsJoin *join = data;

  flam_union_assign (&join->ids, i);
  return flam_progress_step (progress, 1, error);
}

static gboolean
copy (gpointer data, guint i, const FlamProgress *progress, GError **error)
{
  FlamPartsJoin *join = data;

  for (FlamId row = 0; row < join->rows[i]->n; row++)
    if (flam_union_is_first (&join->ids, i, row))
      memcpy (row_at (&join->joined, flam_union_id (&join->ids, i, row)),
              row_at (join->rows[i], row),
              join->joined.element_size);
  return flam_progress_step (progress, 1, error);
}

gboolean
flam_parts_join (FlamPartsJoin *join,
                 const FlamProgress *progress,
                 GError **error)
{
  guint32 sizes[FLAM_PARTS_MAX];

  if (join->n == 1)
    {
      join->joined = *join->rows[0];
      flam_column_init (join->rows[0], join->joined.element_size);
      return TRUE;
    }
  for (guint i = 0; i < join->n; i++)
    sizes[i] = (guint32)join->rows[i]->n;
  flam_union_init (&join->ids, join->n, sizes);
  flam_column_init (&join->joined, join->rows[0]->element_size);
  if (!flam_parts_read (join->n, split, join, progress, error) ||
      !flam_parts_read (join->n, find, join, progress, error) || join->failed ||
      !flam_parts_read (join->n, assign, join, progress, error))
    return FALSE;
  join->joined.n = flam_union_n (&join->ids);
  flam_column_reserve (&join->joined, join->joined.n);
  return flam_parts_read (join->n, copy, join, progress, error);
}

void
flam_parts_join_clear (FlamPartsJoin *join)
{
  flam_column_clear (&join->joined);
  flam_union_clear (&join->ids);
}
