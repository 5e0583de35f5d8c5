/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-svg-private.h"

#include "flam-core-picture.h"

#include <math.h>
#include <string.h>

#define LEAST_CUT 6 /* characters; a shorter name is of no use */

void
flam_svg_put_number (FlamSink *out, double value, int places)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  char format[] = "%.0f";

  format[2] = '0' + places;
  g_ascii_formatd (buffer, sizeof buffer, format, value);
  if (strchr (buffer, '.') != NULL)
    {
      char *end = buffer + strlen (buffer);
      while (end[-1] == '0')
        *--end = '\0';
      if (end[-1] == '.')
        end[-1] = '\0';
    }
  flam_sink_put (out, buffer);
}

void
flam_svg_put_attribute (FlamSink *out, const char *name, double value)
{
  flam_sink_printf (out, " %s=\"", name);
  flam_svg_put_number (out, value, 4);
  flam_sink_put_c (out, '"');
}

void
flam_svg_put_text (FlamSink *out,
                   const char *name,
                   const char *anchor,
                   double x,
                   double y,
                   const char *text)
{
  flam_sink_put (out, "<text");
  if (name != NULL)
    flam_sink_printf (out, " class=\"%s\"", name);
  flam_svg_put_attribute (out, "x", x);
  flam_svg_put_attribute (out, "y", y);
  flam_sink_printf (out, " text-anchor=\"%s\">", anchor);
  flam_sink_put_escaped (out, text, -1);
  flam_sink_put (out, "</text>\n");
}

char *
flam_svg_label_text (const FlamSvg *svg, const char *name, double width)
{
  int characters = (int)((width - 6) / svg->character);

  if (svg->row < svg->font || characters < 1 ||
      (characters < LEAST_CUT && g_utf8_strlen (name, -1) > characters))
    return NULL;
  return flam_format_short_name (name, characters);
}

void
flam_svg_put_label (
    const FlamSvg *svg, const char *name, double x, double y, double width)
{
  g_autofree char *label = flam_svg_label_text (svg, name, width);

  if (label == NULL)
    return;
  flam_sink_put (svg->out, "<text");
  flam_svg_put_attribute (svg->out, "x", FLAM_SVG_MARGIN + x + 3);
  flam_svg_put_attribute (svg->out, "y", y + svg->row / 2 + svg->font / 4);
  flam_sink_put_c (svg->out, '>');
  flam_sink_put_escaped (svg->out, label, -1);
  flam_sink_put (svg->out, "</text>");
}

static void
append_count (FlamSink *out, const char *plain)
{
  gsize whole = strcspn (plain, ".");

  for (gsize i = 0; plain[i] != '\0'; i++)
    {
      if (i > 0 && i < whole && (whole - i) % 3 == 0)
        flam_sink_put_c (out, ',');
      flam_sink_put_c (out, plain[i]);
    }
}

gboolean
flam_svg_is_plain (const FlamSvg *svg, const FlamMeasure *measure)
{
  return measure->unit == FLAM_UNIT_COUNT || svg->look->count_name != NULL;
}

gint64
flam_svg_weight (const FlamSvg *svg, gint64 weight)
{
  double factor = svg->look->factor;
  double scaled = rint ((double)weight * factor);

  if (factor <= 0)
    return weight;
  return (gint64)CLAMP (
      scaled, -(double)(G_MAXINT64 / 2), (double)(G_MAXINT64 / 2));
}

/* As flamegraph.pl writes counts: 1,234. */
static void
append_number (const FlamSvg *svg, const FlamMeasure *measure, gint64 weight)
{
  gboolean plain = flam_svg_is_plain (svg, measure);
  gint64 scaled = flam_svg_weight (svg, weight);
  g_autofree char *text = plain ? flam_format_plain (measure, scaled)
                                : flam_format_weight (measure, scaled);

  if (plain)
    append_count (svg->out, text);
  else
    flam_sink_put (svg->out, text);
}

/* " ± 3.2 MB", " from 4 samples": the end of the figure's text, which readers
 * of such pictures skip. */
static void
append_error (const FlamSvg *svg,
              const FlamMeasure *measure,
              FlamEstimate estimate)
{
  if (!estimate.sampled)
    return;
  if (flam_estimate_is_few (&estimate))
    flam_sink_printf (svg->out,
                      estimate.samples == 1 ? " from %d sample"
                                            : " from %d samples",
                      (int)estimate.samples);
  else
    {
      flam_sink_put (svg->out, " ± ");
      append_number (svg, measure, estimate.error);
    }
}

static void
append_weight (const FlamSvg *svg,
               const FlamMeasure *measure,
               gint64 weight,
               FlamEstimate estimate)
{
  const char *name = svg->look->count_name;

  append_number (svg, measure, weight);
  if (flam_svg_is_plain (svg, measure))
    {
      flam_sink_put_c (svg->out, ' ');
      flam_sink_put_escaped (svg->out, name != NULL ? name : "samples", -1);
    }
  append_error (svg, measure, estimate);
}

/* ": running 60.0 %, lock 40.0 %" */
static void
append_states (FlamSink *out, const FlamTree *tree, FlamNodeId node)
{
  guint states = flam_tree_states (tree);
  g_autofree char *text = NULL;

  if ((states & (states - 1)) == 0)
    return;
  text = flam_format_states (&tree->split[node]);
  flam_sink_put (out, ": ");
  flam_sink_put (out, text);
}

/* ": dispatch,gc" */
static void
append_status (FlamSink *out, guint status)
{
  g_autofree char *text = flam_status_to_text (status);

  if (status == 0)
    return;
  flam_sink_put (out, ": ");
  flam_sink_put (out, text);
}

/* ": +1.2 s, before 3.4 s", ": +1.2 s, new" */
static void
append_change (const FlamSvg *svg, const FlamMeasure *measure, FlamNodeId node)
{
  static const char *const kinds[] = {
    [FLAM_CHANGE_KEPT] = NULL,
    [FLAM_CHANGE_NEW] = "new",
    [FLAM_CHANGE_GONE] = "gone",
    [FLAM_CHANGE_UNTRACKED] = "new function",
  };
  const FlamTreeChange *change = svg->tree->change;
  const FlamChangeEstimate estimate = flam_tree_change_estimate (change, node);
  FlamSink *out = svg->out;

  if (change == NULL)
    return;
  flam_sink_put (out,
                 change->delta[node] > 0   ? ": +"
                 : change->delta[node] < 0 ? ": −"
                                           : ": ±");
  append_number (svg, measure, ABS (change->delta[node]));
  append_error (svg, measure, estimate.delta);
  if (change->base[node] != 0 || change->kind[node] == FLAM_CHANGE_KEPT)
    {
      flam_sink_put (out, ", before ");
      append_number (svg, measure, change->base[node]);
      append_error (svg, measure, estimate.base);
    }
  if (kinds[change->kind[node]] != NULL)
    flam_sink_printf (out, ", %s", kinds[change->kind[node]]);
}

/* The current weight, if the width is that of both captures. */
static gint64
weight_of (const FlamTree *tree, FlamNodeId node)
{
  const FlamTreeChange *change = tree->change;

  return change != NULL && change->both && !change->self
             ? change->base[node] + change->delta[node]
             : tree->total[node];
}

static FlamEstimate
estimate_of (const FlamSvg *svg, FlamNodeId node)
{
  const FlamTree *tree = svg->tree;
  const FlamMeasure measure = flam_tree_measure (tree);
  const FlamFunctionRow row = flam_functions_row_of_node (tree, node);

  if (tree->change != NULL && tree->change->both)
    return flam_tree_change_estimate (tree->change, node).fresh;
  return flam_estimate_of_figure (
      &tree->profile->facts, &measure, flam_functions_total (tree, &row));
}

void
flam_svg_put_description (const FlamSvg *svg, FlamNodeId node)
{
  FlamSink *out = svg->out;
  const FlamTree *tree = svg->tree;
  const FlamMeasure measure = flam_tree_measure (tree);
  g_autofree char *detail = flam_tree_detail (tree, node);
  /* More than the root's width only with a `total`. */
  gint64 whole = weight_of (tree, 0) + (svg->whole - tree->total[0]);
  gint64 weight = node == 0 ? whole : weight_of (tree, node);

  flam_sink_put_escaped (out, flam_tree_name (tree, node), -1);
  flam_sink_put (out, detail);
  flam_sink_put (out, " (");
  append_weight (svg, &measure, weight, estimate_of (svg, node));
  flam_sink_put (out, ", ");
  flam_svg_put_number (out, whole > 0 ? 100.0 * weight / whole : 0, 2);
  flam_sink_put (out, "%)");
  append_states (out, tree, node);
  append_status (out, flam_tree_status (tree, node));
  append_change (svg, &measure, node);
}
