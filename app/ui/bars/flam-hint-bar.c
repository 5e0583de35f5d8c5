/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-hint-bar.h"

#include "flam-settings.h"
#include "flam-widget.h"

#define PAGES_MAX 50

struct _FlamHintBar
{
  GtkWidget parent_instance;

  char *page;

  GtkLabel *label;
  GtkButton *close;
};

static guint dismissed_signal;

G_DEFINE_FINAL_TYPE (FlamHintBar, flam_hint_bar, GTK_TYPE_WIDGET)

static void
update (FlamHintBar *self)
{
  GSettings *settings = flam_settings_get ();
  g_auto (GStrv) dismissed =
      g_settings_get_strv (settings, FLAM_KEY_HINTS_DISMISSED);

  gtk_widget_set_visible (
      GTK_WIDGET (self),
      self->page != NULL && g_settings_get_boolean (settings, FLAM_KEY_HINTS) &&
          !g_strv_contains ((const char *const *)dismissed, self->page));
}

void
flam_hint_bar_set_page (FlamHintBar *self, const char *page, const char *text)
{
  g_return_if_fail (FLAM_IS_HINT_BAR (self));
  g_free (self->page);
  self->page = g_strdup (page);
  gtk_label_set_label (self->label, text);
  update (self);
}

static void
on_close (FlamHintBar *self)
{
  flam_settings_push_string (FLAM_KEY_HINTS_DISMISSED, self->page, PAGES_MAX);
  g_signal_emit (self, dismissed_signal, 0);
}

static void
flam_hint_bar_dispose (GObject *object)
{
  FlamHintBar *self = FLAM_HINT_BAR (object);

  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_HINT_BAR);
  g_clear_pointer (&self->page, g_free);
  G_OBJECT_CLASS (flam_hint_bar_parent_class)->dispose (object);
}

static void
flam_hint_bar_class_init (FlamHintBarClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_hint_bar_dispose;
  dismissed_signal = g_signal_new ("dismissed",
                                   FLAM_TYPE_HINT_BAR,
                                   G_SIGNAL_RUN_LAST,
                                   0,
                                   NULL,
                                   NULL,
                                   NULL,
                                   G_TYPE_NONE,
                                   0);
  gtk_widget_class_set_accessible_role (class, GTK_ACCESSIBLE_ROLE_NOTE);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-hint-bar.ui");
  gtk_widget_class_bind_template_child (class, FlamHintBar, label);
  gtk_widget_class_bind_template_child (class, FlamHintBar, close);
}

static void
flam_hint_bar_init (FlamHintBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (
      self->close, "clicked", G_CALLBACK (on_close), self);
  g_signal_connect_object (flam_settings_get (),
                           "changed::" FLAM_KEY_HINTS,
                           G_CALLBACK (update),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (flam_settings_get (),
                           "changed::" FLAM_KEY_HINTS_DISMISSED,
                           G_CALLBACK (update),
                           self,
                           G_CONNECT_SWAPPED);
}
