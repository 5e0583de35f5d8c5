/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-svg-private.h"

#include "flam-core-picture.h"

#include <math.h>

#define RULER 18
#define TICK 5

static void
view_init (const FlamSvg *svg, FlamChartView *view)
{
  flam_chart_view_init (
      view, svg->chart, svg->width - 2 * FLAM_SVG_MARGIN, svg->row);
  if (svg->look->min_width > 0)
    view->min_width = svg->look->min_width;
  view->height = flam_chart_height (svg->chart, view);
}

double
flam_svg_chart_height (const FlamSvg *svg)
{
  FlamChartView view;

  view_init (svg, &view);
  return RULER + view.height;
}

/* --- titles of boxes ------------------------------------------------------ */

static void
put_time (const FlamSvg *svg, const char *before, gint64 time)
{
  g_autofree char *text = flam_chart_text (svg->chart, time);

  flam_sink_put (svg->out, before);
  flam_sink_put (svg->out, text);
}

/* "name (12.3 ms, from 1.2 s on)", "name (5 samples, from 12 on)", escaped. */
static void
put_description (const FlamSvg *svg, const FlamChartBox *box)
{
  const FlamChartSpan *span = &svg->chart->spans[box->span];

  flam_sink_put_escaped (svg->out,
                         box->flags & FLAM_CHART_BOX_STRIP
                             ? "several, too short to draw"
                             : flam_chart_box_name (svg->chart, box),
                         -1);
  if (box->flags & FLAM_CHART_BOX_STRIP)
    put_time (svg, " (from ", span->from);
  else if (span->to > span->from)
    {
      put_time (svg, " (", span->to - span->from);
      if (svg->chart->axis != NULL && flam_svg_is_plain (svg, svg->chart->axis))
        flam_sink_put (svg->out, " samples");
      put_time (svg, ", from ", span->from);
    }
  else
    put_time (svg, " (at ", span->from);
  flam_sink_put (svg->out, span->to > span->from ? " on)" : ")");
}

/* States are not calls: they only move with the others. */
static void
put_box (const FlamSvg *svg,
         const FlamChartNodes *nodes,
         const FlamChartLayout *layout,
         guint32 i)
{
  FlamSink *out = svg->out;
  const FlamChartView *view = &layout->view;
  const FlamChartBox *box = &layout->boxes[i];
  const FlamChartSpan *span = &svg->chart->spans[box->span];
  double x = MAX (box->x, 0);
  double width = MIN (box->x + box->width, view->width) - x;
  double y = svg->head + RULER + box->y;
  gboolean mark = (box->flags & FLAM_CHART_BOX_MARK) != 0;
  gboolean run =
      (box->flags & (FLAM_CHART_BOX_STATE | FLAM_CHART_BOX_STRIP)) != 0;
  gboolean on_black =
      flam_chart_box_label_state (svg->chart, box, nodes, svg->palette) ==
      FLAM_COLOR_BLACK;

  if (width <= 0)
    return;
  flam_sink_printf (out,
                    "<g class=\"%s\"%s><title>",
                    mark  ? "s mark"
                    : run ? "s"
                          : "f",
                    on_black ? " fill=\"#fff\"" : "");
  put_description (svg, box);
  flam_sink_put (out, "</title><rect");
  flam_svg_put_attribute (out, "x", FLAM_SVG_MARGIN + x);
  flam_svg_put_attribute (out, "y", y);
  flam_svg_put_attribute (out, "width", width);
  flam_svg_put_attribute (
      out, "height", MAX (box->height - (run ? 0 : 1), 0.5));
  flam_sink_printf (
      out,
      " fill=\"#%06x\"",
      flam_chart_box_color (svg->chart, box, nodes, svg->palette, FALSE));
  if (!(box->flags & FLAM_CHART_BOX_STRIP))
    flam_sink_printf (out,
                      " data-from=\"%" G_GINT64_FORMAT
                      "\" data-weight=\"%" G_GINT64_FORMAT "\"",
                      span->from,
                      span->to - span->from);
  flam_sink_put (out, "/>");
  if (mark || !run)
    flam_svg_put_label (svg,
                        flam_chart_box_name (svg->chart, box),
                        x,
                        y,
                        mark ? flam_chart_layout_mark_end (layout, i) - x
                             : width);
  flam_sink_put (out, "</g>\n");
}

/* --- lanes ---------------------------------------------------------------- */

/* An SVG within the SVG: a zoom changes which part of it is in view. */
static void
put_counter (const FlamSvg *svg,
             const FlamChartView *view,
             const FlamChartLane *lane,
             double y)
{
  FlamSink *out = svg->out;
  guint n = (guint)ceil (view->width);
  gint64 top;
  g_autofree gint64 *levels =
      flam_chart_levels (svg->chart, lane, view, n, &top);
  g_autofree char *most =
      flam_format_value (top, svg->chart->profile->counters[lane->of].unit);
  double before = -1;

  flam_sink_put (out, "<svg class=\"counter\"");
  flam_svg_put_attribute (out, "x", FLAM_SVG_MARGIN);
  flam_svg_put_attribute (out, "y", y);
  flam_svg_put_attribute (out, "width", view->width);
  flam_svg_put_attribute (out, "height", view->counter_height);
  flam_sink_printf (out,
                    " viewBox=\"0 0 %u %d\" preserveAspectRatio=\"none\">"
                    "<path fill=\"#%06x\" d=\"M0 %d",
                    n,
                    (int)view->counter_height,
                    flam_palette_strip (svg->palette),
                    (int)view->counter_height);
  for (guint x = 0; x < n; x++)
    {
      double level =
          view->counter_height * (1 - (double)levels[x] / (double)top);
      char number[G_ASCII_DTOSTR_BUF_SIZE];

      level = round (level * 100) / 100;
      if (level == before)
        continue;
      g_ascii_formatd (number, sizeof number, "%.2f", level);
      flam_sink_printf (out, "H%uV%s", x, number);
      before = level;
    }
  flam_sink_printf (out, "H%uV%dZ\"/></svg>", n, (int)view->counter_height);
  flam_svg_put_text (
      out, NULL, "start", FLAM_SVG_MARGIN + 6, y + svg->font, most);
}

static void
put_heads (const FlamSvg *svg,
           const FlamChartView *view,
           const FlamChartLayout *layout)
{
  for (guint i = 0; i < layout->n_heads; i++)
    {
      const FlamChartHead *head = &layout->heads[i];
      const FlamChartLane *lane = &svg->chart->lanes[head->lane];
      double y = svg->head + RULER + head->y;
      g_autofree char *text =
          flam_chart_head_text (svg->chart, head->lane, svg->tree->total[0]);

      flam_svg_put_text (svg->out,
                         "lane",
                         "start",
                         FLAM_SVG_MARGIN + 6,
                         y + view->head_height / 2 + svg->font / 3,
                         text);
      if (lane->kind == FLAM_LANE_COUNTER)
        put_counter (svg, view, lane, y + view->head_height);
    }
}

static void
put_ruler (const FlamSvg *svg, const FlamChartView *view)
{
  double step =
      flam_chart_tick_step (svg->chart, view->to - view->from, view->width);
  double bottom = svg->head + RULER;

  flam_sink_printf (svg->out, "<g class=\"ruler\">\n");
  for (double time = ceil (view->from / step) * step; time < view->to;
       time += step)
    {
      double x = FLAM_SVG_MARGIN +
                 (time - view->from) / (view->to - view->from) * view->width;
      g_autofree char *text = flam_chart_tick_text (svg->chart, time, step);

      flam_sink_put (svg->out, "<rect");
      flam_svg_put_attribute (svg->out, "x", x);
      flam_svg_put_attribute (svg->out, "y", bottom - TICK);
      flam_sink_printf (svg->out, " width=\"1\" height=\"%d\"/>", TICK);
      if (x + 4 + svg->character * (double)g_utf8_strlen (text, -1) <=
          view->width + 2 * FLAM_SVG_MARGIN)
        flam_svg_put_text (svg->out, NULL, "start", x + 4, bottom - TICK, text);
    }
  flam_sink_put (svg->out, "</g>\n");
}

char *
flam_svg_put_chart (const FlamSvg *svg)
{
  g_autoptr (FlamChartNodes) nodes =
      flam_chart_nodes_new ((FlamTree *)svg->tree);
  g_autoptr (FlamChartLayout) layout = NULL;
  FlamChartView view;

  view_init (svg, &view);
  layout = flam_chart_layout_new (svg->chart, &view);
  put_ruler (svg, &view);
  put_heads (svg, &view, layout);
  for (guint32 i = 0; i < layout->n; i++)
    put_box (svg, nodes, layout, i);
  return svg->chart->exact ? NULL : g_strdup (FLAM_CHART_FROM_SAMPLES);
}
