/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-functions.h"

#include "flam-columns.h"

typedef struct
{
  const FlamTree *tree;
  FlamColumn rows;  /* FlamFunctionRow */
  FlamColumn until; /* FlamId: end of the subtree this row was counted for */
  FlamInterner interner;
} Table;

/* Does a node stand for something of its own in this list? */
static gboolean
is_listed (const FlamTree *tree, FlamId node)
{
  return tree->by != FLAM_BY_THREAD || tree->depth[node] == 1;
}

static gboolean
row_equal (gconstpointer data, FlamId row, gconstpointer key)
{
  const Table *table = data;
  const FlamTree *tree = table->tree;
  FlamId node = flam_column_at (&table->rows, FlamFunctionRow, row).node;
  FlamId other = *(const FlamId *)key;

  return tree->function[node] == tree->function[other] &&
         tree->line[node] == tree->line[other];
}

static FlamId
row_of (Table *table, FlamId node)
{
  const FlamTree *tree = table->tree;
  guint32 hash = flam_hash_pair (tree->function[node], tree->line[node]);
  FlamSlot *slot =
      flam_interner_find (&table->interner, hash, row_equal, table, &node);
  FlamFunctionRow row = { .node = node };

  if (slot->id != FLAM_NONE)
    return slot->id;
  *slot = (FlamSlot){ hash, table->rows.n };
  table->interner.used++;
  flam_column_append (&table->rows, FlamFunctionRow, row);
  flam_column_append (&table->until, FlamId, 0);
  return slot->id;
}

static void
count_node (Table *table, FlamId node)
{
  const FlamTree *tree = table->tree;
  FlamId id = row_of (table, node);
  FlamFunctionRow *row = &flam_column_at (&table->rows, FlamFunctionRow, id);
  FlamId *until = &flam_column_at (&table->until, FlamId, id);

  row->self +=
      tree->by == FLAM_BY_THREAD ? tree->total[node] : tree->self[node];
  /* Inside a subtree that was counted already: the same stacks again. */
  if (node < *until)
    return;
  row->total += tree->total[node];
  for (guint i = 0; tree->split != NULL && i < FLAM_N_STATES; i++)
    row->split.weight[i] += tree->split[node].weight[i];
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
  for (FlamId node = 1; node < tree->n; node++)
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
