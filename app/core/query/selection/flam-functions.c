/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-functions.h"

#include "flam-allocation-filter.h"
#include "flam-columns.h"

typedef struct
{
  const FlamTree *tree;
  FlamColumn rows;  /* FlamFunctionRow */
  FlamColumn until; /* FlamId: end of the subtree this row was counted for */
  FlamInterner interner;
} Table;

typedef struct
{
  const FlamTree *tree;
  FlamNodeId node;
} Place;

/* Whether a node represents something that has a row in this list. */
static gboolean
is_listed (const FlamTree *tree, FlamNodeId node)
{
  return !flam_by_has_tops (tree->by) || tree->depth[node] == 1;
}

static gboolean
row_equal (gconstpointer data, FlamId row, gconstpointer key)
{
  const Table *table = data;
  const Place *place = key;

  return flam_tree_is_same (
      table->tree,
      flam_column_at (&table->rows, FlamFunctionRow, row).node,
      place->tree,
      place->node);
}

/* Of a node of this table's tree, or of another one of the same profile. */
static FlamSlot *
find_slot (Table *table, const Place *place, guint32 *hash)
{
  *hash = flam_hash_pair (place->tree->key[place->node].row,
                          flam_tree_line (place->tree, place->node) +
                              flam_tree_address (place->tree, place->node));
  return flam_interner_find (&table->interner, *hash, row_equal, table, place);
}

static FlamId
row_of (Table *table, FlamNodeId node)
{
  const Place place = { table->tree, node };
  guint32 hash;
  FlamSlot *slot = find_slot (table, &place, &hash);
  FlamFunctionRow row = { .node = node };

  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, table->rows.n };
  table->interner.used++;
  flam_column_append (&table->rows, FlamFunctionRow, row);
  flam_column_append (&table->until, FlamId, 0);
  return slot->id;
}

/* `total`: its self is the node's total. */
static void
add_self (FlamFunctionRow *row,
          const FlamTree *tree,
          FlamNodeId node,
          gboolean total)
{
  const gint64 *other = total ? tree->other_total : tree->other_self;
  const FlamSpread *spread = total ? tree->spread_total : tree->spread_self;

  row->self += total ? tree->total[node] : tree->self[node];
  if (other != NULL)
    row->other_self += other[node];
  if (spread != NULL)
    flam_spread_add (&row->spread_self, &spread[node]);
}

static void
add_total (FlamFunctionRow *row, const FlamTree *tree, FlamNodeId node)
{
  row->total += tree->total[node];
  for (guint i = 0; tree->split != NULL && i < FLAM_N_STATES; i++)
    row->split.weight[i] += tree->split[node].weight[i];
  if (tree->other_total != NULL)
    row->other_total += tree->other_total[node];
  if (tree->spread_total != NULL)
    flam_spread_add (&row->spread_total, &tree->spread_total[node]);
}

static void
count_node (Table *table, FlamNodeId node)
{
  const FlamTree *tree = table->tree;
  FlamId id = row_of (table, node);
  FlamFunctionRow *row = &flam_column_at (&table->rows, FlamFunctionRow, id);
  FlamId *until = &flam_column_at (&table->until, FlamId, id);

  add_self (row, tree, node, flam_by_has_tops (tree->by));
  /* Inside a subtree that is already counted: these are the same stacks. */
  if (node < *until)
    return;
  add_total (row, tree, node);
  *until = tree->subtree_end[node];
}

typedef struct
{
  const FlamTree *tree;
  FlamSort sort;
} Order;

static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  const Order *order = data;
  const FlamFunctionRow *x = a;
  const FlamFunctionRow *y = b;
  gint64 first[] = { x->self, y->self };
  gint64 second[] = { x->total, y->total };
  gint64 *keys[] = { first, second };

  if (order->sort == FLAM_SORT_TOTAL)
    keys[0] = second, keys[1] = first;
  for (guint i = 0; i < 2; i++)
    if (keys[i][0] != keys[i][1])
      return keys[i][0] > keys[i][1] ? -1 : 1;
  return strcmp (flam_tree_name (order->tree, x->node),
                 flam_tree_name (order->tree, y->node));
}

/* The root's weight that is in none of its children. */
static FlamFunctionRow
root_row (const FlamTree *tree)
{
  FlamFunctionRow row = { .node = 0, .self = tree->self[0] };

  if (tree->rooted || row.self == 0)
    return (FlamFunctionRow){ 0 };
  row.total = row.self;
  if (tree->other_self != NULL)
    row.other_self = row.other_total = tree->other_self[0];
  if (tree->spread_self != NULL)
    row.spread_self = row.spread_total = tree->spread_self[0];
  if (tree->split == NULL)
    return row;
  row.split = tree->split[0];
  for (FlamNodeId child = flam_tree_first_child (tree, 0); child != FLAM_NONE;
       child = flam_tree_next_sibling (tree, child))
    for (guint i = 0; i < FLAM_N_STATES; i++)
      row.split.weight[i] -= tree->split[child].weight[i];
  return row;
}

FlamFunctionRow *
flam_functions_new_whole (const FlamTree *tree, FlamSort sort, guint *n)
{
  Order order = { tree, sort };
  FlamFunctionRow root = root_row (tree);
  FlamFunctionRow *rows = flam_functions_new (tree, sort, n);

  if (root.self == 0)
    return rows;
  rows = g_renew (FlamFunctionRow, rows, *n + 1);
  rows[(*n)++] = root;
  g_qsort_with_data (rows, *n, sizeof *rows, compare_rows, &order);
  return rows;
}

const char *
flam_functions_name (const FlamTree *tree, FlamNodeId node)
{
  return node == 0 && !tree->rooted ? "[no stack]"
                                    : flam_tree_name (tree, node);
}

FlamFunctionRow *
flam_functions_new (const FlamTree *tree, FlamSort sort, guint *n)
{
  Table table = { tree };
  Order order = { tree, sort };
  FlamFunctionRow *rows;

  g_assert (!tree->inverted);
  flam_column_init (&table.rows, sizeof (FlamFunctionRow));
  flam_column_init (&table.until, sizeof (FlamId));
  flam_interner_init (&table.interner);
  for (FlamNodeId node = 1; node < tree->n; node++)
    if (is_listed (tree, node))
      count_node (&table, node);

  *n = table.rows.n;
  rows = flam_column_steal (&table.rows);
  if (*n > 0)
    g_qsort_with_data (rows, *n, sizeof *rows, compare_rows, &order);
  flam_column_clear (&table.until);
  flam_interner_clear (&table.interner);
  return rows;
}

gboolean
flam_functions_has_self (const FlamTree *tree, FlamNodeId node)
{
  return !tree->inverted ||
         (!tree->rooted && (node == 0 || tree->parent[node] == 0));
}

FlamFunctionRow
flam_functions_row_of_node (const FlamTree *tree, FlamNodeId node)
{
  FlamFunctionRow row = { .node = node };

  if (flam_functions_has_self (tree, node))
    add_self (&row, tree, node, tree->inverted && node != 0);
  add_total (&row, tree, node);
  return row;
}

static FlamFigure
figure_of (const FlamTree *tree,
           gint64 weight,
           gint64 other,
           const FlamSpread *spread)
{
  return (
      FlamFigure){ weight, tree->other_total != NULL ? other : -1, *spread };
}

FlamFigure
flam_functions_self (const FlamTree *tree, const FlamFunctionRow *row)
{
  return figure_of (tree, row->self, row->other_self, &row->spread_self);
}

FlamFigure
flam_functions_total (const FlamTree *tree, const FlamFunctionRow *row)
{
  return figure_of (tree, row->total, row->other_total, &row->spread_total);
}

FlamEstimate
flam_functions_estimate_other (const FlamTree *tree, FlamFigure figure)
{
  FlamMeasure measure = flam_tree_measure (tree);

  measure.source = flam_allocation_filter_other_source (measure.source);
  measure.unit = flam_tree_other_unit (tree);
  return flam_estimate_of_figure (
      &tree->profile->facts,
      &measure,
      (FlamFigure){ figure.other, figure.weight, figure.spread });
}

FlamFunctionRow
flam_functions_row_of (const FlamTree *tree, FlamNodeId node)
{
  FlamFunctionRow row = { .node = node };
  gboolean top = flam_tree_is_top (tree, node);
  FlamId until = 0;

  if (node == 0)
    return root_row (tree);
  for (FlamId i = 1; i < tree->n; i++)
    {
      if (!flam_tree_is_same (tree, i, tree, node))
        continue;
      if (flam_functions_has_self (tree, i) && !top)
        add_self (&row, tree, i, tree->inverted);
      if (i < until)
        continue;
      add_total (&row, tree, i);
      until = tree->subtree_end[i];
    }
  if (top)
    {
      row.self = row.total;
      row.other_self = row.other_total;
      row.spread_self = row.spread_total;
    }
  return row;
}

FlamId *
flam_functions_index (const FlamTree *tree,
                      const FlamFunctionRow *rows,
                      guint n)
{
  FlamId *index = g_new (FlamId, tree->n);
  Table table = { tree };

  flam_column_init (&table.rows, sizeof (FlamFunctionRow));
  flam_column_init (&table.until, sizeof (FlamId));
  flam_interner_init (&table.interner);
  for (guint i = 0; i < n; i++)
    row_of (&table, rows[i].node);
  index[0] = FLAM_NONE;
  for (FlamNodeId node = 1; node < tree->n; node++)
    index[node] = is_listed (tree, node) ? row_of (&table, node) : FLAM_NONE;
  flam_column_clear (&table.rows);
  flam_column_clear (&table.until);
  flam_interner_clear (&table.interner);
  return index;
}

FlamId *
flam_functions_match (const FlamTree *tree,
                      const FlamFunctionRow *rows,
                      guint n,
                      const FlamTree *other,
                      const FlamFunctionRow *others,
                      guint n_others)
{
  FlamId *match = g_new (FlamId, n + 1);
  Table table = { other };

  flam_column_init (&table.rows, sizeof (FlamFunctionRow));
  flam_column_init (&table.until, sizeof (FlamId));
  flam_interner_init (&table.interner);
  for (guint i = 0; i < n_others; i++)
    row_of (&table, others[i].node);
  for (guint i = 0; i < n; i++)
    {
      const Place place = { tree, rows[i].node };
      guint32 hash;

      match[i] =
          place.node != 0 ? find_slot (&table, &place, &hash)->id : FLAM_NONE;
    }
  flam_column_clear (&table.rows);
  flam_column_clear (&table.until);
  flam_interner_clear (&table.interner);
  return match;
}

void
flam_functions_sum (const FlamTree *tree,
                    const FlamId *index,
                    guint n_rows,
                    const gint64 *self,
                    const gint64 *total,
                    gint64 *row_self,
                    gint64 *row_total)
{
  g_autofree FlamId *until = g_new0 (FlamId, n_rows + 1);

  memset (row_self, 0, n_rows * sizeof *row_self);
  memset (row_total, 0, n_rows * sizeof *row_total);
  for (FlamNodeId node = 1; node < tree->n; node++)
    {
      FlamId row = index[node];

      if (row == FLAM_NONE)
        continue;
      row_self[row] += self[node];
      if (node < until[row])
        continue;
      row_total[row] += total[node];
      until[row] = tree->subtree_end[node];
    }
}

void
flam_functions_sum_spread (const FlamTree *tree,
                           const FlamId *index,
                           guint n_rows,
                           const FlamSpread *self,
                           const FlamSpread *total,
                           FlamSpread *row_self,
                           FlamSpread *row_total)
{
  g_autofree FlamId *until = g_new0 (FlamId, n_rows + 1);

  memset (row_self, 0, n_rows * sizeof *row_self);
  memset (row_total, 0, n_rows * sizeof *row_total);
  for (FlamNodeId node = 1; node < tree->n; node++)
    {
      FlamId row = index[node];

      if (row == FLAM_NONE)
        continue;
      flam_spread_add (&row_self[row], &self[node]);
      if (node < until[row])
        continue;
      flam_spread_add (&row_total[row], &total[node]);
      until[row] = tree->subtree_end[node];
    }
}
