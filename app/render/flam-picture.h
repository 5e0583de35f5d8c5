/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A flame graph or a flame chart as a document of its own: title, boxes, what
 * the colors mean, and what is not shown. Fonts come from fontconfig; no
 * display is needed. */

#include "flam-core-picture.h"

G_BEGIN_DECLS

typedef struct
{
  FlamLook look;
  const FlamChart
      *chart;        /* drawn in the tree's colors; NULL: the tree is drawn */
  double max_height; /* 0: 16000; lower rows are left out, with a note */
  double scale;      /* PNG: device pixels a pixel; 0: 1 */
  const char *font;  /* Pango description; NULL: "Sans 9" */
  FlamId zoom;
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

/* The boxes of the PNG with these options, in its own pixels: a line a box, by
 * row and from left to right,
 *
 *    x  y  width  height  function  file  line
 *
 * with tabs between. Several boxes too narrow to draw become one without a
 * name.
 */
gboolean flam_picture_to_tags (FlamTree *tree,
                               const FlamPictureOptions *options,
                               GString *out,
                               GError **error);

G_END_DECLS
