/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A flame graph as a document of its own: title, boxes, what the colours mean,
 * and what is not shown. Fonts come from fontconfig; no display is needed. */

#include "flam-layout.h"
#include "flam-palette.h"

G_BEGIN_DECLS

typedef struct
{
  const char *title; /* NULL: none */
  double width;      /* pixels (PDF: points); 0: 1200 */
  double max_height; /* 0: 16000; deeper rows are left out, and it says so */
  double scale;      /* PNG: device pixels a pixel; 0: 1 */
  const char *font;  /* Pango description; NULL: "Sans 9" */
  FlamDirection direction;
  FlamId zoom;
  FlamPaletteMode color;
  gboolean dark;
  gboolean bare; /* boxes alone: for thumbnails */
} FlamPictureOptions;

/* Appends the document. FLAM_ERROR when cairo cannot (too large). */
gboolean flam_picture_to_png (FlamTree *tree,
                              const FlamPictureOptions *options,
                              GString *out,
                              GError **error);
gboolean flam_picture_to_pdf (FlamTree *tree,
                              const FlamPictureOptions *options,
                              GString *out,
                              GError **error);

G_END_DECLS
