/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-svg.h"

static gboolean
save (const FlamProfile *profile,
      const FlamSelection *selection,
      const FlamExportOptions *options,
      FlamSink *out,
      GError **error)
{
  g_autoptr (FlamTree) tree = flam_export_tree (profile, selection);
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
  .holds = FLAM_HOLDS_ALL,
  .save = save,
};
