/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-allocation-filter.h"

#include <string.h>

/* --- kinds --------------------------------------------------------------- */

static guint
kind_bit (const FlamAllocations *rows, FlamId row)
{
  return FLAM_ALLOCATOR_BIT (rows->allocator != NULL ? rows->allocator[row]
                                                     : FLAM_ALLOCATOR_MALLOC);
}

guint
flam_allocation_filter_kinds_present (const FlamProfile *profile)
{
  guint kinds = 0;

  for (FlamId i = 0; i < profile->allocations.n; i++)
    kinds |= kind_bit (&profile->allocations, i);
  return kinds;
}

static guint
default_kinds (const FlamProfile *profile, guint present)
{
  guint heap = present & ~FLAM_ALLOCATORS_PAGES;

  return heap != 0 && !profile->facts.pages_count ? heap : present;
}

guint
flam_allocation_filter_kinds_counted (const FlamProfile *profile,
                                      const FlamSelection *selection)
{
  guint present = flam_allocation_filter_kinds_present (profile);

  return selection->allocators != 0 ? selection->allocators & present
                                    : default_kinds (profile, present);
}

/* --- the peak ------------------------------------------------------------ */

typedef struct
{
  const FlamAllocations *rows;
  guint kinds;
  gboolean in_ticks; /* the peaks of the ticks count only `kinds` */
  GArray *deaths; /* FlamId, of the kinds that count, ascending in freed_at */
} Lives;

static int
compare_ids_by_death (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 *freed_at = data;
  gint64 x = freed_at[*(const FlamId *)a];
  gint64 y = freed_at[*(const FlamId *)b];

  return (x > y) - (x < y);
}

static void
sort_deaths (Lives *lives)
{
  const FlamAllocations *rows = lives->rows;

  lives->deaths = g_array_new (FALSE, FALSE, sizeof (FlamId));
  for (FlamId i = 0; i < rows->n; i++)
    if (rows->freed_at[i] != FLAM_NEVER && lives->kinds & kind_bit (rows, i))
      g_array_append_val (lives->deaths, i);
  g_array_sort_with_data (
      lives->deaths, compare_ids_by_death, (gpointer)rows->freed_at);
}

static gint64
bytes_of (const FlamAllocations *rows, FlamId row)
{
  return rows->size[row] * rows->count[row];
}

/* The difference between the peak and the end of the tick at `now`, for a row
 * allocated or freed in it. */
static gint64
more_of (const FlamAllocations *rows, FlamId row, gint64 now)
{
  return rows->size[row] *
         (rows->time[row] == now ? rows->born_more[row] : rows->died_more[row]);
}

/* The high-water mark: walk allocations (ascending already) and releases
 * (sorted above) together, and compare the sums after each distinct time, and
 * those at the highest moment of each tick, if the capture has them.
 *
 *    live ^        ┌──┐ peak: the first time the sum is greatest
 *         |   ┌────┘  └─┐
 *         └───┴─────────┴──▶ time
 *          new   new  freed
 */
static gint64
find_peak_time (const Lives *lives, gint64 from, gint64 to, gboolean *in_tick)
{
  const FlamAllocations *rows = lives->rows;
  const FlamId *deaths = (const FlamId *)(const void *)lives->deaths->data;
  guint32 n_deaths = lives->deaths->len;
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
      gint64 more = 0;

      if (now >= to)
        break;
      /* The state at the beginning of the range counts as its first moment. */
      if (now > from && live > best && best_time < 0 && from > G_MININT64)
        {
          best = live;
          best_time = from;
          *in_tick = FALSE;
        }
      for (; born < rows->n && rows->time[born] == now; born++)
        if (lives->kinds & kind_bit (rows, born))
          {
            live += bytes_of (rows, born);
            more += more_of (rows, born, now);
          }
      for (; dead < n_deaths && rows->freed_at[deaths[dead]] == now; dead++)
        {
          live -= bytes_of (rows, deaths[dead]);
          if (rows->time[deaths[dead]] != now)
            more += more_of (rows, deaths[dead], now);
        }
      if (!lives->in_ticks)
        more = 0;
      if (now >= from && live + MAX (more, 0) > best)
        {
          best = live + MAX (more, 0);
          best_time = now;
          *in_tick = more > 0;
        }
    }
  if (best_time < 0 && from > G_MININT64)
    best_time = from;
  return best_time;
}

/* Sampled: the peak of the exact count, not of the estimate: the maximum of a
 * noisy curve is too high. -1: not counted. */
static gint64
find_counted_peak (const FlamAllocationFilter *filter,
                   const FlamProfile *profile)
{
  gint64 best = -1;
  gint64 best_time = -1;

  if (profile->facts.sample_bytes == 0 || profile->facts.allocated_bytes == 0)
    return -1;
  for (guint i = 0; i < profile->n_counters; i++)
    {
      const FlamCounter *counter = &profile->counters[i];

      if (strcmp (flam_profile_string (profile, counter->id), "heap") != 0)
        continue;
      for (guint32 k = 0; k < counter->n; k++)
        if (counter->time[k] >= filter->from && counter->time[k] < filter->to &&
            counter->value[k] > best)
          {
            best = counter->value[k];
            best_time = counter->time[k];
          }
    }
  return best_time;
}

static gint64
search_peak_time (FlamAllocationFilter *filter, gboolean in_ticks)
{
  Lives lives = { filter->rows, filter->kinds, in_ticks, NULL };
  gint64 time;

  if (filter->rows->n == 0)
    return -1;
  sort_deaths (&lives);
  time = find_peak_time (&lives, filter->from, filter->to, &filter->in_tick);
  g_array_unref (lives.deaths);
  return time;
}

/* Within one tick of the capture's clock the order of events is not in the
 * times. A recording has the highest moment of each tick (born_more,
 * died_more); other captures at most that of one tick, the high-water mark of
 * all: of other ticks the blocks that are live at their ends count. So no part
 * of a range ever held more than the whole. */
static void
find_peak (FlamAllocationFilter *filter, const FlamProfile *profile)
{
  const FlamAllocations *rows = filter->rows;
  guint present = flam_allocation_filter_kinds_present (profile);
  gboolean own_kinds = filter->kinds == default_kinds (profile, present);
  gint64 counted = -1;

  filter->exact_peak = rows->at_peak != NULL && rows->peak_time >= 0 &&
                       rows->peak_time >= filter->from &&
                       rows->peak_time < filter->to && own_kinds;
  if (filter->exact_peak)
    {
      filter->peak_time = rows->peak_time;
      return;
    }
  if (own_kinds)
    counted = find_counted_peak (filter, profile);
  filter->peak_time =
      counted >= 0 ? counted : search_peak_time (filter, own_kinds);
}

gint64
flam_allocation_filter_peak_time (const FlamProfile *profile,
                                  const FlamSelection *selection)
{
  g_auto (FlamAllocationFilter) blocks = { 0 };

  flam_allocation_filter_init (&blocks, profile, selection, FLAM_FROM_PEAK);
  return blocks.peak_time;
}

/* --- suppressions -------------------------------------------------------- */

static int
match_text (const FlamSuppressions *rules, const char *text)
{
  return flam_suppressions_match (rules, text, strlen (text));
}

static FlamFunctionId
rule_of_function (const FlamProfile *profile,
                  FlamFunctionId function,
                  const FlamSuppressions *rules)
{
  const FlamFunctions *f = &profile->functions;
  FlamModuleId module = f->module[function];
  int rule = -1;

  if (module != FLAM_NONE)
    rule = match_text (
        rules, flam_profile_string (profile, profile->modules.path[module]));
  if (rule < 0)
    rule = match_text (rules, flam_profile_string (profile, f->name[function]));
  if (rule < 0)
    rule = match_text (rules, flam_profile_string (profile, f->file[function]));
  return rule < 0 ? FLAM_NONE : (FlamId)rule;
}

/* A stack is suppressed by the rule of its innermost frame that has one. */
static FlamId *
rules_of_stacks (const FlamProfile *profile, const FlamSuppressions *rules)
{
  const FlamStacks *stacks = &profile->stacks;
  g_autofree FlamId *of_function = g_new (FlamId, profile->functions.n + 1);
  FlamId *of_stack = g_new (FlamId, stacks->n + 1);

  for (FlamId f = 0; f < profile->functions.n; f++)
    of_function[f] = rule_of_function (profile, f, rules);
  for (FlamId s = 0; s < stacks->n; s++)
    {
      of_stack[s] = of_function[profile->frames.function[stacks->frame[s]]];
      if (of_stack[s] == FLAM_NONE && stacks->prefix[s] != FLAM_NONE)
        of_stack[s] = of_stack[stacks->prefix[s]];
    }
  return of_stack;
}

/* --- sources ------------------------------------------------------------- */

gboolean
flam_allocation_filter_source_is_bytes (FlamMeasureSource source)
{
  return source == FLAM_FROM_ALLOCATED || source == FLAM_FROM_LEAKED ||
         source == FLAM_FROM_PEAK || source == FLAM_FROM_TEMPORARY_BYTES ||
         source == FLAM_FROM_PEAK_USEFUL;
}

gboolean
flam_allocation_filter_source_is_peak (FlamMeasureSource source)
{
  return source == FLAM_FROM_PEAK || source == FLAM_FROM_PEAK_BLOCKS ||
         source == FLAM_FROM_PEAK_USEFUL;
}

FlamMeasureSource
flam_allocation_filter_other_source (FlamMeasureSource source)
{
  static const FlamMeasureSource other[] = {
    [FLAM_FROM_SAMPLES] = FLAM_FROM_SAMPLES,
    [FLAM_FROM_ALLOCATED] = FLAM_FROM_ALLOCATIONS,
    [FLAM_FROM_ALLOCATIONS] = FLAM_FROM_ALLOCATED,
    [FLAM_FROM_PEAK] = FLAM_FROM_PEAK_BLOCKS,
    [FLAM_FROM_PEAK_BLOCKS] = FLAM_FROM_PEAK,
    [FLAM_FROM_PEAK_USEFUL] = FLAM_FROM_PEAK_BLOCKS,
    [FLAM_FROM_LEAKED] = FLAM_FROM_LEAKED_BLOCKS,
    [FLAM_FROM_LEAKED_BLOCKS] = FLAM_FROM_LEAKED,
    [FLAM_FROM_TEMPORARY] = FLAM_FROM_TEMPORARY_BYTES,
    [FLAM_FROM_TEMPORARY_BYTES] = FLAM_FROM_TEMPORARY,
  };

  return other[source];
}

/* --- the question -------------------------------------------------------- */

void
flam_allocation_filter_init (FlamAllocationFilter *filter,
                             const FlamProfile *profile,
                             const FlamSelection *selection,
                             FlamMeasureSource source)
{
  *filter = (FlamAllocationFilter){
    .rows = &profile->allocations,
    .selection = selection,
    .source = source,
    .kinds = flam_allocation_filter_kinds_counted (profile, selection),
    .peak_time = -1,
  };
  flam_selection_get_range (selection, profile, &filter->from, &filter->to);
  if (flam_allocation_filter_source_is_peak (source))
    find_peak (filter, profile);
  if (source == FLAM_FROM_PEAK_USEFUL)
    filter->kinds &= ~FLAM_ALLOCATOR_BIT (FLAM_ALLOCATOR_OTHER);
  if ((source == FLAM_FROM_LEAKED || source == FLAM_FROM_LEAKED_BLOCKS) &&
      selection->suppressions != NULL)
    filter->rule = rules_of_stacks (profile, selection->suppressions);
}

void
flam_allocation_filter_clear (FlamAllocationFilter *filter)
{
  g_clear_pointer (&filter->rule, g_free);
}

static gint64
count_at_peak (const FlamAllocationFilter *filter, FlamId row)
{
  const FlamAllocations *rows = filter->rows;
  gint64 peak = filter->peak_time;
  gint64 count = rows->time[row] <= peak && peak < rows->freed_at[row]
                     ? rows->count[row]
                     : 0;

  if (filter->in_tick && rows->time[row] == peak)
    count += rows->born_more[row];
  else if (filter->in_tick && rows->freed_at[row] == peak)
    count += rows->died_more[row];
  return count;
}

gint64
flam_allocation_filter_count_in_time (const FlamAllocationFilter *filter,
                                      FlamId row)
{
  const FlamAllocations *rows = filter->rows;
  gboolean born_in =
      rows->time[row] >= filter->from && rows->time[row] < filter->to;

  switch (filter->source)
    {
    case FLAM_FROM_ALLOCATED:
    case FLAM_FROM_ALLOCATIONS:
      return born_in ? rows->count[row] : 0;
    case FLAM_FROM_LEAKED:
    case FLAM_FROM_LEAKED_BLOCKS:
      return born_in && rows->freed_at[row] >= filter->to ? rows->count[row]
                                                          : 0;
    case FLAM_FROM_TEMPORARY:
    case FLAM_FROM_TEMPORARY_BYTES:
      return born_in && rows->distance[row] <=
                            filter->selection->temporary_distance
                 ? rows->count[row]
                 : 0;
    case FLAM_FROM_PEAK:
    case FLAM_FROM_PEAK_BLOCKS:
    case FLAM_FROM_PEAK_USEFUL:
      return filter->exact_peak ? rows->at_peak[row]
                                : count_at_peak (filter, row);
    case FLAM_FROM_SAMPLES:
      break;
    }
  g_assert_not_reached ();
}

gboolean
flam_allocation_filter_has_kind (const FlamAllocationFilter *filter, FlamId row)
{
  return (filter->kinds & kind_bit (filter->rows, row)) != 0;
}

gboolean
flam_allocation_filter_has_thread (const FlamAllocationFilter *filter,
                                   FlamId row)
{
  /* Allocations have no labels. */
  return filter->selection->labels == NULL &&
         (filter->selection->threads == NULL ||
          flam_selection_has_thread (filter->selection,
                                     filter->rows->thread[row]));
}

FlamId
flam_allocation_filter_rule (const FlamAllocationFilter *filter, FlamId row)
{
  FlamStackId stack = filter->rows->stack[row];

  return filter->rule != NULL && stack != FLAM_NONE ? filter->rule[stack]
                                                    : FLAM_NONE;
}

gint64
flam_allocation_filter_count (const FlamAllocationFilter *filter, FlamId row)
{
  return flam_allocation_filter_has_kind (filter, row) &&
                 flam_allocation_filter_has_thread (filter, row) &&
                 flam_allocation_filter_rule (filter, row) == FLAM_NONE
             ? flam_allocation_filter_count_in_time (filter, row)
             : 0;
}
