/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-chart-colors.h"

#include "flam-format.h"
#include "flam-ticks.h"

#include <math.h>

#define STATE_HEIGHT 5
#define COUNTER_HEIGHT 36
#define HEAD_MORE 4 /* extra pixels per row */
#define GAP 6
#define NARROWEST 1 /* pixels: the minimum width of a box of its own */

/* --- nodes ---------------------------------------------------------------- */

FlamChartNodes *
flam_chart_nodes_new (FlamTree *tree)
{
  FlamChartNodes *nodes = g_new0 (FlamChartNodes, 1);

  nodes->tree = flam_tree_ref (tree);
  nodes->n = MAX (tree->profile->functions.n, tree->profile->modules.n);
  nodes->n = MAX (nodes->n, flam_profile_n_strings (tree->profile));
  nodes->node = g_new0 (FlamId, nodes->n + 1);
  for (FlamId i = 1; i < tree->n; i++)
    {
      FlamNodeId *node;

      if (tree->key[i].row >= nodes->n || flam_tree_is_top (tree, i))
        continue;
      node = &nodes->node[tree->key[i].row];
      if (*node == 0 || tree->total[i] > tree->total[*node])
        *node = i;
    }
  return nodes;
}

void
flam_chart_nodes_free (FlamChartNodes *nodes)
{
  flam_tree_unref (nodes->tree);
  g_free (nodes->node);
  g_free (nodes);
}

static FlamId
node_of (const FlamChartNodes *nodes, const FlamChart *chart, guint span)
{
  FlamShownKey key =
      flam_shown_key (chart->profile, chart->by, chart->spans[span].what);

  return key.thing < nodes->n ? nodes->node[key.thing] : 0;
}

/* The span of a row that contains the span of the row below it. */
static guint32
span_above (const FlamChart *chart, guint32 row, guint32 below)
{
  guint32 low = chart->row[row];
  guint32 high = chart->row[row + 1];

  while (high - low > 1)
    {
      guint32 middle = low + (high - low) / 2;

      if (chart->spans[middle].from <= chart->spans[below].from)
        low = middle;
      else
        high = middle;
    }
  return low;
}

FlamId
flam_chart_nodes_of (const FlamChartNodes *nodes,
                     const FlamChart *chart,
                     guint span)
{
  guint32 row;
  const FlamChartLane *lane =
      &chart->lanes[flam_chart_lane_of (chart, span, &row)];
  g_autofree FlamShownKey *keys = NULL;
  FlamNodeId node;

  if (lane->kind != FLAM_LANE_THREAD || (lane->is_states && row == 0))
    return 0;
  row -= lane->is_states;
  keys = g_new (FlamShownKey, row + 1);
  for (guint32 i = row + 1, at = span; i-- > 0;)
    {
      keys[i] =
          flam_shown_key (chart->profile, chart->by, chart->spans[at].what);
      if (i > 0)
        at = span_above (chart, lane->first_row + lane->is_states + i - 1, at);
    }
  node = flam_tree_find_stack (nodes->tree, keys, row + 1, lane->of);
  return node != 0 ? node : node_of (nodes, chart, span);
}

/* --- boxes ---------------------------------------------------------------- */

void
flam_chart_view_init (FlamChartView *view,
                      const FlamChart *chart,
                      double width,
                      double row_height)
{
  *view = (FlamChartView){
    .width = MAX (width, 1),
    .from = (double)chart->from,
    .to = (double)chart->to,
    .row_height = row_height,
    .head_height = row_height + HEAD_MORE,
    .state_height = STATE_HEIGHT,
    .counter_height = COUNTER_HEIGHT,
    .gap = GAP,
    .min_width = NARROWEST,
  };
}

const char *
flam_chart_box_name (const FlamChart *chart, const FlamChartBox *box)
{
  if (box->flags & FLAM_CHART_BOX_STRIP)
    return "";
  if (box->flags & FLAM_CHART_BOX_STATE)
    return flam_state_to_string (chart->spans[box->span].what);
  return flam_chart_name (chart, &chart->lanes[box->lane], box->span);
}

FlamColor
flam_chart_box_color (const FlamChart *chart,
                      const FlamChartBox *box,
                      const FlamChartNodes *nodes,
                      FlamPalette *palette,
                      gboolean dark)
{
  FlamNodeId node;

  if (box->flags & FLAM_CHART_BOX_STATE)
    return flam_palette_state_color (chart->spans[box->span].what, dark);
  if (box->flags & FLAM_CHART_BOX_STRIP)
    return flam_palette_strip (palette);
  if (box->flags & FLAM_CHART_BOX_MARK)
    return flam_palette_ink (palette);
  node = node_of (nodes, chart, box->span);
  return node != 0 ? flam_palette_node (palette, nodes->tree, node)
                   : flam_palette_strip (palette);
}

FlamColorState
flam_chart_box_label_state (const FlamChart *chart,
                            const FlamChartBox *box,
                            const FlamChartNodes *nodes,
                            const FlamPalette *palette)
{
  const guint no_call =
      FLAM_CHART_BOX_STATE | FLAM_CHART_BOX_STRIP | FLAM_CHART_BOX_MARK;
  FlamNodeId node =
      box->flags & no_call ? 0 : node_of (nodes, chart, box->span);

  return node != 0 ? flam_palette_label_state (
                         palette, nodes->tree, node, FLAM_COLOR_NORMAL)
                   : FLAM_COLOR_NORMAL;
}

char *
flam_chart_text (const FlamChart *chart, gint64 time)
{
  return chart->axis != NULL ? flam_format_weight (chart->axis, time)
                             : flam_format_value (time, FLAM_UNIT_NS);
}

static double
denominator_of (const FlamChart *chart)
{
  return chart->axis != NULL ? (double)chart->axis->denominator : 1;
}

double
flam_chart_tick_step (const FlamChart *chart, double span, double width)
{
  double denominator = denominator_of (chart);

  return flam_ticks_step (span / denominator, width) * denominator;
}

char *
flam_chart_tick_text (const FlamChart *chart, double time, double step)
{
  double denominator = denominator_of (chart);

  if (chart->axis != NULL && chart->axis->unit != FLAM_UNIT_NS)
    return flam_format_value ((gint64)rint (time / denominator),
                              chart->axis->unit);
  return flam_ticks_text (
      FLAM_CLOCK_TIME, time / denominator, step / denominator);
}

char *
flam_chart_head_text (const FlamChart *chart, guint lane, gint64 total)
{
  const FlamChartLane *one = &chart->lanes[lane];
  g_autofree char *raw = flam_chart_lane_name (chart, one);
  g_autofree char *name = flam_format_visible (raw);
  g_autofree char *share = NULL;

  if (one->kind != FLAM_LANE_THREAD)
    return g_steal_pointer (&name);
  share = flam_format_percent (one->weight, total);
  return g_strdup_printf ("%s   %s", name, share);
}

/* --- counters ------------------------------------------------------------- */

/* The first value after a time. */
static guint32
first_after (const FlamCounter *counter, double time)
{
  guint32 low = 0, high = counter->n;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if ((double)counter->time[middle] <= time)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

gint64 *
flam_chart_levels (const FlamChart *chart,
                   const FlamChartLane *lane,
                   const FlamChartView *view,
                   guint n,
                   gint64 *top)
{
  const FlamCounter *counter = &chart->profile->counters[lane->of];
  gint64 *levels = g_new (gint64, (gsize)n + 1);
  guint32 i = first_after (counter, view->from);
  gint64 held = i > 0 ? MAX (counter->value[i - 1], 0) : 0;

  *top = 1;
  for (guint32 k = 0; k < counter->n; k++)
    *top = MAX (*top, counter->value[k]);
  for (guint x = 0; x < n; x++)
    {
      double end = view->from + (view->to - view->from) * (x + 1) / n;

      levels[x] = held;
      for (; i < counter->n && (double)counter->time[i] < end; i++)
        {
          held = MAX (counter->value[i], 0);
          levels[x] = MAX (levels[x], held);
        }
    }
  return levels;
}
