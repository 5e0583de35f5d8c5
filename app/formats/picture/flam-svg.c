/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-svg-private.h"

#include "flam-core-picture.h"
#include "flam-html.h"
#include "flam-name-attributes.h"

#include <string.h>

#define WIDTH 1200
#define MARGIN FLAM_SVG_MARGIN
#define HEAD 44     /* the height of the title and the buttons */
#define SUBTITLE 18 /* and of the subtitle, if there is one */
#define FOOT 52     /* the height of the legend and the details */
#define SWATCH 11
#define LEGEND_MAX 8 /* entries */
#define FONT 12
#define CHARACTER 0.63 /* average width in Verdana and the like, in ems */
#define LEAST_WIDTH 0.1

static void
put_value (FlamSink *out, const char *name, const char *value)
{
  if (value == NULL)
    return;
  flam_sink_printf (out, " %s=\"", name);
  flam_sink_put_escaped (out, value, -1);
  flam_sink_put_c (out, '"');
}

/* TRUE: within a link. */
static gboolean
begin_box (const FlamSvg *svg, FlamNodeId node)
{
  FlamSink *out = svg->out;
  char *const *values = flam_name_attributes_find (
      svg->look->attributes, flam_tree_name (svg->tree, node));
  gboolean link = values != NULL && values[FLAM_ATTRIBUTE_HREF] != NULL;

  if (link)
    {
      flam_sink_put (out, "<a");
      put_value (out, "href", values[FLAM_ATTRIBUTE_HREF]);
      put_value (out,
                 "target",
                 values[FLAM_ATTRIBUTE_TARGET] != NULL
                     ? values[FLAM_ATTRIBUTE_TARGET]
                     : "_top");
      flam_sink_put_c (out, '>');
    }
  flam_sink_put (out, "<g class=\"f");
  if (values != NULL && values[FLAM_ATTRIBUTE_CLASS] != NULL)
    {
      flam_sink_put_c (out, ' ');
      flam_sink_put_escaped (out, values[FLAM_ATTRIBUTE_CLASS], -1);
    }
  flam_sink_put_c (out, '"');
  if (values != NULL)
    put_value (out, "id", values[FLAM_ATTRIBUTE_ID]);
  if (flam_palette_label_state (
          svg->palette, svg->tree, node, FLAM_COLOR_NORMAL) == FLAM_COLOR_BLACK)
    flam_sink_put (out, " fill=\"#fff\"");
  flam_sink_put (out, "><title>");
  return link;
}

static void
append_box (const FlamSvg *svg, const FlamBox *box)
{
  FlamSink *out = svg->out;
  const FlamMeasure measure = flam_tree_measure (svg->tree);
  double x = MAX (box->x, 0);
  double width = MIN (box->x + box->width, svg->width - 2 * MARGIN) - x;
  gboolean link;

  if (box->node == 0)
    width = svg->width - 2 * MARGIN;
  if ((box->flags & FLAM_BOX_STRIP) != 0 || width <= 0)
    return;
  link = begin_box (svg, box->node);
  flam_svg_put_description (svg, box->node);
  flam_sink_put (out, "</title><rect");
  flam_svg_put_attribute (out, "x", MARGIN + x);
  flam_svg_put_attribute (out, "y", svg->head + box->y);
  flam_svg_put_attribute (out, "width", width);
  flam_svg_put_attribute (out, "height", MAX (svg->row - 1, 0.5));
  flam_sink_printf (out,
                    " fill=\"#%06x\"",
                    flam_palette_node (svg->palette, svg->tree, box->node));
  if (!flam_svg_is_plain (svg, &measure))
    {
      g_autofree char *weight = flam_format_plain (
          &measure, flam_svg_weight (svg, svg->tree->total[box->node]));

      flam_sink_printf (out, " data-weight=\"%s\"", weight);
    }
  flam_sink_put (out, "/>");
  flam_svg_put_label (
      svg, flam_tree_name (svg->tree, box->node), x, svg->head + box->y, width);
  flam_sink_put (out, link ? "</g></a>\n" : "</g>\n");
}

static void
append_heading (const FlamSvg *svg, double height)
{
  const FlamPictureStyle *look = svg->look;
  FlamSink *out = svg->out;

  flam_sink_put (out, "<g font-size=\"17\">");
  flam_svg_put_text (out,
                     "heading",
                     "middle",
                     svg->width / 2,
                     24,
                     look->title != NULL ? look->title : "");
  flam_sink_put (out, "</g>");
  if (look->subtitle != NULL)
    flam_svg_put_text (
        out, "subtitle", "middle", svg->width / 2, HEAD - 2, look->subtitle);
  if (look->shape != FLAM_SHAPE_FLAME)
    return;
  flam_sink_put (out, "<g class=\"unzoom button off\">");
  flam_svg_put_text (out, NULL, "start", MARGIN, 24, "Reset zoom");
  flam_sink_put (out, "</g><g class=\"search button off\">");
  flam_svg_put_text (out, NULL, "end", svg->width - MARGIN, 24, "Search");
  flam_sink_put (out, "</g>");
  flam_svg_put_text (out, "details", "start", MARGIN, height - 12, " ");
  flam_svg_put_text (
      out, "matched", "end", svg->width - MARGIN, height - 12, " ");
}

/* The data that the script needs. */
static void
append_facts (const FlamSvg *svg)
{
  FlamSink *out = svg->out;

  flam_sink_printf (out, " data-margin=\"%d\"", MARGIN);
  flam_svg_put_attribute (out, "data-row", svg->row);
  flam_svg_put_attribute (out, "data-baseline", svg->row / 2 + svg->font / 4);
  flam_sink_printf (out,
                    " data-character=\"%d\" data-direction=\"%s\"",
                    (int)(svg->character * 100),
                    svg->chart != NULL                        ? "chart"
                    : svg->direction == FLAM_DIRECTION_ICICLE ? "icicle"
                                                              : "flame");
  put_value (out, "data-name-type", svg->look->name_type);
  if (svg->chart != NULL)
    flam_sink_printf (out,
                      " data-from=\"%" G_GINT64_FORMAT
                      "\" data-to=\"%" G_GINT64_FORMAT "\"",
                      svg->chart->from,
                      svg->chart->to);
}

/* flamegraph.pl's, from top to bottom. */
static const struct
{
  const char *name;
  guint32 top, bottom;
} papers[] = {
  { "yellow", 0xeeeeee, 0xeeeeb0 },
  { "blue", 0xeeeeee, 0xe0e0ff },
  { "green", 0xeef2ee, 0xe0ffe0 },
  { "grey", 0xf8f8f8, 0xe8e8e8 },
};

gboolean
flam_svg_is_background (const char *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (papers); i++)
    if (strcmp (text, papers[i].name) == 0)
      return TRUE;
  return *text == '#' && strlen (text) == 7 &&
         strspn (text + 1, "0123456789abcdefABCDEF") == 6;
}

static void
append_paper (const FlamSvg *svg)
{
  const char *background = svg->look->background;
  FlamSink *out = svg->out;
  const char *fill = "url(#paper)";
  g_autofree char *color =
      g_strdup_printf ("#%06x", flam_palette_background (svg->palette));

  if (background == NULL)
    fill = color;
  else if (*background == '#')
    fill = background;
  for (guint i = 0; background != NULL && i < G_N_ELEMENTS (papers); i++)
    if (strcmp (background, papers[i].name) == 0)
      flam_sink_printf (out,
                        "<defs><linearGradient id=\"paper\" x1=\"0\" "
                        "y1=\"0\" x2=\"0\" y2=\"1\"><stop offset=\"5%%\" "
                        "stop-color=\"#%06x\"/><stop offset=\"95%%\" "
                        "stop-color=\"#%06x\"/></linearGradient></defs>\n",
                        papers[i].top,
                        papers[i].bottom);
  flam_sink_printf (out,
                    "<rect class=\"paper\" width=\"100%%\" height=\"100%%\" "
                    "fill=\"%s\"/>\n",
                    fill);
}

static void
append_frame (const FlamSvg *svg, double height)
{
  FlamSink *out = svg->out;
  gboolean flame = svg->look->shape == FLAM_SHAPE_FLAME;

  flam_sink_printf (out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"%s\"",
                    flame ? "flambeau" : "flambeau-shape");
  flam_svg_put_attribute (out, "width", svg->width);
  flam_svg_put_attribute (out, "height", height);
  flam_sink_put (out, " viewBox=\"0 0 ");
  flam_svg_put_number (out, svg->width, 4);
  flam_sink_put_c (out, ' ');
  flam_svg_put_number (out, height, 4);
  flam_sink_put_c (out, '"');
  if (flame)
    append_facts (svg);
  if (svg->look->font != NULL)
    put_value (out, "font-family", svg->look->font);
  else
    flam_sink_put (out, " font-family=\"Verdana, 'DejaVu Sans', sans-serif\"");
  flam_svg_put_attribute (out, "font-size", svg->font);
  flam_sink_put (out, ">\n");
  if (svg->look->notes != NULL)
    {
      flam_sink_put (out, "<desc>");
      flam_sink_put_escaped (out, svg->look->notes, -1);
      flam_sink_put (out, "</desc>\n");
    }
  flam_sink_put (
      out,
      flame ? "<style>.f rect{rx:2px}.f text{pointer-events:none}"
              ".f:hover rect,.f.on rect{stroke:#000;stroke-width:.6}"
              ".f.on rect{stroke-width:2}.f{cursor:pointer}"
              ".flambeau .dim rect{opacity:.6}.flambeau .off{display:none}"
              ".flambeau .button{cursor:pointer;opacity:.7}"
              ".flambeau .button:hover,.flambeau .button:focus{opacity:1}"
              "</style>\n"
            : "<style>.a text{pointer-events:none}.a rect{rx:2px}"
              ".a:hover .fill{stroke:#000;stroke-width:1}</style>\n");
  append_paper (svg);
  append_heading (svg, height);
}

/* One line below the boxes; entries that do not fit are left out. */
static void
append_legend (const FlamSvg *svg, double baseline)
{
  FlamSink *out = svg->out;
  g_autoptr (GPtrArray) entries =
      flam_palette_legend (svg->palette, svg->tree, 0, LEGEND_MAX);
  double x = MARGIN;

  flam_sink_put (out, "<g class=\"legend\">\n");
  for (guint i = 0; i < entries->len; i++)
    {
      const FlamLegendEntry *entry = entries->pdata[i];
      g_autofree char *name = flam_format_short_name (entry->name, 28);
      double width =
          SWATCH + 5 + svg->character * (double)g_utf8_strlen (name, -1);

      if (x + width > svg->width - MARGIN)
        break;
      flam_sink_put (out, "<rect");
      flam_svg_put_attribute (out, "x", x);
      flam_svg_put_attribute (out, "y", baseline - SWATCH + 1);
      flam_sink_printf (out,
                        " width=\"%d\" height=\"%d\" rx=\"2\" fill=\"#%06x\"/>",
                        SWATCH,
                        SWATCH,
                        entry->color);
      flam_svg_put_text (out, NULL, "start", x + SWATCH + 5, baseline, name);
      x += width + 16;
    }
  flam_sink_put (out, "</g>\n");
}

/* A note on the parts of the tree that are left out; NULL: none. */
static char *
tree_note (const FlamSvg *svg, const FlamRows *rows, const FlamLayout *layout)
{
  const FlamTree *tree = svg->tree;
  g_autoptr (GString) note = g_string_new (NULL);

  if (layout->hidden > 0)
    {
      g_autofree char *share =
          flam_format_percent (layout->hidden, tree->total[0]);

      g_string_append_printf (note,
                              svg->look->shape == FLAM_SHAPE_FLAME
                                  ? "boxes too narrow to draw are left out: %s"
                                  : "in functions too small to draw: %s",
                              share);
    }
  if (flam_layout_is_cut (rows, layout))
    g_string_append_printf (
        note, "%sdeeper calls are left out", note->len > 0 ? "; " : "");
  if (tree->change != NULL && tree->change->missing > 0)
    {
      const FlamMeasure measure = flam_tree_measure (tree);
      g_autofree char *weight = flam_format_estimated (
          &tree->change->missing_estimate, &measure, tree->change->missing);

      g_string_append_printf (note,
                              "%sonly in the other capture: %s",
                              note->len > 0 ? "; " : "",
                              weight);
    }
  return note->len > 0 ? g_string_free (g_steal_pointer (&note), FALSE) : NULL;
}

static void
append_note (const FlamSvg *svg, const char *note, double baseline)
{
  if (note == NULL)
    return;
  flam_sink_put (svg->out, "<g opacity=\".6\">");
  flam_svg_put_text (
      svg->out, "note", "middle", svg->width / 2, baseline, note);
  flam_sink_put (svg->out, "</g>");
}

static double
or_default (double value, double otherwise)
{
  return value > 0 ? value : otherwise;
}

/* The lower end of a tree's picture; takes its boxes' layout. */
static FlamLayout *
lay_out_tree (const FlamSvg *svg, const FlamRows *rows)
{
  FlamViewport viewport = {
    .shape = svg->look->shape,
    .width = svg->width - 2 * MARGIN,
    .height = svg->row,
    .row_height = svg->row,
    .to = svg->whole,
    .min_width = or_default (svg->look->min_width, LEAST_WIDTH),
    .direction = svg->direction,
  };

  viewport.height =
      viewport.shape == FLAM_SHAPE_FLAME
          ? svg->row * (double)flam_layout_n_rows (rows, &viewport)
          : flam_picture_style_height (viewport.shape, viewport.width);
  return flam_layout_new (rows, &viewport);
}

static gint64
whole_of (const FlamTree *tree, const FlamPictureStyle *look)
{
  const FlamMeasure measure = flam_tree_measure (tree);
  double whole = look->total * (double)measure.denominator;

  return whole < (double)G_MAXINT64 / 2 ? MAX (tree->total[0], (gint64)whole)
                                        : tree->total[0];
}

/* All except the root element's end. */
static void
append_picture (FlamSink *out,
                const FlamTree *tree,
                const FlamChart *chart,
                const FlamPictureStyle *look)
{
  g_autoptr (FlamPalette) palette =
      flam_palette_new_for (tree, &look->colors, FALSE);
  g_autoptr (FlamRows) rows = NULL;
  g_autoptr (FlamLayout) layout = NULL;
  g_autofree char *note = NULL;
  FlamSvg svg = {
    .out = out,
    .tree = tree,
    .chart = chart,
    .look = look,
    .palette = palette,
    .direction = flam_direction_of (tree, look->direction),
    .width = or_default (look->width, WIDTH),
    .row = or_default (look->row_height, flam_picture_row_height (0)),
    .font = or_default (look->font_size, FONT),
    .whole = whole_of (tree, look),
    .head = HEAD + (look->subtitle != NULL ? SUBTITLE : 0),
  };
  double below = svg.head;

  svg.character = svg.font * or_default (look->font_width, CHARACTER);
  flam_color_rules_try (look->colors.rules, tree);
  if (chart == NULL)
    {
      rows = flam_rows_new ((FlamTree *)tree);
      layout = lay_out_tree (&svg, rows);
    }
  below +=
      chart == NULL ? layout->viewport.height : flam_svg_chart_height (&svg);
  append_frame (&svg, below + FOOT);
  if (chart == NULL)
    {
      if (look->shape != FLAM_SHAPE_FLAME)
        flam_svg_put_shape (&svg, layout);
      else
        for (guint32 i = 0; i < layout->n; i++)
          append_box (&svg, &layout->boxes[i]);
      note = tree_note (&svg, rows, layout);
    }
  else
    note = flam_svg_put_chart (&svg);
  append_legend (&svg, below + 18);
  append_note (&svg, note, below + FOOT - 12);
}

void
flam_svg_append (FlamSink *out,
                 const FlamTree *tree,
                 const FlamChart *chart,
                 const FlamPictureStyle *look)
{
  append_picture (out, tree, chart, look);
  flam_sink_put (out, "</svg>\n");
}

void
flam_svg_append_document (FlamSink *out,
                          const FlamTree *tree,
                          const FlamChart *chart,
                          const FlamPictureStyle *look)
{
  const char *encoding = look->encoding != NULL ? look->encoding : "UTF-8";
  gboolean numbers = g_ascii_strcasecmp (encoding, "UTF-8") != 0;

  flam_sink_printf (out, "<?xml version=\"1.0\" encoding=\"%s\"?>\n", encoding);
  if (numbers)
    flam_sink_set_text (out, FLAM_SINK_XML);
  append_picture (out, tree, chart, look);
  if (look->shape == FLAM_SHAPE_FLAME)
    {
      flam_sink_put (out, "<script><![CDATA[\n");
      if (numbers)
        flam_sink_set_text (out, FLAM_SINK_SCRIPT);
      flam_sink_put (out, flam_html_resource ("flam-svg.js"));
      flam_sink_put (out, "]]></script>\n");
    }
  flam_sink_put (out, "</svg>\n");
}
