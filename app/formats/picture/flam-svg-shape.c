/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-svg-private.h"

#include <math.h>

#include "flam-core-picture.h"

static FlamColor
color_of (const FlamSvg *svg, const FlamBox *box)
{
  FlamColor color =
      box->flags & FLAM_BOX_STRIP
          ? flam_palette_strip (svg->palette)
          : flam_palette_node (svg->palette, svg->tree, box->node);

  return box->flags & (FLAM_BOX_FRAME | FLAM_BOX_HEAD)
             ? flam_palette_pale (svg->palette, color)
             : color;
}

/* --- sectors ---------------------------------------------------------------
 */

typedef struct
{
  double x, y; /* the centre, in the document */
} Centre;

static void
put_point (
    FlamSink *out, const Centre *centre, char how, double angle, double radius)
{
  flam_sink_put_c (out, how);
  flam_svg_put_number (out, centre->x + radius * sin (angle), 2);
  flam_sink_put_c (out, ' ');
  flam_svg_put_number (out, centre->y - radius * cos (angle), 2);
}

/* Continues the path to an angle, by less than a full turn. */
static void
put_arc (
    FlamSink *out, const Centre *centre, double radius, double from, double to)
{
  flam_sink_put_c (out, 'A');
  flam_svg_put_number (out, radius, 2);
  flam_sink_put_c (out, ' ');
  flam_svg_put_number (out, radius, 2);
  flam_sink_printf (
      out, " 0 %d %d", fabs (to - from) > G_PI ? 1 : 0, to > from ? 1 : 0);
  put_point (out, centre, ' ', to, radius);
}

static void
put_circle (FlamSink *out, const Centre *centre, double radius)
{
  put_point (out, centre, 'M', 0, radius);
  put_arc (out, centre, radius, 0, G_PI);
  put_arc (out, centre, radius, G_PI, 2 * G_PI);
  flam_sink_put_c (out, 'Z');
}

static void
put_sector (const FlamSvg *svg, const Centre *centre, const FlamBox *box)
{
  FlamSink *out = svg->out;
  double inner = box->y, outer = box->y + box->height;
  double from = box->x, to = box->x + box->width;

  flam_sink_put (out, "<path class=\"fill\" fill-rule=\"evenodd\" d=\"");
  if (box->width >= 2 * G_PI - 1e-6)
    {
      put_circle (out, centre, outer);
      if (inner > 0)
        put_circle (out, centre, inner);
    }
  else
    {
      put_point (out, centre, 'M', from, outer);
      put_arc (out, centre, outer, from, to);
      put_point (out, centre, 'L', to, inner);
      if (inner > 0)
        put_arc (out, centre, inner, to, from);
      flam_sink_put_c (out, 'Z');
    }
  flam_sink_printf (out,
                    "\" fill=\"#%06x\" stroke=\"#%06x\" stroke-width=\".7\"/>",
                    color_of (svg, box),
                    flam_palette_background (svg->palette));
}

/* The path of `number`: the circle along which its letters are placed. */
static void
put_bent (const FlamSvg *svg,
          const Centre *centre,
          const FlamSunburstLabel *label,
          guint number,
          const char *text)
{
  FlamSink *out = svg->out;
  double half = label->room / label->radius / 2;
  double radius = label->radius + svg->font * (label->other ? 0.35 : -0.35);
  double from = label->angle - half, to = label->angle + half;

  flam_sink_printf (out, "<path id=\"ring%u\" fill=\"none\" d=\"", number);
  put_point (out, centre, 'M', label->other ? to : from, radius);
  put_arc (
      out, centre, radius, label->other ? to : from, label->other ? from : to);
  flam_sink_printf (out,
                    "\"/><text text-anchor=\"middle\"><textPath "
                    "href=\"#ring%u\" startOffset=\"50%%\">",
                    number);
  flam_sink_put_escaped (out, text, -1);
  flam_sink_put (out, "</textPath></text>");
}

static void
put_straight (const FlamSvg *svg,
              const Centre *centre,
              const FlamSunburstLabel *label,
              const char *text)
{
  FlamSink *out = svg->out;
  double turn = label->radius > 0 ? label->angle * 180 / G_PI - 90 : 0;

  flam_sink_put (out, "<text text-anchor=\"middle\" transform=\"translate(");
  flam_svg_put_number (out, centre->x + label->radius * sin (label->angle), 2);
  flam_sink_put_c (out, ' ');
  flam_svg_put_number (out, centre->y - label->radius * cos (label->angle), 2);
  flam_sink_put (out, ") rotate(");
  flam_svg_put_number (out, label->other ? turn + 180 : turn, 2);
  flam_sink_put (out, ")\" y=\"");
  flam_svg_put_number (out, svg->font * 0.35, 2);
  flam_sink_put (out, "\">");
  flam_sink_put_escaped (out, text, -1);
  flam_sink_put (out, "</text>");
}

static void
put_sector_label (const FlamSvg *svg,
                  const Centre *centre,
                  const FlamBox *box,
                  guint number)
{
  FlamSunburstLabel label;
  g_autofree char *text = NULL;

  if (box->flags & FLAM_BOX_STRIP ||
      !flam_sunburst_label (box, svg->font, &label))
    return;
  text = flam_svg_label_text (
      svg, flam_tree_name (svg->tree, box->node), label.room);
  if (text == NULL)
    return;
  if (label.along)
    put_bent (svg, centre, &label, number, text);
  else
    put_straight (svg, centre, &label, text);
}

/* --- boxes -----------------------------------------------------------------
 */

static void
put_rectangle (const FlamSvg *svg, const FlamBox *box)
{
  FlamSink *out = svg->out;

  flam_sink_put (out, "<rect class=\"fill\"");
  flam_svg_put_attribute (out, "x", FLAM_SVG_MARGIN + box->x);
  flam_svg_put_attribute (out, "y", svg->head + box->y);
  flam_svg_put_attribute (out, "width", MAX (box->width - 1, 0.5));
  flam_svg_put_attribute (out, "height", MAX (box->height - 1, 0.5));
  flam_sink_printf (out, " fill=\"#%06x\"/>", color_of (svg, box));
}

static void
put_rectangle_label (const FlamSvg *svg, const FlamBox *box)
{
  double above = box->height < 2 * svg->row ? (box->height - svg->row) / 2 : 0;
  const char *name =
      box->flags & FLAM_BOX_STRIP ? "…" : flam_tree_name (svg->tree, box->node);

  if (!(box->flags & FLAM_BOX_FRAME) && box->height >= svg->font)
    flam_svg_put_label (
        svg, name, box->x, svg->head + box->y + above, box->width);
}

/* --- common code -----------------------------------------------------------
 */

static void
put_title (const FlamSvg *svg, const FlamBox *box)
{
  flam_sink_put (svg->out, "<title>");
  if (box->flags & FLAM_BOX_STRIP)
    flam_sink_printf (svg->out, "%u functions, too small to draw", box->count);
  else
    flam_svg_put_description (svg, box->node);
  flam_sink_put (svg->out, "</title>");
}

void
flam_svg_put_shape (const FlamSvg *svg, const FlamLayout *layout)
{
  gboolean round = layout->viewport.shape == FLAM_SHAPE_SUNBURST;
  FlamSunburst sun;
  Centre centre;

  flam_sunburst_init (&sun, &layout->viewport);
  centre = (Centre){ FLAM_SVG_MARGIN + sun.x, svg->head + sun.y };
  for (guint32 i = 0; i < layout->n; i++)
    {
      const FlamBox *box = &layout->boxes[i];

      flam_sink_put (svg->out, "<g class=\"a\">");
      put_title (svg, box);
      if (round)
        {
          put_sector (svg, &centre, box);
          put_sector_label (svg, &centre, box, i);
        }
      else
        {
          put_rectangle (svg, box);
          put_rectangle_label (svg, box);
        }
      flam_sink_put (svg->out, "</g>\n");
    }
}
