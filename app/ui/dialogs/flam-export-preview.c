/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-export-preview.h"

#include "flam-dragged-file.h"

#include <glib/gi18n.h>

#define HEIGHT 150
#define ICON_WIDTH 180
#define ICON_HEIGHT 120
#define ICON_SIZE 64

struct _FlamExportPreview
{
  GtkBox parent_instance;

  const FlamExporter *exporter;
  char *name;
  GBytes *document; /* NULL: nothing can be dragged */
  GdkTexture *texture;

  GtkPicture *picture; /* the box's */
};

G_DEFINE_FINAL_TYPE (FlamExportPreview, flam_export_preview, GTK_TYPE_BOX)

static GdkPaintable *
icon_of (FlamExportPreview *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  g_autofree char *type =
      g_content_type_from_mime_type (self->exporter->mime_type);
  g_autoptr (GIcon) icon = g_content_type_get_symbolic_icon (
      type != NULL ? type : "application/octet-stream");

  return GDK_PAINTABLE (gtk_icon_theme_lookup_by_gicon (
      gtk_icon_theme_get_for_display (gtk_widget_get_display (widget)),
      icon,
      ICON_SIZE,
      gtk_widget_get_scale_factor (widget),
      gtk_widget_get_direction (widget),
      GTK_ICON_LOOKUP_FORCE_SYMBOLIC));
}

static GdkContentProvider *
on_prepare (GtkDragSource *source, double x, double y, FlamExportPreview *self)
{
  GdkContentProvider *all[3];
  gsize n = 0;

  if (self->document == NULL)
    return NULL;
  all[n++] = flam_dragged_file_new (self->name, self->document);
  all[n++] = gdk_content_provider_new_for_bytes (self->exporter->mime_type,
                                                 self->document);
  if (self->texture != NULL)
    all[n++] = gdk_content_provider_new_typed (GDK_TYPE_TEXTURE, self->texture);
  return gdk_content_provider_new_union (all, n);
}

static void
on_begin (GtkDragSource *source, GdkDrag *drag, FlamExportPreview *self)
{
  GtkWidget *icon =
      gtk_picture_new_for_paintable (gtk_picture_get_paintable (self->picture));

  gtk_widget_set_size_request (icon, ICON_WIDTH, ICON_HEIGHT);
  gtk_widget_add_css_class (icon, "flam-dragged");
  gtk_drag_icon_set_child (GTK_DRAG_ICON (gtk_drag_icon_get_for_drag (drag)),
                           icon);
}

void
flam_export_preview_set (FlamExportPreview *self,
                         const FlamExporter *exporter,
                         const char *name,
                         GBytes *document,
                         GdkTexture *picture)
{
  g_autoptr (GdkPaintable) paintable = NULL;

  g_return_if_fail (FLAM_IS_EXPORT_PREVIEW (self));
  self->exporter = exporter;
  g_free (self->name);
  self->name = g_strdup (name);
  g_clear_pointer (&self->document, g_bytes_unref);
  /* The previous picture stays visible so that the layout does not change, but
   * it cannot be dragged. */
  gtk_widget_set_sensitive (GTK_WIDGET (self), document != NULL);
  if (document == NULL)
    return;
  self->document = g_bytes_ref (document);
  g_set_object (&self->texture, picture);
  paintable =
      picture != NULL ? GDK_PAINTABLE (g_object_ref (picture)) : icon_of (self);
  gtk_picture_set_paintable (self->picture, paintable);
}

static void
flam_export_preview_finalize (GObject *object)
{
  FlamExportPreview *self = FLAM_EXPORT_PREVIEW (object);

  g_free (self->name);
  g_clear_pointer (&self->document, g_bytes_unref);
  g_clear_object (&self->texture);
  G_OBJECT_CLASS (flam_export_preview_parent_class)->finalize (object);
}

static void
flam_export_preview_class_init (FlamExportPreviewClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = flam_export_preview_finalize;
}

static void
flam_export_preview_init (FlamExportPreview *self)
{
  GtkWidget *picture = gtk_picture_new ();
  GtkWidget *caption =
      gtk_label_new (_ ("Drag the picture to another program"));
  GtkDragSource *source = gtk_drag_source_new ();

  self->picture = GTK_PICTURE (picture);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self),
                                  GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 6);
  gtk_widget_set_size_request (picture, -1, HEIGHT);
  gtk_widget_add_css_class (picture, "flam-thumbnail");
  gtk_widget_set_cursor_from_name (picture, "grab");
  gtk_accessible_update_property (GTK_ACCESSIBLE (picture),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Preview"),
                                  -1);
  gtk_label_set_wrap (GTK_LABEL (caption), TRUE);
  gtk_widget_add_css_class (caption, "caption");
  gtk_widget_add_css_class (caption, "dim-label");
  gtk_box_append (GTK_BOX (self), picture);
  gtk_box_append (GTK_BOX (self), caption);
  g_signal_connect (source, "prepare", G_CALLBACK (on_prepare), self);
  g_signal_connect (source, "drag-begin", G_CALLBACK (on_begin), self);
  gtk_widget_add_controller (picture, GTK_EVENT_CONTROLLER (source));
}
