/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-pages.h"

#include "flam-core-picture.h"
#include "flam-export-common.h"
#include "flam-html.h"
#include "flam-svg.h"

#define MAX_ROWS 200

/* "mix.c:16": where the function is, in the newer capture if it has it. */
static char *
place_of (const FlamCompared *base, const FlamCompared *fresh, const char *name)
{
  const FlamTree *tree = fresh->tree;
  FlamId node = flam_tree_find_name (tree, name);
  g_autofree char *short_name = NULL;
  const char *file;
  guint32 line;

  if (node == FLAM_NONE)
    node = flam_tree_find_name (tree = base->tree, name);
  if (node == FLAM_NONE)
    return g_strdup ("");
  file = flam_profile_string (tree->profile,
                              flam_export_start (tree, node, &line));
  if (*file == '\0')
    return g_strdup ("");
  short_name = g_path_get_basename (file);
  return line > 0 ? g_strdup_printf ("%s:%u", short_name, line)
                  : g_steal_pointer (&short_name);
}

static void
append_functions (FlamSink *out,
                  const FlamCompared *base,
                  const FlamCompared *fresh,
                  gboolean self,
                  FlamDiffScale scale)
{
  const FlamMeasure measure = flam_tree_measure (fresh->tree);
  guint n, shown = 0;
  g_autofree FlamDiffRow *rows =
      flam_diff_functions (base->tree, fresh->tree, self, scale, &n);

  flam_html_append (out, "h2", "What changed most");
  flam_sink_printf (out,
                    "<table><tr><th>Change</th><th>Before</th>"
                    "<th>Now</th><th class=\"name\">Function (%s)</th>"
                    "<th>File</th></tr>\n",
                    self ? "self" : "total");
  for (; shown < MIN (n, MAX_ROWS) && rows[shown].delta != 0; shown++)
    {
      const FlamDiffRow *row = &rows[shown];

      flam_sink_put (out, "<tr>");
      flam_html_append_change (out, &measure, row->delta, &row->estimate.delta);
      flam_html_append_cell (
          out,
          flam_format_estimated (&row->estimate.base, &measure, row->base));
      flam_html_append_cell (
          out,
          flam_format_estimated (&row->estimate.fresh, &measure, row->fresh));
      flam_sink_put (out, "<td class=\"name\">");
      flam_sink_put_escaped (out, row->name, -1);
      flam_sink_put (out, "</td>");
      flam_html_append_cell (out, place_of (base, fresh, row->name));
      flam_sink_put (out, "</tr>\n");
    }
  flam_sink_put (out, "</table>\n");
  if (shown == 0)
    flam_html_append (out, "p", "Nothing.");
}

static void
append_picture (FlamSink *out,
                const FlamCompared *base,
                const FlamCompared *fresh,
                FlamDiffShape shape,
                gboolean self,
                FlamDiffScale scale,
                const FlamPictureStyle *look)
{
  FlamPictureStyle titled = *look;
  g_autofree char *title =
      shape == FLAM_DIFF_FRESH  ? g_strdup_printf ("Now: %s", fresh->name)
      : shape == FLAM_DIFF_BASE ? g_strdup_printf ("Before: %s", base->name)
                                : g_strdup ("Difference: only what changed");
  g_autoptr (FlamTree) tree =
      flam_diff_tree (base->tree, fresh->tree, shape, self, scale);

  titled.title = title;
  flam_svg_append (out, tree, NULL, &titled);
}

void
flam_diff_picture (FlamSink *out,
                   const FlamCompared *base,
                   const FlamCompared *fresh,
                   FlamDiffShape shape,
                   gboolean self,
                   FlamDiffScale scale,
                   const FlamPictureStyle *look)
{
  FlamPictureStyle titled = *look;
  g_autofree char *title = g_strdup_printf ("%s → %s", base->name, fresh->name);
  g_autoptr (FlamTree) tree =
      flam_diff_tree (base->tree, fresh->tree, shape, self, scale);

  if (titled.title == NULL)
    titled.title = title;
  flam_svg_append_document (out, tree, NULL, &titled);
}

void
flam_diff_page (FlamSink *out,
                const FlamCompared *base,
                const FlamCompared *fresh,
                gboolean self,
                FlamDiffScale scale,
                const FlamPictureStyle *look)
{
  const FlamMeasure measure = flam_tree_measure (fresh->tree);
  g_autofree char *title =
      look->title != NULL
          ? g_strdup (look->title)
          : g_strdup_printf ("%s → %s", base->name, fresh->name);
  g_autofree char *before = flam_format_whole (base->tree);
  g_autoptr (FlamHeadline) headline =
      flam_headline_new_difference (base->tree, fresh->tree, scale, NULL);
  g_autofree char *sentence = flam_headline_to_english (headline);
  g_autofree char *now = flam_format_whole (fresh->tree);

  flam_html_begin (out, title, FLAM_HTML_ZOOM);
  flam_html_append (out, "h1", title);
  if (*sentence != '\0')
    flam_html_append (out, "p", sentence);
  flam_sink_put (out, "<dl>\n");
  flam_html_append_fact (
      out, "Measure", flam_profile_string (fresh->tree->profile, measure.name));
  flam_html_append_fact (out, "Before", before);
  flam_html_append_fact (out, "Now", now);
  if (scale.to != scale.from)
    {
      g_autofree char *factor =
          g_strdup_printf ("“before” is multiplied by %.4g",
                           (double)scale.to / (double)scale.from);

      flam_html_append_fact (out, "Scale", factor);
    }
  flam_sink_put (out, "</dl>\n");
  append_picture (out, base, fresh, FLAM_DIFF_BASE, self, scale, look);
  append_picture (out, base, fresh, FLAM_DIFF_FRESH, self, scale, look);
  append_picture (out, base, fresh, FLAM_DIFF_CHANGED, self, scale, look);
  append_functions (out, base, fresh, self, scale);
  flam_html_end (out, FLAM_HTML_ZOOM);
}
