/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-weights.h"

#define STEP_ROWS (1 << 16)

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  const FlamMeasure *measure;
  FlamWeights *weights;     /* NULL: only the sums are wanted */
  gint64 *by_thread;        /* NULL, or a sum a thread */
  FlamStateSplit *by_state; /* NULL, or a sum a state */
  gint64 total;
} Sum;

static void
add (Sum *sum, FlamId thread, FlamId stack, FlamState state, gint64 weight)
{
  FlamWeights *weights = sum->weights;

  sum->total += weight;
  if (sum->by_thread != NULL && thread != FLAM_NONE)
    sum->by_thread[thread] += weight;
  if (sum->by_state != NULL)
    sum->by_state->weight[state] += weight;
  if (weights == NULL || weight == 0)
    return;
  if (stack == FLAM_NONE)
    weights->no_stack += weight;
  else
    weights->weight[stack] += weight;
  if (weights->split != NULL)
    weights->split[MIN (stack, sum->profile->stacks.n)].weight[state] += weight;
  if (weights->by_thread != NULL)
    {
      FlamThreadWeight row = { thread, stack, state, weight };

      g_array_append_val (weights->by_thread, row);
    }
}

/* --- samples ------------------------------------------------------------- */

/* The first sample of [i, end) at or after `time`. */
static guint32
lower_bound (const gint64 *times, guint32 i, guint32 end, gint64 time)
{
  while (i < end)
    {
      guint32 middle = i + (end - i) / 2;

      if (times[middle] < time)
        i = middle + 1;
      else
        end = middle;
    }
  return i;
}

static void
sum_slice (Sum *sum, FlamId thread, guint32 i, guint32 end)
{
  const FlamSamples *samples = &sum->profile->samples;
  const FlamMeasure *measure = sum->measure;
  const gint64 *weight = sum->selection->count ? NULL : measure->weight;
  gint64 one = sum->selection->count ? measure->denominator : 1;
  guint states = sum->selection->states;

  for (; i < end; i++)
    {
      FlamState state =
          samples->state != NULL ? samples->state[i] : FLAM_STATE_RUNNING;

      if (measure->event != FLAM_NONE &&
          (samples->event ? samples->event[i] : 0) != measure->event)
        continue;
      if (states & 1u << state)
        add (sum, thread, samples->stack[i], state, weight ? weight[i] : one);
    }
}

static gboolean
sum_samples (Sum *sum, const FlamProgress *progress, GError **error)
{
  const FlamProfile *profile = sum->profile;
  const FlamSelection *selection = sum->selection;
  const gint64 *times = profile->samples.time;

  for (FlamId t = 0; t < profile->threads.n; t++)
    {
      guint32 i = profile->threads.first_sample[t];
      guint32 end = i + profile->threads.n_samples[t];

      if (!flam_selection_has_thread (selection, t))
        continue;
      if (times != NULL && selection->from != G_MININT64)
        i = lower_bound (times, i, end, selection->from);
      if (times != NULL && selection->to != G_MAXINT64)
        end = lower_bound (times, i, end, selection->to);
      for (; i < end; i += MIN (STEP_ROWS, end - i))
        {
          sum_slice (sum, t, i, i + MIN (STEP_ROWS, end - i));
          if (!flam_progress_step (
                  progress, (double)i / profile->samples.n, error))
            return FALSE;
        }
    }
  return TRUE;
}

/* --- allocations --------------------------------------------------------- */

/* The high-water mark: walk births (ascending already) and deaths (sorted
 * here) together, look at the sum after each distinct time.
 *
 *    live ^        ┌──┐ peak: the first time the sum is greatest
 *         |   ┌────┘  └─┐
 *         └───┴─────────┴──▶ time
 *          born  born freed
 */
static int
compare_ids_by_death (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 *freed_at = data;
  gint64 x = freed_at[*(const FlamId *)a];
  gint64 y = freed_at[*(const FlamId *)b];

  return (x > y) - (x < y);
}

static FlamId *
rows_by_death (const FlamAllocations *rows, guint32 *n)
{
  FlamId *order = g_new (FlamId, rows->n + 1);

  *n = 0;
  for (FlamId i = 0; i < rows->n; i++)
    if (rows->freed_at[i] != FLAM_NEVER)
      order[(*n)++] = i;
  g_qsort_with_data (
      order, *n, sizeof *order, compare_ids_by_death, (gpointer)rows->freed_at);
  return order;
}

static gint64
find_peak_time (const FlamAllocations *rows, gint64 from, gint64 to)
{
  guint32 n_deaths;
  g_autofree FlamId *deaths = rows_by_death (rows, &n_deaths);
  guint32 born = 0;
  guint32 dead = 0;
  gint64 live = 0;
  gint64 best = -1;
  gint64 best_time = -1;

  while (born < rows->n || dead < n_deaths)
    {
      gint64 birth = born < rows->n ? rows->time[born] : FLAM_NEVER;
      gint64 death =
          dead < n_deaths ? rows->freed_at[deaths[dead]] : FLAM_NEVER;
      gint64 now = MIN (birth, death);

      if (now >= to)
        break;
      /* What was live when the range began counts as its first moment. */
      if (now > from && live > best && best_time < 0 && from > G_MININT64)
        {
          best = live;
          best_time = from;
        }
      for (; born < rows->n && rows->time[born] == now; born++)
        live += rows->size[born] * rows->count[born];
      for (; dead < n_deaths && rows->freed_at[deaths[dead]] == now; dead++)
        live -= rows->size[deaths[dead]] * rows->count[deaths[dead]];
      if (now >= from && live > best)
        {
          best = live;
          best_time = now;
        }
    }
  if (best_time < 0 && from > G_MININT64)
    best_time = from;
  return best_time;
}

/* How many of the row's blocks count, for this measure in this range. */
static gint64
blocks_counted (const Sum *sum, FlamId i, gint64 peak_time, gboolean exact_peak)
{
  const FlamAllocations *rows = &sum->profile->allocations;
  const FlamSelection *selection = sum->selection;
  gboolean born_in =
      rows->time[i] >= selection->from && rows->time[i] < selection->to;

  switch (sum->measure->source)
    {
    case FLAM_FROM_ALLOCATED:
    case FLAM_FROM_ALLOCATIONS:
      return born_in ? rows->count[i] : 0;
    case FLAM_FROM_LEAKED:
    case FLAM_FROM_LEAKED_BLOCKS:
      return born_in && rows->freed_at[i] >= selection->to ? rows->count[i] : 0;
    case FLAM_FROM_TEMPORARY:
    case FLAM_FROM_TEMPORARY_BYTES:
      return born_in && rows->distance[i] <= selection->temporary_distance
                 ? rows->count[i]
                 : 0;
    case FLAM_FROM_PEAK:
    case FLAM_FROM_PEAK_BLOCKS:
      if (exact_peak)
        return rows->at_peak[i];
      return rows->time[i] <= peak_time && peak_time < rows->freed_at[i]
                 ? rows->count[i]
                 : 0;
    case FLAM_FROM_SAMPLES:
      break;
    }
  g_assert_not_reached ();
}

static gboolean
in_bytes (FlamMeasureSource source)
{
  return source == FLAM_FROM_ALLOCATED || source == FLAM_FROM_LEAKED ||
         source == FLAM_FROM_PEAK || source == FLAM_FROM_TEMPORARY_BYTES;
}

static gboolean
sum_allocations (Sum *sum, const FlamProgress *progress, GError **error)
{
  const FlamAllocations *rows = &sum->profile->allocations;
  const FlamSelection *selection = sum->selection;
  FlamMeasureSource source = sum->measure->source;
  gboolean peak = source == FLAM_FROM_PEAK || source == FLAM_FROM_PEAK_BLOCKS;
  gboolean whole = selection->from == G_MININT64 && selection->to == G_MAXINT64;
  gboolean exact_peak = whole && rows->at_peak != NULL;
  gint64 peak_time = -1;

  if (peak && !exact_peak && rows->n > 0)
    peak_time = find_peak_time (rows, selection->from, selection->to);
  for (FlamId i = 0; i < rows->n; i++)
    {
      gint64 blocks;

      if (i % STEP_ROWS == 0 &&
          !flam_progress_step (progress, (double)i / rows->n, error))
        return FALSE;
      if (selection->threads != NULL &&
          !flam_selection_has_thread (selection, rows->thread[i]))
        continue;
      blocks = blocks_counted (sum, i, peak_time, exact_peak);
      add (sum,
           rows->thread[i],
           rows->stack[i],
           FLAM_STATE_RUNNING,
           in_bytes (source) ? blocks * rows->size[i] : blocks);
    }
  return TRUE;
}

/* --- the three questions ------------------------------------------------- */

static gboolean
sum_up (Sum *sum, const FlamProgress *progress, GError **error)
{
  if (sum->measure == NULL)
    return TRUE;
  return sum->measure->source == FLAM_FROM_SAMPLES
             ? sum_samples (sum, progress, error)
             : sum_allocations (sum, progress, error);
}

static Sum
sum_of (const FlamProfile *profile, const FlamSelection *selection)
{
  Sum sum = { profile, selection };

  if (selection->measure < profile->n_measures)
    sum.measure = &profile->measures[selection->measure];
  return sum;
}

static int
compare_thread_weights (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamThreadWeight *x = a;
  const FlamThreadWeight *y = b;

  if (x->thread != y->thread)
    return x->thread < y->thread ? -1 : 1;
  if (x->stack != y->stack)
    return x->stack < y->stack ? -1 : 1;
  return (x->state > y->state) - (x->state < y->state);
}

static void
merge_thread_weights (GArray *rows)
{
  FlamThreadWeight *row = (FlamThreadWeight *)(void *)rows->data;
  guint kept = 0;

  if (rows->len == 0)
    return;
  g_qsort_with_data (row, rows->len, sizeof *row, compare_thread_weights, NULL);
  for (guint i = 1; i < rows->len; i++)
    if (compare_thread_weights (&row[kept], &row[i], NULL) == 0)
      row[kept].weight += row[i].weight;
    else
      row[++kept] = row[i];
  g_array_set_size (rows, kept + 1);
}

FlamWeights *
flam_weights_new (const FlamProfile *profile,
                  const FlamSelection *selection,
                  const FlamProgress *progress,
                  GError **error)
{
  g_autoptr (FlamWeights) weights = g_new0 (FlamWeights, 1);
  Sum sum = sum_of (profile, selection);

  weights->profile = flam_profile_ref (profile);
  weights->weight = g_new0 (gint64, profile->stacks.n + 1);
  if (profile->samples.state != NULL && sum.measure != NULL &&
      sum.measure->source == FLAM_FROM_SAMPLES)
    weights->split = g_new0 (FlamStateSplit, profile->stacks.n + 1);
  if (selection->by == FLAM_BY_THREAD)
    weights->by_thread = g_array_new (FALSE, FALSE, sizeof (FlamThreadWeight));
  sum.weights = weights;
  if (!sum_up (&sum, progress, error))
    return NULL;
  weights->total = sum.total;
  if (weights->by_thread != NULL)
    merge_thread_weights (weights->by_thread);
  return g_steal_pointer (&weights);
}

void
flam_weights_free (FlamWeights *weights)
{
  g_clear_pointer (&weights->profile, flam_profile_unref);
  g_clear_pointer (&weights->by_thread, g_array_unref);
  g_free (weights->split);
  g_free (weights->weight);
  g_free (weights);
}

gint64
flam_weights_total (const FlamProfile *profile, const FlamSelection *selection)
{
  Sum sum = sum_of (profile, selection);

  sum_up (&sum, NULL, NULL);
  return sum.total;
}

gint64 *
flam_weights_by_thread (const FlamProfile *profile,
                        const FlamSelection *selection)
{
  g_autoptr (FlamSelection) all = flam_selection_copy (selection);
  Sum sum = sum_of (profile, all);

  flam_selection_all_threads (all);
  sum.by_thread = g_new0 (gint64, profile->threads.n + 1);
  sum_up (&sum, NULL, NULL);
  return sum.by_thread;
}

FlamStateSplit
flam_weights_by_state (const FlamProfile *profile,
                       const FlamSelection *selection)
{
  g_autoptr (FlamSelection) all = flam_selection_copy (selection);
  FlamStateSplit split = { { 0 } };
  Sum sum = sum_of (profile, all);

  all->states = FLAM_STATES_ALL;
  sum.by_state = &split;
  sum_up (&sum, NULL, NULL);
  return split;
}
