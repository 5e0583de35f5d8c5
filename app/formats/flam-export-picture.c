/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-picture.h"

static FlamPictureOptions
picture_options (const FlamSelection *selection, const char *title)
{
  FlamPictureOptions options = {
    .title = title,
    .direction =
        selection->invert ? FLAM_DIRECTION_ICICLE : FLAM_DIRECTION_FLAME,
  };

  return options;
}

static gboolean
save_png (const FlamTree *tree,
          const FlamSelection *selection,
          const char *title,
          GString *out,
          GError **error)
{
  FlamPictureOptions options = picture_options (selection, title);

  options.scale = 2;
  return flam_picture_to_png ((FlamTree *)tree, &options, out, error);
}

static gboolean
save_pdf (const FlamTree *tree,
          const FlamSelection *selection,
          const char *title,
          GString *out,
          GError **error)
{
  FlamPictureOptions options = picture_options (selection, title);

  return flam_picture_to_pdf ((FlamTree *)tree, &options, out, error);
}

const FlamExporter flam_export_png = {
  .id = "png",
  .label = "PNG picture",
  .suffix = "png",
  .mime_type = "image/png",
  .save = save_png,
};

const FlamExporter flam_export_pdf = {
  .id = "pdf",
  .label = "PDF document",
  .suffix = "pdf",
  .mime_type = "application/pdf",
  .save = save_pdf,
};
