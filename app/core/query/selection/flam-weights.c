/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-weights.h"

#include "flam-allocation-filter.h"
#include "flam-cores.h"
#include "flam-sample-filter.h"
#include "flam-shown.h"

#define STEP_ROWS (1 << 16)
#define AHEAD 32   /* samples: prefetch distance of their sums */
#define AT_ONCE 64 /* slices: summed before progress is reported */
#define WORTH 4    /* samples for each sum, if cores have sums of their own */

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  const FlamMeasure *measure;
  const FlamProfile *before; /* NULL, or: its samples are not summed again */
  FlamWeights *weights;      /* NULL: only the sums are computed */
  gint64 *by_thread;         /* NULL, or one sum per thread */
  FlamStateSplit *by_state;  /* NULL, or one sum per state */
  const FlamShown *shown;    /* if the selection drops stacks */
  FlamShown own_shown;
  gboolean drops;
  gboolean drops_late; /* stacks are dropped after all samples are summed */
  FlamSampleFilter filter;
  FlamId *values;  /* by label: the value of each set; otherwise NULL */
  gint64 from, to; /* ns: the range, as it applies to the profile */
  gint64 total;
} Sum;

static gboolean
is_in (const Sum *sum, FlamStackId stack)
{
  return !sum->drops || sum->drops_late ||
         flam_shown_of (sum->shown, stack) != FLAM_NONE;
}

/* `top`: the row on top of the functions, if the selection has such rows. */
static void
add (Sum *sum,
     FlamThreadId thread,
     FlamTreeKey top,
     FlamStackId stack,
     FlamState state,
     gint64 weight)
{
  FlamWeights *weights = sum->weights;

  if (!is_in (sum, stack))
    return;
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
  if (weights->by_top != NULL)
    {
      FlamTopWeight row = { top, stack, state, weight };

      g_array_append_val (weights->by_top, row);
    }
}

static void
add_other (Sum *sum, FlamStackId stack, gint64 weight)
{
  if (sum->weights == NULL || sum->weights->other == NULL ||
      !is_in (sum, stack))
    return;
  sum->weights->other_total += weight;
  if (stack != FLAM_NONE)
    sum->weights->other[stack] += weight;
}

static void
add_spread (Sum *sum, FlamId row, gint64 count)
{
  const FlamAllocations *rows = &sum->profile->allocations;
  FlamStackId stack = rows->stack[row];

  if (sum->weights == NULL || sum->weights->spread == NULL ||
      !is_in (sum, stack))
    return;
  flam_spread_add_blocks (
      &sum->weights->spread[MIN (stack, sum->profile->stacks.n)],
      &sum->profile->facts,
      rows->allocator != NULL ? rows->allocator[row] : FLAM_ALLOCATOR_MALLOC,
      rows->size[row],
      count);
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

static gboolean
cuts_spans (const Sum *sum)
{
  return sum->measure->spans && sum->measure->weight != NULL &&
         !sum->selection->count && sum->profile->samples.time != NULL &&
         (sum->from != G_MININT64 || sum->to != G_MAXINT64);
}

/* The part of a span that is in the range. */
static gint64
overlap (const Sum *sum, guint32 i)
{
  gint64 start = sum->profile->samples.time[i];
  gint64 end = start + MIN (sum->measure->weight[i], G_MAXINT64 - start);

  return MAX (MIN (end, sum->to) - MAX (start, sum->from), 0);
}

/* Whether only the stack, the weight and the state of a sample are needed. */
static gboolean
is_plain (const Sum *sum)
{
  guint wanted = sum->profile->samples.state != NULL ? FLAM_STATES_ALL
                                                     : 1u << FLAM_STATE_RUNNING;

  return (sum->weights != NULL
              ? sum->weights->by_top == NULL && (!sum->drops || sum->drops_late)
              : sum->by_state == NULL) &&
         sum->filter.event == FLAM_NONE && sum->filter.sets == NULL &&
         !cuts_spans (sum) && (sum->selection->states & wanted) == wanted;
}

/* Selected samples of one thread. */
typedef struct
{
  FlamThreadId thread;
  guint32 i, end;
  gint64 total;
} Slice;

/* sum_slice() for this case. The weight of "no stack" is the last value until
 * finish_weights() moves it. */
static void
sum_plain_slice (const Sum *sum,
                 const Slice *slice,
                 gint64 *to,
                 FlamStateSplit *split)
{
  const FlamSamples *samples = &sum->profile->samples;
  const FlamStackId *stacks = samples->stack;
  const gint64 *weight = sum->selection->count ? NULL : sum->measure->weight;
  gint64 one = sum->selection->count ? sum->measure->denominator : 1;
  guint32 n = sum->profile->stacks.n;

  for (guint32 i = slice->i; i < slice->end; i++)
    {
      guint32 stack = MIN (stacks[i], n);
      gint64 value = weight != NULL ? weight[i] : one;

      __builtin_prefetch (&to[MIN (stacks[MIN (i + AHEAD, slice->end - 1)], n)],
                          1);
      to[stack] += value;
      if (split != NULL)
        split[stack].weight[samples->state[i]] += value;
    }
}

/* The same without weights: one sum of all of them. */
static void
sum_plain_total (const Sum *sum, Slice *slice)
{
  const FlamSamples *samples = &sum->profile->samples;
  const gint64 *weight = sum->selection->count ? NULL : sum->measure->weight;
  gint64 one = sum->selection->count ? sum->measure->denominator : 1;
  gint64 total = 0;

  if (!sum->drops && weight == NULL)
    total = (slice->end - slice->i) * one;
  else
    for (guint32 i = slice->i; i < slice->end; i++)
      if (is_in (sum, samples->stack[i]))
        total += weight != NULL ? weight[i] : one;
  slice->total = total;
}

/* Slices that several cores sum, each into sums of its own. */
typedef struct
{
  Sum *sum;
  Slice *slices;
  guint n;
  guint cores;
  gint64 **to;
  FlamStateSplit **split;
} Summing;

/* The slices of a core. */
static void
sum_share (gpointer data, guint core)
{
  const Summing *summing = data;
  guint from = summing->n * core / summing->cores;
  guint end = summing->n * (core + 1) / summing->cores;

  for (guint i = from; i < end; i++)
    if (summing->sum->weights != NULL)
      sum_plain_slice (summing->sum,
                       &summing->slices[i],
                       summing->to[core],
                       summing->split[core]);
    else
      sum_plain_total (summing->sum, &summing->slices[i]);
}

/* Adds the sums of all cores to the first one's. */
static void
add_share (gpointer data, guint part)
{
  const Summing *summing = data;
  guint32 n = summing->sum->profile->stacks.n + 1;
  guint32 from = (guint32)((guint64)n * part / summing->cores);
  guint32 end = (guint32)((guint64)n * (part + 1) / summing->cores);

  for (guint core = 1; core < summing->cores; core++)
    for (guint32 s = from; s < end; s++)
      {
        summing->to[0][s] += summing->to[core][s];
        for (guint i = 0; summing->split[0] != NULL && i < FLAM_N_STATES; i++)
          summing->split[0][s].weight[i] += summing->split[core][s].weight[i];
      }
}

static gboolean
sum_at_once (Summing *summing,
             GArray *slices,
             const FlamProgress *progress,
             GError **error)
{
  for (guint i = 0; i < slices->len; i += summing->n)
    {
      summing->slices = &g_array_index (slices, Slice, i);
      summing->n = MIN (AT_ONCE, slices->len - i);
      if (!flam_progress_step (progress, (double)i / slices->len, error))
        return FALSE;
      flam_cores_run (summing->cores, sum_share, summing);
    }
  return TRUE;
}

static gboolean
sum_plain (Sum *sum,
           GArray *slices,
           guint64 rows,
           const FlamProgress *progress,
           GError **error)
{
  gint64 *to[FLAM_CORES_MAX] = { NULL };
  FlamStateSplit *split[FLAM_CORES_MAX] = { NULL };
  Summing summing = { .sum = sum, .to = to, .split = split };
  guint32 n = sum->profile->stacks.n + 1;
  gboolean good;

  summing.cores = flam_cores_for (rows);
  if (sum->weights != NULL)
    {
      summing.cores = (guint)CLAMP (rows / n / WORTH + 1, 1, summing.cores);
      to[0] = sum->weights->weight;
      split[0] = sum->weights->split;
    }
  for (guint core = 1; core < summing.cores && sum->weights != NULL; core++)
    {
      to[core] = flam_new_cells0 (gint64, n);
      if (split[0] != NULL)
        split[core] = flam_new_cells0 (FlamStateSplit, n);
    }
  good = sum_at_once (&summing, slices, progress, error);
  if (good && sum->weights != NULL && summing.cores > 1)
    flam_cores_run (summing.cores, add_share, &summing);
  for (guint core = 1; core < summing.cores; core++)
    {
      flam_cells_drop (to[core]);
      flam_cells_drop (split[core]);
    }
  for (guint i = 0; i < slices->len && sum->weights == NULL; i++)
    {
      const Slice *slice = &g_array_index (slices, Slice, i);

      sum->total += slice->total;
      if (sum->by_thread != NULL)
        sum->by_thread[slice->thread] += slice->total;
    }
  return good;
}

/* The row on top of the functions; `value`: the label's value. */
static FlamTreeKey
top_of (const Sum *sum, FlamThreadId thread, FlamId value)
{
  if (sum->selection->by == FLAM_BY_LABEL)
    return (FlamTreeKey){ value };
  if (sum->selection->by == FLAM_BY_PROCESS && thread != FLAM_NONE)
    return (FlamTreeKey){ sum->profile->threads.process[thread] };
  return (FlamTreeKey){ thread };
}

static void
sum_slice (Sum *sum, const Slice *slice)
{
  const FlamSamples *samples = &sum->profile->samples;
  const gint64 *weight = sum->selection->count ? NULL : sum->measure->weight;
  gint64 one = sum->selection->count ? sum->measure->denominator : 1;
  gboolean cuts = cuts_spans (sum);
  guint32 n_sets = sum->filter.n_sets;

  for (guint32 i = slice->i; i < slice->end; i++)
    {
      FlamState state =
          samples->state != NULL ? samples->state[i] : FLAM_STATE_RUNNING;

      if (flam_sample_filter_has (&sum->filter, i))
        add (sum,
             slice->thread,
             top_of (
                 sum,
                 slice->thread,
                 sum->values != NULL
                     ? sum->values[flam_sample_label_set (samples, n_sets, i)]
                     : FLAM_NONE),
             samples->stack[i],
             state,
             cuts     ? overlap (sum, i)
             : weight ? weight[i]
                      : one);
    }
}

/* The selected samples of each thread, STEP_ROWS at most in a slice. */
static GArray *
find_slices (const Sum *sum, guint64 *rows)
{
  const FlamProfile *profile = sum->profile;
  const gint64 *times = profile->samples.time;
  GArray *slices = g_array_new (FALSE, FALSE, sizeof (Slice));

  for (FlamId t = 0; t < profile->threads.n; t++)
    {
      guint32 i = profile->threads.first_sample[t];
      guint32 end = i + profile->threads.n_samples[t];

      if (!flam_selection_has_thread (sum->selection, t))
        continue;
      if (sum->before != NULL && t < sum->before->threads.n)
        i += sum->before->threads.n_samples[t];
      if (times != NULL && sum->from != G_MININT64 && !cuts_spans (sum))
        i = lower_bound (times, i, end, sum->from);
      if (times != NULL && sum->to != G_MAXINT64)
        end = lower_bound (times, i, end, sum->to);
      for (; i < end; i += MIN (STEP_ROWS, end - i))
        {
          Slice slice = { t, i, i + MIN (STEP_ROWS, end - i), 0 };

          g_array_append_val (slices, slice);
          *rows += slice.end - i;
        }
    }
  return slices;
}

static gboolean
sum_samples (Sum *sum, const FlamProgress *progress, GError **error)
{
  guint64 rows = 0;
  g_autoptr (GArray) slices = find_slices (sum, &rows);

  if (is_plain (sum))
    return sum_plain (sum, slices, rows, progress, error);
  for (guint i = 0; i < slices->len; i++)
    {
      sum_slice (sum, &g_array_index (slices, Slice, i));
      if (!flam_progress_step (progress, (double)i / slices->len, error))
        return FALSE;
    }
  return TRUE;
}

/* --- allocations --------------------------------------------------------- */

static gboolean
sum_allocations (Sum *sum, const FlamProgress *progress, GError **error)
{
  const FlamAllocations *rows = &sum->profile->allocations;
  FlamMeasureSource source = sum->measure->source;
  gboolean bytes = flam_allocation_filter_source_is_bytes (source);
  g_auto (FlamAllocationFilter) filter = { 0 };

  flam_allocation_filter_init (&filter, sum->profile, sum->selection, source);
  for (FlamId i = 0; i < rows->n; i++)
    {
      gint64 count = flam_allocation_filter_count (&filter, i);
      gint64 size = count * rows->size[i];

      if (i % STEP_ROWS == 0 &&
          !flam_progress_step (progress, (double)i / rows->n, error))
        return FALSE;
      if (count == 0)
        continue;
      add (sum,
           rows->thread[i],
           top_of (sum, rows->thread[i], FLAM_NONE),
           rows->stack[i],
           FLAM_STATE_RUNNING,
           bytes ? size : count);
      add_other (sum, rows->stack[i], bytes ? count : size);
      add_spread (sum, i, count);
    }
  return TRUE;
}

static int
compare_top_weights (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamTopWeight *x = a;
  const FlamTopWeight *y = b;

  if (x->top.row != y->top.row)
    return x->top.row < y->top.row ? -1 : 1;
  if (x->stack != y->stack)
    return x->stack < y->stack ? -1 : 1;
  return (x->state > y->state) - (x->state < y->state);
}

static void
merge_top_weights (GArray *rows)
{
  FlamTopWeight *row = (FlamTopWeight *)(void *)rows->data;
  guint kept = 0;

  if (rows->len == 0)
    return;
  g_qsort_with_data (row, rows->len, sizeof *row, compare_top_weights, NULL);
  for (guint i = 1; i < rows->len; i++)
    if (compare_top_weights (&row[kept], &row[i], NULL) == 0)
      row[kept].weight += row[i].weight;
    else
      row[++kept] = row[i];
  g_array_set_size (rows, kept + 1);
}

/* --- stacks -------------------------------------------------------------- */

static void
sums_clear (gpointer data)
{
  FlamSampleSums *sums = data;

  flam_cells_drop (sums->weight);
  flam_cells_drop (sums->split);
}

/* The sums as weights of the shown stacks; NULL: all stacks are shown. */
static void
take_sums (FlamWeights *weights, const FlamShown *shown)
{
  const FlamSampleSums *sums = weights->sums;
  guint32 n = weights->profile->stacks.n;

  weights->weight = sums->weight;
  weights->split = sums->split;
  weights->no_stack = sums->no_stack;
  if (shown == NULL)
    return;
  weights->weight = flam_shown_take (shown, n, sums->weight, sizeof (gint64));
  if (sums->split != NULL)
    weights->split =
        flam_shown_take (shown, n, sums->split, sizeof (FlamStateSplit));
  if (shown->no_stack == FLAM_NONE)
    weights->no_stack = 0;
}

static void
sum_total (FlamWeights *weights)
{
  weights->total = weights->no_stack;
  for (FlamId s = 0; s < weights->profile->stacks.n; s++)
    weights->total += weights->weight[s];
}

/* The weights are complete: for samples they are the sums to filter. */
static void
finish_weights (Sum *sum)
{
  FlamWeights *weights = sum->weights;
  guint32 n = sum->profile->stacks.n;

  weights->no_stack += weights->weight[n];
  weights->weight[n] = 0;
  if (weights->by_top != NULL)
    merge_top_weights (weights->by_top);
  else if (sum->measure != NULL && sum->measure->source == FLAM_FROM_SAMPLES)
    {
      weights->sums = g_atomic_rc_box_new (FlamSampleSums);
      *weights->sums = (FlamSampleSums){ weights->weight,
                                         weights->no_stack,
                                         weights->split };
      take_sums (weights, sum->shown);
    }
  sum_total (weights);
}

/* --- the three questions ------------------------------------------------- */

static void
sum_clear (Sum *sum)
{
  flam_shown_clear (&sum->own_shown);
  flam_sample_filter_clear (&sum->filter);
  g_clear_pointer (&sum->values, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sum, sum_clear)

static gboolean
sum_up (Sum *sum, const FlamProgress *progress, GError **error)
{
  if (sum->measure == NULL)
    return TRUE;
  flam_selection_get_range (sum->selection, sum->profile, &sum->from, &sum->to);
  sum->drops = flam_selection_drops_stacks (sum->selection);
  sum->drops_late = sum->weights != NULL && sum->weights->by_top == NULL &&
                    sum->measure->source == FLAM_FROM_SAMPLES;
  if (sum->drops && sum->shown == NULL)
    {
      if (!flam_shown_init (
              &sum->own_shown, sum->profile, sum->selection, progress, error))
        return FALSE;
      sum->shown = &sum->own_shown;
    }
  flam_sample_filter_init (
      &sum->filter, sum->profile, sum->selection, sum->measure->event);
  if (sum->weights != NULL && sum->selection->by == FLAM_BY_LABEL)
    sum->values =
        flam_sample_labels_values (sum->profile, sum->selection->by_label);
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

FlamWeights *
flam_weights_new (const FlamProfile *profile,
                  const FlamSelection *selection,
                  const FlamProgress *progress,
                  GError **error)
{
  g_autoptr (FlamWeights) weights = g_new0 (FlamWeights, 1);
  g_auto (Sum) sum = sum_of (profile, selection);

  weights->profile = flam_profile_ref (profile);
  weights->weight = flam_new_cells0 (gint64, profile->stacks.n + 1);
  if (profile->samples.state != NULL && sum.measure != NULL &&
      sum.measure->source == FLAM_FROM_SAMPLES)
    weights->split = flam_new_cells0 (FlamStateSplit, profile->stacks.n + 1);
  if (sum.measure != NULL && sum.measure->source != FLAM_FROM_SAMPLES &&
      flam_profile_find_source (
          profile, flam_allocation_filter_other_source (sum.measure->source)) >=
          0)
    weights->other = g_new0 (gint64, profile->stacks.n + 1);
  if (sum.measure != NULL && sum.measure->source != FLAM_FROM_SAMPLES &&
      profile->facts.sample_bytes > 0)
    weights->spread = g_new0 (FlamSpread, profile->stacks.n + 1);
  if (flam_by_has_tops (selection->by))
    weights->by_top = g_array_new (FALSE, FALSE, sizeof (FlamTopWeight));
  sum.weights = weights;
  if (!sum_up (&sum, progress, error))
    return NULL;
  finish_weights (&sum);
  return g_steal_pointer (&weights);
}

FlamWeights *
flam_weights_new_shown (const FlamWeights *before,
                        const FlamSelection *selected,
                        const FlamProfile *profile,
                        const FlamSelection *selection,
                        const FlamShown *shown)
{
  FlamWeights *weights;

  if (before->sums == NULL || before->profile != profile ||
      flam_by_has_tops (selection->by) ||
      !flam_selection_has_same_samples (selected, selection, FALSE))
    return NULL;
  weights = g_new0 (FlamWeights, 1);
  weights->profile = flam_profile_ref (profile);
  weights->sums = g_atomic_rc_box_acquire (before->sums);
  take_sums (weights, shown);
  sum_total (weights);
  return weights;
}

gboolean
flam_weights_go_on (const FlamProfile *before,
                    const FlamSelection *selected,
                    const FlamProfile *profile,
                    const FlamSelection *selection)
{
  guint m = selection->measure;
  gint64 range[2], old_range[2];

  if (!flam_profile_extends (profile, before) ||
      !flam_selection_equal (selected, selection) ||
      before->n_measures != profile->n_measures || m >= profile->n_measures)
    return FALSE;
  flam_selection_get_range (selected, before, &old_range[0], &old_range[1]);
  flam_selection_get_range (selection, profile, &range[0], &range[1]);
  return range[0] == old_range[0] && range[1] == old_range[1] &&
         profile->measures[m].source == FLAM_FROM_SAMPLES &&
         profile->measures[m].id == before->measures[m].id &&
         (profile->measures[m].weight == NULL) ==
             (before->measures[m].weight == NULL) &&
         (profile->samples.state == NULL) == (before->samples.state == NULL);
}

FlamWeights *
flam_weights_new_since (const FlamWeights *before,
                        const FlamProfile *profile,
                        const FlamSelection *selection,
                        const FlamProgress *progress,
                        GError **error)
{
  g_autoptr (FlamWeights) weights = g_new0 (FlamWeights, 1);
  g_auto (Sum) sum = sum_of (profile, selection);
  guint32 had = before->profile->stacks.n, n = profile->stacks.n;
  const FlamSampleSums *sums = before->sums;
  const FlamStateSplit *split = sums != NULL ? sums->split : before->split;

  weights->profile = flam_profile_ref (profile);
  weights->no_stack = sums != NULL ? sums->no_stack : before->no_stack;
  weights->weight = flam_new_cells0 (gint64, n + 1);
  memcpy (weights->weight,
          sums != NULL ? sums->weight : before->weight,
          had * sizeof (gint64));
  if (split != NULL)
    {
      weights->split = flam_new_cells0 (FlamStateSplit, n + 1);
      memcpy (weights->split, split, had * sizeof (FlamStateSplit));
      weights->split[n] = split[had];
    }
  if (before->by_top != NULL)
    weights->by_top = g_array_copy (before->by_top);
  sum.before = before->profile;
  sum.weights = weights;
  if (!sum_up (&sum, progress, error))
    return NULL;
  finish_weights (&sum);
  return g_steal_pointer (&weights);
}

void
flam_weights_free (FlamWeights *weights)
{
  g_clear_pointer (&weights->profile, flam_profile_unref);
  g_clear_pointer (&weights->by_top, g_array_unref);
  if (weights->sums == NULL || weights->split != weights->sums->split)
    flam_cells_drop (weights->split);
  if (weights->sums == NULL || weights->weight != weights->sums->weight)
    flam_cells_drop (weights->weight);
  if (weights->sums != NULL)
    g_atomic_rc_box_release_full (weights->sums, sums_clear);
  g_free (weights->other);
  g_free (weights->spread);
  g_free (weights);
}

FlamFigure
flam_weights_figure (const FlamWeights *weights)
{
  FlamFigure figure = { weights->total,
                        weights->other != NULL ? weights->other_total : -1,
                        { 0 } };

  for (FlamId s = 0; weights->spread != NULL && s <= weights->profile->stacks.n;
       s++)
    flam_spread_add (&figure.spread, &weights->spread[s]);
  return figure;
}

gint64
flam_weights_total (const FlamProfile *profile, const FlamSelection *selection)
{
  g_auto (Sum) sum = sum_of (profile, selection);

  sum_up (&sum, NULL, NULL);
  return sum.total;
}

guint
flam_weights_default_measure (const FlamProfile *profile)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  for (guint i = 0; i < profile->n_measures; i++)
    {
      selection->measure = i;
      if (flam_weights_total (profile, selection) != 0)
        return i;
    }
  return 0;
}

gint64 *
flam_weights_by_thread_since (const FlamProfile *before,
                              const FlamProfile *profile,
                              const FlamSelection *selection,
                              const FlamShown *shown)
{
  g_autoptr (FlamSelection) all = flam_selection_copy (selection);
  g_auto (Sum) sum = sum_of (profile, all);

  sum.before = before;
  sum.shown = shown;
  flam_selection_all_threads (all);
  sum.by_thread = g_new0 (gint64, profile->threads.n + 1);
  sum_up (&sum, NULL, NULL);
  return sum.by_thread;
}

gint64 *
flam_weights_count_samples (const FlamProfile *profile,
                            const FlamSelection *selection)
{
  static const FlamMeasure each = { .source = FLAM_FROM_SAMPLES,
                                    .event = FLAM_NONE,
                                    .denominator = 1 };
  g_autoptr (FlamSelection) all = flam_selection_copy (selection);
  int found = flam_profile_find_count (profile);
  const FlamMeasure *measure = found >= 0 ? &profile->measures[found] : &each;
  g_auto (Sum) sum = { profile, all, measure };
  gint64 *counts;

  all->count = FALSE;
  sum.by_thread = counts = g_new0 (gint64, profile->threads.n + 1);
  sum_up (&sum, NULL, NULL);
  counts[profile->threads.n] = sum.total;
  for (guint32 i = 0; i <= profile->threads.n; i++)
    counts[i] /= measure->denominator;
  return counts;
}

FlamStateSplit
flam_weights_by_state_since (const FlamProfile *before,
                             const FlamProfile *profile,
                             const FlamSelection *selection)
{
  g_autoptr (FlamSelection) all = flam_selection_copy (selection);
  FlamStateSplit split = { { 0 } };
  g_auto (Sum) sum = sum_of (profile, all);

  all->states = FLAM_STATES_ALL;
  sum.before = before;
  sum.by_state = &split;
  sum_up (&sum, NULL, NULL);
  return split;
}
