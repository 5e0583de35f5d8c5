/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_EXPORT_PREVIEW_H
#define FLAM_EXPORT_PREVIEW_H

/* A preview of the export: a picture, or the icon of the document's kind. It
 * can be dragged out of the window as a file and, if it is a picture, as a
 * picture. */

#include "flam-formats.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_EXPORT_PREVIEW (flam_export_preview_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamExportPreview, flam_export_preview, FLAM, EXPORT_PREVIEW, GtkBox)

/* `document` NULL: none yet; dragging does nothing. `picture` may be NULL.
 * `name` is the file's. */
void flam_export_preview_set (FlamExportPreview *self,
                              const FlamExporter *exporter,
                              const char *name,
                              GBytes *document,
                              GdkTexture *picture);

G_END_DECLS

#endif
