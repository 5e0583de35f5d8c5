/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-html.h"

#include "flam-svg.h"

static const char style[] =
    "body{font-family:sans-serif;max-width:1220px;margin:1em auto;"
    "padding:0 1em;color:#222;background:#fff}"
    "svg{max-width:100%;height:auto}"
    "dl{display:grid;grid-template-columns:max-content auto;gap:.2em 1em}"
    "dt{color:#666}dd{margin:0;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;width:100%}"
    "td,th{text-align:right;padding:.2em .6em;white-space:nowrap}"
    "td:last-child,th:last-child{text-align:left;width:100%;"
    "white-space:normal;overflow-wrap:anywhere}"
    "tr:nth-child(even){background:#f4f4f2}"
    "svg.chart{margin:0 1.5em 1.5em 0;font-size:13px;font-family:sans-serif}"
    "svg.chart .most{text-anchor:end;fill:#666}svg.chart rect{fill:#d9773a}"
    "svg.trend{display:block}"
    "svg.trend polyline{fill:none;stroke:#d9773a;stroke-width:2}"
    ".grew{color:#b3261e}.shrank{color:#1f5fbf}"
    ".warning{background:#fff3cd;padding:.4em .8em;margin:.3em 0}";

void
flam_html_begin (GString *out, const char *title)
{
  g_string_append (out,
                   "<!DOCTYPE html>\n<html lang=\"en\"><head>"
                   "<meta charset=\"utf-8\">");
  flam_html_append (out, "title", title);
  g_string_append_printf (out, "<style>%s</style></head><body>\n", style);
}

void
flam_html_end (GString *out, gboolean script)
{
  if (script)
    g_string_append_printf (out, "<script>\n%s</script>\n", flam_svg_script ());
  g_string_append (out, "</body></html>\n");
}

void
flam_html_append (GString *out, const char *tag, const char *text)
{
  g_string_append_printf (out, "<%s>", tag);
  flam_svg_append_escaped (out, text, -1);
  g_string_append_printf (out, "</%s>\n", tag);
}

void
flam_html_append_cell (GString *out, char *text)
{
  g_string_append (out, "<td>");
  flam_svg_append_escaped (out, text, -1);
  g_string_append (out, "</td>");
  g_free (text);
}

void
flam_html_append_fact (GString *out, const char *term, const char *value)
{
  if (*value == '\0')
    return;
  g_string_append_printf (out, "<dt>%s</dt><dd>", term);
  flam_svg_append_escaped (out, value, -1);
  g_string_append (out, "</dd>\n");
}
