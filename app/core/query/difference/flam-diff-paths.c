/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-diff-private.h"

static gboolean
path_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamDiffPath *a =
      &flam_column_at ((FlamColumn *)table, FlamDiffPath, row);
  const FlamDiffPath *b = key;

  return a->parent == b->parent && a->name == b->name;
}

static FlamId
name_number (FlamDiffPaths *paths, const char *name, guint side)
{
  gpointer number = g_hash_table_lookup (paths->names, name);

  if (number == NULL)
    {
      number = GUINT_TO_POINTER (g_hash_table_size (paths->names) + 1);
      g_hash_table_insert (paths->names, (char *)name, number);
      flam_column_append (&paths->has, guint8, 0);
    }
  flam_column_at (&paths->has, guint8, GPOINTER_TO_UINT (number) - 1) |=
      (guint8)(1u << side);
  return GPOINTER_TO_UINT (number) - 1;
}

static void
find_paths (FlamDiffPaths *paths, FlamInterner *interner, guint side)
{
  const FlamTree *tree = paths->tree[side];
  FlamId *of_node = g_new (FlamId, tree->n);

  for (FlamId i = 0; i < tree->n; i++)
    {
      FlamDiffPath key = {
        i > 0 ? of_node[tree->parent[i]] : FLAM_NONE,
        i > 0 ? name_number (paths, flam_tree_plain_name (tree, i), side)
              : FLAM_NONE,
      };
      guint32 hash = flam_hash_pair (key.parent, key.name);
      FlamSlot *slot =
          flam_interner_find (interner, hash, path_equal, &paths->paths, &key);

      if (slot->id == FLAM_NONE)
        {
          *slot = (FlamSlot){ hash, (FlamId)paths->paths.n };
          interner->used++;
          flam_column_append (&paths->paths, FlamDiffPath, key);
        }
      of_node[i] = slot->id;
    }
  paths->path[side] = of_node;
}

static void
sum_paths (FlamDiffPaths *paths, guint side)
{
  const FlamTree *tree = paths->tree[side];
  const FlamId *path = paths->path[side];

  paths->self[side] = g_new0 (gint64, paths->paths.n);
  paths->total[side] = g_new0 (gint64, paths->paths.n);
  for (FlamId i = 0; i < tree->n; i++)
    {
      paths->self[side][path[i]] += tree->self[i];
      paths->total[side][path[i]] += tree->total[i];
    }
}

void
flam_diff_paths_init (FlamDiffPaths *paths,
                      const FlamTree *base,
                      const FlamTree *fresh)
{
  FlamInterner interner;

  paths->tree[FLAM_DIFF_SIDE_BASE] = base;
  paths->tree[FLAM_DIFF_SIDE_FRESH] = fresh;
  paths->names = g_hash_table_new (g_str_hash, g_str_equal);
  flam_column_init (&paths->paths, sizeof (FlamDiffPath));
  flam_column_init (&paths->has, sizeof (guint8));
  flam_interner_init (&interner);
  find_paths (paths, &interner, FLAM_DIFF_SIDE_FRESH);
  find_paths (paths, &interner, FLAM_DIFF_SIDE_BASE);
  flam_interner_clear (&interner);
  for (guint side = 0; side < FLAM_DIFF_N_SIDES; side++)
    sum_paths (paths, side);
}

static gint64 *
sum_column (const FlamDiffPaths *paths, guint side, const gint64 *column)
{
  gint64 *sum;

  if (column == NULL)
    return NULL;
  sum = g_new0 (gint64, paths->paths.n);
  for (FlamId i = 0; i < paths->tree[side]->n; i++)
    sum[paths->path[side][i]] += column[i];
  return sum;
}

static FlamSpread *
sum_spread (const FlamDiffPaths *paths, guint side, const FlamSpread *column)
{
  FlamSpread *sum;

  if (column == NULL)
    return NULL;
  sum = g_new0 (FlamSpread, paths->paths.n);
  for (FlamId i = 0; i < paths->tree[side]->n; i++)
    flam_spread_add (&sum[paths->path[side][i]], &column[i]);
  return sum;
}

gboolean
flam_diff_paths_add_errors (FlamDiffPaths *paths, gboolean self)
{
  gboolean sampled = FALSE;

  for (guint side = 0; side < FLAM_DIFF_N_SIDES; side++)
    sampled |= paths->tree[side]->profile->facts.sample_bytes > 0;
  for (guint side = 0; sampled && side < FLAM_DIFF_N_SIDES; side++)
    {
      const FlamTree *tree = paths->tree[side];

      paths->other[side] =
          sum_column (paths, side, self ? tree->other_self : tree->other_total);
      paths->spread[side] = sum_spread (
          paths, side, self ? tree->spread_self : tree->spread_total);
    }
  return sampled;
}

static gint64
part_of (const gint64 *column, FlamId path, gint64 value, gint64 sum)
{
  return sum == value || sum == 0
             ? column[path]
             : (gint64)((__int128_t)column[path] * value / sum);
}

FlamEstimate
flam_diff_paths_estimate (const FlamDiffPaths *paths,
                          guint side,
                          FlamId path,
                          gint64 value,
                          gint64 sum,
                          FlamDiffScale scale)
{
  const gint64 *other = paths->other[side];
  const FlamSpread *spread = paths->spread[side];
  double part = sum != 0 ? (double)value / (double)sum : 1;
  FlamFigure figure = {
    value,
    other != NULL ? part_of (other, path, value, sum) : -1,
    spread != NULL ? flam_spread_part (&spread[path], part) : (FlamSpread){ 0 },
  };
  FlamEstimate estimate = flam_diff_estimate (paths->tree[side], figure);

  return side == FLAM_DIFF_SIDE_BASE
             ? flam_diff_scaled_estimate (estimate, scale)
             : estimate;
}

void
flam_diff_paths_clear (FlamDiffPaths *paths)
{
  flam_column_clear (&paths->paths);
  flam_column_clear (&paths->has);
  g_clear_pointer (&paths->names, g_hash_table_unref);
  for (guint side = 0; side < FLAM_DIFF_N_SIDES; side++)
    {
      g_free (paths->path[side]);
      g_free (paths->self[side]);
      g_free (paths->total[side]);
      g_free (paths->other[side]);
      g_free (paths->spread[side]);
    }
}

FlamChangeKind
flam_diff_paths_kind (const FlamDiffPaths *paths, FlamId path)
{
  FlamStringId name = flam_column_at (&paths->paths, FlamDiffPath, path).name;

  if (paths->total[FLAM_DIFF_SIDE_FRESH][path] == 0)
    return FLAM_CHANGE_GONE;
  if (paths->total[FLAM_DIFF_SIDE_BASE][path] != 0)
    return FLAM_CHANGE_KEPT;
  if (name != FLAM_NONE && !(flam_column_at (&paths->has, guint8, name) &
                             (1u << FLAM_DIFF_SIDE_BASE)))
    return FLAM_CHANGE_UNTRACKED;
  return FLAM_CHANGE_NEW;
}

FlamTreeChange *
flam_diff_change_new (guint32 n)
{
  FlamTreeChange *change = g_new0 (FlamTreeChange, 1);

  change->base = g_new (gint64, n);
  change->delta = g_new (gint64, n);
  change->kind = g_new (guint8, n);
  return change;
}

void
flam_diff_change_set (FlamTreeChange *change,
                      FlamNodeId node,
                      FlamChangeKind kind,
                      gint64 base,
                      gint64 fresh)
{
  change->base[node] = base;
  change->delta[node] = fresh - base;
  change->kind[node] = (guint8)kind;
  if (node == 0)
    return;
  change->greatest = MAX (change->greatest, ABS (fresh - base));
  change->kinds |= 1u << kind;
}
