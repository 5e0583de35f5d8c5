/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-svg.h"

static gboolean
save (const FlamTree *tree,
      const FlamExportOptions *options,
      GString *out,
      GError **error)
{
  flam_svg_append_document (out, tree, options->title, options->color);
  return TRUE;
}

const FlamExporter flam_export_svg = {
  .id = "svg",
  .label = "SVG flame graph",
  .suffix = "svg",
  .mime_type = "image/svg+xml",
  .text = TRUE,
  .colored = TRUE,
  .save = save,
};
