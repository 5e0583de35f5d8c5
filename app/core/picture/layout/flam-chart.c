/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-chart.h"

#include "flam-columns.h"
#include "flam-sample-filter.h"
#include "flam-weights.h"

#define STEP_ROWS (1 << 12)
#define MAX_GAPS 1000
#define NEAR 3 /* periods between samples of a running thread */
#define MARK_ROWS 8

typedef struct
{
  guint32 row; /* in its lane */
  FlamChartSpan span;
} Draft;

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  const FlamMeasure *measure;
  gboolean in_order;   /* FLAM_SPANS_ORDER: samples without times */
  const gint64 *calls; /* per sample: of its innermost function; NULL: the
                          capture does not count calls */
  FlamShown shown;
  FlamSampleFilter filter;
  guint32 *depth; /* per shown stack: of its frame */
  gint64 from, to;
  gint64 last;       /* the end of the longest lane, if in_order */
  FlamColumn drafts; /* Draft, of one lane */
  FlamColumn
      open; /* FlamChartSpan: one call per row, with ends not yet known */
  FlamColumn path;  /* FlamId: frames of the next stack, innermost first */
  FlamColumn lanes; /* FlamChartLane */
  FlamColumn row;   /* guint32 */
  FlamColumn spans; /* FlamChartSpan */
} Build;

static void
build_clear (Build *build)
{
  flam_shown_clear (&build->shown);
  flam_sample_filter_clear (&build->filter);
  g_free (build->depth);
  flam_column_clear (&build->drafts);
  flam_column_clear (&build->open);
  flam_column_clear (&build->path);
  flam_column_clear (&build->lanes);
  flam_column_clear (&build->row);
  flam_column_clear (&build->spans);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Build, build_clear)

/* --- lanes ---------------------------------------------------------------- */

static void
add_draft (Build *build, guint32 row, gint64 from, gint64 to, FlamId what)
{
  Draft draft = { row, { MAX (from, build->from), MIN (to, build->to), what } };

  if (draft.span.from < draft.span.to ||
      (from == to && from >= build->from && from < build->to))
    flam_column_append (&build->drafts, Draft, draft);
}

/* Spans come in order of time, and stay so when distributed over the rows. */
static void
finish_lane (Build *build, FlamChartLane lane)
{
  g_autofree guint32 *fill = NULL;
  guint32 first = build->spans.n;

  lane.first_row = build->row.n;
  lane.n_rows = 0;
  for (guint32 i = 0; i < build->drafts.n; i++)
    lane.n_rows =
        MAX (lane.n_rows, flam_column_at (&build->drafts, Draft, i).row + 1);
  fill = g_new0 (guint32, lane.n_rows + 1);
  for (guint32 i = 0; i < build->drafts.n; i++)
    fill[flam_column_at (&build->drafts, Draft, i).row]++;
  for (guint32 r = 0, at = first; r < lane.n_rows; r++)
    {
      guint32 count = fill[r];

      fill[r] = at;
      flam_column_append (&build->row, guint32, at);
      at += count;
    }
  for (guint32 i = 0; i < build->drafts.n; i++)
    flam_column_append (&build->spans, FlamChartSpan, (FlamChartSpan){ 0 });
  for (guint32 i = 0; i < build->drafts.n; i++)
    {
      const Draft *draft = &flam_column_at (&build->drafts, Draft, i);

      flam_column_at (&build->spans, FlamChartSpan, fill[draft->row]++) =
          draft->span;
    }
  flam_column_append (&build->lanes, FlamChartLane, lane);
  build->drafts.n = 0;
}

static void
add_marks (Build *build)
{
  const FlamMarks *marks = &build->profile->marks;
  gint64 end[MARK_ROWS];
  FlamChartLane lane = { FLAM_LANE_MARKS, FLAM_NONE };

  for (guint r = 0; r < MARK_ROWS; r++)
    end[r] = G_MININT64;
  for (FlamId i = 0; i < marks->n; i++)
    {
      guint32 row = 0;

      while (row + 1 < MARK_ROWS && end[row] > marks->time[i])
        row++;
      if (end[row] > marks->time[i])
        continue;
      end[row] = marks->time[i] + marks->duration[i];
      add_draft (build, row, marks->time[i], end[row], i);
    }
  if (build->drafts.n > 0)
    finish_lane (build, lane);
}

static void
add_counters (Build *build)
{
  for (guint i = 0; i < build->profile->n_counters; i++)
    if (build->profile->counters[i].n > 0)
      finish_lane (build, (FlamChartLane){ FLAM_LANE_COUNTER, i });
}

/* --- calls ---------------------------------------------------------------- */

static gboolean
is_same (const Build *build, FlamId a, FlamId b)
{
  FlamBy by = flam_by_has_tops (build->selection->by) ? FLAM_BY_FUNCTION
                                                      : build->selection->by;
  FlamShownKey x, y;

  if (a == b)
    return TRUE;
  x = flam_shown_key (build->profile, by, a);
  y = flam_shown_key (build->profile, by, b);
  return flam_shown_key_equal (&x, &y);
}

/* Ends the calls at this depth and deeper. */
static void
close_calls (Build *build, guint32 depth, gint64 time, guint32 first_row)
{
  for (guint32 i = build->open.n; i-- > depth;)
    {
      FlamChartSpan *span = &flam_column_at (&build->open, FlamChartSpan, i);

      add_draft (build, first_row + i, span->from, time, span->what);
    }
  build->open.n = MIN (build->open.n, depth);
}

/* The number of frames that two stacks have in common; the remaining frames of
 * `b` are put into the path. */
static guint32
common_depth (Build *build, FlamId a, FlamId b)
{
  const FlamShown *shown = &build->shown;
  guint32 n = shown->n;

  build->path.n = 0;
  while (a != b)
    if (b < n && (a >= n || build->depth[b] >= build->depth[a]))
      {
        flam_column_append (&build->path, FlamId, shown->frame[b]);
        b = shown->prefix[b];
      }
    else
      a = shown->prefix[a];
  return b < n ? build->depth[b] + 1 : 0;
}

/* Goes from one stack to the next, with or without a gap in time. `called`: its
 * innermost function is called, even if it is open. */
static void
turn (Build *build,
      FlamId before,
      FlamStackId stack,
      gboolean called,
      gint64 ended,
      gint64 begins,
      guint32 first_row)
{
  guint32 common = common_depth (build, before, stack);

  if (before == FLAM_NONE)
    common = 0;
  while (build->path.n > 0 && common < build->open.n &&
         is_same (build,
                  flam_column_at (&build->open, FlamChartSpan, common).what,
                  flam_column_at (&build->path, FlamId, build->path.n - 1)))
    {
      common++;
      build->path.n--;
    }
  if (called && build->path.n == 0 && stack != FLAM_NONE && common > 0)
    {
      FlamFrameId frame = build->shown.frame[stack];

      common--;
      flam_column_append (&build->path, FlamId, frame);
    }
  close_calls (build, common, ended, first_row);
  while (build->path.n > 0)
    {
      FlamChartSpan span = {
        begins,
        0,
        flam_column_at (&build->path, FlamId, --build->path.n),
      };

      flam_column_append (&build->open, FlamChartSpan, span);
    }
}

static int
ascending (gconstpointer a, gconstpointer b)
{
  const gint64 *x = a;
  const gint64 *y = b;

  return (*x > *y) - (*x < *y);
}

/* The median time between a thread's samples. */
static gint64
period_of (const Build *build, FlamThreadId thread)
{
  const FlamThreads *threads = &build->profile->threads;
  const gint64 *time = build->profile->samples.time;
  guint32 first = threads->first_sample[thread];
  guint32 n = threads->n_samples[thread];
  guint32 step = n / MAX_GAPS + 1;
  g_autoptr (GArray) gaps = g_array_new (FALSE, FALSE, sizeof (gint64));

  if (build->in_order)
    return 1;
  for (guint32 i = 1; i < n; i += step)
    {
      gint64 gap = time[first + i] - time[first + i - 1];

      if (gap > 0)
        g_array_append_val (gaps, gap);
    }
  if (gaps->len == 0)
    return 1;
  g_array_sort (gaps, ascending);
  return g_array_index (gaps, gint64, gaps->len / 2);
}

/* The time that a sample represents. */
static void
extent_of (const Build *build,
           guint32 i,
           gint64 before,
           gint64 period,
           gint64 *from,
           gint64 *to)
{
  const FlamMeasure *measure = build->measure;
  gint64 time, weight = 0;

  if (build->in_order)
    {
      weight = measure->weight != NULL ? MAX (measure->weight[i], 0) : 1;
      *from = MAX (before, 0);
      *to = weight > G_MAXINT64 - *from ? G_MAXINT64 : *from + weight;
      return;
    }
  time = build->profile->samples.time[i];
  if (measure->weight != NULL && measure->unit == FLAM_UNIT_NS &&
      measure->denominator == 1)
    weight = MAX (measure->weight[i], 0);
  *from = *to = time;
  if (measure->spans)
    *to = weight > G_MAXINT64 - time ? G_MAXINT64 : time + weight;
  else if (before != G_MININT64 &&
           ((time - before) / NEAR <= period || weight >= (time - before) / 2))
    *from = before;
  else
    *from = MAX (time - MIN (MAX (weight, period), time), before);
}

static void
add_states (Build *build, FlamThreadId thread, gint64 period)
{
  const FlamThreads *threads = &build->profile->threads;
  guint32 first = threads->first_sample[thread];
  FlamChartSpan run = { 0, G_MININT64, FLAM_NONE };
  gint64 before = G_MININT64;

  for (guint32 i = first; i < first + threads->n_samples[thread]; i++)
    {
      FlamId state = build->profile->samples.state[i];
      gint64 from, to;

      if (!flam_sample_filter_has (&build->filter, i))
        continue;
      extent_of (build, i, before, period, &from, &to);
      before = to;
      if (run.what == state && from <= run.to)
        run.to = to;
      else
        {
          if (run.what != FLAM_NONE)
            add_draft (build, 0, run.from, run.to, run.what);
          run = (FlamChartSpan){ from, to, state };
        }
    }
  if (run.what != FLAM_NONE)
    add_draft (build, 0, run.from, run.to, run.what);
}

/* Whether a sample begins another call of its innermost function. If the
 * capture counts calls: whether it counts one, of a shown function. Otherwise:
 * whether the stack is the same as before. */
static gboolean
is_called (const Build *build, guint32 i, gboolean same)
{
  const FlamProfile *profile = build->profile;
  FlamStackId stack = profile->samples.stack[i];
  FlamStackId prefix;

  if (build->calls == NULL || stack == FLAM_NONE)
    return same;
  prefix = profile->stacks.prefix[stack];
  return build->calls[i] > 0 &&
         (prefix == FLAM_NONE || flam_shown_of (&build->shown, stack) !=
                                     flam_shown_of (&build->shown, prefix));
}

/* The column of calls beside that of spans. */
static const gint64 *
find_calls (const FlamProfile *profile, const FlamMeasure *spans)
{
  int calls = flam_profile_find_measure (profile, "calls");

  if (spans->spans != FLAM_SPANS_CALLS || calls < 0 ||
      profile->measures[calls].source != FLAM_FROM_SAMPLES ||
      profile->measures[calls].event != spans->event)
    return NULL;
  return profile->measures[calls].weight;
}

static gboolean
add_thread (Build *build,
            FlamThreadId thread,
            gint64 weight,
            const FlamProgress *progress,
            GError **error)
{
  const FlamProfile *profile = build->profile;
  const FlamSamples *samples = &profile->samples;
  guint32 first = profile->threads.first_sample[thread];
  guint32 end = first + profile->threads.n_samples[thread];
  gint64 period = period_of (build, thread);
  FlamChartLane lane = { FLAM_LANE_THREAD, thread, samples->state != NULL };
  gint64 ended = G_MININT64;
  FlamId before = FLAM_NONE;

  lane.weight = weight;
  if (lane.is_states)
    add_states (build, thread, period);
  for (guint32 i = first; i < end; i++)
    {
      FlamStackId stack;
      gint64 from, to;

      if ((i - first) % STEP_ROWS == 0 &&
          !flam_progress_step (progress, (double)i / samples->n, error))
        return FALSE;
      if (!flam_sample_filter_has (&build->filter, i))
        continue;
      extent_of (build, i, ended, period, &from, &to);
      stack = flam_shown_of (&build->shown, samples->stack[i]);
      if (stack >= build->shown.n)
        stack = FLAM_NONE;
      if (from > ended)
        {
          turn (build, before, FLAM_NONE, FALSE, ended, ended, lane.is_states);
          before = FLAM_NONE;
        }
      if (stack != before || build->measure->spans == FLAM_SPANS_CALLS)
        turn (build,
              before,
              stack,
              is_called (build, i, before == stack),
              from,
              from,
              lane.is_states);
      before = stack;
      ended = MAX (to, ended);
    }
  close_calls (build, 0, ended, lane.is_states);
  build->last = MAX (build->last, ended);
  finish_lane (build, lane);
  return TRUE;
}

typedef struct
{
  FlamThreadId thread;
  gint64 weight;
} ThreadWeight;

static int
heavier_first (gconstpointer a, gconstpointer b)
{
  const ThreadWeight *x = a;
  const ThreadWeight *y = b;

  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return (x->thread > y->thread) - (x->thread < y->thread);
}

static gboolean
add_threads (Build *build, const FlamProgress *progress, GError **error)
{
  g_autofree gint64 *weights =
      flam_weights_by_thread (build->profile, build->selection);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (ThreadWeight));

  for (FlamId t = 0; t < build->profile->threads.n; t++)
    {
      ThreadWeight row = { t, weights[t] };

      if (weights[t] > 0 && flam_selection_has_thread (build->selection, t))
        g_array_append_val (rows, row);
    }
  g_array_sort (rows, heavier_first);
  for (guint i = 0; i < rows->len; i++)
    {
      const ThreadWeight *row = &g_array_index (rows, ThreadWeight, i);

      if (!add_thread (build, row->thread, row->weight, progress, error))
        return FALSE;
    }
  return TRUE;
}

static void
measure_depths (Build *build)
{
  const FlamShown *shown = &build->shown;

  build->depth = g_new (guint32, shown->n + 1);
  for (FlamId s = 0; s < shown->n; s++)
    build->depth[s] =
        shown->prefix[s] == FLAM_NONE ? 0 : build->depth[shown->prefix[s]] + 1;
}

static FlamChart *
chart_of (Build *build)
{
  FlamChart *chart = g_atomic_rc_box_new0 (FlamChart);
  gint64 last =
      build->in_order ? build->last : build->profile->facts.duration_ns;
  guint32 n = build->spans.n;

  flam_column_append (&build->row, guint32, n);
  chart->profile = flam_profile_ref (build->profile);
  chart->by = build->selection->by;
  chart->axis = build->in_order ? build->measure : NULL;
  chart->exact = build->in_order || build->measure->spans == FLAM_SPANS_CALLS;
  chart->from = MAX (build->from, 0);
  chart->to = MAX (MIN (build->to, last), chart->from + 1);
  chart->n_lanes = build->lanes.n;
  chart->lanes = flam_column_steal (&build->lanes);
  chart->n_rows = build->row.n - 1;
  chart->row = flam_column_steal (&build->row);
  chart->n_spans = n;
  chart->spans = flam_column_steal (&build->spans);
  return chart;
}

FlamChart *
flam_chart_new (const FlamProfile *profile,
                const FlamSelection *selection,
                const FlamProgress *progress,
                GError **error)
{
  g_auto (Build) build = { profile, selection };

  flam_column_init (&build.drafts, sizeof (Draft));
  flam_column_init (&build.open, sizeof (FlamChartSpan));
  flam_column_init (&build.path, sizeof (FlamId));
  flam_column_init (&build.lanes, sizeof (FlamChartLane));
  flam_column_init (&build.row, sizeof (guint32));
  flam_column_init (&build.spans, sizeof (FlamChartSpan));
  if (selection->measure >= profile->n_measures)
    return NULL;
  build.measure = &profile->measures[selection->measure];
  build.in_order = build.measure->spans == FLAM_SPANS_ORDER;
  if (build.measure->source != FLAM_FROM_SAMPLES ||
      (profile->samples.time == NULL && !build.in_order))
    return NULL;
  build.calls = find_calls (profile, build.measure);
  if (build.in_order)
    build.to = G_MAXINT64;
  else
    flam_selection_get_range (selection, profile, &build.from, &build.to);
  flam_sample_filter_init (
      &build.filter, profile, selection, build.measure->event);
  if (!flam_shown_init (&build.shown, profile, selection, progress, error))
    return NULL;
  flam_shown_unite (&build.shown, profile->stacks.n);
  measure_depths (&build);
  add_marks (&build);
  add_counters (&build);
  if (!add_threads (&build, progress, error))
    return NULL;
  return chart_of (&build);
}

static void
chart_clear (gpointer data)
{
  FlamChart *chart = data;

  flam_profile_unref (chart->profile);
  g_free (chart->lanes);
  g_free (chart->row);
  g_free (chart->spans);
}

FlamChart *
flam_chart_ref (FlamChart *chart)
{
  return g_atomic_rc_box_acquire (chart);
}

void
flam_chart_unref (FlamChart *chart)
{
  g_atomic_rc_box_release_full (chart, chart_clear);
}
