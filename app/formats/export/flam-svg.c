/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-svg.h"

#include "flam-format.h"
#include "flam-html.h"
#include "flam-layout.h"

#include <string.h>

#define WIDTH 1200
#define MARGIN 10
#define HEAD 44 /* the title's and the buttons' room */
#define FOOT 52 /* the legend's and the details' */
#define SWATCH 11
#define LEGEND_MAX 8 /* entries */
#define ROW 16
#define FONT 12
#define CHARACTER (FONT * 0.63) /* of Verdana and its like, on average */
#define LEAST_CUT 6 /* characters; a name cut shorter says nothing */
#define LEAST_WIDTH 0.1

/* Whatever the locale says of decimal points. */
static void
append_number (FlamSink *out, double value, int places)
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

static void
append_attribute (FlamSink *out, const char *name, double value)
{
  flam_sink_printf (out, " %s=\"", name);
  append_number (out, value, 4);
  flam_sink_put_c (out, '"');
}

static void
append_count (FlamSink *out, const FlamMeasure *measure, gint64 weight)
{
  g_autofree char *plain = flam_format_plain (measure, weight);
  gsize whole = strcspn (plain, ".");

  for (gsize i = 0; plain[i] != '\0'; i++)
    {
      if (i > 0 && i < whole && (whole - i) % 3 == 0)
        flam_sink_put_c (out, ',');
      flam_sink_put_c (out, plain[i]);
    }
}

/* ": running 60.0 %, lock 40.0 %" */
static void
append_states (FlamSink *out, const FlamTree *tree, FlamId node)
{
  guint states = flam_tree_states (tree);
  g_autofree char *text = NULL;

  if ((states & (states - 1)) == 0)
    return;
  text = flam_format_states (&tree->split[node]);
  flam_sink_put (out, ": ");
  flam_sink_put (out, text);
}

/* ": +1.2 s, before 3.4 s" */
static void
append_change (FlamSink *out,
               const FlamTree *tree,
               const FlamMeasure *measure,
               FlamId node)
{
  g_autofree char *delta = NULL;
  g_autofree char *base = NULL;

  if (tree->change == NULL)
    return;
  delta = flam_format_weight (measure, ABS (tree->change->delta[node]));
  base = flam_format_weight (measure, tree->change->base[node]);
  flam_sink_printf (out,
                    ": %s%s, before %s",
                    tree->change->delta[node] > 0   ? "+"
                    : tree->change->delta[node] < 0 ? "−"
                                                    : "±",
                    delta,
                    base);
}

void
flam_svg_append_description (FlamSink *out, const FlamTree *tree, FlamId node)
{
  const FlamMeasure *measure = &tree->profile->measures[tree->measure];
  const char *unit = measure->unit == FLAM_UNIT_BYTES ? "bytes"
                     : measure->unit == FLAM_UNIT_NS  ? "ns"
                                                      : "samples";

  flam_sink_put_escaped (out, flam_tree_name (tree, node), -1);
  if (tree->by == FLAM_BY_LINE && tree->line[node] != 0)
    flam_sink_printf (out, ":%u", tree->line[node]);
  flam_sink_put (out, " (");
  append_count (out, measure, tree->total[node]);
  flam_sink_printf (out, " %s, ", unit);
  append_number (out,
                 tree->total[0] > 0 ? 100.0 * tree->total[node] / tree->total[0]
                                    : 0,
                 2);
  flam_sink_put (out, "%)");
  append_states (out, tree, node);
  append_change (out, tree, measure, node);
}

static void
append_text (FlamSink *out,
             const char *name,
             const char *anchor,
             double x,
             double y,
             const char *text)
{
  flam_sink_put (out, "<text");
  if (name != NULL)
    flam_sink_printf (out, " class=\"%s\"", name);
  append_attribute (out, "x", x);
  append_attribute (out, "y", y);
  flam_sink_printf (out, " text-anchor=\"%s\">", anchor);
  flam_sink_put_escaped (out, text, -1);
  flam_sink_put (out, "</text>\n");
}

static void
append_box (FlamSink *out,
            const FlamTree *tree,
            FlamPalette *palette,
            const FlamBox *box)
{
  double x = MAX (box->x, 0);
  double width = MIN (box->x + box->width, WIDTH - 2 * MARGIN) - x;
  int characters = (int)((width - 6) / CHARACTER);

  if ((box->flags & FLAM_BOX_STRIP) != 0 || width <= 0)
    return;
  flam_sink_put (out, "<g class=\"f\"><title>");
  flam_svg_append_description (out, tree, box->node);
  flam_sink_put (out, "</title><rect");
  append_attribute (out, "x", MARGIN + x);
  append_attribute (out, "y", HEAD + box->y);
  append_attribute (out, "width", width);
  flam_sink_printf (out,
                    " height=\"%d\" fill=\"#%06x\"/>",
                    ROW - 1,
                    flam_palette_node (palette, tree, box->node));
  if (characters >= LEAST_CUT ||
      g_utf8_strlen (flam_tree_name (tree, box->node), -1) <= characters)
    {
      g_autofree char *label =
          flam_format_short_name (flam_tree_name (tree, box->node), characters);
      flam_sink_put (out, "<text");
      append_attribute (out, "x", MARGIN + x + 3);
      append_attribute (out, "y", HEAD + box->y + ROW - 5);
      flam_sink_put_c (out, '>');
      flam_sink_put_escaped (out, label, -1);
      flam_sink_put (out, "</text>");
    }
  flam_sink_put (out, "</g>\n");
}

static void
append_frame (FlamSink *out,
              double height,
              const char *title,
              FlamDirection direction,
              FlamColor background)
{
  flam_sink_printf (
      out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flambeau\" "
      "width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %d %.0f\" "
      "data-margin=\"%d\" data-row=\"%d\" data-character=\"%d\" "
      "data-direction=\"%s\" font-family=\"Verdana, 'DejaVu Sans', "
      "sans-serif\" font-size=\"%d\">\n"
      "<style>.f rect{rx:2px}.f text{pointer-events:none}"
      ".f:hover rect,.f.on rect{stroke:#000;stroke-width:.6}"
      ".f.on rect{stroke-width:2}.f{cursor:pointer}"
      ".flambeau .dim rect{opacity:.6}.flambeau .off{display:none}"
      ".flambeau .button{cursor:pointer;opacity:.7}"
      ".flambeau .button:hover,.flambeau .button:focus{opacity:1}</style>\n"
      "<rect class=\"paper\" width=\"100%%\" height=\"100%%\" "
      "fill=\"#%06x\"/>\n",
      WIDTH,
      height,
      WIDTH,
      height,
      MARGIN,
      ROW,
      (int)(CHARACTER * 100),
      direction == FLAM_DIRECTION_FLAME ? "flame" : "icicle",
      FONT,
      background);
  flam_sink_put (out, "<g font-size=\"17\">");
  append_text (out, "heading", "middle", WIDTH / 2, 24, title);
  flam_sink_put (out, "</g><g class=\"unzoom button off\">");
  append_text (out, NULL, "start", MARGIN, 24, "Reset zoom");
  flam_sink_put (out, "</g><g class=\"search button off\">");
  append_text (out, NULL, "end", WIDTH - MARGIN, 24, "Search");
  flam_sink_put (out, "</g>");
  append_text (out, "details", "start", MARGIN, height - 12, " ");
  append_text (out, "matched", "end", WIDTH - MARGIN, height - 12, " ");
}

/* One line below the boxes; what does not fit is left out. */
static void
append_legend (FlamSink *out,
               const FlamTree *tree,
               FlamPalette *palette,
               double baseline)
{
  g_autoptr (GPtrArray) entries =
      flam_palette_legend (palette, tree, 0, LEGEND_MAX);
  double x = MARGIN;

  flam_sink_put (out, "<g class=\"legend\">\n");
  for (guint i = 0; i < entries->len; i++)
    {
      const FlamLegendEntry *entry = entries->pdata[i];
      g_autofree char *name = flam_format_short_name (entry->name, 28);
      double width = SWATCH + 5 + CHARACTER * (double)g_utf8_strlen (name, -1);

      if (x + width > WIDTH - MARGIN)
        break;
      flam_sink_put (out, "<rect");
      append_attribute (out, "x", x);
      append_attribute (out, "y", baseline - SWATCH + 1);
      flam_sink_printf (out,
                        " width=\"%d\" height=\"%d\" rx=\"2\" fill=\"#%06x\"/>",
                        SWATCH,
                        SWATCH,
                        entry->color);
      append_text (out, NULL, "start", x + SWATCH + 5, baseline, name);
      x += width + 16;
    }
  flam_sink_put (out, "</g>\n");
}

/* What the picture does not show. */
static void
append_note (FlamSink *out,
             const FlamTree *tree,
             const FlamLayout *layout,
             double baseline)
{
  g_autoptr (GString) note = g_string_new (NULL);

  if (layout->hidden > 0)
    {
      g_autofree char *share =
          flam_format_percent (layout->hidden, tree->total[0]);

      g_string_append_printf (
          note, "boxes too narrow to draw are left out: %s", share);
    }
  if (tree->change != NULL && tree->change->missing > 0)
    {
      const FlamMeasure measure = flam_tree_measure (tree);
      g_autofree char *weight =
          flam_format_weight (&measure, tree->change->missing);

      g_string_append_printf (note,
                              "%sonly the other capture has: %s",
                              note->len > 0 ? "; " : "",
                              weight);
    }
  if (note->len == 0)
    return;
  flam_sink_put (out, "<g opacity=\".6\">");
  append_text (out, "note", "middle", WIDTH / 2, baseline, note->str);
  flam_sink_put (out, "</g>");
}

/* All but the root element's end. */
static void
append_picture (FlamSink *out,
                const FlamTree *tree,
                const char *title,
                FlamPaletteMode color)
{
  g_autoptr (FlamRows) rows = flam_rows_new ((FlamTree *)tree);
  g_autoptr (FlamPalette) palette = flam_palette_new (
      tree->profile, flam_palette_mode_of (tree, color), FALSE);
  g_autoptr (FlamLayout) layout = NULL;
  FlamViewport viewport = {
    .width = WIDTH - 2 * MARGIN,
    .height = ROW,
    .row_height = ROW,
    .to = tree->total[0],
    .min_width = LEAST_WIDTH,
    .direction = tree->inverted ? FLAM_DIRECTION_ICICLE : FLAM_DIRECTION_FLAME,
  };

  viewport.height = ROW * (double)flam_layout_n_rows (rows, &viewport);
  layout = flam_layout_new (rows, &viewport);
  append_frame (out,
                HEAD + viewport.height + FOOT,
                title,
                viewport.direction,
                flam_palette_background (palette));
  for (guint32 i = 0; i < layout->n; i++)
    append_box (out, tree, palette, &layout->boxes[i]);
  append_legend (out, tree, palette, HEAD + viewport.height + 18);
  append_note (out, tree, layout, HEAD + viewport.height + FOOT - 12);
}

void
flam_svg_append (FlamSink *out,
                 const FlamTree *tree,
                 const char *title,
                 FlamPaletteMode color)
{
  append_picture (out, tree, title, color);
  flam_sink_put (out, "</svg>\n");
}

void
flam_svg_append_document (FlamSink *out,
                          const FlamTree *tree,
                          const char *title,
                          FlamPaletteMode color)
{
  flam_sink_put (out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  append_picture (out, tree, title, color);
  flam_sink_put (out, "<script><![CDATA[\n");
  flam_sink_put (out, flam_html_resource ("flam-svg.js"));
  flam_sink_put (out, "]]></script>\n</svg>\n");
}
