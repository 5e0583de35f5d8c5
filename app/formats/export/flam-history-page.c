/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-pages.h"

#include "flam-format.h"
#include "flam-functions.h"
#include "flam-html.h"
#include "flam-svg.h"

#include <string.h>

#define CHART_WIDTH 380
#define CHART_HEIGHT 110
#define CHART_HEAD 34
#define TREND_WIDTH 160
#define TREND_HEIGHT 24
#define MAX_ROWS 100

/* One function over all captures. */
typedef struct
{
  const char *name;
  gint64 *value; /* n */
} Trend;

typedef struct
{
  FlamSink *out;
  const FlamCompared *captures;
  guint n;
  FlamMeasure measure; /* what the functions are weighed by */
} Page;

static const FlamProfile *
profile_of (const Page *page, guint i)
{
  return page->captures[i].tree->profile;
}

/* --- charts -------------------------------------------------------------- */

/* The measure with this id, or NULL. */
static const FlamMeasure *
measure_named (const FlamProfile *profile, const char *id)
{
  int index = flam_profile_find_measure (profile, id);

  return index >= 0 ? &profile->measures[index] : NULL;
}

static gint64
total_of (const FlamCompared *capture, const FlamMeasure *measure)
{
  const FlamProfile *profile = capture->tree->profile;
  g_autoptr (FlamSelection) selection =
      flam_selection_copy (capture->selection);

  selection->measure = (guint)(measure - profile->measures);
  return flam_weights_total (profile, selection);
}

static void
append_bar (
    Page *page, guint i, const FlamMeasure *measure, gint64 value, gint64 top)
{
  g_autofree char *text = flam_format_weight (measure, value);
  int room = CHART_WIDTH / (int)MAX (page->n, 1);
  int height =
      top > 0 ? (int)((double)value / (double)top * (CHART_HEIGHT - CHART_HEAD))
              : 0;

  flam_sink_printf (page->out, "<g><title>%u: ", i + 1);
  flam_sink_put_escaped (page->out, page->captures[i].name, -1);
  flam_sink_printf (page->out, ": ");
  flam_sink_put_escaped (page->out, text, -1);
  flam_sink_printf (
      page->out,
      "</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></g>",
      (int)i * room + 1,
      CHART_HEIGHT - MAX (height, 1),
      MAX (room - 2, 1),
      MAX (height, 1));
}

/* Captures without the measure leave a gap. */
static void
append_chart (Page *page, const FlamMeasure *like, const char *id)
{
  g_autofree gint64 *value = g_new0 (gint64, page->n);
  g_autofree char *most = NULL;
  gint64 top = 0;

  for (guint i = 0; i < page->n; i++)
    {
      const FlamMeasure *measure = measure_named (profile_of (page, i), id);

      value[i] = measure != NULL ? total_of (&page->captures[i], measure) : -1;
      top = MAX (top, value[i]);
    }
  most = flam_format_weight (like, top);
  flam_sink_printf (page->out,
                    "<svg class=\"chart\" xmlns=\"http://www.w3.org/"
                    "2000/svg\" width=\"%d\" height=\"%d\" "
                    "viewBox=\"0 0 %d %d\"><text x=\"0\" y=\"14\">",
                    CHART_WIDTH,
                    CHART_HEIGHT,
                    CHART_WIDTH,
                    CHART_HEIGHT);
  flam_sink_put_escaped (
      page->out,
      flam_profile_string (profile_of (page, page->n - 1), like->name),
      -1);
  flam_sink_printf (
      page->out, "</text><text class=\"most\" x=\"%d\" y=\"14\">", CHART_WIDTH);
  flam_sink_put_escaped (page->out, most, -1);
  flam_sink_put (page->out, " at most</text>");
  for (guint i = 0; i < page->n; i++)
    if (value[i] >= 0)
      append_bar (page, i, like, value[i], top);
  flam_sink_put (page->out, "</svg>\n");
}

static void
append_charts (Page *page)
{
  const FlamProfile *last = profile_of (page, page->n - 1);

  flam_html_append (page->out, "h2", "Totals");
  for (guint m = 0; m < last->n_measures; m++)
    append_chart (page,
                  &last->measures[m],
                  flam_profile_string (last, last->measures[m].id));
}

/* --- captures ------------------------------------------------------------ */

static void
append_start (Page *page, const FlamProfile *profile)
{
  gint64 start = profile->facts.start_unix_ns;
  g_autoptr (GDateTime) time =
      start > 0 ? g_date_time_new_from_unix_utc (start / 1000000000) : NULL;

  flam_html_append_cell (page->out,
                         time != NULL
                             ? g_date_time_format (time, "%Y-%m-%d %H:%M UTC")
                             : g_strdup (""));
}

static void
append_captures (Page *page)
{
  flam_html_append (page->out, "h2", "Captures");
  flam_sink_put (page->out,
                 "<table><tr><th></th><th>Start</th><th>Duration</th>"
                 "<th>Total</th><th>Capture</th></tr>\n");
  for (guint i = 0; i < page->n; i++)
    {
      const FlamTree *tree = page->captures[i].tree;
      const FlamMeasure measure = flam_tree_measure (tree);
      gint64 duration = tree->profile->facts.duration_ns;

      flam_sink_printf (page->out, "<tr><td>%u</td>", i + 1);
      append_start (page, tree->profile);
      flam_html_append_cell (page->out,
                             duration > 0
                                 ? flam_format_value (duration, FLAM_UNIT_NS)
                                 : g_strdup (""));
      flam_html_append_cell (page->out,
                             flam_format_weight (&measure, tree->total[0]));
      flam_html_append_cell (page->out, g_strdup (page->captures[i].name));
      flam_sink_put (page->out, "</tr>\n");
    }
  flam_sink_put (page->out, "</table>\n");
}

/* --- functions ----------------------------------------------------------- */

static void
trend_free (gpointer data)
{
  Trend *trend = data;

  g_free (trend->value);
  g_free (trend);
}

static void
add_capture (GPtrArray *all, GHashTable *trends, const Page *page, guint i)
{
  const FlamTree *tree = page->captures[i].tree;
  guint n;
  g_autofree FlamFunctionRow *rows =
      flam_functions_new (tree, FLAM_SORT_SELF, &n);

  for (guint k = 0; k < n; k++)
    {
      const char *name = flam_tree_name (tree, rows[k].node);
      Trend *trend = g_hash_table_lookup (trends, name);

      /* Sorted by self: what follows only calls. */
      if (rows[k].self == 0)
        break;

      if (trend == NULL)
        {
          trend = g_new0 (Trend, 1);
          trend->name = name;
          trend->value = g_new0 (gint64, page->n);
          g_hash_table_insert (trends, (char *)name, trend);
          g_ptr_array_add (all, trend);
        }
      trend->value[i] += rows[k].self;
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

/* A line from capture to capture, from nothing to its own greatest value. */
static void
append_trend (Page *page, const Trend *trend)
{
  gint64 top = 1;

  for (guint i = 0; i < page->n; i++)
    top = MAX (top, trend->value[i]);
  flam_sink_printf (page->out,
                    "<td><svg class=\"trend\" xmlns=\"http://www.w3.org/"
                    "2000/svg\" width=\"%d\" height=\"%d\"><polyline "
                    "points=\"",
                    TREND_WIDTH,
                    TREND_HEIGHT);
  for (guint i = 0; i < page->n; i++)
    flam_sink_printf (
        page->out,
        "%s%d,%d",
        i > 0 ? " " : "",
        page->n > 1 ? 2 + (int)(i * (TREND_WIDTH - 4) / (page->n - 1)) : 2,
        TREND_HEIGHT - 2 -
            (int)((double)trend->value[i] / (double)top * (TREND_HEIGHT - 4)));
  flam_sink_put (page->out, "\"/></svg></td>");
}

static void
append_function (Page *page, const Trend *trend)
{
  gint64 first = trend->value[0];
  gint64 last = trend->value[page->n - 1];

  flam_sink_put (page->out, "<tr>");
  append_trend (page, trend);
  flam_html_append_cell (page->out, flam_format_weight (&page->measure, first));
  flam_html_append_cell (page->out, flam_format_weight (&page->measure, last));
  flam_html_append_change (page->out, &page->measure, last - first);
  flam_html_append_cell (page->out, g_strdup (trend->name));
  flam_sink_put (page->out, "</tr>\n");
}

static gboolean
moved (const Page *page, const Trend *trend)
{
  return trend->value[page->n - 1] != trend->value[0];
}

static void
append_functions (Page *page)
{
  guint n = 0;

  g_autoptr (GHashTable) trends = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (trend_free);

  for (guint i = 0; i < page->n; i++)
    add_capture (rows, trends, page, i);
  g_ptr_array_sort_with_data (
      rows, moved_most_first, GUINT_TO_POINTER (page->n));
  flam_html_append (page->out, "h2", "Functions that moved most");
  flam_sink_put (page->out,
                 "<table><tr><th>Trend</th><th>First</th><th>Last</th>"
                 "<th>Change</th><th>Function (self)</th></tr>\n");
  while (n < rows->len && moved (page, rows->pdata[n]))
    n++;
  for (guint i = 0; i < MIN (n, MAX_ROWS); i++)
    append_function (page, rows->pdata[i]);
  flam_sink_put (page->out, "</table>\n");
  if (n == 0)
    flam_html_append (page->out, "p", "None.");
  if (n > MAX_ROWS)
    flam_sink_printf (page->out,
                      n - MAX_ROWS == 1
                          ? "<p>%u function more is not listed.</p>\n"
                          : "<p>%u functions more are not listed.</p>\n",
                      n - MAX_ROWS);
}

void
flam_history_page (FlamSink *out, const FlamCompared *captures, guint n)
{
  Page page = { out, captures, n, flam_tree_measure (captures[n - 1].tree) };
  g_autofree char *title = n == 1
                               ? g_strdup ("History of 1 capture")
                               : g_strdup_printf ("History of %u captures", n);

  flam_html_begin (out, title);
  flam_html_append (out, "h1", title);
  append_charts (&page);
  append_captures (&page);
  append_functions (&page);
  flam_html_end (out, FALSE);
}
