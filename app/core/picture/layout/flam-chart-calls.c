/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-chart.h"

#include <math.h>

typedef struct
{
  guint32 what; /* a number for each callee */
  guint32 span;
  gint64 duration;
} Call;

static int
by_what_longest_first (gconstpointer a, gconstpointer b)
{
  const Call *x = a;
  const Call *y = b;

  if (x->what != y->what)
    return x->what < y->what ? -1 : 1;
  if (x->duration != y->duration)
    return x->duration > y->duration ? -1 : 1;
  return (x->span > y->span) - (x->span < y->span);
}

/* The calls in all threads, of every function or only of `wanted`; sorted by
 * function, the longest first. */
static GArray *
gather (const FlamChart *chart, const FlamShownKey *wanted)
{
  const FlamProfile *profile = chart->profile;
  GArray *calls = g_array_new (FALSE, FALSE, sizeof (Call));
  g_autoptr (GHashTable) numbers = flam_shown_key_table_new ();

  for (guint l = 0; l < chart->n_lanes; l++)
    {
      const FlamChartLane *lane = &chart->lanes[l];
      guint32 row = lane->first_row + (lane->is_states ? 1 : 0);

      if (lane->kind != FLAM_LANE_THREAD || lane->n_rows == 0)
        continue;
      for (guint32 i = chart->row[row];
           i < chart->row[lane->first_row + lane->n_rows];
           i++)
        {
          const FlamChartSpan *one = &chart->spans[i];
          FlamShownKey key = flam_shown_key (profile, chart->by, one->what);
          Call call = { 0, i, one->to - one->from };
          gpointer number;

          if (wanted != NULL && !flam_shown_key_equal (&key, wanted))
            continue;
          if (!g_hash_table_lookup_extended (numbers, &key, NULL, &number))
            {
              number = GUINT_TO_POINTER (g_hash_table_size (numbers));
              flam_shown_key_table_set (numbers, &key, number);
            }
          call.what = GPOINTER_TO_UINT (number);
          g_array_append_val (calls, call);
        }
    }
  g_array_sort (calls, by_what_longest_first);
  return calls;
}

/* Statistics of a run of calls of one function. */
static FlamChartDurations
durations_of (const Call *calls, guint n)
{
  FlamChartDurations durations = { .n = n };

  double squares = 0;

  if (n == 0)
    return durations;
  for (guint i = 0; i < n; i++)
    durations.total += calls[i].duration;
  durations.longest = calls[0].duration;
  durations.median = calls[n / 2].duration;
  durations.p99 = calls[n / 100].duration;
  durations.shortest = calls[n - 1].duration;
  durations.mean = (double)durations.total / n;
  for (guint i = 0; i < n; i++)
    {
      double off = (double)calls[i].duration - durations.mean;

      squares += off * off;
    }
  durations.deviation = sqrt (squares / n);
  return durations;
}

FlamChartCalls *
flam_chart_calls_new (const FlamChart *chart, guint span)
{
  FlamChartCalls *calls = g_new0 (FlamChartCalls, 1);
  const FlamShownKey wanted =
      flam_shown_key (chart->profile, chart->by, chart->spans[span].what);
  g_autoptr (GArray) found = gather (chart, &wanted);

  calls->durations =
      durations_of ((const Call *)(gpointer)found->data, found->len);
  calls->spans = g_new (guint32, found->len + 1);
  for (guint i = 0; i < found->len; i++)
    calls->spans[i] = g_array_index (found, Call, i).span;
  return calls;
}

void
flam_chart_calls_free (FlamChartCalls *calls)
{
  g_free (calls->spans);
  g_free (calls);
}

static int
most_first (gconstpointer a, gconstpointer b)
{
  const FlamChartFunction *x = a;
  const FlamChartFunction *y = b;

  if (x->durations.total != y->durations.total)
    return x->durations.total > y->durations.total ? -1 : 1;
  return (x->span > y->span) - (x->span < y->span);
}

GArray *
flam_chart_functions (const FlamChart *chart)
{
  g_autoptr (GArray) found = gather (chart, NULL);
  const Call *calls = (const Call *)(gpointer)found->data;
  GArray *functions = g_array_new (FALSE, FALSE, sizeof (FlamChartFunction));

  for (guint i = 0, end; i < found->len; i = end)
    {
      FlamChartFunction function = { .span = calls[i].span };

      end = i;
      while (end < found->len && calls[end].what == calls[i].what)
        end++;
      function.durations = durations_of (&calls[i], end - i);
      g_array_append_val (functions, function);
    }
  g_array_sort (functions, most_first);
  return functions;
}
