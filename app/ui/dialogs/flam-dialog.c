/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-dialog.h"

#include "flam-widget.h"

enum
{
  PROP_0,
  PROP_BODY,
  PROP_WIDTH,
  PROP_HEIGHT,
  N_PROPS
};

G_DEFINE_ABSTRACT_TYPE (FlamDialog, flam_dialog, FLAM_DIALOG_PARENT)

/* As wide as its text needs it. */
static int
scaled (FlamDialog *self, int width)
{
  return (int)(width * flam_widget_text_scale (GTK_WIDGET (self)));
}

void
flam_dialog_present (FlamDialog *self, GtkWindow *parent)
{
  g_return_if_fail (FLAM_IS_DIALOG (self));
#if ADW_CHECK_VERSION(1, 5, 0)
  adw_dialog_set_content_width (
      ADW_DIALOG (self),
      scaled (self, adw_dialog_get_content_width (ADW_DIALOG (self))));
  adw_dialog_present (ADW_DIALOG (self), GTK_WIDGET (parent));
#else
  GtkWindow *window = GTK_WINDOW (self);
  int width, height;

  gtk_window_get_default_size (window, &width, &height);
  width =
      MIN (scaled (self, width), gtk_widget_get_width (GTK_WIDGET (parent)));
  gtk_window_set_default_size (window, width, height);
  gtk_window_set_transient_for (window, parent);
  gtk_window_present (window);
#endif
}

void
flam_dialog_close (FlamDialog *self)
{
  g_return_if_fail (FLAM_IS_DIALOG (self));
#if ADW_CHECK_VERSION(1, 5, 0)
  adw_dialog_close (ADW_DIALOG (self));
#else
  gtk_window_close (GTK_WINDOW (self));
#endif
}

void
flam_dialog_set_focus (FlamDialog *self, GtkWidget *focus)
{
  g_return_if_fail (FLAM_IS_DIALOG (self));
#if ADW_CHECK_VERSION(1, 5, 0)
  adw_dialog_set_focus (ADW_DIALOG (self), focus);
#else
  gtk_widget_grab_focus (focus);
#endif
}

GtkWindow *
flam_dialog_get_window (FlamDialog *self)
{
  g_return_val_if_fail (FLAM_IS_DIALOG (self), NULL);
  return GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self)));
}

static void
flam_dialog_set_property (GObject *object,
                          guint id,
                          const GValue *value,
                          GParamSpec *pspec)
{
#if ADW_CHECK_VERSION(1, 5, 0)
  AdwDialog *dialog = ADW_DIALOG (object);

  if (id == PROP_BODY)
    adw_dialog_set_child (dialog, g_value_get_object (value));
  else if (id == PROP_WIDTH)
    adw_dialog_set_content_width (dialog, g_value_get_int (value));
  else if (id == PROP_HEIGHT)
    adw_dialog_set_content_height (dialog, g_value_get_int (value));
#else
  GtkWindow *window = GTK_WINDOW (object);

  if (id == PROP_BODY)
    adw_window_set_content (ADW_WINDOW (object), g_value_get_object (value));
  else if (id == PROP_WIDTH)
    g_object_set (window, "default-width", g_value_get_int (value), NULL);
  else if (id == PROP_HEIGHT)
    {
      g_object_set (window, "default-height", g_value_get_int (value), NULL);
      gtk_window_set_resizable (window, TRUE);
    }
#endif
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
flam_dialog_class_init (FlamDialogClass *klass)
{
  GObjectClass *class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS;

  class->set_property = flam_dialog_set_property;
  g_object_class_install_property (
      class,
      PROP_BODY,
      g_param_spec_object ("body", NULL, NULL, GTK_TYPE_WIDGET, flags));
  g_object_class_install_property (
      class,
      PROP_WIDTH,
      g_param_spec_int ("width", NULL, NULL, -1, G_MAXINT, -1, flags));
  g_object_class_install_property (
      class,
      PROP_HEIGHT,
      g_param_spec_int ("height", NULL, NULL, -1, G_MAXINT, -1, flags));
#if !ADW_CHECK_VERSION(1, 5, 0)
  gtk_widget_class_add_binding_action (
      GTK_WIDGET_CLASS (klass), GDK_KEY_Escape, 0, "window.close", NULL);
#endif
}

static void
flam_dialog_init (FlamDialog *self)
{
#if !ADW_CHECK_VERSION(1, 5, 0)
  gtk_window_set_modal (GTK_WINDOW (self), TRUE);
  gtk_window_set_resizable (GTK_WINDOW (self), FALSE);
#endif
}
