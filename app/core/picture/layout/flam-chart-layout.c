/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-chart.h"

#include "flam-columns.h"
#include "flam-format.h"
#include "flam-tree.h"

#define LEAST 1e-3 /* pixels: a smaller box is invisible on any surface */

/* --- names ---------------------------------------------------------------- */

const char *
flam_chart_name (const FlamChart *chart, const FlamChartLane *lane, guint span)
{
  const FlamProfile *profile = chart->profile;
  FlamId what = chart->spans[span].what;
  FlamShownKey key;

  if (lane->kind == FLAM_LANE_MARKS)
    return flam_profile_string (profile, profile->marks.name[what]);
  key = flam_shown_key (profile, chart->by, what);
  if (chart->by == FLAM_BY_MODULE)
    return key.thing == FLAM_NONE
               ? "[unknown]"
               : flam_profile_string (profile,
                                      profile->modules.name[key.thing]);
  if (chart->by == FLAM_BY_FILE)
    return key.thing == 0 ? "[unknown]"
                          : flam_profile_string (profile, key.thing);
  return flam_profile_function_name (profile, profile->frames.function[what]);
}

char *
flam_chart_lane_name (const FlamChart *chart, const FlamChartLane *lane)
{
  const FlamProfile *profile = chart->profile;
  const char *name;

  if (lane->kind == FLAM_LANE_MARKS)
    return g_strdup (g_dgettext ("flambeau", N_ ("Marks")));
  if (lane->kind == FLAM_LANE_COUNTER)
    return flam_format_counter_name (
        flam_profile_string (profile, profile->counters[lane->of].id));
  name = flam_profile_string (profile, profile->threads.name[lane->of]);
  if (profile->threads.tid[lane->of] < 0)
    return g_strdup (*name != '\0' ? name : "[unknown thread]");
  return g_strdup_printf ("%s (%d)", name, profile->threads.tid[lane->of]);
}

guint
flam_chart_lane_of (const FlamChart *chart, guint span, guint32 *row)
{
  guint32 low = 0, high = chart->n_rows;
  guint lane = 0;

  while (high - low > 1)
    {
      guint32 middle = low + (high - low) / 2;

      if (chart->row[middle] <= span)
        low = middle;
      else
        high = middle;
    }
  while (lane + 1 < chart->n_lanes && chart->lanes[lane + 1].first_row <= low)
    lane++;
  while (chart->lanes[lane].n_rows == 0)
    lane--;
  *row = low - chart->lanes[lane].first_row;
  return lane;
}

/* --- layout --------------------------------------------------------------- */

static double
row_height (const FlamChartLane *lane, const FlamChartView *view, guint32 row)
{
  return lane->is_states && row == 0 ? view->state_height : view->row_height;
}

static double
lane_height (const FlamChartLane *lane, const FlamChartView *view)
{
  double rows = lane->n_rows * view->row_height;

  if (lane->kind == FLAM_LANE_COUNTER)
    rows = view->counter_height;
  else if (lane->is_states && lane->n_rows > 0)
    rows += view->state_height - view->row_height;
  return view->head_height + rows + view->gap;
}

double
flam_chart_height (const FlamChart *chart, const FlamChartView *view)
{
  double height = 0;

  for (guint i = 0; i < chart->n_lanes; i++)
    height += lane_height (&chart->lanes[i], view);
  return height;
}

double
flam_chart_lane_y (const FlamChart *chart,
                   const FlamChartView *view,
                   guint lane,
                   guint32 row)
{
  double y = row > 0 || lane < chart->n_lanes ? 0 : view->gap;

  for (guint i = 0; i < lane; i++)
    y += lane_height (&chart->lanes[i], view);
  if (row == 0)
    return y + view->head_height;
  return y + view->head_height + row_height (&chart->lanes[lane], view, 0) +
         (row - 1) * view->row_height;
}

/* The first span of a row that ends after `time`. */
static guint32
first_after (const FlamChart *chart, guint32 low, guint32 high, double time)
{
  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if ((double)chart->spans[middle].to > time)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

/* The same, if the span is likely to be near `low`. */
static guint32
first_after_near (const FlamChart *chart,
                  guint32 low,
                  guint32 high,
                  double time)
{
  guint32 step = 1;

  while (step < high - low && (double)chart->spans[low + step].to <= time)
    {
      low += step;
      step *= 2;
    }
  return first_after (chart, low, MIN (high, low + step + 1), time);
}

/* One row: wide spans have boxes of their own; narrow ones have one box for
 * each run of pixels that contains any of them. */
static void
lay_row (const FlamChart *chart,
         const FlamChartView *view,
         FlamColumn *boxes,
         guint32 row,
         FlamChartBox box)
{
  double scale = view->width / (view->to - view->from);
  double narrowest = MAX (view->min_width, LEAST);
  double pixel = MIN (narrowest, 1);
  guint32 end = chart->row[row + 1];
  guint32 i = first_after (chart, chart->row[row], end, view->from);
  FlamChartBox *strip = NULL;

  while (i < end && (double)chart->spans[i].from < view->to)
    {
      const FlamChartSpan *span = &chart->spans[i];
      double x = ((double)span->from - view->from) * scale;
      double right = ((double)span->to - view->from) * scale;
      gboolean narrow =
          right - x < narrowest && !(box.flags & FLAM_CHART_BOX_MARK);

      if (narrow && strip != NULL && x - (strip->x + strip->width) < pixel)
        strip->width = (float)(MAX (right, x + pixel) - strip->x);
      else
        {
          box.span = i;
          box.x = (float)CLAMP (x, -1, view->width + 1);
          box.width =
              (float)(CLAMP (MAX (right, x + pixel), -1, view->width + 1) -
                      box.x);
          flam_column_append (boxes, FlamChartBox, box);
          strip = NULL;
          if (narrow)
            {
              strip = &flam_column_at (boxes, FlamChartBox, boxes->n - 1);
              strip->flags |= FLAM_CHART_BOX_STRIP;
            }
        }
      i = narrow
              ? MAX (i + 1,
                     first_after_near (
                         chart, i + 1, end, view->from + (x + pixel) / scale))
              : i + 1;
    }
}

FlamChartLayout *
flam_chart_layout_new (const FlamChart *chart, const FlamChartView *view)
{
  FlamChartLayout *layout = g_new0 (FlamChartLayout, 1);
  FlamColumn boxes, heads;
  double y = -view->top;

  flam_column_init (&boxes, sizeof (FlamChartBox));
  flam_column_init (&heads, sizeof (FlamChartHead));
  layout->view = *view;
  for (guint l = 0; l < chart->n_lanes && y < view->height; l++)
    {
      const FlamChartLane *lane = &chart->lanes[l];
      double next = y + lane_height (lane, view);
      double at = y + view->head_height;
      FlamChartHead head = { l, (float)y };

      if (next > 0)
        flam_column_append (&heads, FlamChartHead, head);
      for (guint32 r = 0; next > 0 && r < lane->n_rows && at < view->height;
           r++)
        {
          double height = row_height (lane, view, r);
          FlamChartBox box = { .lane = l,
                               .y = (float)at,
                               .height = (float)height };

          if (lane->kind == FLAM_LANE_MARKS)
            box.flags = FLAM_CHART_BOX_MARK;
          else if (lane->is_states && r == 0)
            box.flags = FLAM_CHART_BOX_STATE;
          if (at + height > 0)
            lay_row (chart, view, &boxes, lane->first_row + r, box);
          at += height;
        }
      y = next;
    }
  layout->n = boxes.n;
  layout->boxes = flam_column_steal (&boxes);
  layout->n_heads = heads.n;
  layout->heads = flam_column_steal (&heads);
  return layout;
}

void
flam_chart_layout_free (FlamChartLayout *layout)
{
  g_free (layout->boxes);
  g_free (layout->heads);
  g_free (layout);
}

double
flam_chart_layout_mark_end (const FlamChartLayout *layout, guint32 box)
{
  const FlamChartBox *mark = &layout->boxes[box];
  const FlamChartBox *next = mark + 1;

  return box + 1 < layout->n && next->lane == mark->lane && next->y == mark->y
             ? MIN (next->x, layout->view.width)
             : layout->view.width;
}

const FlamChartBox *
flam_chart_layout_hit (const FlamChartLayout *layout, double x, double y)
{
  for (guint32 i = 0; i < layout->n; i++)
    {
      const FlamChartBox *box = &layout->boxes[i];

      if (y >= box->y && y < box->y + box->height && x >= box->x &&
          x < box->x + box->width)
        return box;
    }
  return NULL;
}

/* --- dump ----------------------------------------------------------------- */

static void
dump_row (const FlamChart *chart,
          const FlamChartLane *lane,
          guint32 row,
          GString *text)
{
  for (guint32 i = chart->row[lane->first_row + row];
       i < chart->row[lane->first_row + row + 1];
       i++)
    {
      const FlamChartSpan *span = &chart->spans[i];

      g_string_append_printf (
          text,
          "  %u %s %" G_GINT64_FORMAT "..%" G_GINT64_FORMAT "\n",
          row,
          lane->is_states && row == 0 ? flam_state_to_string (span->what)
                                      : flam_chart_name (chart, lane, i),
          span->from,
          span->to);
    }
}

char *
flam_chart_dump (const FlamChart *chart)
{
  GString *text = g_string_new (NULL);

  for (guint l = 0; l < chart->n_lanes; l++)
    {
      g_autofree char *name = flam_chart_lane_name (chart, &chart->lanes[l]);

      g_string_append_printf (text, "%s\n", name);
      for (guint32 r = 0; r < chart->lanes[l].n_rows; r++)
        dump_row (chart, &chart->lanes[l], r, text);
    }
  return g_string_free (text, FALSE);
}
