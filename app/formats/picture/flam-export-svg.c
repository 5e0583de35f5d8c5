/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-svg.h"

static gboolean
save (FlamExport *export, GError **error)
{
  g_autoptr (FlamTree) tree = flam_export_tree_in_order (
      export->profile, export->selection, export->options->look.order);

  g_autoptr (FlamChart) chart = NULL;

  if (export->options->look.chart)
    {
      chart = flam_export_chart (export->profile, export->selection, error);
      if (chart == NULL)
        return FALSE;
    }
  flam_svg_append_document (export->out, tree, chart, &export->options->look);
  return TRUE;
}

const FlamExporter flam_export_svg = {
  .id = "svg",
  .label = N_ ("SVG flame graph"),
  .suffix = "svg",
  .mime_type = "image/svg+xml",
  .text = TRUE,
  .look = FLAM_PICTURE_STYLE_ALL | FLAM_PICTURE_STYLE_SHAPE |
          FLAM_PICTURE_STYLE_CHART | FLAM_PICTURE_STYLE_NOTES |
          FLAM_PICTURE_STYLE_COUNT_NAME,
  .holds = FLAM_HOLDS_ALL,
  .save = save,
};
