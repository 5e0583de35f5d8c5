/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-html.h"

#include "flam-core-picture.h"
#include "flam-formats-resources.h"

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#222;--quiet:#666;"
    "--stripe:#f4f4f2;--mark:#d9773a;--grew:#b3261e;--shrank:#1f5fbf;"
    "--warning:#fff3cd}"
    "@media(prefers-color-scheme:dark){:root{--paper:#1e1e1e;--ink:#eee;"
    "--quiet:#aaa;--stripe:#292929;--mark:#e08a52;--grew:#ff8a80;"
    "--shrank:#8ab4f8;--warning:#4a3d12}}"
    "body{font-family:sans-serif;max-width:1220px;margin:1em auto;"
    "padding:0 1em;color:var(--ink);background:var(--paper)}"
    "h1{overflow-wrap:anywhere}"
    "svg{max-width:100%;height:auto}"
    "svg.flambeau{display:block;width:100%;margin:auto}"
    ".flambeau .paper{fill:var(--paper)}.flambeau text{fill:var(--ink)}"
    ".flambeau .f text{fill:#1a1514}"
    ".flambeau .ruler rect,.flambeau .mark rect{fill:var(--ink)}"
    ".f:hover rect,.f.on rect{stroke:var(--ink)}"
    "dl{display:grid;grid-template-columns:max-content auto;gap:.2em 1em}"
    "dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;width:100%}"
    "td,th{text-align:right;padding:.2em .6em;white-space:nowrap}"
    "td:last-child,th:last-child,.name{text-align:left;width:100%;"
    "white-space:normal;overflow-wrap:anywhere}"
    ".words{text-align:left}"
    ".name+td,.name+th{width:auto;min-width:9em;white-space:nowrap}"
    "tr:nth-child(even){background:var(--stripe)}"
    "svg.chart{margin:0 1.5em 1.5em 0;font-size:13px;font-family:sans-serif;"
    "fill:var(--ink)}"
    "svg.chart .most{text-anchor:end;fill:var(--quiet)}"

    "svg.trend{display:block;max-width:none}"
    "svg.trend polyline{fill:none;stroke:var(--mark);stroke-width:2}"
    ".grew{color:var(--grew)}.shrank{color:var(--shrank)}"
    ".warning{background:var(--warning);padding:.4em .8em;margin:.3em 0}"
    "@media(max-width:640px){body{padding:0 .6em}"
    "table{display:block;overflow-x:auto}td:last-child{min-width:11em}"
    "table{font-size:85%}td,th{padding:.2em .35em}"
    "svg.chart{margin-right:0}}";

const char *
flam_html_resource (const char *name)
{
  g_autofree char *path = g_strconcat ("/dev/flambeau/formats/", name, NULL);
  g_autoptr (GBytes) bytes =
      g_resource_lookup_data (flam_formats_resources_get_resource (),
                              path,
                              G_RESOURCE_LOOKUP_FLAGS_NONE,
                              NULL);

  g_assert (bytes != NULL);
  return g_bytes_get_data (bytes, NULL);
}

/* The hash covers everything between the tags. */
static char *
script_text (const char *name)
{
  return g_strconcat ("\n", flam_html_resource (name), NULL);
}

static void
put_policy (FlamSink *out, const char *script)
{
  flam_sink_put (out,
                 "<meta http-equiv=\"Content-Security-Policy\" "
                 "content=\"default-src 'none';style-src 'unsafe-inline';");
  if (script != NULL)
    {
      g_autofree char *text = script_text (script);
      g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
      guint8 digest[32];
      gsize size = sizeof digest;
      g_autofree char *hash = NULL;

      g_checksum_update (sum, (const guchar *)text, -1);
      g_checksum_get_digest (sum, digest, &size);
      hash = g_base64_encode (digest, size);
      flam_sink_printf (out, "script-src 'sha256-%s';", hash);
    }
  flam_sink_put (out, "base-uri 'none';form-action 'none'\">");
}

void
flam_html_put_head (FlamSink *out, const char *title, const char *script)
{
  flam_sink_put (out,
                 "<!DOCTYPE html>\n<html lang=\"en\"><head>"
                 "<meta charset=\"utf-8\">");
  put_policy (out, script);
  flam_sink_put (out,
                 "<meta name=\"viewport\" content=\"width=device-width\">");
  flam_html_append (out, "title", title);
}

void
flam_html_put_script (FlamSink *out, const char *script)
{
  g_autofree char *text = script_text (script);

  flam_sink_put (out, "<script>");
  flam_sink_put (out, text);
  flam_sink_put (out, "</script>");
}

void
flam_html_begin (FlamSink *out, const char *title, const char *script)
{
  flam_html_put_head (out, title, script);
  flam_sink_printf (out, "<style>%s</style></head><body>\n", style);
}

void
flam_html_end (FlamSink *out, const char *script)
{
  if (script != NULL)
    flam_html_put_script (out, script);
  flam_sink_put (out, "\n</body></html>\n");
}

void
flam_html_append (FlamSink *out, const char *tag, const char *text)
{
  flam_sink_printf (out, "<%s>", tag);
  flam_sink_put_escaped (out, text, -1);
  flam_sink_printf (out, "</%s>\n", tag);
}

void
flam_html_append_cell (FlamSink *out, char *text)
{
  flam_sink_put (out, "<td>");
  flam_sink_put_escaped (out, text, -1);
  flam_sink_put (out, "</td>");
  g_free (text);
}

void
flam_html_append_change (FlamSink *out,
                         const FlamMeasure *measure,
                         gint64 change,
                         const FlamEstimate *estimate)
{
  g_autofree char *size =
      flam_format_estimated (estimate, measure, ABS (change));

  flam_sink_put (out,
                 change > 0   ? "<td class=\"grew\">+"
                 : change < 0 ? "<td class=\"shrank\">−"
                              : "<td>");
  flam_sink_put_escaped (out, size, -1);
  flam_sink_put (out, "</td>");
}

void
flam_html_append_fact (FlamSink *out, const char *term, const char *value)
{
  if (*value == '\0')
    return;
  flam_sink_printf (out, "<dt>%s</dt><dd>", term);
  flam_sink_put_escaped (out, value, -1);
  flam_sink_put (out, "</dd>\n");
}

static gboolean
is_julia (const FlamTree *tree, const FlamColors *colors)
{
  return flam_palette_mode_of (tree, colors->mode) == FLAM_PALETTE_JULIA;
}

/* The color of functions by default, at an even depth or at an odd one: depth
 * and status are those of the page's nodes. */
static void
put_colors (FlamSink *out,
            const FlamTree *tree,
            const GArray *first,
            const char *name,
            const FlamColors *colors,
            gboolean dark,
            guint depth)
{
  g_autoptr (FlamPalette) palette = flam_palette_new_for (tree, colors, dark);
  g_autofree guint32 *depths = NULL;
  FlamTree bare = *tree;

  if (is_julia (tree, colors))
    {
      bare.status = NULL;
      bare.depth = depths = g_new (guint32, bare.n);
      for (FlamId i = 0; i < bare.n; i++)
        depths[i] = depth;
    }
  flam_sink_printf (out, "\"%s\":[", name);
  for (guint i = 0; i < first->len; i++)
    {
      FlamNodeId node = g_array_index (first, FlamId, i);

      if (i > 0)
        flam_sink_put_c (out, ',');
      flam_sink_put_int (out, flam_palette_node (palette, &bare, node));
    }
  flam_sink_put_c (out, ']');
}

/* The functions colored by the user's rules or map, whatever their status. */
static void
put_ruled (FlamSink *out,
           const FlamTree *tree,
           const GArray *first,
           const FlamColors *colors)
{
  flam_sink_put (out, ",\n\"ruled\":[");
  for (guint i = 0; i < first->len; i++)
    {
      FlamNodeId node = g_array_index (first, FlamId, i);
      gboolean ruled =
          colors->map != NULL ||
          (colors->rules != NULL &&
           flam_color_rules_find_node (colors->rules, tree, node) != FLAM_NONE);

      flam_sink_put (out, i > 0 ? "," : "");
      flam_sink_put_int (out, ruled);
    }
  flam_sink_put_c (out, ']');
}

void
flam_html_put_colors (FlamSink *out,
                      const FlamTree *tree,
                      const GArray *first,
                      const FlamColors *colors)
{
  put_colors (out, tree, first, "light", colors, FALSE, 0);
  flam_sink_put (out, ",\n");
  put_colors (out, tree, first, "dark", colors, TRUE, 0);
  if (is_julia (tree, colors))
    {
      flam_sink_put (out, ",\n");
      put_colors (out, tree, first, "lightOdd", colors, FALSE, 1);
      flam_sink_put (out, ",\n");
      put_colors (out, tree, first, "darkOdd", colors, TRUE, 1);
      put_ruled (out, tree, first, colors);
    }
}

void
flam_html_put_statuses (FlamSink *out,
                        const FlamTree *tree,
                        const FlamColors *colors)
{
  guint left = FLAM_STATUS_ALL;

  if (!is_julia (tree, colors))
    return;
  flam_sink_put (out, "\"statuses\":[");
  while (left != 0)
    {
      guint bit = flam_palette_status_bit (left);

      flam_sink_printf (out,
                        "{\"bit\":%u,\"name\":\"%s\",\"color\":%u}",
                        1u << bit,
                        flam_status_to_title (bit),
                        flam_palette_status_color (bit));
      left &= ~(1u << bit);
      flam_sink_put (out, left != 0 ? "," : "],\n");
    }
}
