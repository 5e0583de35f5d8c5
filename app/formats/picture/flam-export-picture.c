/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-picture.h"

#define PNG_SCALE 2

/* A picture is bounded by its pixels. */
static gboolean
put (gboolean made, const GString *bytes, FlamSink *out)
{
  if (made)
    flam_sink_put_len (out, bytes->str, bytes->len);
  return made;
}

static gboolean
save_png (const FlamProfile *profile,
          const FlamSelection *selection,
          const FlamExportOptions *options,
          FlamSink *out,
          GError **error)
{
  g_autoptr (FlamTree) tree =
      flam_export_tree_in_order (profile, selection, options->look.order);
  g_autoptr (GString) bytes = g_string_new (NULL);
  const FlamPictureOptions picture = { .look = options->look,
                                       .scale = PNG_SCALE };

  return put (flam_picture_to_png (tree, &picture, bytes, error), bytes, out);
}

static gboolean
save_pdf (const FlamProfile *profile,
          const FlamSelection *selection,
          const FlamExportOptions *options,
          FlamSink *out,
          GError **error)
{
  g_autoptr (FlamTree) tree =
      flam_export_tree_in_order (profile, selection, options->look.order);
  g_autoptr (GString) bytes = g_string_new (NULL);
  const FlamPictureOptions picture = { .look = options->look };

  return put (flam_picture_to_pdf (tree, &picture, bytes, error), bytes, out);
}

static gboolean
save_tags (const FlamProfile *profile,
           const FlamSelection *selection,
           const FlamExportOptions *options,
           FlamSink *out,
           GError **error)
{
  g_autoptr (FlamTree) tree =
      flam_export_tree_in_order (profile, selection, options->look.order);
  g_autoptr (GString) text = g_string_new (NULL);
  const FlamPictureOptions picture = { .look = options->look,
                                       .scale = PNG_SCALE };

  return put (flam_picture_to_tags (tree, &picture, text, error), text, out);
}

const FlamExporter flam_export_png = {
  .id = "png",
  .label = "PNG picture",
  .suffix = "png",
  .mime_type = "image/png",
  .look = FLAM_LOOK_PICTURE,
  .holds = FLAM_HOLDS_ALL,
  .save = save_png,
};

const FlamExporter flam_export_pdf = {
  .id = "pdf",
  .label = "PDF document",
  .suffix = "pdf",
  .mime_type = "application/pdf",
  .look = FLAM_LOOK_PICTURE | FLAM_LOOK_NOTES,
  .holds = FLAM_HOLDS_ALL,
  .save = save_pdf,
};

const FlamExporter flam_export_tags = {
  .id = "tags",
  .label = "Functions of the PNG picture’s pixels",
  .suffix = "tsv",
  .mime_type = "text/tab-separated-values",
  .text = TRUE,
  .look = FLAM_LOOK_PICTURE,
  .holds = FLAM_HOLDS_ALL,
  .save = save_tags,
};
