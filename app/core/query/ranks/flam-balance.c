/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-balance.h"

#include "flam-sample-filter.h"
#include "flam-shown.h"

#include <string.h>

#define STEP_ROWS (1 << 14)

typedef struct
{
  FlamBalance *balance;
  const FlamProfile *profile;
  const FlamSelection *selection;
  guint *of_thread; /* index of its rank; G_MAXUINT: of none */
  gboolean *helps;  /* per thread: off the CPU, it does not work */
  const FlamProgress *progress;
} Making;

/* --- ranks ---------------------------------------------------------------- */

static int
compare_ranks (gconstpointer a, gconstpointer b)
{
  const FlamBalanceRank *x = a, *y = b;

  return (x->rank > y->rank) - (x->rank < y->rank);
}

static guint
find_rank (const FlamBalance *balance, guint32 rank)
{
  guint low = 0, high = balance->n_ranks;

  while (high - low > 1)
    {
      guint middle = low + (high - low) / 2;

      if (balance->ranks[middle].rank <= rank)
        low = middle;
      else
        high = middle;
    }
  return low;
}

/* Each rank once, by number. */
static void
list_ranks (Making *making)
{
  const FlamProfile *profile = making->profile;
  FlamBalance *balance = making->balance;
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) hosts = g_hash_table_new (g_str_hash, g_str_equal);
  GArray *ranks = g_array_new (FALSE, TRUE, sizeof (FlamBalanceRank));

  for (FlamId t = 0; t < profile->threads.n; t++)
    {
      FlamProcessId process = profile->threads.process[t];
      FlamBalanceRank rank = {
        .rank = profile->processes.rank[process] - 1,
        .host = flam_profile_string (profile, profile->processes.host[process]),
      };

      if (profile->processes.rank[process] == 0 ||
          !flam_selection_has_thread (making->selection, t) ||
          !g_hash_table_add (seen, GUINT_TO_POINTER (rank.rank + 1)))
        continue;
      g_hash_table_add (hosts, (gpointer)rank.host);
      g_array_append_val (ranks, rank);
    }
  g_array_sort (ranks, compare_ranks);
  balance->n_hosts = g_hash_table_size (hosts);
  balance->n_ranks = ranks->len;
  balance->ranks = (FlamBalanceRank *)(void *)g_array_free (ranks, FALSE);
}

static gboolean
waits_in_mpi (const FlamProfile *profile, FlamId thread)
{
  const guint8 *state = profile->samples.state;
  guint32 first = profile->threads.first_sample[thread];

  for (guint32 k = 0; state != NULL && k < profile->threads.n_samples[thread];
       k++)
    if (state[first + k] == FLAM_STATE_MPI)
      return TRUE;
  return FALSE;
}

static void
rank_threads (Making *making)
{
  const FlamProfile *profile = making->profile;

  making->of_thread = g_new (guint, (gsize)profile->threads.n + 1);
  making->helps = g_new (gboolean, (gsize)profile->threads.n + 1);
  for (FlamId t = 0; t < profile->threads.n; t++)
    {
      FlamProcessId process = profile->threads.process[t];
      guint32 rank = profile->processes.rank[process];

      making->helps[t] =
          profile->threads.tid[t] != profile->processes.pid[process] &&
          !waits_in_mpi (profile, t);
      making->of_thread[t] =
          rank != 0 && flam_selection_has_thread (making->selection, t)
              ? find_rank (making->balance, rank - 1)
              : G_MAXUINT;
    }
}

/* The samples of a rank that count as one. */
typedef enum
{
  PART_WORK,  /* of the threads that wait in MPI */
  PART_HELP,  /* of the others: work, too */
  PART_WAITS, /* in MPI */
} Part;

/* NULL: the rank has none. */
static FlamSelection *
select_rank (const Making *making, guint rank, Part part)
{
  static const guint states[] = {
    [PART_WORK] = ~(1u << FLAM_STATE_MPI),
    [PART_HELP] = FLAM_STATES_CPU,
    [PART_WAITS] = 1u << FLAM_STATE_MPI,
  };
  g_autoptr (FlamSelection) selection = flam_selection_copy (making->selection);
  gboolean any = FALSE;

  flam_selection_no_threads (selection);
  for (FlamId t = 0; t < making->profile->threads.n; t++)
    if (making->of_thread[t] == rank && making->helps[t] == (part == PART_HELP))
      {
        flam_selection_add_thread (selection, t);
        any = TRUE;
      }
  selection->states &= states[part];
  selection->invert = FALSE;
  return any && selection->states != 0 ? g_steal_pointer (&selection) : NULL;
}

/* --- spreads -------------------------------------------------------------- */

static int
compare_values (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

  return (x > y) - (x < y);
}

FlamBalanceSpread
flam_balance_spread (const gint64 *values, guint n)
{
  g_autofree gint64 *sorted = g_memdup2 (values, n * sizeof *values);
  FlamBalanceSpread spread = { .most = values[0] };

  for (guint i = 0; i < n; i++)
    {
      spread.sum += values[i];
      if (values[i] <= spread.most)
        continue;
      spread.most = values[i];
      spread.slowest = i;
    }
  qsort (sorted, n, sizeof *sorted, compare_values);
  spread.median = sorted[n / 2];
  if (n % 2 == 0)
    spread.median = sorted[n / 2 - 1] + (sorted[n / 2] - sorted[n / 2 - 1]) / 2;
  return spread;
}

/* --- functions ------------------------------------------------------------ */

typedef struct
{
  char *name, *module;
  gint64 *values; /* per rank */
} Row;

typedef struct
{
  GHashTable *index; /* "name\nmodule" -> its row plus 1 */
  GArray *rows;      /* Row */
} Rows;

static Row *
find_row (Rows *rows, const char *name, const char *module, guint n_ranks)
{
  g_autofree char *key = g_strdup_printf ("%s\n%s", name, module);
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (rows->index, key));
  Row row;

  if (known > 0)
    return &g_array_index (rows->rows, Row, known - 1);
  row = (Row){ g_strdup (name), g_strdup (module), g_new0 (gint64, n_ranks) };
  g_array_append_val (rows->rows, row);
  g_hash_table_insert (
      rows->index, g_steal_pointer (&key), GUINT_TO_POINTER (rows->rows->len));
  return &g_array_index (rows->rows, Row, rows->rows->len - 1);
}

static const char *
module_of (const FlamTree *tree, FlamNodeId node)
{
  FlamFrameId frame = node != 0 ? tree->frame[node] : FLAM_NONE;

  return frame != FLAM_NONE && tree->by == FLAM_BY_FUNCTION
             ? flam_profile_module_name (tree->profile,
                                         tree->profile->frames.function[frame])
             : "";
}

static gboolean
add_functions (const Making *making,
               guint rank,
               const FlamWeights *weights,
               const FlamSelection *selection,
               FlamSort sort,
               Rows *rows,
               GError **error)
{
  g_autoptr (FlamTree) tree =
      flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, error);
  g_autofree FlamFunctionRow *of_rank = NULL;
  guint n;

  if (tree == NULL)
    return FALSE;
  of_rank = flam_functions_new_whole (tree, sort, &n);
  for (guint i = 0; i < n; i++)
    {
      Row *row = find_row (rows,
                           flam_functions_name (tree, of_rank[i].node),
                           module_of (tree, of_rank[i].node),
                           making->balance->n_ranks);

      row->values[rank] +=
          sort == FLAM_SORT_SELF ? of_rank[i].self : of_rank[i].total;
    }
  return TRUE;
}

static int
compare_functions (gconstpointer a, gconstpointer b)
{
  const FlamBalanceFunction *x = a, *y = b;
  gint64 lost_x = flam_balance_lost (&x->spread);
  gint64 lost_y = flam_balance_lost (&y->spread);

  if (lost_x != lost_y)
    return lost_x > lost_y ? -1 : 1;
  if (x->spread.sum != y->spread.sum)
    return x->spread.sum > y->spread.sum ? -1 : 1;
  return strcmp (x->name, y->name);
}

/* Takes over the rows' data. */
static void
take_functions (FlamBalance *balance, Rows *rows)
{
  balance->functions = g_new0 (FlamBalanceFunction, rows->rows->len + 1);
  for (guint i = 0; i < rows->rows->len; i++)
    {
      Row *row = &g_array_index (rows->rows, Row, i);

      balance->functions[balance->n_functions++] = (FlamBalanceFunction){
        row->name,
        row->module,
        flam_balance_spread (row->values, balance->n_ranks),
      };
      g_free (row->values);
    }
  g_array_set_size (rows->rows, 0);
  qsort (balance->functions,
         balance->n_functions,
         sizeof *balance->functions,
         compare_functions);
}

/* Adds the part to the rank's work. */
static gboolean
weigh_part (Making *making,
            guint rank,
            Part part,
            const FlamBalanceWanted *wanted,
            Rows *rows,
            GError **error)
{
  g_autoptr (FlamSelection) working = select_rank (making, rank, part);
  g_autoptr (FlamWeights) weights = NULL;

  if (working == NULL)
    return TRUE;
  weights = flam_weights_new (making->profile, working, NULL, NULL);
  making->balance->ranks[rank].work += weights->total;
  return add_functions (
      making, rank, weights, working, wanted->sort, rows, error);
}

static gboolean
weigh_ranks (Making *making, const FlamBalanceWanted *wanted, GError **error)
{
  FlamBalance *balance = making->balance;
  g_autoptr (GHashTable) index =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (Row));
  g_autofree gint64 *work = g_new (gint64, balance->n_ranks);
  Rows rows = { index, list };
  gboolean good = TRUE;

  for (guint i = 0; i < balance->n_ranks && good; i++)
    {
      g_autoptr (FlamSelection) waiting = select_rank (making, i, PART_WAITS);

      if (waiting != NULL)
        balance->ranks[i].waits = flam_weights_total (making->profile, waiting);
      good = flam_progress_step (
                 making->progress, (double)i / balance->n_ranks, error) &&
             weigh_part (making, i, PART_WORK, wanted, &rows, error) &&
             weigh_part (making, i, PART_HELP, wanted, &rows, error);
      work[i] = balance->ranks[i].work;
    }
  balance->work = flam_balance_spread (work, balance->n_ranks);
  take_functions (balance, &rows);
  return good;
}

/* --- time ----------------------------------------------------------------- */

/* Of spans, the weight is where they begin. */
static gboolean
fill_columns (Making *making, GError **error)
{
  FlamBalance *balance = making->balance;
  const FlamProfile *profile = making->profile;
  const FlamMeasure *measure = &profile->measures[making->selection->measure];
  const FlamSamples *samples = &profile->samples;
  const FlamThreads *threads = &profile->threads;
  g_auto (FlamShown) shown = { 0 };
  g_auto (FlamSampleFilter) filter = { NULL };
  const gint64 *weight = making->selection->count ? NULL : measure->weight;
  gint64 one = making->selection->count ? measure->denominator : 1;

  if (!flam_shown_init (&shown, profile, making->selection, NULL, error))
    return FALSE;
  flam_sample_filter_init (&filter, profile, making->selection, measure->event);
  for (FlamId t = 0; t < threads->n; t++)
    for (guint32 k = 0;
         making->of_thread[t] != G_MAXUINT && k < threads->n_samples[t];
         k++)
      {
        guint32 i = threads->first_sample[t] + k;
        FlamState state =
            samples->state != NULL ? samples->state[i] : FLAM_STATE_RUNNING;
        guint column;

        if (k % STEP_ROWS == 0 &&
            !flam_progress_step (making->progress, 1, error))
          return FALSE;
        if (!flam_sample_filter_has (&filter, i) || state == FLAM_STATE_MPI ||
            (making->helps[t] && state != FLAM_STATE_RUNNING) ||
            flam_shown_of (&shown, samples->stack[i]) == FLAM_NONE)
          continue;
        column = (guint)MIN (samples->time[i] / balance->column,
                             balance->n_columns - 1);
        balance
            ->value[(gsize)column * balance->n_ranks + making->of_thread[t]] +=
            weight != NULL ? weight[i] : one;
      }
  return TRUE;
}

static gboolean
spread_over_time (Making *making, guint wanted, GError **error)
{
  FlamBalance *balance = making->balance;
  const FlamProfile *profile = making->profile;
  gint64 length = MAX (profile->facts.duration_ns, 1);

  if (profile->samples.time == NULL || wanted == 0 ||
      profile->measures[making->selection->measure].source != FLAM_FROM_SAMPLES)
    return TRUE;
  balance->n_columns =
      (guint)MIN (MIN (wanted, FLAM_BALANCE_COLUMNS_MAX), length);
  balance->column =
      length / balance->n_columns + (length % balance->n_columns != 0);
  balance->value =
      g_new0 (gint64, (gsize)balance->n_columns * balance->n_ranks);
  balance->columns = g_new0 (FlamBalanceSpread, balance->n_columns);
  if (!fill_columns (making, error))
    return FALSE;
  for (guint c = 0; c < balance->n_columns; c++)
    {
      balance->columns[c] = flam_balance_spread (
          balance->value + (gsize)c * balance->n_ranks, balance->n_ranks);
      balance->top = MAX (balance->top, balance->columns[c].most);
    }
  return TRUE;
}

/* --- public functions ----------------------------------------------------- */

FlamBalance *
flam_balance_new (const FlamProfile *profile,
                  const FlamSelection *selection,
                  const FlamBalanceWanted *wanted,
                  const FlamProgress *progress,
                  GError **error)
{
  g_autoptr (FlamBalance) balance = g_new0 (FlamBalance, 1);
  Making making = { balance, profile, selection, NULL, NULL, progress };
  gboolean good;

  balance->profile = flam_profile_ref (profile);
  if (selection->measure >= profile->n_measures)
    return NULL;
  balance->measure =
      flam_selection_measure (selection, profile, selection->measure);
  list_ranks (&making);
  if (balance->n_ranks == 0)
    return NULL;
  rank_threads (&making);
  good = (!wanted->functions || weigh_ranks (&making, wanted, error)) &&
         spread_over_time (&making, wanted->columns, error);
  g_free (making.of_thread);
  g_free (making.helps);
  return good ? g_steal_pointer (&balance) : NULL;
}

void
flam_balance_free (FlamBalance *balance)
{
  for (guint i = 0; i < balance->n_functions; i++)
    {
      g_free (balance->functions[i].name);
      g_free (balance->functions[i].module);
    }
  g_free (balance->functions);
  g_free (balance->ranks);
  g_free (balance->value);
  g_free (balance->columns);
  g_clear_pointer (&balance->profile, flam_profile_unref);
  g_free (balance);
}
