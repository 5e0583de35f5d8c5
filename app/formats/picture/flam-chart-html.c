/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-pages.h"

#include "flam-core-picture.h"
#include "flam-export-common.h"
#include "flam-html.h"
#include "flam-svg.h"

#define MAX_ROWS 200

static void
put_functions (FlamSink *out, const FlamChart *chart)
{
  g_autoptr (GArray) functions = flam_chart_functions (chart);

  flam_html_append (out, "h2", chart->exact ? "Calls" : "Calls seen");
  flam_sink_put (out,
                 "<table><tr><th>Calls</th><th>Median</th><th>99 %</th>"
                 "<th>Longest</th><th>Together</th><th>Function</th></tr>\n");
  for (guint i = 0; i < MIN (functions->len, MAX_ROWS); i++)
    {
      const FlamChartFunction *function =
          &g_array_index (functions, FlamChartFunction, i);
      const FlamChartDurations *of = &function->durations;
      guint32 row;
      guint lane = flam_chart_lane_of (chart, function->span, &row);
      const gint64 times[] = { of->median, of->p99, of->longest, of->total };

      flam_sink_put (out, "<tr>");
      flam_html_append_cell (out, flam_format_value (of->n, FLAM_UNIT_COUNT));
      for (guint k = 0; k < G_N_ELEMENTS (times); k++)
        flam_html_append_cell (out, flam_chart_text (chart, times[k]));
      flam_html_append_cell (out,
                             g_strdup (flam_chart_name (
                                 chart, &chart->lanes[lane], function->span)));
      flam_sink_put (out, "</tr>\n");
    }
  flam_sink_put (out, "</table>\n");
}

static void
put_facts (FlamSink *out, const FlamTree *tree, const FlamChart *chart)
{
  const FlamMeasure measure = flam_tree_measure (tree);
  g_autofree char *total = flam_format_weight (&measure, tree->total[0]);
  g_autofree char *length = flam_chart_text (chart, chart->to - chart->from);

  flam_sink_put (out, "<dl>\n");
  flam_html_append_fact (
      out, "Measure", flam_profile_string (tree->profile, measure.name));
  flam_html_append_fact (out, "Total", total);
  flam_html_append_fact (out, "Length", length);
  flam_sink_put (out, "</dl>\n");
}

gboolean
flam_chart_page (const FlamProfile *profile,
                 const FlamSelection *selection,
                 const FlamPictureStyle *look,
                 FlamSink *out,
                 GError **error)
{
  g_autoptr (FlamChart) chart = flam_export_chart (profile, selection, error);
  g_autoptr (FlamTree) tree = NULL;

  if (chart == NULL)
    return FALSE;
  tree = flam_export_tree (profile, selection);
  flam_html_begin (out, look->title, FLAM_HTML_ZOOM);
  flam_html_append (out, "h1", look->title);
  put_facts (out, tree, chart);
  for (guint i = 0; profile->facts.warnings[i] != NULL; i++)
    {
      flam_sink_put (out, "<p class=\"warning\">");
      flam_sink_put_escaped (out, profile->facts.warnings[i], -1);
      flam_sink_put (out, "</p>\n");
    }
  flam_svg_append (out, tree, chart, look);
  put_functions (out, chart);
  flam_html_end (out, FLAM_HTML_ZOOM);
  return TRUE;
}
