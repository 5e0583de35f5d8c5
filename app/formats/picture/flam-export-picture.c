/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-picture.h"

/* For screens of a high resolution: 2400 pixels. A width that is given is that
 * of the picture. */
#define DEFAULT_SCALE 2

typedef gboolean (*Draw) (FlamTree *tree,
                          const FlamPictureOptions *options,
                          GString *out,
                          GError **error);

/* It is written at once: a picture's size is bounded by its pixels. */
static gboolean
save (FlamExport *export, GError **error)
{
  const Draw draw = export->form;
  const FlamPictureStyle *look = &export->options->look;
  g_autoptr (FlamTree) tree = flam_export_tree_in_order (
      export->profile, export->selection, look->order);
  g_autoptr (GString) bytes = g_string_new (NULL);
  g_autoptr (FlamChart) chart = NULL;
  FlamPictureOptions picture = { .look = *look,
                                 .scale = look->width > 0 ? 1 : DEFAULT_SCALE };

  if (look->chart)
    {
      chart = flam_export_chart (export->profile, export->selection, error);
      if (chart == NULL)
        return FALSE;
      picture.chart = chart;
    }
  if (!draw (tree, &picture, bytes, error))
    return FALSE;
  flam_sink_put_len (export->out, bytes->str, bytes->len);
  return TRUE;
}

const FlamExporter flam_export_png = {
  .id = "png",
  .label = N_ ("PNG picture"),
  .suffix = "png",
  .mime_type = "image/png",
  .look = FLAM_PICTURE_STYLE_ALL | FLAM_PICTURE_STYLE_SHAPE |
          FLAM_PICTURE_STYLE_CHART,
  .holds = FLAM_HOLDS_ALL,
  .save = save,
  .form = flam_picture_to_png,
};

const FlamExporter flam_export_pdf = {
  .id = "pdf",
  .label = N_ ("PDF document"),
  .suffix = "pdf",
  .mime_type = "application/pdf",
  .look = FLAM_PICTURE_STYLE_ALL | FLAM_PICTURE_STYLE_SHAPE |
          FLAM_PICTURE_STYLE_CHART | FLAM_PICTURE_STYLE_NOTES,
  .holds = FLAM_HOLDS_ALL,
  .save = save,
  .form = flam_picture_to_pdf,
};

const FlamExporter flam_export_tags = {
  .id = "tags",
  .label = N_ ("Functions of the PNG picture’s pixels"),
  .suffix = "tsv",
  .mime_type = "text/tab-separated-values",
  .text = TRUE,
  .look = FLAM_PICTURE_STYLE_ALL | FLAM_PICTURE_STYLE_CHART,
  .holds = FLAM_HOLDS_ALL,
  .save = save,
  .form = flam_picture_to_tags,
};
