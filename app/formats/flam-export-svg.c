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
  flam_svg_append_document (out, tree, selection, title);
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
