/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-svg.h"

static gboolean
save (const FlamTree *tree,
      const FlamSelection *selection,
      const char *title,
      GString *out,
      GError **error)
{
  g_string_append (out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  flam_svg_append (out, tree, selection, title);
  /* The script goes inside the root element. */
  g_string_truncate (out, out->len - strlen ("</svg>\n"));
  g_string_append (out, "<script><![CDATA[\n");
  g_string_append (out, flam_svg_script ());
  g_string_append (out, "]]></script>\n</svg>\n");
  return TRUE;
}

const FlamExporter flam_export_svg = {
  .id = "svg",
  .label = "SVG flame graph",
  .suffix = "svg",
  .mime_type = "image/svg+xml",
  .text = TRUE,
  .save = save,
};
