/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-tab-private.h"

#include "flam-settings.h"

/* The id of a tab's notification on the desktop: only the last one is kept. */
static char *
name_of (FlamTab *self)
{
  return g_strdup_printf ("tab-%u", self->number);
}

/* FALSE while the program ends. */
static gboolean
is_registered (void)
{
  return g_application_get_is_registered (g_application_get_default ());
}

void
flam_tab_withdraw (FlamTab *self)
{
  g_autofree char *name = name_of (self);

  if (!self->notified)
    return;
  self->notified = FALSE;
  if (is_registered ())
    g_application_withdraw_notification (g_application_get_default (), name);
}

static void
on_active (GtkWindow *window, GParamSpec *pspec, FlamTab *self)
{
  if (!gtk_window_is_active (window))
    return;
  g_signal_handlers_disconnect_by_func (window, on_active, self);
  flam_tab_withdraw (self);
}

void
flam_tab_notify (FlamTab *self, const char *title, const char *body)
{
  GtkRoot *window = gtk_widget_get_root (GTK_WIDGET (self));
  g_autofree char *name = name_of (self);
  g_autoptr (GNotification) notification = NULL;

  if (!GTK_IS_WINDOW (window) || gtk_window_is_active (GTK_WINDOW (window)) ||
      !is_registered ())
    return;
  notification = g_notification_new (title);
  if (body != NULL)
    g_notification_set_body (notification, body);
  g_notification_set_default_action_and_target (
      notification, "app.show-tab", "u", self->number);
  g_application_send_notification (
      g_application_get_default (), name, notification);
  if (self->notified)
    return;
  self->notified = TRUE;
  g_signal_connect_object (
      window, "notify::is-active", G_CALLBACK (on_active), self, 0);
}

void
flam_tab_notify_of_load (FlamTab *self, const char *title, const char *body)
{
  gint64 patience =
      g_settings_get_uint (flam_settings_get (), FLAM_KEY_NOTIFY_AFTER);

  if (self->load_began != 0 && g_get_monotonic_time () - self->load_began >=
                                   patience * G_TIME_SPAN_SECOND)
    flam_tab_notify (self, title, body);
  self->load_began = 0;
}
