/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-svg-private.h"

#include "flam-format.h"

#include <string.h>

#define LEAST_CUT 6 /* characters; a name cut shorter says nothing */

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
