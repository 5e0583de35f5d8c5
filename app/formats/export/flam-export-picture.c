/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-picture.h"

static FlamPictureOptions
picture_options (const FlamTree *tree, const FlamExportOptions *options)
{
  FlamPictureOptions picture = {
    .title = options->title,
    .direction = tree->inverted ? FLAM_DIRECTION_ICICLE : FLAM_DIRECTION_FLAME,
    .color = options->color,
  };

  return picture;
}

static gboolean
save_png (const FlamTree *tree,
          const FlamExportOptions *options,
          GString *out,
          GError **error)
{
  FlamPictureOptions picture = picture_options (tree, options);

  picture.scale = 2;
  return flam_picture_to_png ((FlamTree *)tree, &picture, out, error);
}

static gboolean
save_pdf (const FlamTree *tree,
          const FlamExportOptions *options,
          GString *out,
          GError **error)
{
  FlamPictureOptions picture = picture_options (tree, options);

  return flam_picture_to_pdf ((FlamTree *)tree, &picture, out, error);
}

const FlamExporter flam_export_png = {
  .id = "png",
  .label = "PNG picture",
  .suffix = "png",
  .mime_type = "image/png",
  .colored = TRUE,
  .save = save_png,
};

const FlamExporter flam_export_pdf = {
  .id = "pdf",
  .label = "PDF document",
  .suffix = "pdf",
  .mime_type = "application/pdf",
  .colored = TRUE,
  .save = save_pdf,
};
