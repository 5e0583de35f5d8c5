/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One page that needs nothing else: the flame graph, what is known about the
 * capture, and the hottest functions. */

#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-format.h"
#include "flam-functions.h"
#include "flam-html.h"
#include "flam-svg.h"

#define MAX_ROWS 200

static void
append_facts (FlamSink *out, const FlamTree *tree)
{
  const FlamFacts *facts = &tree->profile->facts;
  const FlamMeasure *measure = &tree->profile->measures[tree->measure];
  g_autofree char *total = flam_format_weight (measure, tree->total[0]);
  g_autofree char *duration =
      facts->duration_ns > 0
          ? flam_format_value (facts->duration_ns, FLAM_UNIT_NS)
          : g_strdup ("");

  flam_sink_put (out, "<dl>\n");
  flam_html_append_fact (out, "Program", facts->command);
  flam_html_append_fact (out, "Format", facts->format);
  flam_html_append_fact (
      out, "Measure", flam_profile_string (tree->profile, measure->name));
  flam_html_append_fact (out, "Total", total);
  flam_html_append_fact (out, "Duration", duration);
  flam_sink_put (out, "</dl>\n");
  for (guint i = 0; facts->warnings[i] != NULL; i++)
    {
      flam_sink_put (out, "<p class=\"warning\">");
      flam_svg_append_escaped (out, facts->warnings[i], -1);
      flam_sink_put (out, "</p>\n");
    }
}

static void
append_functions (FlamSink *out, const FlamTree *tree)
{
  const FlamMeasure *measure = &tree->profile->measures[tree->measure];
  guint n;
  g_autofree FlamFunctionRow *rows =
      flam_functions_new (tree, FLAM_SORT_SELF, &n);

  flam_sink_put (out,
                 "<h2>Hottest functions</h2>\n<table><tr><th>Self</th>"
                 "<th></th><th>Total</th><th></th><th>Function</th></tr>\n");
  for (guint i = 0; i < MIN (n, MAX_ROWS); i++)
    {
      const FlamFunctionRow *row = &rows[i];
      flam_sink_put (out, "<tr>");
      flam_html_append_cell (out, flam_format_weight (measure, row->self));
      flam_html_append_cell (out,
                             flam_format_percent (row->self, tree->total[0]));
      flam_html_append_cell (out, flam_format_weight (measure, row->total));
      flam_html_append_cell (out,
                             flam_format_percent (row->total, tree->total[0]));
      flam_html_append_cell (out, g_strdup (flam_tree_name (tree, row->node)));
      flam_sink_put (out, "</tr>\n");
    }
  flam_sink_put (out, "</table>\n");
  if (n > MAX_ROWS)
    flam_sink_printf (
        out, "<p>%u functions more are not listed.</p>\n", n - MAX_ROWS);
}

static gboolean
save (const FlamProfile *profile,
      const FlamSelection *selection,
      const FlamExportOptions *options,
      FlamSink *out,
      GError **error)
{
  g_autoptr (FlamTree) tree = flam_export_tree (profile, selection);
  flam_html_begin (out, options->title);
  flam_svg_append (out, tree, options->title, options->color);
  append_facts (out, tree);
  if (!tree->inverted)
    append_functions (out, tree);
  flam_html_end (out, TRUE);
  return TRUE;
}

const FlamExporter flam_export_html = {
  .id = "html",
  .label = "HTML page",
  .suffix = "html",
  .mime_type = "text/html",
  .text = TRUE,
  .colored = TRUE,
  .holds = FLAM_HOLDS_ALL,
  .save = save,
};
