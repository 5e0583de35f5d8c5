/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PICTURE_H
#define FLAM_PICTURE_H

/* A flame graph or a flame chart as a document of its own: title, boxes, a
 * legend of the colors, and a note on what is not shown. Fonts come from
 * fontconfig; no display is needed. */

#include "flam-core-picture.h"

G_BEGIN_DECLS

typedef struct
{
  FlamPictureStyle look;
  const FlamChart
      *chart;        /* drawn in the tree's colors; NULL: the tree is drawn */
  double max_height; /* 0: 16000; lower rows are left out, with a note */
  double scale;      /* PNG: device pixels per pixel; 0: 1 */
  const char *font;  /* Pango description; NULL: "Sans 9" */
  FlamNodeId zoom;
  gboolean dark;
  gboolean bare; /* only the boxes: for thumbnails */
} FlamPictureOptions;

/* Appends the document. FLAM_ERROR if cairo fails (too large). */
gboolean flam_picture_to_png (FlamTree *tree,
                              const FlamPictureOptions *options,
                              GString *out,
                              GError **error);
gboolean flam_picture_to_pdf (FlamTree *tree,
                              const FlamPictureOptions *options,
                              GString *out,
                              GError **error);

/* The boxes of the PNG with these options, in its own pixels: one line per box,
 * by row and from left to right:
 *
 *    x  y  width  height  function  file  line
 *
 * separated by tabs. Several boxes that are too narrow to draw become one
 * without a name. */
gboolean flam_picture_to_tags (FlamTree *tree,
                               const FlamPictureOptions *options,
                               GString *out,
                               GError **error);

G_END_DECLS

#endif
