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
  g_autoptr (FlamTree) tree =
      flam_export_tree_in_order (profile, selection, options->look.order);

  g_autoptr (FlamChart) chart = NULL;

  if (options->look.chart)
    {
      chart = flam_export_chart (profile, selection, error);
      if (chart == NULL)
        return FALSE;
    }
  flam_svg_append_document (out, tree, chart, &options->look);
  return TRUE;
}

const FlamExporter flam_export_svg = {
  .id = "svg",
  .label = N_ ("SVG flame graph"),
  .suffix = "svg",
  .mime_type = "image/svg+xml",
  .text = TRUE,
  .look = FLAM_LOOK_PICTURE | FLAM_LOOK_SHAPE | FLAM_LOOK_CHART |
          FLAM_LOOK_NOTES | FLAM_LOOK_COUNT_NAME,
  .holds = FLAM_HOLDS_ALL,
  .save = save,
};
