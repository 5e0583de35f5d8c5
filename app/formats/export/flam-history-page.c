/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-pages.h"

#include "flam-core-picture.h"
#include "flam-html.h"

#include <string.h>

#define CHART_WIDTH 580
#define CHART_HEIGHT 200
#define CHART_HEAD 26
#define CHART_FOOT 22
#define CHART_SIDE 8
#define TREND_WIDTH 160
#define TREND_HEIGHT 24
#define MAX_ROWS 100

/* One function over the captures of a series. */
typedef struct
{
  const char *name;
  gint64 *value;          /* n */
  FlamEstimate *estimate; /* n */
} Trend;

typedef struct
{
  FlamSink *out;
  const FlamHistory *history;
  const FlamHistoryKey *key;
  GTimeZone *zone;
  GArray *series; /* FlamHistorySeries */
} Page;

static const char *
series_name (const char *name)
{
  return name != NULL ? name : "without a series";
}

static gboolean
has_names (const Page *page)
{
  return page->series->len > 1 ||
         g_array_index (page->series, FlamHistorySeries, 0).name != NULL;
}

/* --- colors --------------------------------------------------------------- */

static void
append_theme (Page *page, gboolean dark)
{
  for (guint i = 0; i < FLAM_PLOT_COLORS; i++)
    flam_sink_printf (
        page->out, ".s%u{--s:#%06x}", i, flam_plot_color (i, dark));
}

static void
append_style (Page *page)
{
  flam_sink_put (page->out, "<style>");
  append_theme (page, FALSE);
  flam_sink_put (page->out, "@media(prefers-color-scheme:dark){");
  append_theme (page, TRUE);
  flam_sink_put (page->out,
                 "}svg.chart polyline{fill:none;stroke:var(--s);"
                 "stroke-width:2}svg.chart circle{fill:var(--s)}"
                 "svg.chart circle.most{fill:var(--paper);stroke:var(--s)}"
                 "svg.chart .error{stroke:var(--s);stroke-opacity:.6}"
                 "svg.chart .grid{stroke:var(--quiet);stroke-opacity:.35}"
                 "svg.chart .date{fill:var(--quiet);text-anchor:middle}"
                 "svg.chart .off,tr.off,section.off{display:none}"
                 ".entry[role]{cursor:pointer}"
                 ".entry[aria-pressed=false]{opacity:.45;"
                 "text-decoration:line-through}"
                 ".key{display:inline-block;width:1.4em;height:.25em;"
                 "margin:0 .4em 0 1em;vertical-align:middle;"
                 "background:var(--s)}</style>\n");
}

/* Elements with the attribute are switched by the legend. */
static void
append_series (Page *page, guint series)
{
  flam_sink_printf (page->out, " data-series=\"%u\"", series);
}

static void
append_legend (Page *page)
{
  if (!has_names (page))
    return;
  flam_sink_put (page->out, "<p>");
  for (guint i = 0; i < page->series->len; i++)
    {
      const FlamHistorySeries *series =
          &g_array_index (page->series, FlamHistorySeries, i);

      flam_sink_put (page->out, "<span class=\"entry\"");
      append_series (page, i);
      flam_sink_printf (
          page->out, "><span class=\"key s%u\"></span>", i % FLAM_PLOT_COLORS);
      flam_sink_put_escaped (page->out, series_name (series->name), -1);
      flam_sink_put (page->out, "</span>");
    }
  flam_sink_put (page->out, "</p>\n");
}

/* --- charts --------------------------------------------------------------- */

static const FlamRect area = {
  CHART_SIDE,
  CHART_HEAD,
  CHART_WIDTH - 2 * CHART_SIDE,
  CHART_HEIGHT - CHART_HEAD - CHART_FOOT,
};

static void
append_point (Page *page, const FlamPlot *plot, FlamPlotSpot spot)
{
  const FlamPlotSeries *series = &plot->series[spot.series];
  gboolean hollow = series->hollow[spot.point];
  guint capture = flam_plot_capture_at (plot, spot);
  FlamRect at = flam_plot_place (plot, &area, spot);
  const FlamTrend *trend = flam_plot_get_trend (plot);
  const FlamTrendPoint *point = &trend->series[spot.series].points[spot.point];
  g_autofree char *text =
      flam_format_estimated (&point->estimate, &plot->measure, point->value);

  flam_sink_printf (page->out,
                    "<circle%s cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%u: ",
                    hollow ? " class=\"most\"" : "",
                    at.x,
                    at.y,
                    capture + 1);
  flam_sink_put_escaped (
      page->out, flam_history_get (page->history, capture)->name, -1);
  flam_sink_put (page->out, hollow ? ": at most " : ": ");
  flam_sink_put_escaped (page->out, text, -1);
  flam_sink_put (page->out, "</title></circle>");
}

static void
append_error (Page *page, const FlamPlot *plot, FlamPlotSpot spot)
{
  FlamRect bar = flam_plot_error_bar (plot, &area, spot);

  if (plot->series[spot.series].error[spot.point] > 0)
    flam_sink_printf (page->out,
                      "<line class=\"error\" x1=\"%.1f\" x2=\"%.1f\" "
                      "y1=\"%.1f\" y2=\"%.1f\"/>",
                      bar.x,
                      bar.x,
                      bar.y,
                      bar.y + bar.height);
}

/* The upper end of a chart with only this line: a share of this chart's. */
static void
append_top (Page *page, const FlamPlot *plot, guint s)
{
  gint64 greatest = 0, top;
  g_autofree char *text = NULL;

  for (guint p = 0; p < plot->series[s].n; p++)
    greatest =
        MAX (greatest, plot->series[s].value[p] + plot->series[s].error[p]);
  top = flam_plot_round_top (greatest, plot->measure.denominator);
  text = flam_format_weight (&plot->measure, top);
  flam_sink_printf (page->out,
                    " data-share=\"%.6f\" data-most=\"",
                    (double)top / (double)plot->top);
  flam_sink_put_escaped (page->out, text, -1);
  flam_sink_put_c (page->out, '"');
}

static void
append_line (Page *page, const FlamPlot *plot, guint s)
{
  flam_sink_printf (page->out, "<g class=\"s%u\"", s % FLAM_PLOT_COLORS);
  append_series (page, s);
  append_top (page, plot, s);
  flam_sink_put (page->out, "><polyline points=\"");
  for (guint p = 0; p < plot->series[s].n; p++)
    {
      FlamRect at = flam_plot_place (plot, &area, (FlamPlotSpot){ s, p });

      flam_sink_printf (page->out, "%s%.1f,%.3f", p > 0 ? " " : "", at.x, at.y);
    }
  flam_sink_put (page->out, "\"/>");
  for (guint p = 0; p < plot->series[s].n; p++)
    append_error (page, plot, (FlamPlotSpot){ s, p });
  for (guint p = 0; p < plot->series[s].n; p++)
    append_point (page, plot, (FlamPlotSpot){ s, p });
  flam_sink_put (page->out, "</g>");
}

static void
append_axes (Page *page, const FlamPlot *plot)
{
  g_autoptr (GArray) marks = flam_plot_marks (plot, &area, page->zone);
  g_autofree char *top = flam_format_weight (&plot->measure, plot->top);

  for (guint i = 0; i <= 2; i++)
    {
      double y = area.y + area.height * (1 - i / 2.0);

      flam_sink_printf (page->out,
                        "<line class=\"grid\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" "
                        "y2=\"%.1f\"/>",
                        CHART_WIDTH,
                        y,
                        y);
    }
  flam_sink_printf (
      page->out, "<text class=\"most\" x=\"%d\" y=\"14\">", CHART_WIDTH);
  flam_sink_put_escaped (page->out, top, -1);
  flam_sink_put (page->out, "</text>");
  for (guint i = 0; i < marks->len; i++)
    {
      const FlamPlotMark *mark = &g_array_index (marks, FlamPlotMark, i);

      flam_sink_printf (page->out,
                        "<text class=\"date\" x=\"%.1f\" y=\"%d\">%s</text>",
                        CLAMP (mark->x, 36, CHART_WIDTH - 36),
                        CHART_HEIGHT - 6,
                        mark->text);
    }
}

static void
append_chart (Page *page, const FlamTrendWhat *what, const char *title)
{
  g_autoptr (FlamPlot) plot =
      flam_plot_of_trend (flam_trend_new (page->history, page->key, what));

  if (flam_plot_get_trend (plot)->n_points == 0)
    return;
  flam_sink_printf (page->out,
                    "<svg class=\"chart\" xmlns=\"http://www.w3.org/"
                    "2000/svg\" width=\"%d\" height=\"%d\" "
                    "viewBox=\"0 0 %d %d\" data-bottom=\"%d\">"
                    "<text x=\"0\" y=\"14\">",
                    CHART_WIDTH,
                    CHART_HEIGHT,
                    CHART_WIDTH,
                    CHART_HEIGHT,
                    CHART_HEIGHT - CHART_FOOT);
  flam_sink_put_escaped (page->out, title, -1);
  flam_sink_put (page->out, "</text>");
  append_axes (page, plot);
  for (guint i = 0; i < plot->n; i++)
    if (plot->series[i].n > 0)
      append_line (page, plot, i);
  flam_sink_put (page->out, "</svg>\n");
}

static const char *
choice_title (const FlamTrendChoice *choice)
{
  return choice->kind == FLAM_TREND_MEASURE       ? choice->name
         : choice->kind == FLAM_TREND_PEAK_MEMORY ? "Peak memory"
                                                  : "Duration";
}

static void
append_charts (Page *page, const char *const *functions)
{
  g_autoptr (GArray) choices = flam_trend_choices (page->history);

  flam_html_append (page->out, "h2", "Totals");
  append_legend (page);
  for (guint i = 0; i < choices->len; i++)
    {
      const FlamTrendChoice *choice =
          &g_array_index (choices, FlamTrendChoice, i);
      FlamTrendWhat what = { choice->kind, choice->measure, NULL };

      append_chart (page, &what, choice_title (choice));
    }
  if (functions == NULL)
    return;
  flam_html_append (page->out, "h2", "Functions");
  append_legend (page);
  for (guint i = 0; functions[i] != NULL; i++)
    {
      FlamTrendWhat what = { FLAM_TREND_FUNCTION_TOTAL, NULL, functions[i] };

      append_chart (page, &what, functions[i]);
    }
}

/* --- captures ------------------------------------------------------------- */

static guint
series_of (const Page *page, const char *name)
{
  g_autofree char *found = flam_history_key_match (page->key, name);
  guint i = 0;

  while (i + 1 < page->series->len &&
         g_strcmp0 (g_array_index (page->series, FlamHistorySeries, i).name,
                    found) != 0)
    i++;
  return i;
}

static void
append_capture (Page *page, guint i)
{
  guint series = series_of (page, flam_history_get (page->history, i)->name);
  const FlamFigures *figures = flam_history_get (page->history, i);
  const FlamFiguresMeasure *measure = flam_figures_selected (figures);
  g_autofree char *date = flam_dates_text (figures->date, page->zone, TRUE);

  flam_sink_put (page->out, "<tr");
  append_series (page, series);
  flam_sink_printf (page->out, "><td>%u</td>", i + 1);
  flam_html_append_cell (page->out,
                         figures->date <= 0 ? g_strdup ("")
                         : figures->of_file
                             ? g_strconcat (date, " (the file’s)", NULL)
                             : g_strdup (date));
  flam_html_append_cell (
      page->out,
      figures->duration_ns > 0
          ? flam_format_value (figures->duration_ns, FLAM_UNIT_NS)
          : g_strdup (""));
  flam_html_append_cell (page->out,
                         flam_format_estimated (&measure->left_estimate,
                                                &measure->measure,
                                                measure->left));
  if (has_names (page))
    {
      const char *name =
          g_array_index (page->series, FlamHistorySeries, series).name;

      flam_sink_put (page->out, "<td class=\"words\">");
      flam_sink_put_escaped (page->out, name != NULL ? name : "", -1);
      flam_sink_put (page->out, "</td>");
    }
  flam_html_append_cell (page->out, g_strdup (figures->name));
  flam_sink_put (page->out, "</tr>\n");
}

static void
append_captures (Page *page)
{
  flam_html_append (page->out, "h2", "Captures");
  flam_sink_printf (page->out,
                    "<table><tr><th></th><th>Start</th><th>Duration</th>"
                    "<th>Total</th>%s<th>Capture</th></tr>\n",
                    has_names (page) ? "<th class=\"words\">Series</th>" : "");
  for (guint i = 0; i < page->history->captures->len; i++)
    append_capture (page, i);
  flam_sink_put (page->out, "</table>\n");
}

/* --- functions ------------------------------------------------------------ */

static void
trend_free (gpointer data)
{
  Trend *trend = data;

  g_free (trend->value);
  g_free (trend->estimate);
  g_free (trend);
}

/* In the unit of the last capture, and with the finest decimals: `measure`. */
static void
add_capture (Page *page,
             const FlamHistorySeries *series,
             guint i,
             const FlamMeasure *measure,
             GPtrArray *all,
             GHashTable *trends)
{
  const FlamFiguresMeasure *own = flam_figures_selected (
      flam_history_get (page->history, series->captures[i]));

  for (guint k = 0; k < own->n_functions; k++)
    {
      const FlamFiguresFunction *function = &own->functions[k];
      Trend *trend = g_hash_table_lookup (trends, function->name);

      if (function->self == 0)
        continue;
      if (trend == NULL)
        {
          trend = g_new0 (Trend, 1);
          trend->name = function->name;
          trend->value = g_new0 (gint64, series->n);
          trend->estimate = g_new0 (FlamEstimate, series->n);
          g_hash_table_insert (trends, function->name, trend);
          g_ptr_array_add (all, trend);
        }
      trend->value[i] = flam_rescale_weight (
          function->self, own->measure.denominator, measure->denominator);
      trend->estimate[i] = function->self_estimate;
    }
}

static int
moved_most_first (gconstpointer a, gconstpointer b, gpointer data)
{
  const Trend *x = *(Trend *const *)a;
  const Trend *y = *(Trend *const *)b;
  guint last = GPOINTER_TO_UINT (data) - 1;
  gint64 p = ABS (x->value[last] - x->value[0]);
  gint64 q = ABS (y->value[last] - y->value[0]);

  if (p != q)
    return p > q ? -1 : 1;
  if (x->value[last] != y->value[last])
    return x->value[last] > y->value[last] ? -1 : 1;
  return strcmp (x->name, y->name);
}

/* A line from capture to capture, scaled from zero to its greatest value. */
static void
append_trend (Page *page, const Trend *trend, guint n)
{
  gint64 top = 1;

  for (guint i = 0; i < n; i++)
    top = MAX (top, trend->value[i]);
  flam_sink_printf (page->out,
                    "<td><svg class=\"trend\" xmlns=\"http://www.w3.org/"
                    "2000/svg\" width=\"%d\" height=\"%d\"><polyline "
                    "points=\"",
                    TREND_WIDTH,
                    TREND_HEIGHT);
  for (guint i = 0; i < n; i++)
    flam_sink_printf (
        page->out,
        "%s%d,%d",
        i > 0 ? " " : "",
        n > 1 ? 2 + (int)(i * (TREND_WIDTH - 4) / (n - 1)) : 2,
        TREND_HEIGHT - 2 -
            (int)((double)trend->value[i] / (double)top * (TREND_HEIGHT - 4)));
  flam_sink_put (page->out, "\"/></svg></td>");
}

static void
append_function (Page *page,
                 const Trend *trend,
                 guint n,
                 const FlamMeasure *measure)
{
  gint64 first = trend->value[0];
  gint64 last = trend->value[n - 1];
  const FlamChangeEstimate estimate = flam_estimate_of_change (
      trend->estimate[0], n > 1 ? trend->estimate[n - 1] : (FlamEstimate){ 0 });

  flam_sink_put (page->out, "<tr>");
  append_trend (page, trend, n);
  flam_html_append_cell (
      page->out, flam_format_estimated (&estimate.base, measure, first));
  flam_html_append_cell (
      page->out, flam_format_estimated (&estimate.fresh, measure, last));
  flam_html_append_change (page->out, measure, last - first, &estimate.delta);
  flam_html_append_cell (page->out, g_strdup (trend->name));
  flam_sink_put (page->out, "</tr>\n");
}

static void
append_rows (Page *page, GPtrArray *rows, guint n, const FlamMeasure *measure)
{
  guint moved = 0;

  g_ptr_array_sort_with_data (rows, moved_most_first, GUINT_TO_POINTER (n));
  for (guint i = 0; i < rows->len; i++)
    {
      const Trend *trend = rows->pdata[i];

      moved += trend->value[n - 1] != trend->value[0];
    }
  flam_sink_put (page->out,
                 "<table><tr><th>Trend</th><th>First</th><th>Last</th>"
                 "<th>Change</th><th>Function (self)</th></tr>\n");
  for (guint i = 0; i < MIN (moved, MAX_ROWS); i++)
    append_function (page, rows->pdata[i], n, measure);
  flam_sink_put (page->out, "</table>\n");
  if (moved == 0)
    flam_html_append (page->out, "p", "None.");
  if (moved > MAX_ROWS)
    flam_sink_printf (page->out,
                      moved - MAX_ROWS == 1
                          ? "<p>%u function more is not listed.</p>\n"
                          : "<p>%u functions more are not listed.</p>\n",
                      moved - MAX_ROWS);
}

static void
append_functions (Page *page)
{
  flam_html_append (page->out, "h2", "Functions that moved most");
  for (guint s = 0; s < page->series->len; s++)
    {
      const FlamHistorySeries *series =
          &g_array_index (page->series, FlamHistorySeries, s);
      const FlamFigures *last =
          flam_history_get (page->history, series->captures[series->n - 1]);
      FlamMeasure measure = flam_figures_selected (last)->measure;
      g_autoptr (GHashTable) trends =
          g_hash_table_new (g_str_hash, g_str_equal);
      g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (trend_free);

      flam_sink_put (page->out, "<section");
      append_series (page, s);
      flam_sink_put (page->out, ">\n");
      if (has_names (page))
        flam_html_append (page->out, "h3", series_name (series->name));
      for (guint i = 0; i < series->n; i++)
        {
          const FlamFigures *figures =
              flam_history_get (page->history, series->captures[i]);

          measure = flam_rescale_measure (
              &flam_figures_selected (figures)->measure, &measure);
        }
      for (guint i = 0; i < series->n; i++)
        add_capture (page, series, i, &measure, rows, trends);
      append_rows (page, rows, series->n, &measure);
      flam_sink_put (page->out, "</section>\n");
    }
}

void
flam_history_page (FlamSink *out,
                   const FlamHistory *history,
                   const FlamHistoryKey *key,
                   const char *const *functions)
{
  guint n = history->captures->len;
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GArray) series = flam_history_series (history, key);
  Page page = { out, history, key, utc, series };
  g_autofree char *title = n == 1
                               ? g_strdup ("History of 1 capture")
                               : g_strdup_printf ("History of %u captures", n);
  const char *script = has_names (&page) ? FLAM_HTML_SERIES : NULL;

  flam_html_begin (out, title, script);
  append_style (&page);
  flam_html_append (out, "h1", title);
  append_charts (&page, functions);
  append_captures (&page);
  append_functions (&page);
  flam_html_end (out, script);
}
